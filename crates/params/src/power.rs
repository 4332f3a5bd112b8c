//! Parameters of power management: frequencies, voltages and sleep of the cores of a server.

use serde::{Deserialize, Serialize};

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

/// Cores that share one frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PowerDomain {
    /// All cores of a socket share a frequency.
    Chip,
    /// Each core has a frequency of its own.
    Core,
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

/// Parameters of the power management of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerParams {
    /// P-states from the slowest to the fastest, at least one.
    pub pstates: Vec<PState>,
    /// Clock that the times of work refer to, in kHz.
    pub reference_khz: u32,
    /// Cores that share one frequency.
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
