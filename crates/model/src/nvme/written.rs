//! Lines that a drive writes, and bytes that it moves, as if nothing held it back, to fill the caches.

use super::{DriveJob, Ssd};
use hostnet_kernel::ComponentId;

/// Line that a drive writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenLine {
    /// Physical line.
    pub line: u64,
    /// Workload.
    pub class: u8,
    /// Core that reads the data afterwards, if one does.
    pub reader: Option<ComponentId>,
}

impl Ssd {
    /// Returns line number `number` that the drive writes to memory, counted from any start, when its jobs that read
    /// from it take turns. Returns nothing if no job reads.
    #[must_use]
    pub fn written_line(&self, number: u64) -> Option<WrittenLine> {
        let jobs = self.jobs.iter().filter(|job| job.params.reads > 0);
        let count = jobs.clone().count() as u64;
        let lines = self.lines_per_block()?;
        let block = number / lines;
        let job = jobs.clone().nth((block % count.max(1)) as usize)?;
        let own_lines = (job.params.block_bytes / 64).max(1);
        let slot = block / count % u64::from(job.params.io_depth);
        let address = job.base + slot * job.params.block_bytes + number % lines % own_lines * 64;
        let line = self.pages.physical(address) / 64;
        Some(WrittenLine { line, class: job.class, reader: job.consume.then_some(job.core) })
    }

    /// Returns the line that is read when line number `number` is written: that of the block before, if a core reads
    /// it.
    #[must_use]
    pub fn consumed_line(&self, number: u64) -> Option<WrittenLine> {
        let before = number.checked_sub(self.lines_per_block()?)?;
        self.written_line(before).filter(|written| written.reader.is_some())
    }

    /// Returns the bytes per second that the drive moves for jobs of a workload on a core as if nothing held it back,
    /// when its jobs take turns.
    #[must_use]
    pub fn bytes_per_s_for(&self, core: ComponentId, class: u8) -> u64 {
        let rate = |job: &DriveJob| {
            if job.params.reads > 0 {
                self.params.read_bytes_per_s
            } else {
                self.params.write_bytes_per_s
            }
        };
        let own = self.jobs.iter().filter(|job| (job.core, job.class) == (core, class));
        own.map(|job| rate(job) / self.jobs.len() as u64).sum()
    }

    fn lines_per_block(&self) -> Option<u64> {
        self.jobs.iter().map(|job| job.params.block_bytes / 64).max()
    }
}
