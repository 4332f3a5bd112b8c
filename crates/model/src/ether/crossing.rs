//! Path through the fabric of a learning switch to one of its output ports. Packets cross one after the other and stay
//! in order.

use super::port_queues::PRIORITIES;
use crate::line::{Packet, PacketId, Packets};
use crate::params::AddressLearningParams;
use hostnet_kernel::{Rng, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Packet inside the fabric, with the time at which it reaches the port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct CrossingPacket {
    ready: Time,
    id: PacketId,
    /// Bytes on the wire if the packet is flooded because the port of its receiver is unknown.
    flooded_wire_bytes: Option<u32>,
}

/// Path through the fabric to one port.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FabricCrossing {
    queue: VecDeque<CrossingPacket>,
    /// Times at which the fabric is free for the next packet to this port, and at which the last packet reaches the
    /// port.
    free_at: Time,
    last_at: Time,
    /// Packets in the queue and their bytes, by priority.
    waiting: [(u32, u64); PRIORITIES],
    taken_bytes: u64,
    flooded_packets: u64,
    flooded_wire_bytes: u64,
}

impl FabricCrossing {
    /// Admits a packet that arrived at `at`. `flooded_wire_bytes` are its bytes on the wire if the packet is flooded.
    /// Returns the time at which it reaches the port if no other packet is ahead of it.
    pub(super) fn push(
        &mut self,
        id: PacketId,
        flooded_wire_bytes: Option<u32>,
        at: Time,
        params: &AddressLearningParams,
        rng: &mut Rng,
        packets: &Packets,
    ) -> Option<Time> {
        let packet = packets.get(id);
        self.taken_bytes += u64::from(packet.ip_bytes);
        // The random delay must not reorder packets to the same port.
        let jitter_ps = if params.jitter_ps > 0 { rng.below(params.jitter_ps + 1) } else { 0 };
        // The fabric carries packets to a port one after the other (docs/models/ether.md).
        self.free_at = self.free_at.max(at) + fabric_crossing_ps(params, packet.ip_bytes);
        self.last_at = self.last_at.max(self.free_at + params.delay_ps + jitter_ps);
        let waiting = &mut self.waiting[usize::from(packet.priority) % PRIORITIES];
        *waiting = (waiting.0 + 1, waiting.1 + u64::from(packet.ip_bytes));
        self.queue.push_back(CrossingPacket { ready: self.last_at, id, flooded_wire_bytes });
        // Packets behind others are scheduled when those have reached the port.
        (self.queue.len() == 1).then_some(self.last_at)
    }

    /// Removes and returns the next packet if it has reached the port.
    pub(super) fn pop(&mut self, now: Time, packets: &Packets) -> Option<PacketId> {
        let CrossingPacket { id, flooded_wire_bytes, .. } = *self.queue.front().filter(|next| next.ready <= now)?;
        self.queue.pop_front();
        let packet = packets.get(id);
        self.flooded_packets += u64::from(flooded_wire_bytes.is_some());
        self.flooded_wire_bytes += u64::from(flooded_wire_bytes.unwrap_or(0));
        let waiting = &mut self.waiting[usize::from(packet.priority) % PRIORITIES];
        *waiting = (waiting.0 - 1, waiting.1 - u64::from(packet.ip_bytes));
        Some(id)
    }

    /// Returns the time at which the next packet reaches the port.
    pub(super) fn next_at(&self) -> Option<Time> {
        self.queue.front().map(|next| next.ready)
    }

    /// Returns the packets of a priority in flight to the port, and their bytes.
    pub(super) fn waiting_of(&self, priority: u8) -> (u32, u64) {
        self.waiting[usize::from(priority) % PRIORITIES]
    }

    /// Returns the IP bytes that the fabric has carried to the port by `now` since the start of the run, with the part
    /// of a packet that has been carried so far.
    #[must_use]
    pub fn carried_bytes(&self, now: Time, params: &AddressLearningParams) -> u64 {
        // What the fabric is still carrying lies ahead of `now`.
        let ahead_ps = self.free_at.ps().saturating_sub(now.ps());
        let ahead = u128::from(ahead_ps) * u128::from(params.fabric_bytes_per_s) / 1_000_000_000_000;
        self.taken_bytes.saturating_sub(ahead as u64)
    }

    /// Returns the flooded packets that reached the port, and their bytes on the wire, since the start of the run.
    #[must_use]
    pub fn flooded(&self) -> (u64, u64) {
        (self.flooded_packets, self.flooded_wire_bytes)
    }

    /// Iterates over the packets in flight, oldest first.
    pub(super) fn packets<'a>(&'a self, packets: &'a Packets) -> impl Iterator<Item = &'a Packet> {
        self.queue.iter().map(|waiting| packets.get(waiting.id))
    }

    /// Moves the packets in flight from one store to another.
    pub(super) fn move_packets(&mut self, from: &mut Packets, to: &mut Packets) {
        self.queue.iter_mut().for_each(|waiting| waiting.id = to.insert(from.remove(waiting.id)));
    }
}

/// Returns the time that `ip_bytes` take through the fabric, in ps; at least 1.
#[must_use]
pub fn fabric_crossing_ps(params: &AddressLearningParams, ip_bytes: u32) -> u64 {
    let ps = u128::from(ip_bytes) * 1_000_000_000_000;
    // An event lies at least 1 ps ahead.
    u64::try_from(ps.div_ceil(u128::from(params.fabric_bytes_per_s.max(1)))).unwrap_or(u64::MAX).max(1)
}
