//! Where two runs part: from the first epoch that differs to the first event that does.

#[cfg(test)]
mod tests;

use crate::error::SimulationError;
use crate::run::{epoch_ps, Options, Run, Status, EPOCH_PS};
use crate::watch::epochs::Epoch;
use crate::watch::events::{EventLog, EventRecord};
use hostnet_config::Plan;
use hostnet_kernel::Time;

/// How a comparison of two plans ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Lockstep {
    /// An event differs.
    Diverged(Divergence),
    /// Every event is the same until the shorter of the two runs ends.
    Same {
        /// That time in ps.
        until_ps: u64,
    },
    /// It was asked to stop before.
    Stopped,
}

/// The first event that differs between two runs, and what is around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// Events that both runs have in common before it, from the start of the run.
    pub events_before: u64,
    /// The last of them, oldest first.
    pub common: Vec<EventRecord>,
    /// What happens instead in each of the runs, from the first event that differs on; none in a run that has ended or
    /// in which nothing happens any more in this epoch.
    pub differing: [Vec<EventRecord>; 2],
}

/// Runs two plans side by side, an epoch at a time, until their events differ. Up to `from_ps`, rounded down to the end
/// of an epoch, they run without a look at their events. Keeps `context` events before the first that differs, and as
/// many of each run from there on.
///
/// # Errors
/// When one of the simulated machines is stuck, or somebody from outside decided in it.
pub fn first_divergence(
    plans: [&Plan; 2],
    from_ps: u64,
    context: usize,
    on_status: impl FnMut(Status) -> bool,
) -> Result<Lockstep, SimulationError> {
    let [one, other] = plans.map(ready);
    side_by_side([one?, other?], from_ps, context, on_status)
}

pub(crate) fn side_by_side(
    mut runs: [Run; 2],
    from_ps: u64,
    context: usize,
    mut on_status: impl FnMut(Status) -> bool,
) -> Result<Lockstep, SimulationError> {
    let mut end = Time::from_ps(from_ps / EPOCH_PS * EPOCH_PS);
    for run in &mut runs {
        if !run.run_until(end, &mut on_status, |_| true)? {
            return Ok(Lockstep::Stopped);
        }
    }
    let mut before: Vec<EventRecord> = Vec::new();
    while runs.iter().all(|run| !run.is_done()) {
        end += EPOCH_PS;
        let events_before = runs[0].events();
        for run in &mut runs {
            run.start_log();
            if !run.run_until(end, &mut on_status, |_| true)? {
                return Ok(Lockstep::Stopped);
            }
        }
        let until_ps = runs.iter().map(Run::simulated_ps).min().unwrap_or_default();
        let logs = runs.each_mut().map(|run| up_to(run.take_log(), until_ps));
        if let Some(index) = first_difference(&logs) {
            before.extend_from_slice(&logs[0].records[..index]);
            before.drain(..before.len().saturating_sub(context));
            let differing = logs.map(|log| log.records[index..].iter().take(context).copied().collect());
            return Ok(Lockstep::Diverged(Divergence {
                events_before: events_before + index as u64,
                common: before,
                differing,
            }));
        }
        let [log, _] = logs;
        before.extend(log.records.into_iter().rev().take(context).rev());
        before.drain(..before.len().saturating_sub(context));
    }
    Ok(Lockstep::Same { until_ps: runs.iter().map(Run::simulated_ps).min().unwrap_or_default() })
}

/// The events that both runs had the time for.
fn up_to(mut log: EventLog, until_ps: u64) -> EventLog {
    let count = log.records.partition_point(|record| record.at_ps <= until_ps);
    log.records.truncate(count);
    log
}

fn first_difference([a, b]: &[EventLog; 2]) -> Option<usize> {
    let (a, b) = (&a.records, &b.records);
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    (common < a.len().max(b.len())).then_some(common)
}

/// How running a plan again compares with what was recorded of it.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayVerdict {
    /// An epoch differs from that of a record.
    Deviated(Deviation),
    /// Every epoch of every record is as recorded.
    Same,
    /// It was asked to stop before.
    Stopped,
}

/// The first epoch in which a run differs from a record of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation {
    /// When the epoch began, in ps.
    pub start_ps: u64,
    /// When it ended.
    pub end_ps: u64,
    /// Which of the records agree with the run in this epoch.
    pub agrees: Vec<bool>,
    /// Events of the epoch.
    pub events_count: u64,
    /// The first of them.
    pub events: Vec<EventRecord>,
}

/// Runs a plan again and compares its epochs with `records` of it, up to the first epoch in which it differs from one
/// of them. A record that ends early agrees from there on. Keeps `context` events from the start of that epoch.
///
/// # Errors
/// When the simulated machine is stuck, or somebody from outside decided in it.
pub fn first_deviation(
    plan: &Plan,
    records: &[Vec<Epoch>],
    context: usize,
    on_status: impl FnMut(Status) -> bool,
) -> Result<ReplayVerdict, SimulationError> {
    beside_records(ready(plan)?, records, context, on_status)
}

/// A run that is to be made again: who decided from outside is not there.
fn ready(plan: &Plan) -> Result<Run, SimulationError> {
    let run = Run::new(plan, Options::default());
    run.check_controllers().map_err(SimulationError::Controller)?;
    Ok(run)
}

pub(crate) fn beside_records(
    mut run: Run,
    records: &[Vec<Epoch>],
    context: usize,
    mut on_status: impl FnMut(Status) -> bool,
) -> Result<ReplayVerdict, SimulationError> {
    let epoch_ps = epoch_ps(run.plan());
    let epochs_max = records.iter().map(Vec::len).max().unwrap_or(0);
    for index in 0..epochs_max {
        let start_ps = run.simulated_ps();
        run.start_log();
        if !run.run_until(Time::from_ps(start_ps + epoch_ps), &mut on_status, |_| true)? {
            return Ok(ReplayVerdict::Stopped);
        }
        let log = run.take_log();
        let own = run.epochs().get(index);
        let agrees: Vec<bool> =
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
