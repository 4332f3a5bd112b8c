//! The steps that a rank has passed: when, and what it waited for. From those of all ranks the path is found that made
//! a job take as long as it did.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Steps that are kept of all ranks of a job together, about.
const KEPT: usize = 1 << 18;
/// Of a rank at least and at most.
const KEPT_OF_RANK: (usize, usize) = (16, 1 << 13);

/// A step that a rank has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// What it is called, as [`crate::params::JobParams::phases`] says.
    pub phase: u8,
    /// When it began.
    pub began: Time,
    /// If it waited for its accelerator: since when that had been busy without a pause, and until when it waited.
    pub device: Option<(Time, Time)>,
    /// When it had computed: from then on it sent.
    pub computed: Time,
    /// When all that it sent was written.
    pub written: Time,
    /// When it had all that it receives.
    pub received: Time,
    /// When it ended: what came through shared memory was copied.
    pub ended: Time,
    /// The rank that it sent to, and all bytes that were sent there by then.
    pub sent: Option<(u32, u64)>,
    /// The rank that it received from, and all bytes that were received from there by then.
    pub taken: Option<(u32, u64)>,
}

/// The latest steps of a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PassedSteps {
    most: usize,
    steps: VecDeque<Passed>,
    /// The one that it is in.
    pub(super) now: Passed,
}

impl PassedSteps {
    /// Those of one of so many ranks.
    pub(super) fn of_ranks(ranks: usize) -> Self {
        let (least, most) = KEPT_OF_RANK;
        Self { most: (KEPT / ranks.max(1)).clamp(least, most), steps: VecDeque::new(), now: Passed::default() }
    }

    /// A step begins.
    pub(super) fn begin(&mut self, now: Time) {
        self.now = Passed { began: now, ..Passed::default() };
    }

    /// It ends.
    pub(super) fn end(&mut self, ended: Time, phase: u8, sent: Option<(u32, u64)>, taken: Option<(u32, u64)>) {
        if self.steps.len() == self.most {
            self.steps.pop_front();
        }
        self.steps.push_back(Passed { phase, ended, sent, taken, ..self.now });
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = &Passed> {
        self.steps.iter()
    }
}
