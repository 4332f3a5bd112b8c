//! Keys and parameters of transports.

use super::congestion::{BaseSpec, CongestionControl};
use super::flow::UdpParams;
use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Transport of flows. Absent values are those of the base.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransportSpec {
    /// Transport that provides absent values; that of the table's own name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<BaseSpec>,
    /// TCP: initial window (segments).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub initial_window: Option<u32>,
    /// TCP: receive buffer (size); half of it is the window, as in Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "16 GiB"))]
    pub receive_buffer: Option<Size>,
    /// TCP: send buffer, for data sent or not yet sent (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "16 GiB"))]
    pub send_buffer: Option<Size>,
    /// TCP: maximum data passed to the NIC at once (segmentation offload) (size); "0 B" = one packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 MiB"))]
    pub tso: Option<Size>,
    /// TCP: minimum retransmission timeout (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "100 s"))]
    pub rto_min: Option<Time>,
    /// TCP: retransmission timeout before the first RTT sample (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "100 s"))]
    pub rto_initial: Option<Time>,
    /// TCP: full segments per acknowledgement; 1 = every packet is acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub ack_segments: Option<u32>,
    /// TCP: longest delay of an acknowledgement (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub ack_delay: Option<Time>,
    /// TCP: true if selective acknowledgements are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// TCP: true if tail loss probes are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail_loss_probe: Option<bool>,
    /// TCP: true if packets are ECN-capable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// DCTCP and DCQCN: gain g of the moving average of marks (0 to 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub gain: Option<f64>,
    /// DCTCP: initial value of alpha (0 to 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: Option<f64>,
    /// RoCE: size of a message (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "2 GiB"))]
    pub message: Option<Size>,
    /// RoCE: messages in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub in_flight: Option<u32>,
    /// RoCE: maximum data per packet (size): "256 B", "512 B", "1 KiB", "2 KiB" or "4 KiB"; the largest of these that
    /// fits the flow's MTU when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "256 B", "x-max" = "4 KiB", "x-power-of-two" = true))]
    pub payload: Option<Size>,
    /// RoCE: packets per acknowledgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub ack_packets: Option<u32>,
    /// RoCE: retransmission timeout (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "100 s"))]
    pub timeout: Option<Time>,
    /// DCQCN: minimum time between two congestion notifications of a flow (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 s"))]
    pub notify: Option<Time>,
    /// DCQCN: period of the update of alpha without a notification (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 s"))]
    pub alpha_timer: Option<Time>,
    /// DCQCN: period of the rate increase timer (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 s"))]
    pub increase_timer: Option<Time>,
    /// DCQCN: data per increase event of the byte counter (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 KiB", "x-max" = "1 TB"))]
    pub increase_bytes: Option<Size>,
    /// DCQCN: rounds of fast recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1024))]
    pub fast_rounds: Option<u32>,
    /// DCQCN: step of additive increase (bandwidth).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 kbps", "x-max" = "1 TB/s"))]
    pub additive: Option<Bandwidth>,
    /// DCQCN: step of hyper increase (bandwidth).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 kbps", "x-max" = "1 TB/s"))]
    pub hyper: Option<Bandwidth>,
    /// DCQCN: minimum rate (bandwidth).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 kbps", "x-max" = "1 TB/s"))]
    pub least: Option<Bandwidth>,
}

macro_rules! controls_of_transports {
    ($($kind:ident $module:ident $({ $($field:ident: $meaning:literal),* })? $title:literal;)*) => {
        impl TransportSpec {
            /// Returns the congestion control of a transport with the base `base`.
            ///
            /// # Errors
            /// Returns the name of a parameter that is missing, or `None` if the transport is not TCP.
            pub fn control(&self, base: BaseSpec) -> Result<CongestionControl, Option<&'static str>> {
                match base {
                    $(BaseSpec::$kind => Ok(CongestionControl::$kind $({
                        $($field: share(self.$field, stringify!($field))?),*
                    })?),)*
                    BaseSpec::Roce | BaseSpec::Dcqcn => Err(None),
                }
            }
        }
    };
}

crate::for_each_control!(controls_of_transports);

fn share(value: Option<f64>, key: &'static str) -> Result<u32, Option<&'static str>> {
    value.map(share_in_16_bits).ok_or(Some(key))
}

/// Converts a share from 0 to 1 to units of 2^-16.
#[must_use]
pub fn share_in_16_bits(share: f64) -> u32 {
    // Rounded to 2^-32 first, so that a decimal such as 0.0625 that a product left just below its value is not cut.
    ((share * (1u64 << 32) as f64).round() as u64 >> 16) as u32
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
    /// No transport: packets are sent unchanged.
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

/// TCP, with the same parameters at both ends of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TcpParams {
    /// Congestion control algorithm.
    pub control: CongestionControl,
    /// Maximum segment size: data per packet at most, in bytes.
    pub mss_bytes: u32,
    /// Maximum number of bytes passed to the NIC at once (segmentation offload, TSO); `mss_bytes` = no offload.
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
    /// Maximum data per packet, in bytes.
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

/// Largest payload of an RDMA packet, in bytes.
pub const RDMA_MTU_MAX: u32 = 4096;

/// Bytes of the memory region of one end of an RDMA flow. The region of an end of a job may be smaller.
pub const RDMA_REGION_BYTES: u64 = 64 << 20;

/// Returns the bytes of memory that a region of `region_bytes` takes. This exceeds `region_bytes`, because a packet may
/// begin just before the end of the region and extend beyond it.
#[must_use]
pub const fn rdma_memory_bytes(region_bytes: u64) -> u64 {
    region_bytes + RDMA_MTU_MAX as u64
}
