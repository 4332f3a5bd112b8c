//! Converts counts of lines and times per line to those of bursts.

use hostnet_model::params::{LineSize, PcieParams};

/// Lowest address bit that distinguishes lines.
pub(crate) const LINE_BITS: u32 = 6;

/// Converter from lines to bursts of several lines.
pub(crate) struct BurstConverter {
    /// Size of a burst.
    pub(crate) size: LineSize,
}

impl BurstConverter {
    /// Converts lines to the nearest number of bursts.
    pub(crate) fn round(&self, lines: u32) -> u32 {
        self.size.round(lines)
    }

    /// Converts lines to bursts, at least one.
    pub(crate) fn count(&self, lines: u32) -> u32 {
        self.size.count(lines)
    }

    pub(crate) fn bytes(&self, bytes: u64) -> u64 {
        self.size.shrink(bytes)
    }

    /// Converts bytes to a whole number of lines, at least one.
    pub(crate) fn lines_of(&self, bytes: u64) -> u64 {
        (self.bytes(bytes) >> LINE_BITS << LINE_BITS).max(1 << LINE_BITS)
    }

    pub(crate) fn time(&self, ps: u64) -> u64 {
        self.size.expand(ps)
    }

    pub(crate) fn pcie(&self, pcie: &PcieParams) -> PcieParams {
        let whole = |bytes: u32| self.lines_of(u64::from(bytes)) as u32;
        PcieParams {
            bytes_per_s: self.bytes(pcie.bytes_per_s),
            mps_bytes: whole(pcie.mps_bytes),
            mrrs_bytes: whole(pcie.mrrs_bytes),
            write_overhead_bytes: self.size.shrink(pcie.write_overhead_bytes),
            read_overhead_bytes: self.size.shrink(pcie.read_overhead_bytes),
            completion_overhead_bytes: self.size.shrink(pcie.completion_overhead_bytes),
            posted_lines: self.count(pcie.posted_lines),
            nonposted_lines: self.count(pcie.nonposted_lines),
            ..pcie.clone()
        }
    }
}
