//! Packets that a core forwards to another host: a network function inspects each, then the NIC sends it from the
//! memory that it arrived in.

use super::{DatagramEnd, DatagramEnds, DatagramWork, ETHERNET_BYTES};
use crate::os::lines::Lines;
use crate::params::{ForwardFunction, Traffic};
use crate::part::Context;
use crate::transport::stage_times::Stage;
use crate::transport::udp::Datagram;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Forwarding of the packets that arrive at an end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PacketForwarding {
    /// Index of the end that sends the packets, among the ends of datagrams.
    end: usize,
    function: ForwardFunction,
    work_ps: u64,
}

impl PacketForwarding {
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
        let (datagram, line) = self.arrived.pop_front()?;
        self.arrived_bytes -= u64::from(datagram.bytes);
        Some((datagram, line))
    }

    /// Begins to read the lines of a forwarded packet that the function inspects.
    pub(super) fn begin_inspection(&mut self, forwarding_to: PacketForwarding, lines: &mut Lines, context: &Context) {
        lines.begin_inspection(self.params.class);
        // With caches the driver has read the first line already.
        let first = u64::from(!context.caches.are_there());
        self.reading = self.take_frame();
        let read =
            self.reading.map(|(datagram, line)| (line + first, forwarding_to.lines(datagram).saturating_sub(first)));
        read.filter(|&(_, count)| count > 0).into_iter().for_each(|(line, count)| lines.source(line, count as u32));
    }
}

impl DatagramEnds {
    /// Returns the flow whose packets an end forwards, and the forwarding, if the end forwards any.
    pub(super) fn forwarding(&self, end: usize) -> Option<(u32, PacketForwarding)> {
        let params = &self.ends[end].params;
        let Traffic::Forward(forward) = params.traffic else { return None };
        let forwarding_to = PacketForwarding { end, function: forward.function, work_ps: forward.work_ps };
        // Only the end at which packets arrive forwards; the other one sends.
        params.initiator.then_some((forward.flow, forwarding_to))
    }

    /// Returns true if packets of an end of datagrams are forwarded: received to be forwarded, or sent by the end.
    pub(in crate::os) fn is_forwarded(&self, index: usize) -> bool {
        let end = index.checked_sub(self.first).and_then(|at| self.ends.get(at));
        end.is_some_and(|end| end.forwarding_to.is_some() || end.forwards())
    }

    /// Chooses the work for an end whose packets are forwarded. There is none while the sending end has no room, so
    /// that packets wait in the socket.
    pub(super) fn next_forward(&mut self, index: usize, forwarding_to: PacketForwarding, now: Time) -> DatagramWork {
        // The packet stays in the socket until the sending end has room, so that nothing is lost in between.
        let room = self.ends[forwarding_to.end].has_room() && !self.is_ring_full();
        let Some(end) = self.get_mut(index) else { return DatagramWork::Nothing };
        end.blocked = !room;
        let work = match end.arrived.front_mut().filter(|_| room) {
            Some((datagram, _)) => {
                datagram.stage_times.end(Stage::RxDriver, now);
                end.counts.calls += 1;
                DatagramWork::Forward { bytes: datagram.bytes.into(), work_ps: forwarding_to.work_ps }
            }
            None => DatagramWork::Nothing,
        };
        end.asleep = work == DatagramWork::Nothing;
        end.ready = work != DatagramWork::Nothing;
        work
    }

    /// Forwards a packet from its line in memory. Returns the number of the end that sends the packet.
    pub(super) fn forward(&mut self, forwarding_to: PacketForwarding, bytes: u32, line: u64, now: Time) -> u32 {
        let end = &mut self.ends[forwarding_to.end];
        let datagram = end.application.relay(now, bytes);
        end.out_bytes += u64::from(bytes);
        end.written.push_back((datagram, line));
        (self.first + forwarding_to.end) as u32
    }
}
