//! Traces of the accesses of a processor, read in constant memory.

mod cpu;
mod drmemtrace;
mod format;
mod lackey;

pub use format::AccessFormat;

use super::error::{Fault, TraceError};
use super::lines::Lines;
use super::parse::{self, Parser};
use super::{decode, known_trace};
use crate::LINE_BYTES;
use cpu::RamulatorCpu;
use drmemtrace::DrMemTrace;
use hostnet_files::UserFile;
use lackey::Lackey;
use std::io::Read;
use std::path::Path;

/// Largest access, in bytes; XSAVE, the largest of x86, writes less than 12 KiB.
pub const ACCESS_BYTES_MAX: u32 = 1 << 16;

/// A data access of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Virtual address of the first byte of the access; the address of the last byte is below 2^64.
    pub address: u64,
    /// Id of the thread, with the number of its workload in the upper 32 bits; 0 if the trace has no threads.
    pub thread: u64,
    /// Size in bytes, 1 to [`ACCESS_BYTES_MAX`]; 64 if the trace contains only lines.
    pub size: u32,
    /// Instructions of the thread since its previous access, including the one that makes this access; at most 2^32 -
    /// 1. It is 0 if that instruction has already made an access, or if the trace does not record instructions.
    pub instructions_before: u32,
    /// True for a store. An instruction that loads and stores the same address is one access that stores.
    pub store: bool,
}

impl Access {
    /// Returns the first and the last line that the access touches (byte address / 64).
    #[inline]
    #[must_use]
    pub fn lines(&self) -> (u64, u64) {
        // `check_end` has made sure that the sum fits.
        (self.address / LINE_BYTES, (self.address + u64::from(self.size - 1)) / LINE_BYTES)
    }
}

/// The accesses of a trace in its order. After an error the iterator ends.
pub struct AccessTrace {
    file: String,
    lines: Lines,
    format: AccessFormat,
    parser: Reader,
    ended: bool,
}

enum Reader {
    Lackey(Lackey),
    DrMemTrace(DrMemTrace),
    RamulatorCpu(RamulatorCpu),
    Memory(Parser),
}

impl AccessTrace {
    /// Opens a trace, plain or compressed with gzip, xz or zstd, which is recognized by its first bytes and not by
    /// its name.
    ///
    /// Without a `format`, the format is recognized by the first record.
    ///
    /// # Errors
    /// Fails if the file cannot be read, has no record, or its first record is of no known format.
    pub fn open(path: impl AsRef<Path>, format: Option<AccessFormat>) -> Result<Self, TraceError> {
        let name = path.as_ref().display().to_string();
        match UserFile::open(path.as_ref()) {
            Ok(file) => Self::from_reader(&name, file, format),
            Err(error) => Err(TraceError::new(&name, None, Fault::unreadable(&error))),
        }
    }

    /// Like [`AccessTrace::open`], but reads from any source. `name` is used in messages.
    ///
    /// # Errors
    /// Returns the same errors as [`AccessTrace::open`].
    pub fn from_reader(
        name: &str,
        source: impl Read + Send + 'static,
        format: Option<AccessFormat>,
    ) -> Result<Self, TraceError> {
        let mut lines = decode::decoded(source)
            .map(Lines::new)
            .map_err(|error| TraceError::new(name, None, Fault::unreadable(&error)))?;
        match settle_format(&mut lines, format) {
            Ok(Some(format)) => {
                let parser = Reader::of(format);
                Ok(Self { file: name.into(), lines, format, parser, ended: false })
            }
            Ok(None) => Err(TraceError::new(name, None, Fault::rule("holds no access"))),
            Err(fault) => Err(TraceError::new(name, Some(lines.number()), fault)),
        }
    }

    /// Returns the format of the trace.
    #[must_use]
    pub fn format(&self) -> AccessFormat {
        self.format
    }

    /// Returns the number of the line that was read last, counted from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Creates an error about the access that was read last.
    #[cold]
    #[must_use]
    pub fn error(&self, rule: String) -> TraceError {
        TraceError::new(&self.file, Some(self.lines.number()), Fault::rule(rule))
    }
}

impl Iterator for AccessTrace {
    type Item = Result<Access, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = match &mut self.parser {
            Reader::Lackey(reader) => reader.next(&mut self.lines),
            Reader::DrMemTrace(reader) => reader.next(&mut self.lines),
            Reader::RamulatorCpu(reader) => reader.next(&mut self.lines),
            Reader::Memory(parser) => next_request(parser, &mut self.lines),
        };
        match next {
            Ok(Some(access)) => Some(Ok(access)),
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(fault) => {
                self.ended = true;
                Some(Err(TraceError::new(&self.file, Some(self.lines.number()), fault)))
            }
        }
    }
}

impl Reader {
    fn of(format: AccessFormat) -> Self {
        match format {
            AccessFormat::Lackey => Self::Lackey(Lackey::default()),
            AccessFormat::DrMemTrace => Self::DrMemTrace(DrMemTrace::default()),
            AccessFormat::RamulatorCpu => Self::RamulatorCpu(RamulatorCpu::default()),
            // No limit on addresses: pages are renumbered before any memory sees them.
            AccessFormat::Memory(format) => Self::Memory(Parser::new(format, u64::MAX)),
        }
    }
}

fn next_request(parser: &mut Parser, lines: &mut Lines) -> Result<Option<Access>, Fault> {
    while let Some(line) = lines.next()? {
        if let Some(request) = parser.parse(line)? {
            let address = request.line * LINE_BYTES;
            let size = LINE_BYTES as u32;
            return Ok(Some(Access { address, thread: 0, size, instructions_before: 0, store: request.write }));
        }
    }
    Ok(None)
}

/// Looks ahead to the first record and recognizes its format, unless one is `forced`. Returns `None` if there is no
/// record.
fn settle_format(lines: &mut Lines, forced: Option<AccessFormat>) -> Result<Option<AccessFormat>, Fault> {
    while let Some(line) = lines.next()? {
        // With a given format its own reader decides about remarks.
        if parse::is_empty(line)? || (forced.is_none() && lackey::is_remark(line)) {
            continue;
        }
        let Some(format) = forced.or_else(|| AccessFormat::of(line)) else {
            return Err(Fault::value(line, &known_trace("an access of lackey or drmemtrace, \"count address\", ")));
        };
        lines.step_back();
        return Ok(Some(format));
    }
    Ok(None)
}

/// Refuses a last line without an end: it was cut short, because tools always end their last line.
fn refuse_open(lines: &Lines) -> Result<(), Fault> {
    if lines.is_open() {
        return Err(Fault::rule("is cut short: the last line has no end"));
    }
    Ok(())
}

/// Parses the size of an access.
fn size(text: &[u8]) -> Result<u32, Fault> {
    parse::digits_value::<10>(text)
        .and_then(|size| u32::try_from(size).ok())
        .filter(|size| (1..=ACCESS_BYTES_MAX).contains(size))
        .ok_or_else(|| Fault::value(text, &format!("is not a size: it must be 1 to {ACCESS_BYTES_MAX} bytes")))
}

/// Checks that an access ends below 2^64.
fn check_end(text: &[u8], address: u64, size: u32) -> Result<(), Fault> {
    match address.checked_add(u64::from(size - 1)) {
        Some(_) => Ok(()),
        None => {
            Err(Fault::value(text, &format!("is too large for an address of {size} bytes: the largest is 2^64 - 1")))
        }
    }
}
