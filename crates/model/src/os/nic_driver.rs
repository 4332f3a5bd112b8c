//! Driver of the NIC on a core: its rings, its registers, and extensions for a NIC in a DIMM and for a memory channel
//! network.

use super::delays::TO_NIC_PS;
use super::dimm::DimmDriver;
use super::ends::FlowEnds;
use super::lines::Lines;
use super::mcn::RingDriver;
use crate::line::{PacketId, QueueRings};
use crate::params::NicAttachParams;
use crate::part::{Context, Payload, RegisterAccess};
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Path from a core to the registers of the function of the NIC that it uses, if accesses cost anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterPath {
    /// IIO that the link is attached to.
    pub iio: ComponentId,
    /// Number of the link at the IIO.
    pub link: u8,
    /// Costs of an access.
    pub attach: NicAttachParams,
}

/// Driver of the NIC on a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NicDriver {
    nic: ComponentId,
    pub(super) rings: QueueRings,
    /// Extra delay to the function of the NIC if it is on a remote socket, in ps.
    remote_ps: u64,
    registers: Option<RegisterPath>,
    /// Packets whose doorbell waits for a read of the status of the NIC.
    status_reads: VecDeque<PacketId>,
    /// Class of the packet that the driver handled last, used for the descriptors that it returns.
    pub(super) class: u8,
    /// Driver of a NIC in a DIMM, if there is one.
    pub(super) dimm: Option<Box<DimmDriver>>,
    /// Driver of the interfaces of a memory channel network, if there is one.
    pub(super) mcn: Option<Box<RingDriver>>,
}

impl NicDriver {
    /// Creates the driver of an ordinary NIC.
    pub(super) fn new(nic: ComponentId, rings: QueueRings, remote_ps: u64, registers: Option<RegisterPath>) -> Self {
        let status_reads = VecDeque::new();
        Self { nic, rings, remote_ps, registers, status_reads, class: 0, dimm: None, mcn: None }
    }

    /// Returns true if datagrams lie where the NIC reads and writes them, without a copy by the core.
    pub(super) fn is_in_place(&self) -> bool {
        self.dimm.as_ref().is_some_and(|dimm| dimm.is_in_place())
    }

    /// Returns true if the core waits for the value of a register.
    pub(super) fn waits(&self) -> bool {
        !self.status_reads.is_empty()
    }

    /// Hands a packet to the interfaces of a memory channel network. Returns false if the packet does not go by an
    /// interface.
    pub(super) fn transmit_by_ring(&self, id: PacketId, context: &mut Context) -> bool {
        self.mcn.as_ref().is_some_and(|mcn| mcn.transmit(id, context))
    }

    /// Hands a packet or segment down to the NIC.
    pub(super) fn hand_down(
        &mut self,
        id: PacketId,
        class: u8,
        ends: &mut FlowEnds,
        lines: &mut Lines,
        context: &mut Context,
    ) {
        let descriptor = self.rings.segments.next_line();
        match &mut self.dimm {
            Some(dimm) => dimm.hand_down(id, class, descriptor, ends, lines, context),
            None => {
                // Without a DIMM the doorbell does not wait for the descriptor's line (docs/models/os.md).
                lines.access_line(descriptor, true, class, context);
                self.ring_doorbell(id, context);
            }
        }
    }

    /// Rings the doorbell for a packet or segment; the driver may read the status of the NIC first.
    pub(super) fn ring_doorbell(&mut self, id: PacketId, context: &mut Context) {
        match self.registers {
            None => context.send(self.nic, TO_NIC_PS, Payload::Transmit(id)),
            Some(path) if path.attach.status => {
                // The doorbell follows when the value is back; the core waits meanwhile.
                self.status_reads.push_back(id);
                self.access(path, RegisterAccess::Status { core: context.id }, context);
            }
            Some(path) => self.access(path, RegisterAccess::Doorbell { id, core: context.id }, context),
        }
    }

    /// Rings the doorbell that waited for the status of the NIC.
    pub(super) fn on_status(&mut self, context: &mut Context) {
        if let (Some(path), Some(id)) = (self.registers, self.status_reads.pop_front()) {
            self.access(path, RegisterAccess::Doorbell { id, core: context.id }, context);
        }
    }

    /// Returns `count` descriptors to a receive ring, and arms the interrupt of the queue if `armed`. Their lines are
    /// written before the NIC sees the tail.
    pub(super) fn give_back(&mut self, queue: u16, count: u16, armed: bool, lines: &mut Lines, context: &mut Context) {
        let Some(path) = self.registers else {
            return context.send(self.nic, TO_NIC_PS + self.remote_ps, Payload::Replenished { queue, count, armed });
        };
        let mut posted = Vec::new();
        if let Some(ring) = &mut self.rings.free {
            // The ring may end before `count` does; the rest is at its start.
            let mut left = u32::from(count);
            while left > 0 {
                let (written, address, count) = ring.advance(left);
                left -= written;
                for line in 0..u64::from(count) {
                    lines.post(address + line * 64, self.class, context);
                    if self.dimm.is_some() {
                        posted.push(address + line * 64);
                    }
                }
            }
        }
        if let Some(dimm) = &mut self.dimm {
            // Without a descriptor to flush, the first line of the ring carries the tail that arms the interrupt.
            if posted.is_empty() && armed {
                posted.extend(self.rings.free.map(|ring| ring.base()));
            }
            if !posted.is_empty() {
                dimm.flush_tail(&posted, queue, count, armed, self.class, lines);
            }
            return;
        }
        // A poll that found nothing and does not arm needs no write of the tail.
        if count > 0 || armed {
            self.access(path, RegisterAccess::Tail { queue, count, armed }, context);
        }
    }

    /// Requests the NIC to steer a flow to a receive queue.
    pub(super) fn steer(&self, flow: u32, queue: u16, context: &mut Context) {
        context.send(self.nic, TO_NIC_PS + self.remote_ps, Payload::Steer { flow, queue });
    }

    fn access(&self, path: RegisterPath, access: RegisterAccess, context: &mut Context) {
        let delay = (path.attach.register_ps + self.remote_ps).max(1);
        context.send(path.iio, delay, Payload::Register { link: path.link, access });
    }

    /// Drops from the caches a line that a NIC in a DIMM has written.
    pub(super) fn invalidate(&self, address: u64, lines: &Lines, context: &mut Context) {
        if self.dimm.is_some() {
            let line = lines.physical(address);
            context.caches.own().into_iter().for_each(|caches| caches.io_invalidate(line));
        }
    }
}
