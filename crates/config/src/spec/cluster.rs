//! A cluster: hosts, what joins them, and what they send.

use super::compress::CompressSpec;
use super::job::JobSpec;
use super::lists::{ChannelList, CoreList, Names};
use super::mcn::McnSpec;
use super::network::{CableSpec, MoveSpec, NetworkSpec, Span, SwitchSpec};
use super::packets::FunctionSpec;
use super::patterns::{FlowSizesSpec, PairsSpec};
use super::service::{ArrivalsSpec, ServiceSpec};
use super::transport::TransportSpec;
use super::values::{Bandwidth, Size, Time};
use super::RunSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Hosts, what joins them, what they send, and for how long: the content of a configuration file. Values with units are
/// strings such as "100 Gbps", "5 us" or "4000 B". What is absent comes from the preset of a host, from the network, or
/// from the base of a transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterSpec {
    /// The hosts, by name.
    pub(crate) host: BTreeMap<String, HostSpec>,
    /// What cables and switches are like, and, when there are no cables, how hosts are joined.
    #[serde(default)]
    pub(crate) network: NetworkSpec,
    /// Switches, by name.
    #[serde(default)]
    pub(crate) switch: BTreeMap<String, SwitchSpec>,
    /// Cables, by name.
    #[serde(default)]
    pub(crate) cable: BTreeMap<String, CableSpec>,
    /// Transports, by name. "dctcp", "cubic", "reno", "roce" and "dcqcn" are there; a table of that name changes one.
    #[serde(default)]
    pub(crate) transport: BTreeMap<String, TransportSpec>,
    /// What is sent, by name.
    #[serde(default)]
    pub(crate) flow: BTreeMap<String, FlowSpec>,
    /// Programs of ranks, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) job: BTreeMap<String, JobSpec>,
    /// How long to simulate.
    #[serde(default)]
    pub(crate) run: RunSpec,
}

/// A host: a server with every key that a server has, or an endpoint without a host network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct HostSpec {
    /// What it is made of.
    #[serde(default)]
    pub(crate) kind: HostKindSpec,
    /// The server that its values start from; it needs a NIC, as "cascade-lake-hostcc" has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) preset: Option<String>,
    /// Of a server: its sockets; those of its preset when absent, 1 without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8))]
    pub(crate) sockets: Option<u32>,
    /// How many hosts there are like this one. Above 1 they are named NAME-0, NAME-1 ..., and NAME means all of them.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16384))]
    pub(crate) count: u32,
    /// In a topology of many switches: the switch that it is cabled to, or one for each of its hosts; the first with a
    /// free port when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Names>,
    /// How finely a server is simulated; "line" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fidelity: Option<FidelitySpec>,
    /// Of a DIMM: the host in whose memory slots it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) on: Option<String>,
    /// Of a DIMM: the memory channel of that host, or several, which those like it are in in turn, such as "0-1"; all
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) channels: Option<ChannelList>,
    /// The memory channel network, over which DIMMs with processors in the slots of a server talk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mcn: Option<McnSpec>,
    /// Of an endpoint: from the last bit of a packet to its transport, and from the transport to the port, each (time);
    /// "1 us" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 s"))]
    pub(crate) latency: Option<Time>,
    /// Of an endpoint: packets queued at its port at most, while its transports wait for room; 64 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) queue: Option<u32>,
    /// Engines of an endpoint that compress the data of packets. A server has them as `nic.compress`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compress: Option<CompressSpec>,
    /// The tables of a server.
    #[serde(flatten)]
    #[schemars(skip)]
    pub(crate) server: Map<String, Value>,
}

/// What a host is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HostKindSpec {
    /// A server with its host network.
    #[default]
    Server,
    /// Transports at the end of a cable: no NIC, no cores, no memory.
    Endpoint,
    /// A server on a DIMM in a memory slot of another one: no NIC, but rings that the other can reach.
    Dimm,
}

/// How finely a server is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FidelitySpec {
    /// Line by line.
    Line,
    /// Several lines at a time, as many as a TLP has.
    Burst,
    /// Packet by packet over a memory system that has rates.
    Fluid,
}

