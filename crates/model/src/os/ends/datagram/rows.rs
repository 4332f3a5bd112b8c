//! Datagrams of a NIC in a DIMM, each of which has rows of memory to itself.

use super::DatagramEnd;
use crate::os::dimm::DimmDriver;
use crate::os::ends::output::Buffer;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Where the datagrams of an end lie.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rows {
    /// Whether one has been written.
    pub(super) zoned: bool,
    /// The lines that those at the NIC are read from, and those that they were written at.
    pub(super) sent_from: VecDeque<u64>,
    pub(super) written_at: VecDeque<u64>,
    /// Lines that are free again, the last of them last.
    pub(super) free_at: Vec<u64>,
    /// How many may be written at a time; 0 before the first.
    most: usize,
}

impl Rows {
    /// Whether there is memory for another.
    pub(super) fn have_room(&self) -> bool {
        self.most == 0 || self.written_at.len() < self.most
    }
}

impl DatagramEnd {
    /// Of one that is handed down: whether it lies there as it did before, and whether the socket has sent one before.
    pub(in crate::os) fn written_before(&mut self) -> (bool, bool) {
        (self.generates() && self.rows.zoned, std::mem::replace(&mut self.rows.zoned, true))
    }

    /// Notes the line that a NIC in a DIMM reads a datagram from.
    pub(in crate::os) fn note_sent(&mut self, line: u64) {
        self.rows.sent_from.push_back(line);
    }

    /// The same where each has rows of memory to itself: datagrams of one length use the same again, the last that came
    /// free first.
    pub(super) fn place_in_rows(&mut self, index: usize, bytes: u32, buffer: Buffer, driver: &DimmDriver) -> u64 {
        let (unit, first) = (driver.buffer_bytes(), driver.first_buffer(index));
        self.rows.most = buffer.places(unit).max(1);
        let line = self.rows.free_at.pop().unwrap_or_else(|| {
            let line = buffer.line((first + self.write_at) % (self.rows.most as u64 * unit));
            self.write_at += u64::from(bytes).next_multiple_of(unit);
            line
        });
        self.rows.written_at.push_back(line);
        line + driver.colour(line, bytes)
    }
}
