//! Keys of the network of a cluster.

use super::cable::{EndSpec, Span};
use super::fidelity::NetworkFidelity;
use super::lists::Names;
use super::switch::SwitchSpec;
use super::topology::{ScaleUpSpec, Sizes, TopologySpec, TrunkSpec};
use super::values::{Bandwidth, Size, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Defaults of all cables and switches, and the topology of a network whose cables are not given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    /// Topology of the network; "star" when this key and all cables with ends are absent. Not together with cables with
    /// ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<TopologySpec>,
    /// Level of detail of the network: "packet" (every packet is simulated) or "flow" (every message of a job is a flow
    /// of bytes that shares cables with others); "packet" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<NetworkFidelity>,
    /// Rate of a cable in each direction (bandwidth); "100 Gbps" when absent.
    #[serde(default = "gigabits_100")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub rate: Bandwidth,
    /// Propagation delay of a cable (time).
    #[serde(default = "microsecond")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub latency: Time,
    /// Largest IP packet (size): the MTU of every flow that sets none.
    #[serde(default = "ethernet_mtu")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "65535 B"))]
    pub mtu: Size,
    /// Bytes on the wire beyond the IP packet (size): header, frame check sequence, preamble and interpacket gap.
    #[serde(default = "ethernet_framing")]
    #[schemars(extend("x-max" = "1 KiB"))]
    pub framing: Size,
    /// Minimum size of a frame on the wire, framing included (size).
    #[serde(default = "ethernet_least")]
    #[schemars(extend("x-max" = "1 KiB"))]
    pub frame_min: Size,
    /// Hosts at the left switch of a dumbbell: a name or a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Names>,
    /// Hosts at the right switch of a dumbbell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<Names>,
    /// Cable between the switches of a dumbbell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<BottleneckSpec>,
    /// Leaf switches of "two-tier" and "leaf-spine"; as many as `hosts_per_switch` requires when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub leaves: Option<u32>,
    /// Spine switches of "leaf-spine" and "rail-optimised"; as many as the oversubscription requires when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub spines: Option<u32>,
    /// Maximum number of hosts at each switch that has hosts; when absent, the hosts are divided among the switches.
    /// Not with "fat-tree" and "dragonfly".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub hosts_per_switch: Option<u32>,
    /// With "two-tier", "leaf-spine" and "rail-optimised": total rate of the hosts at a full leaf switch divided by the
    /// total rate of its uplinks. It sets the rate of the uplinks or, without `spines`, their number; when absent, it
    /// follows from `spines` and `core.rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub oversubscription: Option<f64>,
    /// With "fat-tree": ports of each switch, an even number, for up to k^3/4 hosts; the smallest with room for the
    /// hosts when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 42))]
    pub k: Option<u32>,
    /// With "ring", "mesh" and "torus": switches along each dimension, such as 8 for a ring, [8, 4] for a mesh or
    /// torus, and [4, 4, 4] for a torus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Sizes>,
    /// With "dragonfly": switches per group; 2h when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub a: Option<u32>,
    /// With "dragonfly": maximum number of hosts at each switch; h when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub p: Option<u32>,
    /// With "dragonfly": cables of each switch to other groups; the smallest number with room for the hosts when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub h: Option<u32>,
    /// With "dragonfly": groups, at most a h + 1; a h + 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 4096))]
    pub groups: Option<u32>,
    /// With "rail-optimised" and "rail-only": accelerators of each server. Each is a host; the first ones are the first
    /// server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1024))]
    pub accelerators: Option<u32>,
    /// With "rail-optimised" and "rail-only": rails, a multiple of the accelerators of a server; one for each of them
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub rails: Option<u32>,
    /// With "rail-optimised" and "rail-only": scale-up fabric inside each server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_up: Option<ScaleUpSpec>,
    /// Cables between switches, in topologies with several switches; those of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<TrunkSpec>,
    /// With "dragonfly": cables between groups; those between switches when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global: Option<TrunkSpec>,
    /// Defaults of all switches.
    #[serde(default)]
    pub switch: SwitchSpec,
}

/// Cable between the switches of a dumbbell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BottleneckSpec {
    /// Rate in each direction (bandwidth); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub rate: Option<Bandwidth>,
    /// Propagation delay (time); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub latency: Option<Time>,
    /// Outages of the cable (time): pairs of times from the start of the run, at most 1024.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 0, max = 1024))]
    pub down: Vec<Span>,
    /// Share of packets that the cable corrupts (0 to 1).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub corrupt: f64,
}

/// Migration of a thread, and of its flow, to another core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveSpec {
    /// Time of the migration, from the start of the run (time).
    pub at: TimeOfRun,
    /// Core that the thread migrates to.
    #[schemars(range(min = 0, max = 65535))]
    pub core: u32,
    /// End of the flow with the threads to migrate; when absent, `to` if it is a server, else `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<EndSpec>,
}

/// Time from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TimeOfRun(pub Time);

impl JsonSchema for TimeOfRun {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TimeOfRun".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Time::json_schema(generator);
        schema.insert("description".into(), "A time from the start of the run (time).".into());
        schema.insert("x-max".into(), "1000 s".into());
        schema
    }
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

fn gigabits_100() -> Bandwidth {
    Bandwidth(12_500_000_000)
}

fn microsecond() -> Time {
    Time(1_000_000)
}

fn ethernet_mtu() -> Size {
    Size(1500)
}

/// Returns the framing of Ethernet: header 14, frame check sequence 4, preamble and start 8, gap 12 (IEEE 802.3).
fn ethernet_framing() -> Size {
    Size(38)
}

/// Returns the minimum frame of Ethernet: 64 B, with preamble, start and gap (IEEE 802.3).
fn ethernet_least() -> Size {
    Size(84)
}

impl Default for NetworkSpec {
    fn default() -> Self {
        NetworkSpec {
            topology: None,
            fidelity: None,
            rate: gigabits_100(),
            latency: microsecond(),
            mtu: ethernet_mtu(),
            framing: ethernet_framing(),
            frame_min: ethernet_least(),
            left: None,
            right: None,
            bottleneck: None,
            leaves: None,
            spines: None,
            hosts_per_switch: None,
            oversubscription: None,
            k: None,
            size: None,
            a: None,
            p: None,
            h: None,
            groups: None,
            accelerators: None,
            rails: None,
            scale_up: None,
            core: None,
            global: None,
            switch: SwitchSpec::default(),
        }
    }
}
