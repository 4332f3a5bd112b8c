//! Reads listings of DynamoRIO's drmemtrace, as printed by its tool `view`: one record per line.
//!
//! Each record begins with its owner, in one of four layouts, from old to new:
//!
//! ```text
//! T12                   the thread
//! 34: T12               the number of the record, the thread
//! 34 21: 12             the numbers of the record and of the instruction, the thread
//! 34 21: W0.T12         as before, with the workload
//! ```

use super::super::error::Fault;
use super::super::fields::is_blank;
use super::super::lines::Lines;
use super::super::parse::{digits_value, number};
use super::{check_end, refuse_open, size, Access};
use std::collections::BTreeMap;

/// Largest number of threads of a trace.
pub(super) const THREADS_MAX: usize = 1 << 16;

#[derive(Default)]
pub(super) struct DrMemTrace {
    /// Thread of the last record.
    thread: Option<u64>,
    /// State of that thread.
    state: State,
    /// State of the other threads.
    others: BTreeMap<u64, State>,
    /// Number of the last instruction, if the listing numbers instructions.
    instruction: Option<u64>,
}

/// State of a thread.
#[derive(Clone, Copy, Default)]
struct State {
    /// Instructions since the last access.
    instructions: u32,
    /// Last time stamp, in us.
    time_us: u64,
}

/// Thread and instruction that a record belongs to.
struct RecordOwner {
    thread: u64,
    instruction: Option<u64>,
}

impl DrMemTrace {
    pub(super) fn next(&mut self, lines: &mut Lines) -> Result<Option<Access>, Fault> {
        while let Some(line) = lines.next()? {
            let access = self.parse(line)?;
            refuse_open(lines)?;
            if access.is_some() {
                return Ok(access);
            }
        }
        Ok(None)
    }

    /// Parses a line. Returns `None` if it is no access to data.
    fn parse(&mut self, line: &[u8]) -> Result<Option<Access>, Fault> {
        let mut words = Words { rest: line };
        let Some(first) = words.next() else { return Ok(None) };
        // Frames are recognised first: totals begin with a number like records do.
        if is_frame(line, first) {
            return text_only(line);
        }
        let owner = owner(first, &mut words)?;
        self.enter(owner.thread)?;
        match words.next().unwrap_or_default() {
            b"read" => self.access(&mut words, line, false).map(Some),
            b"write" => self.access(&mut words, line, true).map(Some),
            b"ifetch" => {
                place(&mut words, line)?;
                self.fetched(owner.instruction);
                text_only(words.rest)
            }
            // Old listings print the address of an instruction without `ifetch`.
            [b'0', b'x', ..] => {
                self.fetched(None);
                text_only(line)
            }
            b"<marker:" => self.marker(&mut words).and_then(|()| text_only(line)),
            word if is_silent(word) => text_only(line),
            word => {
                Err(Fault::value(word, "is no known record of drmemtrace: such as ifetch, read, write or <marker:"))
            }
        }
    }

    fn access(&mut self, words: &mut Words<'_>, line: &[u8], store: bool) -> Result<Access, Fault> {
        let (address, size) = place(words, line)?;
        let instructions_before = std::mem::take(&mut self.state.instructions);
        Ok(Access { address, thread: self.thread.unwrap_or_default(), size, instructions_before, store })
    }

    /// Counts an instruction. The iterations of a repeated instruction, such as a string operation, have the number
    /// of the first one and do not count again.
    fn fetched(&mut self, number: Option<u64>) {
        // Listings without numbers cannot show repetitions, so each counts.
        if number.is_none() || number != self.instruction {
            self.state.instructions = self.state.instructions.saturating_add(1);
        }
        self.instruction = number;
    }

    /// Switches to the state of a thread.
    #[inline]
    fn enter(&mut self, thread: u64) -> Result<(), Fault> {
        if Some(thread) == self.thread {
            return Ok(());
        }
        // Only a change of thread touches the map: runs of one thread are long.
        if let Some(left) = self.thread.replace(thread) {
            self.others.insert(left, self.state);
        }
        self.state = self.others.remove(&thread).unwrap_or_default();
        // Checked after the change, which adds at most one thread.
        if self.others.len() >= THREADS_MAX {
            return Err(Fault::rule(format!("has more than {THREADS_MAX} threads, the limit of a trace")));
        }
        Ok(())
    }

