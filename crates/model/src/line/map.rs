//! Where a physical line lies: controller, bank, row and column.

#[cfg(test)]
use crate::memory::timing_tests::{dram, DDR4_2933};
use crate::params::{DramParams, MapParams};
use serde::{Deserialize, Serialize};

/// Where a line lies; in memory as in the entries of the tables, so that it need not be put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C, align(8))]
pub struct Place {
    /// Row of the bank.
    pub row: u32,
    /// Bank of the subchannel: rank, bank group and bank in group, from the top.
    pub bank: u8,
    /// Controller: channel x subchannels + subchannel.
    pub channel: u8,
    /// Line of the row.
    pub column: u16,
}

const LINE_BITS: u32 = 6;
/// Where the parts of a place stand in an entry of the tables.
const BANK_AT: u32 = 32;
const CHANNEL_AT: u32 = 40;
const COLUMN_AT: u32 = 48;

/// The address map as tables: every bit of a place is a parity of address bits, so the place of an address is the
/// exclusive or of the places of its bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decoder {
    tables: Vec<u64>,
    channels: u64,
    subchannels: u64,
    /// Lines of a channel in one turn, as a power of two, when the number of channels is none.
    turn_bits: Option<u32>,
}

impl Decoder {
    /// The tables of `map` for channels like `dram`.
    ///
    /// # Panics
    /// If a subchannel has more than 64 banks, or the machine more than 256 controllers.
    #[must_use]
    pub fn new(map: &MapParams, dram: &DramParams) -> Self {
        assert!(dram.ranks * dram.bank_groups * dram.banks_per_group <= 64, "at most 64 banks per subchannel");
        assert!(map.channels * dram.subchannels <= 256, "at most 256 controllers");
        let mut masks: Vec<(u64, u32)> = Vec::new();
        let banks = map.bank.iter().chain(&map.bank_group).chain(&map.rank);
        masks.extend(banks.zip(BANK_AT..).map(|(&mask, to)| (mask, to)));
        masks.extend(map.subchannel.iter().chain(&map.channel).zip(CHANNEL_AT..).map(|(&mask, to)| (mask, to)));
        masks.extend(map.row.iter().zip(0..).map(|(&bit, to)| (1 << bit, to)));
        masks.extend(map.column.iter().zip(COLUMN_AT..).map(|(&bit, to)| (1 << bit, to)));
        let highest = masks.iter().map(|(mask, _)| 64 - mask.leading_zeros()).max().unwrap_or(0);
        let bytes = highest.saturating_sub(LINE_BITS).div_ceil(8) as usize;
        let tables = (0..bytes * 256).map(|index| Self::entry(&masks, index / 256, (index % 256) as u64)).collect();
        let turn_bits = (map.channel_bytes > 0).then(|| map.channel_bytes.trailing_zeros() - LINE_BITS);
        Self { tables, channels: u64::from(map.channels), subchannels: u64::from(dram.subchannels), turn_bits }
    }

    fn entry(masks: &[(u64, u32)], byte: usize, value: u64) -> u64 {
        let address = value << (LINE_BITS as usize + 8 * byte);
        masks.iter().map(|&(mask, to)| u64::from((address & mask).count_ones() & 1) << to).fold(0, |all, bit| all | bit)
    }

    /// The place of line `line` (physical address / 64).
    #[must_use]
    #[inline]
    pub fn place(&self, line: u64) -> Place {
        match self.turn_bits {
            None => self.look_up(line),
            Some(bits) => {
                let turn = line >> bits;
                let within = line & ((1 << bits) - 1);
                let place = self.look_up((turn / self.channels) << bits | within);
                let channel = (turn % self.channels) * self.subchannels;
                Place { channel: place.channel + channel as u8, ..place }
            }
        }
    }

    #[inline]
    fn look_up(&self, line: u64) -> Place {
        let tables = self.tables.chunks_exact(256).zip(line.to_le_bytes());
        let bits = tables.fold(0, |bits, (table, byte)| bits ^ table[usize::from(byte)]);
        Place {
            channel: (bits >> CHANNEL_AT) as u8,
            bank: (bits >> BANK_AT) as u8,
            column: (bits >> COLUMN_AT) as u16,
            row: bits as u32,
        }
    }

    /// Controllers of the machine.
    #[must_use]
    pub fn controllers(&self) -> u64 {
        self.channels * self.subchannels
    }
}

/// A channel of one bank, whose rows these bits of the address number.
#[cfg(test)]
pub(crate) fn one_bank(row: &[u8]) -> Decoder {
    let map = MapParams {
        channels: 1,
        channel: Vec::new(),
        channel_bytes: 0,
        subchannel: Vec::new(),
        rank: Vec::new(),
        bank_group: Vec::new(),
        bank: Vec::new(),
        column: Vec::new(),
        row: row.to_vec(),
    };
    Decoder::new(&map, &dram(1, 1, 1, DDR4_2933))
}
