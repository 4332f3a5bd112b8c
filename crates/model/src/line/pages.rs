//! Where virtual memory lies in physical memory: contiguous runs in a seeded random order.

use super::memory_of;
use crate::params::PageParams;
use serde::{Deserialize, Serialize};

const ROUNDS: u64 = 4;

/// A seeded one-to-one mapping of runs of pages. It needs no table: it is a Feistel network, walked until it lands
/// inside.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pages {
    run_bytes: u64,
    runs: u64,
    half_bits: u32,
    seed: u64,
    /// Where the memory begins.
    base: u64,
}

impl Pages {
    /// The mapping of the memory of the first socket.
    ///
    /// # Panics
    /// If the memory holds no whole run.
    #[must_use]
    pub fn new(params: &PageParams, seed: u64) -> Self {
        let runs = params.memory_bytes / params.run_bytes;
        assert!(runs > 0, "memory smaller than one run of pages");
        let bits = u64::BITS - (runs - 1).leading_zeros();
        Self { run_bytes: params.run_bytes, runs, half_bits: bits.div_ceil(2).max(1), seed, base: 0 }
    }

    /// The same mapping, to the memory of a socket.
    #[must_use]
    pub fn at_socket(self, socket: u8) -> Self {
        Self { base: memory_of(socket), ..self }
    }

    /// Bytes of a contiguous run.
    #[must_use]
    pub fn run_bytes(&self) -> u64 {
        self.run_bytes
    }

    /// The physical address of a virtual address.
    ///
    /// # Panics
    /// If the address lies outside of memory.
    #[must_use]
    pub fn physical(&self, address: u64) -> u64 {
        let (run, within) = self.split(address);
        assert!(run < self.runs, "virtual address {address:#x} outside of memory");
        let mut place = self.permute(run);
        while place >= self.runs {
            place = self.permute(place);
        }
        self.base + place * self.run_bytes + within
    }

    /// The run of an address, and the place in it.
    #[inline]
    fn split(&self, address: u64) -> (u64, u64) {
        if self.run_bytes.is_power_of_two() {
            (address >> self.run_bytes.trailing_zeros(), address & (self.run_bytes - 1))
        } else {
            (address / self.run_bytes, address % self.run_bytes)
        }
    }

    fn permute(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in 0..ROUNDS {
            let mixed = scramble(right ^ self.seed.wrapping_add(round.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            (left, right) = (right, left ^ (mixed & mask));
        }
        (left << self.half_bits) | right
    }
}

/// Runs that a [`Translator`] remembers: a power of two.
const REMEMBERED: usize = 128;
/// No run has this number.
const NO_RUN: u64 = u64::MAX;

/// A mapping that remembers where the runs lie that it was asked for last. What it remembers changes no result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Translator {
    pages: Pages,
    /// Runs, and where each begins; by the last bits of their numbers.
    #[serde(skip)]
    recent: Vec<(u64, u64)>,
}

impl Translator {
    /// The same mapping.
    #[must_use]
    pub(crate) fn new(pages: Pages) -> Self {
        Self { pages, recent: Vec::new() }
    }

    /// The mapping.
    #[must_use]
    pub(crate) fn pages(&self) -> &Pages {
        &self.pages
    }

    /// As [`Pages::physical`].
    ///
    /// # Panics
    /// If the address lies outside of memory.
    #[must_use]
    #[inline]
    pub(crate) fn physical(&mut self, address: u64) -> u64 {
        let (run, within) = self.pages.split(address);
        match self.recent.get(run as usize % REMEMBERED) {
            Some(&(known, place)) if known == run => place + within,
            _ => self.learn(run, address) + within,
        }
    }

    fn learn(&mut self, run: u64, address: u64) -> u64 {
        let place = self.pages.physical(address) - self.pages.split(address).1;
        if self.recent.is_empty() {
            self.recent = vec![(NO_RUN, 0); REMEMBERED];
        }
        self.recent[run as usize % REMEMBERED] = (run, place);
        place
    }
}

fn scramble(value: u64) -> u64 {
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
            let elsewhere = pages.clone().at_socket(2);
            assert!((0..runs).all(|run| elsewhere.physical(run * 16384) == memory_of(2) + pages.physical(run * 16384)));
        }
    }
}
