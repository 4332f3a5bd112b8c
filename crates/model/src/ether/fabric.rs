//! A partition of switches and endpoints.

use super::egress::Egress;
use super::endpoint::Endpoint;
use super::learning::LearningSwitch;
use super::messages::{MessageNetwork, MessagePorts};
use super::port_queues::PRIORITIES;
use super::switch::{Switch, SwitchPort};
use crate::line::{Packet, Packets};
use crate::part::{NetContext, Payload};
use hostnet_kernel::{ComponentId, Event, Partition, PrefetchStage, Scheduler, Time};
use serde::{Deserialize, Serialize};

/// A switch or endpoint of a fabric.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FabricNode {
    /// A switch with static routes.
    Switch(Box<Switch>),
    /// A switch that learns the ports of hosts.
    Learning(Box<LearningSwitch>),
    /// A host without a host network.
    Endpoint(Box<Endpoint>),
    /// All cables and switches, if messages pass them whole. It is the last node.
    Messages(Box<MessageNetwork>),
}

impl FabricNode {
    /// Returns the ports and the buffer of a switch of either kind.
    #[must_use]
    pub fn switch(&self) -> Option<&Switch> {
        match self {
            Self::Switch(switch) => Some(switch),
            Self::Learning(switch) => Some(switch.switch()),
            Self::Endpoint(_) | Self::Messages(_) => None,
        }
    }

    /// Returns a port of a switch with static routes or of an endpoint.
    fn port_mut(&mut self, port: u16) -> Option<&mut Egress> {
        match self {
            Self::Switch(switch) => switch.port_mut(port),
            Self::Endpoint(endpoint) => endpoint.port_mut(port),
            Self::Learning(_) | Self::Messages(_) => None,
        }
    }

    /// Moves the packets that wait at this node from one store to another.
    pub(super) fn move_packets(&mut self, from: &mut Packets, to: &mut Packets) {
        match self {
            Self::Switch(switch) => switch.move_packets(from, to),
            Self::Learning(switch) => switch.move_packets(from, to),
            Self::Endpoint(endpoint) => endpoint.move_packets(from, to),
            Self::Messages(_) => {}
        }
    }
}

/// A partition with all switches and endpoints of the world or some of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fabric {
    pub(super) first: ComponentId,
    pub(super) nodes: Vec<FabricNode>,
    /// Number of the first switch of this partition; the others follow without a gap.
    pub(super) first_switch: u32,
    /// Indices of the switches among the nodes.
    switches: Vec<u32>,
    /// Number of each endpoint among the endpoints of the world, and its index among the nodes, in the order of the
    /// hosts.
    endpoints: Vec<(u32, u32)>,
    pub(super) packets: Packets,
}

impl Fabric {
    /// Creates a fabric whose nodes are the components from `first` on. Switches are numbered in order from
    /// `first_switch` on. `endpoints` gives the number and the index of each endpoint, in the order of the hosts.
    #[must_use]
    pub fn new(first: ComponentId, nodes: Vec<FabricNode>, first_switch: u32, endpoints: Vec<(u32, u32)>) -> Self {
        let switches = (0..).zip(&nodes).filter(|(_, node)| node.switch().is_some());
        let switches = switches.map(|(index, _)| index).collect();
        Self { first, nodes, first_switch, switches, endpoints, packets: Packets::default() }
    }

    /// Schedules the start of every end of a flow.
    pub(super) fn begin(&self, scheduler: &mut Scheduler<Payload>) {
        for (index, node) in self.nodes.iter().enumerate() {
            if let FabricNode::Endpoint(endpoint) = node {
                endpoint.begin(self.component(index), scheduler);
            }
        }
    }

    /// Returns the component of a node.
    #[must_use]
    pub fn component(&self, node: usize) -> ComponentId {
        ComponentId(self.first.0 + node as u32)
    }

    /// Returns the nodes, in the order of their components.
    #[must_use]
    pub fn nodes(&self) -> &[FabricNode] {
        &self.nodes
    }

    /// Returns the packets that wait in this partition or are in flight to one of its nodes.
    #[must_use]
    pub fn packets(&self) -> &Packets {
        &self.packets
    }

