//! Packets that a core sends on to another host: a function looks at each, then the NIC sends it from the memory that
//! it came to.

use super::datagram::{DatagramEnd, DatagramWork, ETHERNET_BYTES};
use super::NetStack;
use crate::params::{Function, Traffic};
use crate::transport::journey::Stage;
use crate::transport::udp::Datagram;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// How what comes to an end is sent on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Onward {
    /// The end that sends it, by its place among those of datagrams.
    end: usize,
    function: Function,
    work_ps: u64,
}

impl Onward {
    /// Lines of a packet that the function reads.
    pub(super) fn lines(&self, datagram: Datagram) -> u64 {
        match self.function {
            Function::Header => 1,
            Function::Whole => (ETHERNET_BYTES + u64::from(datagram.ip_bytes())).div_ceil(64),
        }
    }
}

impl DatagramEnd {
    /// Takes the oldest datagram that has come, and the line that its frame begins at.
    pub(super) fn take_frame(&mut self) -> Option<(Datagram, u64)> {
        let (datagram, line) = self.come.pop_front()?;
        self.come_bytes -= u64::from(datagram.bytes);
        Some((datagram, line))
    }
}

impl NetStack {
    /// Tells ends of datagrams by which ends what comes to them is sent on.
    pub(super) fn join_onward(&mut self) {
        for end in 0..self.datagrams.len() {
            let params = &self.datagrams[end].params;
            let Traffic::Forward(forward) = params.traffic else { continue };
            if !params.initiator {
                continue;
            }
            if let Some((_, taken)) = self.datagrams_of(forward.flow) {
                taken.onward = Some(Onward { end, function: forward.function, work_ps: forward.work_ps });
            }
        }
    }

    /// What is done for an end whose packets are sent on: nothing while there is no room on the way out, so that they
    /// wait in its socket.
    pub(super) fn next_onward(&mut self, index: usize, onward: Onward, now: Time) -> DatagramWork {
        let room = self.datagrams[onward.end].has_room() && !self.is_ring_full();
        let Some(end) = self.datagram_end(index) else { return DatagramWork::Nothing };
        end.blocked = !room;
        let deed = match end.come.front_mut().filter(|_| room) {
            Some((datagram, _)) => {
                datagram.journey.end(Stage::RxDriver, now);
                end.counts.calls += 1;
                DatagramWork::Forward { bytes: datagram.bytes.into(), work_ps: onward.work_ps }
            }
            None => DatagramWork::Nothing,
        };
        end.asleep = deed == DatagramWork::Nothing;
        end.ready = deed != DatagramWork::Nothing;
        deed
    }

    /// The function is through with a packet, which goes out from the line that it lies at.
    pub(super) fn send_on(&mut self, onward: Onward, bytes: u32, line: u64, now: Time) {
        let end = &mut self.datagrams[onward.end];
        let datagram = end.application.relay(now, bytes);
        end.out_bytes += u64::from(bytes);
        end.written.push_back((datagram, line));
        self.output.push((self.sockets.len() + onward.end) as u32);
    }
}