/// Something that is sent from hosts to hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowSpec {
    /// What its applications do.
    pub(crate) kind: FlowKindSpec,
    /// The host that begins it, or several: each of them has its own, or lists of equal length are paired.
    pub(crate) from: Names,
    /// The other host, or several.
    pub(crate) to: Names,
    /// Flows of each pair of hosts.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) count: u32,
    /// Who of `from` sends to whom of `to`, which may be the same hosts; as the lists say when absent, at random with
    /// `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pairs: Option<PairsSpec>,
    /// Of the pairs "incast": hosts of `from`, drawn at random, that send to each of `to`; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub(crate) senders: Option<u32>,
    /// Of "bulk", "write" and "read": data of each flow at random, from a distribution by name ("web-search",
    /// "data-mining") or a list of tables of `bytes` and `share`. Of "packets": of each packet, with the header of 14 B
    /// of its frame, by name ("database", "webserver", "hadoop"), such a list, or a CSV file of both columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sizes: Option<FlowSizesSpec>,
    /// Flows begin at random (Poisson), so many that their data is this share of what the cables of `from` carry, or
    /// those of `to` if that is less (0 to 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub(crate) load: Option<f64>,
    /// With `load`: when no more flows begin, from the start of the run (time); its end when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub(crate) until: Option<Time>,
    /// How it is carried: a transport by name; "dctcp" when absent, "roce" for "write" and "read". Not of "datagram",
    /// "packets" and "forward", which are UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) transport: Option<String>,
    /// The class that its results are counted under; its own name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) class: Option<String>,
    /// Cores of the applications at `from`, in turn; the lowest free cores when absent, with several sockets those of
    /// socket 0 first, wherever the NIC hangs off. A core that is named may have workloads too, at a host line by line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from_cores: Option<CoreList>,
    /// Cores of the applications at `to`, in turn; the lowest free cores when absent, as of `from_cores`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to_cores: Option<CoreList>,
    /// Largest IP packet (size); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "65535 B"))]
    pub(crate) mtu: Option<Size>,
    /// Priority class of its packets; 3 over RoCE and 0 otherwise when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 7))]
    pub(crate) priority: Option<u8>,
    /// When the first of its flows begins, from the start of the run (time).
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub(crate) start: Time,
    /// How much later each of its flows begins than the one before (time).
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub(crate) stagger: Time,
    /// Of "bulk" and "rpc" over TCP: when the receiving application does not read: two times from the start of the run
    /// (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deaf: Option<Span>,
    /// Of "bulk" and "rpc" over TCP: when its threads go to other cores, in the order of time, at most 1024 times, such
    /// as `[{ at = "2 ms", core = 14 }]`; all flows of the table go there, at each of its hosts.
    #[serde(default, rename = "move", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub(crate) moves: Vec<MoveSpec>,
    /// Of "bulk" over TCP from a server: where the pages of a file lie that is sent without a copy, one for each flow:
    /// "local" (with the core that it begins at; "first-touch" is the same), "node:1" (in the memory of a
    /// socket) or "interleave" (in that of all in turn). When absent, what the application writes is copied and sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sendfile: Option<String>,
    /// The switches that its packets pass from `from` to `to`, and in turn on the way back; a shortest way when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub(crate) via: Vec<String>,
    /// Of "bulk", "write" and "read": data of each flow (size); without end when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub(crate) bytes: Option<Size>,
    /// Of "datagram": what its applications do; "open" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pattern: Option<DatagramPatternSpec>,
    /// Of the patterns "open" and "generate": data of a datagram, which the MTU has room for with headers of 28 B
    /// (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "65507 B"))]
    pub(crate) size: Option<Size>,
    /// Of the pattern "open": data per second of each flow (bandwidth); as fast as the sender can when absent. Of
    /// "packets": bytes of its packets per second, as `sizes` counts them, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 kbps", "x-max" = "10 TB/s"))]
    pub(crate) rate: Option<Bandwidth>,
    /// Of the pattern "ping": when a request without an answer is given up (time); "10 ms" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub(crate) timeout: Option<Time>,
    /// Of UDP: data that the socket of a server holds in either direction (size); "212992 B" when absent, as in
    /// Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GiB"))]
    pub(crate) buffer: Option<Size>,
    /// Of "rpc", "service" and the pattern "ping": a request (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub(crate) request: Option<Size>,
    /// Of "rpc", "service" and the pattern "ping": an answer (size); as large as a request when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub(crate) response: Option<Size>,
    /// Of "rpc": requests of another kind among them, at random, such as those of memcached that store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) other: Option<OtherSpec>,
    /// Of "service": when requests come, and who serves them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) service: Option<ServiceSpec>,
    /// Of "rpc": requests in flight; 1 when absent. Of "service": requests without an answer at most, beyond which they
    /// are given up; 1024 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) in_flight: Option<u32>,
    /// Of "rpc" and the pattern "ping": time between an answer and the next request (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub(crate) think: Option<Time>,
    /// Of "replay": a capture (pcap or pcapng), relative to the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pcap: Option<String>,
    /// Of "replay": what the times of the capture are multiplied by; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000001, max = 1_000_000.0))]
    pub(crate) scale: Option<f64>,
    /// Of "packets" with `rate`: how they come, "poisson" or "constant"; "poisson" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) arrivals: Option<ArrivalsSpec>,
    /// Of "forward": the tables of flows whose packets `from` sends on, a name or a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) takes: Option<Names>,
    /// Of "forward": what a core reads of a packet before it is sent on; "l3f" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) function: Option<FunctionSpec>,
    /// Of "forward": work of a core on each packet beside that of its driver and its lines (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) work: Option<Time>,
}

impl FlowSpec {
    /// Whether its sizes are those of packets.
    pub(crate) fn is_packets(&self) -> bool {
        self.kind == FlowKindSpec::Packets
    }
}

/// Requests that are not like the others of their flow, as those that store values of those that ask for them
/// (memcached).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OtherSpec {
    /// How many requests are of this kind (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) share: f64,
    /// A request (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub(crate) request: Size,
    /// An answer (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub(crate) response: Size,
}

/// What the applications of a flow do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FlowKindSpec {
    /// `from` sends data (iperf).
    Bulk,
    /// `from` sends requests that `to` answers (netperf).
    Rpc,
    /// `from` sends requests when they come, and workers of `to` serve them (httperf, memcached).
    Service,
    /// `from` writes to the memory of `to` (RDMA, ib_write_bw).
    Write,
    /// `from` reads from the memory of `to` (RDMA, ib_read_bw).
    Read,
    /// `from` sends the packets of a capture.
    Replay,
    /// `from` sends datagrams over UDP.
    Datagram,
    /// `from` sends packets of different sizes over UDP, without waiting for anything.
    Packets,
    /// `from` sends on what comes to it by other flows.
    Forward,
}

/// What the applications of a flow of datagrams do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DatagramPatternSpec {
    /// `from` sends without waiting for anything (iperf -u).
    #[default]
    Open,
    /// `from` sends one request, `to` answers it (sockperf).
    Ping,
    /// The kernel of `from` hands its NIC one packet again and again (pktgen).
    Generate,
}

fn one() -> u32 {
    1
}

fn no_time() -> Time {
    Time(0)
}
