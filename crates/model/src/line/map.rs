//! Where a physical line lies: controller, bank, row and column.

use super::home::of_cluster;
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
    /// The clusters that the channels are shared out to, if there are several.
    clusters: Option<Clusters>,
}

/// Clusters with a share of the channels each: those of a cluster follow those of the one before.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Clusters {
    /// Channels of each.
    channels: u64,
    /// The first bit of the channel that is one of the cluster.
    first: u32,
    /// Bits that a line of a cluster lacks, in their order, each with the bit of the channel that it decides.
    lacking: Vec<(u32, u32)>,
}

impl Clusters {
    /// `count` clusters, a power of two; nothing where a bit of the channel does not depend on a bit of its own.
    fn new(map: &MapParams, count: u32) -> Option<Self> {
        let channels = u64::from(map.channels / count);
        if map.channel_bytes > 0 {
            return Some(Self { channels, first: 0, lacking: Vec::new() });
        }
        let first = map.channel.len().checked_sub(count.trailing_zeros() as usize)?;
        let masks = &map.channel[first..];
        let bit_of = |index: usize| {
            let others = masks.iter().enumerate().filter(|&(other, _)| other != index);
            let own = masks[index] & !others.fold(0, |all, (_, &mask)| all | mask);
            (own != 0).then(|| own.trailing_zeros() - LINE_BITS)
        };
        let decides = (map.subchannel.len() + first) as u32;
        let lacking = (0..masks.len()).map(|index| Some((bit_of(index)?, decides + index as u32)));
        let mut lacking = lacking.collect::<Option<Vec<_>>>()?;
        lacking.sort_unstable();
        Some(Self { channels, first: decides, lacking })
    }
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
        let (channels, subchannels) = (u64::from(map.channels), u64::from(dram.subchannels));
        Self { tables, channels, subchannels, turn_bits, clusters: None }
    }

    /// Whether the channels of a map can be shared out to `count` clusters.
    #[must_use]
    pub fn can_share(map: &MapParams, count: u32) -> bool {
        map.channels % count == 0 && Clusters::new(map, count).is_some()
    }

    /// Shares the channels out to `count` clusters, a power of two: each has as many, and as much memory.
    ///
    /// # Panics
    /// If that cannot be done.
    #[must_use]
    pub fn with_clusters(self, map: &MapParams, count: u32) -> Self {
        let clusters = (count > 1).then(|| Clusters::new(map, count).expect("the channels can be shared out"));
        Self { clusters, ..self }
    }

    fn entry(masks: &[(u64, u32)], byte: usize, value: u64) -> u64 {
        let address = value << (LINE_BITS as usize + 8 * byte);
        masks.iter().map(|&(mask, to)| u64::from((address & mask).count_ones() & 1) << to).fold(0, |all, bit| all | bit)
    }

    /// The place of line `line` (physical address / 64).
    #[must_use]
    #[inline]
    pub fn place(&self, line: u64) -> Place {
        if let Some(clusters) = &self.clusters {
            return self.place_in(clusters, line);
        }
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

    /// The same of a line of a cluster.
    fn place_in(&self, clusters: &Clusters, line: u64) -> Place {
        let (cluster, line) = of_cluster(line);
        if let Some(bits) = self.turn_bits {
            let (turn, within) = (line >> bits, line & ((1 << bits) - 1));
            let place = self.look_up((turn / clusters.channels) << bits | within);
            let channel = (cluster * clusters.channels + turn % clusters.channels) * self.subchannels;
            return Place { channel: place.channel + channel as u8, ..place };
        }
        let spread = |line: u64, &(bit, _): &(u32, u32)| line >> bit << (bit + 1) | line & ((1 << bit) - 1);
        let mut line = clusters.lacking.iter().fold(line, spread);
        let channel = u64::from(self.look_up(line).channel);
        for &(bit, decides) in &clusters.lacking {
            line ^= ((channel >> decides ^ cluster >> (decides - clusters.first)) & 1) << bit;
        }
        self.look_up(line)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::memory_of_cluster;
    use std::collections::BTreeSet;

    /// Four or six channels of two banks.
    fn map(channels: u32, channel: &[u64], channel_bytes: u64) -> MapParams {
        MapParams {
            channels,
            channel: channel.to_vec(),
            channel_bytes,
            subchannel: Vec::new(),
            rank: Vec::new(),
            bank_group: Vec::new(),
            bank: vec![1 << 9 | 1 << 12],
            column: vec![6, 7],
            row: vec![10, 11, 12, 13],
        }
    }

    #[test]
    fn a_cluster_has_its_channels_and_every_place_once() {
        let maps = [(map(4, &[1 << 8 | 1 << 11, 1 << 14 | 1 << 12], 0), 2), (map(4, &[1 << 8, 1 << 14], 0), 4)];
        let turn = |channels, bytes, row: &[u8]| MapParams { row: row.to_vec(), ..map(channels, &[], bytes) };
        let turns = [(turn(6, 256, &[8, 10, 11, 12, 13]), 2), (turn(4, 128, &[8, 10, 11, 12, 13]), 4)];
        for (map, clusters) in maps.into_iter().chain(turns) {
            assert!(Decoder::can_share(&map, clusters));
            let decoder = Decoder::new(&map, &dram(1, 1, 2, DDR4_2933)).with_clusters(&map, clusters);
            let each = map.channels / clusters;
            let lines = 1 << (map.column.len() + map.row.len() + map.bank.len());
            for cluster in 0..clusters {
                let base = memory_of_cluster(0, cluster as u8) / 64;
                let place = |line| decoder.place(base + line);
                let places: Vec<Place> = (0..lines * u64::from(each)).map(place).collect();
                let own = cluster * each..(cluster + 1) * each;
                assert!(places.iter().all(|place| own.contains(&u32::from(place.channel))), "{map:?}, {cluster}");
                let distinct: BTreeSet<_> =
                    places.iter().map(|place| (place.channel, place.bank, place.row, place.column)).collect();
                assert_eq!(distinct.len(), places.len(), "{map:?}, {cluster}: two lines at one place");
            }
        }
    }

    #[test]
    fn channels_that_hang_on_the_same_bits_cannot_be_shared_out() {
        assert!(!Decoder::can_share(&map(4, &[1 << 8 | 1 << 14, 1 << 8 | 1 << 14], 0), 4));
        assert!(!Decoder::can_share(&map(6, &[], 256), 4));
    }
}
