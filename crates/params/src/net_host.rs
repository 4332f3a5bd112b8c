//! Parameters of the host network of a server: the NIC, the network stack, UPI and the congestion controller.

use super::LineSize;
use super::{PcieParams, StreamParams};
use serde::{Deserialize, Serialize};

/// Second or further function of a NIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NicFunctionParams {
    /// Socket that the function is attached to.
    pub socket: u8,
    /// PCIe link of the function.
    pub pcie: PcieParams,
}

/// Costs of a card beyond its link: accesses to its registers, and its reads of receive descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicAttachParams {
    /// Latency from a core to the agent on the die that the card's link ends at, and of the way back, in ps.
    pub register_ps: u64,
    /// True if the driver reads the card's status before it rings the doorbell.
    pub status: bool,
    /// Receive descriptors that the card prefetches at a time; at least 1.
    pub fetch: u32,
}

/// Parameters of a NIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NicParams {
    /// PCIe link of the first function, which is attached to the socket that lists the NIC.
    pub pcie: PcieParams,
    /// Further functions, on other sockets.
    pub functions: Vec<NicFunctionParams>,
    /// Socket served by each function, the first included: queues of the socket's cores use the function. Empty if
    /// each function serves its own socket.
    pub serves: Vec<u8>,
    /// True if the queues of a core use the function of the core's socket, if there is one (IOctopus); otherwise all
    /// queues use the first function.
    pub octo: bool,
    /// Costs of registers and descriptors; `None` = no cost beyond `transmit_ps` and `receive_ps`.
    pub attach: Option<NicAttachParams>,
    /// Size of the receive buffer, in bytes.
    pub buffer_bytes: u64,
    /// Size of the largest frame in bytes, Ethernet header included. A packet is dropped unless the buffer has room
    /// for a frame of this size, because the length of a frame is only known at its end.
    pub frame_bytes: u32,
    /// Receive queues; a queue belongs to the core with the same index in [`StackParams::cores`].
    pub queues: u32,
    /// Descriptors per receive queue.
    pub ring_entries: u32,
    /// Bytes of memory per descriptor, a multiple of 64. They bound the size of a frame that a queue receives.
    pub descriptor_bytes: u32,
    /// Stride of a striding receive queue in bytes, a multiple of 64: frames are stored one after the other at
    /// multiples of the stride. 0 = each frame is stored in the memory of its descriptor.
    pub stride_bytes: u32,
    /// Bytes of memory that the buffers of one queue cycle through.
    pub pool_bytes: u64,
    /// Bytes of a completion, written to memory after the data of a packet.
    pub completion_bytes: u32,
    /// Bytes of an event queue entry, written to memory before an interrupt; 0 = no entry.
    pub event_bytes: u32,
    /// Time from the last bit of a packet to its first TLP at an idle NIC, in ps.
    pub receive_ps: u64,
    /// Time from a doorbell to the first read of a descriptor, and from the arrival of data to the port, in ps.
    pub transmit_ps: u64,
    /// Time from a completion to the interrupt at the core, in ps.
    pub interrupt_ps: u64,
    /// Interrupt moderation: longest time that the first completion waits, in ps.
    pub coalesce_ps: u64,
    /// Interrupt moderation: number of completions that ends the wait.
    pub coalesce_packets: u32,
    /// Bytes that may be requested from memory for sending and not be sent yet.
    pub send_window_bytes: u32,
    /// True if the writes of the NIC go to the LLC (DDIO); only with caches.
    pub ddio: bool,
    /// True if writes of the NIC may pass each other (PCIe relaxed ordering). Otherwise an IIO entry is held until
    /// every earlier write of the NIC has been accepted.
    pub relaxed_ordering: bool,
    /// Pause thresholds towards the peer (PFC), in bytes of the receive buffer.
    pub pfc: Option<super::PfcParams>,
    /// True if the NIC coalesces packets of a flow (LRO) up to the largest segment.
    pub lro: bool,
    /// True if the rings and receive buffers lie in the memory of the NIC's socket, false if in that of their core's
    /// socket.
    pub rings_at_device: bool,
    /// True if the descriptors name, for each fragment to be sent, the function that reads it: that of the node where
    /// the fragment lies (IOctoSG). Only with `octo`.
    pub scatter: bool,
    /// Time from a core's request to steer a flow to another queue until the packets arrive there, in ps.
    pub steer_ps: u64,
    /// Time without packets after which the NIC forgets the queue of a flow, in ps; 0 = never.
    pub steer_expiry_ps: u64,
    /// Bytes that one line of the simulated memory stands for.
    pub line_size: LineSize,
}

