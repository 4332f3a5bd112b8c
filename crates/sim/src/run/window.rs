//! What happens between events: when the warm-up ends, what is kept of the measuring window, and when it ends.

use super::{Phase, Run, PRECISION_BATCHES_MIN};
use crate::error::SimulationError;
use crate::sample::{self, Sample};
use crate::view::CONFIDENCE_GROUPS;
use hostnet_config::{Length, WarmUp};
use hostnet_kernel::Time;
use hostnet_measure::batch;

/// Slices of the automatic warm-up.
const WARM_UP_SLICE_PS: u64 = 2_000_000;
/// Fewest and most of them.
const WARM_UP_SLICES: std::ops::RangeInclusive<usize> = 20..=150;
/// Most batches kept: then two become one.
const BATCHES_MAX: usize = 4096;
/// Simulated time without any progress after which a run is stuck.
const STUCK_PS: u64 = 500_000_000;

impl Run {
    /// When the run will end, as far as known.
    pub(super) fn target(&self) -> Time {
        let warm_up = match (&self.state.phase, self.plan.run.warm_up) {
            (Phase::Measure, _) => self.state.window_start,
            (_, WarmUp::Fixed { ps }) => Time::from_ps(ps),
            _ => Time::from_ps(WARM_UP_SLICE_PS * *WARM_UP_SLICES.start() as u64),
        };
        warm_up.saturating_add(self.length_ps())
    }

    fn length_ps(&self) -> u64 {
        match self.plan.run.length {
            Length::Duration { ps } => ps.min(self.plan.run.duration_max_ps),
            Length::Precision { .. } => self.plan.run.duration_max_ps,
        }
    }

    /// The next moment at which something is to be done between events.
    pub(super) fn next_stop(&self) -> Time {
        let state = &self.state;
        match (&state.phase, self.plan.run.warm_up) {
            (Phase::Measure, _) => {
                self.target().min(state.next_batch).min(state.next_series).min(state.counters.next())
            }
            (_, WarmUp::Fixed { ps }) => Time::from_ps(ps),
            (Phase::WarmUp { slices }, _) => Time::from_ps(WARM_UP_SLICE_PS * (slices.len() as u64 + 1)),
        }
    }

    pub(super) fn at_stop(&mut self, now: Time) -> Result<(), SimulationError> {
        let classes = self.plan.server.workloads.len();
        let parts = self.state.simulation.parts_mut();
        sample::settle(&mut parts[0].0, now);
        let sample = Sample::read(&parts[0].0, classes, now);
        self.check_progress(&sample, now)?;
        if self.is_measuring() {
            self.measure(sample, now);
        } else {
            self.warm_up(sample, now);
        }
        Ok(())
    }

    fn warm_up(&mut self, sample: Sample, now: Time) {
        let Phase::WarmUp { slices } = &mut self.state.phase else { return };
        let over = match self.plan.run.warm_up {
            WarmUp::Fixed { ps } => now.ps() >= ps,
            WarmUp::Auto => {
                slices.push(sample);
                slices.len() >= *WARM_UP_SLICES.end() || (slices.len() >= *WARM_UP_SLICES.start() && is_steady(slices))
            }
        };
        if over {
            self.start_measuring(now);
        }
    }

    fn start_measuring(&mut self, now: Time) {
        let state = &mut self.state;
        sample::reset(&mut state.simulation.parts_mut()[0].0, now);
        state.phase = Phase::Measure;
        state.window_start = now;
        state.moved_at = now;
        state.moved = 0;
        state.next_batch = now + state.batch_ps;
        state.next_series = if self.options.series_ps > 0 { now + self.options.series_ps } else { Time::MAX };
        state.counters.start(now, self.options.counters_ps);
        self.start_trace();
    }

    fn measure(&mut self, sample: Sample, now: Time) {
        let target = self.target();
        let state = &mut self.state;
        if now == state.next_series {
            state.series.push(sample.clone());
            state.next_series += self.options.series_ps;
        }
        state.counters.stop_at(&state.simulation.parts()[0].0, now);
        if now == state.next_batch {
            state.batches.push(sample);
            if state.batches.len() == BATCHES_MAX {
                state.batches = state.batches.drain(..).skip(1).step_by(2).collect();
                state.batch_ps *= 2;
            }
            state.next_batch = now + state.batch_ps;
        }
        self.state.done = now >= target || self.is_precise();
        if self.state.done && self.state.epochs.last().is_none_or(|epoch| epoch.end_ps < now.ps()) {
            self.end_epoch();
        }
    }

    fn is_precise(&self) -> bool {
        let Length::Precision { relative } = self.plan.run.length else { return false };
        let batches = &self.state.batches;
        batches.len() >= PRECISION_BATCHES_MIN
            && (0..self.plan.server.workloads.len()).all(|class| {
                let found = batch::estimate(&sample::batch_lines(batches, class), CONFIDENCE_GROUPS);
                found.mean == 0.0 || found.half_width <= relative * found.mean
            })
    }

    /// Credits that are held while nothing comes back mean that the machine is stuck.
    fn check_progress(&mut self, sample: &Sample, now: Time) -> Result<(), SimulationError> {
        let moved = sample.progress();
        let idle = self.state.simulation.parts()[0].0.requests().is_empty();
        if moved != self.state.moved || idle {
            self.state.moved = moved;
            self.state.moved_at = now;
        }
        let idle_ps = now.since(self.state.moved_at);
        if idle_ps < STUCK_PS {
            return Ok(());
        }
        Err(SimulationError::stuck(self.state.simulation.worlds(), now, idle_ps))
    }
}

/// Whether the throughput of every workload has settled.
fn is_steady(slices: &[Sample]) -> bool {
    let classes = slices.first().map_or(0, |sample| sample.app_bytes.len());
    (0..classes).all(|class| batch::warm_up(&sample::batch_lines(slices, class)).is_some())
}
