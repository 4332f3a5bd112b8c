//! SRAM of the buffer device, as the processor of the DIMM reaches it over the on-chip interconnect.

use super::NEXT_PS;
use crate::line::RequestId;
use crate::link::Lane;
use crate::part::{Context, Payload};
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// Path to the SRAM, which carries one line at a time in each direction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sram {
    reads: Lane,
    writes: Lane,
}

impl Sram {
    /// Creates a path with a round trip of `ps` and a bandwidth of `bytes_per_s` in each direction.
    pub(super) fn new(bytes_per_s: u64, ps: u64) -> Self {
        let lane = || Lane::at_rate(bytes_per_s, ps);
        Self { reads: lane(), writes: lane() }
    }

    /// Serves a request of the CHA.
    pub(super) fn serve(&mut self, id: RequestId, cha: ComponentId, context: &mut Context) {
        let now = context.now();
        if context.requests.get(id).kind.is_read() {
            let delay = self.reads.send(now, LINE_BYTES);
            return context.send(cha, delay, Payload::Read(id));
        }
        let delay = self.writes.send(now, LINE_BYTES);
        context.send(cha, delay, Payload::Accepted(id));
        // After the acceptance, so that the two halves of a write end in order.
        context.send(context.id, delay + NEXT_PS, Payload::Issued(id));
    }
}
