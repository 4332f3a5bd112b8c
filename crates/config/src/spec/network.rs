//! Switches, cables and the short form of a network.

use super::ecn::EcnSpec;
use super::energy::SwitchEnergySpec;
use super::lists::Names;
use super::topology::{Sizes, TopologySpec, TrunkSpec};
use super::values::{Bandwidth, Size, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What every cable and switch is like that does not say otherwise, and, when there are no cables, how hosts are
/// joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkSpec {
    /// How hosts are joined; "star" when this and all cables with ends are absent. Not together with those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) topology: Option<TopologySpec>,
    /// Rate of a cable in either direction (bandwidth); "100 Gbps" when absent.
    #[serde(default = "gigabits_100")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub(crate) rate: Bandwidth,
    /// Propagation delay of a cable (time).
    #[serde(default = "microsecond")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub(crate) latency: Time,
    /// Largest IP packet (size): the MTU of every flow that gives none.
    #[serde(default = "ethernet_mtu")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "65535 B"))]
    pub(crate) mtu: Size,
    /// Bytes on the wire beyond the IP packet (size): header, frame check sequence, preamble and gap.
    #[serde(default = "ethernet_framing")]
    #[schemars(extend("x-max" = "1 KiB"))]
    pub(crate) framing: Size,
    /// Least bytes of a frame on the wire, framing included (size).
    #[serde(default = "ethernet_least")]
    #[schemars(extend("x-max" = "1 KiB"))]
    pub(crate) frame_min: Size,
    /// Hosts at the left switch of a dumbbell: a name or a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left: Option<Names>,
    /// Hosts at the right switch of a dumbbell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) right: Option<Names>,
    /// The cable between the switches of a dumbbell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bottleneck: Option<BottleneckSpec>,
    /// Leaf switches of "two-tier" and "leaf-spine"; as many as the hosts need when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub(crate) leaves: Option<u32>,
    /// Spine switches of "leaf-spine"; as many as the oversubscription asks for when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) spines: Option<u32>,
    /// Hosts at each switch that has some at most; when absent, the hosts shared out among the switches. Not of
    /// "fat-tree" and "dragonfly".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub(crate) hosts_per_switch: Option<u32>,
    /// Of "two-tier" and "leaf-spine": rates of the hosts at a full leaf switch divided by those of its cables upward.
    /// It sets the rate of those, or, without `spines`, how many there are; when absent, it follows from `spines` and
    /// `core.rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub(crate) oversubscription: Option<f64>,
    /// Of "fat-tree": ports of each switch, an even number: there is room for k^3/4 hosts; the least that has room when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 42))]
    pub(crate) k: Option<u32>,
    /// Of "ring", "mesh" and "torus": switches along each dimension: 8 of a ring, [8, 4] of a mesh or torus, [4, 4, 4]
    /// of a torus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<Sizes>,
    /// Of "dragonfly": switches of a group; 2h when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub(crate) a: Option<u32>,
    /// Of "dragonfly": hosts at each switch at most; h when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub(crate) p: Option<u32>,
    /// Of "dragonfly": cables of each switch to other groups; the least that has room for the hosts when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub(crate) h: Option<u32>,
    /// Of "dragonfly": groups; a h + 1 when absent, which is the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 4096))]
    pub(crate) groups: Option<u32>,
    /// Cables between switches, in topologies of many; those of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) core: Option<TrunkSpec>,
    /// Of "dragonfly": cables between groups; those between switches when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) global: Option<TrunkSpec>,
    /// What every switch is like that does not say otherwise.
    #[serde(default)]
    pub(crate) switch: SwitchSpec,
}

/// The cable between the switches of a dumbbell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BottleneckSpec {
    /// Rate in either direction (bandwidth); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub(crate) rate: Option<Bandwidth>,
    /// Propagation delay (time); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub(crate) latency: Option<Time>,
    /// When it is down, as of any cable (time): pairs of times, at most 1024.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 0, max = 1024))]
    pub(crate) down: Vec<Span>,
    /// Share of packets that it damages (0 to 1).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) corrupt: f64,
}

/// How a switch comes to know where hosts are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SwitchKindSpec {
    /// It knows the shortest ways.
    #[default]
    Routed,
    /// From the packets that come from them (IEEE 802.1D).
    Learning,
}

