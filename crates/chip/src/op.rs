//! Remote operations on their way, and when what happened to them.

use crate::OpKind;
use serde::{Deserialize, Serialize};

/// When a line of an operation came to where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LineTimes {
    /// The request was made.
    pub(crate) made: u64,
    /// The request was at the edge of the chip.
    pub(crate) left: u64,
    /// Cycles that the far end took.
    pub(crate) served: u64,
    /// The response was at the edge of the chip.
    pub(crate) back: u64,
    /// The response was at the completion pipeline.
    pub(crate) at_rcp: u64,
}

/// An operation: a read or write of remote memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Op {
    pub(crate) kind: OpKind,
    pub(crate) core: u16,
    pub(crate) lines: u32,
    /// Lines whose requests have been made, and lines that are complete.
    pub(crate) unrolled: u32,
    pub(crate) complete: u32,
    /// The other chip, and cycles to it.
    pub(crate) target: u16,
    pub(crate) far: u32,
    /// First line here and there.
    pub(crate) local: u64,
    pub(crate) remote: u64,
    /// The core began; its queue entry was written; the NI had it; it was through the frontend; a backend had it.
    pub(crate) began: u64,
    pub(crate) written: u64,
    pub(crate) read: u64,
    pub(crate) handed: u64,
    pub(crate) at_backend: u64,
    /// The line that completed last.
    pub(crate) last: LineTimes,
    /// All lines were complete; a frontend had it; the completion was to be written, and was written.
    pub(crate) completed: u64,
    pub(crate) at_frontend: u64,
    pub(crate) posting: u64,
    pub(crate) posted: u64,
}

/// Things by number; numbers are used again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Store<T> {
    all: Vec<T>,
    vacant: Vec<u32>,
}

impl<T: Copy> Store<T> {
    pub(crate) fn new() -> Self {
        Self { all: Vec::new(), vacant: Vec::new() }
    }

    pub(crate) fn put(&mut self, one: T) -> u32 {
        match self.vacant.pop() {
            Some(id) => {
                self.all[id as usize] = one;
                id
            }
            None => {
                self.all.push(one);
                self.all.len() as u32 - 1
            }
        }
    }

    pub(crate) fn take(&mut self, id: u32) -> T {
        self.vacant.push(id);
        self.all[id as usize]
    }

    pub(crate) fn get(&mut self, id: u32) -> &mut T {
        &mut self.all[id as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len() - self.vacant.len()
    }
}
