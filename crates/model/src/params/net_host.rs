//! What a server needs to be on a network, and what runs beside its network traffic.

use super::LineSize;
use super::{PcieParams, StreamParams};
use serde::{Deserialize, Serialize};

/// A function of a NIC beside its first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NicFunctionParams {
    /// The socket that it hangs off.
    pub socket: u8,
    /// Its PCIe link.
    pub pcie: PcieParams,
}

/// What a card costs the cores beyond its link: the accesses to its registers, and the descriptors that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachParams {
    /// From a core to the agent on the die that the card's link hangs off, in ps; as long back.
    pub register_ps: u64,
    /// Whether the driver reads the card's status before it rings the doorbell.
    pub status: bool,
    /// Receive descriptors that the card reads at a time, ahead of the packets that need them; at least 1.
    pub fetch: u32,
}

/// A NIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NicParams {
    /// Its PCIe link: that of its first function, which hangs off the socket that the NIC is listed at.
    pub pcie: PcieParams,
    /// Its other functions, on other sockets.
    pub functions: Vec<NicFunctionParams>,
    /// By function, the first included: the socket whose cores' queues go by it. Empty if that is its own of each.
    pub serves: Vec<u8>,
    /// Whether the queues of a core go by the function of its own socket, if there is one (an octopus); else all go by
    /// the first.
    pub octo: bool,
    /// What its registers and descriptors cost; `None` = nothing beyond `transmit_ps` and `receive_ps`.
    pub attach: Option<AttachParams>,
    /// Receive buffer in bytes.
    pub buffer_bytes: u64,
    /// The largest frame in bytes, its Ethernet header among them. A packet is dropped unless the buffer has room for
    /// this much: how long a frame is shows at its end.
    pub frame_bytes: u32,
    /// Receive queues; a queue belongs to the core of the same index in [`StackParams::cores`].
    pub queues: u32,
    /// Descriptors per receive queue.
    pub ring_entries: u32,
    /// Bytes of memory per descriptor, a multiple of 64: the largest frame that a queue takes.
    pub descriptor_bytes: u32,
    /// With a striding receive queue: frames lie one after the other, at multiples of this many bytes, a multiple of
    /// 64. 0: each in the memory of its descriptor.
    pub stride_bytes: u32,
    /// Bytes of memory that the buffers of one queue go through before the first is used again.
    pub pool_bytes: u64,
    /// Bytes of a completion, written to memory after the data of a packet.
    pub completion_bytes: u32,
    /// Bytes of an event queue entry, written to memory before an interrupt. 0: there is none.
    pub event_bytes: u32,
    /// From the last bit of a packet to its first TLP at an idle NIC, in ps.
    pub receive_ps: u64,
    /// From a doorbell to the first read of a descriptor, and from data to the port, in ps.
    pub transmit_ps: u64,
    /// From a completion to the core that is interrupted, in ps.
    pub interrupt_ps: u64,
    /// Interrupt moderation: longest wait of a first completion, in ps.
    pub coalesce_ps: u64,
    /// Interrupt moderation: completions that end the wait.
    pub coalesce_packets: u32,
    /// Bytes that may be asked of memory for sending and not yet be sent.
    pub send_window_bytes: u32,
    /// Whether its writes go to the LLC; only with caches.
    pub ddio: bool,
    /// Whether its writes may pass each other on their way to memory (PCIe relaxed ordering). Without it an entry of
    /// the IIO is kept until every earlier write of the NIC has been accepted.
    pub relaxed_ordering: bool,
    /// When it pauses its peer; the bytes are those of the receive buffer.
    pub pfc: Option<super::PfcParams>,
    /// Whether packets of a flow are joined by the NIC (LRO) up to the largest segment.
    pub lro: bool,
    /// Whether its rings and receive buffers lie in the memory of its own socket, and not of that of their core.
    pub rings_at_device: bool,
    /// Whether descriptors say for each fragment of what is sent by which function it is read: that of the node where
    /// it lies (IOctoSG). Only of an octopus.
    pub scatter: bool,
    /// From a core that asks for packets of a flow to come in by another queue until they do, in ps.
    pub steer_ps: u64,
    /// After so long without a packet the queue of a flow is forgotten, in ps; 0 = never.
    pub steer_expiry_ps: u64,
    /// What a line of the simulated memory stands for.
    pub line_size: LineSize,
}

