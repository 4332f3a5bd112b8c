//! Builds the fabrics of a network from the description of a cluster.

mod messages;
mod order;

use super::cut::ranges;
use super::egress::Egress;
use super::endpoint::Endpoint;
use super::fabric::{Fabric, FabricNode};
use super::flow_end::FlowEnd;
use super::learning::LearningSwitch;
use super::routes::{ClusterGraph, GraphPort, Routes};
use super::switch::Switch;
use super::wire::{Wire, WireParams};
use crate::params::{CableParams, ClusterParams, EndpointParams, HostKind, JobParams, SwitchParams};
use crate::part::Payload;
use hostnet_kernel::{ComponentId, Queue, Scheduler};
use order::{flows_of_hosts, order};
use std::ops::Range;

/// Slots of the event queue that the longest cable plus a quarter may span: a quarter of the queue's near wheel.
const TURN: u64 = 1024;

/// Events that the queue of a fabric holds before it allocates more memory.
const EVENTS_CAPACITY: usize = 1 << 12;

/// First random stream of cables and switches: far above the streams of server parts, so that no stream is used twice.
const STREAMS: u64 = 1 << 40;

/// Fabrics of a network, and the data that the servers around them need.
#[derive(Clone, Debug)]
pub struct BuiltFabrics {
    /// Partitions of switches and endpoints with their schedulers, which already hold the start events of flows. The
    /// fabric is none if the partition runs elsewhere.
    pub fabrics: Vec<(Option<Fabric>, Scheduler<Payload>)>,
    /// Output wires of each host that is a server, one per port; empty for an endpoint, whose ports have their wires.
    pub wires: Vec<Vec<WireParams>>,
    /// Minimum delay of an event between two partitions, in ps; none if no cable joins two partitions.
    pub window_ps: Option<u64>,
}

impl BuiltFabrics {
    /// Returns the fabrics that run here, with their schedulers.
    pub fn here(self) -> impl Iterator<Item = (Fabric, Scheduler<Payload>)> {
        self.fabrics.into_iter().filter_map(|(fabric, scheduler)| Some((fabric?, scheduler)))
    }
}

struct Builder<'a> {
    cluster: &'a ClusterParams,
    graph: ClusterGraph,
    /// Component of each node (switches first, then hosts).
    components: Vec<ComponentId>,
    /// Nodes of the fabrics (switches and endpoints) in the order of their components.
    order: Vec<usize>,
    /// True for each node that is a server.
    is_server: Vec<bool>,
    /// Flows that begin or end at each host, in ascending order.
    flows: Vec<Vec<u32>>,
    /// Largest MTU of any flow, in bytes.
    mtu_bytes: u32,
}

/// Partitioning of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkCut {
    /// Switches and endpoints of each partition, as ranges over the order of their components.
    pub ranges: Vec<Range<usize>>,
    /// Ports of each partition, an estimate of its share of the work.
    pub ports: Vec<u64>,
    /// Minimum delay of an event between two partitions, in ps; none if no cable joins two partitions.
    pub window_ps: Option<u64>,
}

/// Partitions the network of a cluster into at least one and at most `parts` partitions of whole racks. `servers` has
/// the meaning that it has for [`fabrics`].
#[must_use]
pub fn cut(cluster: &ClusterParams, servers: &[Option<ComponentId>], parts: usize) -> NetworkCut {
    Builder::new(cluster, ComponentId(0), servers).cut(parts)
}

/// Builds the fabrics of a cluster, with components numbered from `first` on, partitioned as by [`cut`]. Partitions
/// for which `here` is false stay empty. `servers` gives for each host that is a server the component at its cables
/// (its NIC), and none for an endpoint.
///
/// # Panics
/// Panics if `servers` does not have one element per host, or if the cluster refers to hosts or switches that do not
/// exist.
#[must_use]
pub fn fabrics(
    cluster: &ClusterParams,
    first: ComponentId,
    servers: &[Option<ComponentId>],
    parts: usize,
    here: impl Fn(usize) -> bool,
) -> BuiltFabrics {
    assert_eq!(servers.len(), cluster.hosts.len(), "every host is a server or not");
    let builder = Builder::new(cluster, first, servers);
    let mut switch_routes = builder.graph.routes(cluster);
    let mut messages = builder.messages(&switch_routes);
    let host_routes = switch_routes.split_off(cluster.switches.len());
    let wires = (0..).zip(servers).map(|(host, server)| match server {
        Some(_) => builder.wires(builder.graph.host(host)),
        None => Vec::new(),
    });
    let wires = wires.collect();
    let NetworkCut { ranges: parts, window_ps, .. } = builder.cut(parts);
    let carried = usize::from(messages.is_some());
    let fabric = |(number, part): (usize, &Range<usize>)| {
        let first = ComponentId(first.0 + part.start as u32);
        if !here(number) {
            // Another process has this partition; its components are counted all the same.
            return (None, Scheduler::new(first, part.len() + carried, 0));
        }
        let mut nodes = builder.nodes(part, &mut switch_routes, &host_routes);
        nodes.extend(messages.take());
        let fabric = Fabric::new(first, nodes, builder.switches_before(part.start), builder.endpoints(part));
        let queue = Queue::with_slots(EVENTS_CAPACITY, slot_bits(cluster));
        let mut scheduler = Scheduler::with_queue(first, part.len() + carried, queue);
        fabric.begin(&mut scheduler);
        (Some(fabric), scheduler)
    };
    BuiltFabrics { fabrics: parts.iter().enumerate().map(fabric).collect(), wires, window_ps }
}

