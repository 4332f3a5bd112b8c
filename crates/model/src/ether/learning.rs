//! A switch that learns the ports of hosts from the source addresses of packets, and floods packets for unknown hosts
//! (IEEE 802.1D, clause 7).
//!
//! Packets that arrive at the same time are handled in the order of their ports: they are collected until that time is
//! over, 1 ps later, and handled as of their arrival. Their output ports and buffer are those of a [`Switch`].

use super::addresses::{AddressCounts, AddressTable};
use super::crossing::FabricCrossing;
use super::drops::DropReason;
use super::port_queues::PRIORITIES;
use super::switch::Switch;
use crate::line::{Packet, PacketId, Packets};
use crate::params::AddressLearningParams;
use crate::part::{NetContext, Payload};
use hostnet_kernel::{Rng, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A packet that has arrived and is not handled yet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Arrival {
    at: Time,
    port: u16,
    id: PacketId,
}

/// Counters of a learning switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearningCounts {
    /// Changes of the address table.
    pub addresses: AddressCounts,
    /// Packets flooded to all other ports because the port of their receiver was unknown.
    pub flooded_packets: u64,
    /// Bytes of the flooded IP packets, each counted once.
    pub flooded_bytes: u64,
    /// Packets dropped because their receiver is at the port they came in by.
    pub filtered_packets: u64,
}

/// A switch that learns the ports of hosts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LearningSwitch {
    /// Ports and buffer. The routes say where hosts really are; only counters and reports use them.
    switch: Switch,
    params: AddressLearningParams,
    addresses: AddressTable,
    /// Paths through the fabric, one per port.
    crossings: Vec<FabricCrossing>,
    /// Packets that are not handled yet, in order of time.
    arrivals: Vec<Arrival>,
    rng: Rng,
    counts: LearningCounts,
    /// Counters at the start of the measurement window.
    before: LearningCounts,
    /// Copies made by flooding, per flow, since the start of the run.
    copied: BTreeMap<u32, u64>,
}

impl LearningSwitch {
    /// Creates a switch with the ports and the buffer of `switch`. `random` is a seed and the number of a random
    /// stream.
    #[must_use]
    pub fn new(params: AddressLearningParams, switch: Switch, random: (u64, u64)) -> Self {
        Self {
            crossings: vec![FabricCrossing::default(); switch.ports().len()],
            switch,
            params,
            addresses: AddressTable::new(params.table, params.ttl_ps),
            arrivals: Vec::new(),
            rng: Rng::new(random.0, random.1),
            counts: LearningCounts::default(),
            before: LearningCounts::default(),
            copied: BTreeMap::new(),
        }
    }

    /// Handles an event.
    ///
    /// # Panics
    /// Panics if the event is not one of a switch.
    pub(super) fn on_event(&mut self, payload: Payload, context: &mut NetContext) {
        match payload {
            Payload::Packet { id, port } => self.on_packet(id, port, context),
            Payload::Forward => self.on_forward(context),
            Payload::Crossed { port } => self.on_crossed(port, context),
            Payload::PortReady { port } => self.switch.on_ready(port, context),
            Payload::Pause { port, priority, on } => self.switch.on_pause(port, priority, on, context),
            payload => unreachable!("switch {} was sent {payload:?}", context.id.0),
        }
    }

    /// Collects a packet that has come in by `port`.
    fn on_packet(&mut self, id: PacketId, port: u16, context: &mut NetContext) {
        let packet = context.packets.get_mut(id);
        packet.queue = port;
        if packet.corrupt {
            return self.switch.drop(id, DropReason::Corrupt, context);
        }
        let at = context.now();
        // One event handles all packets of the same time.
        if self.arrivals.last().is_none_or(|last| last.at < at) {
            context.send(context.id, 1, Payload::Forward);
        }
        self.arrivals.push(Arrival { at, port, id });
    }

    /// Handles all packets that arrived before now.
    fn on_forward(&mut self, context: &mut NetContext) {
        let now = context.now();
        // Packets of this very time may still arrive, so only earlier ones are handled.
        let due = self.arrivals.partition_point(|arrival| arrival.at < now);
        // By port and not by event order, so that results do not depend on partitions.
        self.arrivals[..due].sort_unstable_by_key(|arrival| (arrival.at, arrival.port));
        for index in 0..due {
            self.forward(self.arrivals[index], context);
        }
        self.arrivals.drain(..due);
    }

    /// Passes packets that have crossed the fabric on to their port.
    fn on_crossed(&mut self, port: u16, context: &mut NetContext) {
        let (place, now) = (usize::from(port), context.now());
        while let Some(id) = self.crossings[place].pop(now, context.packets) {
            self.switch.send(id, place, context);
        }
        if let Some(at) = self.crossings[place].next_at() {
            context.send(context.id, at.since(now), Payload::Crossed { port });
        }
    }

    fn forward(&mut self, Arrival { at, port, id }: Arrival, context: &mut NetContext) {
        let packet = context.packets.get(id);
        let (from, to) = (packet.from, packet.to);
        // Learned before the lookup (IEEE 802.1D, 7.8).
        self.addresses.learn(from, port, at);
        match self.addresses.port_of(to, at) {
            Some(way) if way == port => {
                // The receiver is on the segment that the packet came from, so it has the packet.
                self.counts.filtered_packets += 1;
                self.switch.drop(id, DropReason::NoRoute, context);
            }
            Some(way) => self.cross(id, None, way, at, context),
            None => self.flood(id, port, at, context),
        }
    }

