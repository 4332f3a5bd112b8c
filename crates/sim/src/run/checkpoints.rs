//! Hands over checkpoints, as one file or as records: one record per partition, and an index.

use super::options::Options;
use super::processes::Processes;
use super::state::RunState;
use hostnet_config::Plan;
use hostnet_kernel::checkpoint::{self, CheckpointError};
use hostnet_kernel::{Scheduler, Time};
use hostnet_model::{Payload, World};

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

/// Returns the simulated time of the first checkpoint after `now`.
pub(super) fn next_checkpoint(options: Options, now: Time) -> Time {
    let Options { checkpoint_at_ps, checkpoint_every_ps, .. } = options;
    let once = Some(checkpoint_at_ps).filter(|&at_ps| at_ps > now.ps());
    let again = (checkpoint_every_ps > 0).then(|| (now.ps() / checkpoint_every_ps + 1) * checkpoint_every_ps);
    // The times of both options are absolute, so a resumed run stops at the same times.
    once.into_iter().chain(again).min().map_or(Time::MAX, Time::from_ps)
}

/// Returns true if a checkpoint in records is due at `now`.
pub(super) fn is_checkpoint_due(options: Options, now: Time) -> bool {
    let every_ps = options.checkpoint_every_ps;
    every_ps > 0 && now.ps() % every_ps == 0
}

impl RunState {
    /// Serializes the whole state in the process that writes it.
    pub(super) fn write_whole(&mut self, plan: &Plan, options: Options, processes: &Processes) -> Option<Vec<u8>> {
        // One process writes the whole checkpoint, so it needs the partitions of all.
        let places = self.collect(processes, options.observed_server);
        let whole = processes.is_writer().then(|| checkpoint::write(&label(plan, options), self).ok()).flatten();
        Processes::restore_placeholders(&mut self.simulation, places);
        whole
    }

    /// Hands over a checkpoint in records. Returns false if a callback refuses one in any process.
    pub(super) fn hand_over_records(
        &mut self,
        label: &str,
        observed_server: usize,
        processes: &Processes,
        on_checkpoint: &mut dyn FnMut(CheckpointPiece) -> bool,
    ) -> bool {
        let at_ps = self.now().ps();
        let mut taken = true;
        for (partition, part) in self.simulation.parts().iter().enumerate().filter(|part| processes.has(part.0)) {
            let record = checkpoint::write(&record_label(label, at_ps, partition), part);
            taken &=
                record.is_ok_and(|bytes| on_checkpoint(CheckpointPiece::Record { at_ps, partition, bytes: &bytes }));
        }
        self.share_counters(processes, observed_server);
        // The index is written last, so that a checkpoint is either complete or absent.
        if processes.in_any(!taken) {
            return false;
        }
        let index = processes.is_writer().then(|| self.index(label)).flatten();
        let refused = index.is_some_and(|bytes| !on_checkpoint(CheckpointPiece::Index { at_ps, bytes: &bytes }));
        !processes.in_any(refused)
    }

    /// Serializes the state without its partitions.
    fn index(&mut self, label: &str) -> Option<Vec<u8>> {
        // The partitions are swapped out while the rest is serialized.
        let parts = self.simulation.parts_mut().iter_mut();
        let empty = |part: &mut (World, _)| {
            let scheduler = Scheduler::elsewhere(&part.1);
            std::mem::replace(part, (World::Remote, scheduler))
        };
        let parts: Vec<_> = parts.map(empty).collect();
        let index = checkpoint::write(label, self).ok();
        for (place, part) in self.simulation.parts_mut().iter_mut().zip(parts) {
            *place = part;
        }
        index
    }
}

/// Returns the label that ties a checkpoint to a plan and to the options that affect its content.
pub(super) fn label(plan: &Plan, options: Options) -> String {
    let Options { series_ps, counters_ps, observed_server, .. } = options;
    // Threads and traces are left out: they change no result, so a run may resume with others.
    format!("{} series {series_ps} counters {counters_ps} of {observed_server}", plan.hash)
}

/// Returns the label that ties a record to its checkpoint.
pub(super) fn record_label(label: &str, at_ps: u64, partition: usize) -> String {
    format!("{label} partition {partition} at {at_ps}")
}

/// Joins an index and the records of all partitions to a state.
pub(super) fn join_records(
    plan: &Plan,
    options: Options,
    index: &[u8],
    records: &[Vec<u8>],
) -> Result<RunState, CheckpointError> {
    let label = label(plan, options);
    let mut state: RunState = checkpoint::read(&label, index)?;
    let at_ps = state.simulation.progress().time.ps();
    let parts = state.simulation.parts_mut();
    // A whole checkpoint comes without records, as its partitions are part of the index.
    if !records.is_empty() && records.len() != parts.len() {
        let (found, wanted) = (records.len(), parts.len());
        return Err(CheckpointError::Damaged(format!("it has {found} records of {wanted} partitions")));
    }
    for (partition, (place, record)) in parts.iter_mut().zip(records).enumerate() {
        *place = checkpoint::read::<(World, Scheduler<Payload>)>(&record_label(&label, at_ps, partition), record)?;
    }
    if parts.iter().any(|part| matches!(part.0, World::Remote)) {
        return Err(CheckpointError::Damaged("records of its partitions are missing".to_owned()));
    }
    Ok(state)
}
