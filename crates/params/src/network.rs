//! Keys of the network of a cluster.

use super::cable::{EndSpec, Span};
use super::lists::Names;
use super::switch::SwitchSpec;
use super::topology::{Sizes, TopologySpec, TrunkSpec};
use super::values::{Bandwidth, Size, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What every cable and switch is like that does not say otherwise, and, when there are no cables, how hosts are
/// joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    /// How hosts are joined; "star" when this and all cables with ends are absent. Not together with those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<TopologySpec>,
    /// Rate of a cable in either direction (bandwidth); "100 Gbps" when absent.
    #[serde(default = "gigabits_100")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub rate: Bandwidth,
    /// Propagation delay of a cable (time).
    #[serde(default = "microsecond")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub latency: Time,
    /// Largest IP packet (size): the MTU of every flow that gives none.
    #[serde(default = "ethernet_mtu")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "65535 B"))]
    pub mtu: Size,
    /// Bytes on the wire beyond the IP packet (size): header, frame check sequence, preamble and gap.
    #[serde(default = "ethernet_framing")]
    #[schemars(extend("x-max" = "1 KiB"))]
    pub framing: Size,
    /// Least bytes of a frame on the wire, framing included (size).
    #[serde(default = "ethernet_least")]
    #[schemars(extend("x-max" = "1 KiB"))]
    pub frame_min: Size,
    /// Hosts at the left switch of a dumbbell: a name or a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Names>,
    /// Hosts at the right switch of a dumbbell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<Names>,
    /// The cable between the switches of a dumbbell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<BottleneckSpec>,
    /// Leaf switches of "two-tier" and "leaf-spine"; as many as the hosts need when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub leaves: Option<u32>,
    /// Spine switches of "leaf-spine"; as many as the oversubscription asks for when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub spines: Option<u32>,
    /// Hosts at each switch that has some at most; when absent, the hosts shared out among the switches. Not of
    /// "fat-tree" and "dragonfly".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub hosts_per_switch: Option<u32>,
    /// Of "two-tier" and "leaf-spine": rates of the hosts at a full leaf switch divided by those of its cables upward.
    /// It sets the rate of those, or, without `spines`, how many there are; when absent, it follows from `spines` and
    /// `core.rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub oversubscription: Option<f64>,
    /// Of "fat-tree": ports of each switch, an even number: there is room for k^3/4 hosts; the least that has room when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 42))]
    pub k: Option<u32>,
    /// Of "ring", "mesh" and "torus": switches along each dimension: 8 of a ring, [8, 4] of a mesh or torus, [4, 4, 4]
    /// of a torus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Sizes>,
    /// Of "dragonfly": switches of a group; 2h when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub a: Option<u32>,
    /// Of "dragonfly": hosts at each switch at most; h when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub p: Option<u32>,
    /// Of "dragonfly": cables of each switch to other groups; the least that has room for the hosts when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub h: Option<u32>,
    /// Of "dragonfly": groups; a h + 1 when absent, which is the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 4096))]
    pub groups: Option<u32>,
    /// Cables between switches, in topologies of many; those of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<TrunkSpec>,
    /// Of "dragonfly": cables between groups; those between switches when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global: Option<TrunkSpec>,
    /// What every switch is like that does not say otherwise.
    #[serde(default)]
    pub switch: SwitchSpec,
}

/// The cable between the switches of a dumbbell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BottleneckSpec {
    /// Rate in either direction (bandwidth); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub rate: Option<Bandwidth>,
    /// Propagation delay (time); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub latency: Option<Time>,
    /// When it is down, as of any cable (time): pairs of times, at most 1024.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 0, max = 1024))]
    pub down: Vec<Span>,
    /// Share of packets that it damages (0 to 1).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub corrupt: f64,
}

/// A thread that goes to another core, and its flow with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveSpec {
    /// When, from the start of the run (time).
    pub at: TimeOfRun,
    /// The core that it goes to.
    #[schemars(range(min = 0, max = 65535))]
    pub core: u32,
    /// Which of the two hosts' threads; when absent, those at `to` if it is a server, else those at `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<EndSpec>,
}

/// A time from the start of the run.
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

/// Header 14, frame check sequence 4, preamble and start 8, gap 12 (IEEE 802.3).
fn ethernet_framing() -> Size {
    Size(38)
}

/// A frame of 64 B with preamble, start and gap (IEEE 802.3).
fn ethernet_least() -> Size {
    Size(84)
}

impl Default for NetworkSpec {
    fn default() -> Self {
        NetworkSpec {
            topology: None,
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
            core: None,
            global: None,
            switch: SwitchSpec::default(),
        }
    }
}
