//! Classes of traffic: their flows, their hosts, and the ports on their paths.

use super::flow_paths::{directions, FlowPaths};
use crate::read::flows::FlowTotals;
use crate::read::ports::{PortPlace, PortTotals, PortView};
use crate::report::view::WorldView;
use hostnet_model::params::{CableEnd, FlowParams, Traffic};
use hostnet_model::Machine;
use std::collections::BTreeSet;

/// A traffic class, with its flows and their totals over the window.
pub(crate) struct TrafficClass<'a> {
    /// End of the window, in ps.
    pub(super) now_ps: u64,
    pub(crate) flows: Vec<&'a FlowParams>,
    /// Numbers of the flows, in order.
    pub(super) numbers: Vec<usize>,
    /// Totals of each of these flows over the window.
    pub(super) each: Vec<&'a FlowTotals>,
    /// Sum of these totals.
    pub(crate) totals: FlowTotals,
    /// Totals of all flows of the network over the window, by number.
    pub(super) all: &'a [FlowTotals],
    /// True if the flows of the class begin at random times, at the rate of a load.
    pub(super) has_load: bool,
    /// True if all flows of the class have ended.
    pub(super) ended: bool,
    /// Hosts that send data of the class, and hosts that receive it.
    pub(crate) hosts: [BTreeSet<u16>; 2],
    /// Paths of the data of the class, as sequences of ports.
    pub(super) flow_paths: BTreeSet<Vec<PortPlace>>,
    /// All ports on these paths.
    passed_ports: BTreeSet<PortPlace>,
}

impl<'a> TrafficClass<'a> {
    /// Creates the class of the flows `own`; `all` are the totals of all flows. The ports on its paths are known only
    /// if there are `flow_paths`.
    pub(super) fn new(
        view: &'a WorldView,
        own: &[usize],
        all: &'a [FlowTotals],
        ended: bool,
        flow_paths: Option<&FlowPaths>,
    ) -> Self {
        let each: Vec<&FlowTotals> = own.iter().map(|&flow| &all[flow]).collect();
        let totals = each.iter().fold(FlowTotals::default(), |sum, flow| sum.plus(flow));
        let has_load =
            own.first().is_some_and(|&flow| has_load(view, usize::from(view.plan.cluster.flows[flow].class)));
        let flows: Vec<&FlowParams> = own.iter().map(|&flow| &view.plan.cluster.flows[flow]).collect();
        let (mut hosts, mut passed_paths) = ([BTreeSet::new(), BTreeSet::new()], BTreeSet::new());
        for (&number, flow) in own.iter().zip(&flows) {
            for (from, to) in directions(flow) {
                hosts[0].insert(from);
                hosts[1].insert(to);
                passed_paths.extend(flow_paths.map(|flow_paths| flow_paths.port_places(number as u32, from, to)));
            }
        }
        let passed_ports = passed_paths.iter().flatten().copied().collect();
        let (now_ps, numbers, flow_paths) = (view.now.ps(), own.to_vec(), passed_paths);
        Self { now_ps, flows, numbers, each, totals, all, has_load, ended, hosts, flow_paths, passed_ports }
    }

    /// Returns true if a port is on a path of the class.
    fn passes(&self, port: &PortView) -> bool {
        match port.end {
            // A host may have other ports, and packets of others may pass it.
            CableEnd::Host(host) if self.knows_port_of(host) => self.passed_ports.contains(&port.place()),
            CableEnd::Host(host) => self.hosts[0].contains(&host),
            CableEnd::Switch(_) => self.passed_ports.contains(&port.place()),
        }
    }

    /// Returns true if a known path of the class has a port of this host.
    fn knows_port_of(&self, host: u16) -> bool {
        self.passed_ports.range((true, host, 0)..=(true, host, usize::MAX)).next().is_some()
    }

    /// Returns true if all of its requests are those of services, in an open loop.
    pub(super) fn is_of_services(&self) -> bool {
        self.flows.iter().all(|flow| matches!(flow.traffic, Traffic::Service(_)))
    }

    /// Returns true if any flow sends requests and waits for answers.
    pub(super) fn has_requests(&self) -> bool {
        let with = |flow: &&FlowParams| {
            matches!(flow.traffic, Traffic::Rpc { .. } | Traffic::Service(_) | Traffic::Ping { .. })
        };
        self.flows.iter().any(with)
    }
}

/// Returns true if the flows of a class begin at the rate of a load.
pub(super) fn has_load(view: &WorldView, class: usize) -> bool {
    let table = &view.plan.effective["flow"][&view.plan.cluster.classes[class]];
    !table["load"].is_null()
}

/// Returns the ports on the paths of a class, with their counters at the start of the window.
pub(super) fn ports_on_path<'a>(
    view: &'a WorldView<'a>,
    class: &'a TrafficClass,
) -> impl Iterator<Item = (PortView<'a>, PortTotals)> {
    view.ports().filter(|(port, _)| class.passes(port))
}

/// Names the cable at a port by its two ends.
pub(super) fn cable_words(view: &WorldView, port: &PortView) -> String {
    let peer = port.peer().map_or("", |peer| view.name_of(peer));
    format!("{} to {peer}", view.name_of(port.end))
}

/// Returns the machine of a host, if the host is a server.
pub(super) fn machine_of<'a>(view: &'a WorldView<'a>, host: u16) -> Option<&'a Machine> {
    // Speed only: rules ask for every host of a class, and most hosts may be endpoints.
    view.servers[usize::from(host)].as_ref()?;
    view.servers().find(|(number, _)| *number == usize::from(host)).map(|(_, machine)| machine)
}
