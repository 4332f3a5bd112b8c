//! The memory of a socket and its address map.

use super::values::{MemorySize, Size};
use super::{ControllerSpec, DramSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The memory of the socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemorySpec {
    /// Channels of DIMMs, not the two subchannels of DDR5; any number, not only powers of two.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) channels: u32,
    /// The DRAM device on every channel: its name, or the path of a file such as "./my.toml", relative to the
    /// configuration. It gives the values of `memory.dram`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) device: Option<String>,
    /// Profile of the controller: its name, or the path of a file. It gives the values of `memory.controller`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<String>,
    /// The DRAM of one channel; what is set here overrides the device.
    pub(crate) dram: DramSpec,
    /// Memory in use (size), or "all" that the channels hold.
    #[schemars(extend("x-min" = "64 KiB", "x-max" = "64 TiB"))]
    pub(crate) size: MemorySize,
    /// Size of a page (size): "4 KiB", "2 MiB" or "1 GiB".
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 GiB", "x-power-of-two" = true))]
    pub(crate) page: Size,
    /// Physically contiguous run of a buffer (size), at least a page; a power of two. When absent that of the preset,
    /// or a page if that is more.
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 TiB", "x-power-of-two" = true))]
    pub(crate) run: Size,
    /// Where a physical line lies: "intel", "A", "B" or "C", an order of fields such as "RoBaRaCoCh", a list of fields
    /// such as "bg co ba ra ro", or a table with the bits of each selector.
    pub(crate) map: MapSpec,
    /// The controller of every channel, or of every subchannel; what is set here overrides the profile.
    pub(crate) controller: ControllerSpec,
}

/// Where a physical line lies: a named map, a list of fields, or the address bits of each selector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum MapSpec {
    /// "intel" (two bank bits and the channel inside the page, the rest hashed); an order of plain bit fields from the
    /// highest to the lowest such as "RoBaRaCoCh" (row, bank, rank, column, channel; "Bg" for the bank group, "Sc" for
    /// the subchannel); a list of fields from the lowest, with XOR terms, such as "bg2 co7 ba2 ra1 ro16; bg^=ro[1:0]";
    /// or the reference maps "A", "B" and "C".
    Named(String),
    /// One entry per selector bit, lowest first: the byte address bits whose parity it is, such as "8+13+17". The row
    /// and the column are the remaining address bits.
    Table(MapTable),
}

/// One entry per selector bit, lowest first: the byte address bits whose parity it is, such as "8+13+17". The row and
/// the column are the remaining address bits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapTable {
    /// Bits of the channel number, lowest first. Each is the parity of some bits of the byte address, written such as
    /// "8+13+17".
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub(crate) channel: Vec<String>,
    /// Consecutive bytes of one channel (size) when the number of channels is no power of two, in place of `channel`; a
    /// power of two. 256 B when absent. The other masks then see the address with the channel taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "64 TiB", "x-power-of-two" = true))]
    pub(crate) channel_bytes: Option<Size>,
    /// Bits of the subchannel number; none when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub(crate) subchannel: Vec<String>,
    /// Bits of the rank number.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub(crate) rank: Vec<String>,
    /// Bits of the bank group number.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub(crate) bank_group: Vec<String>,
    /// Bits of the bank number within its group. Row and column are the remaining address bits.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub(crate) bank: Vec<String>,
}
