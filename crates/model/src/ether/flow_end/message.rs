//! Messages at an end of a flow that a network carries whole.

use super::{FlowEnd, FlowEndKind};
use crate::flow::Application;
use crate::part::{MessageEvent, NetContext, Payload};
use hostnet_kernel::{ComponentId, Time};

impl FlowEnd {
    /// Passes a message that has been posted to the network.
    pub(in super::super) fn send_message(&self, bytes: u64, network: ComponentId, context: &mut NetContext) {
        let FlowEndKind::Messages(end) = &self.kind else { return };
        let waits = !end.application().is_written();
        context.send(network, 1, Payload::Whole(MessageEvent::Posted { waits }, end.channel(), bytes));
    }

    /// Passes a message that has arrived, or an acknowledgement, to the application. Returns true if there is something
    /// for the rank.
    pub(in super::super) fn on_message(&mut self, event: MessageEvent, bytes: u64, now: Time) -> bool {
        let FlowEndKind::Messages(end) = &mut self.kind else { return false };
        match event {
            MessageEvent::Arrived => {
                end.poll(bytes, now);
                true
            }
            MessageEvent::Acknowledged => end.acknowledge(bytes, now),
            MessageEvent::Posted { .. } | MessageEvent::Shares => false,
        }
    }

    /// Returns the application of an end whose messages a network carries whole.
    #[must_use]
    pub fn messages(&self) -> Option<&Application> {
        match &self.kind {
            FlowEndKind::Messages(end) => Some(end.application()),
            _ => None,
        }
    }
}
