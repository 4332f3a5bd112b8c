//! The formats of access traces, and how they are recognized.

use super::super::fields::fields;
use super::super::parse::{digits_value, number};
use super::{drmemtrace, lackey};
use crate::Format;

/// Format of an access trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessFormat {
    /// Valgrind: `--tool=lackey --trace-mem=yes`.
    Lackey,
    /// DynamoRIO: the listing of drmemtrace's tool `view`.
    DrMemTrace,
    /// Ramulator, traces of a processor: `count address [address]`, i.e. the number of instructions before a load,
    /// its address, and the address of a store.
    RamulatorCpu,
    /// A trace of requests for a memory: lines without instructions.
    Memory(Format),
}

impl AccessFormat {
    /// All formats.
    pub const ALL: [Self; 6] = [
        Self::Lackey,
        Self::DrMemTrace,
        Self::RamulatorCpu,
        Self::Memory(Format::Ramulator),
        Self::Memory(Format::Ramulator1),
        Self::Memory(Format::DramSim3),
    ];

    /// Returns the name for users: `lackey`, `drmemtrace`, `ramulator-cpu`, or that of a format of requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lackey => "lackey",
            Self::DrMemTrace => "drmemtrace",
            Self::RamulatorCpu => "ramulator-cpu",
            Self::Memory(format) => format.name(),
        }
    }

    /// Returns the format with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Recognizes the format of a line.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        // Order matters: records of lackey and drmemtrace have marks of their own, the others only the types of fields.
        if lackey::is_record(line) {
            return Some(Self::Lackey);
        }
        if drmemtrace::is_listing(line) {
            return Some(Self::DrMemTrace);
        }
        let mut fields = fields(line);
        let (first, second) = (fields.next()?, fields.next()?);
        // Before the requests: `count address` has numbers only, and requests have a word as one of both fields.
        if digits_value::<10>(first).is_some() && number(second, false, "an address").is_ok() {
            return Some(Self::RamulatorCpu);
        }
        Format::of(line).map(Self::Memory)
    }
}
