//! Slots on a channel for an asynchronous DIMM, which shares the buses with the ranks beside it.
//!
//! Slots are used in the order of their requests. A slot that is no later than the next DRAM command goes first. If
//! both have the same clock they alternate, so that neither starves the other.

use super::channel::Channel;
use super::slots::{line, SlotRequest, Slots};
use super::CommandRecord;
use crate::line::RequestId;
use crate::part::{Context, Payload, Slot};
use hostnet_kernel::{ComponentId, Time};

impl Channel {
    /// Shares the channel with the asynchronous DIMM `dimm`, which a command reaches after `command_ps`, at least 1
    /// ps.
    #[must_use]
    pub fn with_dimm(mut self, dimm: ComponentId, command_ps: u64) -> Self {
        let line_ps = |write| self.clock.edge(self.controller.slot_clocks(Some(write))).ps();
        // The channel may be late by less than its quickest answer takes, those to the DIMM included.
        let quickest = command_ps.min(line_ps(true)).min(line_ps(false)).max(1);
        self.lateness_max_ps = self.lateness_max_ps.min(quickest - 1);
        self.slots = Some(Box::new(Slots::new(dimm, command_ps)));
        self
    }

    /// Returns the slots of the DIMM that have passed: commands alone, lines from the DIMM, lines to the DIMM.
    #[must_use]
    pub fn slots_passed(&self) -> [u64; 3] {
        self.slots.as_ref().map_or([0; 3], |slots| slots.passed)
    }

    /// Records slots from now on, and the DRAM commands.
    pub fn record_slots(&mut self) {
        self.controller.record_commands(true);
        if let Some(slots) = &mut self.slots {
            slots.recorded = Some(Vec::new());
        }
    }

    /// Returns the recorded slots: the clock and the kind of each.
    #[must_use]
    pub fn recorded_slots(&self) -> &[(u64, Slot)] {
        self.slots.as_ref().and_then(|slots| slots.recorded.as_deref()).unwrap_or_default()
    }

    /// Takes the recorded DRAM commands.
    pub fn take_commands(&mut self) -> std::vec::Drain<'_, CommandRecord> {
        self.controller.take_commands()
    }

    /// Handles the notice of the DIMM, which requests a slot from time `at` on.
    pub(crate) fn reserve(&mut self, id: RequestId, slot: Slot, at: Time, context: &mut Context) {
        if let Some(slots) = &mut self.slots {
            slots.request(id, slot, at);
        }
        self.schedule_wake_up(context);
    }

    /// Returns the clock and the time of the next slot.
    pub(super) fn next_slot(&self) -> Option<(u64, Time)> {
        let slots = self.slots.as_ref()?;
        let requested = slots.requested.front()?;
        let from = self.clock.at_or_after(requested.at.max(self.at));
        let clock = self.controller.earliest_slot(from, line(requested.slot));
        let yields = slots.yields && clock == self.planned.0;
        let clock = if yields { clock + 1 } else { clock };
        Some((clock, self.clock.edge(clock).max(self.at + 1)))
    }

    /// Returns the time of the next slot, `Time::MAX` if there is none.
    #[inline(never)]
    pub(super) fn next_slot_at(&self) -> Time {
        self.next_slot().map_or(Time::MAX, |(_, at)| at)
    }

    /// Does the work that is due, with slots in between.
    #[inline(never)]
    pub(super) fn catch_up_with_slots(&mut self, now: Time) {
        loop {
            let (next, slot) = (self.next_arrival_or_command(), self.next_slot());
            match slot {
                Some((clock, at)) if at <= now && at <= next => {
                    self.at = at;
                    self.use_next_slot(clock);
                    self.update_plan();
                }
                _ if next > now => return,
                _ => {
                    self.step();
                    // The command had its turn while a slot waited, so the slot is next at an equal clock.
                    if let Some(slots) = self.slots.as_mut().filter(|_| slot.is_some()) {
                        slots.yields = false;
                    }
                }
            }
        }
    }

    /// Uses the next slot, at `clock`.
    fn use_next_slot(&mut self, clock: u64) {
        let Some(slots) = &mut self.slots else { return };
        let Some(SlotRequest { id, slot, .. }) = slots.requested.pop_front() else { return };
        self.controller.use_slot(clock, line(slot));
        slots.passed[slot as usize] += 1;
        slots.yields = true;
        if let Some(recorded) = &mut slots.recorded {
            recorded.push((clock, slot));
        }
        let at = match slot {
            Slot::Command => self.clock.edge(clock) + slots.command_ps,
            Slot::Send | Slot::Write => self.clock.edge(clock + self.controller.slot_clocks(line(slot))),
        };
        slots.answers.push((at.max(self.at + 1), Payload::Slot { id, slot }));
    }

    /// Occupies banks for `ps`. Returns the time at which they are free again, or `None` if they are not available
    /// now.
    pub(crate) fn occupy(&mut self, now: Time, banks: u64, ps: u64, context: &mut Context) -> Option<Time> {
        self.catch_up(now);
        let clock = self.clock.at_or_after(now);
        // Counts from time 0, which rounds the duration up to whole clocks.
        let clocks = self.clock.at_or_after(Time::from_ps(ps));
        let end = self.controller.occupy(clock, banks, clocks);
        self.update_plan();
        self.schedule_wake_up(context);
        end.map(|clock| self.clock.edge(clock))
    }
}
