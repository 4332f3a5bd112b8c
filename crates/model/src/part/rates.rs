//! What others see of a memory that has rates instead of lines.

use super::Part;
use hostnet_kernel::Time;

/// A memory of rates.
pub(crate) trait Rates: Part {
    /// Core `core` copies `lines` lines from memory, from now on: how long it takes, in ps. The `first` lines of a copy
    /// wait for memory once, as nothing was asked for ahead. With DDIO what the caches miss is counted.
    fn copy(&mut self, core: u32, class: u8, lines: u64, first: bool, now: Time) -> u64;

    /// A core reads and writes so many lines, which are memory traffic unless there is DDIO.
    fn count(&mut self, class: u8, reads: u64, writes: u64);
}