impl NicParams {
    /// Bytes of memory that a frame of `bytes` bytes takes of its queue's pool.
    #[must_use]
    pub fn step_bytes(&self, bytes: u32) -> u32 {
        if self.stride_bytes == 0 {
            self.descriptor_bytes
        } else {
            bytes.next_multiple_of(self.stride_bytes)
        }
    }
}

/// What the kernel and the applications of a server cost its cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StackParams {
    /// The cores that have a receive queue of the NIC, in the order of the queues.
    pub cores: Vec<u32>,
    /// Receive queues, if there are fewer than cores that serve the NIC: the packets of the others come by the queues
    /// in turn, and are handed on.
    pub receive_queues: Option<u32>,
    /// Work of the driver and IP per received packet, in ps.
    pub packet_ps: u64,
    /// Work of TCP and the socket per received segment, after packets were joined, in ps.
    pub segment_ps: u64,
    /// Work per acknowledgement sent, in ps.
    pub ack_ps: u64,
    /// Work per segment sent, before the NIC cuts it, in ps.
    pub send_ps: u64,
    /// Work of allocating and releasing the socket buffer of a packet that came or of a segment that goes out, if its
    /// data is copied, in ps.
    pub allocate_ps: u64,
    /// Work of the kernel's generator of packets per packet, beyond what the lines of rings take to come, in ps.
    pub generate_ps: u64,
    /// Work of the copy to or from the application per line, beyond what the line's data takes to come, in ps.
    pub copy_line_ps: u64,
    /// System call and wake-up of an application that waits, in ps.
    pub wake_ps: u64,
    /// System call of an application that goes on, in ps.
    pub call_ps: u64,
    /// Bytes that an application reads or writes per system call.
    pub call_bytes: u32,
    /// Packets that are taken from a queue before others have their turn (NAPI budget).
    pub budget: u32,
    /// Bytes up to which packets of a flow are joined (GRO); 0 = not at all.
    pub gro_bytes: u32,
    /// Lines of a copy that are on their way at most where prefetchers of the L2 help it, those of the LFB among them;
    /// 0: they do not.
    pub prefetch_ahead: u32,
    /// Whether the adjacent-line prefetcher brings completions in pairs; only where prefetchers help copies.
    pub prefetch_pairs: bool,
    /// Whether applications write and read where the NIC does, so that nothing is copied.
    pub zero_copy: bool,
    /// Whether the core polls instead of waiting for interrupts.
    pub poll: bool,
    /// Lines per received packet that the kernel reads beside the payload, in units of 2^-16: headers and completions.
    pub extra_lines: u64,
    /// Lines per 4096 bytes of received packets that the kernel stores to, in units of 2^-16: what it keeps of pages.
    pub page_lines: u64,
    /// Whether prefetchers ask for the lines of the kernel before they are needed.
    pub prefetched: bool,
    /// Lines that the copy asks for ahead of the one it needs, at most the LFB entries of the core.
    pub copy_ahead: u32,
    /// Whether the application's buffer lies in the caches, so that only the source of a copy is memory traffic.
    pub cached_user: bool,
    /// What a line of the simulated memory stands for.
    pub line_size: LineSize,
}

