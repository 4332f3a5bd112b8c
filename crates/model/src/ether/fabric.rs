//! Switches and endpoints of a world: one partition.

use super::egress::Egress;
use super::endpoint::Endpoint;
use super::learning::LearningSwitch;
use super::port_queues::PRIORITIES;
use super::switch::{Port, Switch};
use crate::line::{Packet, Packets};
use crate::part::{NetContext, Payload};
use hostnet_kernel::{Ahead, ComponentId, Event, Partition, Scheduler, Time};
use serde::{Deserialize, Serialize};

/// A part of a fabric.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Node {
    /// A switch.
    Switch(Box<Switch>),
    /// A switch that learns where hosts are.
    Learning(Box<LearningSwitch>),
    /// A host without a host network.
    Endpoint(Box<Endpoint>),
}

impl Node {
    /// The ports and the memory of a switch of either kind.
    #[must_use]
    pub fn switch(&self) -> Option<&Switch> {
        match self {
            Self::Switch(switch) => Some(switch),
            Self::Learning(switch) => Some(switch.switch()),
            Self::Endpoint(_) => None,
        }
    }

    /// Moves the packets that wait here from one store to another.
    pub(super) fn move_packets(&mut self, from: &mut Packets, to: &mut Packets) {
        match self {
            Self::Switch(switch) => switch.move_packets(from, to),
            Self::Learning(switch) => switch.move_packets(from, to),
            Self::Endpoint(endpoint) => endpoint.move_packets(from, to),
        }
    }
}

/// Switches and endpoints: a partition of the world, all there are or some of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fabric {
    pub(super) first: ComponentId,
    pub(super) nodes: Vec<Node>,
    /// The number of the first switch here; those that follow here have the next numbers.
    pub(super) first_switch: u32,
    /// Where the switches are among the nodes.
    switches: Vec<u32>,
    /// The endpoints in the order of the hosts: their numbers among the endpoints of the world, and where they are
    /// among the nodes.
    endpoints: Vec<(u32, u32)>,
    pub(super) packets: Packets,
}

impl Fabric {
    /// A fabric whose nodes are the components from `first` on: the switches in their order, numbered from
    /// `first_switch` on, and the endpoints, of which `endpoints` has the number and the place of each in the order of
    /// the hosts.
    #[must_use]
    pub fn new(first: ComponentId, nodes: Vec<Node>, first_switch: u32, endpoints: Vec<(u32, u32)>) -> Self {
        let switches = (0..).zip(&nodes).filter(|(_, node)| node.switch().is_some());
        let switches = switches.map(|(index, _)| index).collect();
        Self { first, nodes, first_switch, switches, endpoints, packets: Packets::default() }
    }

    /// Has every end of a flow begin at its time.
    pub(super) fn begin(&self, scheduler: &mut Scheduler<Payload>) {
        for (index, node) in self.nodes.iter().enumerate() {
            if let Node::Endpoint(endpoint) = node {
                endpoint.begin(self.component(index), scheduler);
            }
        }
    }

    /// The component that a node is.
    #[must_use]
    pub fn component(&self, node: usize) -> ComponentId {
        ComponentId(self.first.0 + node as u32)
    }

    /// The nodes, in the order of their components.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The packets that wait here, or are on their way to a part of this partition.
    #[must_use]
    pub fn packets(&self) -> &Packets {
        &self.packets
    }

    /// The packets that wait at a node: those that are not at a port yet, then in the order of its ports and
    /// priorities, and the queues.
    pub fn waiting_at(&self, node: usize) -> impl Iterator<Item = &Packet> {
        let node = &self.nodes[node];
        let ports: Box<dyn Iterator<Item = &Egress>> = match node {
            Node::Endpoint(endpoint) => Box::new(endpoint.ports().iter()),
            Node::Switch(_) | Node::Learning(_) => {
                Box::new(node.switch().into_iter().flat_map(Switch::ports).map(Port::egress))
            }
        };
        let inside = if let Node::Learning(switch) = node { Some(switch.inside(&self.packets)) } else { None };
        let at = |port: &'_ Egress, priority: u8| port.queue_of(priority).iter(&self.packets);
        let waiting = ports.flat_map(move |port| (0..PRIORITIES as u8).flat_map(move |priority| at(port, priority)));
        inside.into_iter().flatten().chain(waiting)
    }

    /// The packets, to record some of them.
    pub fn packets_mut(&mut self) -> &mut Packets {
        &mut self.packets
    }

    /// A switch by its number, if it is here.
    #[must_use]
    pub fn switch(&self, number: usize) -> Option<&Switch> {
        let place = *self.switches.get(number.checked_sub(self.first_switch as usize)?)?;
        self.nodes.get(place as usize)?.switch()
    }

    /// The switch that a component is, by its number.
    #[must_use]
    pub fn switch_at(&self, component: ComponentId) -> Option<usize> {
        let node = component.0.checked_sub(self.first.0)?;
        self.switches.binary_search(&node).ok().map(|place| self.first_switch as usize + place)
    }

