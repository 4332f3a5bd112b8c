//! Text of the steps of ranks, as it is hashed.

use super::Hasher;
use hostnet_params::{
    AcceleratorParams, JobParams, RankMessageParams, RankStepParams, StepBlockParams, StepPartParams,
};

impl Hasher {
    /// Hashes the steps of a block rank by rank.
    pub(super) fn steps(&mut self, job: &JobParams, block: &StepBlockParams) {
        for rank in 0..job.hosts.len() as u32 {
            job.steps_of(block, rank).for_each(|step| self.step(&step));
            self.end_rank();
        }
    }

    /// Hashes a block as the descriptions of its collectives and the listed steps.
    pub(super) fn parts(&mut self, block: &StepBlockParams) -> serde_json::Result<()> {
        for part in &block.parts {
            if let StepPartParams::Listed(steps) = part {
                for steps in steps {
                    steps.iter().for_each(|step| self.step(step));
                    self.end_rank();
                }
            } else {
                self.text(",");
                self.value(&serde_json::to_value(part)?);
            }
        }
        Ok(())
    }

    /// Hashes the operations of a block, if it has any.
    pub(super) fn operations(&mut self, block: &StepBlockParams) -> serde_json::Result<()> {
        for operation in block.operations.iter().flat_map(|operations| operations.iter()) {
            self.text(",");
            self.value(&serde_json::to_value(operation)?);
        }
        Ok(())
    }

    fn step(&mut self, step: &RankStepParams) {
        let RankStepParams { phase, compute_ps, work, device, send, at, receive, posts } = *step;
        self.number(",[", phase);
        self.number(",", compute_ps);
        self.message(send);
        self.message(receive);
        // Values at their default are left out, so that jobs without them keep their hash.
        if work > 0 {
            self.number(",", work);
        }
        if device != AcceleratorParams::default() {
            self.number(",d", device.work_ps);
            self.number("/", device.left);
        }
        if at > 0 {
            self.number(",@", at);
        }
        if posts {
            self.text(",p");
        }
        self.text("]");
    }

    fn message(&mut self, message: Option<RankMessageParams>) {
        let Some(RankMessageParams { rank, bytes }) = message else { return self.text(",null") };
        self.number(",[", rank);
        self.number(",", bytes);
        self.text("]");
    }

    fn end_rank(&mut self) {
        self.text(",null");
        self.flush();
    }
}
