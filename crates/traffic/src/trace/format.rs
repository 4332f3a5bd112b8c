//! The formats of request traces: how they are recognized and written.

use super::fields::fields;
use crate::{Request, LINE_BYTES};
use std::io::{self, Write};

/// Format of a request trace. Blank lines and everything after a `#` are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Ramulator 2: `LD|ST address`, decimal or with `0x`.
    Ramulator,
    /// Ramulator 1, memory traces: `address R|W`, decimal or with `0x`.
    Ramulator1,
    /// DRAMsim3: `address OP cycle`, the address hexadecimal with or without `0x`, the cycle decimal.
    DramSim3,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Ramulator, Self::Ramulator1, Self::DramSim3];

    /// Returns the name for users: `ramulator`, `ramulator1` or `dramsim3`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ramulator => "ramulator",
            Self::Ramulator1 => "ramulator1",
            Self::DramSim3 => "dramsim3",
        }
    }

    /// Returns true if the lines of the format have the clock of arrival.
    #[must_use]
    pub fn timed(self) -> bool {
        matches!(self, Self::DramSim3)
    }

    /// Writes a request as a line. Formats without clocks drop the clock; all drop the source.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write(self, out: &mut impl Write, request: &Request) -> io::Result<()> {
        let address = u128::from(request.line) * u128::from(LINE_BYTES);
        let word = self.word(request.write);
        match self {
            Self::Ramulator => writeln!(out, "{word} {address:#x}"),
            Self::Ramulator1 => writeln!(out, "{address:#x} {word}"),
            Self::DramSim3 => writeln!(out, "{address:#x} {word} {}", request.clock),
        }
    }

    fn word(self, write: bool) -> &'static str {
        match (self, write) {
            (Self::Ramulator, false) => "LD",
            (Self::Ramulator, true) => "ST",
            (Self::Ramulator1, false) => "R",
            (Self::Ramulator1, true) => "W",
            (Self::DramSim3, false) => "READ",
            (Self::DramSim3, true) => "WRITE",
        }
    }

    /// Returns true if a word of the format means a write, false if it means a read, and `None` for other words.
    ///
    /// DRAMsim3 also accepts the words of the bus traces of its predecessor, and takes unknown words as reads; that
    /// would hide mistakes, so unknown words are refused here.
    #[inline]
    pub(super) fn is_write(self, word: &[u8]) -> Option<bool> {
        match (self, word) {
            (Self::Ramulator, b"LD") | (Self::Ramulator1, b"R") => Some(false),
            (Self::Ramulator, b"ST") | (Self::Ramulator1, b"W") => Some(true),
            (Self::DramSim3, b"READ" | b"read" | b"P_FETCH" | b"P_MEM_RD" | b"P_LOCK_RD" | b"P_LOCK_WR") => Some(false),
            (Self::DramSim3, b"WRITE" | b"write" | b"P_MEM_WR" | b"BOFF") => Some(true),
            _ => None,
        }
    }

    /// Lists the words of the format, for messages.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Ramulator => "LD or ST",
            Self::Ramulator1 => "R or W",
            Self::DramSim3 => "READ, WRITE, read, write, P_FETCH, P_MEM_RD, P_MEM_WR, P_LOCK_RD, P_LOCK_WR or BOFF",
        }
    }

    /// Recognizes the format of a line by its word.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let mut fields = fields(line);
        let (first, second) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        Self::ALL.into_iter().find(|format| {
            let word = if matches!(format, Self::Ramulator) { first } else { second };
            format.is_write(word).is_some()
        })
    }
}
