//! The NIC of a server.

use super::compress::CompressSpec;
use super::dimm::NicDimmSpec;
use super::ncap::NcapSpec;
use super::net_host::RingsSpec;
use super::network::PfcSpec;
use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The NIC. It takes part when the server is a host of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NicSpec {
    /// Its PCIe link; what is absent but the lanes is that of `pcie`.
    pub(crate) pcie: NicLinkSpec,
    /// Of a server of several sockets: the functions of the card, which share its lanes; one on socket 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 8))]
    pub(crate) functions: Option<Vec<NicFunctionSpec>>,
    /// What leads flows to functions: "octo", by the function of the socket of their core, if there is one; "standard",
    /// by the first; "octo" when absent.
    #[serde(default, skip_serializing_if = "NicModeSpec::is_default")]
    pub(crate) mode: NicModeSpec,
    /// Where the card sits, if its registers and descriptors are to have a cost of their own: "pcie", at its PCIe link;
    /// "onchip", on the die, without PCIe; "cxl", at a CXL link with the lanes of its PCIe link; "dimm", in the buffer
    /// device of a DIMM. When absent at its PCIe link, and `nic.transmit` has the doorbell in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) attach: Option<AttachSpec>,
    /// With `nic.attach`: from a core to the agent on the die that the card's link hangs off, and as long back (time);
    /// "20 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub(crate) register: Option<Time>,
    /// With `nic.attach`: whether the driver reads the card's status before it rings the doorbell; false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<bool>,
    /// With `nic.attach`: receive descriptors that the card reads at a time, ahead of packets; 32 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 32))]
    pub(crate) fetch: Option<u32>,
    /// With `nic.attach = "onchip"`: the way between the card and the die.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) onchip: Option<OnChipSpec>,
    /// With `nic.attach = "cxl"`: the CXL link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cxl: Option<CxlSpec>,
    /// With `nic.attach = "dimm"`: the DIMM, whose memory is a node without cores; its number follows that of the
    /// socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dimm: Option<NicDimmSpec>,
    /// On a network: engines that make the data of packets smaller, one on the way out and one on the way in; none when
    /// absent. They know packets of jobs that are marked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compress: Option<CompressSpec>,
    /// Receive buffer (size): a packet is dropped unless the largest one would fit.
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "1 GiB"))]
    pub(crate) buffer: Size,
    /// Descriptors per receive queue.
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) ring: u32,
    /// Memory per descriptor (size), a multiple of 2 KiB; when absent, what the largest packet of the host's flows
    /// needs: the next multiple of 2 KiB, or power of two with `nic.stride`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "64 KiB", "x-multiple-of" = "2 KiB"))]
    pub(crate) descriptor: Option<Size>,
    /// With a striding receive queue, packets lie one after the other at multiples of this (size), a multiple of 64 B;
    /// when absent, each in the memory of its own descriptor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "4 KiB", "x-multiple-of" = "64 B"))]
    pub(crate) stride: Option<Size>,
    /// Memory that the buffers of one queue go through before the first is used again (size); that of all descriptors
    /// of the ring when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "16 GiB"))]
    pub(crate) pool: Option<Size>,
    /// A completion, written to memory after the data of a packet (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub(crate) completion: Size,
    /// An event queue entry, written to memory before an interrupt, and read by the core before it looks for packets
    /// (size); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub(crate) event: Option<Size>,
    /// From the last bit of a packet to its first TLP at an idle NIC (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) receive: Time,
    /// From a doorbell to the first read of memory, and from the data to the port (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) transmit: Time,
    /// From a completion to the core that is interrupted (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub(crate) interrupt: Time,
    /// Interrupt moderation: longest wait after a first completion (time); "0 us" = none. Not with `nic.mitt`, else it
    /// is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "10 ms"))]
    pub(crate) coalesce: Option<Time>,
    /// Interrupt moderation: completions that end the wait. Not with `nic.mitt`, else it is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) coalesce_packets: Option<u32>,
    /// Interrupt moderation by a timer that runs free: interrupts go out when it expires, of all queues (time). "50 us"
    /// when absent with `nic.ncap` in hardware, else none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "10 ms"))]
    pub(crate) mitt: Option<Time>,
    /// With `nic.mitt`: how long the handler of an interrupt waits for the register that says its cause (time); "0 us"
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) icr: Option<Time>,
    /// Receive queues: packets for cores beyond them come by one of them, by its number modulo; one of each core that
    /// `stack.cores` or the flows name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub(crate) queues: Option<u32>,
    /// What it tells the power management of the packets that it sees (NCAP); nothing when absent. It needs `power`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ncap: Option<NcapSpec>,
    /// Data that may be asked of memory for sending and not yet be sent (size).
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "16 MiB"))]
    pub(crate) send_window: Size,
    /// Whether its writes go to the LLC (DDIO); needs caches.
    pub(crate) ddio: bool,
    /// Whether its writes may pass each other on their way to memory (PCIe relaxed ordering).
    pub(crate) relaxed_ordering: bool,
    /// Whether the NIC joins packets of a flow (LRO).
    pub(crate) lro: bool,
    /// Of a server of several sockets, in whose memory its rings and receive buffers lie; "core" when absent.
    #[serde(default, skip_serializing_if = "RingsSpec::is_default")]
    pub(crate) rings: RingsSpec,
    /// Of a card with `nic.mode = "octo"`: whether descriptors say for each fragment of a packet by which function it
    /// is read, that of the node where it lies (IOctoSG); else all go by that of their queue; false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scatter: Option<bool>,
    /// From a core that asks for packets of a flow to come in by its queue until they do (time): the table of the NIC
    /// is written later, by a kernel thread; "20 us" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub(crate) steer_delay: Option<Time>,
    /// After so long without a packet the queue of a flow is forgotten, and a hash chooses one (time); never when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub(crate) steer_expiry: Option<Time>,
    /// When it pauses its peer (priority flow control, IEEE 802.1Qbb); never when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pfc: Option<PfcSpec>,
}

