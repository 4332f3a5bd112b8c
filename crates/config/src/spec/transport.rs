//! How flows are carried.

use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How flows are carried. What is absent is that of the base.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransportSpec {
    /// The transport that the values start from; that of the table's own name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<BaseSpec>,
    /// TCP: initial window (segments).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) initial_window: Option<u32>,
    /// TCP: receive buffer (size); half of it is the window, as in Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "16 GiB"))]
    pub(crate) receive_buffer: Option<Size>,
    /// TCP: what the sender keeps, sent or not (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "16 GiB"))]
    pub(crate) send_buffer: Option<Size>,
    /// TCP: what is handed down at once at most (segmentation offload) (size); "0 B" = one packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 MiB"))]
    pub(crate) tso: Option<Size>,
    /// TCP: least retransmission timeout (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "100 s"))]
    pub(crate) rto_min: Option<Time>,
    /// TCP: retransmission timeout before there is a sample (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "100 s"))]
    pub(crate) rto_initial: Option<Time>,
    /// TCP: full segments per acknowledgement; 1 = every packet is acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) ack_segments: Option<u32>,
    /// TCP: longest delay of an acknowledgement (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub(crate) ack_delay: Option<Time>,
    /// TCP: whether selective acknowledgements are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sack: Option<bool>,
    /// TCP: whether tail loss probes are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tail_loss_probe: Option<bool>,
    /// TCP: whether packets can be marked (ECN).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ecn: Option<bool>,
    /// DCTCP and DCQCN: gain g of the moving average of marks (0 to 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub(crate) gain: Option<f64>,
    /// DCTCP: first value of alpha (0 to 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) alpha: Option<f64>,
    /// RoCE: a message (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "2 GiB"))]
    pub(crate) message: Option<Size>,
    /// RoCE: messages in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) in_flight: Option<u32>,
    /// RoCE: data of one packet at most (size): "256 B", "512 B", "1 KiB", "2 KiB" or "4 KiB"; the largest of them that
    /// the flow's MTU has room for when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "256 B", "x-max" = "4 KiB", "x-power-of-two" = true))]
    pub(crate) payload: Option<Size>,
    /// RoCE: packets per acknowledgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) ack_packets: Option<u32>,
    /// RoCE: when what is not acknowledged is sent again (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "100 s"))]
    pub(crate) timeout: Option<Time>,
    /// DCQCN: least time between two congestion notifications of a flow (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 s"))]
    pub(crate) notify: Option<Time>,
    /// DCQCN: period of the update of alpha without notification (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 s"))]
    pub(crate) alpha_timer: Option<Time>,
    /// DCQCN: period of rate increase (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 s"))]
    pub(crate) increase_timer: Option<Time>,
    /// DCQCN: byte counter of rate increase (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 KiB", "x-max" = "1 TB"))]
    pub(crate) increase_bytes: Option<Size>,
    /// DCQCN: rounds of fast recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1024))]
    pub(crate) fast_rounds: Option<u32>,
    /// DCQCN: additive increase (bandwidth).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 kbps", "x-max" = "1 TB/s"))]
    pub(crate) additive: Option<Bandwidth>,
    /// DCQCN: hyper increase (bandwidth).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 kbps", "x-max" = "1 TB/s"))]
    pub(crate) hyper: Option<Bandwidth>,
    /// DCQCN: least rate (bandwidth).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 kbps", "x-max" = "1 TB/s"))]
    pub(crate) least: Option<Bandwidth>,
}

/// A transport that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BaseSpec {
    /// TCP with DCTCP (RFC 8257).
    Dctcp,
    /// TCP with CUBIC (RFC 9438).
    Cubic,
    /// TCP with Reno (RFC 5681, 6582, 6675).
    Reno,
    /// RoCE v2 at full rate.
    Roce,
    /// RoCE v2 with DCQCN.
    Dcqcn,
}
