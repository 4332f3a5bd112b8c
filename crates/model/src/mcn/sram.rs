//! The SRAM as the processor of the DIMM reaches it: its memory controller sends accesses there over the chip.

use super::NEXT_PS;
use crate::line::RequestId;
use crate::link::Lane;
use crate::part::{Context, Payload};
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// The way to the SRAM: one line after the other in each direction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sram {
    reads: Lane,
    writes: Lane,
}

impl Sram {
    /// A way that takes `ps` there and back, and carries so many bytes per second in each direction.
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
        context.send(context.id, delay + NEXT_PS, Payload::Issued(id));
    }
}
