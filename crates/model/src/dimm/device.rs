//! NIC side of the buffer device: DMA writes, doorbells, and the clones of packets.

use super::async_port::NEXT_PS;
use super::{dma, Dimm, PacketBuffers, PacketWrite};
use crate::line::{memory_of, PacketId, RequestId, RequestKind};
use crate::part::{Context, Payload, RegisterAccess, Slot, TlpTag};
use crate::transport::stage_times::Stage;
use hostnet_kernel::{ComponentId, Time};

impl Dimm {
    /// Returns true if the buffer device made a request.
    pub(super) fn is_own(&self, id: RequestId, context: &Context) -> bool {
        context.requests.get(id).owner == context.id
    }

    /// Passes a register access to the NIC.
    pub(super) fn notify_nic(&self, access: RegisterAccess, context: &mut Context) {
        context.send(self.nic, NEXT_PS, Payload::Register { link: 0, access });
    }

    /// Handles a descriptor that is in memory: passes the doorbell to the NIC, unless the packet is still being
    /// cloned.
    pub(super) fn on_doorbell(&mut self, packet: PacketId, core: ComponentId, context: &mut Context) {
        let now = context.now();
        context.packets.get_mut(packet).end(Stage::TxFlush, now);
        if !self.clones.ring(packet) {
            self.notify_nic(RegisterAccess::Doorbell { id: packet, core }, context);
        }
    }

    /// Handles a write TLP of the NIC.
    pub(super) fn on_dma_write(&mut self, line: u64, lines: u8, class: u8, tag: TlpTag, now: Time) {
        self.counters.dma_written += u64::from(lines);
        // Copies are stale from the arrival of the write on, not from its acceptance.
        (line..line + u64::from(lines)).for_each(|line| self.overwrite(line));
        if self.begins_packet(line) {
            self.end_burst();
            self.writing = PacketWrite { begun: now, first: line, next: line, last: now };
        }
        // Completions and descriptors lie elsewhere and do not count as lines of the packet.
        if self.writing.next == line {
            self.writing.next += u64::from(lines);
        }
        self.dma.write(line, lines, class, tag);
    }

    /// Returns true if a line is the first of a packet buffer.
    pub(super) fn begins_packet(&self, line: u64) -> bool {
        let within = |buffers: &PacketBuffers| {
            // Lines before the region wrap to large offsets and are not in it.
            let at = line.wrapping_sub(buffers.line);
            at < buffers.lines && at % buffers.step == 0
        };
        self.buffers.iter().any(within)
    }

    /// Counts the packet that was written last.
    pub(super) fn end_burst(&mut self) {
        let PacketWrite { begun, first, next, last } = self.writing;
        if next > first && last > begun {
            self.counters.bursts += 1;
            self.counters.burst_ps += last.since(begun);
            self.counters.burst_lines += next - first;
        }
    }

    /// Sends the command of a clone, which a core has requested, over the channel.
    pub(super) fn command(&mut self, packet: PacketId, context: &mut Context) {
        let line = memory_of(1) / 64;
        let id = dma::request(RequestKind::Flush, line, 0, 0, context);
        self.commands.push((id, packet));
        // A command of the host takes the command bus and a line, as a write does.
        self.port.want(id, Slot::Write, context);
    }

    /// Handles the end of the clone of a row.
    pub(super) fn on_cloned(&mut self, packet: PacketId, context: &mut Context) {
        let Some(clone) = self.clones.end(packet) else { return };
        let now = context.now();
        if clone.received {
            context.send(clone.core, self.to_cha_ps + self.to_core_ps, Payload::Cloned(packet));
        } else {
            context.packets.get_mut(packet).end(Stage::TxCopy, now);
            self.notify_nic(RegisterAccess::Doorbell { id: packet, core: clone.core }, context);
        }
    }
}
