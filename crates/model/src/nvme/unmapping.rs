//! Unmapping of the buffers of a drive, where an IOMMU translates its addresses.

use super::command::Command;
use super::Ssd;
use crate::part::{Context, Payload};

impl Ssd {
    /// Makes the kernel unmap the buffer of every command that ends, which takes `unmap_ps` of the core per request.
    #[must_use]
    pub fn with_unmapping(self, unmap_ps: u64) -> Self {
        Self { unmap_ps: Some(u32::try_from(unmap_ps).unwrap_or(u32::MAX)), ..self }
    }

    /// Lets the IOMMU forget the buffer of a command, if there is one.
    pub(super) fn unmap(&self, command: &Command, context: &mut Context) {
        if self.unmap_ps.is_none() {
            return;
        }
        let lines = (self.jobs[usize::from(command.job)].params.block_bytes / 64) as u32;
        let buffer = Payload::Unmap { line: command.address / 64 - u64::from(lines), lines };
        for (iio, latency_ps) in self.ports.iios() {
            // A round trip later, when the last TLP of the command has surely arrived.
            context.send(iio, (2 * latency_ps).max(1), buffer);
        }
    }
}
