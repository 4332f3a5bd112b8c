//! What is wrong with a command file, and where.

use std::io;

use super::{HEADER, LINE_BYTES_MAX};
use crate::organisation::Outside;

/// The first thing wrong with a command file.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct FileError {
    /// The line, counted from 1. Of an empty file 1.
    pub line: u64,
    /// What is wrong with it.
    #[source]
    pub fault: FileFault,
}

/// What may be wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// The input failed, for instance within a compressed file.
    #[error("cannot be read: {0}")]
    Io(io::Error),
    /// Bytes that are no text.
    #[error("byte {byte} is not UTF-8")]
    NotUtf8 {
        /// Place of the byte in its line, counted from 1.
        byte: usize,
    },
    /// A line beyond [`LINE_BYTES_MAX`].
    #[error("is longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
    /// The file ends within a line or before the header.
    #[error("the file is truncated: {0}")]
    Truncated(&'static str),
    /// Another header.
    #[error("{found:?} is not the header of a command file, `{HEADER}`")]
    Header {
        /// What stands there.
        found: String,
    },
    /// A line of another number of fields.
    #[error("has {found} fields, a command has 8: {HEADER}")]
    Fields {
        /// How many there are.
        found: usize,
    },
    /// A field that the command needs is empty.
    #[error("`{field}` is missing, {command} needs it")]
    Missing {
        /// The field.
        field: &'static str,
        /// The command, or "every command".
        command: &'static str,
    },
    /// A field that is no number.
    #[error("`{field}` is {value:?}, but must be a whole number")]
    Number {
        /// The field.
        field: &'static str,
        /// What stands there.
        value: String,
    },
    /// A number that is too large for the device.
    #[error("{0}")]
    Outside(Outside),
    /// A number that is too large for anything.
    #[error("`{field}` is {value}, but must be below 2^63")]
    Huge {
        /// The field.
        field: &'static str,
        /// What stands there.
        value: String,
    },
    /// No command of that name.
    #[error(
        "`command` is {value:?}, but must be one of ACT, RD, RDA, WR, WRA, PRE, PREA, REF, REFSB; nearest is {nearest}"
    )]
    Command {
        /// What stands there.
        value: String,
        /// The command most like it.
        nearest: &'static str,
    },
    /// A clock below that of the command before on the same channel.
    #[error(
        "`clock` is {clock}, but the command before on channel {channel} is at {before}: clocks must not go backwards"
    )]
    Backwards {
        /// The clock.
        clock: u64,
        /// The controller.
        channel: u32,
        /// The clock of the command before.
        before: u64,
    },
}
