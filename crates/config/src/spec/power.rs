//! Frequencies, voltages and sleep of the cores of a server.

use super::values::{Frequency, Power, SleepPower, Slew, Time};
use crate::code::Code;
use crate::error::Fault;
use crate::units::{format, parse, shorten, Dimension};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Least and most voltage, in microvolts.
const VOLTAGES_UV: (u64, u64) = (100_000, 5_000_000);
/// Least and most frequency, in hertz.
const FREQUENCIES_HZ: (u64, u64) = (10_000_000, 10_000_000_000);
/// Most power, in microwatts.
const POWERS_UW: (u64, u64) = (0, 1_000_000_000);

/// Frequencies, voltages and sleep of the cores of a server. What is absent comes from the profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PowerSpec {
    /// Profile that the values start from, by its name: "i7-3770".
    #[serde(default = "i7_3770")]
    pub(crate) profile: String,
    /// The frequencies that cores may have, each with its voltage (P-states): a range, or a list of 1 to 64 from the
    /// slowest, each as text such as "0.8 GHz @ 0.65 V" or as a table.
    pub(crate) pstates: PStatesSpec,
    /// What a core takes for being there, whatever it does.
    #[serde(rename = "static")]
    pub(crate) static_power: StaticSpec,
    /// What a core at work takes beyond that.
    pub(crate) dynamic: DynamicSpec,
    /// Which cores have one frequency: "chip", all of a socket; "core", each has its own.
    pub(crate) domain: DomainSpec,
    /// How fast a voltage changes (slew rate): before a frequency rises, and after it fell. More than none where the
    /// voltages of `pstates` differ.
    #[schemars(extend("x-max" = "1 V/us"))]
    pub(crate) slew: Slew,
    /// How long cores stand still while their frequency changes (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) relock: Time,
    /// The states that an idle core may sleep in (C-states), by name.
    #[serde(default)]
    pub(crate) cstate: BTreeMap<String, CStateSpec>,
    /// Who decides on frequencies: its name, or a table.
    #[schemars(schema_with = "governor_schema")]
    pub(crate) governor: GovernorSpec,
    /// Who decides in which state a core sleeps: "menu", by the next timer and what was; "menu-2.6.38", the same as of
    /// that Linux; "teo", by the timer events that were; "ladder", step by step; "poll", nobody, and an idle core
    /// polls.
    pub(crate) idle: IdleSpec,
    /// The longest exit from sleep that is allowed (time): deeper states are not used (PM QoS), and none, so that an
    /// idle core polls, when that of all is longer; any when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub(crate) qos: Option<Time>,
    /// Of what a core at work takes beyond its being there, the share that one takes that polls (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) poll: f64,
    /// Between two ticks of the scheduler at a core (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "100 us", "x-max" = "1 s"))]
    pub(crate) tick: Option<Time>,
    /// With `power.tick`: work of a tick at `core.frequency` (time); "1 us" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) tick_cost: Option<Time>,
    /// With `power.tick`: whether an idle core has none (CONFIG_NO_HZ); else ticks wake it. True when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tickless: Option<bool>,
}

/// The frequencies that cores may have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PStatesSpec {
    /// A range: frequencies at even distances, and so their voltages.
    Range(PStateRangeSpec),
    /// One by one.
    List(#[schemars(length(min = 1, max = 64))] Vec<PStateEntry>),
}

/// Frequencies at even distances, and so their voltages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PStateRangeSpec {
    /// How many frequencies a range has, at even distances.
    #[schemars(range(min = 2, max = 64))]
    pub(crate) count: u32,
    /// The slowest of a range (frequency at voltage), such as "0.8 GHz @ 0.65 V".
    pub(crate) from: StateAt,
    /// The fastest of a range (frequency at voltage).
    pub(crate) to: StateAt,
}