impl NicParams {
    /// Returns the bytes that a frame of `bytes` bytes takes up in the pool of its queue.
    #[must_use]
    pub fn step_bytes(&self, bytes: u32) -> u32 {
        if self.stride_bytes == 0 {
            self.descriptor_bytes
        } else {
            bytes.next_multiple_of(self.stride_bytes)
        }
    }
}

/// Costs of the kernel's network stack and of the applications on the cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StackParams {
    /// Cores that have a receive queue of the NIC, in the order of the queues.
    pub cores: Vec<u32>,
    /// Number of receive queues, if smaller than the number of cores that serve the NIC. Cores without a queue share
    /// the queues round robin; the core of the queue hands their packets on.
    pub receive_queues: Option<u32>,
    /// Work of the driver and IP per received packet, in ps.
    pub packet_ps: u64,
    /// Work of TCP and the socket per received segment, after packets were coalesced, in ps.
    pub segment_ps: u64,
    /// Work per acknowledgement sent, in ps.
    pub ack_ps: u64,
    /// Work per segment sent, before the NIC splits it into packets, in ps.
    pub send_ps: u64,
    /// Work of allocating and releasing the socket buffer of a received packet or of a sent segment, if its data is
    /// copied, in ps.
    pub allocate_ps: u64,
    /// Work of the kernel's packet generator per packet, beyond the wait for lines of the rings, in ps.
    pub generate_ps: u64,
    /// Work of the copy to or from the application per line, beyond the wait for the line, in ps.
    pub copy_line_ps: u64,
    /// Cost of a system call and the wake-up of a blocked application, in ps.
    pub wake_ps: u64,
    /// Cost of a system call of a running application, in ps.
    pub call_ps: u64,
    /// Bytes that an application reads or writes per system call.
    pub call_bytes: u32,
    /// Packets taken from one queue before the other queues have their turn (NAPI budget).
    pub budget: u32,
    /// Size up to which packets of a flow are coalesced (GRO), in bytes; 0 = no coalescing.
    pub gro_bytes: u32,
    /// Lines of a copy in flight at most with the help of the L2 prefetchers, those in the LFB included; 0 = no help.
    pub prefetch_ahead: u32,
    /// True if the adjacent-line prefetcher fetches completions in pairs; only where prefetchers help copies.
    pub prefetch_pairs: bool,
    /// True if applications read and write the buffers of the NIC, so that nothing is copied.
    pub zero_copy: bool,
    /// True if the core polls instead of waiting for interrupts.
    pub poll: bool,
    /// Lines per received packet that the kernel reads beside the payload (headers and completions), in units of
    /// 2^-16.
    pub extra_lines: u64,
    /// Lines per 4096 bytes of received packets that the kernel stores to (page metadata), in units of 2^-16.
    pub page_lines: u64,
    /// True if prefetchers fetch the lines of the kernel before they are needed.
    pub prefetched: bool,
    /// Lines that the copy requests ahead of the one in use, at most the LFB entries of the core.
    pub copy_ahead: u32,
    /// True if the application's buffer lies in the caches, so that only the source of a copy causes memory traffic.
    pub cached_user: bool,
    /// Bytes that one line of the simulated memory stands for.
    pub line_size: LineSize,
}

/// Cores of other sockets that use memory of this socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteParams {
    /// Number of other sockets, each with one or several of the cores, and each with a UPI link of its own.
    pub sockets: u32,
    /// UPI link to each of those sockets.
    pub upi: UpiParams,
    /// Lines that a core has in flight at most, in its line fill buffer and by its prefetchers together.
    pub lines_in_flight: u32,
    /// True if a line that becomes dirty at a remote socket causes a directory write to memory.
    pub directory: bool,
    /// Cores of other sockets, with the stream that each runs.
    pub cores: Vec<RemoteCore>,
}

