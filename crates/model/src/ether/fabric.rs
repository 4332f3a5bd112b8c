//! All switches and endpoints of a world: one partition.

use super::endpoint::Endpoint;
use super::switch::Switch;
use crate::line::{Packet, Packets};
use crate::part::{NetContext, Payload};
use hostnet_kernel::{ComponentId, Event, Partition, Scheduler, Time};
use serde::{Deserialize, Serialize};

/// A part of a fabric.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Node {
    /// A switch.
    Switch(Box<Switch>),
    /// A host without a host network.
    Endpoint(Box<Endpoint>),
}

/// Switches and endpoints: a partition of the world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fabric {
    first: ComponentId,
    nodes: Vec<Node>,
    /// Where the switches are among the nodes, and the endpoints in the order of the hosts.
    switches: Vec<u32>,
    endpoints: Vec<u32>,
    packets: Packets,
}

impl Fabric {
    /// A fabric whose nodes are the components from `first` on: the switches in their order, and the endpoints, of
    /// which `endpoints` says where they are in the order of the hosts.
    #[must_use]
    pub fn new(first: ComponentId, nodes: Vec<Node>, endpoints: Vec<u32>) -> Self {
        let switches = (0..).zip(&nodes).filter(|(_, node)| matches!(node, Node::Switch(_)));
        let switches = switches.map(|(index, _)| index).collect();
        Self { first, nodes, switches, endpoints, packets: Packets::default() }
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

    /// The packets, to record some of them.
    pub fn packets_mut(&mut self) -> &mut Packets {
        &mut self.packets
    }

    /// A switch by its number.
    #[must_use]
    pub fn switch(&self, number: usize) -> Option<&Switch> {
        match self.nodes.get(*self.switches.get(number)? as usize)? {
            Node::Switch(switch) => Some(switch),
            Node::Endpoint(_) => None,
        }
    }

    /// The switch that a component is, by its number.
    #[must_use]
    pub fn switch_at(&self, component: ComponentId) -> Option<usize> {
        let node = component.0.checked_sub(self.first.0)?;
        self.switches.binary_search(&node).ok()
    }

    /// The component that an endpoint is; `number` counts the endpoints in the order of the hosts.
    #[must_use]
    pub fn endpoint_component(&self, number: usize) -> Option<ComponentId> {
        self.endpoints.get(number).map(|&node| self.component(node as usize))
    }

    /// The switches, in their order.
    pub fn switches(&self) -> impl Iterator<Item = &Switch> {
        (0..self.switches.len()).filter_map(|number| self.switch(number))
    }

    /// The endpoints, in the order of the hosts.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        let nodes = self.endpoints.iter().map(|&node| &self.nodes[node as usize]);
        nodes.filter_map(|node| if let Node::Endpoint(end) = node { Some(&**end) } else { None })
    }

    /// Begins a new measuring window at `now`.
    pub fn reset(&mut self, now: Time) {
        for node in &mut self.nodes {
            match node {
                Node::Switch(switch) => switch.reset(now),
                Node::Endpoint(endpoint) => endpoint.reset(now),
            }
        }
    }

    /// Brings the queue statistics up to `now`, so that they speak of this moment.
    pub fn settle(&mut self, now: Time) {
        for node in &mut self.nodes {
            match node {
                Node::Switch(switch) => switch.settle(now),
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

    #[inline]
    fn prepare(&self, event: &Event<Payload>, next: bool) {
        let node = self.nodes.get(event.target.0.wrapping_sub(self.first.0) as usize);
        match (&event.payload, node) {
            (Payload::Packet { id, .. }, Some(node)) if !next => {
                self.packets.fetch(*id);
                if let Node::Switch(switch) = node {
                    switch.fetch();
                }
            }
            (Payload::PortReady { .. }, Some(Node::Switch(switch))) if !next => switch.fetch(),
            (Payload::Packet { id, .. }, Some(Node::Switch(switch))) => switch.fetch_route(self.packets.get(*id).to),
            (Payload::PortReady { port }, Some(Node::Switch(switch))) => switch.fetch_port(*port),
            _ => {}
        }
    }

    #[inline]
    fn on_event(&mut self, event: Event<Payload>, scheduler: &mut Scheduler<Payload>) {
        let mut context = NetContext { id: event.target, packets: &mut self.packets, scheduler };
        let node = &mut self.nodes[(event.target.0 - self.first.0) as usize];
        match (event.payload, node) {
            (Payload::Packet { id, port }, Node::Switch(switch)) => switch.on_packet(id, port, &mut context),
            (Payload::Packet { id, .. }, Node::Endpoint(endpoint)) => endpoint.on_packet(id, &mut context),
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
            (payload, _) => unreachable!("component {} was sent {payload:?}", event.target.0),
        }
    }
}
