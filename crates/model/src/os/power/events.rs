//! Events between a core and the power management.

use super::{CorePower, NO_OWNER};
use crate::os::delays::TO_CORE_PS;
use crate::os::execution::Execution;
use crate::part::{Context, Payload, PowerEvent};
use crate::power::CoreActivity;
use hostnet_kernel::Time;
use std::cmp::Reverse;

impl CorePower {
    /// Returns the load of the core since the last report.
    fn load(&mut self, now: Time) -> PowerEvent {
        self.track(now);
        if self.idle_since.is_none() {
            self.busy_ps += now.since(self.busy_since);
            self.busy_since = now;
        }
        let busy_ps = std::mem::take(&mut self.busy_ps);
        self.settle_waiting(now);
        let waiting_ps = std::mem::take(&mut self.waiting_ps);
        // Saturates at 4.3 s, which is longer than any governor waits for a report.
        let [busy_ns, waiting_ns] = [busy_ps, waiting_ps].map(|ps| u32::try_from(ps / 1000).unwrap_or(u32::MAX));
        PowerEvent::Load { busy_ns, waiting_ns, util: self.util.util() as u16 }
    }

    /// Returns the activity that the core resumes when its clock runs again.
    fn resumed(&self, now: Time) -> CoreActivity {
        match (self.asleep, self.idle_since) {
            (Some(at), _) => CoreActivity::Asleep(at),
            _ if self.waking_until > now => CoreActivity::Waking,
            (None, None) => CoreActivity::Running,
            (None, Some(_)) => CoreActivity::Polling,
        }
    }
}

impl CorePower {
    /// Sets the P-state and returns the frequency before, in kHz.
    pub(in crate::os) fn set_frequency(&mut self, at: usize, now: Time) -> u64 {
        self.track(now);
        let before = self.khz();
        self.frequency = at;
        self.meter.clock(now, at);
        self.set_activity(now, self.meter.activity());
        before
    }

    /// Notes that the clock is stopped from `now` to `end`.
    pub(in crate::os) fn halt_until(&mut self, end: Time, now: Time) {
        self.halted_until = end;
        // A core that sleeps or wakes up has no running clock to halt.
        if self.asleep.is_none() && self.waking_until <= now {
            self.set_activity(now, CoreActivity::Halted);
        }
    }
}

impl Execution {
    /// Handles an event of the power management.
    pub(in crate::os) fn on_power(&mut self, event: PowerEvent, context: &mut Context) {
        let now = context.now();
        let Some(power) = &mut self.power else { return };
        match event {
            PowerEvent::Look => {
                let load = power.load(now);
                context.send(power.manager, TO_CORE_PS, Payload::Power(load));
            }
            PowerEvent::Voltage(at) => {
                power.voltage = usize::from(at);
                power.set_activity(now, power.meter.activity());
            }
            PowerEvent::Halt(ps) => self.halt(u64::from(ps), context),
            PowerEvent::Frequency(at) => self.set_frequency(usize::from(at), context),
            // Load reports that a core slept through cost it only one: their timers do not wake it (`TIMER_DEFERRABLE`
            // of Linux).
            PowerEvent::Work(ns) if power.asleep.is_some() => {
                power.pending_ps = power.pending_ps.max(u64::from(ns) * 1000);
            }
            PowerEvent::Work(ns) | PowerEvent::Timer(ns) => power.pending_ps += u64::from(ns) * 1000,
            PowerEvent::Sleep(on) => {
                let poll_ps = power.allow(on, now);
                Self::ask_later(poll_ps, context);
            }
            PowerEvent::Doze => {
                let poll_ps = power.end_polling(now);
                Self::ask_later(poll_ps, context);
            }
            PowerEvent::Announce { high } => self.cause.announce(high),
            PowerEvent::Tick => {
                // A tickless kernel stops the tick when the core goes idle.
                let goes_on = power.idle_since.is_none() || power.ticks_always();
                power.ticking = goes_on;
                if goes_on {
                    let tick_ps = power.params.tick_ps.max(1);
                    power.pending_ps += power.params.tick_work_ps;
                    if power.ticks_always() {
                        power.timers.push(Reverse((now + tick_ps, NO_OWNER)));
                    }
                    context.send(context.id, tick_ps, Payload::Power(PowerEvent::Tick));
                }
            }
            PowerEvent::Wake | PowerEvent::Load { .. } | PowerEvent::Announced { .. } => {}
        }
    }

    /// Resumes the activity of the core after a halt that is over.
    pub(in crate::os) fn end_halt(&mut self, now: Time) {
        let Some(power) = &mut self.power else { return };
        match power.meter.activity() {
            CoreActivity::Halted if power.halted_until <= now => power.set_activity(now, power.resumed(now)),
            // Awake, but the clock still stands: it is halted until its own end.
            CoreActivity::Waking if power.waking_until <= now && power.halted_until > now => {
                power.set_activity(now, CoreActivity::Halted)
            }
            _ => {}
        }
    }
}
