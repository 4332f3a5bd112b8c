//! Reads command files line by line.

use std::io::{BufRead, Read};

use hostnet_model::memory::{CommandKind, CommandRecord};
use hostnet_params::{DramParams, SameBank};

use super::{needs, FileError, FileFault, FIELDS, HEADER, LINE_BYTES_MAX, MNEMONICS};
use crate::checker::CONTROLLERS_MAX;
use crate::organisation::{Organisation, OutOfRange};

/// Maximum number of characters of the user's text that a message quotes.
const QUOTED_MAX: usize = 40;

/// Reads the commands of a file for a device. It buffers one line of text at a time, whatever the length of the file.
/// As an iterator it ends after the first error.
///
/// Lines that begin with `#` are comments. A field that a command does not need may be empty; if it is not, it must be
/// a valid number for the device, and is ignored.
pub struct CommandReader<R> {
    input: R,
    organisation: Organisation,
    controllers: u32,
    line: Vec<u8>,
    number: u64,
    /// Last clock of every controller.
    clocks: Vec<u64>,
    ended: bool,
}

impl<R: BufRead> CommandReader<R> {
    /// Reads the header. `controllers` is the number of controllers (channels x subchannels) if it is known; otherwise
    /// up to [`CONTROLLERS_MAX`] are allowed.
    ///
    /// # Errors
    ///
    /// Fails if the header is missing or differs from the expected one, or if a line is malformed.
    pub fn new(input: R, dram: &DramParams, controllers: Option<u32>) -> Result<Self, FileError> {
        let mut reader = CommandReader {
            input,
            organisation: Organisation::new(dram),
            controllers: controllers.unwrap_or(CONTROLLERS_MAX).min(CONTROLLERS_MAX),
            line: Vec::with_capacity(LINE_BYTES_MAX + 2),
            number: 0,
            clocks: Vec::new(),
            ended: false,
        };
        let header = reader.read_header();
        header.map_err(|fault| FileError { line: reader.number.max(1), fault })?;
        Ok(reader)
    }

    /// Reads the next command. Returns `None` at the end and after an error.
    ///
    /// # Errors
    ///
    /// Returns the error in the line.
    pub fn read(&mut self) -> Result<Option<CommandRecord>, FileError> {
        if self.ended {
            return Ok(None);
        }
        let record = self.read_record();
        // After an error the rest of the file has no meaning: lines may be shifted or cut.
        self.ended = !matches!(record, Ok(Some(_)));
        record.map_err(|fault| FileError { line: self.number, fault })
    }

    /// Returns the number of the line read last, counted from 1.
    pub fn line(&self) -> u64 {
        self.number
    }

    fn read_header(&mut self) -> Result<(), FileFault> {
        match self.read_line()? {
            true if self.line == HEADER.as_bytes() => Ok(()),
            true => Err(FileFault::Header { found: quoted(&self.line) }),
            false => Err(FileFault::Truncated("it has no header")),
        }
    }

    fn read_record(&mut self) -> Result<Option<CommandRecord>, FileFault> {
        if !self.read_line()? {
            return Ok(None);
        }
        let record = parse(&self.line, &self.organisation, self.controllers)?;
        let channel = record.channel as usize;
        if channel >= self.clocks.len() {
            self.clocks.resize(channel + 1, 0);
        }
        // Clocks are compared per channel: files may interleave controllers in any order.
        let before = std::mem::replace(&mut self.clocks[channel], record.clock);
        if record.clock < before {
            return Err(FileFault::Backwards { clock: record.clock, channel: record.channel, before });
        }
        Ok(Some(record))
    }

    /// Reads the next line that is no comment. Returns false at the end of the file.
    fn read_line(&mut self) -> Result<bool, FileFault> {
        loop {
            self.line.clear();
            // The line ending may take two bytes.
            let limit = LINE_BYTES_MAX as u64 + 2;
            // The limit keeps a file without line ends from being read into memory as one line.
            let read = self.input.by_ref().take(limit).read_until(b'\n', &mut self.line);
            if matches!(read, Ok(0)) {
                return Ok(false);
            }
            // Counted before errors, so that they name the line in which they are.
            self.number += 1;
            read.map_err(FileFault::Io)?;
            self.strip_end()?;
            if let Err(error) = std::str::from_utf8(&self.line) {
                return Err(FileFault::NotUtf8 { byte: error.valid_up_to() + 1 });
            }
            if self.line.first() != Some(&b'#') {
                return Ok(true);
            }
        }
    }

