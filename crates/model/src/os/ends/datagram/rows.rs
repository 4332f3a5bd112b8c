//! Memory of datagrams for a NIC in a DIMM: each datagram has whole rows.

use super::DatagramEnd;
use crate::os::dimm::DimmDriver;
use crate::os::ends::buffer::Buffer;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Locations of the datagrams of an end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DatagramRows {
    /// True once a datagram has been written.
    pub(super) written_once: bool,
    /// Lines that the NIC reads the datagrams in flight from, and lines that these were written at.
    pub(super) sent_from: VecDeque<u64>,
    pub(super) written_at: VecDeque<u64>,
    /// Lines that are free again; the most recently freed is last.
    pub(super) free_at: Vec<u64>,
    /// Datagrams that may be in memory at a time; 0 before the first.
    most: usize,
}

impl DatagramRows {
    /// Returns true if there is memory for another datagram.
    pub(super) fn have_room(&self) -> bool {
        // The number of buffers is known only when the first datagram is placed.
        self.most == 0 || self.written_at.len() < self.most
    }
}

impl DatagramEnd {
    /// Called for a datagram that is handed down. Returns true if its data is in memory already (generated packets),
    /// and true if the socket has sent a datagram before.
    pub(in crate::os) fn written_before(&mut self) -> (bool, bool) {
        (self.generates() && self.rows.written_once, std::mem::replace(&mut self.rows.written_once, true))
    }

    /// Notes the line that a NIC in a DIMM reads a datagram from.
    pub(in crate::os) fn note_sent(&mut self, line: u64) {
        self.rows.sent_from.push_back(line);
    }

    /// Returns the virtual line for a datagram that is written now, and allots whole rows to the datagram. The buffer
    /// that was freed last is used first.
    pub(super) fn place_in_rows(&mut self, index: usize, bytes: u32, buffer: Buffer, driver: &DimmDriver) -> u64 {
        let (unit, first) = (driver.buffer_bytes(), driver.first_buffer(index));
        self.rows.most = buffer.places(unit).max(1);
        // The buffer freed last is the most likely to be in the caches.
        let line = self.rows.free_at.pop().unwrap_or_else(|| {
            let line = buffer.line((first + self.write_at) % (self.rows.most as u64 * unit));
            self.write_at += u64::from(bytes).next_multiple_of(unit);
            line
        });
        self.rows.written_at.push_back(line);
        line + driver.colour(line, bytes)
    }
}