/// A switch with output queues. What is absent is that of `network.switch`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SwitchSpec {
    /// How it comes to know where hosts are; "routed" when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<SwitchKindSpec>,
    /// Packet memory that all ports share (size); "16 MB" when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "1 TB"))]
    pub(crate) buffer: Option<Size>,
    /// A queue may hold this times what is free (dynamic threshold); all that is free when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1024.0))]
    pub(crate) alpha: Option<f64>,
    /// From the last bit of a packet to the first bit at the head of its queue (time); "500 ns" when absent everywhere.
    /// Not of the kind "learning".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 ms"))]
    pub(crate) latency: Option<Time>,
    /// When packets are marked: a queue of "65 packets" or "100 kB", or a table with a probability that rises from 0 at
    /// `min` to `most` at `max`, and is 1 above; never when absent everywhere or "off".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ecn: Option<EcnSpec>,
    /// When senders are paused; never when absent everywhere. Not of the kind "learning".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pfc: Option<PfcSpec>,
    /// Of the kind "learning": addresses that it knows at most; 4096 when absent everywhere. Where there is no room,
    /// the address goes from which nothing has come for longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) table: Option<u32>,
    /// Of the kind "learning": when an address is forgotten from which nothing comes (time); "10 ms" when absent
    /// everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1000 s"))]
    pub(crate) ttl: Option<Time>,
    /// Of the kind "learning": what its fabric carries to each port, in bytes of IP packets (bandwidth); "10 Gbps" when
    /// absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub(crate) fabric: Option<Bandwidth>,
    /// Of the kind "learning": what the fabric takes beyond that, from the last bit of a packet to its queue (time);
    /// none when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "10 ms"))]
    pub(crate) delay: Option<Time>,
    /// Of the kind "learning": up to so much more, at random (time); none when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "10 ms"))]
    pub(crate) jitter: Option<Time>,
    /// Rate at which its engine sums up vectors of jobs, in bytes of the sum, of however many ports (bandwidth); it
    /// does not sum up when absent everywhere. Not of the kind "learning".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub(crate) sum: Option<Bandwidth>,
    /// Pages that servers of a pool share and that it decides about in the place of the controller, the first ones;
    /// 4096 when absent everywhere. Of the only switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16_777_216))]
    pub(crate) sharers: Option<u32>,
    /// What it consumes; it has no energy meter when absent everywhere. There is no profile of switches: what is absent
    /// is not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) energy: Option<SwitchEnergySpec>,
}

/// Priority flow control (IEEE 802.1Qbb).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PfcSpec {
    /// Priorities that are lossless, as a list of numbers.
    #[serde(default = "rdma_priorities")]
    #[schemars(length(min = 1, max = 8), inner(range(min = 0, max = 7)), extend("uniqueItems" = true))]
    pub(crate) priorities: Vec<u8>,
    /// Data of one priority that came in by one port, from which the port's peer is paused (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub(crate) xoff: Size,
    /// Data down to which the peer is let go on (size).
    #[schemars(extend("x-max" = "1 TB"))]
    pub(crate) xon: Size,
}

/// A full-duplex cable. What is absent is that of the network. Without ends it is a cable of a topology: that of a host
/// has the name of the host, that between two switches both names, such as "leaf-0_spine-1".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CableSpec {
    /// What it joins: two names of hosts or switches. All cables have this, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ends: Option<[String; 2]>,
    /// Rate in either direction (bandwidth); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub(crate) rate: Option<Bandwidth>,
    /// Propagation delay (time); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub(crate) latency: Option<Time>,
    /// When it is down (time): pairs of times from the start of the run, at most 1024, such as `[["1 ms", "2 ms"]]`.
    /// What is on it then is lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 0, max = 1024))]
    pub(crate) down: Vec<Span>,
    /// Share of packets that it damages (0 to 1).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) corrupt: f64,
}

/// From one time to another.
pub(crate) type Span = [TimeOfRun; 2];

/// A thread that goes to another core, and its flow with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoveSpec {
    /// When, from the start of the run (time).
    pub(crate) at: TimeOfRun,
    /// The core that it goes to.
    #[schemars(range(min = 0, max = 65535))]
    pub(crate) core: u32,
    /// Which of the two hosts' threads; when absent, those at `to` if it is a server, else those at `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<EndSpec>,
}

/// One of the two hosts of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EndSpec {
    /// The one that begins it.
    From,
    /// The other one.
    To,
}

/// A time from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TimeOfRun(pub(crate) Time);

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

/// The priority that RDMA usually has.
fn rdma_priorities() -> Vec<u8> {
    vec![3]
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
