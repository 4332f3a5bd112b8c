//! Slots of a channel for a DIMM that answers for itself: it shares the buses with the ranks beside it.
//!
//! Slots go in the order in which they were asked for. One that may go no later than the next DRAM command goes first,
//! but of a slot and a command for the same clock each has its turn, so that neither keeps the other away.

use super::channel::Channel;
use super::CommandRecord;
use crate::line::RequestId;
use crate::part::{Context, Payload, Slot};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A slot that is wanted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Wanted {
    at: Time,
    id: RequestId,
    slot: Slot,
}

/// The slots of a channel that are wanted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Slots {
    dimm: ComponentId,
    command_ps: u64,
    wanted: VecDeque<Wanted>,
    /// Whether the next slot lets a DRAM command of the same clock go first.
    yields: bool,
    /// Answers for the DIMM: when, and what.
    pub(super) answers: Vec<(Time, Payload)>,
    /// Slots that have passed, by kind.
    pub(super) passed: [u64; 3],
    /// Kept for whoever checks them: clock and kind.
    pub(super) kept: Option<Vec<(u64, Slot)>>,
}

/// The direction of the line of a slot, if it has one: whether it goes to the DIMM.
fn line(slot: Slot) -> Option<bool> {
    match slot {
        Slot::Command => None,
        Slot::Send => Some(false),
        Slot::Write => Some(true),
    }
}

impl Slots {
    pub(super) fn new(dimm: ComponentId, command_ps: u64) -> Self {
        Self {
            dimm,
            command_ps,
            wanted: VecDeque::new(),
            yields: false,
            answers: Vec::new(),
            passed: [0; 3],
            kept: None,
        }
    }

    /// Whom it answers.
    pub(super) fn dimm(&self) -> ComponentId {
        self.dimm
    }
}

impl Channel {
    /// Has a DIMM that answers for itself share the channel: a command is in it after `command_ps`, at least 1.
    #[must_use]
    pub fn with_dimm(mut self, dimm: ComponentId, command_ps: u64) -> Self {
        let line_ps = |write| self.clock.edge(self.controller.slot_clocks(Some(write))).ps();
        let quickest = command_ps.min(line_ps(true)).min(line_ps(false)).max(1);
        self.patience_ps = self.patience_ps.min(quickest - 1);
        self.slots = Some(Box::new(Slots::new(dimm, command_ps)));
        self
    }

    /// Slots of the DIMM that have passed: commands alone, lines from it, lines to it.
    #[must_use]
    pub fn slots_passed(&self) -> [u64; 3] {
        self.slots.as_ref().map_or([0; 3], |slots| slots.passed)
    }

    /// Keeps the clocks of slots from now on, with the DRAM commands.
    pub fn keep_slots(&mut self) {
        self.controller.record_commands(true);
        if let Some(slots) = &mut self.slots {
            slots.kept = Some(Vec::new());
        }
    }

    /// The slots that were kept: the clock of each, and what it carried.
    #[must_use]
    pub fn kept_slots(&self) -> &[(u64, Slot)] {
        self.slots.as_ref().and_then(|slots| slots.kept.as_deref()).unwrap_or_default()
    }

    /// The DRAM commands that were kept.
    pub fn take_commands(&mut self) -> std::vec::Drain<'_, CommandRecord> {
        self.controller.take_commands()
    }

    /// The DIMM wants a slot from `at` on.
    pub(crate) fn reserve(&mut self, id: RequestId, slot: Slot, at: Time, context: &mut Context) {
        if let Some(slots) = &mut self.slots {
            let before = slots.wanted.iter().rev().take_while(|other| other.at > at).count();
            slots.wanted.insert(slots.wanted.len() - before, Wanted { at, id, slot });
        }
        self.ask_to_be_woken(context);
    }

    /// The clock and the time of the next slot.
    pub(super) fn next_slot(&self) -> Option<(u64, Time)> {
        let slots = self.slots.as_ref()?;
        let wanted = slots.wanted.front()?;
        let from = self.clock.at_or_after(wanted.at.max(self.at));
        let clock = self.controller.earliest_slot(from, line(wanted.slot));
        let yields = slots.yields && clock == self.planned.0;
        let clock = if yields { clock + 1 } else { clock };
        Some((clock, self.clock.edge(clock).max(self.at + 1)))
    }

    /// The time of the next slot; never if there is none.
    #[inline(never)]
    pub(super) fn next_slot_at(&self) -> Time {
        self.next_slot().map_or(Time::MAX, |(_, at)| at)
    }

    /// Does what is due, with slots in between.
    #[inline(never)]
    pub(super) fn catch_up_beside(&mut self, now: Time) {
        loop {
            let (next, slot) = (self.coming_or_planned(), self.next_slot());
            match slot {
                Some((clock, at)) if at <= now && at <= next => {
                    self.at = at;
                    self.pass(clock);
                    self.note_plan();
                }
                _ if next > now => return,
                _ => {
                    self.step();
                    if let Some(slots) = self.slots.as_mut().filter(|_| slot.is_some()) {
                        slots.yields = false;
                    }
                }
            }
        }
    }

    /// The next slot passes.
    fn pass(&mut self, clock: u64) {
        let Some(slots) = &mut self.slots else { return };
        let Some(Wanted { id, slot, .. }) = slots.wanted.pop_front() else { return };
        self.controller.use_slot(clock, line(slot));
        slots.passed[slot as usize] += 1;
        slots.yields = true;
        if let Some(kept) = &mut slots.kept {
            kept.push((clock, slot));
        }
        let at = match slot {
            Slot::Command => self.clock.edge(clock) + slots.command_ps,
            Slot::Send | Slot::Write => self.clock.edge(clock + self.controller.slot_clocks(line(slot))),
        };
        slots.answers.push((at.max(self.at + 1), Payload::Slot { id, slot }));
    }

    /// Occupies banks for a while: when they are free again. Nothing if they cannot be had now.
    pub(crate) fn occupy(&mut self, now: Time, banks: u64, ps: u64, context: &mut Context) -> Option<Time> {
        self.catch_up(now);
        let clock = self.clock.at_or_after(now);
        let clocks = self.clock.at_or_after(Time::from_ps(ps));
        let end = self.controller.occupy(clock, banks, clocks);
        self.note_plan();
        self.ask_to_be_woken(context);
        end.map(|clock| self.clock.edge(clock))
    }
}
