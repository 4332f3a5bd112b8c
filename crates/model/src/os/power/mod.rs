//! Frequency and sleep of a network core.
//!
//! Work is given in time at a reference clock and is stretched by the frequency of the core; waits for memory, devices
//! and storage are not. A change of frequency stretches the rest of the current work. A core without work asks its
//! idle governor for a state. An interrupt, an interrupt of another core or a timer ends its sleep, and the core works
//! again after the exit latency.

mod cause;
mod events;
mod sleep;

pub(super) use cause::CauseRead;

use crate::params::PowerParams;
use crate::power::{core_power_uw, scaled, CoreActivity, CoreMeter, IdleGovernor, UtilTracker};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Owner of a timer that belongs to no connection.
const NO_OWNER: u32 = u32::MAX;
/// The value of [`NO_OWNER`] as the number of a connection.
pub(super) const NO_CONNECTION: usize = NO_OWNER as usize;

/// Connection of a core to the power management.
#[derive(Clone, Debug)]
pub struct PowerWiring {
    /// Id of the power management.
    pub manager: ComponentId,
    /// Parameters of frequencies, sleep states and governors.
    pub params: PowerParams,
}

/// Frequency and sleep of a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CorePower {
    pub(in crate::os) manager: ComponentId,
    params: PowerParams,
    frequency: usize,
    voltage: usize,
    meter: CoreMeter,
    util: UtilTracker,
    governor: IdleGovernor,
    may_sleep: bool,
    /// True if the core polls for packets all the time, so that it is never idle.
    spins: bool,
    /// Time since which the core has had no work, including its sleep and wake-up; `None` while it works.
    idle_since: Option<Time>,
    /// Time at which the core consults its idle governor again, if it polls until then.
    doze_at: Option<Time>,
    /// C-state that the core sleeps in; and true if the core was woken, or has just started, and has not worked since.
    asleep: Option<usize>,
    woken: bool,
    /// Times at which the core works again after sleep, and after a change of its clock.
    waking_until: Time,
    halted_until: Time,
    /// Time that the core was busy since the last report, and start of the current busy period.
    busy_ps: u64,
    busy_since: Time,
    /// Storage reads in flight for the core; idle time during such reads since the last report; and time up to which
    /// that is counted.
    reads: u32,
    waiting_ps: u64,
    waiting_since: Time,
    /// Pending work of the kernel, in ps at the reference clock.
    pending_ps: u64,
    /// Timers, the next one first, each with its connection or [`NO_OWNER`]. A timer that its connection has moved
    /// since is dropped when it is found.
    timers: BinaryHeap<Reverse<(Time, u32)>>,
    /// True if the next tick is scheduled.
    ticking: bool,
    entries: Vec<u64>,
    wakes: u64,
}

impl CorePower {
    /// Creates the state of a core without work. A core that `spins` works forever.
    pub(super) fn new(wiring: PowerWiring, spins: bool) -> Self {
        let PowerWiring { manager, params } = wiring;
        let at = params.pstates.len() - 1;
        let activity = if spins { CoreActivity::Running } else { CoreActivity::Polling };
        let power_uw = core_power_uw(&params, at, at, activity);
        let mut meter = CoreMeter::new(&params, Time::ZERO, at, power_uw);
        meter.turn(Time::ZERO, activity, power_uw);
        Self {
            manager,
            frequency: at,
            voltage: at,
            meter,
            util: UtilTracker::new(Time::ZERO),
            governor: IdleGovernor::new(params.idle, &params.cstates),
            may_sleep: true,
            spins,
            idle_since: (!spins).then_some(Time::ZERO),
            doze_at: None,
            asleep: None,
            // Nothing to reflect on: the governor has not predicted a sleep yet.
            woken: true,
            waking_until: Time::ZERO,
            halted_until: Time::ZERO,
            busy_ps: 0,
            busy_since: Time::ZERO,
            reads: 0,
            waiting_ps: 0,
            waiting_since: Time::ZERO,
            pending_ps: 0,
            timers: BinaryHeap::new(),
            ticking: params.tick_ps > 0 && !params.tickless,
            entries: vec![0; params.cstates.len()],
            wakes: 0,
            params,
        }
    }

    /// Returns the power meter, the entries into each C-state and the wake-ups in the window.
    pub(super) fn statistics(&self) -> (&CoreMeter, &[u64], u64) {
        (&self.meter, &self.entries, self.wakes)
    }

    /// Returns the period of ticks in ps, if they also come to idle cores.
    pub(super) fn idle_tick_ps(&self) -> Option<u64> {
        self.ticks_always().then_some(self.params.tick_ps)
    }

    /// Returns the rest at `now` of work that lasts until `end`, in ps at the reference clock. Time for which the
    /// clock is halted is not part of the work.
    pub(super) fn left_ps(&self, end: Time, now: Time) -> u64 {
        let from = now.max(self.halted_until.min(end));
        scaled(end.since(from), self.khz(), u64::from(self.params.reference_khz))
    }

    /// Returns true if idle cores receive ticks, too.
    fn ticks_always(&self) -> bool {
        self.params.tick_ps > 0 && !self.params.tickless
    }

    /// Brings the statistics up to `now`.
    pub(super) fn settle(&mut self, now: Time) {
        self.meter.settle(now);
    }

    /// Starts a new measurement window.
    pub(super) fn reset(&mut self, now: Time) {
        self.meter.reset(now);
        self.entries.fill(0);
        self.wakes = 0;
    }

    /// Returns the current frequency, in kHz.
    pub(super) fn khz(&self) -> u64 {
        u64::from(self.params.pstates[self.frequency].khz)
    }

    /// Returns the duration of work at the current frequency, in ps.
    pub(super) fn stretched(&self, work_ps: u64) -> u64 {
        scaled(work_ps, u64::from(self.params.reference_khz), self.khz())
    }

    /// Sets the activity of the core from `now` on.
    fn set_activity(&mut self, now: Time, activity: CoreActivity) {
        let power_uw = core_power_uw(&self.params, self.frequency, self.voltage, activity);
        self.meter.turn(now, activity, power_uw);
    }

    /// Returns true if the core can do no work at `now`, because it sleeps, wakes up or is halted.
    pub(super) fn blocks(&self, now: Time) -> bool {
        self.asleep.is_some() || self.waking_until > now || self.halted_until > now
    }

    /// Brings the idle time during reads of storage up to `now`.
    fn settle_waiting(&mut self, now: Time) {
        if self.reads > 0 && self.idle_since.is_some() {
            self.waiting_ps += now.since(self.waiting_since);
        }
        self.waiting_since = now;
    }

    /// Tracks the utilization up to `now`.
    fn track(&mut self, now: Time) {
        let khz = self.params.pstates[self.frequency].khz;
        let highest = self.params.pstates[self.params.pstates.len() - 1].khz;
        match self.idle_since {
            None => self.util.run(now, khz, highest),
            Some(_) => self.util.rest(now),
        }
    }
}
