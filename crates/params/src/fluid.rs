//! Parameters of a fluid memory system, which serves rates instead of lines.

use serde::{Deserialize, Serialize};

/// Loads, in sixteenths of the largest rate of device writes, at which rates are measured. They are denser where
/// waiting times grow fast.
pub const FLUID_SHARES: [u32; 5] = [8, 12, 14, 15, 16];

/// One value for each load in [`FLUID_SHARES`].
pub type FluidRow = [u64; FLUID_SHARES.len()];

/// Measured rates of a memory system, found by simulating the server line by line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FluidParams {
    /// Rates by throttling of the host's other work: none first, then each control level, and stopped cores last.
    pub holds: Vec<FluidThrottleLevel>,
    /// Write buffer entries of the IIO, in lines.
    pub write_credits: u32,
    /// Lines that devices read at a time: read buffer entries of the IIO, or the non-posted credits of the link.
    pub read_credits: u32,
    /// Extra latency of a device's read over a core's read, in ps.
    pub read_more_ps: u64,
}

/// Rates of a memory system at one level of throttling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FluidThrottleLevel {
    /// Rates by the number of cores that copy, from 0.
    pub copying: Vec<FluidPoint>,
}

/// Rates of a memory system with a given number of copying cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FluidPoint {
    /// Largest rate of device writes, in bytes per second.
    pub drain_bytes_per_s: u64,
    /// Residence time of a line in the write buffer of the IIO, in ps.
    pub write_ps: FluidRow,
    /// Latency of a core's read, in ps.
    pub read_ps: FluidRow,
    /// Time per line of a copy, in 2^-10 ps.
    pub copy_ps: FluidRow,
    /// Per workload: rates of its reads from and writes to memory, in bytes per second; 0 for network workloads.
    pub workloads: Vec<[FluidRow; 2]>,
    /// With DDIO: lines that the network reads from memory per copied line, and lines that it writes to memory per
    /// line that devices write, in 2^-16. `None` = no caches.
    pub missed: Option<[FluidRow; 2]>,
}

impl FluidParams {
    /// Returns the lines in the write buffer when devices write at their largest rate, by Little's law. The result is
    /// below the number of entries where the link is at times slower than the memory side.
    #[must_use]
    pub fn lines_held(&self, point: &FluidPoint) -> u64 {
        let write_ps = u128::from(point.write_ps[FLUID_SHARES.len() - 1]);
        let held = u128::from(point.drain_bytes_per_s) * write_ps / 64 / 1_000_000_000_000;
        (held as u64).clamp(1, u64::from(self.write_credits).max(1))
    }
}

impl FluidPoint {
    /// Interpolates a row linearly at `share` of the drain rate, in units of 2^-16. Below the first known share the
    /// first value holds.
    #[must_use]
    pub fn at(row: &FluidRow, share: u32) -> u64 {
        let share = share.min(1 << 16);
        // Known shares are sixteenths, and `share` is in units of 2^-16.
        let upper = FLUID_SHARES.iter().position(|&known| known << 12 >= share).unwrap_or(FLUID_SHARES.len() - 1);
        if upper == 0 {
            return row[0];
        }
        let [low, high] = [FLUID_SHARES[upper - 1] << 12, FLUID_SHARES[upper] << 12];
        let weight = u128::from(share - low);
        let span = u128::from(high - low);
        let sum = u128::from(row[upper - 1]) * (span - weight) + u128::from(row[upper]) * weight;
        u64::try_from(sum / span).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROW: FluidRow = [200, 400, 400, 300, 1_000];

    #[test]
    fn a_known_share_has_its_value() {
        for (known, value) in FLUID_SHARES.into_iter().zip(ROW) {
            assert_eq!(FluidPoint::at(&ROW, known << 12), value, "{known}/16");
        }
        assert_eq!(FluidPoint::at(&ROW, 0), 200);
        assert_eq!(FluidPoint::at(&ROW, u32::MAX), 1_000);
    }

    #[test]
    fn between_two_shares_it_is_straight() {
        assert_eq!(FluidPoint::at(&ROW, 10 << 12), 300);
        assert_eq!(FluidPoint::at(&ROW, 29 << 11), 350);
    }

    proptest! {
        #[test]
        fn it_lies_between_its_neighbours(row: [u64; 5], share in 0_u32..=1 << 16) {
            let value = FluidPoint::at(&row, share);
            let upper = FLUID_SHARES.iter().position(|&known| known << 12 >= share).unwrap();
            let [low, high] = [row[upper.saturating_sub(1)], row[upper]];
            prop_assert!((low.min(high)..=low.max(high)).contains(&value));
        }
    }
}
