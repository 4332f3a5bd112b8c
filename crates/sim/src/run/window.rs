//! Acts between events: ends the warm-up, keeps the readings of the measuring window, and ends the window.

use super::pace::{batches_max, RunPace, JOBS_CHECKS_PER_BATCH};
use super::{Run, RunPhase};
use crate::build::warm_up::tolerance;
use crate::error::SimulationError;
use crate::read::flows::{AllFlowTotals, ClassBytes};
use crate::read::host_state::{host_states, HostState};
use crate::read::ports;
use crate::read::sample::{self, Sample};
use crate::read::{in_number_order, unfinished_ranks, PartitionReading, ReadingHistory, WorldReading};
use crate::report::view::CONFIDENCE_GROUPS;
use hostnet_config::{Length, Plan, WarmUp};
use hostnet_kernel::Time;
use hostnet_measure::batch;
use hostnet_model::cache::ClassCounts;

/// Minimum number of batches of a measurement that runs to a precision.
const PRECISION_BATCHES_MIN: usize = 32;

impl Run {
    /// Returns the end of the run, as far as known.
    pub(super) fn target(&self) -> Time {
        let pace = RunPace::of(&self.plan);
        let warm_up = match (&self.state.phase, self.plan.run.warm_up) {
            (RunPhase::Measure, _) => self.state.window_start,
            (_, WarmUp::Fixed { ps }) => Time::from_ps(ps),
            _ => Time::from_ps(pace.slice_ps * *pace.slices_of(&self.plan).start() as u64),
        };
        warm_up.saturating_add(self.length_ps())
    }

    /// Returns the end of the run for progress reports, in ps; 0 if it depends on jobs.
    pub(super) fn reported_target_ps(&self) -> u64 {
        match self.plan.run.length {
            Length::Jobs => 0,
            Length::Duration { .. } | Length::Precision { .. } => self.target().ps(),
        }
    }

    fn length_ps(&self) -> u64 {
        match self.plan.run.length {
            Length::Duration { ps } => ps.min(self.plan.run.duration_max_ps),
            Length::Precision { .. } | Length::Jobs => self.plan.run.duration_max_ps,
        }
    }

    /// Returns the next time at which the run must stop between events.
    pub(super) fn next_stop(&self) -> Time {
        let state = &self.state;
        match (&state.phase, self.plan.run.warm_up) {
            (RunPhase::Measure, _) => {
                let next = self.target().min(state.next_batch).min(state.next_series).min(state.counters.next());
                next.min(self.next_jobs_check())
            }
            (_, WarmUp::Fixed { ps }) => Time::from_ps(ps),
            (RunPhase::WarmUp { slices }, _) => {
                Time::from_ps(RunPace::of(&self.plan).slice_ps * (slices.len() as u64 + 1))
            }
        }
    }

    /// Returns the next time to check if all jobs have finished, for a run that ends with its jobs.
    fn next_jobs_check(&self) -> Time {
        if self.plan.run.length != Length::Jobs {
            return Time::MAX;
        }
        let check_ps = self.state.batch_ps / JOBS_CHECKS_PER_BATCH;
        Time::from_ps((self.simulated_ps() / check_ps + 1) * check_ps)
    }

    /// Returns true if the run stopped at `now` only for this check.
    fn is_jobs_check_only(&self, now: Time) -> bool {
        let state = &self.state;
        let others = [self.target(), state.next_batch, state.next_series, state.counters.next()];
        self.is_measuring() && self.checks_jobs_at(now) && !others.contains(&now)
    }

    fn checks_jobs_at(&self, now: Time) -> bool {
        self.plan.run.length == Length::Jobs && now.ps() % (self.state.batch_ps / JOBS_CHECKS_PER_BATCH) == 0
    }

    pub(super) fn at_stop(&mut self, now: Time) -> Result<(), SimulationError> {
        // While ranks are unfinished, a check for jobs needs no reading of the world.
        if self.is_jobs_check_only(now)
            && self.gather_all(unfinished_ranks(&self.state.simulation)).into_iter().any(|left| left > 0)
        {
            return Ok(());
        }
        self.settle();
        let share = PartitionReading::read(&self.state.simulation, &self.plan.cluster, &self.servers, now);
        let reading = WorldReading::of(self.gather_all(share), now);
        self.check_pauses(now)?;
        self.check_progress(&reading, now)?;
        if self.is_measuring() {
            self.measure(reading, now);
        } else {
            self.warm_up(reading, now);
        }
        Ok(())
    }

