//! Mapping of virtual to physical memory: contiguous runs of pages in a seeded random order.
//!
//! Every socket has its own space of virtual addresses, which begins where the memory of the socket begins and maps
//! into it. Addresses beyond the spaces of all sockets interleave over the sockets, run by run. If sockets have
//! clusters, each cluster has such a space within that of its socket.

use super::number::{memory_of, memory_of_cluster};
use crate::params::PageParams;
use serde::{Deserialize, Serialize};

/// Rounds of a Feistel network.
const ROUNDS: u64 = 4;
/// Bits of an address that hold its cluster.
const CLUSTERS: u64 = (1 << 46) - (1 << 44);
/// Bits of an address that hold its space.
const SPACES: u64 = (SHARED as u64) << 46 | CLUSTERS;
/// Space of the addresses that interleave over all sockets.
const SHARED: u8 = u8::MAX;

/// Seeded one-to-one mapping of runs of pages. It needs no table: it is a Feistel network that is applied again until
/// the result lies in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pages {
    run_bytes: u64,
    seed: u64,
    /// Clusters of a socket.
    clusters: u8,
    /// Mappings, by socket and cluster.
    memories: Vec<RunPermutation>,
}

/// Mapping of the runs of a cluster's memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct RunPermutation {
    runs: u64,
    /// Bits of half a run number; 0 if runs lie in their order.
    half_bits: u32,
}

impl Pages {
    /// Creates the mapping of the memory of a server's first socket, or of the first cluster of that socket.
    ///
    /// # Panics
    /// Panics if the memory holds no whole run.
    #[must_use]
    pub fn new(params: &PageParams, seed: u64) -> Self {
        Self { run_bytes: params.run_bytes, seed, clusters: 1, memories: Vec::new() }.and(params)
    }

    /// Adds the memory of one more socket, or of the next cluster.
    ///
    /// # Panics
    /// Panics if the memory holds no whole run, or its runs have another size.
    #[must_use]
    pub fn and(mut self, params: &PageParams) -> Self {
        let runs = params.memory_bytes / params.run_bytes;
        assert!(runs > 0, "memory smaller than one run of pages");
        assert_eq!(params.run_bytes, self.run_bytes, "all sockets have runs of one size");
        let bits = u64::BITS - (runs - 1).leading_zeros();
        // A Feistel network needs an even number of bits, at least one per half.
        self.memories.push(RunPermutation { runs, half_bits: bits.div_ceil(2).max(1) });
        self
    }

    /// Adds the memory of a node without cores, whose runs lie in the order of their addresses.
    ///
    /// # Panics
    /// Panics if the memory holds no whole run, or its runs have another size.
    #[must_use]
    pub fn and_in_order(self, params: &PageParams) -> Self {
        let mut pages = self.and(params);
        pages.memories.iter_mut().last().into_iter().for_each(|network| network.half_bits = 0);
        pages
    }

    /// Groups the memories into sockets of `clusters` clusters each.
    #[must_use]
    pub fn with_clusters(self, clusters: u8) -> Self {
        Self { clusters, ..self }
    }

    /// Returns the bytes of a contiguous run.
    #[must_use]
    pub fn run_bytes(&self) -> u64 {
        self.run_bytes
    }

    /// Returns the first virtual address of the memory that interleaves over all sockets.
    #[must_use]
    pub fn shared() -> u64 {
        memory_of(SHARED)
    }

    /// Returns the physical address of a virtual address.
    ///
    /// # Panics
    /// Panics if the address lies outside of memory.
    #[must_use]
    pub fn physical(&self, address: u64) -> u64 {
        let (run, within) = self.split(address);
        let base = run & SPACES;
        let run = run - base;
        let clusters = u64::from(self.clusters);
        let (memory, run) = if base == memory_of(SHARED) {
            let memories = self.memories.len() as u64;
            (run % memories, run / memories)
        } else {
            (base / memory_of(1) * clusters + (base & CLUSTERS) / memory_of_cluster(0, 1), run)
        };
        let Some(&network) = self.memories.get(memory as usize).filter(|network| run < network.runs) else {
            panic!("virtual address {address:#x} outside of memory")
        };
        let mut place = self.permute(network, run);
        // The network permutes more numbers than there are runs; applied until it lands inside, it is still
        // one-to-one.
        while place >= network.runs {
            place = self.permute(network, place);
        }
        memory_of_cluster((memory / clusters) as u8, (memory % clusters) as u8) + place * self.run_bytes + within
    }

    /// Returns the virtual address of a physical address, in the space of the memory that holds it.
    ///
    /// # Panics
    /// Panics if the address lies outside of memory.
    #[must_use]
    pub fn virtual_of(&self, physical: u64) -> u64 {
        let (run, within) = self.split(physical);
        let base = run & SPACES;
        let place = run - base;
        let memory = base / memory_of(1) * u64::from(self.clusters) + (base & CLUSTERS) / memory_of_cluster(0, 1);
        let network = self.memories[memory as usize];
        let mut run = self.unpermute(network, place);
        // Backward along the way of `physical`, which passed numbers beyond the memory.
        while run >= network.runs {
            run = self.unpermute(network, run);
        }
        base + run * self.run_bytes + within
    }

