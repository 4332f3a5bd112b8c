//! Checks whole command files.

use std::io::BufRead;

use hostnet_params::DramParams;

use crate::checker::{keep_worst, Checker};
use crate::file::{CommandReader, FileError};
use crate::violation::Violation;

/// Options of the check of a command file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// Number of controllers (channels x subchannels), if it is known.
    pub controllers: Option<u32>,
    /// True to report missing refreshes.
    pub refresh: bool,
    /// True to continue after the first violation and count all of them.
    pub all: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions { controllers: None, refresh: true, all: false }
    }
}

/// Result of the check of a command file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Number of commands that were checked.
    pub commands: u64,
    /// Highest clock of the checked commands.
    pub end_clock: u64,
    /// First violation, if there is any.
    pub first: Option<LocatedViolation>,
    /// Violations by rule, in the order of their first occurrence. A command may break several rules. Unless
    /// [`CheckOptions::all`] is set, the check ends at the first command that breaks any rule.
    pub counts: Vec<RuleCount>,
}

/// A violation with its line in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocatedViolation {
    /// Line of the command that breaks the rule, counted from 1; the last line for a refresh that is missing at the
    /// end.
    pub line: u64,
    /// The violation.
    pub violation: Violation,
}

/// Number of violations of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleCount {
    /// Name of the rule.
    pub rule: &'static str,
    /// Number of violations.
    pub violations: u64,
}

impl CheckReport {
    fn add(&mut self, violation: Violation, worst: &mut Option<Violation>) {
        match self.counts.iter_mut().find(|count| count.rule == violation.rule) {
            Some(count) => count.violations += 1,
            None => self.counts.push(RuleCount { rule: violation.rule, violations: 1 }),
        }
        keep_worst(worst, violation);
    }
}

/// Checks a command file to its end, or to the first violation. The stream ends with its highest clock.
///
/// # Errors
///
/// Returns the first error in the file, if it precedes a violation that ends the check.
pub fn check_file<R: BufRead>(input: R, dram: &DramParams, options: CheckOptions) -> Result<CheckReport, FileError> {
    let mut reader = CommandReader::new(input, dram, options.controllers)?;
    let mut checker = Checker::new(dram);
    if !options.refresh {
        checker = checker.without_refresh();
    }
    let mut report = CheckReport::default();
    while let Some(record) = reader.read()? {
        report.commands += 1;
        report.end_clock = report.end_clock.max(record.clock);
        // A command may break several rules: the one that would be named alone decides.
        let mut worst = None;
        checker.check_all(&record, &mut |violation| report.add(violation, &mut worst));
        report.first = report.first.or(worst.map(|violation| LocatedViolation { line: reader.line(), violation }));
        if report.first.is_some() && !options.all {
            return Ok(report);
        }
    }
    let mut worst = None;
    // The file ends with its highest clock, since controllers end at different ones.
    checker.finish_all(report.end_clock, &mut |violation| report.add(violation, &mut worst));
    report.first = report.first.or(worst.map(|violation| LocatedViolation { line: reader.line(), violation }));
    Ok(report)
}
