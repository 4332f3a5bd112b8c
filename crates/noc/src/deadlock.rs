//! Deadlock check before a run: proves that the waits of packets form no cycle.
//!
//! A packet that holds a virtual channel waits for one of those that its next hop may use. If the graph of such waits
//! has no cycle, some packet can always move (Dally and Seitz, 1987). Terminals accept all flits, so channels to
//! terminals end a chain. Classes have channels of their own; waits between classes are the responsibility of the user
//! of the network.

use crate::{Layout, Port, Routes, Terminal};

/// Virtual channel of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldVc {
    /// Output.
    pub output: Port,
    /// Virtual channel of the output.
    pub vc: u8,
}

/// Returns a cycle of virtual channels, each of which may wait for the next and the last one for the first, if there
/// is any.
#[must_use]
pub fn cycle(layout: &Layout, routes: &Routes) -> Option<Vec<HeldVc>> {
    let ports = layout.ports_max();
    let waits = waits(layout, routes, ports);
    find(&waits).map(|nodes| nodes.into_iter().map(|node| held(node, ports, routes.vcs)).collect())
}

/// Describes a cycle in words.
#[must_use]
pub fn describe(layout: &Layout, circle: &[HeldVc]) -> String {
    let names: Vec<String> = circle
        .iter()
        .map(|held| format!("{} on virtual channel {}", layout.output_name(held.output), held.vc))
        .collect();
    format!("{}, and that for the first", names.join(" waits for "))
}

fn held(node: usize, ports: usize, vcs: usize) -> HeldVc {
    let (port, vc) = (node / vcs, (node % vcs) as u8);
    HeldVc { output: Port { router: (port / ports) as u16, port: (port % ports) as u8 }, vc }
}

/// Computes, for every virtual channel of an output, the ones that a packet in it may wait for.
fn waits(layout: &Layout, routes: &Routes, ports: usize) -> Vec<Vec<u32>> {
    let downstream = layout.downstream();
    let mut waits = vec![Vec::new(); downstream.len() * routes.vcs];
    let mut seen = vec![0_u32; layout.routers.len()];
    let mut walk_number = 0;
    for group in 0..routes.groups() {
        for terminal in 0..layout.terminals.len() as u16 {
            // The next hop depends on the group and the terminal only, so routes that meet continue together.
            walk_number += 1;
            let starts = |source: &&Terminal| routes.may_start(group, usize::from(source.at.router), terminal);
            for source in layout.terminals.iter().filter(starts) {
                let way = RouteWalk { routes, downstream: &downstream, ports, group, terminal };
                way.walk(usize::from(source.at.router), walk_number, &mut seen, &mut waits);
            }
        }
    }
    for entry in &mut waits {
        // Routes that share a stretch record the same waits; each is kept once, in an order that makes runs alike.
        entry.sort_unstable();
        entry.dedup();
    }
    waits
}

/// Walk along the routes to a terminal.
struct RouteWalk<'a> {
    routes: &'a Routes,
    /// Router behind each output.
    downstream: &'a [Option<u16>],
    ports: usize,
    group: u8,
    terminal: u16,
}

impl RouteWalk<'_> {
    /// Records the waits on the route from a router until it meets a route that was walked before.
    fn walk(&self, mut at: usize, number: u32, seen: &mut [u32], waits: &mut [Vec<u32>]) {
        let mut before: Option<(usize, u64)> = None;
        loop {
            let hop = self.routes.hop(self.group, at, self.terminal);
            let output = at * self.ports + usize::from(hop.port);
            // Terminals accept all flits (docs/models/noc.md), so a channel to one ends the chain.
            let Some(next) = self.downstream[output] else { return };
            if let Some((held, vcs)) = before {
                self.record_wait((held, vcs), (output, hop.vcs), waits);
            }
            // From here on the route was walked before; the wait that leads into it is recorded above.
            if seen[at] == number {
                return;
            }
            seen[at] = number;
            before = Some((output, hop.vcs));
            at = usize::from(next);
        }
    }

    fn record_wait(&self, (held, held_vcs): (usize, u64), (output, vcs): (usize, u64), waits: &mut [Vec<u32>]) {
        let count = self.routes.vcs;
        for vc in (0..count).filter(|vc| held_vcs >> vc & 1 != 0) {
            // A wait for any of several channels counts as one for each: stricter than needed, but never wrong.
            for wanted in (0..count).filter(|wanted| vcs >> wanted & 1 != 0) {
                waits[held * count + vc].push((output * count + wanted) as u32);
            }
        }
    }
}

/// Finds a cycle in a graph, depth first and without recursion.
fn find(next: &[Vec<u32>]) -> Option<Vec<usize>> {
    // Three colours: an edge to a node that is still open closes a cycle, one to a finished node does not.
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; next.len()];
    for start in 0..next.len() {
        if state[start] != NEW {
            continue;
        }
        let mut path = vec![(start, 0_usize)];
        state[start] = OPEN;
        while let Some((node, taken)) = path.last_mut() {
            let Some(&to) = next[*node].get(*taken) else {
                state[*node] = DONE;
                path.pop();
                continue;
            };
            *taken += 1;
            let to = to as usize;
            match state[to] {
                NEW => {
                    state[to] = OPEN;
                    path.push((to, 0));
                }
                OPEN => {
                    // The path may have led to the cycle from outside of it.
                    let from = path.iter().position(|entry| entry.0 == to).unwrap_or(0);
                    return Some(path[from..].iter().map(|entry| entry.0).collect());
                }
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
