//! Keys and parameters of the flows of a cluster.

use super::cable::Span;
use super::lists::{CoreList, Names};
use super::network::MoveSpec;
use super::packets::{ForwardParams, FunctionSpec, PacketsParams};
use super::patterns::{FlowSizesSpec, PairsSpec};
use super::ranks::RankChannelParams;
use super::service::{ArrivalsSpec, ServiceParams, ServiceSpec};
use super::transport::Transport;
use super::values::{Bandwidth, Size, Time};
use super::workload::Placement;
use hostnet_kernel::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that is sent from hosts to hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// What its applications do.
    pub kind: FlowKindSpec,
    /// The host that begins it, or several: each of them has its own, or lists of equal length are paired.
    pub from: Names,
    /// The other host, or several.
    pub to: Names,
    /// Flows of each pair of hosts.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65536))]
    pub count: u32,
    /// Who of `from` sends to whom of `to`, which may be the same hosts; as the lists say when absent, at random with
    /// `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsSpec>,
    /// Of the pairs "incast": hosts of `from`, drawn at random, that send to each of `to`; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub senders: Option<u32>,
    /// Of "bulk", "write" and "read": data of each flow at random, from a distribution by name ("web-search",
    /// "data-mining") or a list of tables of `bytes` and `share`. Of "packets": of each packet, with the header of 14 B
    /// of its frame, by name ("database", "webserver", "hadoop"), such a list, or a CSV file of both columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<FlowSizesSpec>,
    /// Flows begin at random (Poisson), so many that their data is this share of what the cables of `from` carry, or
    /// those of `to` if that is less (0 to 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub load: Option<f64>,
    /// With `load`: when no more flows begin, from the start of the run (time); its end when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub until: Option<Time>,
    /// How it is carried: a transport by name; "dctcp" when absent, "roce" for "write" and "read". Not of "datagram",
    /// "packets" and "forward", which are UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The class that its results are counted under; its own name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Cores of the applications at `from`, in turn; the lowest free cores when absent, with several sockets those of
    /// socket 0 first, wherever the NIC hangs off. A core that is named may have workloads too, at a host line by line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_cores: Option<CoreList>,
    /// Cores of the applications at `to`, in turn; the lowest free cores when absent, as of `from_cores`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_cores: Option<CoreList>,
    /// Largest IP packet (size); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "65535 B"))]
    pub mtu: Option<Size>,
    /// Priority class of its packets; 3 over RoCE and 0 otherwise when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 7))]
    pub priority: Option<u8>,
    /// When the first of its flows begins, from the start of the run (time).
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub start: Time,
    /// How much later each of its flows begins than the one before (time).
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub stagger: Time,
    /// Of "bulk" and "rpc" over TCP: when the receiving application does not read: two times from the start of the run
    /// (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deaf: Option<Span>,
    /// Of "bulk" and "rpc" over TCP: when its threads go to other cores, in the order of time, at most 1024 times, such
    /// as `[{ at = "2 ms", core = 14 }]`; all flows of the table go there, at each of its hosts.
    #[serde(default, rename = "move", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub moves: Vec<MoveSpec>,
    /// Of "bulk" over TCP from a server: where the pages of a file lie that is sent without a copy, one for each flow:
    /// "local" (with the core that it begins at; "first-touch" is the same), "node:1" (in the memory of a
    /// socket) or "interleave" (in that of all in turn). When absent, what the application writes is copied and sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sendfile: Option<String>,
    /// The switches that its packets pass from `from` to `to`, and in turn on the way back; a shortest way when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub via: Vec<String>,
    /// Of "bulk", "write" and "read": data of each flow (size); without end when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub bytes: Option<Size>,
    /// Of "datagram": what its applications do; "open" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<DatagramPatternSpec>,
    /// Of the patterns "open" and "generate": data of a datagram, which the MTU has room for with headers of 28 B
    /// (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "65507 B"))]
    pub size: Option<Size>,
    /// Of the pattern "open": data per second of each flow (bandwidth); as fast as the sender can when absent. Of
    /// "packets": bytes of its packets per second, as `sizes` counts them, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 kbps", "x-max" = "10 TB/s"))]
    pub rate: Option<Bandwidth>,
    /// Of the pattern "ping": when a request without an answer is given up (time); "10 ms" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub timeout: Option<Time>,
    /// Of UDP: data that the socket of a server holds in either direction (size); "212992 B" when absent, as in
    /// Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GiB"))]
    pub buffer: Option<Size>,
    /// Of "rpc", "service" and the pattern "ping": a request (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub request: Option<Size>,
    /// Of "rpc", "service" and the pattern "ping": an answer (size); as large as a request when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub response: Option<Size>,
    /// Of "rpc": requests of another kind among them, at random, such as those of memcached that store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherSpec>,
    /// Of "service": when requests come, and who serves them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceSpec>,
    /// Of "rpc": requests in flight; 1 when absent. Of "service": requests without an answer at most, beyond which they
    /// are given up; 1024 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub in_flight: Option<u32>,
    /// Of "rpc" and the pattern "ping": time between an answer and the next request (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub think: Option<Time>,
    /// Of "replay": a capture (pcap or pcapng), relative to the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcap: Option<String>,
    /// Of "replay": what the times of the capture are multiplied by; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000001, max = 1_000_000.0))]
    pub scale: Option<f64>,
    /// Of "packets" with `rate`: how they come, "poisson" or "constant"; "poisson" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalsSpec>,
    /// Of "forward": the tables of flows whose packets `from` sends on, a name or a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<Names>,
    /// Of "forward": what a core reads of a packet before it is sent on; "l3f" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<FunctionSpec>,
    /// Of "forward": work of a core on each packet beside that of its driver and its lines (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub work: Option<Time>,
}

