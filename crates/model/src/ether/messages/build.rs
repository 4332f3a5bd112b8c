//! Builds the network of messages of a cluster: its links, and a channel for each end of every flow.

use super::super::routes::{ClusterGraph, Routes};
use super::super::wire::{Wire, WireParams};
use super::channel::{ChannelParams, MessageChannel};
use super::fill::{Hop, SharedLinks};
use super::link::MessageLink;
use super::network::MessageNetwork;
use super::packets::MessageTransport;
use super::units_per_ps;
use crate::params::{ClusterParams, FlowParams, HostKind};
use hostnet_kernel::ComponentId;
use std::collections::BTreeMap;

/// Cluster that a network of messages is built from. Nodes are numbered: switches, then hosts.
pub(in super::super) struct NetworkOfMessages<'a> {
    pub(in super::super) cluster: &'a ClusterParams,
    pub(in super::super) graph: &'a ClusterGraph,
    /// Routes of each node with a choice of ports.
    pub(in super::super) routes: &'a [Option<Routes>],
    /// Component of each node, and index of each node in the fabric.
    pub(in super::super) components: &'a [ComponentId],
    pub(in super::super) places: &'a [u32],
    /// Output wires of each node.
    pub(in super::super) wires: &'a [Vec<WireParams>],
}

/// Channels under construction.
struct ChannelBuilder<'a> {
    of: &'a NetworkOfMessages<'a>,
    /// First link of each node.
    first_links: Vec<u32>,
    shared: SharedLinks,
    transports: BTreeMap<MessageTransport, u32>,
}

impl NetworkOfMessages<'_> {
    /// Builds the network.
    pub(in super::super) fn build(&self) -> MessageNetwork {
        let mut builder = ChannelBuilder {
            of: self,
            first_links: Vec::new(),
            shared: SharedLinks::default(),
            transports: BTreeMap::new(),
        };
        for (wires, &node) in self.wires.iter().zip(self.places) {
            builder.first_links.push(builder.shared.links.len() as u32);
            builder.shared.links.extend(wires.iter().map(|params| {
                MessageLink::new((node, params.port), Wire::new(params), units_per_ps(params.bytes_per_s))
            }));
        }
        for (number, flow) in (0..).zip(&self.cluster.flows) {
            builder.add(number, flow);
        }
        let transports = builder.transports.into_iter().map(|(transport, at)| (at, transport));
        let transports: BTreeMap<u32, MessageTransport> = transports.collect();
        MessageNetwork::new(builder.shared, transports.into_values().collect())
    }

    /// Returns the node and port of each hop of a flow from one host to another; none if no path leads there.
    fn path(&self, flow: u32, from: u16, to: u16) -> Vec<(usize, u16)> {
        let (mut node, target) = (self.graph.host(from.into()), self.graph.host(to.into()));
        let mut path = Vec::new();
        // Each node is passed once at most.
        while node != target && path.len() < self.graph.ports.len() {
            let port = self.routes[node].as_ref().map_or(Some(0), |routes| routes.port(flow, from, to));
            let Some((port, next)) = port.and_then(|port| Some((port, self.graph.ports[node].get(usize::from(port))?)))
            else {
                return Vec::new();
            };
            path.push((node, port));
            node = next.node;
        }
        path
    }
}

impl ChannelBuilder<'_> {
    /// Adds the two channels of a flow.
    fn add(&mut self, number: u32, flow: &FlowParams) {
        let transport = MessageTransport::of(&flow.transport).expect("messages have a transport that carries them");
        let next = self.transports.len() as u32;
        let number_of_transport = *self.transports.entry(transport).or_insert(next);
        let ways = [(flow.from, flow.to), (flow.to, flow.from)];
        let paths = ways.map(|(from, to)| self.of.path(number, from, to));
        let delays = [0, 1].map(|way: usize| paths[way].iter().map(|&hop| self.link(hop).wire.delay_ps).sum::<u64>());
        for (way, path) in paths.iter().enumerate() {
            let wires = |way: usize| paths[way].iter().map(|&hop| &self.link(hop).wire);
            let round_ps = delays[0] + delays[1] + transport.round_ps(wires(way), wires(1 - way));
            let ends = [ways[way].0, ways[way].1].map(|host| self.of.components[self.of.graph.host(host.into())]);
            let slowest = path.iter().map(|&hop| self.link(hop).capacity).min().unwrap_or(u64::MAX);
            let params = ChannelParams {
                flow: number,
                ends,
                first_hop: self.shared.hops.len() as u32,
                hops: path.len() as u32,
                transport: number_of_transport,
                round_ps,
                latency_ps: delays[way],
                return_ps: delays[1 - way],
                buffer_bytes: transport.buffer_bytes,
                rate_max: window_rate(transport.sizes.ip_bytes(transport.flight_bytes), round_ps),
                slowest,
                first_rate: path.first().map_or(u64::MAX, |&hop| self.link(hop).capacity),
                port_queue_ps: self.port_queue_ps(ways[way].0, path, &transport),
            };
            self.shared.channels.push(MessageChannel::new(params, &transport));
            let hops: Vec<Hop> = path.iter().map(|&hop| Hop { link: self.number(hop), slot: 0 }).collect();
            self.shared.hops.extend(hops);
        }
    }

    /// Returns the time that the port of a host takes to send a full queue of full packets, in ps.
    fn port_queue_ps(&self, host: u16, path: &[(usize, u16)], transport: &MessageTransport) -> u64 {
        let HostKind::Endpoint(endpoint) = &self.of.cluster.hosts[usize::from(host)].kind else { return 0 };
        let wire = path.first().map(|&hop| &self.link(hop).wire);
        let full_ps = wire.map_or(0, |wire| transport.sizes.full_ps(wire));
        full_ps.saturating_mul(endpoint.queue_packets.into())
    }

    fn number(&self, (node, port): (usize, u16)) -> u32 {
        self.first_links[node] + u32::from(port)
    }

    fn link(&self, hop: (usize, u16)) -> &MessageLink {
        &self.shared.links[self.number(hop) as usize]
    }
}

/// Returns the rate at which a window is sent once per round trip, in units per ps.
fn window_rate(window_bytes: u64, round_trip_ps: u64) -> u64 {
    let rate = (u128::from(window_bytes) << super::UNIT_BITS) / u128::from(round_trip_ps.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX).max(1)
}
