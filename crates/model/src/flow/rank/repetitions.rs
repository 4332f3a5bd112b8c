//! Completed repetitions of the block that a rank is in, by which fast-forward tells if they are alike.

use super::super::phases::PhaseStats;
use super::Rank;
use crate::params::Repetition;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Number of the latest repetitions whose steps are kept.
const STEPS_KEPT: usize = 3;
/// Least number of repetitions before those that are averaged.
const AVERAGED_MIN: usize = 32;
/// Number of the latest repetitions whose durations are kept: twice as many as a mean is taken over, and some more of
/// ranks that run ahead.
const KEPT: usize = 320;

/// End of a repetition, which is the start of the next one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Boundary {
    at: Time,
    phases: Vec<PhaseStats>,
}

/// Latest repetitions of the block that a rank is in, and what was skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetitions {
    /// Repetition that the rank is in.
    now: Option<Repetition>,
    /// Time and statistics at the start of the block.
    start: Option<Boundary>,
    latest: VecDeque<Boundary>,
    /// Ends of the latest repetitions.
    ends: VecDeque<Time>,
    /// Statistics when 32 repetitions were complete, 64, and so on; the latest two.
    marks: VecDeque<(usize, Vec<PhaseStats>)>,
    skipped: u64,
    skipped_ps: u64,
}

impl Repetitions {
    /// Records that the rank is in a repetition at `at`, with its statistics so far.
    fn note(&mut self, now: Option<Repetition>, at: Time, phases: &[PhaseStats]) {
        if now == self.now {
            return;
        }
        let boundary = || Boundary { at, phases: phases.to_vec() };
        if now.map(|now| now.block) != self.now.map(|now| now.block) {
            let skipped = (self.skipped, self.skipped_ps);
            *self = Self { start: Some(boundary()), ..Self::default() };
            (self.skipped, self.skipped_ps) = skipped;
        } else {
            keep(&mut self.latest, STEPS_KEPT + 1, boundary());
            keep(&mut self.ends, KEPT, at);
            let done = self.ends.len();
            if done >= AVERAGED_MIN && done.is_power_of_two() && done < KEPT {
                keep(&mut self.marks, 2, (done, phases.to_vec()));
            }
        }
        self.now = now;
    }

    /// Returns the repetition that the rank is in; `None` before the first and after the last.
    #[must_use]
    pub fn now(&self) -> Option<Repetition> {
        self.now
    }

    /// Returns the number of repetitions that were skipped, in all blocks.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns the number of simulated repetitions of the block whose ends are known.
    #[must_use]
    pub fn completed(&self) -> usize {
        self.ends.len()
    }

    /// Returns the start of the block and the ends of its simulated repetitions; `None` if these were too many to keep.
    #[must_use]
    pub fn boundaries(&self) -> Option<Vec<Time>> {
        let start = self.start.iter().map(|start| start.at);
        (self.ends.len() < KEPT).then(|| start.chain(self.ends.iter().copied()).collect())
    }

    /// Returns the number of repetitions that a mean is taken over, and the statistics before these: about the latest
    /// half of all if `long`, otherwise the latest few.
    fn averaged(&self, long: bool) -> Option<(usize, &[PhaseStats])> {
        if long {
            let (done, phases) = self.marks.front()?;
            return Some((self.ends.len() - done, phases));
        }
        let (first, start) = (self.latest.front()?, self.start.as_ref()?);
        // The start of the block is the boundary before the first that is kept, as long as all are.
        let (count, first) = match self.ends.len() {
            few if few <= STEPS_KEPT => (few, start),
            _ => (STEPS_KEPT, first),
        };
        Some((count, &first.phases))
    }
}

fn keep<T>(kept: &mut VecDeque<T>, most: usize, value: T) {
    if kept.len() == most {
        kept.pop_front();
    }
    kept.push_back(value);
}

impl Rank {
    /// Begins to record repetitions.
    pub fn track_repetitions(&mut self) {
        self.repetitions = Some(Box::default());
    }

    /// Returns the latest repetitions, if they are recorded.
    #[must_use]
    pub fn repetitions(&self) -> Option<&Repetitions> {
        self.repetitions.as_deref()
    }

    /// Returns the time of the skipped repetitions, in ps: what the rank would have been done later without them.
    #[must_use]
    pub fn skipped_ps(&self) -> u64 {
        self.repetitions.as_ref().map_or(0, |repetitions| repetitions.skipped_ps)
    }

    /// Records the repetition that the rank has come to.
    pub(super) fn note_repetition(&mut self, now: Time) {
        if let Some(repetitions) = &mut self.repetitions {
            repetitions.note(self.program.repetition(), now, &self.phases);
        }
    }

    /// Leaves out `count` repetitions of the current block, which would take `ps`. Each counts as the mean of the
    /// latest half of all if `long`, otherwise of the latest few.
    pub fn skip_repetitions(&mut self, count: u32, ps: u64, long: bool) {
        let Some(repetitions) = &mut self.repetitions else { return };
        let Some(((over, before), last)) = repetitions.averaged(long).zip(repetitions.latest.back()) else { return };
        for (phase, (last, before)) in self.phases.iter_mut().zip(last.phases.iter().zip(before)) {
            *phase = phase.plus(&last.since(before).scaled(u64::from(count), over.max(1) as u64));
        }
        self.program.skip(count);
        // The next boundary is one repetition on, as every boundary is.
        repetitions.now = self.program.repetition();
        repetitions.skipped += u64::from(count);
        repetitions.skipped_ps += ps;
    }
}
