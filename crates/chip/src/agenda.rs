//! Actions to be done, by cycle.

use crate::floor::Unit;
use crate::message::{ChipMessage, Token};
use crate::OpKind;
use hostnet_coherence::cache::Completion;
use hostnet_coherence::tile::TileHalf;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

// Cycles that the ring of slots covers, a multiple of the 64 bits of a word; later actions are in a map.
const SLOTS: u64 = 4096;

/// An action that is due in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Action {
    /// Sends a message.
    Send {
        from: Unit,
        message: ChipMessage,
    },
    /// A slice continues with its queues.
    Slice(u16),
    /// Memory returns a line.
    MemoryData {
        memory: u16,
        line: u64,
        token: Token,
    },
    /// A cache completes an access that had to wait.
    Cached {
        at: Unit,
        half: TileHalf,
        line: u64,
        completion: Completion,
    },
    /// Steps of a core: begin an operation, store a work queue entry, poll the completion queue, read one of its
    /// entries.
    Begin(u16),
    StoreWq {
        core: u16,
        op: u32,
    },
    Poll(u16),
    CqRead {
        core: u16,
        seen: u64,
    },
    /// Steps of request generation: poll a work queue, pass an entry on from its frontend, add an operation to its
    /// backend, generate the next request.
    Visit(u16),
    Handed {
        op: u32,
    },
    Generate {
        op: u32,
    },
    Unroll(Unit),
    /// Steps of request completion: continue with the responses, complete a line, write a completion queue entry.
    Complete(Unit),
    LineDone {
        flight: u32,
    },
    Post {
        op: u32,
    },
    /// Steps of a remote request: arrival, end of the first half of its pipeline, end of the second half.
    Arrive {
        flight: u32,
        kind: OpKind,
        line: u64,
    },
    Serve {
        remote: u32,
    },
    Answer {
        remote: u32,
    },
    /// A response arrives.
    Back {
        flight: u32,
    },
}

/// Actions of a chip, by the cycle in which they are due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Agenda {
    slots: Vec<Vec<Action>>,
    /// Bits of the slots that hold an action.
    full: Vec<u64>,
    /// Actions further ahead than there are slots, by cycle.
    far: BTreeMap<u64, Vec<Action>>,
}

impl Agenda {
    pub(crate) fn new() -> Self {
        let slots = vec![Vec::new(); SLOTS as usize];
        Self { slots, full: vec![0; SLOTS as usize / 64], far: BTreeMap::new() }
    }

    /// Schedules an action for a cycle after `now`.
    pub(crate) fn add(&mut self, now: u64, cycle: u64, action: Action) {
        assert!(cycle > now, "what happens now is a function call");
        // `>=`: an action a whole revolution ahead would fall into the slot that is being processed.
        if cycle - now >= SLOTS {
            self.far.entry(cycle).or_default().push(action);
            return;
        }
        let slot = (cycle % SLOTS) as usize;
        self.slots[slot].push(action);
        self.full[slot / 64] |= 1 << (slot % 64);
    }

    /// Takes the actions due in a cycle. The caller returns the vector with `give_back`.
    pub(crate) fn take(&mut self, cycle: u64) -> Vec<Action> {
        let slot = (cycle % SLOTS) as usize;
        let mut due = std::mem::take(&mut self.slots[slot]);
        self.full[slot / 64] &= !(1 << (slot % 64));
        if self.far.first_key_value().is_some_and(|(first, _)| *first <= cycle) {
            due.extend(self.far.remove(&cycle).unwrap_or_default());
        }
        due
    }

    /// Returns the vector of the actions that were due in `cycle`, so that its memory is used again.
    pub(crate) fn give_back(&mut self, cycle: u64, mut due: Vec<Action>) {
        let slot = &mut self.slots[(cycle % SLOTS) as usize];
        if slot.is_empty() {
            due.clear();
            *slot = due;
        }
    }

    /// Returns the first cycle from `from` on in which an action is due.
    pub(crate) fn next(&self, from: u64) -> Option<u64> {
        let far = self.far.first_key_value().map(|(cycle, _)| *cycle);
        let start = (from % SLOTS) as usize;
        let words = self.full.len();
        for step in 0..=words {
            let word = (start / 64 + step) % words;
            let mut bits = self.full[word];
            if step == 0 {
                bits &= u64::MAX << (start % 64);
            // The last word visited is the first one again: its bits below `start` lie a revolution ahead.
            } else if step == words {
                bits &= !(u64::MAX << (start % 64));
            }
            if bits != 0 {
                let slot = word as u64 * 64 + u64::from(bits.trailing_zeros());
                let near = from + (slot + SLOTS - start as u64) % SLOTS;
                return Some(far.map_or(near, |far| far.min(near)));
            }
        }
        far
    }
}
