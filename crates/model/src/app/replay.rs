//! Replay of a trace by a thread. The caller pushes the steps ahead of time, since the model reads no files.

use super::Step;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Step of a trace.
#[derive(Clone, Copy, Debug)]
struct TraceStep {
    address: u64,
    instructions: u32,
    store: bool,
}

/// Thread that replays a trace. Every access is an operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Replay {
    base: u64,
    repeats: bool,
    taken: u64,
    /// True if no step follows those that wait. This flag and the waiting steps follow from `taken`, so neither is
    /// part of the state.
    #[serde(skip)]
    ended: bool,
    #[serde(skip)]
    waiting: VecDeque<TraceStep>,
}

impl Replay {
    pub(super) fn new(base: u64, repeats: bool) -> Self {
        Self { base, repeats, taken: 0, ended: false, waiting: VecDeque::new() }
    }

    /// Returns true if the trace starts over at its end.
    #[must_use]
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// Returns the number of steps taken.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the number of steps that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns true if the end of the trace has been announced.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Appends a step: a byte address relative to the thread's memory, and the instructions before the access. The
    /// access itself is an instruction, so there is at least one.
    pub fn push(&mut self, address: u64, instructions: u32, store: bool) {
        self.waiting.push_back(TraceStep { address, instructions: instructions.max(1), store });
    }

    /// Announces that no step follows those that wait.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Returns the next step, or `None` at the end of the trace.
    ///
    /// # Panics
    /// Panics if no step waits and the end has not been announced.
    #[inline]
    pub(super) fn step(&mut self) -> Option<Step> {
        let Some(TraceStep { address, instructions, store }) = self.waiting.pop_front() else {
            assert!(self.ended, "a replay ran out of steps after {} of them", self.taken);
            return None;
        };
        self.taken += 1;
        let address = self.base + address;
        Some(Step { address, instructions, store, depends: false, begins: true, ends: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_in_order_until_the_end() {
        let mut replay = Replay::new(1 << 20, false);
        replay.push(64, 0, false);
        replay.push(0, 7, true);
        replay.end();
        let found: Vec<_> = std::iter::from_fn(|| replay.step()).collect();
        let seen = found.iter().map(|step| (step.address, step.instructions, step.store));
        assert_eq!(seen.collect::<Vec<_>>(), [((1 << 20) + 64, 1, false), (1 << 20, 7, true)]);
        assert_eq!((replay.taken(), replay.waiting()), (2, 0));
    }

    #[test]
    #[should_panic(expected = "ran out of steps after 1 of them")]
    fn running_out_is_a_defect() {
        let mut replay = Replay::new(0, true);
        replay.push(0, 1, false);
        assert!(replay.step().is_some());
        replay.step();
    }

    #[test]
    fn a_saved_state_knows_how_far_it_is() {
        let mut replay = Replay::new(0, true);
        replay.push(0, 1, false);
        replay.push(64, 1, false);
        replay.step();
        replay.end();
        let saved = serde_json::to_string(&replay).unwrap();
        let again: Replay = serde_json::from_str(&saved).unwrap();
        assert_eq!(
            (again.taken(), again.waiting(), again.repeats(), again.ended()),
            (1, 0, true, false),
            "the end is told again"
        );
    }
}