/// A frequency that cores may have, with or without what they take at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PStateEntry {
    /// What they take follows from `static` and `dynamic`.
    Plain(StateAt),
    /// A frequency that cores may have, and what cores take at it.
    Full(PStateSpec),
}

/// A frequency that cores may have, and what they take at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PStateSpec {
    /// Frequency at voltage, such as "0.8 GHz @ 0.65 V".
    pub(crate) at: StateAt,
    /// What a core takes there for being there (power); as `power.static` says when absent.
    #[serde(default, rename = "static", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 kW"))]
    pub(crate) static_power: Option<Power>,
    /// What a core at work takes there beyond that (power); as `power.dynamic` says when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 kW"))]
    pub(crate) dynamic: Option<Power>,
}

/// What a core takes for being there at two voltages; at others it follows the power law through both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StaticSpec {
    /// What a core takes for being there at the lower of two voltages (power at voltage), such as "1.92 W @ 0.65 V"; at
    /// others it follows the power law through both.
    pub(crate) low: PowerAt,
    /// What it takes at the higher one (power at voltage).
    pub(crate) high: PowerAt,
}

/// What a core at work takes beyond its being there; elsewhere in proportion to the frequency and the square of the
/// voltage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DynamicSpec {
    /// What a core at work takes beyond its being there (power).
    #[schemars(extend("x-max" = "1 kW"))]
    pub(crate) power: Power,
    /// Where it takes that (frequency at voltage); elsewhere it is in proportion to the frequency and the square of the
    /// voltage.
    pub(crate) at: StateAt,
}

/// Which cores have one frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DomainSpec {
    /// All of a socket.
    Chip,
    /// Each its own.
    Core,
}

/// A state that an idle core may sleep in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CStateSpec {
    /// From the end of sleep until the core works again (time).
    #[schemars(extend("x-max" = "1 s"))]
    pub(crate) exit: Time,
    /// The shortest stay that is worth it (time), not less than `exit`.
    #[schemars(extend("x-max" = "10 s"))]
    pub(crate) residency: Time,
    /// What a core takes there (power), or "static": what it takes for being there at the voltage that it has; "static"
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 kW"))]
    pub(crate) power: Option<SleepPower>,
    /// Whether it is left out; false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) disable: Option<bool>,
}

/// Who decides on frequencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GovernorSpec {
    /// Its name: "performance", the highest; "powersave", the lowest; "userspace", `frequency`; "ondemand", the highest
    /// above a load, else less; "conservative", up and down by steps; "schedutil", by the utilisation that the
    /// scheduler tracks; "user", one from outside.
    pub(crate) kind: GovernorKindSpec,
    /// Of "ondemand": whose rule below the load, "2.6.38", the least frequency at which it would be 3 points below, or
    /// "3.9", in proportion to it; "2.6.38" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) variant: Option<VariantSpec>,
    /// How often it looks (time); "10 ms" when absent. Not of "performance", "powersave" and "userspace".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "4 s"))]
    pub(crate) period: Option<Time>,
    /// What a look costs a core at `core.frequency` (time), assumed; "10 us" when absent. Of those with a period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "100 ms"))]
    pub(crate) cost: Option<Time>,
    /// Of "ondemand" and "conservative": load above which the frequency rises, in percent; 95 and 80 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub(crate) up_threshold: Option<u32>,
    /// Of "ondemand": whether a core that is idle while storage is waited for counts as busy (io_is_busy), as on
    /// processors of Intel; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) io_busy: Option<bool>,
    /// Of "conservative": load below which it falls, in percent, less than `up_threshold`; 20 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 99))]
    pub(crate) down_threshold: Option<u32>,
    /// Of "conservative": a step, in percent of the highest frequency; 5 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub(crate) step: Option<u32>,
    /// Of "userspace": the frequency, one of those of `power.pstates`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "10 MHz", "x-max" = "10 GHz"))]
    pub(crate) frequency: Option<Frequency>,
    /// Of "user": the name that it is known by; "user" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub(crate) name: Option<String>,
}

