//! Keys of a run of the network on a chip alone: the network, its traffic or trace, and its measurement.

use super::values::{Frequency, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Run of the network on a chip alone, with generated traffic or a trace. Values with units are strings such as
/// "2 GHz".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NocRunSpec {
    /// Network on a chip.
    #[serde(default)]
    pub noc: NocSpec,
    /// Generated packets. Not together with `trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<PacketsSpec>,
    /// Packets from a file. Not together with `traffic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<PacketTraceSpec>,
    /// Warm-up, measurement and drain.
    #[serde(default)]
    pub run: CyclesSpec,
}

/// Network on a chip: its topology, routing and routers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NocSpec {
    /// Topology of the routers.
    pub topology: NocTopologySpec,
    /// Columns of a mesh, from west to east; 8 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 32))]
    pub columns: Option<u16>,
    /// Rows of a mesh, from north to south; 8 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 32))]
    pub rows: Option<u16>,
    /// Routers of a ring; 16 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 256))]
    pub nodes: Option<u16>,
    /// Routing on a mesh: "xy" (along the row first), "yx" or "o1turn" (each packet draws one of the two); "xy" when
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<String>,
    /// Classes of packets, each with private virtual channels. Only traces distinguish classes.
    #[schemars(range(min = 1, max = 8))]
    pub classes: u8,
    /// Virtual channels of every input port and class.
    #[schemars(range(min = 1, max = 64))]
    pub vcs: u8,
    /// Flits that the buffer of a virtual channel holds.
    #[schemars(range(min = 1, max = 255))]
    pub vc_flits: u8,
    /// Bytes of a flit, the amount that a link carries per cycle.
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 KiB"))]
    pub flit: Size,
    /// Clock of the network.
    #[schemars(extend("x-min" = "1 MHz", "x-max" = "100 GHz"))]
    pub clock: Frequency,
    /// Allocation and timing of every router.
    pub router: NocRouterSpec,
}

/// Topology of the routers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NocTopologySpec {
    /// Rows and columns of routers, each with a node.
    #[default]
    Mesh,
    /// A ring, on which packets take the shorter direction.
    Ring,
}

/// Allocation and timing of every router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NocRouterSpec {
    /// Allocation of a virtual channel of the next router to the head of a packet.
    pub allocation: AllocationSpec,
    /// Reuse of a virtual channel of the next router by another packet.
    pub reuse: ReuseSpec,
    /// Cycles from winning the crossbar to the wire.
    #[schemars(range(min = 0, max = 16))]
    pub switch_cycles: u8,
    /// Cycles on the wire.
    #[schemars(range(min = 0, max = 16))]
    pub link_cycles: u8,
    /// Cycles from the departure of a flit from a buffer until the upstream router may send another flit in its place.
    #[schemars(range(min = 1, max = 32))]
    pub credit_cycles: u8,
}

/// Allocation of a virtual channel of the next router to the head of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AllocationSpec {
    /// In the cycle of its request for the crossbar.
    #[default]
    Speculative,
    /// One cycle before its request for the crossbar.
    Staged,
    /// When it wins the crossbar.
    AtSwitch,
}

/// Reuse of a virtual channel of the next router by another packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReuseSpec {
    /// Once the last flit of the previous packet was sent.
    #[default]
    TailSent,
    /// Once the last flit of the previous packet has left the buffer of the next router.
    Drained,
}

/// Random packets, which every node generates as a Bernoulli process by cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PacketsSpec {
    /// Destinations of packets: "uniform", "transpose", "bit-complement", "bit-reverse", "shuffle", "tornado",
    /// "neighbor" or "hotspot".
    pub pattern: String,
    /// Offered load in flits per node and cycle.
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub rate: f64,
    /// Flits per packet.
    #[schemars(range(min = 1, max = 1024))]
    pub packet_flits: u16,
    /// With the pattern "hotspot": nodes that all others send to, such as [27, 36].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hotspots: Option<Vec<u16>>,
    /// Seed of the random streams, 0 to 2^64 - 1.
    pub seed: u64,
}

/// Packets from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketTraceSpec {
    /// Trace file, relative to the configuration; plain or compressed. Not together with `traffic`.
    pub path: String,
}

/// Warm-up, measurement and drain, in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CyclesSpec {
    /// Cycles before the measurement; 6000 (0 for a trace) when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub warmup: Option<u64>,
    /// Cycles of the measurement, which covers the packets offered in it; 20000 (all of a trace) when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub measure: Option<u64>,
    /// Maximum number of cycles after the measurement until all measured packets have arrived; traffic continues
    /// meanwhile.
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
