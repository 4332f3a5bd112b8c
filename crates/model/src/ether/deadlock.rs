//! Paused ports that wait for each other.

use super::network::Network;
use crate::line::{Fifo, Packet, Packets};
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

impl Network<'_> {
    /// A cycle of paused ports, each of which waits for the next: the switch behind it has asked for the pause because
    /// of packets that wait at the next. Nothing ever ends such a state. Empty if there is none.
    #[must_use]
    pub fn deadlock(&self) -> Vec<PausedPort> {
        let stuck = self.stuck_ports();
        let Some(&start) = stuck.first() else { return Vec::new() };
        // Every stuck port waits for another one, so that whoever follows them comes by a port for the second time.
        let mut way = vec![start];
        loop {
            let at = way[way.len() - 1];
            let Some(next) = stuck.iter().copied().find(|&next| self.held_at(at, next) > 0) else { return Vec::new() };
            if let Some(begin) = way.iter().position(|&port| port == next) {
                return way.split_off(begin);
            }
            way.push(next);
        }
    }

    /// The paused ports that stay paused: at others of them there wait so many packets that came in from them that the
    /// end of the pause is never asked for, whatever leaves elsewhere.
    fn stuck_ports(&self) -> Vec<PausedPort> {
        let mut stuck = self.paused_ports();
        loop {
            let stays = |at: &PausedPort| {
                let held: u64 = stuck.iter().map(|&next| self.held_at(*at, next)).sum();
                self.xon_bytes(*at).is_some_and(|xon| held > xon)
            };
            let left: Vec<PausedPort> = stuck.iter().copied().filter(stays).collect();
            if left.len() == stuck.len() {
                return left;
            }
            stuck = left;
        }
    }

    /// Ports of switches that are paused while packets wait.
    fn paused_ports(&self) -> Vec<PausedPort> {
        let mut paused = Vec::new();
        for (switch, node) in (0..).zip(self.switches()) {
            for (port, at) in (0..).zip(node.ports()) {
                let egress = at.egress();
                let stuck = |priority: &u8| egress.is_paused(*priority) && egress.waiting_of(*priority).0 > 0;
                paused.extend((0..8).filter(stuck).map(|priority| PausedPort { switch, port, priority }));
            }
        }
        paused
    }

    /// The switch that a port leads to, and its port there.
    fn behind(&self, at: PausedPort) -> Option<(u16, u16)> {
        let (peer, port) = self.switch(at.switch.into())?.ports()[usize::from(at.port)].egress().peer();
        Some((u16::try_from(self.switch_at(peer)?).ok()?, port))
    }

    /// Down to how many bytes from a port the switch behind it, if it asks for a pause, goes on asking.
    fn xon_bytes(&self, at: PausedPort) -> Option<u64> {
        let (switch, port) = self.behind(at)?;
        let switch = self.switch(switch.into())?;
        switch.xon_bytes().filter(|_| switch.ports()[usize::from(port)].asks_pause(at.priority))
    }

    /// Bytes that came in from the port `at` and wait at `next`.
    fn held_at(&self, at: PausedPort, next: PausedPort) -> u64 {
        let Some((_, port)) = self.behind(at).filter(|behind| behind.0 == next.switch) else { return 0 };
        let switch = self.switch(next.switch.into()).filter(|_| next.priority == at.priority);
        let (Some(switch), Some(packets)) = (switch, self.packets_at(next.switch.into())) else { return 0 };
        bytes_from(switch.ports()[usize::from(next.port)].egress().queue_of(next.priority), packets, port)
    }
}

/// Bytes of the packets of a queue that came in by `port`.
fn bytes_from(queue: &Fifo<Packet>, packets: &Packets, port: u16) -> u64 {
    queue.iter(packets).filter(|packet| packet.queue == port).map(|packet| u64::from(packet.ip_bytes)).sum()
}