    fn strip_end(&mut self) -> Result<(), FileFault> {
        let ended = self.line.last() == Some(&b'\n');
        let text = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        // CR LF ends a line, too; a CR alone is text.
        let length = if ended { text.strip_suffix(b"\r").unwrap_or(text).len() } else { text.len() };
        self.line.truncate(length);
        // A last line without an end is refused: it may be the beginning of a longer one.
        match (self.line.len() > LINE_BYTES_MAX, ended) {
            (true, _) => Err(FileFault::TooLong),
            (false, false) => Err(FileFault::Truncated("its last line has no end")),
            (false, true) => Ok(()),
        }
    }
}

impl<R: BufRead> Iterator for CommandReader<R> {
    type Item = Result<CommandRecord, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

fn parse(line: &[u8], organisation: &Organisation, controllers: u32) -> Result<CommandRecord, FileFault> {
    let mut fields: [&[u8]; FIELDS] = [&[]; FIELDS];
    let mut found = 0;
    for field in line.split(|&byte| byte == b',') {
        if let Some(slot) = fields.get_mut(found) {
            *slot = field;
        }
        // Surplus fields are counted and not kept, so that the error has their number.
        found += 1;
    }
    if found != FIELDS {
        return Err(FileFault::Fields { found });
    }
    let clock = number("clock", fields[0])?.ok_or(FileFault::Missing { field: "clock", command: "every command" })?;
    let channel =
        number("channel", fields[1])?.ok_or(FileFault::Missing { field: "channel", command: "every command" })?;
    within("channel", channel, controllers.into())?;
    let kind = command(fields[2])?;
    if let Some(outside) = organisation.lacks(kind) {
        return Err(FileFault::OutOfRange(outside));
    }
    let [rank, bank_group, bank, row, column] = places(kind, &fields, organisation)?;
    Ok(CommandRecord {
        clock,
        channel: channel as u32,
        kind,
        rank: rank as u8,
        bank_group: bank_group as u8,
        bank: bank as u8,
        row: row as u32,
        column: column as u32,
    })
}

/// Returns rank, bank group, bank, row and column; 0 for fields that the command does not need.
fn places(kind: CommandKind, fields: &[&[u8]; FIELDS], organisation: &Organisation) -> Result<[u64; 5], FileFault> {
    let names = ["rank", "bank_group", "bank", "row", "column"];
    let counts = [
        // `CommandRecord` has 8 bits for each of these.
        organisation.ranks.min(256) as u64,
        organisation.groups.min(256) as u64,
        organisation.banks_per_group.min(256) as u64,
        organisation.rows,
        organisation.columns,
    ];
    let mut needed = needs(kind);
    if kind == CommandKind::RefreshSameBank && organisation.same_bank == SameBank::EveryGroup {
        // Such a REFSB names the bank number only.
        needed[1] = false;
    }
    let mut values = [0; 5];
    for (index, value) in values.iter_mut().enumerate() {
        let field = names[index];
        match number(field, fields[3 + index])? {
            Some(number) => {
                within(field, number, counts[index])?;
                // A field that is not needed is ignored, but must be a number that the device has.
                *value = if needed[index] { number } else { 0 };
            }
            None if needed[index] => return Err(FileFault::Missing { field, command: super::mnemonic(kind) }),
            None => {}
        }
    }
    Ok(values)
}

fn command(text: &[u8]) -> Result<CommandKind, FileFault> {
    if text.is_empty() {
        return Err(FileFault::Missing { field: "command", command: "every line" });
    }
    let known = MNEMONICS.iter().find(|(name, _)| name.as_bytes() == text);
    known.map(|&(_, kind)| kind).ok_or_else(|| unknown(text))
}

#[cold]
fn unknown(text: &[u8]) -> FileFault {
    let value = quoted(text);
    // Commands in lower case are not accepted, but the right name is proposed.
    let upper = value.to_uppercase();
    let distance = |name: &str| strsim::damerau_levenshtein(name, &upper);
    let nearest = MNEMONICS.iter().map(|&(name, _)| name).min_by_key(|name| distance(name)).unwrap_or("ACT");
    FileFault::Command { value, nearest }
}

/// Parses a number below 2^63. Returns `None` if the field is empty.
fn number(field: &'static str, text: &[u8]) -> Result<Option<u64>, FileFault> {
    let mut value: u64 = 0;
    for &byte in text {
        if !byte.is_ascii_digit() {
            return Err(FileFault::Number { field, value: quoted(text) });
        }
        // Saturated values have bit 63 set, so that they are refused below like all from 2^63 on.
        value = value.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
    }
    match value >> 63 {
        0 => Ok((!text.is_empty()).then_some(value)),
        _ => Err(FileFault::Huge { field, value: quoted(text) }),
    }
}

fn within(field: &'static str, value: u64, count: u64) -> Result<(), FileFault> {
    match value < count {
        true => Ok(()),
        false => Err(FileFault::OutOfRange(OutOfRange { field, value, count })),
    }
}

/// Shortens the user's text for a message.
fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(QUOTED_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}