    /// Iterates over the packets that wait at a node: first those that have not reached an output port, then those at
    /// the ports, by port, priority and place in the queue.
    pub fn waiting_at(&self, node: usize) -> impl Iterator<Item = &Packet> {
        let node = &self.nodes[node];
        let ports: Box<dyn Iterator<Item = &Egress>> = match node {
            FabricNode::Endpoint(endpoint) => Box::new(endpoint.ports().iter()),
            FabricNode::Switch(_) | FabricNode::Learning(_) | FabricNode::Messages(_) => {
                Box::new(node.switch().into_iter().flat_map(Switch::ports).map(SwitchPort::egress))
            }
        };
        let inside = if let FabricNode::Learning(switch) = node { Some(switch.inside(&self.packets)) } else { None };
        let at = |port: &'_ Egress, priority: u8| port.queue_of(priority).iter(&self.packets);
        let waiting = ports.flat_map(move |port| (0..PRIORITIES as u8).flat_map(move |priority| at(port, priority)));
        inside.into_iter().flatten().chain(waiting)
    }

    /// Returns the packet store mutably, for recording packets.
    pub fn packets_mut(&mut self) -> &mut Packets {
        &mut self.packets
    }

    /// Returns a switch by its number, if it is in this partition.
    #[must_use]
    pub fn switch(&self, number: usize) -> Option<&Switch> {
        let place = *self.switches.get(number.checked_sub(self.first_switch as usize)?)?;
        self.nodes.get(place as usize)?.switch()
    }

    /// Returns the number of the switch that is the component `component`, if it is one of this partition.
    #[must_use]
    pub fn switch_at(&self, component: ComponentId) -> Option<usize> {
        let node = component.0.checked_sub(self.first.0)?;
        self.switches.binary_search(&node).ok().map(|place| self.first_switch as usize + place)
    }

    /// Returns the component of an endpoint, if it is in this partition. `number` counts the endpoints of the world in
    /// the order of the hosts.
    #[must_use]
    pub fn endpoint_component(&self, number: usize) -> Option<ComponentId> {
        let place = self.endpoints.binary_search_by_key(&number, |&(number, _)| number as usize).ok()?;
        Some(self.component(self.endpoints[place].1 as usize))
    }

    /// Iterates over the switches, in order.
    pub fn switches(&self) -> impl Iterator<Item = &Switch> {
        self.numbered_switches().map(|(_, switch)| switch)
    }

    /// Iterates over the switches and their numbers, in order.
    pub fn numbered_switches(&self) -> impl Iterator<Item = (u32, &Switch)> {
        self.switch_nodes().filter_map(|(number, node)| Some((number, node.switch()?)))
    }

    /// Iterates over the learning switches and their numbers among all switches, in order.
    pub fn learning_switches(&self) -> impl Iterator<Item = (u32, &LearningSwitch)> {
        let nodes = self.switch_nodes();
        nodes.filter_map(
            |(number, node)| if let FabricNode::Learning(switch) = node { Some((number, &**switch)) } else { None },
        )
    }

    fn switch_nodes(&self) -> impl Iterator<Item = (u32, &FabricNode)> {
        (self.first_switch..).zip(&self.switches).map(|(number, &node)| (number, &self.nodes[node as usize]))
    }

    /// Returns the number of each endpoint among those of the world and its index among the nodes, in the order of the
    /// hosts.
    #[must_use]
    pub fn endpoint_places(&self) -> &[(u32, u32)] {
        &self.endpoints
    }

    /// Iterates over the endpoints, in the order of the hosts.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.numbered_endpoints().map(|(_, endpoint)| endpoint)
    }

    /// Iterates over the endpoints and their numbers among those of the world, in the order of the hosts.
    pub fn numbered_endpoints(&self) -> impl Iterator<Item = (u32, &Endpoint)> {
        let nodes = self.endpoints.iter().map(|&(number, node)| (number, &self.nodes[node as usize]));
        nodes.filter_map(
            |(number, node)| if let FabricNode::Endpoint(end) = node { Some((number, &**end)) } else { None },
        )
    }

    /// Iterates over the endpoints, for changes between events.
    pub fn endpoints_mut(&mut self) -> impl Iterator<Item = &mut Endpoint> {
        self.nodes.iter_mut().filter_map(|node| match node {
            FabricNode::Endpoint(endpoint) => Some(&mut **endpoint),
            FabricNode::Switch(_) | FabricNode::Learning(_) | FabricNode::Messages(_) => None,
        })
    }

    /// Begins a new measurement window at `now`.
    pub fn reset(&mut self, now: Time) {
        for node in &mut self.nodes {
            match node {
                FabricNode::Switch(switch) => switch.reset(now),
                FabricNode::Learning(switch) => switch.reset(now),
                FabricNode::Endpoint(endpoint) => endpoint.reset(now),
                FabricNode::Messages(_) => {}
            }
        }
    }

    /// Brings the queue statistics up to `now`.
    pub fn settle(&mut self, now: Time) {
        for node in &mut self.nodes {
            match node {
                FabricNode::Switch(switch) => switch.settle(now),
                FabricNode::Learning(switch) => switch.switch_mut().settle(now),
                FabricNode::Endpoint(endpoint) => endpoint.settle(now),
                FabricNode::Messages(_) => {}
            }
        }
        if let Some((FabricNode::Messages(network), ports)) = self.nodes.split_last_mut() {
            network.settle(ports, now);
        }
    }

    /// Stops all sources of traffic. Packets in flight still arrive, so the fabric drains.
    pub fn stop_sources(&mut self) {
        for node in &mut self.nodes {
            if let FabricNode::Endpoint(endpoint) = node {
                endpoint.stop();
            }
        }
    }
}

