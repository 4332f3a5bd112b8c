//! Keys and parameters of the integrated IO controller.

use super::values::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Integrated IO controller (IIO).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IioSpec {
    /// Write buffer entries: the credits of P2M-Write (lines).
    #[schemars(range(min = 1, max = 65536))]
    pub write_credits: u32,
    /// Read buffer entries: the credits of P2M-Read (lines).
    #[schemars(range(min = 1, max = 65536))]
    pub read_credits: u32,
    /// Time from allocation of a write entry to the CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub write_to_cha: Time,
    /// Time from the CHA's acknowledgement to the release of a write entry (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub write_ack: Time,
    /// Time from allocation of a read entry to the CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub read_to_cha: Time,
    /// Time from data at the CHA to the release of a read entry (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub read_return: Time,
    /// Mean service time per line that enters the processor interconnect, one line after the other (time).
    #[schemars(extend("x-max" = "1 us"))]
    pub line: Time,
    /// Half the range of that service time, as a share of its mean (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub line_jitter: f64,
    /// True if writes of a link may pass each other, if their device requests it (PCIe relaxed ordering).
    #[serde(default = "yes")]
    pub relaxed_ordering: bool,
}

fn yes() -> bool {
    true
}

impl IioSpec {
    /// Returns the parameters of the IIO.
    pub fn params(&self) -> IioParams {
        IioParams {
            write_credits: self.write_credits,
            read_credits: self.read_credits,
            write_to_cha_ps: self.write_to_cha.0,
            write_ack_ps: self.write_ack.0,
            read_to_cha_ps: self.read_to_cha.0,
            read_return_ps: self.read_return.0,
            line_ps: self.line.0,
            line_spread_ps: self.line.spread_ps(self.line_jitter),
            relaxed_ordering: self.relaxed_ordering,
        }
    }
}

/// Integrated IO controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IioParams {
    /// Write buffer entries (lines): the credits of P2M-Write.
    pub write_credits: u32,
    /// Read buffer entries (lines): the credits of P2M-Read.
    pub read_credits: u32,
    /// Time from allocation of a write entry to the CHA, in ps.
    pub write_to_cha_ps: u64,
    /// Time from the CHA's acknowledgement to the release of a write entry, in ps.
    pub write_ack_ps: u64,
    /// Time from allocation of a read entry to the CHA, in ps.
    pub read_to_cha_ps: u64,
    /// Time from data at the CHA to the release of a read entry, in ps.
    pub read_return_ps: u64,
    /// Mean service time of the IIO per line that it sends into the processor interconnect, in ps.
    pub line_ps: u64,
    /// Half the range of that service time, in ps.
    pub line_spread_ps: u64,
    /// True if writes of a link may pass each other. Otherwise all writes leave their entries in the order of their
    /// arrival, even if their device allows relaxed ordering.
    pub relaxed_ordering: bool,
}
