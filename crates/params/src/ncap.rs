//! Keys and parameters of interrupt moderation and of NCAP.

use super::values::{Bandwidth, Rate, RateOrNever, Time, TimeOrNever};
use hostnet_units::code::Code;
use hostnet_units::error::Fault;
use hostnet_units::units::shorten;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// Notifications of the power management about packets (NCAP). NCAP stands for network-driven, packet context-aware
/// power management. Needs `power`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NcapSpec {
    /// Place of the implementation: "hardware", the NIC; "software", its driver; "off", none.
    #[serde(default)]
    pub mode: NcapModeSpec,
    /// Requests per second above which a burst has started (rate), or "inf": never.
    #[serde(default = "rht_35_k")]
    #[schemars(extend("x-max" = "1 G/s"))]
    pub rht: RateOrNever,
    /// Requests per second below which a burst may be over (rate), at most `rht`.
    #[serde(default = "rlt_5_k")]
    #[schemars(extend("x-max" = "1 G/s"))]
    pub rlt: Rate,
    /// Transmit rate below which a burst may be over (bandwidth); "5 Mbps" when absent.
    #[serde(default = "tlt_5_mbps")]
    #[schemars(extend("x-max" = "1 TB/s"))]
    pub tlt: Bandwidth,
    /// Time without an interrupt after which a request interrupts at once (time), or "inf": never.
    #[serde(default = "cit_500_us")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub cit: TimeOrNever,
    /// Steps from the highest frequency to the lowest.
    #[serde(default = "fcons_5")]
    #[schemars(range(min = 1, max = 64))]
    pub fcons: u32,
    /// Time that requests and transmissions must stay below `rlt` and `tlt` before each step down (time).
    #[serde(default = "low_1_ms")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "10 s"))]
    pub low: Time,
    /// First two bytes of the requests that are counted, each template as two characters; 1 to 16.
    #[serde(default = "templates")]
    #[schemars(length(min = 1, max = 16))]
    pub templates: Vec<Template>,
    /// Condition for announcing a burst again: "level", after the first step down; "frequency", when the frequency is
    /// not the highest.
    #[serde(default)]
    pub rearm: RearmSpec,
    /// With "software": period of the driver's timer, at which rates are computed (time); "1 ms" when absent. The NIC
    /// uses `nic.mitt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1 s"))]
    pub timer: Option<Time>,
    /// With "software": work of the driver per inspected packet, at `core.frequency` (time); "50 ns" when absent. The
    /// default is an assumption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub packet: Option<Time>,
}

/// Place where NCAP is implemented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NcapModeSpec {
    /// The NIC.
    #[default]
    Hardware,
    /// Its driver.
    Software,
    /// None.
    Off,
}

/// Condition for announcing a burst again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RearmSpec {
    /// After the first step down.
    #[default]
    Level,
    /// When the frequency is not the highest.
    Frequency,
}

/// First two bytes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template(pub [u8; 2]);

impl Template {
    /// Parses two ASCII characters. The message of an error does not name the key.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        match text.as_bytes() {
            &[first, second] if text.is_ascii() => Ok(Template([first, second])),
            _ => Err(Fault::new(
                Code::MalformedValue,
                format!("{} is not two ASCII characters such as \"GE\"", shorten(text)),
            )),
        }
    }
}

impl Serialize for Template {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(&self.0))
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Template::parse(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for Template {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Template".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "x-form": "template", "examples": ["GE"] })
    }
}

fn rht_35_k() -> RateOrNever {
    RateOrNever::Above(Rate(35_000))
}

fn rlt_5_k() -> Rate {
    Rate(5_000)
}

fn tlt_5_mbps() -> Bandwidth {
    Bandwidth(625_000)
}

fn cit_500_us() -> TimeOrNever {
    TimeOrNever::After(Time(500_000_000))
}

fn fcons_5() -> u32 {
    5
}

fn low_1_ms() -> Time {
    Time(1_000_000_000)
}

fn templates() -> Vec<Template> {
    vec![Template(*b"GE")]
}

/// Interrupt moderation of a NIC by a master timer, with a handler that reads the cause of the interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptModerationParams {
    /// Period of the free-running timer (MITT), in ps: interrupts are sent when it expires.
    pub master_ps: u64,
    /// Time that the handler waits for the cause register (ICR), in ps.
    pub cause_ps: u64,
}

/// NIC that notifies the power management of the rate of requests (NCAP).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NcapParams {
    /// True if the driver implements NCAP instead of the card.
    pub software: bool,
    /// Requests per second above which a burst has started (RHT); `None` = never.
    pub high_per_s: Option<u64>,
    /// Requests per second below which a burst may be over (RLT).
    pub low_per_s: u64,
    /// Bits per second sent below which a burst may be over (TLT).
    pub low_bits_per_s: u64,
    /// Time without an interrupt after which a request interrupts at once (CIT), in ps; `None` = never.
    pub idle_ps: Option<u64>,
    /// Steps from the highest to the lowest frequency (FCONS), at least 1.
    pub steps: u32,
    /// Time that rates must be low before each step down, in ps.
    pub low_ps: u64,
    /// Period at which rates are computed, in ps: that of the card's master timer (MITT), or of the driver's timer.
    pub period_ps: u64,
    /// First two bytes of requests that are counted.
    pub templates: Vec<[u8; 2]>,
    /// True if a burst is announced again once the frequency is not the highest, false if once the level is not.
    pub rearm_by_frequency: bool,
    /// With `software`: work of the driver per packet that it inspects, in ps.
    pub packet_ps: u64,
}
