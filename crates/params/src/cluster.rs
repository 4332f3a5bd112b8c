//! Keys and parameters of a cluster and its hosts.

use super::cable::{CableEnd, CableParams, CableSpec};
use super::compress::{CompressParams, CompressSpec};
use super::fidelity::{Fidelity, NetworkFidelity};
use super::flow::{FlowParams, FlowSpec};
use super::job::JobSpec;
use super::lists::{ChannelList, Names};
use super::mcn::McnSpec;
use super::network::NetworkSpec;
use super::ranks::JobParams;
use super::run::RunSpec;
use super::server::ServerParams;
use super::switch::{SwitchParams, SwitchSpec};
use super::transport::TransportSpec;
use super::values::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Configuration of a cluster: its hosts, their network, their traffic, and the length of the run. Values with units
/// are strings such as "100 Gbps", "5 us" or "4000 B". Keys that are absent come from the preset of a host, from the
/// network, or from the base of a transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterSpec {
    /// Hosts, by name.
    pub host: BTreeMap<String, HostSpec>,
    /// Defaults of cables and switches, and, if there are no cables, the topology of the network.
    #[serde(default)]
    pub network: NetworkSpec,
    /// Switches, by name.
    #[serde(default)]
    pub switch: BTreeMap<String, SwitchSpec>,
    /// Cables, by name.
    #[serde(default)]
    pub cable: BTreeMap<String, CableSpec>,
    /// Transports, by name. "dctcp", "cubic", "reno", "roce" and "dcqcn" are built in; a table of that name changes
    /// one.
    #[serde(default)]
    pub transport: BTreeMap<String, TransportSpec>,
    /// Flows, by name.
    #[serde(default)]
    pub flow: BTreeMap<String, FlowSpec>,
    /// Programs of ranks, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub job: BTreeMap<String, JobSpec>,
    /// Length of the run.
    #[serde(default)]
    pub run: RunSpec,
}

/// Host: a server with all keys of a server, or an endpoint without a host network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostSpec {
    /// Kind of the host.
    #[serde(default)]
    pub kind: HostKindSpec,
    /// Server that the values start from; it needs a NIC, as "cascade-lake-hostcc" has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// For a server: number of sockets; those of its preset when absent, 1 without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8))]
    pub sockets: Option<u32>,
    /// Number of hosts like this one. If it is above 1, they are named NAME-0, NAME-1 ..., and NAME refers to all of
    /// them.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16384))]
    pub count: u32,
    /// In a topology of many switches: switch that the host is cabled to, or one for each of the hosts; the first with
    /// a free port when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Names>,
    /// Level of detail at which a server is simulated; "line" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// For a DIMM: host that has the DIMM in its memory slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// For a DIMM: memory channel of that host, or several, such as "0-1", to which the DIMMs of this table are
    /// assigned round robin; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<ChannelList>,
    /// Memory channel network, which connects DIMMs with processors in the slots of a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcn: Option<McnSpec>,
    /// For an endpoint: time from the last bit of a packet to its transport, and from the transport to the port, each
    /// (time); "1 us" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 s"))]
    pub latency: Option<Time>,
    /// For an endpoint: maximum number of packets queued at each of its ports, while its transports wait for room; 64
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub queue: Option<u32>,
    /// For an endpoint: parallel cables to its switch, or in "direct" to the other host, each at a port of its own; 1
    /// when absent. Each flow keeps one of them, round robin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub ports: Option<u32>,
    /// Engines of an endpoint that compress the data of packets; a server has them as `nic.compress`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress: Option<CompressSpec>,
    /// Tables of a server.
    #[serde(flatten)]
    #[schemars(skip)]
    pub server: Map<String, Value>,
}

/// Kind of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostKindSpec {
    /// A server with its host network.
    #[default]
    Server,
    /// Transports attached to a cable: no NIC, no cores, no memory.
    Endpoint,
    /// A server on a DIMM in a memory slot of another server: no NIC, but rings that the other server can access.
    Dimm,
}

fn one() -> u32 {
    1
}

