//! What a server needs to be on a network: NIC, kernel and applications, other sockets, control.

use super::lists::CoreList;
use super::values::{Bandwidth, Frequency, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What network traffic costs the cores: kernel, system calls and copies. It takes part when the server is a host of a
/// cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StackSpec {
    /// The cores that have a receive queue of the NIC; those of the applications of the flows when absent (aRFS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cores: Option<CoreList>,
    /// Work of the driver and IP per received packet (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) packet: Time,
    /// Work of TCP and the socket per received segment, after packets were joined (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) segment: Time,
    /// Work per acknowledgement sent (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) ack: Time,
    /// Work per segment sent, before the NIC cuts it (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) send: Time,
    /// Work of allocating and releasing a socket buffer, per received packet and per segment sent whose data is copied
    /// (time); "0 ns" when absent: part of the work on packets and segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) allocate: Option<Time>,
    /// Work of the kernel's generator of packets per packet, beyond what the lines of rings take to come (time).
    #[serde(default = "generate_219_ns")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) generate: Time,
    /// Work of the copy to or from the application per line, beyond what the line's data takes to come (time).
    #[schemars(extend("x-max" = "1 us"))]
    pub(crate) copy_line: Time,
    /// System call and wake-up of an application that waits (time).
    #[schemars(extend("x-max" = "10 ms"))]
    pub(crate) wake: Time,
    /// System call of an application that goes on (time).
    #[schemars(extend("x-max" = "10 ms"))]
    pub(crate) call: Time,
    /// What an application reads or writes per system call (size).
    #[schemars(extend("x-min" = "64 B", "x-max" = "64 MiB"))]
    pub(crate) call_size: Size,
    /// Packets that are taken from a queue before others have their turn (NAPI budget).
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) budget: u32,
    /// Data up to which packets of a flow are joined (GRO) (size); "0 B" = not at all.
    #[schemars(extend("x-max" = "1 MiB"))]
    pub(crate) gro: Size,
    /// Whether the cores poll instead of waiting for interrupts.
    pub(crate) poll: bool,
    /// Whether applications write and read where the NIC does, so that nothing is copied; false when
    /// absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) zero_copy: bool,
    /// Lines per received packet that the kernel reads from memory beside the payload: headers and completions. With
    /// `nic.ddio` the LLC has them (0 to 256).
    #[schemars(range(min = 0.0, max = 256.0))]
    pub(crate) extra_lines: f64,
    /// Lines per 4096 B of received packets that the kernel stores to: what it keeps of the pages that they lie in.
    /// With `nic.ddio` the caches have them (0 to 256).
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 256.0))]
    pub(crate) page_lines: f64,
    /// Lines that a copy asks for ahead of the one it needs, at most the LFB entries.
    #[schemars(range(min = 0, max = 1024))]
    pub(crate) copy_ahead: u32,
    /// Lines that a copy has on their way at most where the streamer of the L2 helps it, those of the LFB among them:
    /// it takes part when the caches do, and so does the adjacent-line prefetcher, which brings completions in pairs.
    /// When absent they do not help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1024))]
    pub(crate) prefetch_ahead: Option<u32>,
    /// Whether the application's buffer lies in the caches, so that only the kernel's side of a copy is memory traffic.
    pub(crate) cached_user: bool,
}

/// As of `broadwell-r730`.
fn generate_219_ns() -> Time {
    Time(219_000)
}

/// In whose memory the rings and receive buffers of a NIC lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RingsSpec {
    /// In that of the socket of the core that serves them, as drivers allocate them.
    #[default]
    Core,
    /// In that of the NIC's socket.
    Device,
}

