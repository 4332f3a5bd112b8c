//! Checks command files.

use crate::errors::{os_error, ConfigError};
use crate::memory::MemoryPlan;
use crate::supervise::{supervise, Describe, RunMonitor};
use hostnet_config::Code;
use hostnet_model::memory::CommandRecord;
use hostnet_model::params::Refresh;
use hostnet_timing_check::{check_file, write_record, CheckOptions, CheckReport, FileError, LocatedViolation};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;

/// Size of the read buffer, in bytes.
const PIECE_BYTES: usize = 1 << 18;

/// Result of the check of a command file.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct CommandCheck {
    report: CheckReport,
}

impl CommandCheck {
    fn found(&self) -> Option<&LocatedViolation> {
        self.report.first.as_ref()
    }
}

#[pymethods]
impl CommandCheck {
    /// True if no rule is broken.
    #[getter]
    fn clean(&self) -> bool {
        self.found().is_none()
    }

    /// Number of commands that were checked.
    #[getter]
    fn commands(&self) -> u64 {
        self.report.commands
    }

    /// Highest clock in the file.
    #[getter]
    fn end_clock(&self) -> u64 {
        self.report.end_clock
    }

    /// Line of the first command that breaks a rule, or None.
    #[getter]
    fn line(&self) -> Option<u64> {
        self.found().map(|found| found.line)
    }

    /// Name of the rule that this command breaks, or None.
    #[getter]
    fn rule(&self) -> Option<&'static str> {
        self.found().map(|found| found.violation.rule)
    }

    /// Clocks by which the command is too early, or a refresh too late; 0 for rules that are not about a distance.
    #[getter]
    fn missing_clocks(&self) -> Option<u64> {
        self.found().map(|found| found.violation.off_by_clocks)
    }

    /// Description of the two commands and of the rule, or None.
    #[getter]
    fn message(&self) -> Option<String> {
        self.found().map(|found| found.violation.to_string())
    }

    /// The two commands as lines of a command file, or None.
    #[getter]
    fn pair(&self) -> Option<(String, String)> {
        self.found().map(|found| (line_of(&found.violation.first), line_of(&found.violation.second)))
    }

    /// Violations by rule: with `all` those of the whole file, otherwise those of the first command that breaks a
    /// rule.
    #[getter]
    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.report.counts.iter().map(|count| (count.rule, count.violations)).collect()
    }

    fn __repr__(&self) -> String {
        match self.found() {
            None => format!("<CommandCheck of {} commands: clean>", self.report.commands),
            Some(found) => format!("<CommandCheck: line {}: {}>", found.line, found.violation),
        }
    }
}

fn line_of(record: &CommandRecord) -> String {
    let mut line = Vec::new();
    // Writing to a vector cannot fail.
    let _ = write_record(&mut line, record);
    String::from_utf8_lossy(&line).trim_end().to_owned()
}

enum Failure {
    Open(io::Error),
    File(FileError),
}

/// Checks a command file, plain or compressed, against the rules of a plan's device.
///
/// The check ends at the first violation. With `all` it covers the whole file and counts the violations.
#[pyfunction]
#[pyo3(signature = (path, plan, *, all=false, progress=None))]
pub(crate) fn check_commands(
    py: Python<'_>,
    path: PathBuf,
    plan: &MemoryPlan,
    all: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<CommandCheck> {
    let plan = &plan.plan;
    // Without refresh in the plan, its absence is no violation.
    let options = CheckOptions { controllers: None, refresh: plan.controller.refresh != Refresh::Off, all };
    let result = supervise(py, progress, |monitor| {
        let file = File::open(&path).map_err(Failure::Open)?;
        let size = file.metadata().map_or(0, |found| found.len());
        let text = hostnet_traffic::decoded(file).map_err(Failure::Open)?;
        let watched = Watched { text, monitor, size, read: 0 };
        check_file(BufReader::with_capacity(PIECE_BYTES, watched), &plan.dram, options).map_err(Failure::File)
    })?;
    let shown = path.display();
    match result {
        Ok(report) => Ok(CommandCheck { report }),
        Err(Failure::Open(error)) => Err(os_error(&error)),
        Err(Failure::File(FileError { line, fault })) => {
            let place = (shown.to_string(), line);
            let message = format!("{shown}:{line}: {fault}");
            Err(ConfigError::new_err((Code::MalformedFile.name(), message, place.0, place.1)))
        }
    }
}

/// Input text that reports how much of it was read, and fails when the user has stopped the check.
struct Watched<'a> {
    text: Box<dyn Read + Send>,
    monitor: &'a RunMonitor<Reading>,
    size: u64,
    read: u64,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.monitor.publish(Reading { read: self.read, size: self.size }) {
            return Err(io::Error::other("stopped"));
        }
        let read = self.text.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}

struct Reading {
    read: u64,
    size: u64,
}

impl Describe for Reading {
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()> {
        entries.set_item("phase", "check")?;
        entries.set_item("bytes", self.read)?;
        entries.set_item("progress", (self.read as f64 / self.size.max(1) as f64).min(1.0))
    }
}
