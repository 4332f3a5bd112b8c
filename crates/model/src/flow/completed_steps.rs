//! Completed steps of a rank, with the times at which each waited. The steps of all ranks give the critical path of a
//! job.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Approximate number of steps kept of all ranks of a job together.
const KEPT: usize = 1 << 18;
/// Minimum and maximum number of steps kept of one rank.
const KEPT_OF_RANK: (usize, usize) = (16, 1 << 13);

/// A completed step of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedStep {
    /// Name of the step, as an index into [`crate::params::JobParams::phases`].
    pub phase: u8,
    /// Time at which the step began.
    pub began: Time,
    /// If the step waited for the accelerator: start of the accelerator's current busy period, and end of the wait.
    pub device: Option<(Time, Time)>,
    /// Time at which computing ended and sending began.
    pub computed: Time,
    /// Time at which all data that the step sends was written.
    pub written: Time,
    /// Time at which all data that the step receives had arrived.
    pub received: Time,
    /// Time at which the step ended: data received through shared memory was copied.
    pub ended: Time,
    /// Rank that the step sent to, and all bytes sent to this rank so far.
    pub sent: Option<(u32, u64)>,
    /// Rank that the step received from, and all bytes received from this rank so far.
    pub taken: Option<(u32, u64)>,
    /// Number of the connection of both, among those to that rank.
    pub lane: u32,
    /// For a rank that executes operations: number of the completed step, from 1 on, that the step waited for last; 0
    /// if it waited for none.
    pub after: u64,
}

/// The latest steps of a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CompletedSteps {
    most: usize,
    steps: VecDeque<CompletedStep>,
    /// The current step.
    pub(super) now: CompletedStep,
}

impl CompletedSteps {
    /// Creates the record of one of `ranks` ranks.
    pub(super) fn of_ranks(ranks: usize) -> Self {
        let (least, most) = KEPT_OF_RANK;
        // Jobs of many ranks keep fewer steps of each, so that memory does not grow with their number.
        Self { most: (KEPT / ranks.max(1)).clamp(least, most), steps: VecDeque::new(), now: CompletedStep::default() }
    }

    /// Records that a step begins.
    pub(super) fn begin(&mut self, now: Time) {
        self.now = CompletedStep { began: now, ..CompletedStep::default() };
    }

    /// Records that the current step ends.
    pub(super) fn end(&mut self, ended: Time, phase: u8, sent: Option<(u32, u64)>, taken: Option<(u32, u64)>) {
        self.add(CompletedStep { phase, ended, sent, taken, ..self.now });
    }

    /// Adds a step that has ended.
    pub(super) fn add(&mut self, step: CompletedStep) {
        // The oldest goes: the critical path is followed from the end back (docs/jobs.md).
        if self.steps.len() == self.most {
            self.steps.pop_front();
        }
        self.steps.push_back(step);
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = &CompletedStep> {
        self.steps.iter()
    }
}
