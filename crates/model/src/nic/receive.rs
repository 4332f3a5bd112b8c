//! Receive side: from the cable through the buffer to memory.

use super::queue::Queue;
use super::receive_buffer::ReceiveBuffer;
use super::writer::{DmaWriter, WriteStep};
use super::Common;
use crate::line::{PacketId, Packets};
use crate::link::PcieEndpoint;
use crate::part::Context;
use serde::{Deserialize, Serialize};

/// Receive side of the NIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Receive {
    /// Packets in the buffer, by function.
    writers: Vec<DmaWriter>,
    pub(super) buffer: ReceiveBuffer,
}

impl Receive {
    /// Creates the receive side of a NIC with `functions` functions and `flows` flows, whose lossy packets fill at
    /// most `lossy_bytes` bytes of the buffer.
    pub(super) fn new(functions: usize, queues: Vec<Queue>, flows: usize, lossy_bytes: u64) -> Self {
        let buffer = ReceiveBuffer::new(functions, queues, flows, lossy_bytes);
        Self { writers: vec![DmaWriter::default(); functions], buffer }
    }

    /// Returns the next step of a function.
    pub(super) fn next(
        &self,
        function: usize,
        endpoint: &PcieEndpoint,
        packets: &Packets,
        common: &Common,
    ) -> WriteStep {
        self.writers[function].next(&self.buffer.queues, endpoint, packets, common)
    }

    /// Sends the next TLP of a function.
    pub(super) fn write(
        &mut self,
        function: usize,
        endpoint: &mut PcieEndpoint,
        common: &mut Common,
        context: &mut Context,
    ) {
        self.writers[function].write(&mut self.buffer, endpoint, common, context);
    }

    /// Handles a packet from the cable.
    pub(super) fn arrive(&mut self, id: PacketId, common: &mut Common, context: &mut Context) {
        if let Some(function) = self.buffer.arrive(id, common, context) {
            self.writers[function].push(id, context.now());
        }
    }
}
