//! Keys and parameters of the memory: channels, address map and pages.

use super::controller::{ControllerSpec, MemoryControllerParams};
use super::dram::{DramParams, DramSpec};
use super::line_size::LINE_BITS;
use super::values::{MemorySize, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory of the socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemorySpec {
    /// Number of memory channels, not only powers of two; the two subchannels of a DDR5 DIMM count as one channel.
    #[schemars(range(min = 1, max = 64))]
    pub channels: u32,
    /// DRAM device on every channel: its name, or the path of a file such as "./my.toml", relative to the
    /// configuration. It sets the values of `memory.dram`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Profile of the controller: its name, or the path of a file. It sets the values of `memory.controller`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// DRAM of one channel; values set here override the device.
    pub dram: DramSpec,
    /// Memory in use (size), or "all" for the full capacity of the channels.
    #[schemars(extend("x-min" = "64 KiB", "x-max" = "64 TiB"))]
    pub size: MemorySize,
    /// Size of a page (size): "4 KiB", "2 MiB" or "1 GiB".
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 GiB", "x-power-of-two" = true))]
    pub page: Size,
    /// Size of the physically contiguous runs of a buffer (size), at least a page; a power of two. When absent, that of
    /// the preset, or a page if a page is larger.
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 TiB", "x-power-of-two" = true))]
    pub run: Size,
    /// Address map from physical lines to DRAM: "intel", "A", "B" or "C", an order of fields such as "RoBaRaCoCh", a
    /// list of fields such as "bg co ba ra ro", or a table with the address bits of each selector.
    pub map: MapSpec,
    /// Controller of every channel, or of every subchannel; values set here override the profile.
    pub controller: ControllerSpec,
}

/// Address map from physical lines to DRAM: a named map, a list of fields, or the address bits of each selector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MapSpec {
    /// "intel" (two bank bits and the channel inside the page, the rest hashed); an order of plain bit fields from the
    /// highest to the lowest such as "RoBaRaCoCh" (row, bank, rank, column, channel; "Bg" for the bank group, "Sc" for
    /// the subchannel); a list of fields from the lowest, with XOR terms, such as `bg2 co7 ba2 ra1 ro16; bg^=ro[1:0]`;
    /// or the reference maps "A", "B" and "C".
    Named(String),
    /// One entry per selector bit, lowest first: the bits of the byte address whose parity forms it, such as "8+13+17".
    /// The row and the column are the remaining address bits.
    Table(MapTable),
}

/// One entry per selector bit, lowest first: the bits of the byte address whose parity forms it, such as "8+13+17". The
/// row and the column are the remaining address bits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapTable {
    /// Bits of the channel number, lowest first. Each is the parity of some bits of the byte address, such as
    /// "8+13+17".
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub channel: Vec<String>,
    /// Consecutive bytes on one channel (size) if the number of channels is not a power of two, in place of `channel`;
    /// a power of two. 256 B when absent. The other masks then apply to the address without the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "64 TiB", "x-power-of-two" = true))]
    pub channel_bytes: Option<Size>,
    /// Address bits that form the subchannel number; none when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub subchannel: Vec<String>,
    /// Address bits that form the rank number.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub rank: Vec<String>,
    /// Address bits that form the bank group number.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub bank_group: Vec<String>,
    /// Address bits that form the bank number within the bank group. The row and the column are the remaining address
    /// bits.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub bank: Vec<String>,
}

/// Memory of one socket or node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryParams {
    /// DRAM device of every channel.
    pub dram: DramParams,
    /// Memory controller of every subchannel.
    pub controller: MemoryControllerParams,
    /// Address map: location of a physical line in DRAM.
    pub map: MapParams,
    /// Layout of virtual memory in physical memory.
    pub pages: PageParams,
}

