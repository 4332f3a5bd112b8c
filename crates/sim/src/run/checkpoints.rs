//! Hands over checkpoints, as one file or as records: one record per partition, and an index.

use super::{Options, Run, RunStatus};
use crate::error::SimulationError;
use hostnet_config::Plan;
use hostnet_kernel::checkpoint;
use hostnet_kernel::Time;
use hostnet_model::{Packet, World};

/// Part of a checkpoint that is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointPiece<'a> {
    /// The whole checkpoint.
    Whole(&'a [u8]),
    /// Record of one partition, from the process that simulates the partition.
    Record {
        /// Simulated time of the checkpoint, in ps.
        at_ps: u64,
        /// Number of the partition.
        partition: usize,
        /// Content of the record.
        bytes: &'a [u8],
    },
    /// Everything that belongs to no partition, from the process that writes, after all processes have handed over
    /// their records.
    Index {
        /// Simulated time of the checkpoint, in ps.
        at_ps: u64,
        /// Content of the index.
        bytes: &'a [u8],
    },
}

impl Run {
    /// As [`Run::run_recorded`], but also passes each due checkpoint to `on_checkpoint`. The run stops if that
    /// returns false.
    ///
    /// # Errors
    /// As [`Run::run`].
    pub fn run_with_checkpoints(
        &mut self,
        mut on_status: impl FnMut(RunStatus) -> bool,
        mut on_packets: impl FnMut(&[(Time, Packet)]) -> bool,
        mut on_checkpoint: impl FnMut(CheckpointPiece) -> bool,
    ) -> Result<bool, SimulationError> {
        self.agree(self.check_controllers().map_err(SimulationError::Controller))?;
        loop {
            let at = self.next_checkpoint();
            if !self.run_until(at, &mut on_status, &mut on_packets)? {
                return Ok(false);
            }
            if self.state.done {
                return Ok(true);
            }
            if at.ps() == self.options.checkpoint_at_ps {
                let whole = self.checkpoint().is_some_and(|bytes| !on_checkpoint(CheckpointPiece::Whole(bytes)));
                if self.in_any_process(whole) {
                    return Ok(false);
                }
            }
            if self.is_checkpoint_due(at) && !self.hand_over_records(at, &mut on_checkpoint) {
                return Ok(false);
            }
        }
    }

    /// Returns the simulated time of the next checkpoint.
    fn next_checkpoint(&self) -> Time {
        let Options { checkpoint_at_ps, checkpoint_every_ps, .. } = self.options;
        let now_ps = self.simulated_ps();
        let once = Some(checkpoint_at_ps).filter(|&at_ps| at_ps > now_ps);
        let again = (checkpoint_every_ps > 0).then(|| (now_ps / checkpoint_every_ps + 1) * checkpoint_every_ps);
        once.into_iter().chain(again).min().map_or(Time::MAX, Time::from_ps)
    }

    fn is_checkpoint_due(&self, now: Time) -> bool {
        let every_ps = self.options.checkpoint_every_ps;
        every_ps > 0 && now.ps() % every_ps == 0
    }

    /// Hands over a checkpoint in records. Returns false if a callback refuses one in any process.
    fn hand_over_records(&mut self, now: Time, on_checkpoint: &mut impl FnMut(CheckpointPiece) -> bool) -> bool {
        let (at_ps, label) = (now.ps(), label(&self.plan, self.options));
        let mut taken = true;
        for (partition, part) in self.state.simulation.parts().iter().enumerate().filter(|part| self.has(part.0)) {
            let record = checkpoint::write(&record_label(&label, at_ps, partition), part);
            taken &=
                record.is_ok_and(|bytes| on_checkpoint(CheckpointPiece::Record { at_ps, partition, bytes: &bytes }));
        }
        self.share_counters();
        // The index is written last, so that a checkpoint is either complete or absent.
        if self.in_any_process(!taken) {
            return false;
        }
        let index = self.is_writer().then(|| self.index(&label)).flatten();
        let refused = index.is_some_and(|bytes| !on_checkpoint(CheckpointPiece::Index { at_ps, bytes: &bytes }));
        !self.in_any_process(refused)
    }

    /// Serializes the state without its partitions.
    fn index(&mut self, label: &str) -> Option<Vec<u8>> {
        // The partitions are swapped out while the rest is serialized.
        let parts = self.state.simulation.parts_mut().iter_mut();
        let empty = |part: &mut (World, _)| {
            let scheduler = hostnet_kernel::Scheduler::elsewhere(&part.1);
            std::mem::replace(part, (World::Remote, scheduler))
        };
        let parts: Vec<_> = parts.map(empty).collect();
        let index = checkpoint::write(label, &self.state).ok();
        for (place, part) in self.state.simulation.parts_mut().iter_mut().zip(parts) {
            *place = part;
        }
        index
    }
}

/// Returns the label that ties a checkpoint to a plan and to the options that affect its content.
pub(super) fn label(plan: &Plan, options: Options) -> String {
    let Options { series_ps, counters_ps, observed_server, .. } = options;
    format!("{} series {series_ps} counters {counters_ps} of {observed_server}", plan.hash)
}

/// Returns the label that ties a record to its checkpoint.
pub(super) fn record_label(label: &str, at_ps: u64, partition: usize) -> String {
    format!("{label} partition {partition} at {at_ps}")
}
