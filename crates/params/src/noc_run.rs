//! A run of the network on a chip alone: the network, its traffic or trace, and how it is measured.

use super::values::{Frequency, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The network on a chip alone, with traffic from a description or from a trace. Values with units are strings such as
/// "2 GHz".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NocRunSpec {
    /// The network.
    #[serde(default)]
    pub noc: NocSpec,
    /// The packets, by a description. Not together with `trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<PacketsSpec>,
    /// The packets, from a file. Not together with `traffic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<PacketTraceSpec>,
    /// How long is measured.
    #[serde(default)]
    pub run: CyclesSpec,
}

/// The network: how its routers are joined, and how packets go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NocSpec {
    /// How routers are joined.
    pub topology: NocTopologySpec,
    /// Routers of a mesh from west to east; 8 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 32))]
    pub columns: Option<u16>,
    /// Routers of a mesh from north to south; 8 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 32))]
    pub rows: Option<u16>,
    /// Routers of a ring; 16 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 256))]
    pub nodes: Option<u16>,
    /// The way of packets on a mesh: "xy" (along the row first), "yx" or "o1turn" (each packet draws one of the two);
    /// "xy" when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<String>,
    /// Classes of packets; each has virtual channels of its own. Only a trace tells them apart.
    #[schemars(range(min = 1, max = 8))]
    pub classes: u8,
    /// Virtual channels of every input port and class.
    #[schemars(range(min = 1, max = 64))]
    pub vcs: u8,
    /// Flits that the buffer of a virtual channel holds.
    #[schemars(range(min = 1, max = 255))]
    pub vc_flits: u8,
    /// Bytes of a flit; what a link carries per cycle.
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 KiB"))]
    pub flit: Size,
    /// Clock of the network.
    #[schemars(extend("x-min" = "1 MHz", "x-max" = "100 GHz"))]
    pub clock: Frequency,
    /// How every router works.
    pub router: NocRouterSpec,
}

/// How routers are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NocTopologySpec {
    /// Columns and rows, a node at every router.
    #[default]
    Mesh,
    /// A circle; the shorter way is taken.
    Ring,
}

/// How every router works.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NocRouterSpec {
    /// When the head of a packet gets a virtual channel of the next router.
    pub allocation: AllocationSpec,
    /// When a virtual channel of the next router is free for another packet.
    pub reuse: ReuseSpec,
    /// Cycles between winning the crossbar and being on the wire.
    #[schemars(range(min = 0, max = 16))]
    pub switch_cycles: u8,
    /// Cycles on the wire.
    #[schemars(range(min = 0, max = 16))]
    pub link_cycles: u8,
    /// Cycles from a flit's leaving a buffer until the router before may send another for it.
    #[schemars(range(min = 1, max = 32))]
    pub credit_cycles: u8,
}

/// When the head of a packet gets a virtual channel of the next router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AllocationSpec {
    /// In the cycle in which it asks for the crossbar.
    #[default]
    Speculative,
    /// A cycle before it asks for the crossbar.
    Staged,
    /// When it wins the crossbar.
    AtSwitch,
}

/// When a virtual channel of the next router is free for another packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReuseSpec {
    /// When the last flit of the packet before was sent.
    #[default]
    TailSent,
    /// When the last flit of the packet before has left the buffer there.
    Drained,
}

/// Packets by a description: every node throws dice in every cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PacketsSpec {
    /// To whom a node sends: "uniform", "transpose", "bit-complement", "bit-reverse", "shuffle", "tornado", "neighbor"
    /// or "hotspot".
    pub pattern: String,
    /// Offered load in flits per node and cycle.
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub rate: f64,
    /// Flits of a packet.
    #[schemars(range(min = 1, max = 1024))]
    pub packet_flits: u16,
    /// The nodes that all others send to, such as [27, 36], with the pattern "hotspot".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hotspots: Option<Vec<u16>>,
    /// Seed of the random streams, 0 to 2^64 - 1.
    pub seed: u64,
}

/// Packets from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketTraceSpec {
    /// The file, relative to the configuration; plain or compressed. Not together with `traffic`.
    pub path: String,
}

/// How long is measured, in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CyclesSpec {
    /// Cycles before the measurement; 6000 (0 of a trace) when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub warmup: Option<u64>,
    /// Cycles of the measurement: packets that are offered in it are measured; 20000 (all of a trace) when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub measure: Option<u64>,
    /// Cycles after it at most, until all measured packets have arrived; traffic goes on meanwhile.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub drain: u64,
}

impl Default for NocSpec {
    fn default() -> Self {
        NocSpec {
            topology: NocTopologySpec::Mesh,
            columns: None,
            rows: None,
            nodes: None,
            routing: None,
            classes: 1,
            vcs: 4,
            vc_flits: 8,
            flit: Size(16),
            clock: Frequency(2_000_000_000),
            router: NocRouterSpec::default(),
        }
    }
}

impl Default for NocRouterSpec {
    fn default() -> Self {
        NocRouterSpec {
            allocation: AllocationSpec::Speculative,
            reuse: ReuseSpec::TailSent,
            switch_cycles: 1,
            link_cycles: 1,
            credit_cycles: 3,
        }
    }
}

impl Default for PacketsSpec {
    fn default() -> Self {
        PacketsSpec { pattern: "uniform".to_string(), rate: 0.1, packet_flits: 1, hotspots: None, seed: 1 }
    }
}

impl Default for CyclesSpec {
    fn default() -> Self {
        CyclesSpec { warmup: None, measure: None, drain: 20_000 }
    }
}
