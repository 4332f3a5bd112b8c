//! Paused ports that wait for each other.

use super::network::Network;
use crate::line::{Fifo, Packet, Packets};
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

/// A paused port at which packets wait, and the port of another switch that it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// The port.
    pub at: PausedPort,
    /// The component at the other end of its cable, and its port there.
    pub behind: (ComponentId, u16),
}

/// What a paused port waits for, as the switch behind it knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The port.
    pub at: PausedPort,
    /// Down to how many bytes from it the switch goes on asking for the pause.
    pub xon_bytes: u64,
    /// The paused ports of that switch at which packets wait that came in from `at`, with their bytes; in order.
    pub held: Vec<(PausedPort, u64)>,
}

impl Network<'_> {
    /// A cycle of paused ports, each of which waits for the next: the switch behind it has asked for the pause because
    /// of packets that wait at the next. Nothing ever ends such a state. Empty if there is none.
    #[must_use]
    pub fn deadlock(&self) -> Vec<PausedPort> {
        cycle(&self.waits(&self.paused()))
    }

    /// Ports of the switches that are here that are paused while packets wait.
    #[must_use]
    pub fn paused(&self) -> Vec<Paused> {
        let mut paused = Vec::new();
        for (switch, node) in self.switches() {
            for (port, at) in (0..).zip(node.ports()) {
                let (egress, switch) = (at.egress(), switch as u16);
                let stuck = |priority: &u8| egress.is_paused(*priority) && egress.waiting_of(*priority).0 > 0;
                let of = |priority| Paused { at: PausedPort { switch, port, priority }, behind: egress.peer() };
                paused.extend((0..8).filter(stuck).map(of));
            }
        }
        paused
    }

    /// Of `paused`, which are all there are in the world, those that wait for a switch that is here, with what they
    /// wait for.
    #[must_use]
    pub fn waits(&self, paused: &[Paused]) -> Vec<Wait> {
        paused.iter().filter_map(|port| self.wait(port, paused)).collect()
    }

    fn wait(&self, &Paused { at, behind: (peer, port) }: &Paused, paused: &[Paused]) -> Option<Wait> {
        let number = self.switch_at(peer)?;
        let (switch, packets) = (self.switch(number)?, self.packets_at(number)?);
        let xon_bytes = switch.xon_bytes().filter(|_| switch.ports()[usize::from(port)].asks_pause(at.priority))?;
        let here = paused.iter().map(|next| next.at);
        let here = here.filter(|next| usize::from(next.switch) == number && next.priority == at.priority);
        let held = here.map(|next| {
            let queue = switch.ports()[usize::from(next.port)].egress().queue_of(next.priority);
            (next, bytes_from(queue, packets, port))
        });
        Some(Wait { at, xon_bytes, held: held.filter(|held| held.1 > 0).collect() })
    }
}

/// A cycle of paused ports, each of which waits for the next, among all that wait; empty if there is none. A port stays
/// paused when at others that do there wait so many packets that came in from it that the end of the pause is never
/// asked for, whatever leaves elsewhere.
#[must_use]
pub fn cycle(waits: &[Wait]) -> Vec<PausedPort> {
    let mut stuck: Vec<&Wait> = waits.iter().collect();
    stuck.sort_unstable_by_key(|wait| wait.at);
    loop {
        let ports: Vec<PausedPort> = stuck.iter().map(|wait| wait.at).collect();
        let is_stuck = |port: &PausedPort| ports.binary_search(port).is_ok();
        let held = |wait: &Wait| wait.held.iter().filter(|held| is_stuck(&held.0)).map(|held| held.1).sum::<u64>();
        stuck.retain(|wait| held(wait) > wait.xon_bytes);
        if stuck.len() == ports.len() {
            break;
        }
    }
    let Some(&start) = stuck.first() else { return Vec::new() };
    // Every stuck port waits for another one, so that whoever follows them comes by a port for the second time.
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

/// Bytes of the packets of a queue that came in by `port`.
fn bytes_from(queue: &Fifo<Packet>, packets: &Packets, port: u16) -> u64 {
    queue.iter(packets).filter(|packet| packet.queue == port).map(|packet| u64::from(packet.ip_bytes)).sum()
}
