//! What limits classes whose packets go by rings of a memory channel network.

use super::limits::{worst, Class, Limit, FULL};
use crate::report::view::WorldView;
use hostnet_model::core::{Core, Runs};
use hostnet_model::os::{NetStack, Spent};
use hostnet_model::params::{HostKind, McnParams};
use std::collections::BTreeSet;

impl WorldView<'_> {
    /// The machines whose drivers move the packets of a class by rings: its DIMMs and the hosts that they are in.
    pub(super) fn rings<'b>(&'b self, class: &'b Class) -> impl Iterator<Item = u16> + 'b {
        let ends = class.flows.iter().flat_map(|flow| [flow.from, flow.to]);
        ends.flat_map(|host| {
            let on = self.mcn(host).filter(|mcn| mcn.on_dimm).map(|mcn| mcn.interfaces[0].host);
            on.into_iter().flat_map(move |on| [host, on])
        })
    }

    fn mcn(&self, host: u16) -> Option<&McnParams> {
        match &self.plan.cluster.hosts[usize::from(host)].kind {
            HostKind::Server(server) => server.socket().mcn.as_deref(),
            HostKind::Endpoint(_) => None,
        }
    }

    /// The core that reads rings at a machine on the way has nothing else left to do.
    pub(super) fn driver_core(&self, class: &Class) -> Option<Limit> {
        let busy = |host: u16| {
            let core = self.machine(host)?.each::<Core>().nth(self.mcn(host)?.core as usize)?;
            let times = core.engines().iter().find_map(NetStack::of)?.times();
            let load = 1.0 - times.spent_ps(Spent::Idle, self.now) as f64 / self.window_ps();
            let place = self.plan.cluster.hosts[usize::from(host)].name.clone();
            let why = format!("the core of {place} that reads rings is busy {:.0} % of the time", load * 100.0);
            (load >= FULL).then_some(Limit { limit: "driver core", place, load: Some(load), why })
        };
        worst(self.rings(class).collect::<BTreeSet<u16>>().into_iter().filter_map(busy))
    }
}
