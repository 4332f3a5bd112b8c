//! A class of traffic: its flows, its hosts and the ports that it passes.

use super::ways::{directions, Ways};
use crate::read::flows::FlowTotals;
use crate::read::ports::{PortPlace, PortTotals, PortView};
use crate::report::view::WorldView;
use hostnet_model::params::{CableEnd, FlowParams, Traffic};
use hostnet_model::Machine;
use std::collections::BTreeSet;

/// A class with its flows.
pub(crate) struct Class<'a> {
    /// The end of the window, in ps.
    pub(super) now_ps: u64,
    pub(crate) flows: Vec<&'a FlowParams>,
    /// The numbers of its flows, and what each of them did in the window.
    pub(super) numbers: Vec<usize>,
    pub(super) each: Vec<&'a FlowTotals>,
    pub(crate) totals: FlowTotals,
    /// It holds what all flows of the network did, by number.
    pub(super) all: &'a [FlowTotals],
    /// Whether its flows begin at random, at the rate of a load.
    pub(super) has_load: bool,
    pub(super) ended: bool,
    /// The hosts that its data comes from, and goes to.
    pub(crate) hosts: [BTreeSet<u16>; 2],
    /// The ports that its data passes, in their order, and all of them.
    pub(super) ways: BTreeSet<Vec<PortPlace>>,
    completed_steps: BTreeSet<PortPlace>,
}

impl<'a> Class<'a> {
    /// The flows with these numbers, of flows that all together did `all`. Which ports they pass is known where there
    /// are `ways`.
    pub(super) fn new(
        view: &'a WorldView,
        own: &[usize],
        all: &'a [FlowTotals],
        ended: bool,
        ways: Option<&Ways>,
    ) -> Self {
        let each: Vec<&FlowTotals> = own.iter().map(|&flow| &all[flow]).collect();
        let totals = each.iter().fold(FlowTotals::default(), |sum, flow| sum.plus(flow));
        let has_load =
            own.first().is_some_and(|&flow| has_load(view, usize::from(view.plan.cluster.flows[flow].class)));
        let flows: Vec<&FlowParams> = own.iter().map(|&flow| &view.plan.cluster.flows[flow]).collect();
        let (mut hosts, mut passed_ways) = ([BTreeSet::new(), BTreeSet::new()], BTreeSet::new());
        for (&number, flow) in own.iter().zip(&flows) {
            for (from, to) in directions(flow) {
                hosts[0].insert(from);
                hosts[1].insert(to);
                passed_ways.extend(ways.map(|ways| ways.places(number as u32, from, to)));
            }
        }
        let completed_steps = passed_ways.iter().flatten().copied().collect();
        let (now_ps, numbers, ways) = (view.now.ps(), own.to_vec(), passed_ways);
        Self { now_ps, flows, numbers, each, totals, all, has_load, ended, hosts, ways, completed_steps }
    }

    /// Whether a port is on its way.
    fn passes(&self, port: &PortView) -> bool {
        match port.end {
            CableEnd::Host(host) => self.hosts[0].contains(&host),
            CableEnd::Switch(_) => self.completed_steps.contains(&port.place()),
        }
    }

    /// Whether its requests come in an open loop.
    pub(super) fn is_of_services(&self) -> bool {
        self.flows.iter().all(|flow| matches!(flow.traffic, Traffic::Service(_)))
    }

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

/// The ports on the way of the data of a class.
pub(super) fn ports_of<'a>(
    view: &'a WorldView<'a>,
    class: &'a Class,
) -> impl Iterator<Item = (PortView<'a>, PortTotals)> {
    view.ports().filter(|(port, _)| class.passes(port))
}

/// The cable between two names.
pub(super) fn cable_words(view: &WorldView, port: &PortView) -> String {
    let peer = port.peer().map_or("", |peer| view.name_of(peer));
    format!("{} to {peer}", view.name_of(port.end))
}

pub(super) fn machine_of<'a>(view: &'a WorldView<'a>, host: u16) -> Option<&'a Machine> {
    view.servers().find(|(number, _)| *number == usize::from(host)).map(|(_, machine)| machine)
}
