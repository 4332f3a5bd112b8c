//! The memory that a socket sends from.

use crate::os::region::Region;
use crate::params::LineSize;
use serde::{Deserialize, Serialize};

/// Memory that a socket sends from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::os) struct Buffer {
    pub(super) base: u64,
    pub(super) share: u64,
    pub(super) line_size: LineSize,
}

impl Buffer {
    /// Returns the memory of `file` in its place. The file is sent again from its start after its end.
    pub(in crate::os) fn of_file(self, file: Region) -> Self {
        Self { base: file.base, share: file.bytes, ..self }
    }

    /// Returns the number of buffers of `unit` bytes that fit.
    pub(in crate::os) fn places(&self, unit: u64) -> usize {
        (self.share / unit) as usize
    }

    /// Returns the virtual line that holds a byte of the stream. The bytes that follow are contiguous, even past the
    /// end of the share.
    pub(in crate::os) fn line(&self, byte: u64) -> u64 {
        (self.base + self.line_size.shrink(byte % self.share)) / 64
    }
}
