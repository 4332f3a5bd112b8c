//! The torus of a rack: the places of its chips, and the chips whose memory each accesses.

use serde::{Deserialize, Serialize};

/// A torus of chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Torus {
    /// Number of chips along each dimension.
    pub sides: [u16; 3],
    /// Pattern of the remote accesses.
    pub pattern: Pattern,
}

/// Pattern that selects the chip whose memory a chip of a rack reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pattern {
    /// Any other chip, at random.
    Uniform,
    /// A chip at a given number of hops, at random.
    Distance,
    /// Always the same chip at a given number of hops: ahead along the first dimension as far as possible, then along
    /// the others. Each chip is the target of only one other.
    Shift,
}

impl Torus {
    /// Returns the number of chips.
    #[must_use]
    pub fn chips(&self) -> u64 {
        self.sides.iter().map(|side| u64::from(*side)).product()
    }

    /// Returns the number of hops between the two chips that are farthest apart.
    #[must_use]
    pub fn diameter(&self) -> u32 {
        self.sides.iter().map(|side| u32::from(side / 2)).sum()
    }
}

/// Place of a chip in its rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Number of the chip.
    pub chip: u16,
    /// Number of chips along each dimension of the torus.
    pub sides: [u16; 3],
}

impl Place {
    /// Returns the number of chips of the rack.
    #[must_use]
    pub fn chips(&self) -> u16 {
        self.sides.iter().product()
    }

    /// Returns the coordinates of the chip.
    #[must_use]
    pub fn at(&self) -> [u16; 3] {
        let [x, y, _] = self.sides;
        [self.chip % x, self.chip / x % y, self.chip / x / y]
    }

    /// Returns the chips whose memory this chip reads and writes. `hops` applies to all patterns but the uniform one.
    pub(crate) fn targets(&self, pattern: Pattern, hops: u32) -> Vec<u16> {
        let others = (0..self.chips()).filter(|other| *other != self.chip);
        match pattern {
            Pattern::Uniform => others.collect(),
            Pattern::Distance => others.filter(|other| self.hops(*other) == hops).collect(),
            Pattern::Shift => self.ahead(hops).into_iter().collect(),
        }
    }

    /// Returns the chip `hops` hops ahead, if the torus is large enough.
    fn ahead(&self, hops: u32) -> Option<u16> {
        let (mut rest, mut left, mut unit, mut chip) = (self.chip, hops, 1, 0);
        for side in self.sides {
            // Beyond half way round the other direction would be shorter.
            let step = left.min(u32::from(side / 2));
            left -= step;
            chip += (rest % side + step as u16) % side * unit;
            rest /= side;
            unit *= side;
        }
        (left == 0 && hops > 0).then_some(chip)
    }

    /// Returns the number of hops to another chip, the shorter way around in each dimension.
    #[must_use]
    pub fn hops(&self, other: u16) -> u32 {
        let (mut one, mut other, mut hops) = (self.chip, other, 0);
        for side in self.sides {
            let ahead = (other % side + side - one % side) % side;
            // Packets go the shorter way around.
            hops += u32::from(ahead.min(side - ahead));
            one /= side;
            other /= side;
        }
        hops
    }
}
