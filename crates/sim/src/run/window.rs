//! The warm-up and the measurement window of a run: their ends, and the readings that are kept.

use super::options::Options;
use super::pace::{batches_max, jobs_checks_per_batch, RunPace};
use crate::build::warm_up::has_filled;
use crate::forward;
use crate::forward::jobs::JobSkips;
use crate::read::flows::{AllFlowTotals, ClassBytes};
use crate::read::host_state::HostState;
use crate::read::ports::PortTotals;
use crate::read::sample;
use crate::read::units::UnitRecorder;
use crate::read::{ReadingHistory, WorldReading, CONFIDENCE_GROUPS};
use hostnet_config::{Length, Plan, WarmUp};
use hostnet_kernel::Time;
use hostnet_measure::batch;
use serde::{Deserialize, Serialize};

/// Minimum number of batches of a measurement that runs to a precision.
const PRECISION_BATCHES_MIN: usize = 32;

/// Phase of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum RunPhase {
    WarmUp { slices: ReadingHistory },
    Measure,
}

/// Totals at the start of the measurement window.
pub(super) struct WindowStart {
    pub(super) before: AllFlowTotals,
    pub(super) ports: Vec<PortTotals>,
    /// State of every server, if there is a time series.
    pub(super) host_states: Option<Vec<HostState>>,
}

/// Warm-up and measurement window of a run, with the readings kept so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MeasuringWindow {
    phase: RunPhase,
    pub(super) start: Time,
    /// Totals of flows and ports at the start of the window.
    pub(super) before: AllFlowTotals,
    pub(super) ports_before: Vec<PortTotals>,
    next_batch: Time,
    batch_ps: u64,
    pub(super) batches: ReadingHistory,
    next_series: Time,
    pub(super) series: ReadingHistory,
    pub(super) counters: UnitRecorder,
    /// Repetitions of jobs that were skipped.
    pub(super) skips: JobSkips,
    /// Time at which the measurement begins anew after a skip.
    pub(super) restart: Time,
}

impl MeasuringWindow {
    /// Creates the window of a run whose warm-up begins.
    pub(super) fn before_warm_up(plan: &Plan) -> Self {
        Self {
            phase: RunPhase::WarmUp { slices: ReadingHistory::default() },
            start: Time::ZERO,
            before: AllFlowTotals::default(),
            ports_before: Vec::new(),
            next_batch: Time::MAX,
            batch_ps: RunPace::of(plan).batch_ps(plan),
            batches: ReadingHistory::default(),
            next_series: Time::MAX,
            series: ReadingHistory::default(),
            counters: UnitRecorder::idle(),
            skips: JobSkips::before(plan),
            restart: Time::MAX,
        }
    }

    /// Returns false during the warm-up.
    pub(super) fn is_measuring(&self) -> bool {
        matches!(self.phase, RunPhase::Measure)
    }

    /// Returns the end of the run, as far as known.
    pub(super) fn target(&self, plan: &Plan) -> Time {
        if plan.run.length == Length::Jobs {
            // Skipped time counts, and the measurement may have begun anew after it.
            return Time::from_ps(length_ps(plan).saturating_sub(self.skips.skipped_ps()));
        }
        let pace = RunPace::of(plan);
        let warm_up = match (&self.phase, plan.run.warm_up) {
            (RunPhase::Measure, _) => self.start,
            (_, WarmUp::Fixed { ps }) => Time::from_ps(ps),
            // The end of an automatic warm-up is not known, so the shortest possible one stands in.
            _ => Time::from_ps(pace.slice_ps * *pace.slices_of(plan).start() as u64),
        };
        warm_up.saturating_add(length_ps(plan))
    }

    /// Returns the end of the run for progress reports, in ps; 0 if it depends on jobs.
    pub(super) fn reported_target_ps(&self, plan: &Plan) -> u64 {
        match plan.run.length {
            Length::Jobs => 0,
            Length::Duration { .. } | Length::Precision { .. } => self.target(plan).ps(),
        }
    }

    /// Returns the first time after `now` at which the run must stop between events.
    pub(super) fn next_stop(&self, plan: &Plan, now: Time) -> Time {
        match (&self.phase, plan.run.warm_up) {
            (RunPhase::Measure, _) => {
                let next = self.target(plan).min(self.next_batch).min(self.next_series).min(self.counters.next());
                next.min(self.restart).min(self.next_jobs_check(plan, now))
            }
            // A fixed warm-up skips the test, so it needs no stop before its end.
            (_, WarmUp::Fixed { ps }) => Time::from_ps(ps),
            (RunPhase::WarmUp { slices }, _) => Time::from_ps(RunPace::of(plan).slice_ps * (slices.len() as u64 + 1)),
        }
    }

    /// Returns the next time to check if all jobs have finished, for a run that ends with its jobs.
    fn next_jobs_check(&self, plan: &Plan, now: Time) -> Time {
        if plan.run.length != Length::Jobs {
            return Time::MAX;
        }
        let check_ps = self.batch_ps / jobs_checks_per_batch(self.skips.are_allowed);
        Time::from_ps((now.ps() / check_ps + 1) * check_ps)
    }

    /// Returns true if the run stopped at `now` only for this check.
    pub(super) fn is_jobs_check_only(&self, plan: &Plan, now: Time) -> bool {
        let others = [self.target(plan), self.next_batch, self.next_series, self.counters.next()];
        self.is_measuring() && self.checks_jobs_at(plan, now) && !others.contains(&now)
    }

