//! Generators of regular access patterns: STREAM, MLC and the pointer chase.

use super::graph::mix;
use super::memory::Walks;
use super::script::{Piece, Script};
use super::{MemoryBases, Step};
use crate::params::{AppParams, BufferLayout, ChaseParams, MlcParams, StreamKernel, StreamKernelParams, LINE_BYTES};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Thread of STREAM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stream {
    script: Script,
    loads: [u64; 2],
    load_count: usize,
    store: u64,
    work: u32,
    first: u64,
    lines: u64,
    at: u64,
}

impl Stream {
    pub(super) fn new(kernel: &StreamKernelParams, thread: u32, threads: u32, bases: MemoryBases) -> Self {
        let [a, b, c] = kernel.layout(bases.shared).arrays;
        let (loads, load_count, store) = match kernel.kernel {
            StreamKernel::Copy => ([a, a], 1, c),
            StreamKernel::Scale => ([c, c], 1, b),
            StreamKernel::Add => ([a, b], 2, c),
            StreamKernel::Triad => ([b, c], 2, a),
        };
        let all = (kernel.array_bytes / LINE_BYTES).max(1);
        // Computed from the whole, so that parts differ by a line at most and leave none out.
        let part = |thread: u32| (u128::from(all) * u128::from(thread) / u128::from(threads)) as u64;
        let first = part(thread).min(all - 1);
        let lines = (part(thread + 1) - part(thread)).max(1);
        Self { script: Script::new(), loads, load_count, store, work: kernel.line, first, lines, at: 0 }
    }

    /// Returns the next step.
    #[inline]
    pub fn step(&mut self) -> Step {
        loop {
            if let Some(step) = self.script.next() {
                return step;
            }
            self.plan();
        }
    }

    fn plan(&mut self) {
        let offset = (self.first + self.at) * LINE_BYTES;
        self.script.begin();
        for load in &self.loads[..self.load_count] {
            self.script.add(Piece::load(load + offset, 1));
        }
        self.script
            // Each load counts one instruction of the line's work.
            .add(Piece::store(self.store + offset, 1).each(self.work.saturating_sub(self.load_count as u32).max(1)));
        self.script.end();
        self.at = (self.at + 1) % self.lines;
    }
}

/// Buffer of a whole number of lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Buffer {
    base: u64,
    lines: u64,
    walks: Option<Walks>,
}

impl Buffer {
    fn new(params: &AppParams, bytes: u64, base: u64) -> Self {
        let layout = BufferLayout::new(base, bytes, params.walks.as_ref());
        let walks = Walks::new(params.walks.as_ref(), layout.tables);
        Self { base: layout.buffer, lines: (bytes / LINE_BYTES).max(1), walks }
    }
}

/// Thread of MLC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mlc {
    script: Script,
    buffer: Buffer,
    random: bool,
    reads: u64,
    work: u32,
    at: u64,
}

impl Mlc {
    pub(super) fn new(params: &AppParams, mlc: &MlcParams, bases: MemoryBases) -> Self {
        let delay = u128::from(mlc.delay_ps) * 1000 / u128::from(params.instruction_fs.max(1));
        // The delay is spent executing instructions at the rate of the core.
        let work = u32::try_from(delay).unwrap_or(u32::MAX).saturating_add(mlc.line);
        let buffer = Buffer::new(params, mlc.working_set_bytes, bases.thread);
        Self { script: Script::new(), buffer, random: mlc.random, reads: mlc.reads, work, at: 0 }
    }

    /// Returns the next step.
    #[inline]
    pub fn step(&mut self, rng: &mut Rng) -> Step {
        loop {
            if let Some(step) = self.script.next() {
                return step;
            }
            self.plan(rng);
        }
    }

    fn plan(&mut self, rng: &mut Rng) {
        let line = if self.random { rng.below(self.buffer.lines) } else { self.at };
        self.at = (self.at + 1) % self.buffer.lines;
        let address = self.buffer.base + line * LINE_BYTES;
        let load = rng.chance(self.reads);
        let piece = if load { Piece::load(address, 1) } else { Piece::store(address, 1) }.each(self.work);
        // Sequential accesses walk once per 512 lines, which is left out (docs/models/app.md, Page walks).
        let walks = if self.random { self.buffer.walks.as_ref() } else { None };
        self.script.begin();
        self.script.add_random(piece, walks, rng);
        self.script.end();
    }
}

/// Thread that chases pointers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chase {
    script: Script,
    buffer: Buffer,
    work: u32,
    bits: u32,
    seed: u64,
    at: u64,
}

impl Chase {
    pub(super) fn new(params: &AppParams, chase: &ChaseParams, bases: MemoryBases, rng: &mut Rng) -> Self {
        let buffer = Buffer::new(params, chase.working_set_bytes, bases.thread);
        let bits = u64::BITS - (buffer.lines - 1).leading_zeros();
        Self { script: Script::new(), buffer, work: chase.line, bits, seed: rng.next_u64(), at: 0 }
    }

    /// Returns the next step.
    #[inline]
    pub fn step(&mut self, rng: &mut Rng) -> Step {
        loop {
            if let Some(step) = self.script.next() {
                return step;
            }
            self.plan(rng);
        }
    }

    fn plan(&mut self, rng: &mut Rng) {
        let address = self.buffer.base + self.next_line() * LINE_BYTES;
        self.script.begin();
        let load = Piece::load(address, 1).each(self.work).dependent();
        self.script.add_random(load, self.buffer.walks.as_ref(), rng);
        self.script.end();
    }

    /// Returns the next line of the cycle: consecutive numbers permuted by a bijection, without those beyond the
    /// buffer.
    fn next_line(&mut self) -> u64 {
        let mask = (1_u64 << self.bits) - 1;
        loop {
            let line = shuffle(self.at, self.bits, self.seed);
            self.at = (self.at + 1) & mask;
            // Cycle walking: numbers beyond the buffer are skipped, and the rest stays a permutation.
            if line < self.buffer.lines {
                return line;
            }
        }
    }
}

/// Returns a bijection of the numbers below 2^`bits`: three rounds of an odd multiplication, an addition and a shift.
fn shuffle(value: u64, bits: u32, seed: u64) -> u64 {
    let mask = (1_u64 << bits) - 1;
    // More than half of the bits, so that the shift is its own inverse.
    let shift = bits / 2 + 1;
    (0..3).fold(value, |value, round| {
        let key = mix(seed ^ round);
        let value = (value.wrapping_mul(key | 1).wrapping_add(key >> 32)) & mask;
        value ^ value.checked_shr(shift).unwrap_or(0)
    })
}
