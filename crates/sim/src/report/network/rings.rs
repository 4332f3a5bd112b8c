//! Finds limits of classes whose packets pass the rings of a memory channel network.

use super::class::{machine_of, TrafficClass};
use super::limit::{worst_limit, TrafficLimit, FULL};
use crate::report::view::WorldView;
use hostnet_model::core::{Core, EngineKind};
use hostnet_model::os::{CoreTimeKind, NetStack};
use hostnet_model::params::{HostKind, McnParams};
use std::collections::BTreeSet;

/// Returns the machines whose drivers move packets of a class through rings: its DIMMs, and the hosts of these DIMMs.
pub(super) fn ring_hosts<'b>(view: &'b WorldView<'b>, class: &'b TrafficClass) -> impl Iterator<Item = u16> + 'b {
    let ends = class.flows.iter().flat_map(|flow| [flow.from, flow.to]);
    ends.flat_map(|host| {
        // A DIMM has a single interface, which leads to its host.
        let on = mcn_of(view, host).filter(|mcn| mcn.on_dimm).map(|mcn| mcn.interfaces[0].host);
        on.into_iter().flat_map(move |on| [host, on])
    })
}

/// Returns the memory channel network of a server.
fn mcn_of<'a>(view: &'a WorldView<'a>, host: u16) -> Option<&'a McnParams> {
    match &view.plan.cluster.hosts[usize::from(host)].kind {
        HostKind::Server(server) => server.socket().mcn.as_deref(),
        HostKind::Endpoint(_) => None,
    }
}

/// Names the busiest core that reads rings on the path, if it is always busy.
pub(super) fn driver_core(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let busy = |host: u16| {
        let core = machine_of(view, host)?.each::<Core>().nth(mcn_of(view, host)?.core as usize)?;
        let times = core.engines().iter().find_map(NetStack::of)?.times();
        let load = 1.0 - times.spent_ps(CoreTimeKind::Idle, view.now) as f64 / view.window_ps();
        let place = view.plan.cluster.hosts[usize::from(host)].name.clone();
        let why = format!("the core of {place} that reads rings is busy {:.0} % of the time", load * 100.0);
        (load >= FULL).then_some(TrafficLimit { limit: "driver core", place, load: Some(load), why })
    };
    worst_limit(ring_hosts(view, class).collect::<BTreeSet<u16>>().into_iter().filter_map(busy))
}