/// Cluster of hosts and switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterParams {
    /// Hosts; packets carry the index of a host as its number.
    pub hosts: Vec<HostParams>,
    /// Switches.
    pub switches: Vec<SwitchParams>,
    /// Cables. The ports of a host or a switch are the cables that end at it, in their order.
    pub cables: Vec<CableParams>,
    /// Flows; packets carry the index of a flow as its number.
    pub flows: Vec<FlowParams>,
    /// Jobs, whose messages are flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobParams>,
    /// Names of the traffic classes that flows belong to.
    pub classes: Vec<String>,
    /// Seed of every random stream.
    pub seed: u64,
    /// Level of detail of the network between the hosts.
    #[serde(default, skip_serializing_if = "NetworkFidelity::is_packet")]
    pub fidelity: NetworkFidelity,
}

impl ClusterParams {
    /// Returns the propagation delay of a round trip between hosts, in ps. It is estimated as twice the delay of the
    /// two longest cables together.
    #[must_use]
    pub fn round_trip_ps(&self) -> u64 {
        let mut longest = [0; 2];
        for cable in &self.cables {
            if cable.latency_ps > longest[0] {
                longest = [cable.latency_ps, longest[0]];
            } else {
                longest[1] = longest[1].max(cable.latency_ps);
            }
        }
        longest.iter().fold(0, |sum: u64, cable| sum.saturating_add(cable.saturating_mul(2)))
    }
}

impl ClusterParams {
    /// Returns the least latency of all cables between a host and each host, in ps; 0 for the host itself and for hosts
    /// that no way of cables leads to.
    #[must_use]
    pub fn least_latencies_ps(&self, from: u16) -> Vec<u64> {
        let node = |end: CableEnd| match end {
            CableEnd::Host(host) => usize::from(host),
            CableEnd::Switch(switch) => self.hosts.len() + usize::from(switch),
        };
        let mut next = vec![Vec::new(); self.hosts.len() + self.switches.len()];
        for cable in &self.cables {
            let [one, other] = cable.ends.map(node);
            next[one].push((other, cable.latency_ps));
            next[other].push((one, cable.latency_ps));
        }
        let mut least = vec![u64::MAX; next.len()];
        let mut open = BTreeSet::from([(0, usize::from(from))]);
        while let Some((ps, at)) = open.pop_first() {
            if least[at] <= ps {
                continue;
            }
            least[at] = ps;
            // A host ends the way unless it forwards packets.
            if at != usize::from(from) && self.hosts.get(at).is_some_and(|host| host.forwarding_ports() == 0) {
                continue;
            }
            open.extend(next[at].iter().map(|&(other, more)| (ps.saturating_add(more), other)));
        }
        least.truncate(self.hosts.len());
        least.into_iter().map(|ps| if ps == u64::MAX { 0 } else { ps }).collect()
    }
}

/// Host of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostParams {
    /// Name that the user gave the host.
    pub name: String,
    /// Kind of the host: an endpoint or a server.
    pub kind: HostKind,
    /// Level of detail of the simulation, if the host is a server.
    #[serde(with = "super::variant")]
    pub fidelity: Fidelity,
    /// Compression engines of the NIC, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress: Option<CompressParams>,
}

/// Kind of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HostKind {
    /// Transports attached to a cable: no NIC, no cores, no memory.
    Endpoint(EndpointParams),
    /// A server with its host network.
    Server(Box<ServerParams>),
}

/// Host without a host network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndpointParams {
    /// Time from the last bit of a packet to its transport, and from the transport to the port, in ps; at least 1.
    pub latency_ps: u64,
    /// Maximum number of packets in the queue of a port; packets of the transports wait for room.
    pub queue_packets: u32,
    /// Number of its first ports by which packets for other hosts come in and are forwarded by its other ports; 0 if
    /// it forwards none.
    #[serde(default)]
    pub forwarding_ports: u16,
}

impl HostParams {
    /// Returns the number of its first ports by which packets come in that it forwards; 0 if it forwards none.
    #[must_use]
    pub fn forwarding_ports(&self) -> u16 {
        match &self.kind {
            HostKind::Endpoint(endpoint) => endpoint.forwarding_ports,
            HostKind::Server(_) => 0,
        }
    }
}