    fn marker(&mut self, words: &mut Words<'_>) -> Result<(), Fault> {
        if words.next() != Some(b"timestamp") {
            return Ok(());
        }
        let text = words.next().unwrap_or_default();
        let time_us = text
            .strip_suffix(b">")
            .and_then(digits_value::<10>)
            .ok_or_else(|| Fault::value(text, "is not a time stamp: it must be a number and >"))?;
        // Per thread: threads are interleaved, and only the stamps of each ascend.
        if time_us < self.state.time_us {
            let rule = format!("goes back in time: the time stamp of its thread before was {}", self.state.time_us);
            return Err(Fault::value(text, &rule));
        }
        self.state.time_us = time_us;
        Ok(())
    }
}

/// Returns true if a line looks like part of a listing.
pub(super) fn is_listing(line: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(line, text).is_some();
    let oldest = line.first() == Some(&b'T') && line.get(1).is_some_and(u8::is_ascii_digit);
    line.starts_with(b"Output format:") || oldest || has(b"<marker: ") || has(b" byte(s) @ 0x")
}

/// Returns true if a line belongs to the frame of the listing: its head, its rules, or its totals.
fn is_frame(line: &[u8], first: &[u8]) -> bool {
    let heads: [&[u8]; 3] = [b"Output format:", b"<", b"View tool results:"];
    let sum = |text| digits_value::<10>(first).is_some() && memchr::memmem::find(line, text).is_some();
    heads.into_iter().any(|head| line.starts_with(head))
        || first.iter().all(|byte| *byte == b'-')
        || line.ends_with(b"instructions") && (sum(b" : total instr") || sum(b" : total disass"))
}

/// Parses the owner of a record from the first word of a line and the words after it.
fn owner(first: &[u8], words: &mut Words<'_>) -> Result<RecordOwner, Fault> {
    if first.first() == Some(&b'T') {
        return Ok(RecordOwner { thread: thread(first)?, instruction: None });
    }
    let instruction = match first.strip_suffix(b":") {
        Some(record) => {
            column(record)?;
            None
        }
        None => {
            column(first)?;
            let text = words.next().unwrap_or_default();
            Some(column(text.strip_suffix(b":").unwrap_or(b""))?)
        }
    };
    let thread = thread(words.next().unwrap_or_default())?;
    Ok(RecordOwner { thread, instruction })
}

fn column(text: &[u8]) -> Result<u64, Fault> {
    digits_value::<10>(text).ok_or_else(|| Fault::value(text, "is not the number of a record or an instruction"))
}

/// Parses a thread: `12`, `T12` or `W3.T12`.
fn thread(text: &[u8]) -> Result<u64, Fault> {
    let digits = |text: &[u8]| digits_value::<10>(text).filter(|value| *value <= u64::from(u32::MAX));
    let found = match text {
        [b'T', thread @ ..] => digits(thread),
        [b'W', rest @ ..] => memchr::memmem::find(rest, b".T")
            // The workload in the upper half keeps threads of equal numbers apart.
            .and_then(|dot| Some(digits(&rest[..dot])? << 32 | digits(&rest[dot + 2..])?)),
        _ => digits(text),
    };
    found.ok_or_else(|| Fault::value(text, "is not a thread: it must be such as 12, T12 or W0.T12"))
}

/// Parses `size byte(s) @ 0xaddress`.
fn place(words: &mut Words<'_>, line: &[u8]) -> Result<(u64, u32), Fault> {
    let bytes = size(words.next().unwrap_or_default())?;
    if (words.next(), words.next()) != (Some(b"byte(s)"), Some(b"@")) {
        return Err(Fault::value(line.trim_ascii(), "lacks a field: \"size byte(s) @ 0xaddress\""));
    }
    let text = words.next().unwrap_or_default();
    let address = number(text, true, "an address")?;
    check_end(text, address, bytes)?;
    Ok((address, bytes))
}

/// Returns true for records that are ignored: hints, flushes, ends of threads, and the bytes of an instruction too
/// long for its line.
fn is_silent(word: &[u8]) -> bool {
    let hints = word == b"pref" || word.starts_with(b"pref-");
    let bytes = || word.len() == 2 && word.iter().all(u8::is_ascii_hexdigit);
    hints || matches!(word, b"iflush" | b"dflush") || word.first() == Some(&b'<') || bytes()
}

fn text_only(line: &[u8]) -> Result<Option<Access>, Fault> {
    std::str::from_utf8(line).map(|_| None).map_err(|_| Fault::not_text(line))
}

/// The words of a line. There are no comments, because an instruction may contain a `#`.
struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.iter().position(|byte| !is_blank(*byte))?;
        let rest = &self.rest[start..];
        let end = rest.iter().position(|byte| is_blank(*byte)).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        Some(word)
    }
}
