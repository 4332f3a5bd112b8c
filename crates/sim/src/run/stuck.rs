//! Whether a world moves on, and what holds it up if not.

use crate::error::SimulationError;
use crate::read::ends::{machines, network};
use crate::read::sample::{self, Group};
use hostnet_config::Plan;
use hostnet_kernel::{Simulation, Time};
use hostnet_measure::Domain;
use hostnet_model::ether::PausedPort;
use hostnet_model::params::{ClusterParams, End, HostKind};
use hostnet_model::World;

/// Whether lines or packets are on their way.
pub(crate) fn is_busy(simulation: &Simulation<World>) -> bool {
    simulation.worlds().any(|world| match world {
        World::Server(machine) => !machine.requests().is_empty() || !machine.packets().is_empty(),
        World::Fabric(fabric) => !fabric.packets().is_empty(),
    })
}

/// What to say of a world whose pauses wait for each other, if they do.
pub(crate) fn deadlock(simulation: &Simulation<World>, cluster: &ClusterParams, now: Time) -> Option<SimulationError> {
    let cycle: Vec<String> = network(simulation).deadlock().into_iter().map(|port| name_of(port, cluster)).collect();
    (!cycle.is_empty()).then(|| SimulationError::Deadlock { cycle, at_us: now.ps() / 1_000_000 })
}

/// A paused port by the names that the user gave.
fn name_of(paused: PausedPort, cluster: &ClusterParams) -> String {
    let PausedPort { switch, port, priority } = paused;
    let here = End::Switch(switch);
    let ends = cluster.cables.iter().flat_map(|cable| [cable.ends, [cable.ends[1], cable.ends[0]]]);
    let peer = ends.filter(|ends| ends[0] == here).nth(usize::from(port)).map_or("nothing", |ends| match ends[1] {
        End::Host(host) => &cluster.hosts[usize::from(host)].name,
        End::Switch(switch) => &cluster.switches[usize::from(switch)].name,
    });
    format!("{} port {port} to {peer}, priority {priority}", cluster.switches[usize::from(switch)].name)
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
