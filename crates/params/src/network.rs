//! Parameters of a cluster: hosts, switches, cables and the flows between hosts.

use super::CompressParams;
use super::{
    ForwardParams, JobParams, PacketsParams, Placement, RankChannelParams, ServerParams, ServiceParams, SwitchParams,
};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

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

/// Host of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostParams {
    /// Name that the user gave the host.
    pub name: String,
    /// Kind of the host: an endpoint or a server.
    pub kind: HostKind,
    /// Level of detail of the simulation, if the host is a server.
    pub fidelity: Fidelity,
    /// Compression engines of the NIC, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress: Option<CompressParams>,
}

/// Level of detail at which a server is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fidelity {
    /// Simulates every line.
    Line,
    /// Simulates several lines at a time, as many as a TLP carries.
    Burst,
    /// Simulates packets on a memory system of rates.
    Fluid,
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
    /// Packets in the queue of the port at most; packets of the transports wait for room.
    pub queue_packets: u32,
}

/// Full-duplex cable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CableParams {
    /// Both ends of the cable.
    pub ends: [CableEnd; 2],
    /// Bandwidth in each direction, in bytes per second.
    pub bytes_per_s: u64,
    /// Bytes on the wire beside the IP packet: 38 for Ethernet (header, frame check sequence, preamble, gap).
    pub framing_bytes: u32,
    /// Smallest frame on the wire in bytes, framing included: 84 for Ethernet.
    pub frame_min_bytes: u32,
    /// Propagation delay, in ps; at least 1.
    pub latency_ps: u64,
    /// Length of the cable in searches for shortest paths; at least 1, the usual value.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub length: u32,
    /// Intervals in which the cable is down, from and to in ps. Packets on it or sent onto it are lost.
    pub down_ps: Vec<(u64, u64)>,
    /// Share of packets that the cable corrupts, in units of 2^-32.
    pub corrupt: u64,
}

fn one() -> u32 {
    1
}

fn is_one(length: &u32) -> bool {
    *length == 1
}

/// End of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CableEnd {
    /// A host.
    Host(u16),
    /// A switch.
    Switch(u16),
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

/// Transport protocol of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Transport {
    /// TCP, on cores.
    Tcp(TcpParams),
    /// RoCE v2, in the NIC.
    Roce(RoceParams),
    /// UDP, on cores.
    Udp(UdpParams),
    /// No transport: packets as they are.
    Raw,
}

impl Transport {
    /// Returns true if senders slow down when their packets are marked with ECN: RoCE only with DCQCN, and UDP never.
    #[must_use]
    pub fn heeds_marks(&self) -> bool {
        match self {
            Self::Tcp(_) => true,
            Self::Roce(roce) => roce.dcqcn.is_some(),
            Self::Udp(_) | Self::Raw => false,
        }
    }
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

/// TCP, with the same parameters at both ends of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TcpParams {
    /// Congestion control algorithm.
    pub control: super::CongestionControl,
    /// Maximum segment size: data per packet at most, in bytes.
    pub mss_bytes: u32,
    /// Bytes passed to the NIC at once at most (segmentation offload, TSO); `mss_bytes` = no offload.
    pub tso_bytes: u32,
    /// Initial congestion window, in segments.
    pub initial_window: u32,
    /// Size of the receive buffer, in bytes.
    pub receive_buffer_bytes: u64,
    /// Size of the send buffer in bytes, for data sent or not yet sent.
    pub send_buffer_bytes: u64,
    /// Minimum retransmission timeout (RTO), in ps.
    pub rto_min_ps: u64,
    /// Retransmission timeout before the first RTT sample, in ps.
    pub rto_initial_ps: u64,
    /// Full segments per acknowledgement; 1 = every packet is acknowledged.
    pub ack_segments: u32,
    /// Longest delay of an acknowledgement, in ps.
    pub ack_delay_ps: u64,
    /// True if selective acknowledgements (SACK) are used.
    pub sack: bool,
    /// True if tail loss probes are sent (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// True if packets are ECN-capable. Reno and CUBIC then respond to an ECN echo as RFC 3168 says.
    pub ecn: bool,
}

/// RoCE v2, with the same parameters at both ends of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoceParams {
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Messages that are outstanding at a time.
    pub in_flight: u32,
    /// Data per packet at most, in bytes.
    pub mtu_bytes: u32,
    /// Packets per acknowledgement.
    pub ack_packets: u32,
    /// Retransmission timeout, in ps.
    pub timeout_ps: u64,
    /// Rate control; `None` = line rate of the port.
    pub dcqcn: Option<DcqcnParams>,
}

/// Parameters of DCQCN (Zhu et al., SIGCOMM 2015).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DcqcnParams {
    /// Gain g of alpha, in units of 2^-16.
    pub gain: u32,
    /// Minimum time between two congestion notifications of a flow, in ps.
    pub notify_ps: u64,
    /// Period of the update of alpha without a notification, in ps.
    pub alpha_ps: u64,
    /// Period of the rate increase timer, in ps.
    pub increase_ps: u64,
    /// Bytes per increase event of the byte counter.
    pub increase_bytes: u64,
    /// Rounds of fast recovery (F).
    pub fast_rounds: u32,
    /// Step of additive increase, in bytes per second.
    pub additive_bytes_per_s: u64,
    /// Step of hyper increase, in bytes per second.
    pub hyper_bytes_per_s: u64,
    /// Minimum rate, in bytes per second.
    pub least_bytes_per_s: u64,
}
