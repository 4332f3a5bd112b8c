//! What a payload takes.

use crate::codec::Codec;
use crate::format::{CLASS_BYTES, GROUP, TAG_BYTES};

/// Floats whose classes are counted in 32 bits before the sums are added up.
const BLOCK: usize = 1 << 16;

/// How many floats of each class there are, and what they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Floats that take no bits, 8, 16 and 32 bits beside their tags.
    pub classes: [u64; 4],
}

impl Sizes {
    /// Floats in all.
    #[must_use]
    pub fn floats(&self) -> u64 {
        self.classes.iter().sum()
    }

    /// Bytes of the floats as they are.
    #[must_use]
    pub fn plain_bytes(&self) -> u64 {
        4 * self.floats()
    }

    /// Bytes of their payload, tags included.
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        let data: u64 = self.classes.iter().zip(CLASS_BYTES).map(|(&floats, bytes)| floats * bytes as u64).sum();
        TAG_BYTES as u64 * self.floats().div_ceil(GROUP as u64) + data
    }

    /// Bytes of the floats by those of their payload; 1 without floats.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.floats() == 0 {
            return 1.0;
        }
        self.plain_bytes() as f64 / self.payload_bytes() as f64
    }

    /// These floats and those.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut classes = self.classes;
        classes.iter_mut().zip(other.classes).for_each(|(count, more)| *count += more);
        Self { classes }
    }
}

impl Codec {
    /// What the payload of `values` takes.
    #[must_use]
    pub fn sizes(&self, values: &[f32]) -> Sizes {
        let mut sizes = Sizes::default();
        for block in values.chunks(BLOCK) {
            let mut at_least = [0_u32; 3];
            for value in block {
                let class = self.quantiser.class(value.to_bits());
                for (count, least) in at_least.iter_mut().zip(1..) {
                    *count += u32::from(class >= least);
                }
            }
            let [short, wide, full] = at_least.map(u64::from);
            let classes = [block.len() as u64 - short, short - wide, wide - full, full];
            sizes = sizes.and(Sizes { classes });
        }
        sizes
    }
}
