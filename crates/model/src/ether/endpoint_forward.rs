//! Packets that an endpoint forwards to other hosts, in turn with those of its own ends.

use super::drops::DropReason;
use super::endpoint::Endpoint;
use super::forwarder::{Forwarder, FORWARDED};
use super::port_queues::PRIORITIES;
use super::routes::Routes;
use crate::line::{Packet, PacketId};
use crate::met::Limit;
use crate::part::NetContext;

impl Endpoint {
    /// Makes the endpoint forward packets for other hosts along `routes`.
    #[must_use]
    pub fn forwarding(mut self, routes: Routes) -> Self {
        self.forwarder = Some(Box::new(Forwarder::new(routes, self.ports().len())));
        self
    }

    /// Returns the port by which packets of a flow leave for a host: that of the end of the flow, or the one by which
    /// they are forwarded. Returns `None` if the endpoint has neither.
    #[must_use]
    pub fn port_of(&self, flow: u32, from: u16, to: u16) -> Option<u16> {
        match self.end_of(flow) {
            Some(end) => Some(self.ends[end as usize].port()),
            None => self.forwarder.as_ref()?.port(flow, from, to),
        }
    }

    /// Forwards a packet for another host, or drops it if this endpoint forwards none. It waits while its port has no
    /// room.
    #[inline(never)]
    pub(super) fn forward(&mut self, id: PacketId, context: &mut NetContext) {
        let &Packet { flow, from, to, priority, .. } = context.packets.get(id);
        let port = self.forwarder.as_ref().and_then(|forwarder| forwarder.port(flow, from, to));
        let (Some(forwarder), Some(port)) = (&mut self.forwarder, port) else {
            return self.drop(id, DropReason::NoRoute, context);
        };
        let list = usize::from(port) * PRIORITIES + usize::from(priority);
        // All packets to forward wait like one end: those behind the first have their turn with it.
        if !forwarder.push(list, id, context.packets) {
            return;
        }
        if self.has_room(port, priority) {
            self.forward_next(list, context);
        } else {
            self.met.set(Limit::PortQueue);
            self.blocked[list].push_back(FORWARDED);
        }
    }

    /// Sends the next packet that waits to be forwarded by a port with a priority. Returns true if more wait.
    pub(super) fn forward_next(&mut self, list: usize, context: &mut NetContext) -> bool {
        let next = self.forwarder.as_mut().and_then(|forwarder| forwarder.pop(list, context.packets));
        let Some((id, more)) = next else { return false };
        self.send_by((list / PRIORITIES) as u16, id, context);
        more
    }
}
