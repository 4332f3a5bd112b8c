//! Hosts, switches, cables and the flows between them.

use super::CompressParams;
use super::{
    ChannelParams, ForwardParams, JobParams, PacketsParams, Placement, ServerParams, ServiceParams, SwitchParams,
};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// A world of hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterParams {
    /// The hosts; their index is their number in packets.
    pub hosts: Vec<HostParams>,
    /// The switches.
    pub switches: Vec<SwitchParams>,
    /// The cables. A host has as many ports as cables end at it, in their order; so has a switch.
    pub cables: Vec<CableParams>,
    /// What is sent; the index of a flow is its number in packets.
    pub flows: Vec<FlowParams>,
    /// Jobs, whose messages are flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobParams>,
    /// Names of the classes of traffic that flows belong to.
    pub classes: Vec<String>,
    /// Seed of every random stream.
    pub seed: u64,
}

impl ClusterParams {
    /// The propagation delay of a round trip between hosts, in ps: both ways over the two longest cables, so about the
    /// longest there is.
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

/// A host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostParams {
    /// The user's name for it.
    pub name: String,
    /// What it is made of.
    pub kind: HostKind,
    /// How finely a server is simulated.
    pub fidelity: Fidelity,
    /// The engines of its NIC that make the data of packets smaller, if it has such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress: Option<CompressParams>,
}

/// How finely a server is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fidelity {
    /// Line by line.
    Line,
    /// Several lines at a time, as many as a TLP has.
    Burst,
    /// Packet by packet over a memory system that has rates.
    Fluid,
}

/// What a host is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HostKind {
    /// Transports at the end of a cable: no NIC, no cores, no memory.
    Endpoint(EndpointParams),
    /// A server with its host network.
    Server(Box<ServerParams>),
}

/// A host without a host network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndpointParams {
    /// From the last bit of a packet to its transport, and from the transport to the port, in ps each; at least 1.
    pub latency_ps: u64,
    /// Packets that are queued at its port at most; those of its transports wait for room.
    pub queue_packets: u32,
}

/// A full-duplex cable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CableParams {
    /// What it joins.
    pub ends: [End; 2],
    /// Bytes per second in either direction.
    pub bytes_per_s: u64,
    /// Bytes on the wire beyond the IP packet: 38 for Ethernet (header, frame check sequence, preamble, gap).
    pub framing_bytes: u32,
    /// Least bytes of a frame on the wire, framing included: 84 for Ethernet.
    pub frame_min_bytes: u32,
    /// Propagation delay, in ps; at least 1.
    pub latency_ps: u64,
    /// How long it is when shortest ways are looked for; at least 1, which is what most have.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub length: u32,
    /// When it is down, from and to in ps: what is on it or sent onto it is lost.
    pub down_ps: Vec<(u64, u64)>,
    /// Share of packets that it damages, in units of 2^-32.
    pub corrupt: u64,
}

fn one() -> u32 {
    1
}

fn is_one(length: &u32) -> bool {
    *length == 1
}

/// One end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// A host.
    Host(u16),
    /// A switch.
    Switch(u16),
}

/// Something that is sent from one host to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowParams {
    /// The class that it belongs to.
    pub class: u8,
    /// The host that begins it.
    pub from: u16,
    /// The other host.
    pub to: u16,
    /// The core that runs its application at `from`, if that is a server and the transport runs on cores.
    pub from_core: u32,
    /// The same at `to`.
    pub to_core: u32,
    /// How it is carried.
    pub transport: Transport,
    /// What its applications do.
    pub traffic: Traffic,
    /// When it begins, in ps.
    pub start_ps: u64,
    /// When its receiving application does not read, from and to in ps.
    pub deaf_ps: Option<(u64, u64)>,
    /// When its threads go to other cores, in the order of time.
    pub moves: Vec<MoveParams>,
    /// Where the pages of the file lie that is sent without a copy (sendfile), if there is one; each flow has its own.
    pub sendfile: Option<Placement>,
    /// The switches that its packets pass on their way to `to`, and in turn from there; none = a shortest way.
    pub via: Vec<u16>,
    /// Priority class of its packets, 0 to 7.
    pub priority: u8,
    /// Bytes that one frame may have beyond the Ethernet header: the MTU.
    pub mtu_bytes: u32,
    /// Whether engines of NICs make its data smaller, on the way to `to` and from there.
    #[serde(default, skip_serializing_if = "nowhere")]
    pub compress: [bool; 2],
}

fn nowhere(compress: &[bool; 2]) -> bool {
    *compress == [false; 2]
}

/// A second kind of requests, drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherRequests {
    /// How many of 2^32 requests are of this kind.
    pub share: u32,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Bytes of an answer.
    pub response_bytes: u64,
    /// What the numbers of both ends are drawn from.
    pub seed: u64,
}

impl OtherRequests {
    /// Whether request number `number` of a flow is of this kind.
    #[must_use]
    pub fn is(&self, number: u64) -> bool {
        (Rng::new(self.seed, number).next_u64() >> 32) < u64::from(self.share)
    }
}

/// A thread that goes to another core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveParams {
    /// Whether it is the one at [`FlowParams::from`].
    pub initiator: bool,
    /// When, in ps.
    pub at_ps: u64,
    /// The core.
    pub core: u32,
}

/// How a flow is carried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Transport {
    /// TCP, on cores.
    Tcp(TcpParams),
    /// RoCE v2, in the NIC.
    Roce(RoceParams),
    /// UDP, on cores.
    Udp(UdpParams),
    /// None: packets as they are.
    Raw,
}