/// Core of another socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteCore {
    /// Socket of the core, counted from 0 among the other sockets.
    pub socket: u32,
    /// Workload that the core belongs to.
    pub class: u8,
    /// Loads and stores of the core; the list of cores there is ignored.
    pub stream: StreamParams,
}

/// UPI link between two sockets, one direction each way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpiParams {
    /// Bandwidth per direction, in bytes per second.
    pub bytes_per_s: u64,
    /// Latency per direction, in ps.
    pub latency_ps: u64,
    /// Credits per direction for messages with data: lines in flight.
    pub data_credits: u32,
    /// Credits per direction for messages without data.
    pub request_credits: u32,
    /// Bytes of a message with a line of data.
    pub data_bytes: u32,
    /// Bytes of a request or a response without data.
    pub request_bytes: u32,
}

/// Controller that watches the host for congestion and throttles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlParams {
    /// Control rule.
    pub rule: ControlRule,
    /// Mean time of an MSR read, in ps.
    pub read_ps: u64,
    /// Half the range of the time of an MSR read, in ps.
    pub read_spread_ps: u64,
    /// Time of an MBA write, in ps.
    pub write_ps: u64,
    /// Time of a signal that stops or continues a process, in ps.
    pub signal_ps: u64,
    /// Period of the IIO clock that occupancy is accumulated with, in ps.
    pub iio_clock_ps: u64,
    /// Delay that MBA adds to every request of a core at its highest level, in ps.
    pub mba_ps: u64,
    /// True if the controller watches reads of the IIO and outgoing packets, false if writes and incoming packets.
    pub sender: bool,
}

/// Rule by which the controller reacts to host congestion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ControlRule {
    /// Reads the signals and does not react.
    Watch,
    /// The rule of hostCC.
    HostCc(HostCcParams),
    /// A constant level, 0 to 4.
    Fixed(u8),
    /// A rule that the user supplies, by its name.
    User(String),
}

/// Parameters of the hostCC rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCcParams {
    /// IIO occupancy above which the host is congested, in lines, in units of 2^-10.
    pub occupancy: u64,
    /// Target bandwidth of network traffic at the PCIe link, in bytes per second.
    pub target_bytes_per_s: u64,
    /// Weight of a new occupancy sample in the moving average, as the exponent n of 2^-n.
    pub occupancy_shift: u32,
    /// Weight of a new bandwidth sample in the moving average, as the exponent n of 2^-n.
    pub bandwidth_shift: u32,
    /// Least time between two steps down of the level, in ps.
    pub hold_ps: u64,
    /// True if cores are throttled.
    pub local: bool,
    /// True if packets are marked with ECN.
    pub echo: bool,
    /// Occupancy samples up to this value are discarded, in lines.
    pub occupancy_floor: u64,
    /// Bandwidth samples from this value on are discarded, in bytes per second.
    pub bandwidth_ceiling: u64,
}

/// Coherence and UPI between the sockets of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterSocketParams {
    /// UPI link between each two sockets.
    pub upi: UpiParams,
    /// True if memory reads speculatively for every request of a remote socket.
    pub speculative: bool,
    /// True if the home snoops all other sockets on every read that memory serves, and waits for their answers.
    pub broadcast: bool,
    /// True if a line that becomes dirty at a remote socket causes a directory write to memory.
    pub directory: bool,
    /// TOR entries of a slice that lines homed on remote sockets may hold at most.
    pub tor_entries: u32,
    /// Destination of DDIO writes to lines of a remote socket.
    pub ddio: RemoteDdio,
}

/// Destination of a device's write to a line of a remote socket, if DDIO applies to the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RemoteDdio {
    /// The memory of the line's socket, as processors do.
    Memory,
    /// The LLC of the device's socket.
    Device,
    /// The LLC of the line's socket.
    Home,
}
