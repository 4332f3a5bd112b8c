//! Counters of ports.

use super::ends::{machines, network};
use hostnet_kernel::{Simulation, Time};
use hostnet_model::ether::{DropReason, Egress, LearningSwitch};
use hostnet_model::nic::Nic;
use hostnet_model::params::{CableEnd, CableParams, ClusterParams, HostKind};
use hostnet_model::World;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counters of a port since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PortTotals {
    pub(crate) sent_packets: u64,
    pub(crate) sent_wire_bytes: u64,
    /// Part of `sent_wire_bytes` that has been on the wire by now, in fractions of a byte
    /// ([`BYTE_PARTS`](hostnet_model::ether::BYTE_PARTS)).
    pub(crate) carried_parts: u64,
    /// Bytes of IP packets that are queued now at the port or, at a switch that learns, in the fabric before it.
    pub(crate) waiting_bytes: u64,
    /// Bytes of IP packets that the port has sent.
    pub(crate) sent_bytes: u64,
    /// Packets dropped because the queue of the port was full.
    pub(crate) overflowed_packets: u64,
    pub(crate) marked_packets: u64,
    pub(crate) pauses_asked: u64,
    /// At a switch that learns: IP bytes that the fabric has carried to the port by now.
    pub(crate) carried_bytes: u64,
    /// Flooded packets that the fabric carried to the port, as their receiver was unknown, and their bytes on the
    /// wire.
    pub(crate) flooded_packets: u64,
    pub(crate) flooded_wire_bytes: u64,
    /// At a host: packets that arrived and were addressed to other hosts.
    pub(crate) stray_packets: u64,
}

/// Place of a port: true for a host, the number of the host or switch, and the number of the port there.
pub(crate) type PortPlace = (bool, u16, usize);

/// A port of the world with its counters.
pub(crate) struct PortView<'a> {
    /// Host or switch of the port; `number` is the number of the port there.
    pub(crate) end: CableEnd,
    pub(crate) number: usize,
    pub(crate) egress: &'a Egress,
    /// True for ports of switches, as only these mark packets.
    pub(crate) marks: bool,
    pub(crate) totals: PortTotals,
    /// Cable that the port sends on, and the host or switch at its other end.
    cable_and_peer: Option<(&'a CableParams, CableEnd)>,
}

impl<'a> PortView<'a> {
    fn new(end: CableEnd, number: usize, egress: &'a Egress, cables: &CableMap<'a>, now: Time) -> Self {
        let totals = PortTotals {
            sent_packets: egress.sent_packets(),
            sent_wire_bytes: egress.sent_wire_bytes(),
            carried_parts: egress.carried_parts(now),
            waiting_bytes: egress.waiting_bytes(),
            sent_bytes: egress.sent_bytes(),
            ..PortTotals::default()
        };
        Self { end, number, egress, marks: false, totals, cable_and_peer: cables.cable_and_peer(end, number) }
    }

    /// Returns the place of the port.
    pub(crate) fn place(&self) -> PortPlace {
        match self.end {
            CableEnd::Host(host) => (true, host, self.number),
            CableEnd::Switch(switch) => (false, switch, self.number),
        }
    }

    /// Returns the cable that the port sends on.
    pub(crate) fn cable(&self) -> Option<&'a CableParams> {
        self.cable_and_peer.map(|(cable, _)| cable)
    }

    /// Returns the host or switch at the other end of the cable.
    pub(crate) fn peer(&self) -> Option<CableEnd> {
        self.cable_and_peer.map(|(_, peer)| peer)
    }
}

