//! TLPs of a device at the memory side of its link: those that wait for entries, and reads whose lines are in flight.

use crate::part::TlpTag;
use serde::{Deserialize, Serialize};

/// TLP whose lines wait for entries.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct WaitingTlp {
    line: u64,
    /// Lines that have no entry yet.
    pub(crate) left: u8,
    pub(crate) lines: u8,
    pub(crate) class: u8,
    /// Burst of a read, or link of a write.
    pub(crate) burst: u32,
    /// Tag that the device receives when a write is visible, or [`TlpTag::NONE`].
    pub(crate) tag: TlpTag,
    /// Page whose translation by an IOMMU the TLP waits for, if it waits for one.
    pub(crate) untranslated: Option<u64>,
}

impl WaitingTlp {
    /// Creates a TLP for `lines` lines from `line` on.
    pub(crate) fn new(line: u64, lines: u8, class: u8, burst: u32, tag: TlpTag) -> Self {
        Self { line, left: lines, lines, class, burst, tag, untranslated: None }
    }

    /// Takes the next line of the TLP.
    pub(crate) fn take_line(&mut self) -> u64 {
        let line = self.line + u64::from(self.lines - self.left);
        self.left -= 1;
        line
    }
}

/// Read request of a device whose lines are in flight.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ReadBurst {
    /// Link of the device.
    pub(crate) link: u8,
    pub(crate) class: u8,
    /// Lines without data.
    outstanding: u8,
    /// Lines with data that no completion has carried yet.
    ready: u8,
}

/// Read requests in flight, by number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReadBursts {
    bursts: Vec<ReadBurst>,
    free: Vec<u32>,
}

impl ReadBursts {
    /// Creates a list that has room for `capacity` requests before it allocates.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bursts: Vec::with_capacity(capacity), free: Vec::with_capacity(capacity) }
    }

    /// Adds a request for `lines` lines; returns its number.
    pub(crate) fn open(&mut self, link: u8, class: u8, lines: u8) -> u32 {
        let burst = ReadBurst { link, class, outstanding: lines, ready: 0 };
        if let Some(number) = self.free.pop() {
            self.bursts[number as usize] = burst;
            return number;
        }
        self.bursts.push(burst);
        self.bursts.len() as u32 - 1
    }

    /// Returns the link of a request.
    pub(crate) fn link(&self, number: u32) -> u8 {
        self.bursts[number as usize].link
    }

    /// Returns a request.
    pub(crate) fn get(&self, number: u32) -> ReadBurst {
        self.bursts[number as usize]
    }

    /// Notes the data of a line, and ends the request with its last line. Returns the lines of the completion that
    /// leaves now, if one is full (`mps_bytes`) or is the last.
    pub(crate) fn arrive(&mut self, number: u32, mps_bytes: u32) -> Option<u8> {
        let burst = &mut self.bursts[number as usize];
        burst.outstanding -= 1;
        burst.ready += 1;
        let last = burst.outstanding == 0;
        if last {
            self.free.push(number);
        }
        // Data returns out of order, and a completion leaves as soon as it is full (docs/models/iio.md, Read buffer).
        let leaves = last || u32::from(burst.ready) * 64 >= mps_bytes;
        leaves.then(|| std::mem::take(&mut burst.ready))
    }
}
