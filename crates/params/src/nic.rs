//! Keys and parameters of the NIC.

use super::compress::CompressSpec;
use super::dimm::NicDimmSpec;
use super::line_size::LineSize;
use super::ncap::NcapSpec;
use super::pcie::PcieParams;
use super::stack::RingsSpec;
use super::switch::PfcSpec;
use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// NIC of the server. It is simulated only if the server is a host of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicSpec {
    /// PCIe link of the NIC; keys other than `lanes` default to those of `pcie`.
    pub pcie: NicLinkSpec,
    /// On a server with several sockets: functions of the NIC, which share its lanes; one on socket 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 8))]
    pub functions: Option<Vec<NicFunctionSpec>>,
    /// Function that a flow uses: "octo", that on the socket of the flow's core, if there is one; "standard", the
    /// first; "octo" when absent.
    #[serde(default, skip_serializing_if = "NicModeSpec::is_default")]
    pub mode: NicModeSpec,
    /// Attachment of the NIC, with separate costs of its registers and descriptors: "pcie", over its PCIe link;
    /// "onchip", on the die, without PCIe; "cxl", over a CXL link with the lanes of its PCIe link; "dimm", in the
    /// buffer device of a DIMM. When absent, over its PCIe link, and `nic.transmit` includes the doorbell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach: Option<AttachSpec>,
    /// With `nic.attach`: latency between a core and the on-die agent at the NIC's link in one direction (time);
    /// "20 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub register: Option<Time>,
    /// With `nic.attach`: true if the driver reads the NIC's status before it rings the doorbell; false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<bool>,
    /// With `nic.attach`: receive descriptors that the NIC prefetches at a time; 32 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 32))]
    pub fetch: Option<u32>,
    /// With `nic.attach = "onchip"`: link between the NIC and the rest of the die.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onchip: Option<OnChipSpec>,
    /// With `nic.attach = "cxl"`: CXL link of the NIC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cxl: Option<CxlSpec>,
    /// With `nic.attach = "dimm"`: DIMM of the NIC, whose memory is a node without cores, numbered after the socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimm: Option<NicDimmSpec>,
    /// On a network: engines that compress the data of packets, one for transmission and one for reception; none when
    /// absent. They process only packets of jobs that are marked for compression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress: Option<CompressSpec>,
    /// Size of the receive buffer (size). A packet is dropped unless the largest packet would fit.
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "1 GiB"))]
    pub buffer: Size,
    /// Descriptors per receive queue.
    #[schemars(range(min = 1, max = 65536))]
    pub ring: u32,
    /// Memory per descriptor (size), a multiple of 2 KiB; when absent, enough for the largest packet of the host's
    /// flows: the next multiple of 2 KiB, or the next power of two with `nic.stride`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "64 KiB", "x-multiple-of" = "2 KiB"))]
    pub descriptor: Option<Size>,
    /// Stride of a striding receive queue (size), a multiple of 64 B: packets are placed one after the other at
    /// multiples of it; when absent, each packet is placed in the memory of its descriptor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "4 KiB", "x-multiple-of" = "64 B"))]
    pub stride: Option<Size>,
    /// Memory that the buffers of one queue cycle through (size); that of all descriptors of the ring when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "16 GiB"))]
    pub pool: Option<Size>,
    /// Size of a completion, written to memory after the data of a packet (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub completion: Size,
    /// Size of an event queue entry, written to memory before an interrupt and read by the core before it looks for
    /// packets (size); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub event: Option<Size>,
    /// Time from the last bit of a packet to its first TLP at an idle NIC (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub receive: Time,
    /// Time from a doorbell to the first read of memory, and from the arrival of the data to the port (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub transmit: Time,
    /// Time from a completion to the interrupt at the core (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub interrupt: Time,
    /// Interrupt moderation: longest wait of the first completion (time); "0 us" = none. Required without `nic.mitt`,
    /// not allowed with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "10 ms"))]
    pub coalesce: Option<Time>,
    /// Interrupt moderation: number of completions that ends the wait. Required without `nic.mitt`, not allowed with
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub coalesce_packets: Option<u32>,
    /// Interrupt moderation by a free-running timer: period at which interrupts of all queues are sent (time). "50 us"
    /// when absent with `nic.ncap` in hardware, else none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "10 ms"))]
    pub mitt: Option<Time>,
    /// With `nic.mitt`: time that the interrupt handler waits for the cause register (time); "0 us" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub icr: Option<Time>,
    /// Number of receive queues; one for each core that `stack.cores` or the flows name when absent. Further cores
    /// share the queues round robin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub queues: Option<u32>,
    /// Notifications of the power management about packets (NCAP); none when absent. Needs `power`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ncap: Option<NcapSpec>,
    /// Data that may be requested from memory for sending and not be sent yet (size).
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "16 MiB"))]
    pub send_window: Size,
    /// True if writes of the NIC go to the LLC (DDIO); needs caches.
    pub ddio: bool,
    /// True if writes of the NIC may pass each other on the path to memory (PCIe relaxed ordering).
    pub relaxed_ordering: bool,
    /// True if the NIC coalesces packets of a flow (LRO).
    pub lro: bool,
    /// Memory with the rings and receive buffers on a server with several sockets; "core" when absent.
    #[serde(default, skip_serializing_if = "RingsSpec::is_default")]
    pub rings: RingsSpec,
    /// With `nic.mode = "octo"`: true if the descriptors name, for each fragment of a packet, the function of the node
    /// that holds the fragment (IOctoSG); false when absent. Otherwise the function of the queue reads all fragments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scatter: Option<bool>,
    /// Time from a core's request to steer a flow to its queue until the packets arrive there (time), because a kernel
    /// thread updates the table of the NIC later; "20 us" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub steer_delay: Option<Time>,
    /// Time without packets after which the NIC forgets the queue of a flow and a hash selects one (time); never when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub steer_expiry: Option<Time>,
    /// Thresholds for pausing the peer (priority flow control, IEEE 802.1Qbb); no pauses when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pfc: Option<PfcSpec>,
}

