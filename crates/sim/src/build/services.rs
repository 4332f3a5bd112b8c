//! Services whose workers are threads of a server.

use super::attach::End;
use super::Builder;
use hostnet_model::os::ServiceWiring;
use hostnet_model::params::{ServiceParams, Traffic};
use std::collections::BTreeMap;

impl Builder<'_> {
    /// The part of the core of a queue in the services of its server, if that has any.
    pub(super) fn service_wiring(&self, queue: u16) -> Option<ServiceWiring> {
        let serving = self.network_cores();
        let own = *serving.get(usize::from(queue))?;
        let services = self.services(own);
        if services.is_empty() {
            return None;
        }
        let cores = serving.iter().map(|&core| self.layout.core(core)).collect();
        Some(ServiceWiring { cores, own: queue, services })
    }

    /// The services of the server, each with the workers that a core has: those of the host are shared out evenly among
    /// the cores that have connections, one at least to each; others have none.
    fn services(&self, own: u32) -> Vec<(ServiceParams, u32)> {
        let mut homes: BTreeMap<u32, (&ServiceParams, Vec<u32>)> = BTreeMap::new();
        let ends = self.attachment.iter().flat_map(|attachment| attachment.ends()).filter(|end| !end.initiator);
        for End { flow, core, .. } in ends {
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
}