impl Transport {
    /// Whether senders slow down when their packets are marked: RoCE does with DCQCN only, and datagrams never do.
    #[must_use]
    pub fn heeds_marks(&self) -> bool {
        match self {
            Self::Tcp(_) => true,
            Self::Roce(roce) => roce.dcqcn.is_some(),
            Self::Udp(_) | Self::Raw => false,
        }
    }
}

/// What the applications of a flow do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Traffic {
    /// `from` sends `bytes` bytes; `u64::MAX` = without end. Over RoCE, RDMA writes of messages.
    Bulk {
        /// Bytes.
        bytes: u64,
    },
    /// `from` sends requests, `to` answers each; the next request goes out when an answer is complete.
    Rpc {
        /// Bytes of a request.
        request_bytes: u64,
        /// Bytes of an answer.
        response_bytes: u64,
        /// Requests that are not like that.
        other: Option<OtherRequests>,
        /// Requests in flight.
        in_flight: u32,
        /// Time between an answer and the next request, in ps.
        think_ps: u64,
    },
    /// `from` sends requests when they come, `to` answers each when a worker has served it.
    Service(Box<ServiceParams>),
    /// Messages between two ranks of a job, both ways.
    Messages(ChannelParams),
    /// `from` reads from the memory of `to` (RoCE only).
    Read {
        /// Bytes; `u64::MAX` = without end.
        bytes: u64,
    },
    /// Packets given from outside: time from the start of the flow in ps, bytes of the IP packet.
    Replay {
        /// The packets, in order of time.
        packets: Vec<(u64, u32)>,
    },
    /// `from` sends datagrams without waiting for anything (UDP only, as those that follow).
    Datagrams {
        /// Data of a datagram, in bytes.
        bytes: u32,
        /// Data per second, in bytes; none = as fast as the sender can.
        bytes_per_s: Option<u64>,
    },
    /// The kernel of `from` hands the NIC one datagram again and again, as fast as it can.
    Generate {
        /// Data of the datagram, in bytes.
        bytes: u32,
    },
    /// `from` sends one request, `to` answers it; the next goes out when the answer is there, or is not waited for any
    /// more.
    Ping {
        /// Data of a request, in bytes.
        request_bytes: u32,
        /// Data of an answer, in bytes.
        response_bytes: u32,
        /// Time between an answer and the next request, in ps.
        think_ps: u64,
        /// Time until a request without an answer is given up, in ps.
        timeout_ps: u64,
    },
    /// `from` sends datagrams of different sizes, each when it is due.
    Packets(Box<PacketsParams>),
    /// `from` sends on what comes to it by another flow, `to` reads it.
    Forward(ForwardParams),
}

impl Traffic {
    /// Whether small segments are sent at once (TCP_NODELAY), as applications that wait for answers ask for.
    #[must_use]
    pub fn no_delay(&self) -> bool {
        matches!(self, Self::Rpc { .. } | Self::Service(_) | Self::Messages(_))
    }
}

/// UDP, both ends of a flow alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpParams {
    /// Data that a socket of a server holds in either direction, in bytes: what comes beyond it is dropped, and who
    /// sends waits for room.
    pub buffer_bytes: u64,
}

/// TCP, both ends of a flow alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TcpParams {
    /// Congestion control.
    pub control: super::CongestionControl,
    /// Most bytes of data in a packet.
    pub mss_bytes: u32,
    /// Most bytes of data that are handed down at once (segmentation offload); `mss_bytes` = none.
    pub tso_bytes: u32,
    /// Initial window, in segments.
    pub initial_window: u32,
    /// Bytes that the receiver has room for.
    pub receive_buffer_bytes: u64,
    /// Bytes that the sender keeps, sent or not.
    pub send_buffer_bytes: u64,
    /// Least retransmission timeout, in ps.
    pub rto_min_ps: u64,
    /// Retransmission timeout before there is a sample, in ps.
    pub rto_initial_ps: u64,
    /// Full segments per acknowledgement; 1 = every packet is acknowledged.
    pub ack_segments: u32,
    /// Longest delay of an acknowledgement, in ps.
    pub ack_delay_ps: u64,
    /// Whether selective acknowledgements are used.
    pub sack: bool,
    /// Whether tail loss probes are sent (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Whether packets are ECN-capable. Reno and CUBIC then answer an echo as RFC 3168 says.
    pub ecn: bool,
}

/// RoCE v2, both ends of a flow alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoceParams {
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Messages in flight.
    pub in_flight: u32,
    /// Data of one packet at most, in bytes.
    pub mtu_bytes: u32,
    /// Packets per acknowledgement.
    pub ack_packets: u32,
    /// When what is not acknowledged is sent again, in ps.
    pub timeout_ps: u64,
    /// Rate control; none = as fast as the port goes.
    pub dcqcn: Option<DcqcnParams>,
}

/// DCQCN (Zhu et al., SIGCOMM 2015).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DcqcnParams {
    /// Gain g of alpha, in units of 2^-16.
    pub gain: u32,
    /// Least time between two congestion notifications of a flow, in ps.
    pub notify_ps: u64,
    /// Period of the update of alpha without notification, in ps.
    pub alpha_ps: u64,
    /// Period of rate increase, in ps.
    pub increase_ps: u64,
    /// Bytes of the byte counter of rate increase.
    pub increase_bytes: u64,
    /// Rounds of fast recovery, F.
    pub fast_rounds: u32,
    /// Additive increase, in bytes per second.
    pub additive_bytes_per_s: u64,
    /// Hyper increase, in bytes per second.
    pub hyper_bytes_per_s: u64,
    /// Least rate, in bytes per second.
    pub least_bytes_per_s: u64,
}