/// Who decides on frequencies, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GovernorKindSpec {
    /// The highest.
    Performance,
    /// The lowest.
    Powersave,
    /// One that is given.
    Userspace,
    /// The highest above a load, else less.
    Ondemand,
    /// By steps.
    Conservative,
    /// By the utilisation that the scheduler tracks.
    Schedutil,
    /// One from outside.
    User,
}

impl GovernorKindSpec {
    /// All of them by name.
    const NAMES: [&str; 7] = ["performance", "powersave", "userspace", "ondemand", "conservative", "schedutil", "user"];
}

/// From which Linux on a rule of "ondemand" is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum VariantSpec {
    /// Before 3.9.
    #[serde(rename = "2.6.38")]
    Old,
    /// Since 3.9.
    #[serde(rename = "3.9")]
    Proportional,
}

/// Who decides in which state a core sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum IdleSpec {
    /// Nobody.
    Poll,
    /// Step by step.
    Ladder,
    /// By the next timer and what was.
    Menu,
    /// The same as of Linux 2.6.38.
    #[serde(rename = "menu-2.6.38")]
    EarlyMenu,
    /// By the timer events that were.
    Teo,
}

fn i7_3770() -> String {
    "i7-3770".to_owned()
}

/// A governor by its name alone, or as a table.
fn governor_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [{ "type": "string", "enum": GovernorKindSpec::NAMES }, GovernorSpec::json_schema(generator)]
    })
}

/// A value at a voltage, as text such as "0.8 GHz @ 0.65 V".
macro_rules! at_voltage {
    ($name:ident, $field:ident, $dimension:expr, $range:expr, $form:literal, $example:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name {
            pub(crate) $field: u64,
            /// Voltage in microvolts.
            pub(crate) uv: u64,
        }

        impl $name {
            /// Reads it. The error is a sentence without the path.
            pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
                let [$field, uv] = parse_at(text, $dimension, $range, $form, $example)?;
                Ok(Self { $field, uv })
            }

            /// As [`Self::parse`] reads it.
            pub(crate) fn format(self) -> String {
                format!("{} @ {}", format(self.$field, $dimension), format(self.uv, Dimension::Voltage))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.format())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(D::Error::custom)
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
                json_schema!({ "type": "string", "x-form": $form, "examples": [$example] })
            }
        }
    };
}

at_voltage!(
    StateAt,
    hz,
    Dimension::Frequency,
    FREQUENCIES_HZ,
    "frequency at voltage",
    "0.8 GHz @ 0.65 V",
    "A frequency in hertz at a voltage: 10 MHz to 10 GHz, 100 mV to 5 V."
);
at_voltage!(
    PowerAt,
    uw,
    Dimension::Power,
    POWERS_UW,
    "power at voltage",
    "1.92 W @ 0.65 V",
    "A power in microwatts at a voltage: up to 1 kW, 100 mV to 5 V."
);

/// Reads a value of a dimension and a range, and the voltage after its "@".
fn parse_at(text: &str, dimension: Dimension, range: (u64, u64), form: &str, example: &str) -> Result<[u64; 2], Fault> {
    let Some((value, voltage)) = text.split_once('@') else {
        return Err(Fault::new(Code::MalformedValue, format!("{} is no {form} such as \"{example}\"", shorten(text))));
    };
    let parts = [(value, dimension, range), (voltage, Dimension::Voltage, VOLTAGES_UV)];
    let mut read = [0; 2];
    for ((text, dimension, (least, most)), read) in parts.into_iter().zip(&mut read) {
        let text = text.trim();
        *read = parse(text, dimension)?;
        if !(least..=most).contains(read) {
            let range = format!("{} to {}", format(least, dimension), format(most, dimension));
            return Err(Fault::new(Code::OutOfRange, format!("{} is out of range; {range} is allowed", shorten(text))));
        }
    }
    Ok(read)
}
