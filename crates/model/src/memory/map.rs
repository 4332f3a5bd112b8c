//! Where a physical line lies: channel, bank and row.

use crate::params::{DramParams, MapParams};
use serde::{Deserialize, Serialize};

/// Where a line lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Channel.
    pub channel: u8,
    /// Bank of the channel: rank, bank group and bank in group, from the top.
    pub bank: u8,
    /// Row of the bank.
    pub row: u32,
}

const BYTES: usize = 6;

/// The address map as tables: every bit of a place is a parity of address bits, so the place of an address is the
/// exclusive or of the places of its bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decoder {
    tables: Vec<u64>,
    channels: u64,
}

impl Decoder {
    /// The tables of `map` for channels like `dram`.
    ///
    /// # Panics
    /// If a channel has more than 64 banks or an address more than 54 bits.
    #[must_use]
    pub fn new(map: &MapParams, dram: &DramParams) -> Self {
        assert!(dram.ranks * dram.bank_groups * dram.banks_per_group <= 64, "at most 64 banks per channel");
        let mut masks: Vec<(u64, u32)> = Vec::new();
        let selectors = map.bank.iter().chain(&map.bank_group).chain(&map.rank);
        masks.extend(selectors.zip(32..).map(|(&mask, to)| (mask, to)));
        masks.extend(map.channel.iter().zip(40..).map(|(&mask, to)| (mask, to)));
        masks.extend(map.row.iter().zip(0..).map(|(&bit, to)| (1 << bit, to)));
        let tables = (0..BYTES * 256).map(|index| Self::entry(&masks, index / 256, (index % 256) as u64)).collect();
        Self { tables, channels: u64::from(map.channels) }
    }

    fn entry(masks: &[(u64, u32)], byte: usize, value: u64) -> u64 {
        let address = value << (6 + 8 * byte);
        masks.iter().map(|&(mask, to)| u64::from((address & mask).count_ones() & 1) << to).fold(0, |all, bit| all | bit)
    }

    /// The place of line `line` (physical address / 64).
    #[must_use]
    #[inline]
    pub fn place(&self, line: u64) -> Place {
        let mut bits = 0;
        for byte in 0..BYTES {
            bits ^= self.tables[byte * 256 + ((line >> (8 * byte)) & 255) as usize];
        }
        Place { channel: (bits >> 40) as u8, bank: ((bits >> 32) & 255) as u8, row: bits as u32 }
    }

    /// Channels of the machine.
    #[must_use]
    pub fn channels(&self) -> u64 {
        self.channels
    }
}