impl RingsSpec {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Other sockets, whose cores reach the memory of this one over UPI. They take part when a workload of kind "remote"
/// does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemoteSpec {
    /// Other sockets.
    #[schemars(range(min = 1, max = 63))]
    pub(crate) sockets: u32,
    /// Lines that a core there keeps in flight, line fill buffer and prefetches together.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) lines_in_flight: u32,
    /// Whether a line that becomes dirty at another socket is noted in memory by a write of its own (directory).
    pub(crate) directory: bool,
    /// The way between two sockets: one pair of UPI directions.
    pub(crate) upi: UpiSpec,
}

/// One pair of UPI directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpiSpec {
    /// Bandwidth of one direction (bandwidth).
    #[schemars(extend("x-min" = "100 MB/s", "x-max" = "10 TB/s"))]
    pub(crate) bandwidth: Bandwidth,
    /// Latency of one direction, from CHA to CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) latency: Time,
    /// Lines with data on their way in one direction.
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) data_credits: u32,
    /// Requests without data on their way in one direction.
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) request_credits: u32,
    /// A line of data with all that goes with it (size).
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 KiB"))]
    pub(crate) data: Size,
    /// A request or an answer without data (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 KiB"))]
    pub(crate) request: Size,
}

/// What watches the host and throttles. It takes part when the server is a host of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ControlSpec {
    /// The rule.
    #[serde(default)]
    pub(crate) rule: RuleSpec,
    /// The level of the rule "fixed", 0 to 4: how many sockets are throttled; 4 = their processes are stopped; none
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 4))]
    pub(crate) level: Option<u8>,
    /// What messages call the controller of the rule "user"; "user" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Bandwidth that network traffic shall have (bandwidth).
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub(crate) target: Bandwidth,
    /// What PCIe carries beyond the target, as a share of it: the rule compares target x (1 + this) (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) pcie_overhead: f64,
    /// Occupancy of the IIO above which the host is congested (lines).
    #[schemars(range(min = 0.0, max = 65536.0))]
    pub(crate) occupancy: f64,
    /// The weight of a new sample of occupancy is 2 to the minus this.
    #[schemars(range(min = 0, max = 20))]
    pub(crate) occupancy_shift: u32,
    /// The weight of a new sample of bandwidth is 2 to the minus this.
    #[schemars(range(min = 0, max = 20))]
    pub(crate) bandwidth_shift: u32,
    /// Samples of occupancy up to this are discarded (lines).
    #[schemars(range(min = 0, max = 65536))]
    pub(crate) occupancy_floor: u32,
    /// Samples of bandwidth from this on are discarded (bandwidth).
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "100 TB/s"))]
    pub(crate) bandwidth_ceiling: Bandwidth,
    /// Least time between two steps down of the level (time).
    #[schemars(extend("x-max" = "1 s"))]
    pub(crate) hold: Time,
    /// Mean time of one MSR read (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub(crate) read: Time,
    /// Half the range of that time as a share of it (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) read_jitter: f64,
    /// Time of one MBA write (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 ms"))]
    pub(crate) write: Time,
    /// Time of a signal that stops or continues a process (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 ms"))]
    pub(crate) signal: Time,
    /// Clock by which the IIO accumulates its occupancy (frequency).
    #[schemars(extend("x-min" = "1 MHz", "x-max" = "10 GHz"))]
    pub(crate) iio_clock: Frequency,
    /// What MBA at its highest value adds to every request of a core (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) mba: Time,
    /// Which traffic is looked at.
    #[serde(default)]
    pub(crate) side: SideSpec,
}

/// What is done about host congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RuleSpec {
    /// No signal is read.
    #[default]
    None,
    /// Signals are read, nothing is done.
    Watch,
    /// Cores are throttled and packets marked (hostCC).
    Hostcc,
    /// Packets are marked.
    EchoOnly,
    /// Cores are throttled.
    LocalOnly,
    /// One level for ever.
    Fixed,
    /// A rule of the user's, see `name`.
    User,
}

/// Which traffic is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SideSpec {
    /// Writes of the IIO and incoming packets.
    #[default]
    Receiver,
    /// Reads of the IIO and outgoing packets.
    Sender,
}