    /// The component that an endpoint is, if it is here; `number` counts the endpoints of the world in the order of the
    /// hosts.
    #[must_use]
    pub fn endpoint_component(&self, number: usize) -> Option<ComponentId> {
        let place = self.endpoints.binary_search_by_key(&number, |&(number, _)| number as usize).ok()?;
        Some(self.component(self.endpoints[place].1 as usize))
    }

    /// The switches, in their order.
    pub fn switches(&self) -> impl Iterator<Item = &Switch> {
        self.numbered_switches().map(|(_, switch)| switch)
    }

    /// The switches with their numbers, in their order.
    pub fn numbered_switches(&self) -> impl Iterator<Item = (u32, &Switch)> {
        self.switch_nodes().filter_map(|(number, node)| Some((number, node.switch()?)))
    }

    /// The switches that learn with their numbers among all switches, in their order.
    pub fn learning_switches(&self) -> impl Iterator<Item = (u32, &LearningSwitch)> {
        let nodes = self.switch_nodes();
        nodes.filter_map(
            |(number, node)| if let Node::Learning(switch) = node { Some((number, &**switch)) } else { None },
        )
    }

    fn switch_nodes(&self) -> impl Iterator<Item = (u32, &Node)> {
        (self.first_switch..).zip(&self.switches).map(|(number, &node)| (number, &self.nodes[node as usize]))
    }

    /// The number of each endpoint among those of the world and its place among the nodes, in the order of the hosts.
    #[must_use]
    pub fn endpoint_places(&self) -> &[(u32, u32)] {
        &self.endpoints
    }

    /// The endpoints, in the order of the hosts.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.numbered_endpoints().map(|(_, endpoint)| endpoint)
    }

    /// The endpoints with their numbers among those of the world, in the order of the hosts.
    pub fn numbered_endpoints(&self) -> impl Iterator<Item = (u32, &Endpoint)> {
        let nodes = self.endpoints.iter().map(|&(number, node)| (number, &self.nodes[node as usize]));
        nodes.filter_map(|(number, node)| if let Node::Endpoint(end) = node { Some((number, &**end)) } else { None })
    }

    /// Begins a new measuring window at `now`.
    pub fn reset(&mut self, now: Time) {
        for node in &mut self.nodes {
            match node {
                Node::Switch(switch) => switch.reset(now),
                Node::Learning(switch) => switch.reset(now),
                Node::Endpoint(endpoint) => endpoint.reset(now),
            }
        }
    }

    /// Brings the queue statistics up to `now`, so that they speak of this moment.
    pub fn settle(&mut self, now: Time) {
        for node in &mut self.nodes {
            match node {
                Node::Switch(switch) => switch.settle(now),
                Node::Learning(switch) => switch.switch_mut().settle(now),
                Node::Endpoint(endpoint) => endpoint.settle(now),
            }
        }
    }

    /// Ends all sources of traffic. What is on its way still arrives, so that the fabric drains.
    pub fn stop_sources(&mut self) {
        for node in &mut self.nodes {
            if let Node::Endpoint(endpoint) = node {
                endpoint.stop();
            }
        }
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
    fn prepare(&self, event: &Event<Payload>, ahead: Ahead) {
        let Some(node) = self.nodes.get(event.target.0.wrapping_sub(self.first.0) as usize) else { return };
        match (&event.payload, node) {
            (Payload::Packet { id, .. }, Node::Switch(switch)) => switch.fetch(*id, &self.packets, ahead),
            (Payload::Packet { id, .. }, Node::Endpoint(endpoint)) => endpoint.fetch(*id, &self.packets, ahead),
            (Payload::PortReady { port }, Node::Switch(switch)) => switch.fetch_port(*port, &self.packets, ahead),
            (Payload::PortReady { port }, Node::Endpoint(endpoint)) => {
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
            (Payload::Packet { id, port }, Node::Switch(switch)) => switch.on_packet(id, port, &mut context),
            (Payload::Packet { id, port }, Node::Endpoint(endpoint)) => endpoint.on_packet(id, port, &mut context),
            (Payload::PortReady { port }, Node::Switch(switch)) => switch.on_ready(port, &mut context),
            (Payload::PortReady { port }, Node::Endpoint(endpoint)) => endpoint.on_ready(port, &mut context),
            (Payload::Pause { port, priority, on }, Node::Switch(switch)) => {
                switch.on_pause(port, priority, on, &mut context);
            }
            (Payload::Pause { port, priority, on }, Node::Endpoint(endpoint)) => {
                endpoint.on_pause(port, priority, on, &mut context);
            }
            (Payload::Begin { connection }, Node::Endpoint(endpoint)) => endpoint.on_begin(connection, &mut context),
            (Payload::Timer { connection, generation }, Node::Endpoint(endpoint)) => {
                endpoint.on_timer(connection, generation, &mut context);
            }
            (payload, Node::Learning(switch)) => switch.on_event(payload, &mut context),
            (payload, _) => unreachable!("component {} was sent {payload:?}", event.target.0),
        }
    }
}
