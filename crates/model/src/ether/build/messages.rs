//! Builds what carries messages whole: the network, and the ends of its flows.

use super::super::fabric::FabricNode;
use super::super::flow_end::FlowEnd;
use super::super::messages::{MessageTransport, NetworkOfMessages};
use super::super::routes::Routes;
use super::super::wire::WireParams;
use super::Builder;
use crate::params::FlowParams;
use hostnet_kernel::ComponentId;

impl Builder<'_> {
    /// Builds the network that carries messages whole, if there is one. `routes` are those of all nodes.
    pub(super) fn messages(&self, routes: &[Option<Routes>]) -> Option<FabricNode> {
        self.messages_id()?;
        let mut places = vec![0; self.components.len()];
        for (place, &node) in (0..).zip(&self.order) {
            places[node] = place;
        }
        let wires: Vec<Vec<WireParams>> = (0..self.components.len()).map(|node| self.wires(node)).collect();
        let network = NetworkOfMessages {
            cluster: self.cluster,
            graph: &self.graph,
            routes,
            components: &self.components,
            places: &places,
            wires: &wires,
        };
        Some(FabricNode::Messages(Box::new(network.build())))
    }

    /// Returns the component of the network that carries messages whole, if there is one: after all others.
    pub(super) fn messages_id(&self) -> Option<ComponentId> {
        let first = self.order.first().map_or(0, |&node| self.components[node].0);
        (!self.cluster.fidelity.is_packet()).then(|| ComponentId(first + self.order.len() as u32))
    }

    /// Builds an end of a flow whose messages a network carries whole, if there is one.
    pub(super) fn message_end(&self, number: u32, flow: &FlowParams, initiator: bool, port: u16) -> Option<FlowEnd> {
        self.messages_id()?;
        let transport = MessageTransport::of(&flow.transport)?;
        Some(FlowEnd::of_messages(number, flow, (initiator, port), transport.buffer_bytes))
    }
}
