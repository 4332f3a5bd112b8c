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

/// Flows between hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Behaviour of the applications.
    pub kind: FlowKindSpec,
    /// Host that initiates the flow, or several: each of them has private flows, or lists of equal length are paired.
    pub from: Names,
    /// Host at the other end, or several.
    pub to: Names,
    /// Flows per pair of hosts.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65536))]
    pub count: u32,
    /// Pairing of the hosts of `from` and `to`, which may be the same hosts; as the lists say when absent, at random
    /// with `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsSpec>,
    /// For the pairs "incast": hosts of `from`, drawn at random, that send to each host of `to`; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub senders: Option<u32>,
    /// For "bulk", "write" and "read": random size of each flow, from a distribution by name ("web-search",
    /// "data-mining") or a list of tables of `bytes` and `share`. For "packets": random size of each packet, with the
    /// header of 14 B of its frame, by name ("database", "webserver", "hadoop"), such a list, or a CSV file of both
    /// columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<FlowSizesSpec>,
    /// Offered load: flows start at random (Poisson), at a rate at which their data is this share of the capacity of
    /// the cables of `from`, or of those of `to` if that is less (0 to 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub load: Option<f64>,
    /// With `load`: time after which no more flows start, from the start of the run (time); its end when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub until: Option<Time>,
    /// Transport, by name; "dctcp" when absent, "roce" for "write" and "read". Not for "datagram", "packets" and
    /// "forward", which use UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// Class that the results of the flows are counted under; the name of the table when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Cores of the applications at `from`, assigned round robin; the lowest free cores when absent, with several
    /// sockets those of socket 0 first, wherever the NIC is attached. A core that is given may run workloads too, at a
    /// host with fidelity "line".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_cores: Option<CoreList>,
    /// Cores of the applications at `to`, assigned round robin; the lowest free cores when absent, as for `from_cores`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_cores: Option<CoreList>,
    /// Largest IP packet (size); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "65535 B"))]
    pub mtu: Option<Size>,
    /// Priority class of the packets; 3 over RoCE and 0 otherwise when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 7))]
    pub priority: Option<u8>,
    /// Start of the first flow, from the start of the run (time).
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub start: Time,
    /// Delay between the starts of consecutive flows of the table (time).
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub stagger: Time,
    /// For "bulk" and "rpc" over TCP: interval in which the receiving application does not read: two times from the
    /// start of the run (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deaf: Option<Span>,
    /// For "bulk" and "rpc" over TCP: migrations of the threads to other cores, in order of time, at most 1024, such as
    /// `[{ at = "2 ms", core = 14 }]`; all flows of the table migrate, at each of its hosts.
    #[serde(default, rename = "move", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub moves: Vec<MoveSpec>,
    /// For "bulk" over TCP from a server: placement of the pages of a file that is sent without a copy, one file per
    /// flow: "local" (to the core that initiates the flow; "first-touch" is the same), "node:1" (in the memory of a
    /// NUMA node) or "interleave" (over all nodes, round robin). When absent, data that the application writes is
    /// copied and sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sendfile: Option<String>,
    /// Switches on the path from `from` to `to`, and in reverse order on the path back; a shortest path when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub via: Vec<String>,
    /// For "bulk", "write" and "read": data of each flow (size); without end when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub bytes: Option<Size>,
    /// For "datagram": behaviour of the applications; "open" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<DatagramPatternSpec>,
    /// For the patterns "open" and "generate": data of a datagram (size); with headers of 28 B it must fit the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "65507 B"))]
    pub size: Option<Size>,
    /// For the pattern "open": data rate of each flow (bandwidth); as fast as the sender can when absent. For
    /// "packets": mean rate of the bytes of the packets, as `sizes` counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 kbps", "x-max" = "10 TB/s"))]
    pub rate: Option<Bandwidth>,
    /// For the pattern "ping": timeout of a request without a response (time); "10 ms" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub timeout: Option<Time>,
    /// For UDP: data that a socket of a server buffers in either direction (size); "212992 B" when absent, as in Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GiB"))]
    pub buffer: Option<Size>,
    /// For "rpc", "service" and the pattern "ping": size of a request (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub request: Option<Size>,
    /// For "rpc", "service" and the pattern "ping": size of a response (size); that of a request when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub response: Option<Size>,
    /// For "rpc": requests of a second kind, chosen at random, such as the SET requests of memcached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherSpec>,
    /// For "service": arrivals of requests, and the workers that serve them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceSpec>,
    /// For "rpc": requests in flight; 1 when absent. For "service": maximum number of requests without a response,
    /// beyond which requests are abandoned; 1024 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub in_flight: Option<u32>,
    /// For "rpc" and the pattern "ping": time between a response and the next request (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub think: Option<Time>,
    /// For "replay": path of a capture (pcap or pcapng), relative to the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcap: Option<String>,
    /// For "replay": factor that the times of the capture are multiplied by; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000001, max = 1_000_000.0))]
    pub scale: Option<f64>,
    /// For "packets" with `rate`: arrival process of the packets, "poisson" or "constant"; "poisson" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalsSpec>,
    /// For "forward": tables of flows whose packets `from` forwards, a name or a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<Names>,
    /// For "forward": data of a packet that a core reads before it forwards the packet; "l3f" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<FunctionSpec>,
    /// For "forward": work of a core on each packet beside that of its driver and its lines (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub work: Option<Time>,
}

impl FlowSpec {
    /// Returns true if the sizes are those of packets.
    pub fn is_packets(&self) -> bool {
        self.kind == FlowKindSpec::Packets
    }
}

/// Requests of a second kind in a flow, such as the SET requests among the GET requests of memcached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherSpec {
    /// Share of requests of this kind (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Size of a request (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub request: Size,
    /// Size of a response (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub response: Size,
}

/// Behaviour of the applications of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FlowKindSpec {
    /// `from` sends data (iperf).
    Bulk,
    /// `from` sends requests, and `to` answers each (netperf).
    Rpc,
    /// `from` sends requests in an open loop, and workers of `to` serve them (httperf, memcached).
    Service,
    /// `from` writes to the memory of `to` (RDMA, ib_write_bw).
    Write,
    /// `from` reads from the memory of `to` (RDMA, ib_read_bw).
    Read,
    /// `from` sends the packets of a capture.
    Replay,
    /// `from` sends datagrams over UDP.
    Datagram,
    /// `from` sends packets of different sizes over UDP in an open loop.
    Packets,
    /// `from` forwards the packets that it receives by other flows.
    Forward,
}

/// Behaviour of the applications of a flow of datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatagramPatternSpec {
    /// `from` sends in an open loop (iperf -u).
    #[default]
    Open,
    /// `from` sends one request at a time, and `to` answers it (sockperf).
    Ping,
    /// The kernel of `from` passes the same packet to its NIC repeatedly (pktgen).
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
    /// Placement of the pages of the file that is sent without a copy (sendfile), if any; one file per flow.
    pub sendfile: Option<Placement>,
    /// Switches on the path to `to`, and in reverse order on the path from there; empty = a shortest path.
    pub via: Vec<u16>,
    /// Priority class of the flow's packets, 0 to 7.
    pub priority: u8,
    /// MTU: maximum bytes of a frame beyond the Ethernet header.
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
