//! Keys and parameters of the costs of network traffic on the cores.

use super::line_size::LineSize;
use super::lists::CoreList;
use super::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Costs of network traffic on the cores: kernel, system calls and copies. They are simulated only if the server is a
/// host of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackSpec {
    /// Cores that have a receive queue of the NIC; those of the applications of the flows when absent (aRFS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<CoreList>,
    /// Work of the driver and IP per received packet (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub packet: Time,
    /// Work of TCP and the socket per received segment, after packets were coalesced (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub segment: Time,
    /// Work per acknowledgement sent (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub ack: Time,
    /// Work per segment sent, before the NIC splits it into packets (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub send: Time,
    /// Work of allocating and releasing a socket buffer, per received packet and per segment sent whose data is copied
    /// (time); "0 ns" when absent: included in the work on packets and segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub allocate: Option<Time>,
    /// Work of the kernel's packet generator per packet, beyond the wait for lines of the rings (time).
    #[serde(default = "generate_219_ns")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub generate: Time,
    /// Work of the copy to or from the application per line, beyond the wait for the line (time).
    #[schemars(extend("x-max" = "1 us"))]
    pub copy_line: Time,
    /// System call and wake-up of a blocked application (time).
    #[schemars(extend("x-max" = "10 ms"))]
    pub wake: Time,
    /// System call of a running application (time).
    #[schemars(extend("x-max" = "10 ms"))]
    pub call: Time,
    /// Data that an application reads or writes per system call (size).
    #[schemars(extend("x-min" = "64 B", "x-max" = "64 MiB"))]
    pub call_size: Size,
    /// Packets taken from a queue before the other queues have their turn (NAPI budget).
    #[schemars(range(min = 1, max = 65536))]
    pub budget: u32,
    /// Largest amount of data into which packets of a flow are coalesced (GRO) (size); "0 B" = no coalescing.
    #[schemars(extend("x-max" = "1 MiB"))]
    pub gro: Size,
    /// True if the cores poll instead of waiting for interrupts.
    pub poll: bool,
    /// True if applications read and write the buffers of the NIC, so that nothing is copied; false when absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub zero_copy: bool,
    /// Lines per received packet that the kernel reads from memory beside the payload: headers and completions. With
    /// `nic.ddio` they are in the LLC (0 to 256).
    #[schemars(range(min = 0.0, max = 256.0))]
    pub extra_lines: f64,
    /// Lines per 4096 B of received packets that the kernel stores to: metadata of the pages that hold the packets.
    /// With `nic.ddio` they are in the caches (0 to 256).
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 256.0))]
    pub page_lines: f64,
    /// Lines that a copy requests ahead of the one in use, at most the LFB entries.
    #[schemars(range(min = 0, max = 1024))]
    pub copy_ahead: u32,
    /// Maximum number of lines of a copy in flight with the help of the L2 streamer, those in the LFB included; no help
    /// when absent. The streamer is simulated only with caches, and so is the adjacent-line prefetcher, which fetches
    /// completions in pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1024))]
    pub prefetch_ahead: Option<u32>,
    /// True if the application's buffer lies in the caches, so that only the kernel's side of a copy causes memory
    /// traffic.
    pub cached_user: bool,
}

/// Returns the work of `broadwell-r730`.
fn generate_219_ns() -> Time {
    Time(219_000)
}

/// Memory that holds the rings and receive buffers of a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RingsSpec {
    /// That of the socket of the core that serves them, as drivers allocate them.
    #[default]
    Core,
    /// That of the NIC's socket.
    Device,
}

impl RingsSpec {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
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
    /// Maximum number of lines of a copy in flight with the help of the L2 prefetchers, those in the LFB included; 0 =
    /// no help.
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
