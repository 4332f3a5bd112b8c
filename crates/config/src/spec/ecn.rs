//! When switches mark packets.

use super::values::Size;
use crate::code::Code;
use crate::cores::parse_list;
use crate::error::Fault;
use crate::units::{format, parse, shorten, Dimension};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// When packets are marked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EcnSpec {
    /// Never.
    Off,
    /// A queue of so many packets.
    Packets(u32),
    /// A queue of so many bytes.
    Bytes(u64),
    /// A probability that rises.
    Ramp(RampSpec),
}

/// Marking with a probability that rises from 0 to `most` between two lengths of the queue, and is 1 above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RampSpec {
    /// Queue below which nothing is marked (size).
    #[schemars(extend("x-max" = "1 TB"))]
    pub(crate) min: Size,
    /// Queue above which all is marked (size).
    #[schemars(extend("x-max" = "1 TB"))]
    pub(crate) max: Size,
    /// Share that is marked just below `max` (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) most: f64,
}

impl EcnSpec {
    /// Reads "off", "65 packets" or "100 kB". The error is a sentence without the path.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
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
