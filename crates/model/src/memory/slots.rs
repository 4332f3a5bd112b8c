//! Requested slots on a channel for an asynchronous DIMM.

use crate::line::RequestId;
use crate::part::{Payload, Slot};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Requested slot.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct SlotRequest {
    pub(super) at: Time,
    pub(super) id: RequestId,
    pub(super) slot: Slot,
}

/// Requested slots of a channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Slots {
    dimm: ComponentId,
    pub(super) command_ps: u64,
    pub(super) requested: VecDeque<SlotRequest>,
    /// True if the next slot lets a DRAM command of the same clock go first.
    pub(super) yields: bool,
    /// Answers to the DIMM, each with the time of its arrival there.
    pub(super) answers: Vec<(Time, Payload)>,
    /// Slots that have passed, by kind.
    pub(super) passed: [u64; 3],
    /// Recorded slots, for checks: clock and kind.
    pub(super) recorded: Option<Vec<(u64, Slot)>>,
}

/// Returns the direction of the line of a slot: true to the DIMM, false from the DIMM, `None` without a line.
pub(super) fn line(slot: Slot) -> Option<bool> {
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
            requested: VecDeque::new(),
            yields: false,
            answers: Vec::new(),
            passed: [0; 3],
            recorded: None,
        }
    }

    /// Adds a request for a slot from time `at` on, behind those of earlier times.
    pub(super) fn request(&mut self, id: RequestId, slot: Slot, at: Time) {
        // As with requests to the channel, notices that depart later may be for an earlier slot.
        let before = self.requested.iter().rev().take_while(|other| other.at > at).count();
        self.requested.insert(self.requested.len() - before, SlotRequest { at, id, slot });
    }

    /// Returns the DIMM that the slots answer to.
    pub(super) fn dimm(&self) -> ComponentId {
        self.dimm
    }
}