impl MessagePorts for [FabricNode] {
    fn port_mut(&mut self, (node, port): (u32, u16)) -> Option<&mut Egress> {
        self.get_mut(node as usize)?.port_mut(port)
    }
}

impl Partition for Fabric {
    type Payload = Payload;
    type Cargo = Option<Packet>;

    fn unload(&mut self, payload: &Payload) -> Option<Packet> {
        crate::part::unload(&mut self.packets, payload)
    }

    fn load(&mut self, payload: &mut Payload, cargo: Option<Packet>) {
        crate::part::load(&mut self.packets, payload, cargo);
    }

    #[inline(always)]
    fn prepare(&self, event: &Event<Payload>, ahead: PrefetchStage) {
        // A wrong component wraps to a large number and finds no node.
        let Some(node) = self.nodes.get(event.target.0.wrapping_sub(self.first.0) as usize) else { return };
        match (&event.payload, node) {
            (Payload::Packet { id, .. }, FabricNode::Switch(switch)) => switch.fetch(*id, &self.packets, ahead),
            (Payload::Packet { id, .. }, FabricNode::Endpoint(endpoint)) => endpoint.fetch(*id, &self.packets, ahead),
            (Payload::PortReady { port }, FabricNode::Switch(switch)) => switch.fetch_port(*port, &self.packets, ahead),
            (Payload::PortReady { port }, FabricNode::Endpoint(endpoint)) => {
                endpoint.fetch_port(*port, &self.packets, ahead);
            }
            _ => {}
        }
    }

    #[inline]
    fn on_event(&mut self, event: Event<Payload>, scheduler: &mut Scheduler<Payload>) {
        let mut context = NetContext { id: event.target, packets: &mut self.packets, scheduler };
        let node = &mut self.nodes[(event.target.0 - self.first.0) as usize];
        match (event.payload, node) {
            (Payload::Packet { id, port }, FabricNode::Switch(switch)) => switch.on_packet(id, port, &mut context),
            (Payload::Packet { id, port }, FabricNode::Endpoint(endpoint)) => {
                endpoint.on_packet(id, port, &mut context)
            }
            (Payload::PortReady { port }, FabricNode::Switch(switch)) => switch.on_ready(port, &mut context),
            (Payload::PortReady { port }, FabricNode::Endpoint(endpoint)) => endpoint.on_ready(port, &mut context),
            (Payload::Pause { port, priority, on }, FabricNode::Switch(switch)) => {
                switch.on_pause(port, priority, on, &mut context);
            }
            (Payload::Pause { port, priority, on }, FabricNode::Endpoint(endpoint)) => {
                endpoint.on_pause(port, priority, on, &mut context);
            }
            (Payload::Begin { connection }, FabricNode::Endpoint(endpoint)) => {
                endpoint.on_begin(connection, &mut context)
            }
            (Payload::Announced { flow, repetition, message }, FabricNode::Endpoint(endpoint)) => {
                endpoint.on_announced(flow, (repetition, message));
            }
            (Payload::Timer { connection, generation }, FabricNode::Endpoint(endpoint)) => {
                endpoint.on_timer(connection, generation, &mut context);
            }
            (Payload::Whole(event, flow, bytes), FabricNode::Endpoint(endpoint)) => {
                endpoint.on_message(event, flow, bytes, &mut context);
            }
            (Payload::Whole(event, channel, bytes), FabricNode::Messages(_)) => {
                if let Some((FabricNode::Messages(network), nodes)) = self.nodes.split_last_mut() {
                    network.on_event(event, (channel, bytes), nodes, &mut context);
                }
            }
            (payload, FabricNode::Learning(switch)) => switch.on_event(payload, &mut context),
            (payload, _) => unreachable!("component {} was sent {payload:?}", event.target.0),
        }
    }
}
