//! Frequencies, voltages and sleep of the cores of a server.

use serde::{Deserialize, Serialize};

/// A frequency that cores may have, and what they take at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PState {
    /// Frequency in kHz.
    pub khz: u32,
    /// Voltage in microvolts.
    pub uv: u32,
    /// What a core takes at this voltage for being there, whatever it does, in microwatts.
    pub static_uw: u64,
    /// What a core at work takes beyond that, in microwatts.
    pub dynamic_uw: u64,
}

/// A state that an idle core may sleep in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CState {
    /// Its name, such as "C6".
    pub name: String,
    /// From the end of sleep until the core works again, in ps.
    pub exit_ps: u64,
    /// The shortest stay that is worth it (target residency), in ps.
    pub residency_ps: u64,
    /// What a core takes there, in microwatts; none: what it takes for being there at the voltage that it has.
    pub power_uw: Option<u64>,
}

/// Which cores have one frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PowerDomain {
    /// All of a socket.
    Chip,
    /// Each has its own.
    Core,
}

/// Which Linux the rule of "ondemand" is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OndemandVariant {
    /// Up to 3.11: below the threshold the least frequency at which the load would be 3 points below it
    /// (`down_differential` of kernels with exact idle times).
    Old,
    /// Since 3.17: below the threshold in proportion to the load, from the lowest to the highest.
    Proportional,
}

/// Who decides on frequencies (cpufreq).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GovernorParams {
    /// The highest.
    Performance,
    /// The lowest.
    Powersave,
    /// One by its place in the table.
    Userspace(u32),
    /// The highest above a load, else as the variant says.
    Ondemand {
        /// The rule.
        variant: OndemandVariant,
        /// Load above which it goes to the highest, in percent.
        up_threshold: u32,
        /// Whether a core that is idle while storage is waited for counts as busy (`io_is_busy`).
        io_busy: bool,
    },
    /// Up and down by steps.
    Conservative {
        /// Load above which it goes up, in percent.
        up_threshold: u32,
        /// Load below which it goes down, in percent.
        down_threshold: u32,
        /// A step, in percent of the highest frequency.
        step: u32,
    },
    /// From the utilisation that the scheduler tracks.
    Schedutil,
    /// A governor from outside, known by its name.
    User(String),
}

impl GovernorParams {
    /// Whether it looks at the load again and again; the others decide once.
    #[must_use]
    pub fn samples(&self) -> bool {
        !matches!(self, Self::Performance | Self::Powersave | Self::Userspace(_))
    }
}

/// Who decides in which state a core sleeps (cpuidle).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdleParams {
    /// None: an idle core polls.
    Poll,
    /// Step by step.
    Ladder,
    /// By the next timer and what was.
    Menu,
    /// The same as of Linux 2.6.38.
    EarlyMenu,
    /// By the timer events that were (timer events oriented).
    Teo,
}

/// Frequencies, voltages and sleep of the cores of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerParams {
    /// From the slowest to the fastest, at least one.
    pub pstates: Vec<PState>,
    /// The clock at which the times of work are given, in kHz.
    pub reference_khz: u32,
    /// Which cores have one frequency.
    pub domain: PowerDomain,
    /// How fast a voltage changes, in microvolts per microsecond; 0: at once.
    pub slew_uv_per_us: u64,
    /// How long cores stand still while their clock changes (relock of the PLL), in ps.
    pub relock_ps: u64,
    /// From the lightest to the deepest sleep.
    pub cstates: Vec<CState>,
    /// Of what a core at work takes beyond its being there, what one takes that polls, in millionths.
    pub poll_ppm: u32,
    /// Who decides on frequencies.
    pub governor: GovernorParams,
    /// How often it looks, in ps.
    pub period_ps: u64,
    /// What a look costs a core, in ps at the reference clock.
    pub governor_ps: u64,
    /// Who decides in which state a core sleeps.
    pub idle: IdleParams,
    /// The longest exit latency that is allowed (PM QoS), in ps.
    pub qos_ps: Option<u64>,
    /// Between two ticks of the scheduler, in ps; 0: there are none.
    pub tick_ps: u64,
    /// Whether an idle core has none (`CONFIG_NO_HZ`); else they wake it.
    pub tickless: bool,
    /// Work of a tick, in ps at the reference clock.
    pub tick_work_ps: u64,
}

impl PowerParams {
    /// Whether looks cost a core anything.
    #[must_use]
    pub fn costs(&self) -> bool {
        self.governor_ps > 0 && self.governor.samples()
    }
}

/// A NIC whose interrupts are held back by a master timer, and whose handler reads why it was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModerationParams {
    /// Period of the timer (MITT), which runs free, in ps: interrupts go out when it expires.
    pub master_ps: u64,
    /// How long the handler waits for the cause register (ICR), in ps.
    pub cause_ps: u64,
}

/// A NIC that tells the power management what packets it sees (NCAP).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NcapParams {
    /// Whether the driver does it in the place of the card.
    pub software: bool,
    /// Requests per second above which a burst has come (RHT); none: never.
    pub high_per_s: Option<u64>,
    /// Requests per second below which it is over (RLT).
    pub low_per_s: u64,
    /// Bits per second sent below which it is over (TLT).
    pub low_bits_per_s: u64,
    /// Time without an interrupt after which a request interrupts at once (CIT), in ps; none: never.
    pub idle_ps: Option<u64>,
    /// Steps from the highest to the lowest frequency (FCONS), at least 1.
    pub steps: u32,
    /// How long rates are low before a step, in ps.
    pub low_ps: u64,
    /// Period of the timer by which rates are taken, in ps: the master timer of the card (MITT), or that of the driver.
    pub period_ps: u64,
    /// First two bytes of requests that count.
    pub templates: Vec<[u8; 2]>,
    /// Whether a burst is announced again when the frequency is not the highest, and not when the level is not.
    pub rearm_by_frequency: bool,
    /// Work of the driver per packet that it looks at, in ps; of `software`.
    pub packet_ps: u64,
}
