//! Builds services with workers that are threads of a server.

use super::attach::HostFlowEnd;
use super::Builder;
use hostnet_model::os::ServiceWiring;
use hostnet_model::params::{ServiceParams, Traffic};
use std::collections::BTreeMap;

/// Returns the share of the core of a queue in the services of the server, if the server has any.
pub(super) fn service_wiring(server: &Builder, queue: u16) -> Option<ServiceWiring> {
    let serving = server.network_cores();
    let own = *serving.get(usize::from(queue))?;
    let services = services(server, own);
    if services.is_empty() {
        return None;
    }
    let cores = serving.iter().map(|&core| server.layout.core(core)).collect();
    Some(ServiceWiring { cores, own: queue, services })
}

/// Returns the services of the server, each with the number of its workers on core `own`. The workers of the host
/// are distributed evenly over the cores that have connections, at least one to each.
fn services(server: &Builder, own: u32) -> Vec<(ServiceParams, u32)> {
    let mut homes: BTreeMap<u32, (&ServiceParams, Vec<u32>)> = BTreeMap::new();
    let ends = server.attachment.iter().flat_map(|attachment| attachment.ends()).filter(|end| !end.initiator);
    for HostFlowEnd { flow, core, .. } in ends {
        let Traffic::Service(service) = &flow.traffic else { continue };
        homes.entry(service.number).or_insert((service, Vec::new())).1.push(core);
    }
    let share = |(service, mut cores): (&ServiceParams, Vec<u32>)| {
        cores.sort_unstable();
        cores.dedup();
        let (count, place) = (cores.len() as u32, cores.iter().position(|&core| core == own));
        let (even, more) = (service.workers / count, service.workers % count);
        let workers = place.map_or(0, |place| (even + u32::from((place as u32) < more)).max(1));
        (service.clone(), workers)
    };
    homes.into_values().map(share).collect()
}
