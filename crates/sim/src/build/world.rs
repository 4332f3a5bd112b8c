//! Builds a world from the description of a cluster: a partition per server, and one or more for the network between
//! hosts.

use super::{attached_server, Layout};
use crate::build::attach::NetworkAttachment;
use crate::build::coarse::bursts;
use crate::build::feeds::TraceFeeds;
use crate::build::fluid::{self, TableInputs, TableSource};
use crate::build::parts::{mcn_params, mcn_window_ps};
use crate::build::warm_up::FillProgress;
use hostnet_kernel::{ComponentId, Scheduler, Simulation};
use hostnet_model::ether::{self, cut, fabrics, Fabric};
use hostnet_model::params::{
    ClusterParams, Fidelity, HostKind, HostParams, LineSize, ServerParams, Workload, WorkloadKind,
};
use hostnet_model::{PartKind, Payload, World};

/// Progress of the preparation of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// Rates of fluid memories are being measured.
    Rates {
        /// Points that have been measured.
        done: usize,
        /// Number of points.
        points: usize,
    },
    /// Caches of a server are being filled.
    Caches(FillProgress),
}

/// Creates a simulation of a cluster. Its partitions are the servers in their order, then one for the network between
/// hosts, if there is one.
///
/// # Panics
/// Panics if the description names something that does not exist, which the configuration rules out.
#[must_use]
pub fn world(cluster: &ClusterParams) -> Simulation<World> {
    prepared(cluster, &servers(cluster), 1, TableSource::ANEW, |_| true, |_| true).expect("nobody stops it").0
}

/// Returns the parameters of the hosts that are servers, at their fidelity. Fidelity `burst` takes a measurement.
pub(crate) fn servers(cluster: &ClusterParams) -> Vec<Option<ServerParams>> {
    cluster.hosts.iter().map(|host| server_of(host, cluster)).collect()
}

/// Like [`world`], but with given `servers` and their traces, and only with the partitions for which `here` is true.
/// The network between hosts is cut into up to `parts` partitions; their number changes no result. Rates of fluid
/// memories are taken from `tables` or measured first, and caches are filled. `on_stage` is called with the progress;
/// if it returns false, the result is `None`.
pub(crate) fn prepared(
    cluster: &ClusterParams,
    servers: &[Option<ServerParams>],
    parts: usize,
    tables: TableSource,
    here: impl Fn(usize) -> bool,
    mut on_stage: impl FnMut(Preparation) -> bool,
) -> Option<(Simulation<World>, Vec<TraceFeeds>)> {
    let layouts = layouts(cluster, servers);
    let nics: Vec<Option<ComponentId>> = layouts.iter().map(|layout| layout.as_ref().map(Layout::nic)).collect();
    // The network is numbered after the parts of all servers.
    let end = layouts.iter().flatten().map(|layout| layout.end).max().unwrap_or(0);
    let count = servers.iter().flatten().count();
    let built = fabrics(cluster, ComponentId(end), &nics, parts, |fabric| here(count + fabric));
    let attachment = |host: usize| {
        let (wire, peers) = (built.wires[host].first().cloned(), peers(host, servers, &layouts));
        // A server with neither a cable nor an interface runs alone in its partition.
        let joined = wire.is_some() || !peers.is_empty();
        joined.then_some(NetworkAttachment { cluster, host: host as u16, wire, peers })
    };
    let number = |host: usize| servers[..host].iter().flatten().count();
    let fluid_here = |host: usize| attachment(host).filter(|_| is_fluid(&cluster.hosts[host]) && here(number(host)));
    let inputs =
        |(host, server): (usize, &Option<ServerParams>)| Some(TableInputs::of(server.as_ref()?, &fluid_here(host)?));
    let inputs = servers.iter().enumerate().filter_map(inputs).collect();
    let mut rates =
        tables.tables(inputs, &mut |[done, points]| on_stage(Preparation::Rates { done, points }))?.into_iter();
    let (mut parts, mut all_feeds): (Vec<(World, Scheduler<Payload>)>, _) = (Vec::new(), Vec::new());
    for (host, (server, layout)) in servers.iter().zip(&layouts).enumerate() {
        let (Some(server), Some(layout)) = (server, layout) else { continue };
        let mut feeds = TraceFeeds::new(server);
        // A server in another process keeps its ids here, so that all processes number components alike.
        if !here(number(host)) {
            let elsewhere = Scheduler::new(ComponentId(layout.first()), (layout.end - layout.first()) as usize, 0);
            parts.push((World::Remote, elsewhere));
            all_feeds.push(feeds);
            continue;
        }
        let (machine, scheduler) = match fluid_here(host) {
            Some(attachment) => {
                let rates = rates.next().expect("every fluid server has its table");
                fluid::server(server, layout.first(), attachment, &rates)
            }
            None => attached_server(server, layout.first(), attachment(host), &mut feeds, &mut |filling| {
                on_stage(Preparation::Caches(filling))
            })?,
        };
        parts.push((World::Server(Box::new(machine)), scheduler));
        all_feeds.push(feeds);
    }
    if !cluster.cables.is_empty() {
        let world = |fabric: Option<Fabric>| fabric.map_or(World::Remote, |fabric| World::Fabric(Box::new(fabric)));
        parts.extend(built.fabrics.into_iter().map(|(fabric, scheduler)| (world(fabric), scheduler)));
    }
    Some((Simulation::new(parts, window_ps(built.window_ps, cluster)), all_feeds))
}