impl FlowSpec {
    /// Whether its sizes are those of packets.
    pub fn is_packets(&self) -> bool {
        self.kind == FlowKindSpec::Packets
    }
}

/// Requests that are not like the others of their flow, as those that store values of those that ask for them
/// (memcached).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherSpec {
    /// How many requests are of this kind (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// A request (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub request: Size,
    /// An answer (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub response: Size,
}

/// What the applications of a flow do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FlowKindSpec {
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
pub enum DatagramPatternSpec {
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

/// Flow: data sent between two hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowParams {
    /// Traffic class of the flow.
    pub class: u8,
    /// Host that initiates the flow.
    pub from: u16,
    /// Host at the other end.
    pub to: u16,
    /// Core that runs the application at `from`, if that is a server and the transport runs on cores.
    pub from_core: u32,
    /// Core that runs the application at `to`, if that is a server and the transport runs on cores.
    pub to_core: u32,
    /// Transport protocol.
    pub transport: Transport,
    /// Behaviour of the applications at both ends.
    pub traffic: Traffic,
    /// Start of the flow, in ps.
    pub start_ps: u64,
    /// Interval in which the receiving application does not read, from and to in ps.
    pub deaf_ps: Option<(u64, u64)>,
    /// Migrations of the flow's threads to other cores, in order of time.
    pub moves: Vec<ThreadMigrationParams>,
    /// Placement of the pages of the file that is sent without a copy (sendfile), if any; each flow has a file of its
    /// own.
    pub sendfile: Option<Placement>,
    /// Switches on the path to `to`, and in reverse order on the path from there; empty = a shortest path.
    pub via: Vec<u16>,
    /// Priority class of the flow's packets, 0 to 7.
    pub priority: u8,
    /// MTU: bytes of a frame beyond the Ethernet header at most.
    pub mtu_bytes: u32,
    /// True if NICs compress the data, on the path to `to` and on the path from there.
    #[serde(default, skip_serializing_if = "nowhere")]
    pub compress: [bool; 2],
}

fn nowhere(compress: &[bool; 2]) -> bool {
    *compress == [false; 2]
}

/// Second kind of requests, chosen at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherRequests {
    /// Share of requests of this kind, in units of 2^-32.
    pub share: u32,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Bytes of a response.
    pub response_bytes: u64,
    /// Seed of the random choice, equal at both ends.
    pub seed: u64,
}

impl OtherRequests {
    /// Returns true if request number `number` of a flow is of this kind.
    #[must_use]
    pub fn is(&self, number: u64) -> bool {
        (Rng::new(self.seed, number).next_u64() >> 32) < u64::from(self.share)
    }
}

/// Migration of a thread to another core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadMigrationParams {
    /// True for the thread at [`FlowParams::from`].
    pub initiator: bool,
    /// Time of the migration, in ps.
    pub at_ps: u64,
    /// Destination core.
    pub core: u32,
}

/// Behaviour of the applications of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Traffic {
    /// `from` sends `bytes` bytes, without end if `u64::MAX`. Over RoCE these are RDMA writes of messages.
    Bulk {
        /// Number of bytes.
        bytes: u64,
    },
    /// `from` sends requests, and `to` answers each. The next request is sent when a response is complete.
    Rpc {
        /// Bytes of a request.
        request_bytes: u64,
        /// Bytes of a response.
        response_bytes: u64,
        /// Requests of a second kind, if any.
        other: Option<OtherRequests>,
        /// Requests that are outstanding at a time.
        in_flight: u32,
        /// Time between a response and the next request, in ps.
        think_ps: u64,
    },
    /// `from` sends requests in an open loop, and `to` answers each when a worker has served it.
    Service(Box<ServiceParams>),
    /// Messages between two ranks of a job, in both directions.
    Messages(RankChannelParams),
    /// `from` reads from the memory of `to` (RoCE only).
    Read {
        /// Number of bytes; `u64::MAX` = without end.
        bytes: u64,
    },
    /// Recorded packets: time from the start of the flow in ps, bytes of the IP packet.
    Replay {
        /// Packets in order of time.
        packets: Vec<(u64, u32)>,
    },
    /// `from` sends datagrams in an open loop. This and all following kinds are UDP only.
    Datagrams {
        /// Data of a datagram, in bytes.
        bytes: u32,
        /// Rate of the data in bytes per second; `None` = as fast as the sender can.
        bytes_per_s: Option<u64>,
    },
    /// The kernel of `from` passes the same datagram to the NIC repeatedly, as fast as it can.
    Generate {
        /// Data of the datagram, in bytes.
        bytes: u32,
    },
    /// `from` sends one request, and `to` answers it. The next request is sent when the response has arrived or has
    /// timed out.
    Ping {
        /// Data of a request, in bytes.
        request_bytes: u32,
        /// Data of a response, in bytes.
        response_bytes: u32,
        /// Time between a response and the next request, in ps.
        think_ps: u64,
        /// Timeout of a request without a response, in ps.
        timeout_ps: u64,
    },
    /// `from` sends datagrams of different sizes, each at its due time.
    Packets(Box<PacketsParams>),
    /// `from` forwards the packets that it receives by another flow, and `to` reads them.
    Forward(ForwardParams),
}

impl Traffic {
    /// Returns true if small segments are sent at once (TCP_NODELAY), as applications that wait for responses request.
    #[must_use]
    pub fn no_delay(&self) -> bool {
        matches!(self, Self::Rpc { .. } | Self::Service(_) | Self::Messages(_))
    }
}

/// UDP, with the same parameters at both ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpParams {
    /// Data that a socket of a server buffers in either direction, in bytes. Received data beyond it is dropped, and a
    /// sender waits for room.
    pub buffer_bytes: u64,
}
