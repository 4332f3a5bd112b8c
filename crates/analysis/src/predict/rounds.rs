//! The rounds of the fixed point: each assumes the values that change slowly, and corrects them by what follows from
//! them.

use super::assumed::{RoundValues, LEAN, NUMBERS};
use super::solve::{Latency, Problem, Rate, Solution};

/// Largest number of rounds.
const ROUNDS: usize = 60;
/// Largest relative change in a round that counts as settled.
const SETTLED: f64 = 1e-3;
/// Factor on the step of a correction that keeps its direction.
const FASTER: f64 = 1.4;
/// Factor on the step of a correction that changes its direction.
const SLOWER: f64 = 0.5;
/// Smallest share of a correction that is applied.
const PACE_MIN: f64 = 0.02;

/// Share of each correction that is applied: all of it at first, less when its direction alternates.
struct StepSizes {
    paces: [f64; NUMBERS],
    last: [f64; NUMBERS],
}

impl StepSizes {
    fn new() -> Self {
        Self { paces: [1.0; NUMBERS], last: [0.0; NUMBERS] }
    }

    /// Moves `old` towards `found`. Returns the largest relative distance between their values.
    fn correct(&mut self, old: &mut RoundValues, mut found: RoundValues) -> f64 {
        let mut off = 0.0_f64;
        let before = old.numbers().map(|number| *number);
        for (index, number) in found.numbers().into_iter().enumerate() {
            let step = *number - before[index];
            let (pace, last) = (&mut self.paces[index], &mut self.last[index]);
            // A correction that alternates overshoots, one that keeps its direction is too small.
            if step * *last < 0.0 {
                *pace = (*pace * SLOWER).max(PACE_MIN);
            } else if step * *last > 0.0 {
                *pace = (*pace * FASTER).min(1.0);
            }
            *last = step;
            // A logarithm is compared by its absolute change.
            let size = if index == LEAN { 1.0 } else { (number.abs() + before[index].abs()).max(1e-3) };
            off = off.max(step.abs() / size);
            *number = before[index] + *pace * step;
        }
        *old = found;
        off
    }
}

impl Problem {
    /// Finds the fixed point, starting from scratch.
    pub(super) fn solve(&self) -> Solution {
        self.solve_from(&Solution::default())
    }

    /// Finds the fixed point, starting from the solution of a similar problem.
    pub(super) fn solve_from(&self, start: &Solution) -> Solution {
        let (mut assumed, mut near) = (start.assumed, start.near);
        let mut rates = vec![Rate::default(); self.flows.len()];
        let mut next = rates.clone();
        let mut latency = Latency::default();
        let mut paces = StepSizes::new();
        let mut moved = 1.0;
        for _ in 0..ROUNDS {
            latency = self.balance(&assumed, &mut near, &mut next);
            moved = rates.iter().zip(&next).map(|(old, new)| change(old, new)).fold(0.0, f64::max);
            rates.copy_from_slice(&next);
            let found = self.settle(&assumed, &rates, &latency);
            let off = paces.correct(&mut assumed, found);
            // Rates may rest while rows and modes still drift, so both must settle.
            moved = moved.max(off);
            if moved < SETTLED {
                break;
            }
        }
        let load = self.load(&rates, &assumed);
        Solution { rates, latency, load, assumed, near, moved }
    }
}

fn change(old: &Rate, new: &Rate) -> f64 {
    // Rates are per ns; 1e-12 keeps an idle workload from dividing by zero.
    let pairs = [(old.access, new.access), (old.io_write, new.io_write), (old.io_read, new.io_read)];
    pairs.iter().map(|(old, new)| (old - new).abs() / new.max(1e-12)).fold(0.0, f64::max)
}
