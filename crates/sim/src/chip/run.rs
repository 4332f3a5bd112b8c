//! Runs the windows of a chip.

use super::machine::ChipMachine;
use super::report::{build_report, ChipReport, MeasuredRun};
use super::window::{Window, WindowStart};
use crate::{SharedExchange, SimulationError};
use hostnet_chip::{Chip, Mode};
use hostnet_config::ChipPlan;

/// Cycles per step, summed over all chips: some milliseconds of wall time under load.
const STEP: u64 = 1 << 10;
/// Minimum cycles of a step: several times the latency of a message from one chip to the next.
const STEP_LEAST: u64 = 1 << 8;
const PS: u128 = 1_000_000_000_000;

/// Phase of a run of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChipPhase {
    /// Warm-up; nothing is measured yet.
    WarmUp,
    /// Measurement of a window, counted from 1.
    Window(u32),
}

/// Progress of a run of a chip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChipRunStatus {
    /// Current phase.
    pub phase: ChipPhase,
    /// Cycles so far.
    pub cycles: u64,
    /// Simulated time, in ps.
    pub simulated_ps: u64,
    /// Progress as a share of the warm-up and the maximum number of windows, 0 to 1.
    pub progress: f64,
}

/// A run of a chip, or of a rack of chips, according to a plan.
pub struct ChipSimulation {
    plan: ChipPlan,
    machine: ChipMachine,
    windows: u32,
    /// Relative difference of the last two windows, once there are two.
    change: Option<f64>,
    /// Measurements of each chip in the last window.
    last: Option<Vec<Window>>,
    /// Cycle in which the window began.
    since: u64,
    before: Vec<WindowStart>,
    measuring: bool,
    done: bool,
}

impl ChipSimulation {
    /// Creates the run of a plan in its first cycle, on one thread.
    ///
    /// # Panics
    /// Panics if the plan was not resolved from a configuration.
    #[must_use]
    pub fn new(plan: &ChipPlan) -> Self {
        Self::with(plan, 1, None)
    }

    /// Like [`ChipSimulation::new`], but on at most `threads` threads, or in several processes that share the chips of
    /// a rack. A single chip is simulated by one thread of one process.
    ///
    /// # Panics
    /// Panics under the same conditions as [`ChipSimulation::new`].
    #[must_use]
    pub fn with(plan: &ChipPlan, threads: usize, way: Option<SharedExchange>) -> Self {
        let machine = ChipMachine::new(plan, threads, way);
        let before = machine.chips().into_iter().map(WindowStart::of).collect();
        Self {
            plan: plan.clone(),
            machine,
            windows: 0,
            change: None,
            last: None,
            since: 0,
            before,
            measuring: false,
            done: false,
        }
    }

    /// Runs for some milliseconds of wall time. Returns true if there is more to do.
    ///
    /// # Errors
    /// Returns an error if nothing on the chip moves any more.
    pub fn step(&mut self) -> Result<bool, SimulationError> {
        if self.done {
            return Ok(false);
        }
        let end = match self.measuring {
            false => self.plan.windows.warm_up,
            true => self.since + self.plan.windows.window,
        };
        let now = self.machine.cycle();
        let chips = self.plan.torus.map_or(1, |torus| torus.chips());
        // A rack divides the step among its chips, so that a step takes about the same time.
        let goes_on = self.machine.run_until(end.min(now + (STEP / chips).max(STEP_LEAST)));
        // Cores issue operations without end, so a chip without work is stuck.
        if !goes_on {
            return Err(SimulationError::IdleChip { at_us: self.status().simulated_ps / 1_000_000 });
        }
        if self.machine.cycle() >= end {
            if self.measuring {
                self.close();
            }
            self.open();
        }
        Ok(!self.done)
    }

    fn open(&mut self) {
        self.measuring = true;
        // Statistics restart here, while counters of links and LLC run on and are read at both ends.
        self.machine.clear();
        self.since = self.machine.cycle();
        self.before = self.machine.chips().into_iter().map(WindowStart::of).collect();
    }

    /// Ends a window, and the run if the window is like the one before.
    fn close(&mut self) {
        let windows = self.windows_now();
        let all = Window::sum(&windows);
        self.change = self.last.as_ref().and_then(|last| self.difference(&Window::sum(last), &all));
        self.last = Some(windows);
        self.windows += 1;
        let alike = self.change.is_some_and(|change| change < self.plan.windows.change);
        self.done = alike || self.windows >= self.plan.windows.max;
    }

    /// Returns the measurements of each chip of all processes since the start of the window.
    fn windows_now(&self) -> Vec<Window> {
        let chips = self.machine.chips().into_iter().zip(&self.before);
        let own: Vec<Window> = chips.map(|(chip, before)| self.window(chip, before)).collect();
        self.machine.all_gather(&own).into_iter().flatten().collect()
    }

    fn window(&self, chip: &Chip, before: &WindowStart) -> Window {
        let (accesses, writebacks) = chip.llc();
        Window {
            stats: chip.stats(),
            cycles: self.machine.cycle() - self.since,
            sent: chip.network().1.sent().iter().zip(&before.sent).map(|(now, before)| now - before).collect(),
            accesses: accesses - before.llc.0,
            writebacks: writebacks - before.llc.1,
        }
    }

    /// Returns true if all processes want to continue. Every process must call this function.
    #[must_use]
    pub fn agree(&self, goes_on: bool) -> bool {
        !self.machine.all_gather(&goes_on).contains(&false)
    }

    /// Returns the relative difference of two windows, or `None` if one of them has no value to compare.
    fn difference(&self, one: &Window, other: &Window) -> Option<f64> {
        let metric = |window: &Window| match self.plan.chip.workload.mode {
            // In turns the operations per window follow from their latency, which is what is measured.
            Mode::Turns => window.stats.breakdown.total(),
            Mode::Sync | Mode::Async => window.stats.lines_own as f64,
        };
        let (one, other) = (metric(one), metric(other));
        // A window without an operation is no measurement, so it cannot end the run.
        (one > 0.0 && other > 0.0).then(|| (other - one).abs() / one)
    }

    /// Returns true if the run has reached its end.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.done
    }

    /// Returns the progress of the run.
    #[must_use]
    pub fn status(&self) -> ChipRunStatus {
        let cycles = self.machine.cycle();
        let windows = self.plan.windows;
        let all = windows.warm_up + windows.window * u64::from(windows.max);
        ChipRunStatus {
            phase: if self.measuring { ChipPhase::Window(self.windows + 1) } else { ChipPhase::WarmUp },
            cycles,
            simulated_ps: (u128::from(cycles) * PS / u128::from(self.plan.clock_hz)) as u64,
            progress: cycles as f64 / all as f64,
        }
    }

    /// Returns the results: those of the last complete window, or of the first one so far. Every process must call
    /// this function.
    #[must_use]
    pub fn report(&self) -> ChipReport {
        // Until a window is complete, the one in progress is all there is.
        let windows = self.last.clone().unwrap_or_else(|| self.windows_now());
        let run = MeasuredRun {
            plan: &self.plan,
            chip: self.machine.chips()[0],
            windows: self.windows,
            change: self.change,
            complete: self.done,
            simulated_ps: self.status().simulated_ps,
        };
        build_report(&run, &windows)
    }
}
