//! Traces of other simulators, plain or compressed, read line by line in constant memory.

mod access;
mod decode;
mod error;
mod fields;
mod format;
mod l1;
mod lines;
mod packets;
mod pages;
mod parse;
mod steps;

pub use access::{Access, AccessFormat, AccessTrace, ACCESS_BYTES_MAX};
pub use decode::decoded;
pub use error::TraceError;
pub use format::Format;
pub use lines::LINE_LENGTH_MAX;
pub use packets::{PacketLine, PacketTrace, PACKET_FLITS_MAX};
pub use pages::{Pages, PAGE_BYTES};
pub use steps::{StepOptions, TraceStep, TraceSteps, KEPT_STEPS_MAX};

use crate::Request;
use error::Fault;
use hostnet_files::UserFile;
use lines::Lines;
use parse::Parser;
use std::io::{self, Read};
use std::path::Path;

/// The requests of a trace in its order. After an error the iterator ends.
pub struct Trace {
    file: String,
    lines: Lines,
    parser: Parser,
    ended: bool,
}

impl Trace {
    /// Opens a trace, plain or compressed with gzip, xz or zstd, which is recognized by its first bytes and not by
    /// its name.
    ///
    /// Without a `format`, the format is recognized by the first request. `capacity_bytes` is the size of the memory;
    /// an address at or beyond it is an error.
    ///
    /// # Errors
    /// Fails if the file cannot be read, has no request, or its first request is of no known format.
    pub fn open(path: impl AsRef<Path>, format: Option<Format>, capacity_bytes: u64) -> Result<Self, TraceError> {
        let name = path.as_ref().display().to_string();
        match UserFile::open(path.as_ref()) {
            Ok(file) => Self::from_reader(&name, file, format, capacity_bytes),
            Err(error) => Err(TraceError::new(&name, None, Fault::unreadable(&error))),
        }
    }

    /// Like [`Trace::open`], but reads from any source. `name` is used in messages.
    ///
    /// # Errors
    /// Returns the same errors as [`Trace::open`].
    pub fn from_reader(
        name: &str,
        source: impl Read + Send + 'static,
        format: Option<Format>,
        capacity_bytes: u64,
    ) -> Result<Self, TraceError> {
        let mut lines = decode::decoded(source)
            .map(Lines::new)
            .map_err(|error: io::Error| TraceError::new(name, None, Fault::unreadable(&error)))?;
        match settle_format(&mut lines, format) {
            Ok(Some(format)) => {
                let parser = Parser::new(format, capacity_bytes);
                Ok(Self { file: name.into(), lines, parser, ended: false })
            }
            Ok(None) => Err(TraceError::new(name, None, Fault::rule("holds no request"))),
            Err(fault) => Err(TraceError::new(name, Some(lines.number()), fault)),
        }
    }

    /// Returns the format of the trace.
    #[must_use]
    pub fn format(&self) -> Format {
        self.parser.format()
    }

    /// Returns true if the trace records arrival times. Otherwise all requests arrive at clock 0, so the source is
    /// saturating.
    #[must_use]
    pub fn timed(&self) -> bool {
        self.format().timed()
    }

    fn fail(&mut self, fault: Fault) -> TraceError {
        self.ended = true;
        TraceError::new(&self.file, Some(self.lines.number()), fault)
    }
}

impl Iterator for Trace {
    type Item = Result<Request, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let parsed = match self.lines.next() {
                Ok(Some(line)) => self.parser.parse(line),
                Ok(None) => break,
                Err(fault) => Err(fault),
            };
            match parsed {
                Ok(None) => {}
                Ok(Some(request)) => return Some(Ok(request)),
                Err(fault) => return Some(Err(self.fail(fault))),
            }
        }
        self.ended = true;
        None
    }
}

/// Rule that a first line of no known format breaks. `others` are formats besides those of requests.
fn known_trace(others: &str) -> String {
    format!("is no known trace: a line is {others}\"LD|ST address\", \"address R|W\" or \"address OP cycle\"")
}

/// Looks ahead to the first request and recognizes its format, unless one is `forced`. Returns `None` if there is no
/// request.
fn settle_format(lines: &mut Lines, forced: Option<Format>) -> Result<Option<Format>, Fault> {
    while let Some(line) = lines.next()? {
        if parse::is_empty(line)? {
            continue;
        }
        let Some(format) = forced.or_else(|| Format::of(line)) else {
            return Err(Fault::value(line, &known_trace("")));
        };
        // The line is a record: the parser reads it again.
        lines.step_back();
        return Ok(Some(format));
    }
    Ok(None)
}
