//! Symmetry reduction: states that differ only in the names of like agents and of lines are explored once.

use std::hash::{Hash, Hasher};

use crate::directory::{DirectoryLine, LineHolders, LineTransaction};
use crate::explore::{Bounds, LineWorld, Packet, World};
use crate::{Agent, Message, Node};

/// Renamings of agents and lines.
pub(super) struct Renamings {
    /// Each renaming: the new name of every agent, and the agent with each new name.
    agents: Vec<(Vec<u8>, Vec<usize>)>,
    /// Each order of the lines.
    lines: Vec<Vec<u8>>,
}

impl Renamings {
    /// Returns the identity renaming only.
    pub(super) fn kept(bounds: &Bounds) -> Self {
        let agents = bounds.caches + bounds.tiles + bounds.uncached;
        Self { agents: vec![with_inverse((0..agents).collect())], lines: vec![(0..bounds.lines).collect()] }
    }

    /// Returns all renamings that preserve the kinds of agents.
    pub(super) fn all(bounds: &Bounds) -> Self {
        let tiles = bounds.caches + bounds.tiles;
        let mut agents = vec![Vec::new()];
        // Only agents of one kind follow the same rules, so only they may swap names.
        for kind in [0..bounds.caches, bounds.caches..tiles, tiles..tiles + bounds.uncached] {
            let orders = orders(kind.collect());
            agents = agents.iter().flat_map(|one| orders.iter().map(move |other| [&one[..], other].concat())).collect();
        }
        Self { agents: agents.into_iter().map(with_inverse).collect(), lines: orders((0..bounds.lines).collect()) }
    }

    /// Returns a fingerprint that is equal for all states that differ only in names, and the number of these states.
    pub(super) fn fingerprint(&self, world: &World) -> (u128, usize) {
        let mut found = Vec::with_capacity(self.agents.len() * self.lines.len());
        // States of agents contain no names: each is hashed once and not for every renaming.
        let states = |line: &LineWorld| line.agents.iter().map(fingerprint_of).collect();
        let states: Vec<Vec<u128>> = world.lines.iter().map(states).collect();
        let mut lines = Vec::with_capacity(world.lines.len());
        for (names, inverse) in &self.agents {
            lines.clear();
            lines.extend(
                world.lines.iter().zip(&states).map(|(line, states)| line_fingerprint(line, states, names, inverse)),
            );
            for order in &self.lines {
                let mut all = Fingerprint::default();
                order.iter().for_each(|line| all.write_u128(lines[usize::from(*line)]));
                found.push(all.whole());
            }
        }
        // The least fingerprint stands for the class, whichever of its states was found first.
        found.sort_unstable();
        found.dedup();
        (found[0], found.len())
    }
}

/// Returns all permutations of some names.
fn orders(things: Vec<u8>) -> Vec<Vec<u8>> {
    if things.len() < 2 {
        return vec![things];
    }
    let first = |at: usize| {
        let mut rest = things.clone();
        let first = rest.remove(at);
        orders(rest).into_iter().map(move |rest| [&[first], &rest[..]].concat())
    };
    (0..things.len()).flat_map(first).collect()
}

/// Returns the new names, and the agent with each of them.
fn with_inverse(names: Vec<u8>) -> (Vec<u8>, Vec<usize>) {
    let inverse = (0_u8..).take(names.len());
    let inverse = inverse.filter_map(|name| names.iter().position(|other| *other == name)).collect();
    (names, inverse)
}

/// Returns the fingerprint of a line after a renaming; `states` are the fingerprints of its agents.
fn line_fingerprint(line: &LineWorld, states: &[u128], names: &[u8], inverse: &[usize]) -> u128 {
    let mut all = Fingerprint::default();
    inverse.iter().for_each(|agent| all.write_u128(states[*agent]));
    (home_renamed(&line.home, names), line.memory, line.newest).hash(&mut all);
    // Summed up, because the order of the packets has no meaning.
    let packets = line.packets.iter().map(|packet| fingerprint_of(&packet_renamed(packet, names)));
    packets.fold(0_u128, u128::wrapping_add).hash(&mut all);
    all.whole()
}

fn home_renamed(home: &DirectoryLine, names: &[u8]) -> DirectoryLine {
    let holders = match home.holders {
        LineHolders::Nobody => LineHolders::Nobody,
        LineHolders::Shared(sharers) => {
            LineHolders::Shared(sharers.iter().map(|agent| renamed(agent, names)).collect())
        }
        LineHolders::Owned(owner) => LineHolders::Owned(renamed(owner, names)),
    };
    let mut busy = home.busy;
    match &mut busy {
        LineTransaction::Idle => {}
        LineTransaction::Fetching { requester, .. }
        | LineTransaction::Forwarded { requester, .. }
        | LineTransaction::Closing(requester)
        | LineTransaction::Overwriting { requester, .. } => *requester = renamed(*requester, names),
    }
    DirectoryLine { holders, busy, ..*home }
}

fn packet_renamed(packet: &Packet, names: &[u8]) -> Packet {
    let node = |node| match node {
        Node::Agent(agent) => Node::Agent(renamed(agent, names)),
        other => other,
    };
    let mut message = packet.message;
    match &mut message {
        Message::Inv { requester } => *requester = node(*requester),
        Message::ForwardRo { requester } | Message::ForwardX { requester } | Message::ForwardOnce { requester } => {
            *requester = renamed(*requester, names);
        }
        _ => {}
    }
    Packet { from: node(packet.from), to: node(packet.to), message }
}

fn renamed(agent: Agent, names: &[u8]) -> Agent {
    names.get(usize::from(agent.index())).and_then(|name| Agent::new(*name)).unwrap_or(agent)
}

/// Returns a fingerprint of 128 bits, assumed to be unique.
fn fingerprint_of<T: Hash>(thing: &T) -> u128 {
    let mut hasher = Fingerprint::default();
    thing.hash(&mut hasher);
    hasher.whole()
}

/// Hasher of 128 bits: two hashes of 64 bits, each of which mixes in every word with its own multiplication.
#[derive(Default)]
pub(super) struct Fingerprint(u64, u64);

impl Fingerprint {
    fn mix(&mut self, word: u64) {
        let one = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Multiplication carries upwards only; the shift brings the high bits back down.
        self.0 = one ^ one >> 29;
        let two = (self.1.rotate_left(23) ^ word).wrapping_add(1).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        self.1 = two ^ two >> 31;
    }

    fn whole(&self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1)
    }
}

impl Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.mix(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(word.into());
    }

    fn write_u128(&mut self, word: u128) {
        self.mix(word as u64);
        self.mix((word >> 64) as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.mix(word as u64);
    }
}
