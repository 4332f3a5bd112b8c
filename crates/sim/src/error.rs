//! Errors that end a run.

use hostnet_config::Code;
use hostnet_traffic::TraceError;
use std::path::Path;
use thiserror::Error;

/// An error that ends a run.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SimulationError {
    /// Credits are held and nothing moves.
    #[error(
        "nothing has moved for {idle_us} us at {at_us} us of simulated time: {domain} holds {in_use} of \
        {capacity} credits{part}"
    )]
    Stuck {
        /// Domain with the largest share of its credits in use.
        domain: String,
        /// Part that the domain belongs to, as words of the message.
        part: String,
        /// Credits of the domain in use.
        in_use: u32,
        /// Credits of the domain.
        capacity: u32,
        /// Simulated time, in us.
        at_us: u64,
        /// Time without progress, in us.
        idle_us: u64,
    },
    /// Ports wait for each other's pauses (PFC deadlock).
    #[error("deadlock at {at_us} us of simulated time: each of these ports is paused until packets leave by the next, \
        and the last waits for the first: {}", .cycle.join(" -> "))]
    Deadlock {
        /// Ports of the cycle in the order in which they wait. Each is given as the switch, the number of the port at
        /// the switch, the host or switch at the other end of the cable, and the priority.
        cycle: Vec<String>,
        /// Simulated time at which the cycle was found, in us.
        at_us: u64,
    },
    /// A trace that a core replays is invalid: file, line and rule.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// An external controller is missing: the host and the controller that it needs.
    #[error("{0}")]
    Controller(HostError),
    /// Another process that takes part in the run has come to an error: its code and its text.
    #[error("{1}")]
    OtherProcess(Code, String),
    /// No core of a chip can continue.
    #[error("at {at_us} us of simulated time nothing is left to do on the chip")]
    IdleChip {
        /// Simulated time, in us.
        at_us: u64,
    },
    /// Events keep firing while simulated time stands still.
    #[error("time stands still at {at_ps} ps: events follow each other without end")]
    Livelock {
        /// Simulated time, in ps.
        at_ps: u64,
    },
}

/// A controller or governor from outside does not fit its host, or is missing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{host}: {why}")]
pub struct HostError {
    /// Rule that is broken.
    pub code: Code,
    /// Name of the host, as given.
    pub host: String,
    /// Mistake, in words.
    pub why: String,
    /// Component that the run lacks, if one is missing.
    pub missing: Option<MissingComponent>,
}

/// Component that the caller of a run supplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingComponent {
    /// The controller of a host with `control.rule = "user"`.
    Controller,
    /// The governor of a host with `power.governor = "user"`.
    Governor,
    /// The policy of a host with a workload of kind "tiering" and `policy = "user"`.
    Policy,
}

impl HostError {
    pub(crate) fn new(code: Code, host: &str, why: impl Into<String>) -> Self {
        Self { code, host: host.to_owned(), why: why.into(), missing: None }
    }

    pub(crate) fn not_given(host: &str, missing: MissingComponent, name: &str) -> Self {
        let why = match missing {
            MissingComponent::Controller => {
                format!("control.rule is \"user\", and the controller \"{name}\" was not given to the run")
            }
            MissingComponent::Governor => {
                format!("power.governor is \"user\", and the governor \"{name}\" was not given to the run")
            }
            MissingComponent::Policy => {
                format!("workload.{name}.policy is \"user\", and the policy was not given to the run")
            }
        };
        Self { missing: Some(missing), ..Self::new(Code::RequiresKey, host, why) }
    }
}

impl SimulationError {
    /// Rule that is broken.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Stuck { .. } | Self::IdleChip { .. } | Self::Livelock { .. } => Code::Stuck,
            Self::Deadlock { .. } => Code::Deadlock,
            Self::Trace(error) => Code::of_file(Path::new(error.file())),
            Self::Controller(error) => error.code,
            Self::OtherProcess(code, _) => *code,
        }
    }
}