    /// Sends a packet to all ports except the one it came in by.
    fn flood(&mut self, id: PacketId, port: u16, at: Time, context: &mut NetContext) {
        let packet = *context.packets.get(id);
        self.counts.flooded_packets += 1;
        self.counts.flooded_bytes += u64::from(packet.ip_bytes);
        // Static routes tell which copy is the packet itself; the switch does not use them.
        let there = self.switch.routes().port(packet.flow, packet.from, packet.to);
        let mut left = self.crossings.len() - 1;
        if left == 0 {
            return self.switch.drop(id, DropReason::NoRoute, context);
        }
        if left > 1 {
            *self.copied.entry(packet.flow).or_default() += left as u64 - 1;
        }
        for way in (0..self.crossings.len() as u16).filter(|&way| way != port) {
            // The packet towards its receiver is the packet itself; all others are copies.
            left -= 1;
            let copy = packet.copy || there != Some(way);
            let own = if left > 0 { context.packets.insert(packet) } else { id };
            context.packets.get_mut(own).copy = copy;
            let wire_bytes = self.switch.ports()[usize::from(way)].egress().wire_bytes(packet.ip_bytes);
            self.cross(own, Some(wire_bytes), way, at, context);
        }
    }

    /// Sends a packet that arrived at `at` through the fabric to a port, if there is room. `flooded` are its bytes on
    /// the wire if it is flooded.
    fn cross(&mut self, id: PacketId, flooded: Option<u32>, way: u16, at: Time, context: &mut NetContext) {
        let packet = context.packets.get(id);
        let (port, priority, ip_bytes) = (packet.queue, packet.priority % PRIORITIES as u8, packet.ip_bytes.into());
        let place = usize::from(way);
        // Packets in the fabric count as waiting, because they will arrive at the queue.
        let beside = self.crossings[place].waiting_of(priority);
        if !self.switch.has_room(place, priority, ip_bytes, beside.1) {
            return self.switch.overflow(id, place, context);
        }
        // Marked when it is enqueued, as by a switch with static routes.
        self.switch.mark(place, priority, id, beside, context);
        self.switch.hold(port, priority, ip_bytes, context);
        let first = self.crossings[place].push(id, flooded, at, &self.params, &mut self.rng, context.packets);
        if let Some(ready) = first {
            // A packet that arrived 1 ps ago may have crossed the fabric already.
            let delay_ps = ready.ps().saturating_sub(context.now().ps());
            if delay_ps == 0 {
                return self.on_crossed(way, context);
            }
            context.send(context.id, delay_ps, Payload::Crossed { port: way });
        }
    }

    /// Moves the waiting packets from one store to another.
    pub(super) fn move_packets(&mut self, from: &mut Packets, to: &mut Packets) {
        self.arrivals.iter_mut().for_each(|arrival| arrival.id = to.insert(from.remove(arrival.id)));
        self.crossings.iter_mut().for_each(|crossing| crossing.move_packets(from, to));
        self.switch.move_packets(from, to);
    }

    /// Iterates over the packets that are not handled yet, then over those in the fabric.
    pub(super) fn inside<'a>(&'a self, packets: &'a Packets) -> impl Iterator<Item = &'a Packet> {
        let come = self.arrivals.iter().map(|arrival| packets.get(arrival.id));
        come.chain(self.crossings.iter().flat_map(|crossing| crossing.packets(packets)))
    }

    /// Begins a new measurement window.
    pub fn reset(&mut self, now: Time) {
        // Counters run on, so that conservation of packets can be checked over the run.
        self.before = LearningCounts { addresses: self.addresses.at(self.handled(now)).1, ..self.counts };
        self.switch.reset(now);
    }

    /// Returns the time until which packets have been handled.
    fn handled(&self, now: Time) -> Time {
        self.arrivals.first().map_or(now, |arrival| arrival.at)
    }

    /// Returns the underlying switch with the ports and the buffer.
    #[must_use]
    pub fn switch(&self) -> &Switch {
        &self.switch
    }

    /// Returns the underlying switch, mutably.
    pub(super) fn switch_mut(&mut self) -> &mut Switch {
        &mut self.switch
    }

    /// Returns the parameters of learning.
    #[must_use]
    pub fn params(&self) -> &AddressLearningParams {
        &self.params
    }

    /// Returns the paths through the fabric, in the order of the ports.
    #[must_use]
    pub fn crossings(&self) -> &[FabricCrossing] {
        &self.crossings
    }

    /// Returns the number of hosts in the address table at `now`.
    #[must_use]
    pub fn known(&self, now: Time) -> u32 {
        self.addresses.at(self.handled(now)).0
    }

    /// Returns the counters from the last reset until `now`.
    #[must_use]
    pub fn counts(&self, now: Time) -> LearningCounts {
        let (addresses, before) = (self.addresses.at(self.handled(now)).1, &self.before);
        LearningCounts {
            addresses: AddressCounts {
                learned: addresses.learned - before.addresses.learned,
                forgotten: addresses.forgotten - before.addresses.forgotten,
                displaced: addresses.displaced - before.addresses.displaced,
            },
            flooded_packets: self.counts.flooded_packets - before.flooded_packets,
            flooded_bytes: self.counts.flooded_bytes - before.flooded_bytes,
            filtered_packets: self.counts.filtered_packets - before.filtered_packets,
        }
    }

    /// Iterates over the copies made by flooding, per flow in order, since the start of the run.
    pub fn copied(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.copied.iter().map(|(&flow, &packets)| (flow, packets))
    }
}
