//! When a core sleeps, and what ends its sleep.

use super::super::books::Spent;
use super::super::run::{Choice, Task};
use super::super::NetStack;
use super::{CorePower, NOBODY};
use crate::part::{Context, Payload, PowerEvent};
use crate::power::CoreActivity;
use hostnet_kernel::Time;
use std::cmp::Reverse;

impl CorePower {
    /// Forgets timers that are over or not set any more, as far as they come first.
    fn forget_timers(&mut self, now: Time, is_set: impl Fn(Time, u32) -> bool) {
        while self.timers.peek().is_some_and(|Reverse((at, index))| *at <= now || !is_set(*at, *index)) {
            self.timers.pop();
        }
    }

    /// The core has nothing to do: how long it polls at most before it asks again, in ps, if it does.
    fn rest(&mut self, now: Time) -> Option<u64> {
        match self.idle_since {
            _ if self.spins => return None,
            // It has woken for nothing, or has not done anything yet.
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

    /// A core that polls because its governor expects something soon has done so for as long as the lightest sleep is
    /// worth it (`poll_idle` of Linux since 4.19): it asks again.
    pub(super) fn doze(&mut self, now: Time) -> Option<u64> {
        let since = self.idle_since.filter(|_| self.doze_at == Some(now))?;
        if self.meter.being() != CoreActivity::Polling {
            return None;
        }
        self.governor.reflect(now, now.since(since));
        self.idle_since = Some(now);
        self.sleep(now)
    }

    /// Goes to sleep, if the idle governor says so; else how long it polls at most before it asks again, in ps.
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
        let asks = chosen.is_none() && self.may_sleep && self.governor.sleeps();
        let poll_ps = self.params.cstates.first().filter(|_| asks)?.residency_ps.max(1);
        self.doze_at = Some(now + poll_ps);
        Some(poll_ps)
    }

    /// The core has something to do, which begins now.
    fn work(&mut self, now: Time) {
        if let Some(since) = self.idle_since {
            self.settle_waiting(now);
            self.track(now);
            self.idle_since = None;
            self.woken = false;
            self.busy_since = now;
            self.governor.reflect(now, now.since(since));
        }
        if self.meter.being() != CoreActivity::Running {
            self.set_activity(now, CoreActivity::Running);
        }
    }

    /// Its sleep ends: how long it takes until the core works again, in ps, if it slept.
    fn wake(&mut self, now: Time) -> Option<u64> {
        let at = self.asleep.take()?;
        let exit_ps = self.params.cstates[at].exit_ps.max(1);
        self.waking_until = now + exit_ps;
        self.woken = true;
        self.wakes += 1;
        self.set_activity(now, CoreActivity::Waking);
        Some(exit_ps)
    }

    /// Whether it may sleep from now on; a core that polls looks again, one that is halted after its halt.
    pub(super) fn allow(&mut self, on: bool, now: Time) -> Option<u64> {
        self.may_sleep = on;
        self.poll_idle_timeout(now)
    }

    /// A core that polls and does not ask its governor again by itself asks it now.
    pub(super) fn poll_idle_timeout(&mut self, now: Time) -> Option<u64> {
        let asks =
            self.may_sleep && self.meter.being() == CoreActivity::Polling && self.doze_at.is_none_or(|at| at <= now);
        if asks {
            self.sleep(now)
        } else {
            None
        }
    }
}

/// Whether an event is an interrupt, one of another core, or a timer: what ends sleep.
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
        | Payload::RingPoll(_)
        | Payload::RingRead { .. }
        | Payload::RingWrite { .. }
        | Payload::RingReceived(_) => true,
        Payload::Power(event) => matches!(event, PowerEvent::Announce { .. } | PowerEvent::Timer(_)),
        _ => false,
    }
}

impl NetStack {
    /// Ends the sleep of the core if an event does, or if there is something to send or received packets are looked
    /// for.
    pub(in crate::os) fn rouse(&mut self, payload: Payload, context: &mut Context) {
        let ticks = payload == Payload::Power(PowerEvent::Tick)
            && self.power.as_ref().is_some_and(|power| power.ticks_always());
        let interrupts = ticks || ends_sleep(payload) && !self.is_moved_timer(payload, context.now());
        let wanted = interrupts || self.output.wants() || self.softirq.is_polling();
        let Some(power) = self.power.as_mut().filter(|_| wanted) else { return };
        if let Some(exit_ps) = power.wake(context.now()) {
            context.send(context.id, exit_ps, Payload::Step);
        }
    }

    /// Whether nothing can be done now.
    pub(in crate::os) fn stands_still(&self, now: Time) -> bool {
        self.power.as_ref().is_some_and(|power| power.blocks(now))
    }

    /// The core has something to do from now on, or nothing.
    pub(in crate::os) fn turn_power(&mut self, busy: bool, context: &mut Context) {
        let Some(power) = &mut self.power else { return };
        let now = context.now();
        if !busy {
            let sockets = &self.sockets;
            let of = |index: u32| sockets.get(index as usize).and_then(|socket| socket.connection.timer());
            power.forget_timers(now, |at, index| index == NOBODY || of(index) == Some(at));
            let poll_ps = power.rest(now);
            return Self::ask_later(poll_ps, context);
        }
        power.work(now);
        if power.params.tick_ps > 0 && !power.ticking {
            power.ticking = true;
            context.send(context.id, power.params.tick_ps, Payload::Power(PowerEvent::Tick));
        }
    }

    /// A core that polls asks its idle governor again after so many ps, if it is to.
    pub(in crate::os) fn ask_later(poll_ps: Option<u64>, context: &mut Context) {
        if let Some(poll_ps) = poll_ps {
            context.send(context.id, poll_ps, Payload::Power(PowerEvent::Doze));
        }
    }

    /// A read of storage sets out, or has come back.
    pub(in crate::os) fn count_read(&mut self, out: bool, now: Time) {
        if let Some(power) = &mut self.power {
            power.settle_waiting(now);
            power.reads = if out { power.reads + 1 } else { power.reads.saturating_sub(1) };
        }
    }

    /// A timer is set for the core, of a connection by its number here.
    pub(in crate::os) fn note_timer(&mut self, now: Time, at: Time, connection: usize) {
        if let Some(power) = &mut self.power {
            power.forget_timers(now, |_, _| true);
            power.timers.push(Reverse((at, connection as u32)));
        }
    }

    /// Whether an event is that of a timer that has been moved or taken back, which interrupts nobody.
    fn is_moved_timer(&self, payload: Payload, now: Time) -> bool {
        let Payload::Timer { connection, .. } = payload else { return false };
        let Some(socket) = self.sockets.get(connection as usize) else { return false };
        socket.fired_at != Some(now)
    }

    /// What the kernel has to do beside packets: it reads why it was interrupted, and what was put on it.
    pub(in crate::os) fn next_pending(&mut self) -> Option<Choice> {
        if std::mem::take(&mut self.cause.asked) {
            return Some(Choice::Work(Task::Cause, self.cause.read_ps, Spent::Register));
        }
        let pending_ps = std::mem::take(&mut self.power.as_mut()?.pending_ps);
        (pending_ps > 0).then_some(Choice::Work(Task::Kernel, pending_ps, Spent::Softirq))
    }

    /// Whether the kernel has something to do beside packets.
    pub(in crate::os) fn has_pending(&self) -> bool {
        self.cause.asked || self.power.as_ref().is_some_and(|power| power.pending_ps > 0)
    }
}