/// Cuts the network of a world again, into up to `parts` partitions.
pub(crate) fn repartition(simulation: Simulation<World>, cluster: &ClusterParams, parts: usize) -> Simulation<World> {
    // A network of messages is one partition for any number of threads.
    if cluster.cables.is_empty() || !cluster.fidelity.is_packet() {
        return simulation;
    }
    // A checkpoint may have been cut for other threads; results do not depend on the cut.
    let cut = cut(cluster, &servers_at(cluster), parts);
    let (mut worlds, mut fabrics) = (Vec::new(), Vec::new());
    for (world, scheduler) in simulation.into_parts() {
        match world {
            World::Fabric(fabric) => fabrics.push((*fabric, scheduler)),
            other => worlds.push((other, scheduler)),
        }
    }
    let fabrics = ether::repartition(fabrics, &cut.ranges).into_iter();
    worlds.extend(fabrics.map(|(fabric, scheduler)| (World::Fabric(Box::new(fabric)), scheduler)));
    Simulation::new(worlds, window_ps(cut.window_ps, cluster))
}

/// Returns the minimum latency of an event between two partitions. `of_cables` is that between machines on cables.
fn window_ps(of_cables: Option<u64>, cluster: &ClusterParams) -> u64 {
    // Partitions exchange events over cables and memory networks; without either they never meet.
    of_cables.into_iter().chain(mcn_window_ps(cluster)).min().unwrap_or(u64::MAX)
}

/// Returns the interfaces that those of a host on a memory channel network are connected to.
fn peers(host: usize, servers: &[Option<ServerParams>], layouts: &[Option<Layout>]) -> Vec<ComponentId> {
    let params = servers[host].as_ref().and_then(mcn_params);
    let interfaces = params.into_iter().flat_map(|mcn| &mcn.interfaces);
    let part = |host: u16| layouts[usize::from(host)].as_ref().map(|of| of.sockets[0].of(PartKind::Mcn).first());
    interfaces.filter_map(|interface| part(interface.host)).collect()
}

/// Returns the hosts that are servers, for cutting the network. The component ids are placeholders, as a cut does not
/// use them.
pub(crate) fn servers_at(cluster: &ClusterParams) -> Vec<Option<ComponentId>> {
    let is_server = |host: &HostParams| matches!(host.kind, HostKind::Server(_));
    cluster.hosts.iter().map(|host| is_server(host).then_some(ComponentId(0))).collect()
}

/// Returns the layout of every server, with ids numbered from one server to the next.
fn layouts(cluster: &ClusterParams, servers: &[Option<ServerParams>]) -> Vec<Option<Layout>> {
    let mut first = 0;
    let layout = |(server, host): (&Option<ServerParams>, &HostParams)| {
        let layout = layout_of(host, server.as_ref()?, first);
        first = layout.end;
        Some(layout)
    };
    servers.iter().zip(&cluster.hosts).map(layout).collect()
}

fn is_fluid(host: &HostParams) -> bool {
    host.fidelity == Fidelity::Fluid
}

fn layout_of(host: &HostParams, server: &ServerParams, first: u32) -> Layout {
    // A fluid server has fewer parts, so the numbers behind it differ from those at fidelity `line`.
    if is_fluid(host) {
        Layout::of_fluid(server, first)
    } else {
        Layout::of(server, first)
    }
}

/// Returns the parameters line by line of the hosts that are simulated in bursts, `None` for all others.
pub(crate) fn undivided_servers(cluster: &ClusterParams) -> Vec<Option<ServerParams>> {
    let undivided = |host: &HostParams| match (&host.kind, host.fidelity) {
        (HostKind::Server(server), Fidelity::Burst) => Some(with_network(server, cluster)),
        _ => None,
    };
    cluster.hosts.iter().map(undivided).collect()
}

/// Returns the parameters of a host that is a server, at its fidelity, with the classes of the network after its
/// workloads.
fn server_of(host: &HostParams, cluster: &ClusterParams) -> Option<ServerParams> {
    let HostKind::Server(server) = &host.kind else { return None };
    Some(match host.fidelity {
        Fidelity::Line | Fidelity::Fluid => with_network(server, cluster),
        Fidelity::Burst => with_network(&bursts(server, LineSize::BURST), cluster),
    })
}

/// Returns a server with the classes of the network after its workloads.
#[must_use]
pub fn with_network(server: &ServerParams, cluster: &ClusterParams) -> ServerParams {
    let network = |name: &str| Workload::new(name, WorkloadKind::Network);
    // Traffic of a pool has a class of its own, in front of those of the cluster.
    let pool = server.sockets.iter().any(|socket| socket.pool.is_some()).then(|| network("pool"));
    let classes = cluster.classes.iter().map(|name| network(name));
    ServerParams { workloads: server.workloads.iter().cloned().chain(pool).chain(classes).collect(), ..server.clone() }
}
