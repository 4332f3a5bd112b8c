//! Writes command files during a run.

use crate::output::Output;
use hostnet_model::memory::CommandRecord;
use hostnet_timing_check::{write_header, write_record};
use std::io;
use std::path::Path;

/// An open command file.
pub(crate) struct CommandFile(Output);

impl CommandFile {
    /// Creates the file and writes its header.
    pub(crate) fn create(path: &Path, compression: &str) -> io::Result<Self> {
        let mut output = Output::create(path, compression)?;
        write_header(&mut output)?;
        Ok(Self(output))
    }

    /// Appends a command.
    pub(crate) fn write(&mut self, record: &CommandRecord) -> io::Result<()> {
        write_record(&mut self.0, record)
    }

    /// Writes all buffered data and ends the file.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.0.finish()
    }
}
