//! Paused ports that wait for each other.

use super::fabric::{Fabric, Node};
use super::switch::Switch;
use crate::packet::{PacketFifo, Packets};
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// A paused port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PausedPort {
    /// The switch, by its number.
    pub switch: u16,
    /// Its port.
    pub port: u16,
    /// The priority.
    pub priority: u8,
}

impl Fabric {
    /// A cycle of paused ports, each of which waits for the next: the switch behind it has asked for the pause because of
    /// packets that wait at the next. Nothing within a fabric ends such a state. Empty if there is none.
    #[must_use]
    pub fn deadlock(&self) -> Vec<PausedPort> {
        let mut done = Vec::new();
        for start in self.paused_ports() {
            let mut way = Vec::new();
            if self.find_cycle(start, &mut way, &mut done) {
                return way;
            }
        }
        Vec::new()
    }

    /// Ports of switches that are paused while packets wait.
    fn paused_ports(&self) -> Vec<PausedPort> {
        let mut paused = Vec::new();
        for (switch, node) in self.switches().enumerate() {
            for (port, at) in node.ports().iter().enumerate() {
                let egress = at.egress();
                let stuck = |priority: &u8| egress.is_paused(*priority) && egress.waiting_of(*priority).0 > 0;
                let named = |priority| PausedPort { switch: switch as u16, port: port as u16, priority };
                paused.extend((0..8).filter(stuck).map(named));
            }
        }
        paused
    }

    /// Looks for a cycle that is reached from `at`, and leaves it in `way`.
    fn find_cycle(&self, at: PausedPort, way: &mut Vec<PausedPort>, done: &mut Vec<PausedPort>) -> bool {
        if let Some(begin) = way.iter().position(|&port| port == at) {
            way.drain(..begin);
            return true;
        }
        if done.contains(&at) {
            return false;
        }
        way.push(at);
        for next in self.waits_for(at) {
            if self.find_cycle(next, way, done) {
                return true;
            }
        }
        way.pop();
        done.push(at);
        false
    }

    /// The paused ports at which packets wait that came in from `at`.
    fn waits_for(&self, at: PausedPort) -> Vec<PausedPort> {
        let Some(egress) = self.switch(at.switch).map(|switch| switch.ports()[usize::from(at.port)].egress()) else {
            return Vec::new();
        };
        let (peer, peer_port) = egress.peer();
        let Some(switch) = self.switch_number(peer) else { return Vec::new() };
        let holds = |port: &PausedPort| {
            let queue =
                self.switch(switch).map(|node| node.ports()[usize::from(port.port)].egress().queue_of(at.priority));
            queue.is_some_and(|queue| came_by(queue, self.packets(), peer_port))
        };
        let paused = self.paused_ports().into_iter();
        paused.filter(|port| port.switch == switch && port.priority == at.priority).filter(holds).collect()
    }

    fn switch(&self, number: u16) -> Option<&Switch> {
        match self.nodes().get(usize::from(number)) {
            Some(Node::Switch(switch)) => Some(switch),
            _ => None,
        }
    }

    /// The number of the switch that a component is.
    fn switch_number(&self, component: ComponentId) -> Option<u16> {
        let number = component.0.checked_sub(self.component(0).0).and_then(|node| u16::try_from(node).ok())?;
        self.switch(number).map(|_| number)
    }
}

/// Whether a packet that came in by `port` waits in a queue.
fn came_by(queue: &PacketFifo, packets: &Packets, port: u16) -> bool {
    let mut next = queue.front();
    for _ in 0..queue.len() {
        let Some(packet) = next.map(|id| packets.get(id)) else { return false };
        if packet.queue == port {
            return true;
        }
        next = Some(packet.next);
    }
    false
}
