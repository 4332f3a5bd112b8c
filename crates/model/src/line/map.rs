//! Address map: from a physical line to its controller, bank, row and column.

use super::number::of_cluster;
use crate::params::{ClusterMap, DramParams, MapParams, LINE_BITS};
use serde::{Deserialize, Serialize};

/// Location of a line. The layout is that of the entries of the tables, so that no conversion is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C, align(8))]
pub struct DramAddress {
    /// Row of the bank.
    pub row: u32,
    /// Bank of the subchannel: rank, bank group and bank in the group, from the top bit.
    pub bank: u8,
    /// Controller: channel x subchannels + subchannel.
    pub channel: u8,
    /// Line of the row.
    pub column: u16,
}

/// First bit of the bank in an entry of the tables.
const BANK_AT: u32 = 32;
/// First bit of the channel in an entry of the tables.
const CHANNEL_AT: u32 = 40;
/// First bit of the column in an entry of the tables.
const COLUMN_AT: u32 = 48;

/// Address map as tables. Every bit of a place is a parity of address bits, so the place of an address is the
/// exclusive or of the places of its bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decoder {
    tables: Vec<u64>,
    channels: u64,
    subchannels: u64,
    /// Consecutive lines of one channel, as a power of two, where channels take turns because their number is no power
    /// of two.
    interleave_bits: Option<u32>,
    /// Clusters that the channels are divided among, if there are several.
    clusters: Option<ClusterMap>,
}

impl Decoder {
    /// Builds the tables of `map` for channels like `dram`.
    ///
    /// # Panics
    /// Panics if a subchannel has more than 64 banks, or the machine more than 256 controllers.
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
        // A table of 256 entries per byte of the line number.
        let bytes = highest.saturating_sub(LINE_BITS).div_ceil(8) as usize;
        let tables = (0..bytes * 256).map(|index| Self::entry(&masks, index / 256, (index % 256) as u64)).collect();
        let interleave_bits = (map.channel_bytes > 0).then(|| map.channel_bytes.trailing_zeros() - LINE_BITS);
        let (channels, subchannels) = (u64::from(map.channels), u64::from(dram.subchannels));
        Self { tables, channels, subchannels, interleave_bits, clusters: None }
    }

    /// Divides the channels among `count` clusters, a power of two. Each cluster has the same number of channels and
    /// as much memory.
    ///
    /// # Panics
    /// Panics if the channels cannot be divided so.
    #[must_use]
    pub fn with_clusters(self, map: &MapParams, count: u32) -> Self {
        let clusters = (count > 1).then(|| map.cluster_map(count).expect("the channels can be shared out"));
        Self { clusters, ..self }
    }

    /// Returns the table entry for `value` in byte `byte` of a line number.
    fn entry(masks: &[(u64, u32)], byte: usize, value: u64) -> u64 {
        let address = value << (LINE_BITS as usize + 8 * byte);
        masks.iter().map(|&(mask, to)| u64::from((address & mask).count_ones() & 1) << to).fold(0, |all, bit| all | bit)
    }

    /// Returns the place of line `line` (physical address / 64).
    #[must_use]
    #[inline]
    pub fn place(&self, line: u64) -> DramAddress {
        if let Some(clusters) = &self.clusters {
            return self.place_in(clusters, line);
        }
        match self.interleave_bits {
            None => self.look_up(line),
            Some(bits) => {
                let turn = line >> bits;
                let within = line & ((1 << bits) - 1);
                // Lines of one channel are numbered without those of the others.
                let place = self.look_up((turn / self.channels) << bits | within);
                let channel = (turn % self.channels) * self.subchannels;
                DramAddress { channel: place.channel + channel as u8, ..place }
            }
        }
    }

    /// Returns the place of a line of a machine with clusters.
    fn place_in(&self, clusters: &ClusterMap, line: u64) -> DramAddress {
        let (cluster, line) = of_cluster(line);
        if let Some(bits) = self.interleave_bits {
            let (turn, within) = (line >> bits, line & ((1 << bits) - 1));
            let place = self.look_up((turn / clusters.channels) << bits | within);
            let channel = (cluster * clusters.channels + turn % clusters.channels) * self.subchannels;
            return DramAddress { channel: place.channel + channel as u8, ..place };
        }
        // Inserts the lacking bits as 0, then sets those that make the channel one of the cluster.
        let spread = |line: u64, &(bit, _): &(u32, u32)| line >> bit << (bit + 1) | line & ((1 << bit) - 1);
        let mut line = clusters.lacking.iter().fold(line, spread);
        let channel = u64::from(self.look_up(line).channel);
        for &(bit, decides) in &clusters.lacking {
            line ^= ((channel >> decides ^ cluster >> (decides - clusters.first)) & 1) << bit;
        }
        self.look_up(line)
    }

    #[inline]
    fn look_up(&self, line: u64) -> DramAddress {
        let tables = self.tables.chunks_exact(256).zip(line.to_le_bytes());
        let bits = tables.fold(0, |bits, (table, byte)| bits ^ table[usize::from(byte)]);
        DramAddress {
            channel: (bits >> CHANNEL_AT) as u8,
            bank: (bits >> BANK_AT) as u8,
            column: (bits >> COLUMN_AT) as u16,
            row: bits as u32,
        }
    }

    /// Returns the number of controllers of the machine.
    #[must_use]
    pub fn controllers(&self) -> u64 {
        self.channels * self.subchannels
    }
}
