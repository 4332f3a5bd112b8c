//! Packets received by a NIC in a DIMM.

use super::DimmDriver;
use crate::lfb::Lfb;
use crate::line::{Content, Packet, PacketId};
use crate::os::counters::{CoreTimeKind, StackCounts};
use crate::os::ends::FlowEnds;
use crate::os::lines::{LineProgress, Lines};
use crate::os::task::{NextWork, Task};
use crate::part::Context;
use crate::transport::stage_times::Stage;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes of an Ethernet header, before the IP header in memory.
pub(super) const ETHERNET_BYTES: u64 = 14;

/// Packets that have arrived and have not been passed to the softirq.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DimmReceiver {
    arrived: VecDeque<PacketId>,
    /// Packet whose completion is being read.
    reading: Option<PacketId>,
    /// Packets whose clone is in progress, and the packet that the driver has finished before its clone.
    cloning: Vec<PacketId>,
    held: Option<PacketId>,
    /// Datagrams that found no free rows.
    pub(super) in_place: u64,
}

/// Next work of the core for packets that have arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::os) enum Arrival {
    /// The core is busy, or waits.
    Busy(NextWork),
    /// The completion of a packet has been read: the softirq takes over.
    Completed(PacketId),
    /// No packet has arrived.
    Nothing,
}

impl DimmDriver {
    /// Queues a packet that has arrived.
    pub(in crate::os) fn on_received(&mut self, id: PacketId) {
        self.receiving.arrived.push_back(id);
    }

    /// Chooses the next work of the core for packets that have arrived.
    pub(in crate::os) fn next_arrival(
        &mut self,
        lines: &mut Lines,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) -> Arrival {
        // One completion after the other: each tells of one packet.
        if let Some(id) = self.receiving.reading {
            match lines.follow(lfb, counts, context) {
                LineProgress::Waiting => return Arrival::Busy(NextWork::Wait(CoreTimeKind::Register)),
                LineProgress::Until(at) => {
                    let work = NextWork::Work(Task::Lines, at.since(context.now()), CoreTimeKind::Softirq);
                    return Arrival::Busy(work);
                }
                LineProgress::Done => {
                    self.receiving.reading = None;
                    return Arrival::Completed(id);
                }
            }
        }
        match self.receiving.arrived.pop_front() {
            Some(id) => {
                Arrival::Busy(NextWork::Work(Task::Invalidate(id), self.params.flush_ps, CoreTimeKind::Softirq))
            }
            None => Arrival::Nothing,
        }
    }

    /// Reads the completion of a packet after its line has been invalidated.
    pub(in crate::os) fn read_completion(
        &mut self,
        id: PacketId,
        class: u8,
        completion: u64,
        lines: &mut Lines,
        context: &mut Context,
    ) {
        read_fresh(completion, class, lines, context);
        self.receiving.reading = Some(id);
    }

    /// Begins work on a packet whose completion has been read. A datagram is cloned to a buffer of its socket, if rows
    /// are free, while the driver works on its first line where the datagram arrived.
    pub(in crate::os) fn begin_packet(
        &mut self,
        id: PacketId,
        ends: &FlowEnds,
        lines: &mut Lines,
        context: &mut Context,
    ) {
        let now = context.now();
        let packet = context.packets.get_mut(id);
        packet.end(Stage::RxInvalidate, now);
        let Packet { flow, line, ip_bytes, content, .. } = *packet;
        let index = ends.end_of(flow);
        let own = matches!(content, Content::Udp(_)) && index.is_some();
        let class = index.map_or(0, |index| ends.class_of(index));
        read_fresh(line * 64, class, lines, context);
        let count = (u64::from(ip_bytes) + ETHERNET_BYTES).div_ceil(64);
        // Only datagrams of this core are cloned; streams are copied, and others pass through.
        let clone = if own { self.clone_of(line, count, id, true) } else { None };
        // Without free rows the datagram stays where it arrived until it is read.
        self.receiving.in_place += u64::from(own && clone.is_none());
        if let Some((to, command)) = clone {
            self.receiving.cloning.push(id);
            context.packets.get_mut(id).line = to;
            // The clone changes memory below the caches, so copies of the target would be stale.
            if let Some(caches) = context.caches.own() {
                (to..to + count).for_each(|line| caches.io_invalidate(line));
            }
            context.send(self.dimm, self.to_dimm_ps, command);
        }
    }

    /// Returns true if a packet that the driver has finished must wait for its clone.
    pub(in crate::os) fn holds_back(&mut self, id: PacketId, context: &mut Context) -> bool {
        let (holds, now) = (self.receiving.cloning.contains(&id), context.now());
        if holds {
            self.receiving.held = Some(id);
            context.packets.get_mut(id).end(Stage::RxDriver, now);
        }
        holds
    }

    /// Returns true if the driver waits for a clone.
    pub(in crate::os) fn is_held(&self) -> bool {
        self.receiving.held.is_some()
    }

    /// Notes that the clone of a packet is done. Returns true if the driver waited for it.
    pub(in crate::os) fn on_cloned(&mut self, id: PacketId, context: &mut Context) -> bool {
        self.receiving.cloning.retain(|&other| other != id);
        let waited = self.receiving.held == Some(id);
        if waited {
            self.receiving.held = None;
            let now = context.now();
            context.packets.get_mut(id).end(Stage::RxCopy, now);
        }
        waited
    }
}

/// Drops from the caches a line that the NIC has written, and reads it from memory.
fn read_fresh(address: u64, class: u8, lines: &mut Lines, context: &mut Context) {
    let line = lines.physical(address);
    if let Some(caches) = context.caches.own() {
        // The NIC in the DIMM writes below the caches, which are not told of it.
        caches.io_invalidate(line);
    }
    lines.access_line(address, false, class, context);
}
