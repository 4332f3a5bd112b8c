//! Interface of a fluid memory (rates instead of lines) to the other parts.

use super::Part;
use hostnet_kernel::Time;

/// Fluid memory, which serves copies at a rate.
pub(crate) trait CopyRates: Part {
    /// Begins a copy of `lines` lines from memory by core `core`, and returns how long it takes, in ps. `first` is
    /// true for the first lines of a copy, which also wait once for memory, because nothing was requested ahead of
    /// them. Where the rates were measured with DDIO, the misses of the copy are counted as memory traffic.
    fn copy(&mut self, core: u32, class: u8, lines: u64, first: bool, now: Time) -> u64;

    /// Counts lines that a core reads and writes as memory traffic. Rates that were measured with DDIO contain them
    /// already.
    fn count(&mut self, class: u8, reads: u64, writes: u64);
}
