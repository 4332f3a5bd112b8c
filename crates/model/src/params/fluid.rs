//! What a memory system gives to whom, as rates.

use serde::{Deserialize, Serialize};

/// Shares of the most that devices can write, in sixteenths, for which rates are known. Closer where waiting grows
/// fast.
pub const FLUID_SHARES: [u32; 5] = [8, 12, 14, 15, 16];

/// A value at each of [`FLUID_SHARES`].
pub type FluidRow = [u64; FLUID_SHARES.len()];

/// A memory system as rates, found by running the server line by line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FluidParams {
    /// By what holds the other work of the host back: nothing, the first level of control, and so on; last its stop.
    pub holds: Vec<FluidHold>,
    /// Write buffer entries of the IIO, in lines.
    pub write_credits: u32,
    /// Lines that devices read at a time: read buffer entries of the IIO, or what the link has credits for.
    pub read_credits: u32,
    /// What a read of a device takes longer than one of a core, in ps.
    pub read_more_ps: u64,
}

/// A memory system while its other work is held back in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FluidHold {
    /// By the number of cores that copy, from 0.
    pub copying: Vec<FluidPoint>,
}

/// A memory system with so many cores copying.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FluidPoint {
    /// Most bytes per second that devices write.
    pub drain_bytes_per_s: u64,
    /// How long a line stays in the write buffer of the IIO, in ps.
    pub write_ps: FluidRow,
    /// How long a core waits for a line that it reads, in ps.
    pub read_ps: FluidRow,
    /// Time of a line of a copy, in 2^-10 ps.
    pub copy_ps: FluidRow,
    /// Per workload: bytes per second that it reads from and writes to memory. Those of the network are 0.
    pub workloads: Vec<[FluidRow; 2]>,
    /// With DDIO: lines that the network reads from memory per line copied, and writes to it per line that devices
    /// write, in 2^-16. None = what is not in caches.
    pub missed: Option<[FluidRow; 2]>,
}

impl FluidParams {
    /// Lines in the write buffer when devices write all that they can, by Little's law: its entries, or less where the
    /// link is slower now and then than what takes the lines.
    #[must_use]
    pub fn lines_held(&self, point: &FluidPoint) -> u64 {
        let write_ps = u128::from(point.write_ps[FLUID_SHARES.len() - 1]);
        let held = u128::from(point.drain_bytes_per_s) * write_ps / 64 / 1_000_000_000_000;
        (held as u64).clamp(1, u64::from(self.write_credits).max(1))
    }
}

impl FluidPoint {
    /// What one of its rows has at `share` of the drain rate, in units of 2^-16; between the shares that are known,
    /// straight, and below the first as at the first.
    #[must_use]
    pub fn at(row: &FluidRow, share: u32) -> u64 {
        let share = share.min(1 << 16);
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
