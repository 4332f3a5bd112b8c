//! Sizes of payloads.

use crate::codec::Codec;
use crate::format::{CLASS_BYTES, GROUP, TAG_BYTES};

/// Floats that are counted with 32-bit counters before these are added to the totals.
const BLOCK: usize = 1 << 16;

/// Number of floats of each class, and their sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Floats that are encoded in 0, 8, 16 and 32 bits beside their tags.
    pub classes: [u64; 4],
}

impl Sizes {
    /// Returns the number of floats.
    #[must_use]
    pub fn floats(&self) -> u64 {
        self.classes.iter().sum()
    }

    /// Returns the uncompressed size of the floats, in bytes.
    #[must_use]
    pub fn plain_bytes(&self) -> u64 {
        4 * self.floats()
    }

    /// Returns the size of the payload, tags included, in bytes.
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        let data: u64 = self.classes.iter().zip(CLASS_BYTES).map(|(&floats, bytes)| floats * bytes as u64).sum();
        // A group that is not full has its two bytes of tags as well.
        TAG_BYTES as u64 * self.floats().div_ceil(GROUP as u64) + data
    }

    /// Returns the compression ratio, plain bytes over payload bytes; 1 without floats.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.floats() == 0 {
            return 1.0;
        }
        self.plain_bytes() as f64 / self.payload_bytes() as f64
    }

    /// Returns the sum of both sizes.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let mut classes = self.classes;
        classes.iter_mut().zip(other.classes).for_each(|(count, more)| *count += more);
        Self { classes }
    }
}

impl Codec {
    /// Computes the size of the payload of `values`.
    #[must_use]
    pub fn sizes(&self, values: &[f32]) -> Sizes {
        let mut sizes = Sizes::default();
        for block in values.chunks(BLOCK) {
            // Counts of thresholds instead of classes: comparisons only, without an index that depends on the data.
            let mut at_least = [0_u32; 3];
            for value in block {
                let class = self.quantiser.class(value.to_bits());
                for (count, least) in at_least.iter_mut().zip(1..) {
                    *count += u32::from(class >= least);
                }
            }
            let [short, wide, full] = at_least.map(u64::from);
            let classes = [block.len() as u64 - short, short - wide, wide - full, full];
            sizes = sizes.plus(Sizes { classes });
        }
        sizes
    }
}
