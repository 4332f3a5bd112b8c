//! What happens between events: when the warm-up ends, what is kept of the measuring window, and when it ends.

use super::{Phase, Run};
use crate::cluster::ends::machines;
use crate::cluster::moment::{self, Moment};
use crate::cluster::read::{Received, Totals};
use crate::cluster::{queues, stuck};
use crate::error::SimulationError;
use crate::run::PRECISION_BATCHES_MIN;
use crate::view::CONFIDENCE_GROUPS;
use hostnet_config::{ClusterPlan, Length, WarmUp};
use hostnet_kernel::Time;
use hostnet_measure::batch;

/// Slices of goodput by which an automatic warm-up is judged.
pub(super) const SLICE_PS: u64 = 250_000_000;
/// Fewest and most slices of an automatic warm-up.
const SLICES: std::ops::RangeInclusive<usize> = 8..=80;
/// Simulated time without any progress after which a world counts as stuck. Retransmission timeouts double up to
/// minutes; what does not move for so long while packets or lines are on their way never will.
const STUCK_PS: u64 = 20_000_000_000;

impl Run {
    /// When the run will end, as far as known.
    pub(super) fn target(&self) -> Time {
        let warm_up = match (&self.state.phase, self.plan.run.warm_up) {
            (Phase::Measure, _) => self.state.window_start,
            (_, WarmUp::Fixed { ps }) => Time::from_ps(ps),
            _ => Time::from_ps(SLICE_PS * *SLICES.start() as u64),
        };
        let length_ps = match self.plan.run.length {
            Length::Duration { ps } => ps.min(self.plan.run.duration_max_ps),
            Length::Precision { .. } => self.plan.run.duration_max_ps,
        };
        warm_up.saturating_add(length_ps)
    }

    /// The next moment at which something is to be done between events.
    pub(super) fn next_stop(&self) -> Time {
        let state = &self.state;
        match (&state.phase, self.plan.run.warm_up) {
            (Phase::Measure, _) => self.target().min(state.next_batch).min(state.next_series),
            (_, WarmUp::Fixed { ps }) => Time::from_ps(ps),
            (Phase::WarmUp { slices }, _) => Time::from_ps(SLICE_PS * (slices.len() as u64 + 1)),
        }
    }

    pub(super) fn at_stop(&mut self, now: Time) -> Result<(), SimulationError> {
        let totals = Totals::read(&self.state.simulation, &self.plan.cluster);
        if let Some(deadlock) = stuck::deadlock(&self.state.simulation, &self.plan.cluster, now) {
            return Err(deadlock);
        }
        self.check_progress(&totals, now)?;
        if self.is_measuring() {
            self.measure(totals, now);
        } else {
            self.warm_up(totals, now);
        }
        Ok(())
    }

    fn warm_up(&mut self, totals: Totals, now: Time) {
        let Phase::WarmUp { slices } = &mut self.state.phase else { return };
        slices.push(totals.received(&self.plan.cluster));
        let over = match self.plan.run.warm_up {
            WarmUp::Fixed { ps } => now.ps() >= ps,
            WarmUp::Auto => slices.len() >= *SLICES.end() || (slices.len() >= *SLICES.start() && is_steady(slices)),
        };
        if over {
            self.start_measuring(now);
        }
    }

    fn start_measuring(&mut self, now: Time) {
        let state = &mut self.state;
        state.simulation.parts_mut().iter_mut().for_each(|part| moment::reset(&mut part.0, now));
        state.before = Totals::read(&state.simulation, &self.plan.cluster);
        state.ports_before = queues::totals(&state.simulation, &self.plan.cluster);
        state.phase = Phase::Measure;
        state.window_start = now;
        state.next_batch = now + state.batch_ps;
        if self.options.series_ps > 0 {
            // What the first step starts from.
            state.series.push(Moment::read(&mut state.simulation, now));
            state.next_series = now + self.options.series_ps;
        }
    }

    fn measure(&mut self, totals: Totals, now: Time) {
        let target = self.target();
        let state = &mut self.state;
        if now == state.next_series {
            state.series.push(Moment::read(&mut state.simulation, now));
            state.next_series += self.options.series_ps;
        }
        if now == state.next_batch {
            state.batches.push(totals.received(&self.plan.cluster));
            state.next_batch = now + state.batch_ps;
        }
        state.done = now >= target || is_precise(&self.plan, &state.before, &state.batches);
    }

    /// Packets or lines that are on their way while nothing arrives mean that the world is stuck.
    fn check_progress(&mut self, totals: &Totals, now: Time) -> Result<(), SimulationError> {
        let state = &mut self.state;
        let moved = totals.moved().wrapping_add(stuck::lines_moved(&state.simulation));
        if moved != state.moved || !stuck::is_busy(&state.simulation) {
            state.moved = moved;
            state.moved_at = now;
        }
        let idle_ps = now.since(state.moved_at);
        if idle_ps < STUCK_PS {
            return Ok(());
        }
        Err(SimulationError::stuck(machines(&state.simulation), now, idle_ps))
    }
}

/// Bytes of one class that applications received in each slice, when so many had come `before`.
fn received(before: u64, slices: &[Received], class: usize) -> Vec<f64> {
    let mut last = before as f64;
    let of = |slice: &Received| slice.0[class] as f64;
    slices.iter().map(|slice| of(slice) - std::mem::replace(&mut last, of(slice))).collect()
}

/// Whether the goodput of every class has settled.
fn is_steady(slices: &[Received]) -> bool {
    let classes = slices.first().map_or(0, |slice| slice.0.len());
    (0..classes).all(|class| batch::warm_up(&received(0, slices, class)).is_some())
}

fn is_precise(plan: &ClusterPlan, before: &Totals, batches: &[Received]) -> bool {
    let Length::Precision { relative } = plan.run.length else { return false };
    let before = before.received(&plan.cluster).0;
    batches.len() >= PRECISION_BATCHES_MIN
        && before.iter().enumerate().all(|(class, &before)| {
            let found = batch::estimate(&received(before, batches, class), CONFIDENCE_GROUPS);
            found.mean == 0.0 || found.half_width <= relative * found.mean
        })
}