/// Returns the binary logarithm of the width of a slot of the event queue, in ps: wide enough that a usual hop stays
/// within the near wheel.
fn slot_bits(cluster: &ClusterParams) -> u32 {
    let longest_ps = cluster.cables.iter().map(|cable| cable.latency_ps).max().unwrap_or(0);
    let turn_ps = (longest_ps + longest_ps / 4).clamp(1, 1 << 40);
    // At least 2^6 = 64 ps, the slots of every other queue (docs/architecture.md, Event order).
    (turn_ps / TURN).checked_ilog2().map_or(0, |bits| bits + 1).max(6)
}

impl<'a> Builder<'a> {
    fn new(cluster: &'a ClusterParams, first: ComponentId, servers: &[Option<ComponentId>]) -> Self {
        let graph = ClusterGraph::new(cluster);
        let order = order(cluster, &graph, servers);
        let at_switches = cluster.switches.iter().map(|_| first);
        let mut components: Vec<ComponentId> =
            at_switches.chain(servers.iter().map(|server| server.unwrap_or(first))).collect();
        for (own, &node) in (first.0..).zip(&order) {
            components[node] = ComponentId(own);
        }
        let is_server = cluster.switches.iter().map(|_| false).chain(servers.iter().map(Option::is_some)).collect();
        let mtu_bytes = cluster.flows.iter().map(|flow| flow.mtu_bytes).max().unwrap_or(0);
        Self { cluster, graph, components, order, is_server, flows: flows_of_hosts(cluster), mtu_bytes }
    }

    /// Builds the switches and endpoints of a part, in the order of their components. Takes the routes of its switches
    /// out of `switch_routes`.
    fn nodes(
        &self,
        part: &Range<usize>,
        switch_routes: &mut [Option<Routes>],
        host_routes: &[Option<Routes>],
    ) -> Vec<FabricNode> {
        let node = |&node: &usize| match node.checked_sub(self.cluster.switches.len()) {
            None => {
                let routes = switch_routes[node].take()?;
                Some(self.switch_node(node, &self.cluster.switches[node], routes))
            }
            Some(host) => {
                let params = self.endpoint_params(node)?;
                Some(FabricNode::Endpoint(Box::new(self.endpoint(host, params, host_routes[host].as_ref()))))
            }
        };
        self.order[part.clone()].iter().filter_map(node).collect()
    }

    fn cut(&self, parts: usize) -> NetworkCut {
        // All messages share one network.
        let parts = if self.cluster.fidelity.is_packet() { parts } else { 1 };
        let ranges = ranges(&self.racks(), parts.max(1));
        let window_ps = self.window_ps(&ranges);
        let ports =
            |part: &Range<usize>| self.order[part.clone()].iter().map(|&node| self.graph.ports[node].len() as u64);
        let ports = ranges.iter().map(|part| ports(part).sum()).collect();
        NetworkCut { ranges, ports, window_ps }
    }

    /// Returns the number of nodes and the weight of each rack, in the order of components. A rack is a switch with
    /// its endpoints, and its weight is the number of their ports.
    fn racks(&self) -> Vec<(usize, u64)> {
        let mut racks: Vec<(usize, u64)> = Vec::new();
        for &node in &self.order {
            let weight = self.graph.ports[node].len() as u64;
            // A switch begins a rack; the endpoints that follow it belong to that rack.
            match racks.last_mut().filter(|_| node >= self.cluster.switches.len()) {
                Some(rack) => *rack = (rack.0 + 1, rack.1 + weight),
                None => racks.push((1, weight)),
            }
        }
        racks
    }

