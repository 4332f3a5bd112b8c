//! Sleep of a core: how it begins, and the events that end it.

use super::{CorePower, NO_OWNER};
use crate::os::counters::CoreTimeKind;
use crate::os::ends::FlowEnds;
use crate::os::execution::Execution;
use crate::os::task::{NextWork, Task};
use crate::part::{Context, Payload, PowerEvent, RingEvent};
use crate::power::CoreActivity;
use hostnet_kernel::Time;
use std::cmp::Reverse;

impl CorePower {
    /// Removes timers from the front that are over or no longer set.
    fn forget_timers(&mut self, now: Time, is_set: impl Fn(Time, u32) -> bool) {
        // Dropped when found: removing a moved timer from the middle of a heap would cost a search.
        while self.timers.peek().is_some_and(|Reverse((at, index))| *at <= now || !is_set(*at, *index)) {
            self.timers.pop();
        }
    }

    /// Notes that the core has no work. Returns the time after which it asks its governor again if it polls, in ps.
    fn rest(&mut self, now: Time) -> Option<u64> {
        match self.idle_since {
            _ if self.spins => return None,
            // The core has woken up for nothing, or has not done anything yet.
            Some(since) if self.woken => self.governor.reflect(now, now.since(since)),
            Some(_) => return self.poll_idle_timeout(now),
            None => {
                self.settle_waiting(now);
                self.track(now);
                self.busy_ps += now.since(self.busy_since);
            }
        }
        self.idle_since = Some(now);
        self.sleep(now)
    }

    /// Ends the polling of a core whose governor expects work soon, after as long as the lightest sleep is worth it
    /// (`poll_idle` of Linux since 4.19): the governor is asked again. Returns the time after which it is asked next,
    /// in ps.
    pub(super) fn end_polling(&mut self, now: Time) -> Option<u64> {
        // A question for another time was replaced and is ignored.
        let since = self.idle_since.filter(|_| self.doze_at == Some(now))?;
        // The core works, or its clock is halted.
        if self.meter.activity() != CoreActivity::Polling {
            return None;
        }
        self.governor.reflect(now, now.since(since));
        self.idle_since = Some(now);
        self.sleep(now)
    }

    /// Sends the core to sleep if the idle governor decides so. Otherwise returns the time after which it is asked
    /// again, in ps.
    fn sleep(&mut self, now: Time) -> Option<u64> {
        let next = self.timers.peek().filter(|Reverse((at, _))| *at > now);
        let timer_ps = next.map(|Reverse((at, _))| at.since(now));
        let qos_ps = self.params.qos_ps;
        let chosen = if self.may_sleep { self.governor.select_while(now, timer_ps, qos_ps, self.reads) } else { None };
        self.asleep = chosen;
        self.woken = false;
        if let Some(at) = chosen {
            self.entries[at] += 1;
        }
        self.set_activity(now, chosen.map_or(CoreActivity::Polling, CoreActivity::Asleep));
        // A governor that never sleeps is not asked again.
        let asks = chosen.is_none() && self.may_sleep && self.governor.sleeps();
        let poll_ps = self.params.cstates.first().filter(|_| asks)?.residency_ps.max(1);
        self.doze_at = Some(now + poll_ps);
        Some(poll_ps)
    }

    /// Notes that the core begins to work.
    fn work(&mut self, now: Time) {
        if let Some(since) = self.idle_since {
            self.settle_waiting(now);
            self.track(now);
            self.idle_since = None;
            self.woken = false;
            self.busy_since = now;
            self.governor.reflect(now, now.since(since));
        }
        if self.meter.activity() != CoreActivity::Running {
            self.set_activity(now, CoreActivity::Running);
        }
    }

    /// Ends the sleep of the core. Returns the time until it works again, in ps, or `None` if it does not sleep.
    fn wake(&mut self, now: Time) -> Option<u64> {
        let at = self.asleep.take()?;
        // At least 1 ps: every event lies ahead.
        let exit_ps = self.params.cstates[at].exit_ps.max(1);
        self.waking_until = now + exit_ps;
        self.woken = true;
        self.wakes += 1;
        self.set_activity(now, CoreActivity::Waking);
        Some(exit_ps)
    }

    /// Allows sleep, or forbids it. A core that polls asks its governor now, a halted one after its halt.
    pub(super) fn allow(&mut self, on: bool, now: Time) -> Option<u64> {
        self.may_sleep = on;
        self.poll_idle_timeout(now)
    }

    /// Asks the governor of a core that polls, unless the next question is scheduled. Returns the time after which it
    /// is asked again, in ps.
    pub(super) fn poll_idle_timeout(&mut self, now: Time) -> Option<u64> {
        let asks =
            self.may_sleep && self.meter.activity() == CoreActivity::Polling && self.doze_at.is_none_or(|at| at <= now);
        if asks {
            self.sleep(now)
        } else {
            None
        }
    }
}

