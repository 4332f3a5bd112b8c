//! Checks that a world makes progress, and finds the cause if it does not.

use super::processes::Processes;
use crate::error::SimulationError;
use crate::read::ends::{machines, network};
use crate::read::sample::{self, PoolGroup};
use crate::read::WorldReading;
use hostnet_kernel::{Simulation, Time};
use hostnet_measure::Domain;
use hostnet_model::ether::{cycle, PausedPort};
use hostnet_model::params::{CableEnd, ClusterParams, HostKind};
use hostnet_model::{Machine, Payload, RingEvent, World};
use serde::{Deserialize, Serialize};

/// Returns an error if ports wait for each other's pauses in a cycle.
pub(super) fn check_pauses(
    simulation: &Simulation<World>,
    cluster: &ClusterParams,
    processes: &Processes,
    now: Time,
) -> Result<(), SimulationError> {
    let network = network(simulation);
    let mut paused = processes.gather_lists(network.paused());
    if paused.is_empty() {
        return Ok(());
    }
    // Sorted, so that the error names the same cycle on any number of processes.
    paused.sort_unstable_by_key(|port| port.at);
    let waits = processes.gather_lists(network.waits(&paused));
    let cycle: Vec<String> = cycle(&waits).into_iter().map(|port| name_of(port, cluster)).collect();
    if cycle.is_empty() {
        return Ok(());
    }
    Err(SimulationError::Deadlock { cycle, at_us: now.ps() / 1_000_000 })
}

/// Lines and packets that a run has moved, and when it last moved any.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ProgressCheck {
    moved_at: Time,
    moved: u64,
}

impl ProgressCheck {
    /// Starts to count progress anew at `now`, as the counters have been reset.
    pub(super) fn restart(&mut self, now: Time) {
        *self = Self { moved_at: now, moved: 0 };
    }

    /// Notes at `now` the lines and packets moved so far. Returns the time for which nothing has moved although credits
    /// are held or packets are in flight, in ps.
    pub(super) fn idle_ps(&mut self, reading: &WorldReading, now: Time) -> u64 {
        // An empty system is idle, not stuck: an application may wait for its next request.
        if reading.moved != self.moved || !reading.busy {
            self.moved = reading.moved;
            self.moved_at = now;
        }
        // A pending arrival may lie beyond the next check, so the time without progress is counted from it.
        now.ps().saturating_sub(self.moved_at.ps())
    }

    /// Counts the time without progress from `arrival`, at which a pending event will move something.
    pub(super) fn wait_for(&mut self, arrival: Time) {
        self.moved_at = arrival;
    }
}

/// Returns the time of the last pending event of any process that moves lines or packets.
pub(super) fn find_last_arrival(simulation: &Simulation<World>, processes: &Processes) -> Option<Time> {
    processes.all_gather(last_arrival(simulation)).into_iter().flatten().max()
}

/// Returns the error for a world that has been stuck for `idle_ps`, which names the fullest domain.
pub(super) fn stuck_error(
    simulation: &Simulation<World>,
    cluster: &ClusterParams,
    processes: &Processes,
    now: Time,
    idle_ps: u64,
) -> SimulationError {
    let fullest = processes.all_gather(fullest(simulation, cluster)).into_iter().flatten();
    // The place breaks ties, so that the result does not depend on the processes.
    let FullestDomain { domain, part, in_use, capacity, .. } = fullest
        .max_by_key(|full| (full.share, full.place))
        .unwrap_or_else(|| FullestDomain { domain: "network".to_owned(), ..FullestDomain::default() });
    SimulationError::Stuck { domain, part, in_use, capacity, at_us: now.ps() / 1_000_000, idle_us: idle_ps / 1_000_000 }
}

/// Returns the time of the last pending event that moves lines or packets, among the partitions of this process.
fn last_arrival(simulation: &Simulation<World>) -> Option<Time> {
    let pending = simulation.parts().iter().flat_map(|(_, scheduler)| scheduler.state().2);
    pending.filter(|event| !is_recurring(&event.payload)).map(|event| event.time).max()
}

/// Returns true if events of this kind recur even if nothing moves: refreshes, timers, and the control of the host.
fn is_recurring(payload: &Payload) -> bool {
    matches!(
        payload,
        Payload::Wake
            | Payload::Timer { .. }
            | Payload::Throttle { .. }
            | Payload::Halt { .. }
            | Payload::Register { .. }
            | Payload::RegisterValue
            | Payload::RegisterWritten
            | Payload::ReadCounter { .. }
            | Payload::Counter { .. }
            | Payload::Ring(RingEvent::Poll(_))
            | Payload::Ring(RingEvent::Looked(_))
            | Payload::Ring(RingEvent::Polled)
            | Payload::Power(_)
    )
}

/// A domain with a large share of its credits in use.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct FullestDomain {
    share: u64,
    /// Number of the server, and number of the domain among its domains.
    place: (usize, usize),
    domain: String,
    part: String,
    in_use: u32,
    capacity: u32,
}

/// Returns the fullest domain of the servers of this process, the last one of several equal ones.
fn fullest(simulation: &Simulation<World>, cluster: &ClusterParams) -> Option<FullestDomain> {
    let hosts = cluster.hosts.iter().filter(|host| matches!(host.kind, HostKind::Server(_)));
    let names: Vec<&str> = hosts.map(|host| host.name.as_str()).collect();
    let of_server = |(server, machine): (usize, &Machine)| {
        let groups = PoolGroup::ALL.into_iter();
        let domains = groups.flat_map(|group| {
            let all = sample::domains(machine, group).into_iter();
            all.map(move |(part, domain)| (group, part, domain)).collect::<Vec<_>>()
        });
        let full = |(place, (group, part, domain)): (usize, (PoolGroup, String, &Domain))| {
            let part = if names[server].is_empty() { part } else { format!("{}, {part}", names[server]) };
            FullestDomain {
                // An integer share, as no float decides an order (architecture.md, rule 8).
                share: u64::from(domain.in_use()) * 10_000 / u64::from(domain.capacity()),
                place: (server, place),
                domain: group.name().to_owned(),
                part: format!(" ({part})"),
                in_use: domain.in_use(),
                capacity: domain.capacity(),
            }
        };
        domains.enumerate().map(full).max_by_key(|full| (full.share, full.place))
    };
    machines(simulation).filter_map(of_server).max_by_key(|full| (full.share, full.place))
}

/// Returns the description of a paused port with the names that the user gave.
fn name_of(paused: PausedPort, cluster: &ClusterParams) -> String {
    let PausedPort { switch, port, priority } = paused;
    let here = CableEnd::Switch(switch);
    let ends = cluster.cables.iter().flat_map(|cable| [cable.ends, [cable.ends[1], cable.ends[0]]]);
    let peer = ends.filter(|ends| ends[0] == here).nth(usize::from(port)).map_or("nothing", |ends| match ends[1] {
        CableEnd::Host(host) => &cluster.hosts[usize::from(host)].name,
        CableEnd::Switch(switch) => &cluster.switches[usize::from(switch)].name,
    });
    format!("{} port {port} to {peer}, priority {priority}", cluster.switches[usize::from(switch)].name)
}
