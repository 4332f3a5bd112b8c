//! Errors in command files, with their places.

use std::io;

use super::{HEADER, LINE_BYTES_MAX};
use crate::organisation::OutOfRange;

/// The first error in a command file.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct FileError {
    /// Number of the line, counted from 1; 1 for an empty file.
    pub line: u64,
    /// Error in that line.
    #[source]
    pub fault: FileFault,
}

/// An error in a line.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// The input failed, for instance within a compressed file.
    #[error("cannot be read: {0}")]
    Io(io::Error),
    /// The line is not valid UTF-8.
    #[error("byte {byte} is not UTF-8")]
    NotUtf8 {
        /// Position of the invalid byte in its line, counted from 1.
        byte: usize,
    },
    /// The line is longer than [`LINE_BYTES_MAX`].
    #[error("is longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
    /// The file ends within a line or before the header.
    #[error("the file is truncated: {0}")]
    Truncated(&'static str),
    /// The first line is not the header of a command file.
    #[error("{found:?} is not the header of a command file, `{HEADER}`")]
    Header {
        /// Text of the line.
        found: String,
    },
    /// The line has the wrong number of fields.
    #[error("has {found} fields, a command has 8: {HEADER}")]
    Fields {
        /// Number of fields found.
        found: usize,
    },
    /// A field that the command needs is empty.
    #[error("`{field}` is missing, {command} needs it")]
    Missing {
        /// Name of the field.
        field: &'static str,
        /// Name of the command, or "every command".
        command: &'static str,
    },
    /// A field is not a number.
    #[error("`{field}` is {value:?}, but must be a whole number")]
    Number {
        /// Name of the field.
        field: &'static str,
        /// Text of the field.
        value: String,
    },
    /// A number is too large for the device.
    #[error("{0}")]
    OutOfRange(OutOfRange),
    /// A number is too large for any device.
    #[error("`{field}` is {value}, but must be below 2^63")]
    Huge {
        /// Name of the field.
        field: &'static str,
        /// Text of the field.
        value: String,
    },
    /// The command is unknown.
    #[error(
        "`command` is {value:?}, but must be one of ACT, RD, RDA, WR, WRA, PRE, PREA, REF, REFSB; nearest is {nearest}"
    )]
    Command {
        /// Text of the field.
        value: String,
        /// Name of the most similar command.
        nearest: &'static str,
    },
    /// A clock is below that of the previous command on the same channel.
    #[error(
        "`clock` is {clock}, but the command before on channel {channel} is at {before}: clocks must not go backwards"
    )]
    Backwards {
        /// Clock of the command.
        clock: u64,
        /// Number of the controller.
        channel: u32,
        /// Clock of the previous command.
        before: u64,
    },
}
