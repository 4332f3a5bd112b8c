//! Detection of PFC deadlocks: paused ports that wait for each other in a cycle.

use super::network::Network;
use crate::line::{Fifo, Packet, Packets};
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// A paused priority of a port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PausedPort {
    /// Number of the switch.
    pub switch: u16,
    /// Number of the port within the switch.
    pub port: u16,
    /// Priority class, 0 to 7.
    pub priority: u8,
}

/// A paused port with waiting packets, and the port at the other end of its cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PausedLink {
    /// The paused port.
    pub at: PausedPort,
    /// Component at the other end of the cable, and its port there.
    pub behind: (ComponentId, u16),
}

/// Reason why a paused port stays paused, as the switch behind it knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseWait {
    /// The paused port.
    pub at: PausedPort,
    /// XON threshold: bytes from `at` in the switch at or below which it ends the pause.
    pub xon_bytes: u64,
    /// Paused ports of that switch that hold packets which came in from `at`, in order, with the bytes of these
    /// packets.
    pub held: Vec<(PausedPort, u64)>,
}

impl Network<'_> {
    /// Returns a cycle of paused ports, each of which waits for the next: the switch behind a port has requested the
    /// pause because of packets that wait at the next port. Nothing resolves such a deadlock. Empty if there is none.
    #[must_use]
    pub fn deadlock(&self) -> Vec<PausedPort> {
        cycle(&self.waits(&self.paused()))
    }

    /// Returns the ports of the local switches that are paused while packets wait.
    #[must_use]
    pub fn paused(&self) -> Vec<PausedLink> {
        let mut paused = Vec::new();
        for (switch, node) in self.switches() {
            for (port, at) in (0..).zip(node.ports()) {
                let (egress, switch) = (at.egress(), switch as u16);
                let stuck = |priority: &u8| egress.is_paused(*priority) && egress.waiting_of(*priority).0 > 0;
                let of = |priority| PausedLink { at: PausedPort { switch, port, priority }, behind: egress.peer() };
                paused.extend((0..8).filter(stuck).map(of));
            }
        }
        paused
    }

    /// Returns the ports of `paused`, which lists all paused ports of the world, that wait for a local switch, with
    /// the reason why each stays paused.
    #[must_use]
    pub fn waits(&self, paused: &[PausedLink]) -> Vec<PauseWait> {
        paused.iter().filter_map(|port| self.wait(port, paused)).collect()
    }

    fn wait(&self, &PausedLink { at, behind: (peer, port) }: &PausedLink, paused: &[PausedLink]) -> Option<PauseWait> {
        let number = self.switch_at(peer)?;
        let (switch, packets) = (self.switch(number)?, self.packets_at(number)?);
        let xon_bytes = switch.xon_bytes().filter(|_| switch.ports()[usize::from(port)].requests_pause(at.priority))?;
        let here = paused.iter().map(|next| next.at);
        let here = here.filter(|next| usize::from(next.switch) == number && next.priority == at.priority);
        let held = here.map(|next| {
            let queue = switch.ports()[usize::from(next.port)].egress().queue_of(next.priority);
            (next, bytes_from(queue, packets, port))
        });
        Some(PauseWait { at, xon_bytes, held: held.filter(|held| held.1 > 0).collect() })
    }
}

/// Returns a cycle of paused ports, each of which waits for the next, or nothing if there is none. A port is stuck if
/// other stuck ports hold more bytes from it than the XON threshold: its pause then never ends, whatever other ports
/// send.
#[must_use]
pub fn cycle(waits: &[PauseWait]) -> Vec<PausedPort> {
    let mut stuck: Vec<&PauseWait> = waits.iter().collect();
    // Ports that others may still release are removed until no more can be.
    stuck.sort_unstable_by_key(|wait| wait.at);
    loop {
        let ports: Vec<PausedPort> = stuck.iter().map(|wait| wait.at).collect();
        let is_stuck = |port: &PausedPort| ports.binary_search(port).is_ok();
        let held = |wait: &PauseWait| wait.held.iter().filter(|held| is_stuck(&held.0)).map(|held| held.1).sum::<u64>();
        // At XON or below the pause ends, so only more than XON keeps a port stuck.
        stuck.retain(|wait| held(wait) > wait.xon_bytes);
        if stuck.len() == ports.len() {
            break;
        }
    }
    let Some(&start) = stuck.first() else { return Vec::new() };
    // Each stuck port waits for a stuck one, so following them must return to a port that was visited.
    let mut way = vec![start];
    loop {
        let next = way[way.len() - 1].held.iter().find_map(|held| stuck.iter().find(|wait| wait.at == held.0));
        let Some(&next) = next else { return Vec::new() };
        if let Some(begin) = way.iter().position(|wait| wait.at == next.at) {
            return way[begin..].iter().map(|wait| wait.at).collect();
        }
        way.push(next);
    }
}

/// Returns the bytes of the packets in a queue that came in by `port`.
fn bytes_from(queue: &Fifo<Packet>, packets: &Packets, port: u16) -> u64 {
    queue.iter(packets).filter(|packet| packet.queue == port).map(|packet| u64::from(packet.ip_bytes)).sum()
}