    /// Returns the number of switches before a place in the order.
    fn switches_before(&self, place: usize) -> u32 {
        self.order[..place].iter().filter(|&&node| node < self.cluster.switches.len()).count() as u32
    }

    /// Returns the endpoints in a part of the order: their numbers among all endpoints (in the order of hosts), and
    /// their places in the part.
    fn endpoints(&self, part: &Range<usize>) -> Vec<(u32, u32)> {
        let switches = self.cluster.switches.len();
        let endpoints = self.is_server.iter().enumerate().skip(switches).filter(|(_, &is_server)| !is_server);
        let mut places = vec![None; self.is_server.len()];
        for (place, &node) in (0..).zip(&self.order[part.clone()]) {
            places[node] = Some(place);
        }
        (0..).zip(endpoints).filter_map(|(number, (node, _))| Some((number, places[node]?))).collect()
    }

    fn cable(&self, port: &GraphPort) -> &'a CableParams {
        &self.cluster.cables[port.cable]
    }

    /// Returns the output wires of a node.
    fn wires(&self, node: usize) -> Vec<WireParams> {
        self.graph.ports[node].iter().enumerate().map(|(index, port)| self.wire(node, index as u16, port)).collect()
    }

    fn wire(&self, node: usize, index: u16, port: &GraphPort) -> WireParams {
        let cable = self.cable(port);
        WireParams {
            port: index,
            peer: self.components[port.node],
            peer_port: port.port,
            bytes_per_s: cable.bytes_per_s,
            framing_bytes: cable.framing_bytes,
            frame_min_bytes: cable.frame_min_bytes,
            latency_ps: cable.latency_ps,
            before_ps: self.latency_out_ps(node),
            after_ps: self.latency_in_ps(port.node),
            down_ps: cable.down_ps.clone(),
            corrupt: cable.corrupt,
            watched: !self.cluster.jobs.is_empty(),
            // Two streams per cable, one for each direction.
            random: (self.cluster.seed, STREAMS + 2 * port.cable as u64 + port.end as u64),
        }
    }

    fn endpoint_params(&self, node: usize) -> Option<&'a EndpointParams> {
        let host = self.cluster.hosts.get(node.checked_sub(self.cluster.switches.len())?)?;
        if let HostKind::Endpoint(params) = &host.kind {
            Some(params)
        } else {
            None
        }
    }

    /// Returns the delay between the queue of a switch or endpoint and the wire, in ps; 0 for a server.
    fn latency_out_ps(&self, node: usize) -> u64 {
        match self.cluster.switches.get(node) {
            Some(switch) => switch.latency_ps,
            None => self.endpoint_params(node).map_or(0, |params| params.latency_ps),
        }
    }

    /// Returns the delay between the wire and the transports of an endpoint, in ps; 0 for other nodes.
    fn latency_in_ps(&self, node: usize) -> u64 {
        self.endpoint_params(node).map_or(0, |params| params.latency_ps)
    }

    /// Returns the delay between the queue of a node of any kind and the wire, in ps; for a server, that of its NIC.
    fn before_ps(&self, node: usize) -> u64 {
        let host = node.checked_sub(self.cluster.switches.len()).and_then(|host| self.cluster.hosts.get(host));
        match host.map(|host| &host.kind) {
            Some(HostKind::Server(server)) => server.nic().map_or(0, |nic| nic.transmit_ps),
            _ => self.latency_out_ps(node),
        }
    }

    fn egresses(&self, node: usize) -> Vec<Egress> {
        self.wires(node).iter().map(Egress::new).collect()
    }

    fn switch(&self, index: usize, params: &SwitchParams, routes: Routes) -> Switch {
        // Every lossless priority of every port may fill its headroom at the same time.
        let lossless = params.pfc.map_or(0, |pfc| u64::from(pfc.priorities.count_ones()));
        let room = |cable: &CableParams, port: &GraphPort| {
            headroom_bytes(cable.bytes_per_s, cable.latency_ps, self.before_ps(port.node), self.mtu_bytes)
        };
        let headroom = self.graph.ports[index].iter().map(|port| lossless * room(self.cable(port), port)).sum();
        Switch::new(params, self.egresses(index), routes, headroom, self.random(index))
    }

    /// Builds a switch that learns or one with static routes, as its parameters say.
    fn switch_node(&self, index: usize, params: &SwitchParams, routes: Routes) -> FabricNode {
        let switch = self.switch(index, params, routes);
        match params.learning {
            None => FabricNode::Switch(Box::new(switch)),
            Some(learning) => {
                let random = self.random(self.cluster.switches.len() + index);
                FabricNode::Learning(Box::new(LearningSwitch::new(learning, switch, random)))
            }
        }
    }

    /// Returns the seed of the run and random stream number `number` after those of the cables.
    fn random(&self, number: usize) -> (u64, u64) {
        (self.cluster.seed, STREAMS + 2 * self.cluster.cables.len() as u64 + number as u64)
    }

    /// Builds an endpoint. With `routes`, each of its flows keeps one of several ports; otherwise all use port 0.
    fn endpoint(&self, host: usize, params: &EndpointParams, routes: Option<&Routes>) -> Endpoint {
        let wires = self.wires(self.graph.host(host));
        let end = |&number: &u32| {
            let flow = &self.cluster.flows[number as usize];
            let initiator = usize::from(flow.from) == host;
            let peer = if initiator { flow.to } else { flow.from };
            let port = routes.and_then(|routes| routes.port(number, host as u16, peer)).unwrap_or(0);
            if let Some(end) = self.message_end(number, flow, initiator, port) {
                return end;
            }
            let port_bytes_per_s = wires.get(usize::from(port)).map_or(0, |wire| wire.bytes_per_s);
            FlowEnd::new(number, flow, initiator, port, port_bytes_per_s)
        };
        let ends = self.flows[host].iter().map(end).collect();
        let ports = wires.iter().map(Egress::new).collect();
        let mut built = Endpoint::new(ports, params.queue_packets, ends).with_messages(self.messages_id());
        if let Some(routes) = routes.filter(|_| params.forwarding_ports > 0) {
            built = built.forwarding(routes.clone());
        }
        let built = built.with_ranks(self.cluster, host as u16, |other| self.components[self.graph.host(other.into())]);
        match &self.cluster.hosts[host].compress {
            Some(params) => {
                let (out, into) = self.cluster.compressed(host as u16);
                built.with_engines(params.clone(), &out, into)
            }
            None => built,
        }
    }

    /// Returns the least delay of an event between two partitions, in ps. Each server is a partition, too.
    fn window_ps(&self, parts: &[Range<usize>]) -> Option<u64> {
        // Servers stay without a part: each is one of its own, so all their cables count.
        let mut part_of = vec![None; self.is_server.len()];
        for (number, part) in parts.iter().enumerate() {
            self.order[part.clone()].iter().for_each(|&node| part_of[node] = Some(number));
        }
        let part_of = &part_of;
        let delays = (0..part_of.len()).flat_map(|node| {
            let crossing = self.graph.ports[node].iter().enumerate();
            let inside = move |port: &GraphPort| part_of[node].is_some() && part_of[node] == part_of[port.node];
            let crossing = crossing.filter(move |(_, port)| !inside(port));
            crossing.map(move |(index, port)| self.delay_ps(node, index as u16, port))
        });
        delays.min()
    }

    /// Returns the least delay of an event that a node sends by a port, in ps. It is only the latency of the cable
    /// where a switch sends pauses, which do not wait for the wire, at servers, whose NICs add delays that are not
    /// known here, and if ranks announce their messages, which takes the latencies of cables only.
    fn delay_ps(&self, node: usize, index: u16, port: &GraphPort) -> u64 {
        let pauses = self.cluster.switches.get(node).is_some_and(|switch| switch.pfc.is_some());
        let announces = self.cluster.jobs.iter().any(JobParams::has_operations);
        if pauses || announces || self.is_server[node] || self.is_server[port.node] {
            // A pause, a packet of a server or an announcement takes at least the latency of the cable.
            return self.cable(port).latency_ps.max(1);
        }
        let wire = Wire::new(&self.wire(node, index, port));
        // A packet is at least the smallest frame long, which widens the window.
        wire.serialization_ps(wire.wire_bytes(0)) + wire.delay_ps
    }
}

/// Returns the PFC headroom of one cable: bytes of IP packets that may still arrive after a pause was requested. These
/// are the bytes in flight during two latencies of the cable and the `before_ps` ps between the peer's queue and the
/// wire, one packet that the peer has just begun to send, and one packet that has just arrived.
#[must_use]
pub fn headroom_bytes(bytes_per_s: u64, latency_ps: u64, before_ps: u64, mtu_bytes: u32) -> u64 {
    // The pause travels one latency and the last packet another (IEEE 802.1Qbb).
    let ps = 2 * u128::from(latency_ps) + u128::from(before_ps);
    let on_the_way = u128::from(bytes_per_s) * ps / 1_000_000_000_000;
    u64::try_from(on_the_way).unwrap_or(u64::MAX).saturating_add(2 * u64::from(mtu_bytes))
}