/// Address map from a physical line address to channel, subchannel, rank, bank group, bank, row and column.
///
/// If the number of channels is a power of two, every selector bit is the parity of the byte address under a mask.
/// With any other number the channel is `address / channel_bytes` modulo the number of channels, and the masks and
/// bits apply to the address without the channel, `address / (channel_bytes x channels) x channel_bytes + address mod
/// channel_bytes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapParams {
    /// Number of channels.
    pub channels: u32,
    /// Masks whose parities form the channel number; empty unless the number of channels is a power of two.
    pub channel: Vec<u64>,
    /// Consecutive bytes on one channel if the number of channels is no power of two, else 0.
    pub channel_bytes: u64,
    /// Masks of the subchannel bits.
    pub subchannel: Vec<u64>,
    /// Masks of the rank bits.
    pub rank: Vec<u64>,
    /// Masks of the bank-group bits.
    pub bank_group: Vec<u64>,
    /// Masks of the bank bits within a group.
    pub bank: Vec<u64>,
    /// Address bits of the column, lowest first.
    pub column: Vec<u8>,
    /// Address bits of the row, lowest first.
    pub row: Vec<u8>,
}

/// Layout of virtual memory in physical memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageParams {
    /// Size of a physically contiguous run in bytes, at least a page.
    pub run_bytes: u64,
    /// Size of the physical memory, in bytes.
    pub memory_bytes: u64,
}

/// Division of the channels of an address map among clusters. The channels of a cluster follow those of the previous
/// one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterMap {
    /// Channels of a cluster.
    pub channels: u64,
    /// First bit of the channel number that belongs to the cluster.
    pub first: u32,
    /// Address bits that the number of a line in its cluster lacks, in ascending order, each with the bit of the
    /// channel that it decides.
    pub lacking: Vec<(u32, u32)>,
}

impl MapParams {
    /// Divides the channels among `count` clusters, a power of two. Returns `None` if that is no division into equal
    /// parts, or if a bit of the channel depends on no address bit of its own.
    #[must_use]
    pub fn cluster_map(&self, count: u32) -> Option<ClusterMap> {
        if self.channels % count != 0 {
            return None;
        }
        let channels = u64::from(self.channels / count);
        if self.channel_bytes > 0 {
            return Some(ClusterMap { channels, first: 0, lacking: Vec::new() });
        }
        let first = self.channel.len().checked_sub(count.trailing_zeros() as usize)?;
        let masks = &self.channel[first..];
        let bit_of = |index: usize| {
            let others = masks.iter().enumerate().filter(|&(other, _)| other != index);
            // A bit on which only this bit of the channel depends can be set without changing the others.
            let own = masks[index] & !others.fold(0, |all, (_, &mask)| all | mask);
            (own != 0).then(|| own.trailing_zeros() - LINE_BITS)
        };
        let decides = (self.subchannel.len() + first) as u32;
        let lacking = (0..masks.len()).map(|index| Some((bit_of(index)?, decides + index as u32)));
        let mut lacking = lacking.collect::<Option<Vec<_>>>()?;
        // In ascending order, so that bits are inserted from the lowest on.
        lacking.sort_unstable();
        Some(ClusterMap { channels, first: decides, lacking })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the clusters that some channels are divided among.
    fn divided(channels: u32, channel: &[u64], channel_bytes: u64, clusters: u32) -> Option<ClusterMap> {
        let none = Vec::new;
        let (bank, column, row) = (vec![1 << 9], vec![6, 7], vec![10, 11]);
        let channel = channel.to_vec();
        let (subchannel, rank, bank_group) = (none(), none(), none());
        MapParams { channels, channel, channel_bytes, subchannel, rank, bank_group, bank, column, row }
            .cluster_map(clusters)
    }

    #[test]
    fn bits_of_the_channel_decide_the_cluster() {
        let of_bits = ClusterMap { channels: 1, first: 0, lacking: vec![(2, 0), (8, 1)] };
        assert_eq!(divided(4, &[1 << 8, 1 << 14], 0, 4), Some(of_bits));
        assert_eq!(divided(6, &[], 256, 2), Some(ClusterMap { channels: 3, first: 0, lacking: Vec::new() }));
    }

    #[test]
    fn channels_that_hang_on_the_same_bits_cannot_be_shared_out() {
        assert_eq!(divided(4, &[1 << 8 | 1 << 14, 1 << 8 | 1 << 14], 0, 4), None);
        assert_eq!(divided(6, &[], 256, 4), None);
    }
}
