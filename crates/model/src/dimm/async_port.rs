//! Host side of the buffer device: asynchronous reads, and writes.
//!
//! A read takes a request id, which goes with its command (XRD) and returns with its data: when the data is ready the
//! DIMM signals the host (RDY), which requests the data (SEND). A write takes an entry of the buffer device. Commands
//! and lines use slots of the channel.

use crate::line::{RequestCredits, RequestId};
use crate::params::DimmParams;
use crate::part::{Context, Payload, Pool, PoolGroup, Slot};
use hostnet_kernel::ComponentId;
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Delay from the buffer device to the channel or to the NIC, in ps.
pub(super) const NEXT_PS: u64 = 1;

/// Host side of the buffer device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AsyncPort {
    channel: ComponentId,
    credits: RequestCredits,
}

impl AsyncPort {
    pub(super) fn new(params: &DimmParams, channel: ComponentId, classes: usize) -> Self {
        Self { channel, credits: RequestCredits::new([params.ids, params.writes], classes) }
    }

    pub(super) fn domains(&self) -> [&Domain; 2] {
        self.credits.domains()
    }

    pub(super) fn domains_mut(&mut self) -> [&mut Domain; 2] {
        self.credits.domains_mut()
    }

    pub(super) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        let [reads, writes] = self.domains();
        visit(Pool::new(PoolGroup::DimmRead, reads));
        visit(Pool::new(PoolGroup::DimmWrite, writes));
    }

    /// Handles a request of the host.
    pub(super) fn arrive(&mut self, id: RequestId, context: &mut Context) {
        if self.credits.admits(id, context.requests) {
            self.begin(id, context);
        }
    }

    /// Takes a credit for a request, and reserves its first slot.
    fn begin(&mut self, id: RequestId, context: &mut Context) {
        self.credits.begin(id, context.now(), context.requests);
        let read = context.requests.get(id).kind.is_read();
        // A read takes a slot for its command and one for its line; a write carries its line with it.
        self.want(id, if read { Slot::Command } else { Slot::Write }, context);
    }

    /// Reserves a slot of the channel for a request.
    pub(super) fn want(&self, id: RequestId, slot: Slot, context: &mut Context) {
        // No event: the channel is told in advance and uses the slot at its own time.
        context.notify(self.channel, NEXT_PS, Payload::Slot { id, slot });
    }

    /// Ends a request on the DIMM, and frees its credit.
    pub(super) fn end(&mut self, id: RequestId, read: bool, context: &mut Context) {
        if let Some(next) = self.credits.end(id, read, context.now(), context.requests) {
            self.begin(next, context);
        }
    }
}
