//! Packets that an endpoint forwards to other hosts, as an accelerator does that is the way of its neighbours to a rail
//! of the network.

use super::port_queues::PRIORITIES;
use super::routes::Routes;
use crate::line::{Fifo, Packet, PacketId, Packets};
use serde::{Deserialize, Serialize};

/// Entry of a list of blocked ends that stands for packets to forward.
pub(super) const FORWARDED: u32 = u32::MAX;

/// Routes of an endpoint that forwards packets, and the packets that wait in its memory for room at a port. The memory
/// has no limit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Forwarder {
    routes: Routes,
    /// Waiting packets, a list per port and priority.
    waiting: Vec<Fifo<Packet>>,
}

impl Forwarder {
    /// Creates the forwarder of an endpoint with `ports` ports.
    pub(super) fn new(routes: Routes, ports: usize) -> Self {
        Self { routes, waiting: vec![Fifo::default(); ports * PRIORITIES] }
    }

    /// Returns the port by which packets of a flow from one host to another are forwarded; none if no cable leads
    /// there.
    pub(super) fn port(&self, flow: u32, from: u16, to: u16) -> Option<u16> {
        self.routes.port(flow, from, to)
    }

    /// Adds a packet to those that wait for a port and a priority. Returns true if it is the only one.
    pub(super) fn push(&mut self, list: usize, id: PacketId, packets: &mut Packets) -> bool {
        let waiting = &mut self.waiting[list];
        waiting.push(packets, id);
        waiting.len() == 1
    }

    /// Removes and returns the next packet that waits for a port and a priority. Also returns true if more wait.
    pub(super) fn pop(&mut self, list: usize, packets: &mut Packets) -> Option<(PacketId, bool)> {
        let waiting = &mut self.waiting[list];
        let id = waiting.pop(packets)?;
        Some((id, !waiting.is_empty()))
    }

    /// Moves the waiting packets from one store to another.
    pub(super) fn move_packets(&mut self, from: &mut Packets, to: &mut Packets) {
        self.waiting.iter_mut().for_each(|waiting| waiting.move_to(from, to));
    }
}
