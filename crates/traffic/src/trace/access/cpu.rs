//! Reads Ramulator's traces of a processor: instructions, the address of a load, and that of a store on the same
//! line.

use super::super::error::Fault;
use super::super::fields::fields;
use super::super::lines::Lines;
use super::super::parse::{self, digits_value, missing, not_a_number, number};
use super::Access;
use crate::LINE_BYTES;

#[derive(Default)]
pub(super) struct RamulatorCpu {
    /// Address of the store on the line that was read last, if not yet returned.
    store: Option<u64>,
}

impl RamulatorCpu {
    pub(super) fn next(&mut self, lines: &mut Lines) -> Result<Option<Access>, Fault> {
        if let Some(address) = self.store.take() {
            // The store of the line before: its instructions were counted with the load.
            return Ok(Some(access(address, 0, true)));
        }
        while let Some(line) = lines.next()? {
            if parse::is_empty(line)? {
                continue;
            }
            let (instructions, load, store) = parse(line)?;
            self.store = store;
            return Ok(Some(access(load, instructions, false)));
        }
        Ok(None)
    }
}

fn access(address: u64, instructions_before: u32, store: bool) -> Access {
    let line = address / LINE_BYTES * LINE_BYTES;
    Access { address: line, thread: 0, size: LINE_BYTES as u32, instructions_before, store }
}

/// Parses a line. Returns the instructions including the load, the address of the load, and that of the store if
/// there is one.
fn parse(line: &[u8]) -> Result<(u32, u64, Option<u64>), Fault> {
    let mut fields = fields(line);
    let count = fields.next().unwrap_or_default();
    let others = digits_value::<10>(count).ok_or_else(|| not_a_number(count, false, "a number of instructions"))?;
    // The load is an instruction itself, beside those that the line counts (docs/traffic.md).
    let instructions = u32::try_from(others).ok().and_then(|others| others.checked_add(1)).ok_or_else(|| {
        Fault::value(count, &format!("is too large for a number of instructions: the largest is {}", u32::MAX - 1))
    })?;
    let load = number(fields.next().ok_or_else(|| missing(line, "the address"))?, false, "an address")?;
    let store = fields.next().map(|text| number(text, false, "an address")).transpose()?;
    if let Some(extra) = fields.next() {
        return Err(Fault::value(extra, "is one field too many"));
    }
    Ok((instructions, load, store))
}
