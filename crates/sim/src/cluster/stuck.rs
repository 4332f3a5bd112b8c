//! Whether a world moves on, and what holds it up if not.

use crate::error::SimulationError;
use hostnet_kernel::{Simulation, Time};
use hostnet_model::ether::{PausedPort, World};
use hostnet_model::params::{ClusterParams, End};

/// Whether lines or packets are on their way.
pub(crate) fn is_busy(simulation: &Simulation<World>) -> bool {
    simulation.worlds().any(|world| match world {
        World::Server(machine) => !machine.requests().is_empty() || !machine.packets().is_empty(),
        World::Fabric(fabric) => !fabric.packets().is_empty(),
    })
}

/// What to say of a world whose pauses wait for each other, if they do.
pub(crate) fn deadlock(simulation: &Simulation<World>, cluster: &ClusterParams, now: Time) -> Option<SimulationError> {
    let cycles = simulation.worlds().filter_map(|world| match world {
        World::Server(_) => None,
        World::Fabric(fabric) => Some(fabric.deadlock()),
    });
    let cycle: Vec<String> = cycles.flatten().map(|port| name_of(port, cluster)).collect();
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
