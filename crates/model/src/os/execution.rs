//! Current work of a network core, and the clock that stretches it.
//!
//! Work is given in time at a reference clock. A core has a private frequency and private sleep states (`power`), or
//! uses the clock of a core that it shares with other engines.

use super::delays::TO_CORE_PS;
use super::power::{CauseRead, CorePower, PowerWiring};
use super::task::Task;
use crate::part::{Context, Payload, PowerEvent};
use crate::power::{scaled, Clock, ClockChange, CoreMeter};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Piece of work that a core executes, and the time of its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Execution {
    task: Option<Task>,
    pub(super) busy_until: Time,
    /// Frequency and sleep of the core; `None` if its frequency is fixed or kept elsewhere.
    pub(super) power: Option<Box<CorePower>>,
    /// Clock of a core whose power is managed elsewhere.
    clock: Clock,
    pub(super) cause: CauseRead,
}

impl Execution {
    /// Creates an idle core at the reference clock.
    pub(super) fn new() -> Self {
        let (clock, cause) = (Clock::default(), CauseRead::default());
        Self { task: None, busy_until: Time::ZERO, power: None, clock, cause }
    }

    /// Gives the core frequencies and sleep states. A core that `spins` is never idle.
    pub(super) fn set_power(&mut self, wiring: PowerWiring, spins: bool) {
        self.power = Some(Box::new(CorePower::new(wiring, spins)));
    }

    /// Gives the core the clock of a shared core, whose power is managed elsewhere.
    pub(super) fn set_clock(&mut self, clock: Clock) {
        self.power = None;
        self.clock = clock;
    }

    /// Returns the power meter, the entries into each C-state and the wake-ups in the window; `None` without
    /// frequencies and sleep states.
    pub(super) fn power(&self) -> Option<(&CoreMeter, &[u64], u64)> {
        self.power.as_ref().map(|power| power.statistics())
    }

    /// Returns the first tick, in ps from the start, if idle cores receive ticks as well.
    pub(super) fn first_tick(&self) -> Option<(u64, Payload)> {
        let tick_ps = self.power.as_ref()?.idle_tick_ps()?;
        Some((tick_ps, Payload::Power(PowerEvent::Tick)))
    }

    /// Returns the current work.
    pub(super) fn task(&self) -> Option<&Task> {
        self.task.as_ref()
    }

    /// Takes out the current work, which is over.
    pub(super) fn take_task(&mut self) -> Option<Task> {
        self.task.take()
    }

    /// Makes `task` the current work. Returns its duration at the current clock, in ps.
    pub(super) fn begin(&mut self, task: Task, work_ps: u64) -> u64 {
        // Waits for lines and registers do not depend on the clock.
        let ps = if task.is_work() { self.stretch(work_ps) } else { work_ps };
        self.task = Some(task);
        ps
    }

    /// Stops the current work at `now`. Returns the rest of it, in ps at the reference clock.
    pub(super) fn preempt(&mut self, now: Time) -> u64 {
        let left_ps = self.left_ps(now);
        self.task = None;
        self.busy_until = now;
        left_ps
    }

    /// Returns the duration of work of `work_ps` at the reference clock, at the current clock, in ps.
    pub(super) fn stretch(&self, work_ps: u64) -> u64 {
        match &self.power {
            Some(power) => power.stretched(work_ps),
            None => self.clock.stretched(work_ps),
        }
    }

    /// Returns the rest of the current work, in ps at the reference clock.
    fn left_ps(&self, now: Time) -> u64 {
        match &self.power {
            Some(power) => power.left_ps(self.busy_until, now),
            None => self.clock.unstretched(self.busy_until.since(now)),
        }
    }

    /// Returns true if the clock stretches the current work.
    fn is_at_work(&self) -> bool {
        self.task.as_ref().is_some_and(Task::is_work)
    }

    /// Applies a change of the clock of a shared core, whose sleep and energy are managed elsewhere.
    pub(super) fn change_clock(&mut self, change: ClockChange, context: &mut Context) {
        let now = context.now();
        // The work may be over by now, with its event still to come at this time.
        let left_ps = self.busy_until.ps().saturating_sub(now.ps());
        let left_after_ps = match change {
            ClockChange::To(clock) => {
                let before = std::mem::replace(&mut self.clock, clock);
                if self.is_at_work() {
                    clock.rescale_remaining(before, left_ps)
                } else {
                    left_ps
                }
            }
            ClockChange::Halt(ps) => left_ps + ps,
        };
        // The event of the old end is ignored, because `busy_until` is later or the work has ended.
        if self.task.is_some() && left_ps > 0 {
            self.busy_until = now + left_after_ps;
            context.send(context.id, left_after_ps.max(1), Payload::Step);
        }
    }

    /// Applies a new frequency of the core, which stretches the rest of the current work.
    pub(super) fn set_frequency(&mut self, at: usize, context: &mut Context) {
        let now = context.now();
        let Some(power) = &mut self.power else { return };
        let before = power.set_frequency(at, now);
        if self.task.as_ref().is_some_and(Task::is_work) && now < self.busy_until {
            // At least 1 ps: every event lies ahead.
            let left_ps = scaled(self.busy_until.since(now), before, power.khz()).max(1);
            self.busy_until = now + left_ps;
            context.send(context.id, left_ps, Payload::Step);
        }
    }

    /// Stops the clock for `ps`. The current work takes that much longer, and a core that wakes up meanwhile waits for
    /// the clock.
    pub(super) fn halt(&mut self, ps: u64, context: &mut Context) {
        let now = context.now();
        let Some(power) = self.power.as_mut().filter(|_| ps > 0) else { return };
        power.halt_until(now + ps, now);
        if self.task.is_some() && now < self.busy_until {
            // The clock stands still, so even waits that it would count end later.
            self.busy_until += ps;
            context.send(context.id, self.busy_until.since(now), Payload::Step);
        }
        // The core looks for work again at the end of the halt.
        context.send(context.id, ps, Payload::Step);
    }

    /// Ends the read of the cause register: a burst is passed on to the power management. Returns true if packets have
    /// arrived.
    pub(super) fn end_cause(&mut self, context: &mut Context) -> bool {
        let (high, received) = self.cause.end_read();
        if let (Some(high), Some(power)) = (high, &self.power) {
            // The handler notifies only after it has read the cause.
            context.send(power.manager, TO_CORE_PS, Payload::Power(PowerEvent::Announced { high }));
        }
        received
    }
}