    /// Splits an address into its run and the offset in the run. The run is numbered within its space and has the bits
    /// of that space.
    #[inline]
    fn split(&self, address: u64) -> (u64, u64) {
        let base = address & SPACES;
        let offset = address - base;
        // Speed only: shifts instead of divisions.
        let (run, within) = if self.run_bytes.is_power_of_two() {
            (offset >> self.run_bytes.trailing_zeros(), offset & (self.run_bytes - 1))
        } else {
            (offset / self.run_bytes, offset % self.run_bytes)
        };
        (base | run, within)
    }

    fn permute(&self, RunPermutation { half_bits, .. }: RunPermutation, value: u64) -> u64 {
        // Runs of memory without cores lie in the order of their addresses.
        if half_bits == 0 {
            return value;
        }
        let mask = (1 << half_bits) - 1;
        let (mut left, mut right) = (value >> half_bits, value & mask);
        for round in 0..ROUNDS {
            // Each round is invertible whatever `mixed` does, so the whole is one-to-one.
            (left, right) = (right, left ^ (self.mixed(right, round) & mask));
        }
        (left << half_bits) | right
    }

    /// Inverts [`Pages::permute`].
    fn unpermute(&self, RunPermutation { half_bits, .. }: RunPermutation, value: u64) -> u64 {
        if half_bits == 0 {
            return value;
        }
        let mask = (1 << half_bits) - 1;
        let (mut left, mut right) = (value >> half_bits, value & mask);
        for round in (0..ROUNDS).rev() {
            (left, right) = (right ^ (self.mixed(left, round) & mask), left);
        }
        (left << half_bits) | right
    }

    /// Returns the bits that a round mixes into one half of a number, given the other half.
    fn mixed(&self, half: u64, round: u64) -> u64 {
        // Multiples of 2^64 divided by the golden ratio give every round a key of its own.
        scramble(half ^ self.seed.wrapping_add(round.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

/// Runs that a [`Translator`] remembers, a power of two.
const REMEMBERED: usize = 128;
/// Number that no run has.
const NO_RUN: u64 = u64::MAX;

/// Mapping that remembers the runs it has looked up last. What it remembers changes no result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Translator {
    pages: Pages,
    /// Runs, and the physical address of each, by the last bits of their numbers.
    #[serde(skip)]
    recent: Vec<(u64, u64)>,
}

impl Translator {
    /// Creates a translator of `pages`.
    #[must_use]
    pub(crate) fn new(pages: Pages) -> Self {
        Self { pages, recent: Vec::new() }
    }

    /// Returns the mapping.
    #[must_use]
    pub(crate) fn pages(&self) -> &Pages {
        &self.pages
    }

    /// Returns the physical address of a virtual address, as [`Pages::physical`] does.
    ///
    /// # Panics
    /// Panics if the address lies outside of memory.
    #[must_use]
    #[inline]
    pub(crate) fn physical(&mut self, address: u64) -> u64 {
        let (run, within) = self.pages.split(address);
        // Direct-mapped: another run of the same index takes the place.
        match self.recent.get(run as usize % REMEMBERED) {
            Some(&(known, place)) if known == run => place + within,
            _ => self.learn(run, address) + within,
        }
    }

    fn learn(&mut self, run: u64, address: u64) -> u64 {
        let place = self.pages.physical(address) - self.pages.split(address).1;
        // At the first use, and again after a checkpoint, which leaves the list out.
        if self.recent.is_empty() {
            self.recent = vec![(NO_RUN, 0); REMEMBERED];
        }
        self.recent[run as usize % REMEMBERED] = (run, place);
        place
    }
}

pub(super) fn scramble(value: u64) -> u64 {
    // The finalizer of MurmurHash3: each bit of the result depends on all bits of the value.
    let value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_a_place_of_its_own() {
        for runs in [1_u64, 2, 7, 64, 1000] {
            let params = PageParams { run_bytes: 16384, memory_bytes: runs * 16384 };
            let pages = Pages::new(&params, 42);
            let mut places: Vec<u64> = (0..runs).map(|run| pages.physical(run * 16384 + 5)).collect();
            places.sort_unstable();
            let mut translator = Translator::new(pages.clone());
            for address in (0..3 * runs).map(|turn| turn * 7 % runs * 16384 + turn % 3) {
                assert_eq!(translator.physical(address), pages.physical(address));
            }
            assert_eq!(places, (0..runs).map(|run| run * 16384 + 5).collect::<Vec<_>>());
            let of_two = pages.clone().and(&params);
            for run in 0..runs {
                let [first, second] = [0, memory_of(1)].map(|base| of_two.physical(base + run * 16384));
                assert_eq!([first, second], [0, memory_of(1)].map(|base| base + pages.physical(run * 16384)));
                let [even, odd] = [0, 1].map(|odd| of_two.physical(Pages::shared() + (2 * run + odd) * 16384));
                assert_eq!([even, odd], [first, second]);
                let of_four = of_two.clone().and(&params).and(&params).with_clusters(2);
                for (socket, cluster) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let base = memory_of_cluster(socket, cluster);
                    assert_eq!(of_four.physical(base + run * 16384), base + first);
                    assert_eq!(of_four.virtual_of(base + first + 5), base + run * 16384 + 5);
                }
                let fourth = of_four.physical(Pages::shared() + (4 * run + 3) * 16384);
                assert_eq!(fourth, memory_of_cluster(1, 1) + first);
            }
        }
    }
}