    fn warm_up(&mut self, reading: WorldReading, now: Time) {
        let RunPhase::WarmUp { slices } = &mut self.state.phase else { return };
        let pace = RunPace::of(&self.plan);
        let over = match self.plan.run.warm_up {
            WarmUp::Fixed { ps } => now.ps() >= ps,
            WarmUp::Auto => {
                slices.push(reading);
                is_steady(&self.plan, &pace, slices)
            }
        };
        if over {
            self.start_measuring(now);
        }
    }

    fn start_measuring(&mut self, now: Time) {
        let (simulation, cluster) = (&mut self.state.simulation, &self.plan.cluster);
        simulation.parts_mut().iter_mut().for_each(|part| sample::reset_world(&mut part.0, now));
        let before = AllFlowTotals::read(simulation, cluster, now);
        let before = self.gather_all(before).into_iter().reduce(|sum, share| sum.plus(&share)).unwrap_or_default();
        let ports_before = self.gather_ports(ports::totals(&self.state.simulation, &self.plan.cluster, now));
        let levels = (self.options.series_ps > 0).then(|| self.gather_host_states(now));
        let state = &mut self.state;
        (state.before, state.ports_before) = (before, ports_before);
        state.phase = RunPhase::Measure;
        state.window_start = now;
        // The counters were reset, so progress is counted anew.
        state.moved_at = now;
        state.moved = 0;
        state.next_batch = now + state.batch_ps;
        if let Some(levels) = levels {
            // State at the start of the first step of the series.
            state.series.host_states.push(levels);
            state.next_series = now + self.options.series_ps;
        }
        state.counters.start(now, self.options.counters_ps);
        self.start_trace();
    }

    fn measure(&mut self, reading: WorldReading, now: Time) {
        let target = self.target();
        // Jobs are checked only at these times, so that a run ends at the same time whichever other readings are
        // requested.
        let jobs_done = self.checks_jobs_at(now) && reading.unfinished_ranks == 0;
        if now == self.state.counters.next() {
            self.read_counters(now);
        }
        let levels = (now == self.state.next_series).then(|| self.gather_host_states(now));
        let state = &mut self.state;
        if let Some(levels) = levels {
            state.series.host_states.push(levels);
            state.series.push(reading.clone());
            state.next_series += self.options.series_ps;
        }
        if now == state.next_batch {
            state.batches.push(reading);
            // Two batches become one, so that memory stays bounded and later batches have the same length as earlier
            // ones.
            if state.batches.len() == batches_max(self.plan.run.length) {
                state.batches.halve();
                state.batch_ps *= 2;
            }
            state.next_batch = now + state.batch_ps;
        }
        state.done = now >= target || jobs_done || is_precise(&self.plan, &state.before, &state.batches);
        // The last epoch ends with the run, unless one has just ended.
        if state.done && state.epochs.last().is_none_or(|epoch| epoch.end_ps < now.ps()) {
            self.end_epoch();
        }
    }

    /// Returns the state of every server.
    fn gather_host_states(&self, now: Time) -> Vec<HostState> {
        in_number_order(self.gather_lists(host_states(&self.state.simulation, now)))
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
    slices.len() >= pace.slices_filling || (are_filled() && (slices.len() >= most || has_settled()))
}

/// Returns true if the caches of a server held about as many lines of every workload, and as many dirty lines, at the
/// end of the second half of `samples` as at its start. The tolerance grows with the lines read from memory
/// meanwhile: dirty lines that pile up are missing from the writes.
fn has_filled(samples: &[Sample]) -> bool {
    let (Some(middle), Some(last)) = (samples.get(samples.len() / 2), samples.last()) else { return true };
    let alike = tolerance(last.lines_read - middle.lines_read);
    middle.caches.iter().zip(&last.caches).all(|(before, now)| {
        let of = |counts: &ClassCounts| [counts.core_lines, counts.io_lines, counts.dirty_lines];
        of(before).iter().zip(of(now)).all(|(&before, now)| before.abs_diff(now) as f64 <= alike)
    })
}

fn is_precise(plan: &Plan, before: &AllFlowTotals, batches: &ReadingHistory) -> bool {
    let Length::Precision { relative } = plan.run.length else { return false };
    batches.len() >= PRECISION_BATCHES_MIN
        && moved(plan, Some(before), batches).iter().all(|batches| {
            let found = batch::estimate(batches, CONFIDENCE_GROUPS);
            found.mean == 0.0 || found.half_width <= relative * found.mean
        })
}