    /// Returns true if the jobs are looked at at `now`.
    pub(super) fn checks_jobs_at(&self, plan: &Plan, now: Time) -> bool {
        plan.run.length == Length::Jobs
            && now.ps() % (self.batch_ps / jobs_checks_per_batch(self.skips.are_allowed)) == 0
    }

    /// Returns true if a step of the time series ends at `now`.
    pub(super) fn ends_series_step(&self, now: Time) -> bool {
        now == self.next_series
    }

    /// Keeps a reading of the warm-up. Returns true if the warm-up ends at `now`.
    pub(super) fn is_warm(&mut self, plan: &Plan, reading: WorldReading, now: Time) -> bool {
        let RunPhase::WarmUp { slices } = &mut self.phase else { return false };
        match plan.run.warm_up {
            WarmUp::Fixed { ps } => now.ps() >= ps,
            WarmUp::Auto => {
                // Slices are kept from time 0 on, as MSER looks for the start of the steady state among all of them.
                slices.push(reading);
                is_steady(plan, &RunPace::of(plan), slices)
            }
        }
    }

    /// Starts to measure at `now`.
    pub(super) fn begin(&mut self, start: WindowStart, options: Options, now: Time) {
        (self.before, self.ports_before) = (start.before, start.ports);
        self.phase = RunPhase::Measure;
        (self.start, self.restart) = (now, Time::MAX);
        self.next_batch = now + self.batch_ps;
        // A measurement that begins anew after a skip has no batches from before.
        self.batches = ReadingHistory::default();
        if let Some(host_states) = start.host_states {
            // State at the start of the first step of the series.
            self.series.host_states.push(host_states);
            self.next_series = now + options.series_ps;
        }
        self.counters.start(now, options.counters_ps);
    }

    /// Keeps a reading of the window, with the state of every server if a step of the time series ends at `now`.
    /// Returns true if the run has reached its end.
    pub(super) fn measure(
        &mut self,
        plan: &Plan,
        series_ps: u64,
        reading: WorldReading,
        host_states: Option<Vec<HostState>>,
        now: Time,
    ) -> bool {
        let target = self.target(plan);
        // Jobs are checked only at these times, so that a run ends at the same time whichever other readings are
        // requested.
        let jobs_done = self.checks_jobs_at(plan, now) && reading.unfinished_ranks == 0;
        if let Some(host_states) = host_states {
            self.series.host_states.push(host_states);
            self.series.push(reading.clone());
            self.next_series += series_ps;
        }
        if now == self.next_batch {
            self.batches.push(reading);
            // Two batches become one, so that memory stays bounded and later batches have the same length as earlier
            // ones.
            if self.batches.len() == batches_max(plan.run.length) {
                self.batches.halve();
                self.batch_ps *= 2;
            }
            self.next_batch = now + self.batch_ps;
        }
        now >= target
            || jobs_done
            || is_precise(plan, &self.before, &self.batches)
            || forward::is_allowed(plan) && forward::is_certified(plan, &self.batches, length_ps(plan))
    }
}

/// Returns the maximum length of the measurement window, in ps.
fn length_ps(plan: &Plan) -> u64 {
    match plan.run.length {
        Length::Duration { ps } => ps.min(plan.run.duration_max_ps),
        Length::Precision { .. } | Length::Jobs => plan.run.duration_max_ps,
    }
}

/// Returns the amounts that every class of traffic, or every workload of a single server, moved between consecutive
/// readings.
fn moved(plan: &Plan, before: Option<&AllFlowTotals>, readings: &ReadingHistory) -> Vec<Vec<f64>> {
    if let Some(server) = plan.server() {
        let lines = |class| sample::batch_lines(readings.of_server(0), class);
        return (0..server.workloads.len()).map(lines).collect();
    }
    let before = before.map_or_else(ClassBytes::default, |before| before.received(&plan.cluster));
    let received = |class: usize| {
        // Bytes count from the start of the run, so those of the warm-up are subtracted first.
        let mut last = before.0.get(class).map_or(0.0, |&bytes| bytes as f64);
        let of = |slice: &ClassBytes| slice.0[class] as f64;
        readings.received.iter().map(|slice| of(slice) - std::mem::replace(&mut last, of(slice))).collect()
    };
    (0..plan.cluster.classes.len()).map(received).collect()
}

/// Returns true if the throughput of every class has settled, or the time for it is up, and the caches are filled.
fn is_steady(plan: &Plan, pace: &RunPace, slices: &ReadingHistory) -> bool {
    let (fewest, most) = pace.slices_of(plan).into_inner();
    if slices.len() < fewest {
        return false;
    }
    let has_settled = || moved(plan, None, slices).iter().all(|slices| batch::warm_up(slices).is_some());
    let are_filled = || slices.servers.iter().all(|samples| has_filled(samples));
    // A large LLC fills within milliseconds (cache.md), so a single server may warm up ten times as long for it.
    slices.len() >= pace.slices_filling || (are_filled() && (slices.len() >= most || has_settled()))
}

fn is_precise(plan: &Plan, before: &AllFlowTotals, batches: &ReadingHistory) -> bool {
    let Length::Precision { relative } = plan.run.length else { return false };
    batches.len() >= PRECISION_BATCHES_MIN
        && moved(plan, Some(before), batches).iter().all(|batches| {
            let found = batch::estimate(batches, CONFIDENCE_GROUPS);
            // A class without traffic has no relative precision and must not keep the run going.
            found.mean == 0.0 || found.half_width <= relative * found.mean
        })
}
