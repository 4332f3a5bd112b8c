//! Checks a stream of DRAM commands against the rules of a device, independently of the controller.
//!
//! The crate shares with the rest of hostnet only the format of a command and the numbers of a device. It does not
//! use the logic of the controller, so that the two implement the rules independently of each other.
//!
//! * [`Checker`] takes commands one by one and reports the rule that a command breaks as a [`Violation`].
//! * [`CommandReader`], [`write_header`] and [`write_record`] read and write command files.
//! * [`check_file`] reads and checks a whole file.

mod channel;
mod checker;
mod file;
mod history;
mod organisation;
mod refresh;
mod report;
mod rules;
mod violation;

pub use checker::{Checker, CONTROLLERS_MAX};
pub use file::{mnemonic, write_header, write_record, CommandReader, FileError, FileFault, HEADER, LINE_BYTES_MAX};
pub use organisation::OutOfRange;
pub use report::{check_file, CheckOptions, CheckReport, LocatedViolation, RuleCount};
pub use rules::rule_names;
pub use violation::{Fault, Violation};
