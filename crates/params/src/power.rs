//! Keys and parameters of frequencies, voltages and sleep states of cores.

use super::governor::{GovernorKindSpec, GovernorParams, GovernorSpec, IdleGovernorParams, IdleSpec};
use super::values::{Power, SleepPower, Slew, Time};
use hostnet_units::code::Code;
use hostnet_units::error::Fault;
use hostnet_units::units::{format, parse, shorten, Dimension};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Smallest and largest voltage, in microvolts.
const VOLTAGES_UV: (u64, u64) = (100_000, 5_000_000);

/// Smallest and largest frequency, in hertz.
const FREQUENCIES_HZ: (u64, u64) = (10_000_000, 10_000_000_000);

/// Smallest and largest power, in microwatts.
const POWERS_UW: (u64, u64) = (0, 1_000_000_000);

/// Frequencies, voltages and sleep states of the cores of a server. Absent values come from the profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerSpec {
    /// Profile that provides absent values, by name: "i7-3770".
    #[serde(default = "i7_3770")]
    pub profile: String,
    /// Frequencies of the cores, each with its voltage (P-states): a range, or a list of 1 to 64 from the slowest, each
    /// as text such as "0.8 GHz @ 0.65 V" or as a table.
    pub pstates: PStatesSpec,
    /// Static power of a core, independent of its activity.
    #[serde(rename = "static")]
    pub static_power: StaticSpec,
    /// Power of an active core beyond its static power.
    pub dynamic: DynamicSpec,
    /// Frequency domain: "chip", all cores of a socket; "core", each core.
    pub domain: PowerDomain,
    /// Rate at which the voltage changes (slew rate), before a frequency rises and after it fell. More than zero if the
    /// voltages of `pstates` differ.
    #[schemars(extend("x-max" = "1 V/us"))]
    pub slew: Slew,
    /// Time that cores halt while their frequency changes (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub relock: Time,
    /// Sleep states of idle cores (C-states), by name.
    #[serde(default)]
    pub cstate: BTreeMap<String, CStateSpec>,
    /// Frequency governor, by name or as a table.
    #[schemars(schema_with = "governor_schema")]
    pub governor: GovernorSpec,
    /// Idle governor: "menu", by the next timer and past sleeps; "menu-2.6.38", that of Linux 2.6.38; "teo", by past
    /// timer events; "ladder", step by step; "poll", none, so that idle cores poll.
    pub idle: IdleSpec,
    /// Longest exit latency allowed (time): deeper states are not used (PM QoS), and if all states are deeper, idle
    /// cores poll; any when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub qos: Option<Time>,
    /// Power of a polling core beyond its static power, as a share of that of an active core (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub poll: f64,
    /// Period of the scheduler tick of a core (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "100 us", "x-max" = "1 s"))]
    pub tick: Option<Time>,
    /// With `power.tick`: work of a tick at `core.frequency` (time); "1 us" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub tick_cost: Option<Time>,
    /// With `power.tick`: true if an idle core has no ticks (CONFIG_NO_HZ), otherwise ticks wake it; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tickless: Option<bool>,
}

/// P-states of the cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PStatesSpec {
    /// A range: frequencies at equal distances, and voltages at equal distances.
    Range(PStateRangeSpec),
    /// A list of P-states.
    List(#[schemars(length(min = 1, max = 64))] Vec<PStateEntry>),
}

/// Range of P-states, with frequencies and voltages at equal distances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PStateRangeSpec {
    /// Number of P-states in the range.
    #[schemars(range(min = 2, max = 64))]
    pub count: u32,
    /// Slowest P-state of the range (frequency at voltage), such as "0.8 GHz @ 0.65 V".
    pub from: StateAt,
    /// Fastest P-state of the range (frequency at voltage).
    pub to: StateAt,
}

/// P-state, with or without its power.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PStateEntry {
    /// P-state with a power that follows from `static` and `dynamic`.
    Plain(StateAt),
    /// P-state with its power.
    Full(PStateSpec),
}

/// P-state with its power.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PStateSpec {
    /// Frequency at voltage, such as "0.8 GHz @ 0.65 V".
    pub at: StateAt,
    /// Static power of a core in this P-state (power); that of `power.static` when absent.
    #[serde(default, rename = "static", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 kW"))]
    pub static_power: Option<Power>,
    /// Power of an active core in this P-state beyond its static power (power); that of `power.dynamic` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 kW"))]
    pub dynamic: Option<Power>,
}

/// Static power of a core at two voltages; at others it follows the power law through both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticSpec {
    /// Static power of a core at the lower of two voltages (power at voltage), such as "1.92 W @ 0.65 V"; at other
    /// voltages it follows the power law through both.
    pub low: PowerAt,
    /// Static power of a core at the higher voltage (power at voltage).
    pub high: PowerAt,
}

