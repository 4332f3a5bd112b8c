//! Checks a stream of DRAM commands against the rules of a device.
//!
//! Of hostnet this crate knows the shape of a command and the numbers of a device, nothing of how the controller
//! decides: what both read in the same way they have not learned from each other.
//!
//! * [`Checker`] takes commands one by one and says which rule a command breaks ([`Violation`]).
//! * [`CommandReader`], [`write_header`] and [`write_record`] read and write command files.
//! * [`check_file`] does both.

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
pub use organisation::Outside;
pub use report::{check_file, CheckOptions, CheckReport, Found, RuleCount};
pub use rules::rule_names;
pub use violation::{Fault, Violation};
