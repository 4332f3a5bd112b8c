//! Splits a stream into lines, in one buffer of fixed size.

use super::error::Fault;
use std::io::{ErrorKind, Read};
use std::ops::Range;

/// Largest length of a line of a trace in bytes, without its line ending.
pub const LINE_LENGTH_MAX: usize = 4096;
const BUFFER_BYTES: usize = 1 << 17;

pub(super) struct Lines {
    source: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    /// Range of the buffer that has been read and not yet returned.
    unread: Range<usize>,
    /// Offset of the last line in the buffer.
    last: usize,
    number: u64,
    /// True if the last line has no line ending.
    open: bool,
    ended: bool,
}

impl Lines {
    pub(super) fn new(source: Box<dyn Read + Send>) -> Self {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Self { source, buffer, unread: 0..0, last: 0, number: 0, open: false, ended: false }
    }

    /// Returns the number of the last line, or of the line that an error kept from being read. The first line is 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the next line, without its line ending.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, Fault> {
        let length = match memchr::memchr(b'\n', &self.buffer[self.unread.clone()]) {
            Some(length) => length,
            None => match self.fill()? {
                Some(length) => length,
                None => return Ok(None),
            },
        };
        self.number += 1;
        self.last = self.unread.start;
        let line = self.last..self.last + length;
        // Only the last line of a file may have no line ending.
        self.open = line.end == self.unread.end;
        self.unread.start = (line.end + 1).min(self.unread.end);
        // Checked after the position has moved, so that the error names this line.
        if length > LINE_LENGTH_MAX {
            return Err(too_long(&self.buffer[line]));
        }
        Ok(Some(&self.buffer[line]))
    }

    /// Returns true if the last line has no line ending, because the file ends within it.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Returns the buffered part of the following lines; it may end within a line.
    #[inline]
    pub(super) fn buffered(&self) -> &[u8] {
        &self.buffer[self.unread.clone()]
    }

    /// Skips `bytes` of the buffer, which are `lines` whole lines.
    #[inline]
    pub(super) fn pass(&mut self, bytes: usize, lines: u64) {
        self.unread.start += bytes;
        self.number += lines;
    }

    /// Makes the last line the next one again.
    pub(super) fn step_back(&mut self) {
        self.unread.start = self.last;
        self.number -= 1;
    }

    /// Reads on until a line is complete, and returns its length; `None` at the end of the stream.
    #[cold]
    fn fill(&mut self) -> Result<Option<usize>, Fault> {
        while !self.ended {
            // Too long already: `next` reports it, without reading to the end of the line.
            if self.unread.len() > LINE_LENGTH_MAX {
                return Ok(Some(self.unread.len()));
            }
            // Moved only when the buffer is full, so that bytes are copied about once per buffer.
            if self.unread.end == self.buffer.len() {
                self.buffer.copy_within(self.unread.clone(), 0);
                self.unread = 0..self.unread.len();
            }
            let fresh = self.unread.end;
            match self.source.read(&mut self.buffer[fresh..]) {
                Ok(0) => self.ended = true,
                Ok(bytes) => self.unread.end += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.number += 1;
                    return Err(Fault::unreadable(&error));
                }
            }
            // Only the new bytes are searched: the old ones have no line end.
            if let Some(length) = memchr::memchr(b'\n', &self.buffer[fresh..self.unread.end]) {
                return Ok(Some(fresh - self.unread.start + length));
            }
        }
        // The last line may lack its end.
        Ok(Some(self.unread.len()).filter(|length| *length > 0))
    }
}

#[cold]
fn too_long(line: &[u8]) -> Fault {
    // Cut at a character boundary, so that a long line of text is not reported as invalid UTF-8.
    let start = &line[..LINE_LENGTH_MAX.min(line.len())];
    let text = match std::str::from_utf8(start) {
        Err(error) if error.error_len().is_none() => &start[..error.valid_up_to()],
        _ => start,
    };
    Fault::value(text, &format!("is longer than {LINE_LENGTH_MAX} bytes, the limit of a line"))
}
