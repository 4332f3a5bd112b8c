//! Keys and parameters of the governors of frequency and sleep.

use super::values::{Frequency, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Frequency governor (cpufreq).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GovernorSpec {
    /// Governor: "performance" sets the highest frequency, "powersave" the lowest, "userspace" that of `frequency`;
    /// "ondemand" sets the highest above a load and a lower one below it; "conservative" moves up and down in steps;
    /// "schedutil" follows the utilisation that the scheduler tracks; "user" is supplied by the user.
    pub kind: GovernorKindSpec,
    /// For "ondemand": rule below the threshold: "2.6.38", the lowest frequency at which the load would be 3 points
    /// below the threshold, or "3.9", a frequency in proportion to the load; "2.6.38" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<VariantSpec>,
    /// Sampling period (time); "10 ms" when absent. Not for "performance", "powersave" and "userspace".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "4 s"))]
    pub period: Option<Time>,
    /// Time that a sample takes on a core at `core.frequency` (time), assumed; "10 us" when absent. For governors with
    /// a period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "100 ms"))]
    pub cost: Option<Time>,
    /// For "ondemand" and "conservative": load above which the frequency is raised, in percent; 95 and 80 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub up_threshold: Option<u32>,
    /// For "ondemand": true if a core that idles while storage IO is outstanding counts as busy (io_is_busy), as on
    /// Intel processors; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_busy: Option<bool>,
    /// For "conservative": load below which the frequency is lowered, in percent, less than `up_threshold`; 20 when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 99))]
    pub down_threshold: Option<u32>,
    /// For "conservative": step, in percent of the highest frequency; 5 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub step: Option<u32>,
    /// For "userspace": frequency, one of those of `power.pstates`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "10 MHz", "x-max" = "10 GHz"))]
    pub frequency: Option<Frequency>,
    /// For "user": name of the governor; "user" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub name: Option<String>,
}

/// Frequency governors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GovernorKindSpec {
    /// The highest frequency.
    Performance,
    /// The lowest frequency.
    Powersave,
    /// A given frequency.
    Userspace,
    /// The highest frequency above a load, a lower one below it.
    Ondemand,
    /// In steps.
    Conservative,
    /// By the utilisation that the scheduler tracks.
    Schedutil,
    /// A governor that the user supplies.
    User,
}

impl GovernorKindSpec {
    /// Names of the governors.
    pub const NAMES: [&str; 7] =
        ["performance", "powersave", "userspace", "ondemand", "conservative", "schedutil", "user"];
}

/// Version of Linux that the rule of the "ondemand" governor is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum VariantSpec {
    /// Before 3.9.
    #[serde(rename = "2.6.38")]
    Old,
    /// Since 3.9.
    #[serde(rename = "3.9")]
    Proportional,
}

/// Idle governor, which chooses the sleep state of an idle core (cpuidle).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IdleSpec {
    /// No governor: an idle core polls.
    Poll,
    /// Step by step through the states.
    Ladder,
    /// By the next timer and past sleeps.
    Menu,
    /// The menu governor of Linux 2.6.38.
    #[serde(rename = "menu-2.6.38")]
    EarlyMenu,
    /// By past timer events.
    Teo,
}

/// Version of Linux that the rule of the "ondemand" governor is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OndemandVariant {
    /// Up to 3.11. Below the threshold, the lowest frequency at which the load would be 3 points below the threshold
    /// (`down_differential` of kernels with exact idle times).
    Old,
    /// Since 3.17. Below the threshold, a frequency in proportion to the load, from the lowest to the highest.
    Proportional,
}

/// Frequency governor (cpufreq).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GovernorParams {
    /// The highest frequency.
    Performance,
    /// The lowest frequency.
    Powersave,
    /// A fixed frequency, by its index in the table of P-states.
    Userspace(u32),
    /// The highest frequency above a load, otherwise a frequency by the rule of `variant`.
    Ondemand {
        /// Version of the rule.
        variant: OndemandVariant,
        /// Load above which the governor selects the highest frequency, in percent.
        up_threshold: u32,
        /// True if a core that idles while storage IO is outstanding counts as busy (`io_is_busy`).
        io_busy: bool,
    },
    /// Raises and lowers the frequency in steps.
    Conservative {
        /// Load above which the frequency is raised, in percent.
        up_threshold: u32,
        /// Load below which the frequency is lowered, in percent.
        down_threshold: u32,
        /// Step, in percent of the highest frequency.
        step: u32,
    },
    /// Follows the utilisation that the scheduler tracks.
    Schedutil,
    /// A governor that the user supplies, by its name.
    User(String),
}

impl GovernorParams {
    /// Returns true if the governor samples the load periodically; the others decide once.
    #[must_use]
    pub fn samples(&self) -> bool {
        !matches!(self, Self::Performance | Self::Powersave | Self::Userspace(_))
    }
}

/// Idle governor, which chooses the sleep state of an idle core (cpuidle).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdleGovernorParams {
    /// No governor: an idle core polls.
    Poll,
    /// Moves step by step through the states.
    Ladder,
    /// Predicts the sleep from the next timer and from past sleeps.
    Menu,
    /// The menu governor of Linux 2.6.38.
    EarlyMenu,
    /// Predicts the sleep from past timer events (timer events oriented).
    Teo,
}
