//! The windows of a run of a chip.

use super::report::{self, ChipReport};
use crate::SimulationError;
use hostnet_chip::{Books, Chip, Mode};
use hostnet_config::ChipPlan;

/// Cycles of one step: some milliseconds of a loaded chip.
const STEP: u64 = 1 << 10;
const PS: u128 = 1_000_000_000_000;

/// What a run of a chip is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChipPhase {
    /// Nothing is measured yet.
    WarmUp,
    /// A window is measured, from 1.
    Window(u32),
}

/// How a run of a chip stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChipRunStatus {
    /// What is being done.
    pub phase: ChipPhase,
    /// Cycles so far.
    pub cycles: u64,
    /// Simulated time in ps.
    pub simulated_ps: u64,
    /// Share of the warm-up and as many windows as there are at most.
    pub progress: f64,
}

/// What was counted when a window began.
#[derive(Clone, Debug, Default)]
pub(super) struct Before {
    pub(super) cycle: u64,
    pub(super) sent: Vec<u64>,
    pub(super) llc: (u64, u64),
}

/// What a window has measured.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) books: Books,
    pub(super) cycles: u64,
    /// Flits by output of the routers.
    pub(super) sent: Vec<u64>,
    pub(super) accesses: u64,
    pub(super) writebacks: u64,
}

/// A chip that runs what a plan says.
pub struct ChipSimulation<'a> {
    pub(super) plan: &'a ChipPlan,
    pub(super) chip: Chip,
    pub(super) windows: u32,
    /// By how much the last two windows differ, once there are two.
    pub(super) change: Option<f64>,
    pub(super) last: Option<Window>,
    before: Before,
    measuring: bool,
    done: bool,
}

impl<'a> ChipSimulation<'a> {
    /// A chip in its first cycle.
    ///
    /// # Panics
    /// If the plan was not resolved from a configuration.
    #[must_use]
    pub fn new(plan: &'a ChipPlan) -> Self {
        let chip = Chip::new(plan.chip.clone()).expect("a plan is of a chip that can be built");
        let before = Before { sent: chip.network().1.sent().to_vec(), ..Before::default() };
        let measuring = false;
        Self { plan, chip, windows: 0, change: None, last: None, before, measuring, done: false }
    }

    /// Goes on for some milliseconds. Returns whether there is more to do.
    ///
    /// # Errors
    /// When nothing on the chip moves any more.
    pub fn step(&mut self) -> Result<bool, SimulationError> {
        if self.done {
            return Ok(false);
        }
        let end = match self.measuring {
            false => self.plan.windows.warm_up,
            true => self.before.cycle + self.plan.windows.window,
        };
        let now = self.chip.status().cycle;
        let goes_on = self.chip.run_until(end.min(now + STEP));
        if !goes_on {
            return Err(SimulationError::IdleChip { at_us: self.status().simulated_ps / 1_000_000 });
        }
        if self.chip.status().cycle >= end {
            if self.measuring {
                self.close();
            }
            self.open();
        }
        Ok(!self.done)
    }

    fn open(&mut self) {
        self.measuring = true;
        self.chip.clear();
        let sent = self.chip.network().1.sent().to_vec();
        self.before = Before { cycle: self.chip.status().cycle, sent, llc: self.chip.llc() };
    }

    /// Ends a window, and the run if it is like the one before.
    fn close(&mut self) {
        let window = self.window();
        self.change = self.last.as_ref().and_then(|last| self.difference(last, &window));
        self.last = Some(window);
        self.windows += 1;
        let alike = self.change.is_some_and(|change| change < self.plan.windows.change);
        self.done = alike || self.windows >= self.plan.windows.max;
    }

    /// What was counted since the window began.
    pub(super) fn window(&self) -> Window {
        let sent = self.chip.network().1.sent();
        let (accesses, writebacks) = self.chip.llc();
        Window {
            books: self.chip.books(),
            cycles: self.chip.status().cycle - self.before.cycle,
            sent: sent.iter().zip(&self.before.sent).map(|(now, before)| now - before).collect(),
            accesses: accesses - self.before.llc.0,
            writebacks: writebacks - self.before.llc.1,
        }
    }

    /// By which share two windows differ; nothing if one of them has nothing to compare.
    fn difference(&self, one: &Window, other: &Window) -> Option<f64> {
        let metric = |window: &Window| match self.plan.chip.workload.mode {
            Mode::Turns => window.books.breakdown.total(),
            Mode::Sync | Mode::Async => window.books.lines_own as f64,
        };
        let (one, other) = (metric(one), metric(other));
        (one > 0.0 && other > 0.0).then(|| (other - one).abs() / one)
    }

    /// Whether the run came to its end.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.done
    }

    /// How the run stands.
    #[must_use]
    pub fn status(&self) -> ChipRunStatus {
        let cycles = self.chip.status().cycle;
        let windows = self.plan.windows;
        let all = windows.warm_up + windows.window * u64::from(windows.max);
        ChipRunStatus {
            phase: if self.measuring { ChipPhase::Window(self.windows + 1) } else { ChipPhase::WarmUp },
            cycles,
            simulated_ps: (u128::from(cycles) * PS / u128::from(self.plan.clock_hz)) as u64,
            progress: cycles as f64 / all as f64,
        }
    }

    /// What was measured: the last window, or what there is of the first.
    #[must_use]
    pub fn report(&self) -> ChipReport {
        report::report(self)
    }
}
