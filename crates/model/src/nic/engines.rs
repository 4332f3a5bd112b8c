//! Compression engines of the NIC: one compresses the data of sent packets, another decompresses received packets.

use super::{DropReason, Nic};
use crate::ether::{Compressor, Decompressor};
use crate::line::PacketId;
use crate::params::{CompressParams, WrittenStream};
use crate::part::{Context, Payload};

impl Nic {
    /// Adds engines that compress packets of the flows `out` and decompress packets of the flows `into`, in ascending
    /// order.
    #[must_use]
    pub fn with_engines(mut self, params: CompressParams, out: Vec<(u32, WrittenStream)>, into: Vec<u32>) -> Self {
        self.path.common.port.compress(Compressor::new(params.clone(), out));
        self.decompressor = Some(Box::new(Decompressor::new(params, into)));
        self
    }

    /// Returns the decompression engine, if the NIC has one.
    #[must_use]
    pub fn decompressor(&self) -> Option<&Decompressor> {
        self.decompressor.as_deref()
    }

    /// Returns true if the decompression engine took the packet: it is received later, or dropped because the
    /// engine's buffer is full.
    pub(super) fn decompress(&mut self, id: PacketId, context: &mut Context) -> bool {
        let Some(decompressor) = &mut self.decompressor else { return false };
        let now = context.now();
        match decompressor.admit(context.packets.get_mut(id), now) {
            None => return false,
            Some(Some(delay_ps)) => {
                // The packet comes back on a port of its own, which marks it as decompressed.
                context.send(context.id, delay_ps, Payload::Packet { id, port: Decompressor::PORT });
            }
            Some(None) => {
                let packet = context.packets.remove(id);
                let flow_counters = &mut self.path.common.flow_counters[packet.flow as usize];
                // Counted as received here, because the packet never reaches `Receive::arrive`.
                flow_counters.received.add(packet.ip_bytes);
                flow_counters.drop(DropReason::BufferFull, packet.ip_bytes);
            }
        }
        true
    }
}
