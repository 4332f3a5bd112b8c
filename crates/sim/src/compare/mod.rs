//! Finds where two runs diverge: the first epoch that differs, then the first event.

#[cfg(test)]
mod tests;

use crate::error::SimulationError;
use crate::run::{epoch_ps, Options, Run, RunStatus, EPOCH_PS};
use crate::watch::epochs::Epoch;
use crate::watch::events::{EventLog, EventRecord};
use hostnet_config::Plan;
use hostnet_kernel::Time;

/// Result of comparing two plans.
#[derive(Clone, Debug, PartialEq)]
pub enum LockstepResult {
    /// An event differs.
    Diverged(Divergence),
    /// Every event is the same until the shorter of the two runs ends.
    Same {
        /// End of the shorter run, in ps.
        until_ps: u64,
    },
    /// The callback stopped the comparison.
    Stopped,
}

/// The first event that differs between two runs, with its context.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// Number of events before this one that both runs have in common, from the start of the run.
    pub events_before: u64,
    /// Last of the common events, oldest first.
    pub common: Vec<EventRecord>,
    /// Events of each run from the first one that differs. Empty for a run that has ended or that has no more events
    /// in this epoch.
    pub differing: [Vec<EventRecord>; 2],
}

/// Runs two plans side by side, one epoch at a time, until their events differ. Events are not compared up to
/// `from_ps`, rounded down to the end of an epoch. Keeps `context` events before the first difference, and as many of
/// each run from there on.
///
/// # Errors
/// Returns an error if one of the simulated machines is stuck, or if a plan needs an external controller.
pub fn first_divergence(
    plans: [&Plan; 2],
    from_ps: u64,
    context: usize,
    on_status: impl FnMut(RunStatus) -> bool,
) -> Result<LockstepResult, SimulationError> {
    let [one, other] = plans.map(prepare_repeat);
    side_by_side([one?, other?], from_ps, context, on_status)
}

pub(crate) fn side_by_side(
    mut runs: [Run; 2],
    from_ps: u64,
    context: usize,
    mut on_status: impl FnMut(RunStatus) -> bool,
) -> Result<LockstepResult, SimulationError> {
    // Epochs are multiples of `EPOCH_PS`, so both runs stop at a common end.
    let mut end = Time::from_ps(from_ps / EPOCH_PS * EPOCH_PS);
    for run in &mut runs {
        if !run.run_until(end, &mut on_status, &mut |_| true)? {
            return Ok(LockstepResult::Stopped);
        }
    }
    let mut before: Vec<EventRecord> = Vec::new();
    while runs.iter().all(|run| !run.is_done()) {
        end += EPOCH_PS;
        let events_before = runs[0].events();
        for run in &mut runs {
            run.start_log();
            if !run.run_until(end, &mut on_status, &mut |_| true)? {
                return Ok(LockstepResult::Stopped);
            }
        }
        let until_ps = runs.iter().map(Run::simulated_ps).min().unwrap_or_default();
        // A run that ended early has no events beyond its end; these are no differences.
        let logs = runs.each_mut().map(|run| truncate_log(run.take_log(), until_ps));
        if let Some(index) = first_difference(&logs) {
            before.extend_from_slice(&logs[0].records[..index]);
            before.drain(..before.len().saturating_sub(context));
            let differing = logs.map(|log| log.records[index..].iter().take(context).copied().collect());
            return Ok(LockstepResult::Diverged(Divergence {
                events_before: events_before + index as u64,
                common: before,
                differing,
            }));
        }
        let [log, _] = logs;
        // Only the last events may become context, so memory does not grow with the run.
        before.extend(log.records.into_iter().rev().take(context).rev());
        before.drain(..before.len().saturating_sub(context));
    }
    Ok(LockstepResult::Same { until_ps: runs.iter().map(Run::simulated_ps).min().unwrap_or_default() })
}

/// Drops the events after `until_ps`, which the other run has not reached.
fn truncate_log(mut log: EventLog, until_ps: u64) -> EventLog {
    let count = log.records.partition_point(|record| record.at_ps <= until_ps);
    log.records.truncate(count);
    log
}

fn first_difference([a, b]: &[EventLog; 2]) -> Option<usize> {
    let (a, b) = (&a.records, &b.records);
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    // A log that is a prefix of the other differs where it ends.
    (common < a.len().max(b.len())).then_some(common)
}

/// Result of repeating the run of a plan and comparing it with records.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayVerdict {
    /// An epoch differs from that of a record.
    Deviated(Deviation),
    /// Every epoch of every record is as recorded.
    Same,
    /// The callback stopped the run.
    Stopped,
}

/// The first epoch in which a run differs from a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation {
    /// Start of the epoch, in ps.
    pub start_ps: u64,
    /// End of the epoch, in ps.
    pub end_ps: u64,
    /// True for each record that agrees with the run in this epoch.
    pub agrees: Vec<bool>,
    /// Number of events of the epoch.
    pub events_count: u64,
    /// First events of the epoch.
    pub events: Vec<EventRecord>,
}

/// Repeats the run of a plan and compares its epochs with `records`, up to the first epoch in which the run differs
/// from one of them. A record that ends early agrees from there on. Keeps `context` events from the start of that
/// epoch.
///
/// # Errors
/// Returns an error if the simulated machine is stuck, or if the plan needs an external controller.
pub fn first_deviation(
    plan: &Plan,
    records: &[Vec<Epoch>],
    context: usize,
    on_status: impl FnMut(RunStatus) -> bool,
) -> Result<ReplayVerdict, SimulationError> {
    compare_with_records(prepare_repeat(plan)?, records, context, on_status)
}

/// Creates a run that repeats an earlier one. Plans with external controllers are refused, as these are not
/// available.
fn prepare_repeat(plan: &Plan) -> Result<Run, SimulationError> {
    let run = Run::new(plan, Options::default());
    run.check_controllers().map_err(SimulationError::Controller)?;
    Ok(run)
}

pub(crate) fn compare_with_records(
    mut run: Run,
    records: &[Vec<Epoch>],
    context: usize,
    mut on_status: impl FnMut(RunStatus) -> bool,
) -> Result<ReplayVerdict, SimulationError> {
    let epoch_ps = epoch_ps(run.plan());
    let epochs_max = records.iter().map(Vec::len).max().unwrap_or(0);
    for index in 0..epochs_max {
        let start_ps = run.simulated_ps();
        run.start_log();
        if !run.run_until(Time::from_ps(start_ps + epoch_ps), &mut on_status, &mut |_| true)? {
            return Ok(ReplayVerdict::Stopped);
        }
        // Logged in advance, as the hash that tells them apart is known only at the end of the epoch.
        let log = run.take_log();
        let own = run.epochs().get(index);
        let agrees: Vec<bool> =
            // A record of a run that was stopped has fewer epochs, which is no deviation.
            records.iter().map(|record| record.get(index).is_none_or(|epoch| Some(epoch) == own)).collect();
        if !agrees.iter().all(|&agrees| agrees) {
            return Ok(ReplayVerdict::Deviated(Deviation {
                start_ps,
                end_ps: run.simulated_ps(),
                agrees,
                events_count: log.records.len() as u64,
                events: log.records.into_iter().take(context).collect(),
            }));
        }
    }
    Ok(ReplayVerdict::Same)
}
