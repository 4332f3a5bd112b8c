//! An end of a flow whose messages a network carries whole: a send buffer and an application.

use crate::flow::Application;
use crate::params::FlowParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// An end of a flow of messages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MessageFlowEnd {
    application: Application,
    /// Number of the channel of the network that it sends by.
    channel: u32,
    /// Data that may be written and not acknowledged, and data acknowledged so far, in bytes.
    buffer_bytes: u64,
    acknowledged: u64,
}

impl MessageFlowEnd {
    pub(super) fn new(number: u32, flow: &FlowParams, initiator: bool, buffer_bytes: u64) -> Self {
        let application = Application::new(&flow.traffic, initiator, flow.deaf_ps);
        // The end that the flow is from sends by the first of the two channels of the flow.
        let channel = 2 * number + u32::from(!initiator);
        Self { application, channel, buffer_bytes, acknowledged: 0 }
    }

    /// Has the application read the bytes that have arrived, and write what there is room for.
    pub(super) fn poll(&mut self, arrived: u64, now: Time) {
        // The network has all of a message, so it may have sent more than has been written.
        let most = self.acknowledged.saturating_add(self.buffer_bytes);
        self.application.poll(now, arrived, most.saturating_sub(self.application.written_bytes()));
    }

    /// Records that the first `bytes` bytes are acknowledged. Returns true if the application had waited for that.
    pub(super) fn acknowledge(&mut self, bytes: u64, now: Time) -> bool {
        self.acknowledged = bytes.max(self.acknowledged);
        let waited = !self.application.is_written();
        if waited {
            self.poll(0, now);
        }
        waited
    }

    pub(super) fn channel(&self) -> u32 {
        self.channel
    }

    pub(super) fn application(&self) -> &Application {
        &self.application
    }

    pub(super) fn application_mut(&mut self) -> &mut Application {
        &mut self.application
    }
}
