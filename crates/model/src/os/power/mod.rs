//! Frequency and sleep of a network core.
//!
//! The times of work are given at a reference clock and are stretched by the frequency that the core has; what waits
//! for memory, devices and storage is not. A change of frequency stretches what is left of the work under way. A core
//! without anything to do asks its idle governor for a state; an interrupt, one of another core or a timer ends its
//! sleep, and the core works again after the exit latency.

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

/// The owner of a timer that is of no connection.
const NOBODY: u32 = u32::MAX;
/// The same as a number of a connection.
pub(super) const NO_CONNECTION: usize = NOBODY as usize;

/// What a core is told of the power management.
#[derive(Clone, Debug)]
pub struct PowerWiring {
    /// The power management.
    pub manager: ComponentId,
    /// What it is like.
    pub params: PowerParams,
}

/// Frequency and sleep of a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CorePower {
    manager: ComponentId,
    params: PowerParams,
    frequency: usize,
    voltage: usize,
    meter: CoreMeter,
    util: UtilTracker,
    governor: IdleGovernor,
    may_sleep: bool,
    /// Whether it looks for packets all the time, so that it is never idle.
    spins: bool,
    /// Since when it has had nothing to do, its sleep and the end of that among it; none while it works.
    idle_since: Option<Time>,
    /// When it asks its idle governor again, if it polls until then.
    doze_at: Option<Time>,
    /// The C-state that it sleeps in, and whether it has been woken, or has begun, and has not worked since.
    asleep: Option<usize>,
    woken: bool,
    /// When it works again after sleep, and after a change of its clock.
    waking_until: Time,
    halted_until: Time,
    /// Time that it was busy since the last look, and since when it is.
    busy_ps: u64,
    busy_since: Time,
    /// Reads of storage that are on their way for it, and for how long it was idle meanwhile since the last look.
    reads: u32,
    waiting_ps: u64,
    waiting_since: Time,
    /// Work of the kernel that waits, in ps at the reference clock.
    pending_ps: u64,
    /// Timers that were set, the next one first, each with the connection that it is of, or [`NOBODY`]. Those of
    /// connections that have moved theirs since are dropped when they are looked at.
    timers: BinaryHeap<Reverse<(Time, u32)>>,
    /// Whether the next tick is on its way.
    ticking: bool,
    entries: Vec<u64>,
    wakes: u64,
}

impl CorePower {
    /// That of a core that begins without anything to do; whether it `spins`, and so is at work for ever.
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

    /// Returns the meter, entries of each C-state and ends of sleep in the window.
    pub(super) fn statistics(&self) -> (&CoreMeter, &[u64], u64) {
        (&self.meter, &self.entries, self.wakes)
    }

    /// Returns the period of ticks in ps, if they also come to idle cores.
    pub(super) fn idle_tick_ps(&self) -> Option<u64> {
        self.ticks_always().then_some(self.params.tick_ps)
    }

    /// Returns what is left at `now` of work until `end`, in ps at the reference clock: the clock may be halted first.
    pub(super) fn left_ps(&self, end: Time, now: Time) -> u64 {
        let from = now.max(self.halted_until.min(end));
        scaled(end.since(from), self.khz(), u64::from(self.params.reference_khz))
    }

    /// Whether ticks come to idle cores, too.
    fn ticks_always(&self) -> bool {
        self.params.tick_ps > 0 && !self.params.tickless
    }

    /// Brings the books up to `now`.
    pub(super) fn settle(&mut self, now: Time) {
        self.meter.settle(now);
    }

    /// Starts a new measuring window.
    pub(super) fn reset(&mut self, now: Time) {
        self.meter.reset(now);
        self.entries.fill(0);
        self.wakes = 0;
    }

    pub(super) fn khz(&self) -> u64 {
        u64::from(self.params.pstates[self.frequency].khz)
    }

    /// How long work takes now, in ps.
    pub(super) fn stretched(&self, work_ps: u64) -> u64 {
        scaled(work_ps, u64::from(self.params.reference_khz), self.khz())
    }

    /// From now on it does this.
    fn set_activity(&mut self, now: Time, activity: CoreActivity) {
        let power_uw = core_power_uw(&self.params, self.frequency, self.voltage, activity);
        self.meter.turn(now, activity, power_uw);
    }

    /// Whether nothing can be done now, whatever there is.
    pub(super) fn blocks(&self, now: Time) -> bool {
        self.asleep.is_some() || self.waking_until > now || self.halted_until > now
    }

    /// Brings the time that storage was waited for up to `now`.
    fn settle_waiting(&mut self, now: Time) {
        if self.reads > 0 && self.idle_since.is_some() {
            self.waiting_ps += now.since(self.waiting_since);
        }
        self.waiting_since = now;
    }

    /// Tracks the utilisation up to `now`.
    fn track(&mut self, now: Time) {
        let khz = self.params.pstates[self.frequency].khz;
        let highest = self.params.pstates[self.params.pstates.len() - 1].khz;
        match self.idle_since {
            None => self.util.run(now, khz, highest),
            Some(_) => self.util.rest(now),
        }
    }
}
