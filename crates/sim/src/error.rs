//! Why a run cannot go on.

use crate::cluster::ends::machines;
use crate::sample::{self, Group};
use hostnet_config::Plan;
use hostnet_kernel::{Simulation, Time};
use hostnet_measure::Domain;
use hostnet_model::ether::World;
use hostnet_model::params::HostKind;
use hostnet_traffic::TraceError;
use thiserror::Error;

/// Why a run cannot go on.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SimulationError {
    /// Credits are held and nothing moves.
    #[error("nothing has moved for {idle_us} us at {at_us} us of simulated time: {domain} holds {in_use} of {capacity} credits{part}")]
    Stuck {
        /// The domain with the largest share of its credits in use.
        domain: &'static str,
        /// Where it is.
        part: String,
        /// Credits in use.
        in_use: u32,
        /// Credits in all.
        capacity: u32,
        /// Simulated time in us.
        at_us: u64,
        /// Time without progress in us.
        idle_us: u64,
    },
    /// Pauses (PFC) wait for each other.
    #[error("deadlock at {at_us} us of simulated time: each of these ports is paused until packets leave by the next, and the last waits for the first: {}", .cycle.join(" -> "))]
    Deadlock {
        /// The ports in the order in which they wait: the switch, the number of the port among those of the switch, the
        /// host or switch that it leads to, and the priority.
        cycle: Vec<String>,
        /// Simulated time at which it was found, in us.
        at_us: u64,
    },
    /// A trace that a core replays is wrong: file, line and rule.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// A controller from outside is missing: the host and what it needs.
    #[error("{0}")]
    Controller(String),
    /// Events happen, and time stands still.
    #[error("time stands still at {at_ps} ps: events follow each other without end")]
    Livelock {
        /// Simulated time in ps.
        at_ps: u64,
    },
}

impl SimulationError {
    /// What to say of a world that is stuck: the fullest of its domains.
    pub(crate) fn stuck(simulation: &Simulation<World>, plan: &Plan, now: Time, idle_ps: u64) -> Self {
        let hosts = plan.cluster.hosts.iter().filter(|host| matches!(host.kind, HostKind::Server(_)));
        let servers = hosts.map(|host| host.name.as_str()).zip(machines(simulation));
        let all = servers.flat_map(|server| Group::ALL.into_iter().map(move |group| (server, group)));
        let all = all.flat_map(|((host, machine), group)| {
            sample::domains(machine, group).into_iter().map(move |(part, domain)| (group, host, part, domain))
        });
        let share = |domain: &Domain| u64::from(domain.in_use()) * 10_000 / u64::from(domain.capacity());
        let fullest = all.max_by_key(|(_, _, _, domain)| share(domain));
        let (domain, part, in_use, capacity) =
            fullest.map_or(("network", String::new(), 0, 0), |(group, host, part, domain)| {
                let part = if host.is_empty() { part } else { format!("{host}, {part}") };
                (group.name(), format!(" ({part})"), domain.in_use(), domain.capacity())
            });
        Self::Stuck { domain, part, in_use, capacity, at_us: now.ps() / 1_000_000, idle_us: idle_ps / 1_000_000 }
    }
}
