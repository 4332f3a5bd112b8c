//! The rounds of the fixed point: what changes slowly is taken for granted, and corrected by what follows from it.

use super::admission::Admission;
use super::channel::{Load, State};
use super::solve::{Latency, Problem, Rate, Solution};

/// Most rounds.
const ROUNDS: usize = 60;
/// How far a round may still move anything, as a share, when all has settled.
const SETTLED: f64 = 1e-3;
/// How much more or less of a correction is made when the next one goes on, or goes back.
const FASTER: f64 = 1.4;
const SLOWER: f64 = 0.5;
/// The least part of a correction that is made.
const PACE_MIN: f64 = 0.02;

/// What a round takes for granted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slow {
    pub(super) load: Load,
    pub(super) state: State,
    pub(super) forced: f64,
    pub(super) port_ns: f64,
    pub(super) admission: Admission,
}

/// The numbers of it that are corrected a part at a time.
const NUMBERS: usize = 8;
/// The place among them of [`State::lean`], which is a logarithm.
const LEAN: usize = 4;

impl Slow {
    fn numbers(&mut self) -> [&mut f64; NUMBERS] {
        [
            &mut self.load.read_misses,
            &mut self.load.write_misses,
            &mut self.forced,
            &mut self.state.read_wait_ns,
            &mut self.state.lean,
            &mut self.port_ns,
            &mut self.admission.io_share,
            &mut self.admission.turn_ns,
        ]
    }
}

/// How much of each correction is made: all of it first, less where the next one goes back.
struct Paces {
    paces: [f64; NUMBERS],
    last: [f64; NUMBERS],
}

impl Paces {
    fn new() -> Self {
        Self { paces: [1.0; NUMBERS], last: [0.0; NUMBERS] }
    }

    /// Corrects `old` towards `found`. Returns by how much the furthest of its numbers was off, as a share.
    fn correct(&mut self, old: &mut Slow, mut found: Slow) -> f64 {
        let mut off = 0.0_f64;
        let before = old.numbers().map(|number| *number);
        for (index, number) in found.numbers().into_iter().enumerate() {
            let step = *number - before[index];
            let (pace, last) = (&mut self.paces[index], &mut self.last[index]);
            if step * *last < 0.0 {
                *pace = (*pace * SLOWER).max(PACE_MIN);
            } else if step * *last > 0.0 {
                *pace = (*pace * FASTER).min(1.0);
            }
            *last = step;
            let size = if index == LEAN { 1.0 } else { (number.abs() + before[index].abs()).max(1e-3) };
            off = off.max(step.abs() / size);
            *number = before[index] + *pace * step;
        }
        *old = found;
        off
    }
}

impl Problem {
    /// Finds the fixed point.
    pub(super) fn solve(&self) -> Solution {
        self.solve_from(&Solution::default())
    }

    /// Finds the fixed point, beginning with what was found for one that is like it.
    pub(super) fn solve_from(&self, start: &Solution) -> Solution {
        let (mut slow, mut near) = (start.slow, start.near);
        let mut rates = vec![Rate::default(); self.flows.len()];
        let mut next = rates.clone();
        let mut latency = Latency::default();
        let mut paces = Paces::new();
        let mut moved = 1.0;
        for _ in 0..ROUNDS {
            latency = self.balance(&slow, &mut near, &mut next);
            moved = rates.iter().zip(&next).map(|(old, new)| change(old, new)).fold(0.0, f64::max);
            rates.copy_from_slice(&next);
            let found = self.settle(&slow, &rates, &latency);
            let off = paces.correct(&mut slow, found);
            moved = moved.max(off);
            if moved < SETTLED {
                break;
            }
        }
        let load = self.load(&rates, &slow);
        Solution { rates, latency, load, slow, near, moved }
    }
}

fn change(old: &Rate, new: &Rate) -> f64 {
    let pairs = [(old.access, new.access), (old.io_write, new.io_write), (old.io_read, new.io_read)];
    pairs.iter().map(|(old, new)| (old - new).abs() / new.max(1e-12)).fold(0.0, f64::max)
}
