//! Types of single values.

use hostnet_units::code::Code;
use hostnet_units::error::Fault;
use hostnet_units::units::{format, parse, shorten, Dimension};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

macro_rules! quantity {
    ($name:ident, $dimension:expr, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub u64);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&format(self.0, $dimension))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                parse(&text, $dimension).map($name).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                quantity_schema($dimension, &[])
            }
        }
    };
}

quantity!(Time, Dimension::Time, "A duration in ps.");

quantity!(Size, Dimension::Size, "An amount of data in bytes.");

quantity!(Bandwidth, Dimension::Bandwidth, "A data rate in bytes per second.");

quantity!(TransferRate, Dimension::TransferRate, "A symbol rate in transfers per second.");

quantity!(Frequency, Dimension::Frequency, "A frequency in hertz.");

quantity!(Power, Dimension::Power, "A power in microwatts.");

quantity!(Energy, Dimension::Energy, "An energy in femtojoules.");

quantity!(Slew, Dimension::Slew, "A change of voltage in microvolts per microsecond.");

quantity!(Rate, Dimension::Rate, "A rate in times per second.");

impl Time {
    /// Returns this share of the time, in ps: half the range of a random time with this mean.
    pub fn spread_ps(self, share: f64) -> u64 {
        (self.0 as f64 * share).round() as u64
    }
}

fn quantity_schema(dimension: Dimension, words: &[&str]) -> Schema {
    let mut schema = json_schema!({
        "type": "string",
        "x-quantity": dimension.name(),
        "examples": dimension.examples(),
    });
    if !words.is_empty() {
        schema.insert("x-words".to_string(), words.into());
    }
    schema
}

/// Defines a quantity that may be given as one word instead.
macro_rules! quantity_or_word {
    ($name:ident, $quantity:ident, $variant:ident, $word:literal, $other:ident, $dimension:expr, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum $name {
            $variant,
            $other($quantity),
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $name::$variant => serializer.serialize_str($word),
                    $name::$other(quantity) => quantity.serialize(serializer),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                if text == $word {
                    return Ok($name::$variant);
                }
                parse(&text, $dimension).map(|value| $name::$other($quantity(value))).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                quantity_schema($dimension, &[$word])
            }
        }
    };
}

quantity_or_word!(
    MemorySize,
    Size,
    All,
    "all",
    Bytes,
    Dimension::Size,
    "Bytes of memory in use: everything the channels hold, or less."
);

quantity_or_word!(
    TimeLimit,
    Time,
    Off,
    "off",
    After,
    Dimension::Time,
    "A time after which something happens, or never."
);

quantity_or_word!(
    TimeOrNever,
    Time,
    Never,
    "inf",
    After,
    Dimension::Time,
    "A time after which something happens, or never."
);

quantity_or_word!(
    RateOrNever,
    Rate,
    Never,
    "inf",
    Above,
    Dimension::Rate,
    "A rate above which something happens, or never."
);

quantity_or_word!(
    SleepPower,
    Power,
    Static,
    "static",
    Fixed,
    Dimension::Power,
    "What a core takes asleep: that of its voltage, or a power of its own."
);

quantity_or_word!(WarmUpSpec, Time, Auto, "auto", Fixed, Dimension::Time, "Time before the measurement begins.");

/// Share in millionths, written such as "80%".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(pub u32);

impl Share {
    /// The whole: 100%.
    pub const ONE: u32 = 1_000_000;

    /// Parses "80%" or "12.5%": up to four decimals, at most 100%. The message of an error does not name the key.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = || {
            Fault::new(
                Code::MalformedValue,
                format!("{} is not a share such as \"80%\" (0% to 100%, four decimals)", shorten(text)),
            )
        };
        let (whole, decimals) = match text.trim().strip_suffix('%').map(str::trim_end) {
            Some(number) => number.split_once('.').unwrap_or((number, "0")),
            None => return Err(wrong()),
        };
        let digits = |text: &str, length: usize| {
            (1..=length).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !digits(whole, 3) || !digits(decimals, 4) {
            return Err(wrong());
        }
        // Padded to four decimals of a percent: millionths.
        let millionths = format!("{whole}{decimals:0<4}").parse().map_err(|_| wrong())?;
        if millionths > Self::ONE {
            return Err(wrong());
        }
        Ok(Share(millionths))
    }

    /// Formats the share as [`Share::parse`] reads it.
    pub fn format(self) -> String {
        let decimals = format!("{:04}", self.0 % 10_000);
        match decimals.trim_end_matches('0') {
            "" => format!("{}%", self.0 / 10_000),
            decimals => format!("{}.{decimals}%", self.0 / 10_000),
        }
    }
}

/// Fill level of a queue: a number of entries, or a share of its capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watermark {
    /// Number of entries.
    Entries(u32),
    /// Share of the queue's entries.
    Share(Share),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WatermarkInput {
    Entries(u32),
    Share(String),
}

impl Serialize for Watermark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Watermark::Entries(entries) => serializer.serialize_u32(*entries),
            Watermark::Share(share) => serializer.serialize_str(&share.format()),
        }
    }
}

impl<'de> Deserialize<'de> for Watermark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match WatermarkInput::deserialize(deserializer)? {
            WatermarkInput::Entries(entries) => Ok(Watermark::Entries(entries)),
            WatermarkInput::Share(text) => Share::parse(&text).map(Watermark::Share).map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for Watermark {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Watermark".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"],
            "x-quantity": "count or share",
            "examples": [40, "80%"],
        })
    }
}