/// Returns true if an event ends sleep: an interrupt, an interrupt of another core, or a timer.
fn ends_sleep(payload: Payload) -> bool {
    match payload {
        Payload::Interrupt { .. }
        | Payload::Timer { .. }
        | Payload::Begin { .. }
        | Payload::Backlog(_)
        | Payload::Transmit(_)
        | Payload::Move { .. }
        | Payload::Left { .. }
        | Payload::Chore { .. }
        | Payload::Served(_)
        | Payload::Post { .. }
        | Payload::Worked
        | Payload::Ring(RingEvent::Poll(_))
        | Payload::Ring(RingEvent::Read { .. })
        | Payload::Ring(RingEvent::Write { .. })
        | Payload::Ring(RingEvent::Received(_)) => true,
        Payload::Power(event) => matches!(event, PowerEvent::Announce { .. } | PowerEvent::Timer(_)),
        // Lines, sent packets and news of other cores do not end sleep (docs/models/os.md, Wake-ups).
        _ => false,
    }
}

impl Execution {
    /// Ends the sleep of the core if an event is an interrupt, or if there is other `work`: something to send, or a
    /// receive queue to poll.
    pub(in crate::os) fn wake_on_event(
        &mut self,
        payload: Payload,
        work: bool,
        ends: &FlowEnds,
        context: &mut Context,
    ) {
        let Some(power) = &mut self.power else { return };
        let ticks = payload == Payload::Power(PowerEvent::Tick) && power.ticks_always();
        // A cancelled timer has no interrupt: Linux would have stopped the hardware timer.
        let interrupts = ticks || ends_sleep(payload) && !ends.is_cancelled_timer(payload, context.now());
        if !interrupts && !work {
            return;
        }
        if let Some(exit_ps) = power.wake(context.now()) {
            context.send(context.id, exit_ps, Payload::Step);
        }
    }

    /// Returns true if the core sleeps, wakes up or is halted at `now`.
    pub(in crate::os) fn is_stopped(&self, now: Time) -> bool {
        self.power.as_ref().is_some_and(|power| power.blocks(now))
    }

    /// Notes that the core has work from now on.
    pub(in crate::os) fn end_idle(&mut self, context: &mut Context) {
        let Some(power) = &mut self.power else { return };
        power.work(context.now());
        if power.params.tick_ps > 0 && !power.ticking {
            power.ticking = true;
            context.send(context.id, power.params.tick_ps, Payload::Power(PowerEvent::Tick));
        }
    }

    /// Notes that the core has no work from now on: its idle governor may send it to sleep.
    pub(in crate::os) fn begin_idle(&mut self, ends: &FlowEnds, context: &mut Context) {
        let Some(power) = &mut self.power else { return };
        let now = context.now();
        power.forget_timers(now, |at, index| index == NO_OWNER || ends.timer_of(index as usize) == Some(at));
        let poll_ps = power.rest(now);
        Self::ask_later(poll_ps, context);
    }

    /// Schedules the next question to the idle governor after `poll_ps`, if the core polls until then.
    pub(in crate::os) fn ask_later(poll_ps: Option<u64>, context: &mut Context) {
        if let Some(poll_ps) = poll_ps {
            context.send(context.id, poll_ps, Payload::Power(PowerEvent::Doze));
        }
    }

    /// Counts a read of storage that departs (`out`) or returns.
    pub(in crate::os) fn count_read(&mut self, out: bool, now: Time) {
        if let Some(power) = &mut self.power {
            power.settle_waiting(now);
            power.reads = if out { power.reads + 1 } else { power.reads.saturating_sub(1) };
        }
    }

    /// Notes a timer of a connection, which the idle governor takes into account.
    pub(in crate::os) fn note_timer(&mut self, now: Time, at: Time, connection: usize) {
        if let Some(power) = &mut self.power {
            // Keeps the heap short: a timer is set per round trip.
            power.forget_timers(now, |_, _| true);
            power.timers.push(Reverse((at, connection as u32)));
        }
    }

    /// Takes the kernel's work besides packets: the read of the cause register first, then work that was charged to
    /// the core.
    pub(in crate::os) fn next_pending(&mut self) -> Option<NextWork> {
        // The cause comes first: it says whether there are packets.
        if let Some(read_ps) = self.cause.take_read() {
            return Some(NextWork::Work(Task::Cause, read_ps, CoreTimeKind::Register));
        }
        let pending_ps = std::mem::take(&mut self.power.as_mut()?.pending_ps);
        (pending_ps > 0).then_some(NextWork::Work(Task::Kernel, pending_ps, CoreTimeKind::Softirq))
    }

    /// Returns true if the kernel has work besides packets.
    pub(in crate::os) fn has_pending(&self) -> bool {
        self.cause.is_pending() || self.power.as_ref().is_some_and(|power| power.pending_ps > 0)
    }
}