/// Cables of each switch and each host in the order of their ports, with the host or switch at the other end.
struct CableMap<'a> {
    switches: Vec<Vec<(&'a CableParams, CableEnd)>>,
    hosts: Vec<Vec<(&'a CableParams, CableEnd)>>,
}

impl<'a> CableMap<'a> {
    fn of(cluster: &'a ClusterParams) -> Self {
        let mut cables =
            Self { switches: vec![Vec::new(); cluster.switches.len()], hosts: vec![Vec::new(); cluster.hosts.len()] };
        for cable in &cluster.cables {
            let [one, other] = cable.ends;
            for (end, peer) in [(one, other), (other, one)] {
                match end {
                    CableEnd::Switch(switch) => cables.switches[usize::from(switch)].push((cable, peer)),
                    CableEnd::Host(host) => cables.hosts[usize::from(host)].push((cable, peer)),
                }
            }
        }
        cables
    }

    fn cable_and_peer(&self, end: CableEnd, port: usize) -> Option<(&'a CableParams, CableEnd)> {
        let ways = match end {
            CableEnd::Switch(switch) => &self.switches[usize::from(switch)],
            CableEnd::Host(host) => &self.hosts[usize::from(host)],
        };
        ways.get(port).copied()
    }
}

/// Returns the ports of the partitions that this process simulates, at `now`: those of switches, endpoints and
/// servers, in this order.
pub(crate) fn ports<'a>(simulation: &'a Simulation<World>, cluster: &'a ClusterParams, now: Time) -> Vec<PortView<'a>> {
    let mut ports = Vec::new();
    let cables = CableMap::of(cluster);
    let hosts = |server: bool| {
        let hosts = (0..).zip(&cluster.hosts);
        hosts.filter(move |(_, host)| matches!(host.kind, HostKind::Server(_)) == server).map(|(host, _)| host)
    };
    let network = network(simulation);
    let learning: BTreeMap<u32, &LearningSwitch> = network.learning_switches().collect();
    for (number, switch) in network.switches() {
        ports.extend(switch.ports().iter().enumerate().map(|(index, port)| {
            let mut view = PortView::new(CableEnd::Switch(number as u16), index, port.egress(), &cables, now);
            view.marks = true;
            view.totals.marked_packets = port.marked_packets();
            view.totals.overflowed_packets = port.overflowed_packets();
            view.totals.pauses_asked = port.pauses_asked();
            let switch = learning.get(&number);
            if let Some((switch, crossing)) = switch.and_then(|switch| Some((switch, switch.crossings().get(index)?))) {
                (view.totals.flooded_packets, view.totals.flooded_wire_bytes) = crossing.flooded();
                // Bytes taken so far, including those that are still in the fabric.
                let taken = crossing.carried_bytes(Time::from_ps(u64::MAX), switch.params());
                view.totals.carried_bytes = crossing.carried_bytes(now, switch.params());
                view.totals.waiting_bytes += taken - view.totals.carried_bytes;
            }
            view
        }));
    }
    let endpoints: Vec<u16> = hosts(false).collect();
    for (number, endpoint) in network.endpoints() {
        let host = endpoints[number as usize];
        let own = endpoint.ports().iter().enumerate();
        ports.extend(own.map(|(index, port)| {
            let mut view = PortView::new(CableEnd::Host(host), index, port, &cables, now);
            // A host in a network of switches that learn has one port, so its drops are those of the port.
            view.totals.stray_packets = endpoint.drops().packets(DropReason::Copy);
            view
        }));
    }
    let servers: Vec<u16> = hosts(true).collect();
    for (number, machine) in machines(simulation) {
        let host = servers[number];
        for nic in machine.each::<Nic>() {
            // A server has one port on the network, so its number is 0.
            let mut view = PortView::new(CableEnd::Host(host), 0, nic.port(), &cables, now);
            view.totals.pauses_asked = nic.counters().pauses_sent;
            view.totals.stray_packets = nic.flows().iter().map(|flow| flow.strays.packets).sum();
            ports.push(view);
        }
    }
    ports
}

/// Returns the counters of the ports that this process simulates since the start of the run, each with a key that
/// sorts the ports as [`ports`] does.
pub(crate) fn totals(
    simulation: &Simulation<World>,
    cluster: &ClusterParams,
    now: Time,
) -> Vec<((u8, u16, usize), PortTotals)> {
    // The first number is the order of kinds in `ports`: switches, endpoints, servers.
    let place = |port: &PortView| match port.end {
        CableEnd::Switch(switch) => (0, switch, port.number),
        CableEnd::Host(host) if matches!(cluster.hosts[usize::from(host)].kind, HostKind::Endpoint(_)) => {
            (1, host, port.number)
        }
        CableEnd::Host(host) => (2, host, port.number),
    };
    ports(simulation, cluster, now).into_iter().map(|port| (place(&port), port.totals)).collect()
}