/// A function of a NIC: a link to a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NicFunctionSpec {
    /// The socket that it hangs off.
    #[schemars(range(min = 0, max = 7))]
    pub(crate) socket: u8,
    /// Its lanes: 1, 2, 4, 8 or 16; an equal share of those of the card when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub(crate) lanes: Option<u32>,
    /// The socket whose cores' flows go by it, as when they use an address that is not that of their own function; its
    /// own socket when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 7))]
    pub(crate) serves: Option<u8>,
}

/// What leads flows to the functions of a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NicModeSpec {
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
pub(crate) enum AttachSpec {
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
pub(crate) struct OnChipSpec {
    /// Latency between the card and the die in one direction (time); "5 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub(crate) latency: Option<Time>,
    /// Bandwidth between the card and the die in each direction (bandwidth); "64 GB/s" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "100 MB/s", "x-max" = "10 TB/s"))]
    pub(crate) bandwidth: Option<Bandwidth>,
}

/// The CXL link of a NIC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CxlSpec {
    /// Latency of the link and its two ends in one direction (time); "50 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub(crate) latency: Option<Time>,
}

/// The PCIe link of a NIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NicLinkSpec {
    /// Lanes: 1, 2, 4, 8 or 16.
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub(crate) lanes: u32,
    /// Generation (1 to 6); that of `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 6))]
    pub(crate) generation: Option<u32>,
    /// Maximum payload size (size): 128 B to 4 KiB, a power of two; that of `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "4 KiB", "x-power-of-two" = true))]
    pub(crate) mps: Option<Size>,
    /// Maximum read request size (size): 128 B to 4 KiB, a power of two; that of `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "128 B", "x-max" = "4 KiB", "x-power-of-two" = true))]
    pub(crate) mrrs: Option<Size>,
    /// Latency of the link and its two ends in one direction (time); that of `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 ms"))]
    pub(crate) latency: Option<Time>,
    /// Lines that the NIC may have on the link or waiting at the IIO for writing to memory: posted-data credits; as of
    /// `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 65536))]
    pub(crate) posted_lines: Option<u32>,
    /// Lines that the NIC may have requested from memory: tags times MRRS; as of `pcie` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 65536))]
    pub(crate) nonposted_lines: Option<u32>,
}
