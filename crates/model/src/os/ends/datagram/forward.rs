//! Packets that a core forwards to another host: a network function inspects each, then the NIC sends it from the
//! memory that it arrived in.

use super::{DatagramEnd, DatagramEnds, DatagramWork, ETHERNET_BYTES};
use crate::os::lines::Lines;
use crate::params::{ForwardFunction, Traffic};
use crate::part::Context;
use crate::transport::journey::Stage;
use crate::transport::udp::Datagram;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Forwarding of the packets that arrive at an end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Onward {
    /// Index of the end that sends the packets, among the ends of datagrams.
    end: usize,
    function: ForwardFunction,
    work_ps: u64,
}

impl Onward {
    /// Returns the number of lines of a packet that the function reads.
    fn lines(&self, datagram: Datagram) -> u64 {
        match self.function {
            ForwardFunction::Header => 1,
            ForwardFunction::Whole => (ETHERNET_BYTES + u64::from(datagram.ip_bytes())).div_ceil(64),
        }
    }
}

impl DatagramEnd {
    /// Takes the oldest datagram that has arrived, and the first line of its frame.
    fn take_frame(&mut self) -> Option<(Datagram, u64)> {
        let (datagram, line) = self.come.pop_front()?;
        self.come_bytes -= u64::from(datagram.bytes);
        Some((datagram, line))
    }

    /// Begins to read the lines of a forwarded packet that the function inspects.
    pub(super) fn begin_inspection(&mut self, onward: Onward, lines: &mut Lines, context: &Context) {
        lines.begin_inspection(self.params.class);
        // With caches the driver has read the first line already.
        let first = u64::from(!context.caches.are_there());
        self.reading = self.take_frame();
        let read = self.reading.map(|(datagram, line)| (line + first, onward.lines(datagram).saturating_sub(first)));
        read.filter(|&(_, count)| count > 0).into_iter().for_each(|(line, count)| lines.source(line, count as u32));
    }
}

impl DatagramEnds {
    /// Returns the flow whose packets an end forwards, and the forwarding, if the end forwards any.
    pub(super) fn forwarding(&self, end: usize) -> Option<(u32, Onward)> {
        let params = &self.ends[end].params;
        let Traffic::Forward(forward) = params.traffic else { return None };
        let onward = Onward { end, function: forward.function, work_ps: forward.work_ps };
        params.initiator.then_some((forward.flow, onward))
    }

    /// Returns true if packets of an end of datagrams are forwarded: received to be forwarded, or sent by the end.
    pub(in crate::os) fn is_forwarded(&self, index: usize) -> bool {
        let end = index.checked_sub(self.first).and_then(|at| self.ends.get(at));
        end.is_some_and(|end| end.onward.is_some() || end.sends_on())
    }

    /// Chooses the work for an end whose packets are forwarded. There is none while the sending end has no room, so
    /// that packets wait in the socket.
    pub(super) fn next_forward(&mut self, index: usize, onward: Onward, now: Time) -> DatagramWork {
        let room = self.ends[onward.end].has_room() && !self.is_ring_full();
        let Some(end) = self.get_mut(index) else { return DatagramWork::Nothing };
        end.blocked = !room;
        let work = match end.come.front_mut().filter(|_| room) {
            Some((datagram, _)) => {
                datagram.journey.end(Stage::RxDriver, now);
                end.counts.calls += 1;
                DatagramWork::Forward { bytes: datagram.bytes.into(), work_ps: onward.work_ps }
            }
            None => DatagramWork::Nothing,
        };
        end.asleep = work == DatagramWork::Nothing;
        end.ready = work != DatagramWork::Nothing;
        work
    }

    /// Forwards a packet from its line in memory. Returns the number of the end that sends the packet.
    pub(super) fn forward(&mut self, onward: Onward, bytes: u32, line: u64, now: Time) -> u32 {
        let end = &mut self.ends[onward.end];
        let datagram = end.application.relay(now, bytes);
        end.out_bytes += u64::from(bytes);
        end.written.push_back((datagram, line));
        (self.first + onward.end) as u32
    }
}