/// Power of an active core beyond its static power. In other P-states it is proportional to the frequency and to the
/// square of the voltage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamicSpec {
    /// Power of an active core beyond its static power (power).
    #[schemars(extend("x-max" = "1 kW"))]
    pub power: Power,
    /// P-state with that power (frequency at voltage); in others the power is proportional to the frequency and to the
    /// square of the voltage.
    pub at: StateAt,
}

/// Cores that share a frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PowerDomain {
    /// All cores of a socket.
    Chip,
    /// Each core alone.
    Core,
}

/// Sleep state of an idle core (C-state).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CStateSpec {
    /// Exit latency: time from the end of sleep until the core works again (time).
    #[schemars(extend("x-max" = "1 s"))]
    pub exit: Time,
    /// Target residency: shortest sleep that is worth entering the state (time), not less than `exit`.
    #[schemars(extend("x-max" = "10 s"))]
    pub residency: Time,
    /// Power of a sleeping core (power), or "static": its static power at the current voltage; "static" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 kW"))]
    pub power: Option<SleepPower>,
    /// True if the state is not used; false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable: Option<bool>,
}

fn i7_3770() -> String {
    "i7-3770".to_owned()
}

/// Returns the schema of a governor: its name alone, or a table.
fn governor_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [{ "type": "string", "enum": GovernorKindSpec::NAMES }, GovernorSpec::json_schema(generator)]
    })
}

/// Defines a type of values at a voltage, written as text such as "0.8 GHz @ 0.65 V".
macro_rules! at_voltage {
    ($name:ident, $field:ident, $dimension:expr, $range:expr, $form:literal, $example:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            /// Value, in the base unit of its dimension.
            pub $field: u64,
            /// Voltage in microvolts.
            pub uv: u64,
        }

        impl $name {
            /// Parses the text. The message of an error does not name the key.
            pub fn parse(text: &str) -> Result<Self, Fault> {
                let [$field, uv] = parse_at(text, $dimension, $range, $form, $example)?;
                Ok(Self { $field, uv })
            }

            /// Formats the value as [`Self::parse`] reads it.
            pub fn format(self) -> String {
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

/// Parses a value of a dimension and a range, and the voltage after its "@".
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

/// P-state: a frequency of cores, with its voltage and power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PState {
    /// Frequency in kHz.
    pub khz: u32,
    /// Voltage in microvolts.
    pub uv: u32,
    /// Static power of a core at this voltage, in microwatts, independent of its activity.
    pub static_uw: u64,
    /// Power of an active core beyond the static power, in microwatts.
    pub dynamic_uw: u64,
}

/// C-state: a sleep state of idle cores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CState {
    /// Name of the state, such as "C6".
    pub name: String,
    /// Exit latency: time from the end of sleep until the core works again, in ps.
    pub exit_ps: u64,
    /// Target residency: the shortest sleep that is worth entering the state, in ps.
    pub residency_ps: u64,
    /// Power of a sleeping core, in microwatts; `None` = the static power at the core's voltage.
    pub power_uw: Option<u64>,
}

/// Parameters of the power management of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerParams {
    /// P-states from the slowest to the fastest, at least one.
    pub pstates: Vec<PState>,
    /// Clock that the times of work refer to, in kHz.
    pub reference_khz: u32,
    /// Cores that share one frequency.
    #[serde(with = "super::variant")]
    pub domain: PowerDomain,
    /// Slew rate of the voltage, in microvolts per microsecond; 0 = immediate.
    pub slew_uv_per_us: u64,
    /// Time that cores halt while their clock changes (relock of the PLL), in ps.
    pub relock_ps: u64,
    /// C-states from the lightest to the deepest.
    pub cstates: Vec<CState>,
    /// Power of a polling core beyond the static power, as a share of an active core's, in millionths.
    pub poll_ppm: u32,
    /// Frequency governor.
    pub governor: GovernorParams,
    /// Sampling period of the governor, in ps.
    pub period_ps: u64,
    /// Work of a core per sample, in ps at the reference clock.
    pub governor_ps: u64,
    /// Idle governor.
    pub idle: IdleGovernorParams,
    /// Largest exit latency allowed (PM QoS), in ps.
    pub qos_ps: Option<u64>,
    /// Period of the scheduler tick, in ps; 0 = no ticks.
    pub tick_ps: u64,
    /// True if an idle core has no ticks (`CONFIG_NO_HZ`); otherwise ticks wake idle cores.
    pub tickless: bool,
    /// Work of a tick, in ps at the reference clock.
    pub tick_work_ps: u64,
}

impl PowerParams {
    /// Returns true if samples of the governor take time on a core.
    #[must_use]
    pub fn costs(&self) -> bool {
        self.governor_ps > 0 && self.governor.samples()
    }
}
