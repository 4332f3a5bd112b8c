//! Reads traces of valgrind's lackey: one instruction or access per line.
//!
//! A line is `I  address,size`, ` L address,size`, ` S address,size` or ` M address,size`: an instruction, a load, a
//! store, or a load and a store of the same address. Addresses are hexadecimal with at least 8 digits; sizes are
//! decimal.

use super::super::error::Fault;
use super::super::fields::is_blank;
use super::super::lines::Lines;
use super::super::parse::{digits_value, not_a_number};
use super::{check_end, refuse_open, size, Access};

/// Bytes that the fast path examines at a time; its longest line has 22: 3 + 15 digits, a comma, 2 digits, the end.
const WINDOW_BYTES: usize = 32;
/// Offset of the address in a line.
const ADDRESS_AT: usize = 3;

#[derive(Default)]
pub(super) struct Lackey {
    /// Instructions since the last access.
    instructions: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Instruction,
    Load,
    Store,
}

struct Record {
    kind: Kind,
    address: u64,
    size: u32,
}

impl Lackey {
    #[inline]
    pub(super) fn next(&mut self, lines: &mut Lines) -> Result<Option<Access>, Fault> {
        loop {
            if let Some(access) = self.quick(lines) {
                return Ok(Some(access));
            }
            // Rare lines, and those across the end of the buffer, take the full parser.
            let Some(line) = lines.next()? else { return Ok(None) };
            let record = parse(line)?;
            refuse_open(lines)?;
            if let Some(access) = record.and_then(|record| self.take(&record)) {
                return Ok(Some(access));
            }
        }
    }

    /// Reads lines in the common layout until an access. Returns `None` at a line that needs the full parser.
    #[inline]
    fn quick(&mut self, lines: &mut Lines) -> Option<Access> {
        let bytes = lines.buffered();
        let (mut at, mut count) = (0, 0);
        let mut access = None;
        while let Some(window) = bytes[at..].first_chunk() {
            let Some((record, length)) = quick_record(window) else { break };
            at += length;
            count += 1;
            access = self.take(&record);
            if access.is_some() {
                break;
            }
        }
        lines.pass(at, count);
        access
    }

    #[inline]
    fn take(&mut self, record: &Record) -> Option<Access> {
        if record.kind == Kind::Instruction {
            self.instructions = self.instructions.saturating_add(1);
            return None;
        }
        // Instructions belong to the first access after them; a second access of an instruction has none.
        let instructions_before = std::mem::take(&mut self.instructions);
        let store = record.kind == Kind::Store;
        Some(Access { address: record.address, thread: 0, size: record.size, instructions_before, store })
    }
}

/// Returns true if a line looks like an instruction or an access.
pub(super) fn is_record(line: &[u8]) -> bool {
    kind(line).is_some() && line.contains(&b',')
}

/// Returns true if a line is a remark of valgrind: `==1234== text`, `--1234-- text` or `**1234** text`.
pub(super) fn is_remark(line: &[u8]) -> bool {
    [b"==", b"--", b"**"].into_iter().any(|mark| line.starts_with(mark))
}

fn kind(line: &[u8]) -> Option<Kind> {
    match line {
        [b'I', b' ', b' ', ..] => Some(Kind::Instruction),
        [b' ', b'L', b' ', ..] => Some(Kind::Load),
        // M loads and stores one place: a store, as the line must become dirty.
        [b' ', b'S' | b'M', b' ', ..] => Some(Kind::Store),
        _ => None,
    }
}

/// Parses any line. Returns `None` if it has no record.
#[cold]
fn parse(line: &[u8]) -> Result<Option<Record>, Fault> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.iter().all(|byte| is_blank(*byte)) || is_remark(line) || line.starts_with(b"#") {
        return std::str::from_utf8(line).map(|_| None).map_err(|_| Fault::not_text(line));
    }
    let Some(kind) = kind(line) else {
        let rule =
            "is no record of lackey: a line is \"I  address,size\", \" L address,size\", \" S ...\" or \" M ...\"";
        return Err(Fault::value(line, rule));
    };
    let text = &line[ADDRESS_AT..];
    let Some(comma) = memchr::memchr(b',', text) else {
        return Err(Fault::value(text, "lacks a field: address and size with a comma between them"));
    };
    let (text, bytes) = (&text[..comma], size(&text[comma + 1..])?);
    let address = digits_value::<16>(text).ok_or_else(|| not_a_number(text, true, "an address"))?;
    check_end(text, address, bytes)?;
    Ok(Some(Record { kind, address, size: bytes }))
}

/// Parses a record with an address of 8 to 15 digits and a size of one or two. Returns it with the length of its line
/// including the line ending.
#[inline]
fn quick_record(window: &[u8; WINDOW_BYTES]) -> Option<(Record, usize)> {
    let kind = kind(window)?;
    let rest = word(window, ADDRESS_AT + 8);
    // XOR makes the comma, and only the comma, a zero byte.
    let digits = first_zero(rest ^ (u64::from(b',') * ONES))?;
    let mut address = hexadecimal(word(window, ADDRESS_AT))?;
    if digits > 0 {
        // The remaining digits, preceded by as many zeros as make eight digits.
        let eight = rest << (64 - 8 * digits) | (u64::from(b'0') * ONES) >> (8 * digits);
        address = address << (4 * digits) | hexadecimal(eight)?;
    }
    let comma = ADDRESS_AT + 8 + digits;
    let digit = |at: usize| Some(u32::from(window[comma + at]).wrapping_sub(48)).filter(|digit| *digit < 10);
    let (size, length) = match (digit(1)?, window[comma + 2]) {
        // Sizes with a leading zero, and 0 itself, are for the full parser and its errors.
        (0, _) => return None,
        (size, b'\n') => (size, 3),
        (tens, _) if window[comma + 3] == b'\n' => (10 * tens + digit(2)?, 4),
        _ => return None,
    };
    Some((Record { kind, address, size }, comma + length))
}

const ONES: u64 = 0x0101_0101_0101_0101;
const TOP_BITS: u64 = 0x8080_8080_8080_8080;

/// Loads eight characters, the first in the lowest byte.
#[inline]
fn word(window: &[u8; WINDOW_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| window[at + byte]))
}

/// Returns the index of the first byte that is zero.
#[inline]
fn first_zero(word: u64) -> Option<usize> {
    // The lowest bit set is exact; those above it may be carries.
    let zeros = word.wrapping_sub(ONES) & !word & TOP_BITS;
    (zeros != 0).then(|| zeros.trailing_zeros() as usize / 8)
}

/// Returns the value of eight hexadecimal digits.
#[inline]
fn hexadecimal(text: u64) -> Option<u64> {
    // The sum has its top bit set if a byte below 0x80 is at least the limit.
    let at_least = |word: u64, limit: u8| word + u64::from(0x80 - limit) * ONES;
    let ascii = text & !TOP_BITS;
    let lower = ascii | (u64::from(b'a' - b'A') * ONES);
    let digits = at_least(ascii, b'0') & !at_least(ascii, b'9' + 1);
    let letters = at_least(lower, b'a') & !at_least(lower, b'f' + 1);
    if (digits | letters) & !text & TOP_BITS != TOP_BITS {
        return None;
    }
    // The low bits of a letter count from 1, and bit 6 is set for letters only.
    let values = (text & (0x0f * ONES)) + 9 * (text >> 6 & ONES);
    let pairs = (values << 4 | values >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs << 8 | pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some(((fours << 16) | (fours >> 32)) & 0xffff_ffff)
}
