//! Remote operations in flight, with their time stamps.

use crate::OpKind;
use serde::{Deserialize, Serialize};

/// Time stamps of a line of an operation, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LineTimes {
    /// Generation of the request.
    pub(crate) made: u64,
    /// Arrival of the request at the edge of the chip.
    pub(crate) left: u64,
    /// Cycles of service at the remote chip.
    pub(crate) served: u64,
    /// Arrival of the response at the edge of the chip.
    pub(crate) back: u64,
    /// Arrival of the response at the completion pipeline.
    pub(crate) at_rcp: u64,
}

/// An operation: a read or write of remote memory. Time stamps are in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RemoteOp {
    pub(crate) kind: OpKind,
    pub(crate) core: u16,
    pub(crate) lines: u32,
    /// Number of lines whose requests have been generated.
    pub(crate) unrolled: u32,
    /// Number of completed lines.
    pub(crate) complete: u32,
    /// The remote chip.
    pub(crate) target: u16,
    /// Cycles to the remote chip.
    pub(crate) far: u32,
    /// First line on this chip.
    pub(crate) local: u64,
    /// First line on the remote chip.
    pub(crate) remote: u64,
    /// Begin of the operation at the core.
    pub(crate) began: u64,
    /// Work queue entry written.
    pub(crate) written: u64,
    /// Entry obtained by the NI.
    pub(crate) read: u64,
    /// Entry passed the frontend.
    pub(crate) handed: u64,
    /// Entry arrived at the backend.
    pub(crate) at_backend: u64,
    /// Time stamps of the line that completed last.
    pub(crate) last: LineTimes,
    /// All lines completed.
    pub(crate) completed: u64,
    /// Completion arrived at the frontend.
    pub(crate) at_frontend: u64,
    /// Completion passed the frontend.
    pub(crate) posting: u64,
    /// Completion queue entry written.
    pub(crate) posted: u64,
}

/// A slab: items by number; the numbers of removed items are used again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Slab<T> {
    all: Vec<T>,
    vacant: Vec<u32>,
}

impl<T: Copy> Slab<T> {
    pub(crate) fn new() -> Self {
        Self { all: Vec::new(), vacant: Vec::new() }
    }

    pub(crate) fn put(&mut self, one: T) -> u32 {
        // Numbers are used again, so that the steady state allocates nothing.
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
