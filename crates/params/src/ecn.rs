//! Keys and parameters of ECN marking.

use super::values::Size;
use hostnet_units::code::Code;
use hostnet_units::cores::parse_list;
use hostnet_units::error::Fault;
use hostnet_units::units::{format, parse, shorten, Dimension};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// Condition under which packets are marked with ECN.
#[derive(Clone, Debug, PartialEq)]
pub enum EcnSpec {
    /// Packets are never marked.
    Off,
    /// Packets are marked from a queue of so many packets.
    Packets(u32),
    /// Packets are marked from a queue of so many bytes.
    Bytes(u64),
    /// Packets are marked with a probability that rises with the queue length.
    Ramp(RampSpec),
}

/// ECN marking with a probability that rises from 0 to `most` between two queue lengths, and is 1 above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RampSpec {
    /// Queue length below which no packet is marked (size).
    #[schemars(extend("x-max" = "1 TB"))]
    pub min: Size,
    /// Queue length above which every packet is marked (size).
    #[schemars(extend("x-max" = "1 TB"))]
    pub max: Size,
    /// Share of packets that is marked just below `max` (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub most: f64,
}

impl EcnSpec {
    /// Parses "off", "65 packets" or "100 kB". The error is a sentence without the path.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        const PACKETS_MAX: u32 = 1_000_000_000;
        let text = text.trim();
        if text == "off" {
            return Ok(EcnSpec::Off);
        }
        let packets = ["packets", "packet", "pkts"].iter().find_map(|unit| text.strip_suffix(unit));
        let wrong = || {
            Fault::new(
                Code::MalformedValue,
                format!("{} is no threshold such as \"65 packets\" or \"100 kB\", and not \"off\"", shorten(text)),
            )
        };
        match packets {
            // The parser of lists refuses signs and leading words, and a list of one is a count.
            Some(count) => match parse_list(count.trim(), "packet", PACKETS_MAX).ok().as_deref() {
                Some([count]) if *count > 0 => Ok(EcnSpec::Packets(*count)),
                _ => Err(wrong()),
            },
            None => match parse(text, Dimension::Size) {
                Ok(bytes) if bytes > 0 => Ok(EcnSpec::Bytes(bytes)),
                _ => Err(wrong()),
            },
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum EcnInput {
    Text(String),
    Ramp(RampSpec),
}

impl Serialize for EcnSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            EcnSpec::Off => serializer.serialize_str("off"),
            EcnSpec::Packets(count) => serializer.serialize_str(&format!("{count} packets")),
            EcnSpec::Bytes(bytes) => serializer.serialize_str(&format(*bytes, Dimension::Size)),
            EcnSpec::Ramp(ramp) => ramp.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EcnSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match EcnInput::deserialize(deserializer)? {
            EcnInput::Text(text) => EcnSpec::parse(&text).map_err(D::Error::custom),
            EcnInput::Ramp(ramp) => Ok(EcnSpec::Ramp(ramp)),
        }
    }
}

impl JsonSchema for EcnSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EcnSpec".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "x-form": "ecn", "examples": ["65 packets", "100 kB"] },
                RampSpec::json_schema(generator)
            ]
        })
    }
}

/// ECN marking by the instantaneous queue length, evaluated when a packet is enqueued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EcnParams {
    /// Marks a packet that finds at least so many packets waiting; the packet on the wire does not count.
    Packets(u32),
    /// Marks a packet that finds at least so many bytes waiting.
    Bytes(u64),
    /// Marks with a probability that rises from 0 at `min_bytes` to `most` (in units of 2^-32) at `max_bytes`, and is
    /// 1 above, as DCQCN requires.
    Ramp {
        /// Queue length below which no packet is marked, in bytes.
        min_bytes: u64,
        /// Queue length above which every packet is marked, in bytes.
        max_bytes: u64,
        /// Share of packets that is marked just below `max_bytes`, in units of 2^-32.
        most: u64,
    },
}
