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

/// The NIC. It takes part when the server is a host of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicSpec {
    /// Its PCIe link; what is absent but the lanes is that of `pcie`.
    pub pcie: NicLinkSpec,
    /// Of a server of several sockets: the functions of the card, which share its lanes; one on socket 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 8))]
    pub functions: Option<Vec<NicFunctionSpec>>,
    /// What leads flows to functions: "octo", by the function of the socket of their core, if there is one; "standard",
    /// by the first; "octo" when absent.
    #[serde(default, skip_serializing_if = "NicModeSpec::is_default")]
    pub mode: NicModeSpec,
    /// Where the card sits, if its registers and descriptors are to have a cost of their own: "pcie", at its PCIe link;
    /// "onchip", on the die, without PCIe; "cxl", at a CXL link with the lanes of its PCIe link; "dimm", in the buffer
    /// device of a DIMM. When absent at its PCIe link, and `nic.transmit` has the doorbell in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach: Option<AttachSpec>,
    /// With `nic.attach`: from a core to the agent on the die that the card's link hangs off, and as long back (time);
    /// "20 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub register: Option<Time>,
    /// With `nic.attach`: whether the driver reads the card's status before it rings the doorbell; false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<bool>,
    /// With `nic.attach`: receive descriptors that the card reads at a time, ahead of packets; 32 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 32))]
    pub fetch: Option<u32>,
    /// With `nic.attach = "onchip"`: the way between the card and the die.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onchip: Option<OnChipSpec>,
    /// With `nic.attach = "cxl"`: the CXL link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cxl: Option<CxlSpec>,
    /// With `nic.attach = "dimm"`: the DIMM, whose memory is a node without cores; its number follows that of the
    /// socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimm: Option<NicDimmSpec>,
    /// On a network: engines that make the data of packets smaller, one on the way out and one on the way in; none when
    /// absent. They know packets of jobs that are marked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress: Option<CompressSpec>,
    /// Receive buffer (size): a packet is dropped unless the largest one would fit.
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "1 GiB"))]
    pub buffer: Size,
    /// Descriptors per receive queue.
    #[schemars(range(min = 1, max = 65536))]
    pub ring: u32,
    /// Memory per descriptor (size), a multiple of 2 KiB; when absent, what the largest packet of the host's flows
    /// needs: the next multiple of 2 KiB, or power of two with `nic.stride`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "64 KiB", "x-multiple-of" = "2 KiB"))]
    pub descriptor: Option<Size>,
    /// With a striding receive queue, packets lie one after the other at multiples of this (size), a multiple of 64 B;
    /// when absent, each in the memory of its own descriptor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "4 KiB", "x-multiple-of" = "64 B"))]
    pub stride: Option<Size>,
    /// Memory that the buffers of one queue go through before the first is used again (size); that of all descriptors
    /// of the ring when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "16 GiB"))]
    pub pool: Option<Size>,
    /// A completion, written to memory after the data of a packet (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub completion: Size,
    /// An event queue entry, written to memory before an interrupt, and read by the core before it looks for packets
    /// (size); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub event: Option<Size>,
    /// From the last bit of a packet to its first TLP at an idle NIC (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub receive: Time,
    /// From a doorbell to the first read of memory, and from the data to the port (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub transmit: Time,
    /// From a completion to the core that is interrupted (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub interrupt: Time,
    /// Interrupt moderation: longest wait after a first completion (time); "0 us" = none. Not with `nic.mitt`, else it
    /// is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "10 ms"))]
    pub coalesce: Option<Time>,
    /// Interrupt moderation: completions that end the wait. Not with `nic.mitt`, else it is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub coalesce_packets: Option<u32>,
    /// Interrupt moderation by a timer that runs free: interrupts go out when it expires, of all queues (time). "50 us"
    /// when absent with `nic.ncap` in hardware, else none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "10 ms"))]
    pub mitt: Option<Time>,
    /// With `nic.mitt`: how long the handler of an interrupt waits for the register that says its cause (time); "0 us"
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub icr: Option<Time>,
    /// Receive queues: packets for cores beyond them come by one of them, by its number modulo; one of each core that
    /// `stack.cores` or the flows name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub queues: Option<u32>,
    /// What it tells the power management of the packets that it sees (NCAP); nothing when absent. It needs `power`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ncap: Option<NcapSpec>,
    /// Data that may be asked of memory for sending and not yet be sent (size).
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "16 MiB"))]
    pub send_window: Size,
    /// Whether its writes go to the LLC (DDIO); needs caches.
    pub ddio: bool,
    /// Whether its writes may pass each other on their way to memory (PCIe relaxed ordering).
    pub relaxed_ordering: bool,
    /// Whether the NIC joins packets of a flow (LRO).
    pub lro: bool,
    /// Of a server of several sockets, in whose memory its rings and receive buffers lie; "core" when absent.
    #[serde(default, skip_serializing_if = "RingsSpec::is_default")]
    pub rings: RingsSpec,
    /// Of a card with `nic.mode = "octo"`: whether descriptors say for each fragment of a packet by which function it
    /// is read, that of the node where it lies (IOctoSG); else all go by that of their queue; false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scatter: Option<bool>,
    /// From a core that asks for packets of a flow to come in by its queue until they do (time): the table of the NIC
    /// is written later, by a kernel thread; "20 us" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub steer_delay: Option<Time>,
    /// After so long without a packet the queue of a flow is forgotten, and a hash chooses one (time); never when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub steer_expiry: Option<Time>,
    /// When it pauses its peer (priority flow control, IEEE 802.1Qbb); never when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pfc: Option<PfcSpec>,
}

/// A function of a NIC: a link to a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicFunctionSpec {
    /// The socket that it hangs off.
    #[schemars(range(min = 0, max = 7))]
    pub socket: u8,
    /// Its lanes: 1, 2, 4, 8 or 16; an equal share of those of the card when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub lanes: Option<u32>,
    /// The socket whose cores' flows go by it, as when they use an address that is not that of their own function; its
    /// own socket when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 7))]
    pub serves: Option<u8>,
}

/// What leads flows to the functions of a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NicModeSpec {
    /// The function of the socket of their core, if there is one.
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

/// Where a NIC sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttachSpec {
    /// At its PCIe link.
    Pcie,
    /// On the die.
    Onchip,
    /// At a CXL link.
    Cxl,
    /// In the buffer device of a DIMM.
    Dimm,
}

/// The way between a NIC on the die and the rest of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnChipSpec {
    /// Latency between the card and the die in one direction (time); "5 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub latency: Option<Time>,
    /// Bandwidth between the card and the die in each direction (bandwidth); "64 GB/s" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "100 MB/s", "x-max" = "10 TB/s"))]
    pub bandwidth: Option<Bandwidth>,
}

/// The CXL link of a NIC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CxlSpec {
    /// Latency of the link and its two ends in one direction (time); "50 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub latency: Option<Time>,
}

/// The PCIe link of a NIC.
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
    /// Lines that the NIC may have on the link or waiting at the IIO for writing to memory: posted-data credits; as of
    /// `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 65536))]
    pub posted_lines: Option<u32>,
    /// Lines that the NIC may have requested from memory: tags times MRRS; as of `pcie` when absent.
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
