//! Parses a line of a trace: its fields, its numbers, and their rules.

use super::error::Fault;
use super::fields::fields;
use super::format::Format;
use crate::{Request, CLOCK_MAX, LINE_BYTES};

/// Parser of a trace, with the limits that the next line must obey.
pub(super) struct Parser {
    format: Format,
    capacity_bytes: u64,
    /// Clock of the last request.
    clock: u64,
}

impl Parser {
    pub(super) fn new(format: Format, capacity_bytes: u64) -> Self {
        Self { format, capacity_bytes, clock: 0 }
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// Parses the request of a line. Returns `None` if the line has none.
    #[inline]
    pub(super) fn parse(&mut self, line: &[u8]) -> Result<Option<Request>, Fault> {
        let mut fields = fields(line);
        let Some(first) = fields.next() else {
            return is_empty(line).map(|_| None);
        };
        let (word, address) = match self.format {
            Format::Ramulator => (first, fields.next().ok_or_else(|| missing(line, "the address"))?),
            Format::Ramulator1 | Format::DramSim3 => {
                (fields.next().ok_or_else(|| missing(line, self.format.words()))?, first)
            }
        };
        let write = self.write(word)?;
        let line_address = self.line_address(address)?;
        if self.format.timed() {
            self.advance(fields.next().ok_or_else(|| missing(line, "the cycle"))?)?;
        }
        match fields.next() {
            Some(extra) => Err(Fault::value(extra, "is one field too many")),
            None if !fields.rest().is_empty() => comment(fields.rest()),
            None => Ok(()),
        }?;
        Ok(Some(Request { clock: self.clock, line: line_address, write, source: 0 }))
    }

    #[inline]
    fn write(&self, word: &[u8]) -> Result<bool, Fault> {
        self.format.is_write(word).ok_or_else(|| Fault::value(word, &format!("must be {}", self.format.words())))
    }

    #[inline]
    fn line_address(&self, text: &[u8]) -> Result<u64, Fault> {
        let address = number(text, matches!(self.format, Format::DramSim3), "an address")?;
        if address >= self.capacity_bytes {
            return Err(beyond(text, self.capacity_bytes));
        }
        Ok(address / LINE_BYTES)
    }

    #[inline]
    fn advance(&mut self, text: &[u8]) -> Result<(), Fault> {
        let clock = number(text, false, "a cycle")?;
        // Both errors are told apart in `wrong_time`, which is off the fast path.
        if clock < self.clock || clock > CLOCK_MAX {
            return Err(wrong_time(text, clock, self.clock));
        }
        self.clock = clock;
        Ok(())
    }
}

/// Returns true if a line has no request.
///
/// # Errors
/// Fails if the comment of the line is not UTF-8.
pub(super) fn is_empty(line: &[u8]) -> Result<bool, Fault> {
    let mut fields = fields(line);
    if fields.next().is_some() {
        return Ok(false);
    }
    comment(fields.rest()).map(|()| true)
}

fn comment(text: &[u8]) -> Result<(), Fault> {
    std::str::from_utf8(text).map(|_| ()).map_err(|_| Fault::not_text(text))
}

/// Parses a number: hexadecimal with `0x`, or always if `hexadecimal` is true; else decimal.
#[inline]
pub(super) fn number(text: &[u8], hexadecimal: bool, what: &str) -> Result<u64, Fault> {
    let value = match text {
        [b'0', b'x' | b'X', digits @ ..] => digits_value::<16>(digits),
        _ if hexadecimal => digits_value::<16>(text),
        _ => digits_value::<10>(text),
    };
    value.ok_or_else(|| not_a_number(text, hexadecimal, what))
}

/// Parses digits. Returns `None` if there are none, other characters, or more than 64 bits.
#[inline]
pub(super) fn digits_value<const BASE: u64>(digits: &[u8]) -> Option<u64> {
    /// Number of digits that cannot overflow 64 bits in base 10 or 16.
    const DIGITS_SAFE: usize = 16;
    if digits.len() > DIGITS_SAFE {
        return long_value::<BASE>(digits);
    }
    let mut value = 0;
    let mut valid = !digits.is_empty();
    for byte in digits {
        let digit = digit_value(*byte);
        valid &= digit < BASE;
        // No branch per digit: an invalid one is masked, and `valid` remembers it.
        value = value * BASE + (digit & 15);
    }
    valid.then_some(value)
}

#[cold]
fn long_value<const BASE: u64>(digits: &[u8]) -> Option<u64> {
    digits
        .iter()
        .map(|byte| digit_value(*byte))
        .try_fold(0u64, |value, digit| value.checked_mul(BASE)?.checked_add(digit).filter(|_| digit < BASE))
}

#[inline]
fn digit_value(byte: u8) -> u64 {
    u64::from(DIGIT_VALUES[usize::from(byte)])
}

/// Values of hexadecimal digits; 255 for all other characters.
static DIGIT_VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut digit = 0;
    while digit < 16 {
        values[b"0123456789abcdef"[digit as usize] as usize] = digit;
        values[b"0123456789ABCDEF"[digit as usize] as usize] = digit;
        digit += 1;
    }
    values
};

#[cold]
pub(super) fn missing(line: &[u8], what: &str) -> Fault {
    Fault::value(line.trim_ascii(), &format!("lacks a field: {what}"))
}

#[cold]
pub(super) fn not_a_number(text: &[u8], hexadecimal: bool, what: &str) -> Fault {
    let (prefixed, digits) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (true, digits),
        _ => (false, text),
    };
    let base = if prefixed || hexadecimal { 16 } else { 10 };
    if !digits.is_empty() && digits.iter().all(|digit| digit_value(*digit) < base) {
        return Fault::value(text, &format!("is too large for {what}: the largest is 2^64 - 1"));
    }
    let spelling = if hexadecimal { "hexadecimal, with or without 0x" } else { "decimal, or hexadecimal with 0x" };
    Fault::value(text, &format!("is not {what}: it must be {spelling}"))
}

#[cold]
fn beyond(text: &[u8], capacity_bytes: u64) -> Fault {
    Fault::value(text, &format!("lies beyond the memory of {capacity_bytes} bytes ({capacity_bytes:#x})"))
}

#[cold]
fn wrong_time(text: &[u8], clock: u64, last: u64) -> Fault {
    if clock < last {
        return Fault::value(text, &format!("goes back in time: the cycle before was {last}"));
    }
    Fault::value(text, &format!("is too late: the last cycle of a run is {CLOCK_MAX}"))
}