/// A function of a NIC: a link to a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicFunctionSpec {
    /// Socket that the function is attached to.
    #[schemars(range(min = 0, max = 7))]
    pub socket: u8,
    /// Lanes of the function: 1, 2, 4, 8 or 16; an equal share of those of the NIC when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub lanes: Option<u32>,
    /// Socket whose cores use the function, as flows do that have the address of another socket's function; the socket
    /// of the function when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 7))]
    pub serves: Option<u8>,
}

/// Selection of the function of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NicModeSpec {
    /// The function on the socket of the flow's core, if there is one.
    #[default]
    Octo,
    /// The first function.
    Standard,
}

impl NicModeSpec {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Attachment of a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttachSpec {
    /// Over the PCIe link of the NIC.
    Pcie,
    /// On the die.
    Onchip,
    /// Over a CXL link.
    Cxl,
    /// In the buffer device of a DIMM.
    Dimm,
}

/// Link between a NIC on the die and the rest of the die.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnChipSpec {
    /// Latency between the NIC and the die in one direction (time); "5 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub latency: Option<Time>,
    /// Bandwidth between the NIC and the die in each direction (bandwidth); "64 GB/s" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "100 MB/s", "x-max" = "10 TB/s"))]
    pub bandwidth: Option<Bandwidth>,
}

/// CXL link of a NIC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CxlSpec {
    /// Latency of the link and its two ends in one direction (time); "50 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub latency: Option<Time>,
}

/// PCIe link of a NIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicLinkSpec {
    /// Lanes: 1, 2, 4, 8 or 16.
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub lanes: u32,
    /// Generation (1 to 6); that of `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 6))]
    pub generation: Option<u32>,
    /// Maximum payload size (size): 128 B to 4 KiB, a power of two; that of `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "4 KiB", "x-power-of-two" = true))]
    pub mps: Option<Size>,
    /// Maximum read request size (size): 128 B to 4 KiB, a power of two; that of `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "4 KiB", "x-power-of-two" = true))]
    pub mrrs: Option<Size>,
    /// Latency of the link and its two ends in one direction (time); that of `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 ms"))]
    pub latency: Option<Time>,
    /// Lines that the NIC may have on the link or waiting at the IIO for writing to memory: posted-data credits; those
    /// of `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 65536))]
    pub posted_lines: Option<u32>,
    /// Lines that the NIC may have requested from memory: tags times MRRS; those of `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 65536))]
    pub nonposted_lines: Option<u32>,
}

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
    /// Latency between a core and the agent on the die that the card's link ends at, in one direction, in ps.
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
    /// Receive queues; a queue belongs to the core with the same index in
    /// [`StackParams::cores`](crate::stack::StackParams::cores).
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
    /// True if the descriptors name, for each fragment to be sent, the function that reads it: that of the node that
    /// holds the fragment (IOctoSG). Only with `octo`.
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
