//! Command files: a header, then one command per line.

mod error;
mod reader;
mod writer;

use hostnet_model::memory::CommandKind;

pub use error::{FileError, FileFault};
pub use reader::CommandReader;
pub use writer::{write_header, write_record};

/// Header of a command file, its first line that is no comment.
pub const HEADER: &str = "clock,channel,command,rank,bank_group,bank,row,column";

/// Largest length of a line in bytes, without its line ending.
pub const LINE_BYTES_MAX: usize = 1024;

const FIELDS: usize = 8;

const MNEMONICS: [(&str, CommandKind); 9] = [
    ("ACT", CommandKind::Activate),
    ("RD", CommandKind::Read),
    ("RDA", CommandKind::ReadPrecharge),
    ("WR", CommandKind::Write),
    ("WRA", CommandKind::WritePrecharge),
    ("PRE", CommandKind::Precharge),
    ("PREA", CommandKind::PrechargeAll),
    ("REF", CommandKind::Refresh),
    ("REFSB", CommandKind::RefreshSameBank),
];

/// Returns the name of a command in files and messages.
pub fn mnemonic(kind: CommandKind) -> &'static str {
    match kind {
        CommandKind::Activate => "ACT",
        CommandKind::Read => "RD",
        CommandKind::ReadPrecharge => "RDA",
        CommandKind::Write => "WR",
        CommandKind::WritePrecharge => "WRA",
        CommandKind::Precharge => "PRE",
        CommandKind::PrechargeAll => "PREA",
        CommandKind::Refresh => "REF",
        CommandKind::RefreshSameBank => "REFSB",
    }
}

/// Returns true for each field after `command` that the command needs, in the order of the file.
fn needs(kind: CommandKind) -> [bool; 5] {
    match kind {
        CommandKind::Activate => [true, true, true, true, false],
        // A column access names no row: it goes to the open one.
        CommandKind::Read | CommandKind::ReadPrecharge | CommandKind::Write | CommandKind::WritePrecharge => {
            [true, true, true, false, true]
        }
        CommandKind::Precharge | CommandKind::RefreshSameBank => [true, true, true, false, false],
        CommandKind::PrechargeAll | CommandKind::Refresh => [true, false, false, false, false],
    }
}
