//! Checks a whole command file.

use std::io::BufRead;

use hostnet_model::params::DramParams;

use crate::checker::{keep_worst, Checker};
use crate::file::{CommandReader, FileError};
use crate::violation::Violation;

/// How to check a command file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// Number of controllers (channels x subchannels) if it is known.
    pub controllers: Option<u32>,
    /// Whether ranks have to be refreshed.
    pub refresh: bool,
    /// Whether to go on after the first violation and count them all.
    pub all: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions { controllers: None, refresh: true, all: false }
    }
}

/// What a command file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Commands that were checked.
    pub commands: u64,
    /// The highest clock of them.
    pub end_clock: u64,
    /// The first violation.
    pub first: Option<Found>,
    /// Violations by rule, in the order of their first occurrence. A command may break several rules; only the first
    /// command that does counts unless all were asked for.
    pub counts: Vec<RuleCount>,
}

/// A violation and its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Line of the command that breaks the rule, counted from 1; the last line for a refresh that is missing at the
    /// end.
    pub line: u64,
    /// The violation.
    pub violation: Violation,
}

/// How often a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleCount {
    /// Name of the rule.
    pub rule: &'static str,
    /// Violations of it.
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
/// What is wrong with the file, found before a violation that ends the check.
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
        let mut worst = None;
        checker.check_all(&record, &mut |violation| report.add(violation, &mut worst));
        report.first = report.first.or(worst.map(|violation| Found { line: reader.line(), violation }));
        if report.first.is_some() && !options.all {
            return Ok(report);
        }
    }
    let mut worst = None;
    checker.finish_all(report.end_clock, &mut |violation| report.add(violation, &mut worst));
    report.first = report.first.or(worst.map(|violation| Found { line: reader.line(), violation }));
    Ok(report)
}
