//! Ports: what they have sent so far.

use hostnet_kernel::Simulation;
use hostnet_model::ether::Egress;
use hostnet_model::nic::Nic;
use hostnet_model::params::{CableParams, ClusterParams, End, HostKind};
use hostnet_model::World;
use serde::{Deserialize, Serialize};

/// What a port has counted since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PortTotals {
    pub(crate) sent_packets: u64,
    pub(crate) sent_wire_bytes: u64,
    pub(crate) marked_packets: u64,
    pub(crate) pauses_asked: u64,
}

/// A port of the world.
pub(crate) struct PortView<'a> {
    /// Where it is, and its number there.
    pub(crate) end: End,
    pub(crate) number: usize,
    pub(crate) egress: &'a Egress,
    /// Only switches mark, and only switches and NICs ask for pauses.
    pub(crate) marks: bool,
    pub(crate) totals: PortTotals,
}

impl<'a> PortView<'a> {
    fn new(end: End, number: usize, egress: &'a Egress) -> Self {
        let totals = PortTotals {
            sent_packets: egress.sent_packets(),
            sent_wire_bytes: egress.sent_wire_bytes(),
            ..PortTotals::default()
        };
        Self { end, number, egress, marks: false, totals }
    }

    /// The cable that it sends onto.
    pub(crate) fn cable(&self, cluster: &'a ClusterParams) -> Option<&'a CableParams> {
        cluster.cables.iter().filter(|cable| cable.ends.contains(&self.end)).nth(self.number)
    }

    /// Who is at the other end of the cable.
    pub(crate) fn peer(&self, cluster: &ClusterParams) -> Option<End> {
        let [one, other] = self.cable(cluster)?.ends;
        Some(if one == self.end { other } else { one })
    }
}

/// All ports: those of switches, endpoints and servers.
pub(crate) fn ports<'a>(simulation: &'a Simulation<World>, cluster: &ClusterParams) -> Vec<PortView<'a>> {
    let mut ports = Vec::new();
    let hosts = |server: bool| {
        let hosts = (0..).zip(&cluster.hosts);
        hosts.filter(move |(_, host)| matches!(host.kind, HostKind::Server(_)) == server).map(|(host, _)| host)
    };
    let mut servers = Vec::new();
    for world in simulation.worlds() {
        match world {
            World::Server(machine) => servers.push(machine),
            World::Fabric(fabric) => {
                for (switch, number) in fabric.switches().zip(0..) {
                    ports.extend(switch.ports().iter().enumerate().map(|(index, port)| {
                        let mut view = PortView::new(End::Switch(number), index, port.egress());
                        view.marks = true;
                        view.totals.marked_packets = port.marked_packets();
                        view.totals.pauses_asked = port.pauses_asked();
                        view
                    }));
                }
                for (endpoint, host) in fabric.endpoints().zip(hosts(false)) {
                    let own = endpoint.ports().iter().enumerate();
                    ports.extend(own.map(|(index, port)| PortView::new(End::Host(host), index, port)));
                }
            }
        }
    }
    for (machine, host) in servers.into_iter().zip(hosts(true)) {
        for nic in machine.each::<Nic>() {
            let mut view = PortView::new(End::Host(host), 0, nic.port());
            view.totals.pauses_asked = nic.counters().pauses_sent;
            ports.push(view);
        }
    }
    ports
}

/// What all ports have counted since the start of the run.
pub(crate) fn totals(simulation: &Simulation<World>, cluster: &ClusterParams) -> Vec<PortTotals> {
    ports(simulation, cluster).into_iter().map(|port| port.totals).collect()
}
