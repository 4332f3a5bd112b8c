//! From the description of a cluster to a world: a partition per server, and one for all that lies between them.

use crate::attach::Attachment;
use crate::build::{attached_server, Layout};
use crate::coarse::bursts;
use crate::fluid;
use hostnet_kernel::{ComponentId, Scheduler, Simulation};
use hostnet_model::ether::{fabric, World};
use hostnet_model::params::{ClusterParams, Fidelity, HostKind, HostParams, ServerParams, Workload, WorkloadKind};
use hostnet_model::Payload;

/// Lines of a burst, as a power of two: a TLP of 256 B.
pub(super) const BURST_SHIFT: u32 = 2;

/// How far the rates of the memories that have some are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preparation {
    /// Points that have been measured.
    pub done: usize,
    /// All points.
    pub points: usize,
}

/// A simulation of a cluster. Its partitions are the servers in their order, then the fabric.
///
/// # Panics
/// If the description names what is not there; the configuration has seen to that.
#[must_use]
pub fn world(cluster: &ClusterParams) -> Simulation<World> {
    prepared(cluster, &servers(cluster), |_| true).expect("nobody stops it")
}

/// The hosts that are servers, as finely as asked for. In bursts that takes a measurement.
pub(super) fn servers(cluster: &ClusterParams) -> Vec<Option<ServerParams>> {
    cluster.hosts.iter().map(|host| server_of(host, cluster)).collect()
}

/// As [`world`], with its servers. Rates of memories that have some are measured first: `on_rates` is told before that
/// and after every point, and there is no simulation if it returns false.
pub(super) fn prepared(
    cluster: &ClusterParams,
    servers: &[Option<ServerParams>],
    mut on_rates: impl FnMut(Preparation) -> bool,
) -> Option<Simulation<World>> {
    let mut first = 0;
    let firsts: Vec<Option<u32>> = servers
        .iter()
        .zip(&cluster.hosts)
        .map(|(server, host)| {
            let layout = layout_of(host, server.as_ref()?, first);
            Some(std::mem::replace(&mut first, layout.end))
        })
        .collect();
    let nics: Vec<Option<ComponentId>> = servers
        .iter()
        .zip(&firsts)
        .zip(&cluster.hosts)
        .map(|((server, first), host)| Some(layout_of(host, server.as_ref()?, (*first)?).nic()))
        .collect();
    let built = fabric(cluster, ComponentId(first), &nics);
    let attachment = |host: usize| Attachment { cluster, host: host as u16, wire: built.wires[host][0].clone() };
    let is_fluid = |host: usize| cluster.hosts[host].fidelity == Fidelity::Fluid;
    let points = |host: usize| servers[host].as_ref().map_or(0, |server| fluid::points(server, &attachment(host)));
    let mut preparation =
        Preparation { done: 0, points: (0..servers.len()).filter(|&host| is_fluid(host)).map(points).sum() };
    if preparation.points > 0 && !on_rates(preparation) {
        return None;
    }
    let mut go_on = || {
        preparation.done += 1;
        on_rates(preparation)
    };
    let mut parts: Vec<(World, Scheduler<Payload>)> = Vec::new();
    for (host, (server, first)) in servers.iter().zip(firsts).enumerate() {
        let (Some(server), Some(first)) = (server, first) else { continue };
        let (machine, scheduler) = if is_fluid(host) {
            fluid::server(server, first, attachment(host), &mut go_on)?
        } else {
            attached_server(server, first, attachment(host), &mut |_| true)?
        };
        parts.push((World::Server(Box::new(machine)), scheduler));
    }
    parts.push((World::Fabric(Box::new(built.fabric)), built.scheduler));
    Some(Simulation::new(parts, built.window_ps.unwrap_or(u64::MAX)))
}

fn layout_of(host: &HostParams, server: &ServerParams, first: u32) -> Layout {
    match host.fidelity {
        Fidelity::Line | Fidelity::Burst => Layout::of(server, first),
        Fidelity::Fluid => Layout::of_rates(server, first),
    }
}

/// A host that is a server, as finely as asked for, with the classes of the network after its own workloads.
fn server_of(host: &HostParams, cluster: &ClusterParams) -> Option<ServerParams> {
    let HostKind::Server(server) = &host.kind else { return None };
    let mut server = match host.fidelity {
        Fidelity::Line | Fidelity::Fluid => (**server).clone(),
        Fidelity::Burst => bursts(server, BURST_SHIFT),
    };
    let classes = cluster.classes.iter().map(|name| Workload { name: name.clone(), kind: WorkloadKind::Network });
    server.workloads.extend(classes);
    Some(server)
}