/// Cores of other sockets whose memory is on this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteParams {
    /// Other sockets; each is a core's or several cores', and has a pair of UPI directions of its own.
    pub sockets: u32,
    /// The way between the sockets.
    pub upi: UpiParams,
    /// Lines that a core keeps in flight, line fill buffer and prefetches together.
    pub lines_in_flight: u32,
    /// Whether a line that becomes dirty at another socket is noted in memory by a write of its own (directory).
    pub directory: bool,
    /// What the cores of other sockets run; each entry is a core.
    pub cores: Vec<RemoteCore>,
}

/// A core of another socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteCore {
    /// Its socket, from 0.
    pub socket: u32,
    /// The workload that it belongs to.
    pub class: u8,
    /// What it does; the cores named there have no meaning.
    pub stream: StreamParams,
}

/// One pair of UPI directions between two sockets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpiParams {
    /// Bytes per second in one direction.
    pub bytes_per_s: u64,
    /// Latency in one direction, in ps.
    pub latency_ps: u64,
    /// Lines with data on their way in one direction.
    pub data_credits: u32,
    /// Requests without data on their way in one direction.
    pub request_credits: u32,
    /// Bytes of a flit train with a line of data.
    pub data_bytes: u32,
    /// Bytes of a request or an answer without data.
    pub request_bytes: u32,
}

/// What watches the host and throttles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlParams {
    /// The rule.
    pub rule: ControlRule,
    /// Time of one MSR read: mean and half its range, in ps.
    pub read_ps: u64,
    /// See `read_ps`.
    pub read_spread_ps: u64,
    /// Time of one MBA write, in ps.
    pub write_ps: u64,
    /// Time of a signal that stops or continues a process, in ps.
    pub signal_ps: u64,
    /// Period of the IIO clock by which occupancy is accumulated, in ps.
    pub iio_clock_ps: u64,
    /// What MBA at its highest value adds to every request of a core, in ps.
    pub mba_ps: u64,
    /// Whether the reads of the IIO and outgoing packets are looked at instead of writes and incoming ones.
    pub sender: bool,
}

/// What is done about host congestion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ControlRule {
    /// Signals are read, nothing is done.
    Watch,
    /// hostCC.
    HostCc(HostCcParams),
    /// A level for ever, 0 to 4.
    Fixed(u8),
    /// A rule from outside, known by its name.
    User(String),
}

/// The rule of hostCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCcParams {
    /// Occupancy of the IIO above which the host is congested, in lines, in units of 2^-10.
    pub occupancy: u64,
    /// Bandwidth that network traffic shall have, at the PCIe, in bytes per second.
    pub target_bytes_per_s: u64,
    /// Weight of a new sample of occupancy is 2 to the minus this.
    pub occupancy_shift: u32,
    /// The same of bandwidth.
    pub bandwidth_shift: u32,
    /// Least time between two steps down of the level, in ps.
    pub hold_ps: u64,
    /// Whether cores are throttled.
    pub local: bool,
    /// Whether packets are marked.
    pub echo: bool,
    /// Samples of occupancy up to this many lines are discarded.
    pub occupancy_floor: u64,
    /// Samples of bandwidth from this many bytes per second on are discarded.
    pub bandwidth_ceiling: u64,
}

/// The ways between the sockets of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SocketsParams {
    /// The way between each two of them.
    pub upi: UpiParams,
    /// Whether memory reads ahead for every request of another socket.
    pub speculative: bool,
    /// Whether the home asks all other sockets for every read that memory answers, and waits for what they say.
    pub broadcast: bool,
    /// Whether a line that becomes dirty at another socket is noted in memory by a write of its own.
    pub directory: bool,
    /// Of the request buffer entries of a slice, those that lines of other sockets may hold at most.
    pub tor_entries: u32,
    /// What DDIO does with lines of another socket.
    pub ddio: RemoteDdio,
}

/// Where a device's write to a line of another socket goes when it goes to an LLC at all (DDIO).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RemoteDdio {
    /// To the memory of that socket, as processors do.
    Memory,
    /// To the LLC of the device's socket.
    Device,
    /// To the LLC of the line's socket.
    Home,
}
