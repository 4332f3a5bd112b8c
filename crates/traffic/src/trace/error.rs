//! Errors in traces, with their places.

use std::fmt;
use std::io;

/// The first error in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    file: String,
    line: Option<u64>,
    fault: Fault,
}

impl TraceError {
    #[cold]
    pub(super) fn new(file: &str, line: Option<u64>, fault: Fault) -> Self {
        Self(Box::new(Details { file: file.into(), line, fault }))
    }

    /// Returns the file as it was named.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// Returns the line, counted from 1; `None` if the error concerns the whole file.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// Returns the offending value, quoted and shortened, and the rule that it breaks.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.fault.0
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file())?;
        if let Some(line) = self.line() {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message())
    }
}

impl std::error::Error for TraceError {}

/// A broken rule, before its place is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault(String);

impl Fault {
    #[cold]
    pub(super) fn rule(rule: impl Into<String>) -> Self {
        Self(rule.into())
    }

    /// Reports that `value` breaks `rule`.
    #[cold]
    pub(super) fn value(value: &[u8], rule: &str) -> Self {
        match std::str::from_utf8(value) {
            Ok(value) => Self(format!("{} {rule}", shorten(value))),
            Err(_) => Self::not_text(value),
        }
    }

    #[cold]
    pub(super) fn not_text(value: &[u8]) -> Self {
        Self(format!("{} is not UTF-8: a trace is text", shorten(&String::from_utf8_lossy(value))))
    }

    #[cold]
    pub(super) fn unreadable(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self(format!("is cut short: {error}")),
            _ => Self(format!("cannot be read: {error}")),
        }
    }
}

/// Quotes `text`, cut if it is long.
fn shorten(text: &str) -> String {
    const LENGTH_MAX: usize = 40;
    let mut short: String = text.chars().take(LENGTH_MAX).collect();
    let cut = short.len() < text.len();
    short = format!("{short:?}");
    if cut {
        short.push_str("...");
    }
    short
}
