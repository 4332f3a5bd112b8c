//! Socket buffers: what drivers spend on the memory of what they copy.

use super::NetStack;
use crate::line::{Content, Packet};
use crate::transport::journey::Stage;
use hostnet_kernel::Time;

impl NetStack {
    /// Work on the socket buffer of a packet whose data is copied here, in ps; `index` is the end of its flow. What is
    /// sent on, or lies where the NIC reads and writes it, has none, and neither have bare acknowledgements.
    pub(super) fn allocation_ps(&self, index: Option<usize>, content: &Content) -> u64 {
        let copied = match content {
            _ if self.stack.allocate_ps == 0 => false,
            Content::Tcp(segment) => segment.bytes > 0 && !self.sends_a_file(index),
            Content::Udp(_) => !self.is_in_place() && !self.is_on_its_way(index),
            Content::Roce(_) | Content::Pool(_) | Content::Raw => false,
        };
        if copied {
            self.stack.allocate_ps
        } else {
            0
        }
    }

    /// Work of so long on a buffer begins now, and is what copies of a datagram take, not what its driver does.
    pub(super) fn note_allocation(packet: &mut Packet, driver: Stage, copy: Stage, ps: u64, now: Time) {
        if ps > 0 {
            packet.end(driver, now);
            packet.end(copy, now + ps);
        }
    }

    fn sends_a_file(&self, index: Option<usize>) -> bool {
        index.and_then(|index| self.sockets.get(index)).is_some_and(|socket| socket.params.file.is_some())
    }

    /// Whether packets of an end of datagrams come to be sent on, or are.
    fn is_on_its_way(&self, index: Option<usize>) -> bool {
        let end = index.and_then(|index| self.datagrams.get(index.checked_sub(self.sockets.len())?));
        end.is_some_and(|end| end.onward.is_some() || end.sends_on())
    }
}
