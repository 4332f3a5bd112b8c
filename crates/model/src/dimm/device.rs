//! The NIC in the buffer device: its writes, its doorbells, and the clones of its packets.

use super::async_port::NEXT_PS;
use super::{dma, Buffers, Dimm, Writing};
use crate::line::{memory_of, Kind, PacketId, RequestId};
use crate::part::{Access, Context, Payload, Slot, Tag};
use crate::transport::journey::Stage;
use hostnet_kernel::{ComponentId, Time};

impl Dimm {
    pub(super) fn is_own(&self, id: RequestId, context: &Context) -> bool {
        context.requests.get(id).owner == context.id
    }

    pub(super) fn tell_nic(&self, access: Access, context: &mut Context) {
        context.send(self.nic, NEXT_PS, Payload::Register { link: 0, access });
    }

    /// The descriptor of a packet is in memory: the NIC is told, once its data is where the descriptor says.
    pub(super) fn on_doorbell(&mut self, packet: PacketId, core: ComponentId, context: &mut Context) {
        let now = context.now();
        context.packets.get_mut(packet).end(Stage::TxFlush, now);
        if !self.clones.ring(packet) {
            self.tell_nic(Access::Doorbell { id: packet, core }, context);
        }
    }

    /// The NIC writes lines.
    pub(super) fn on_dma_write(&mut self, line: u64, lines: u8, class: u8, tag: Tag, now: Time) {
        self.counters.dma_written += u64::from(lines);
        (line..line + u64::from(lines)).for_each(|line| self.overwrite(line));
        if self.begins_packet(line) {
            self.end_burst();
            self.writing = Writing { begun: now, first: line, next: line, last: now };
        }
        if self.writing.next == line {
            self.writing.next += u64::from(lines);
        }
        self.dma.write(line, lines, class, tag);
    }

    pub(super) fn begins_packet(&self, line: u64) -> bool {
        let within = |buffers: &Buffers| {
            let at = line.wrapping_sub(buffers.line);
            at < buffers.lines && at % buffers.step == 0
        };
        self.buffers.iter().any(within)
    }

    /// Counts the packet that was written last.
    pub(super) fn end_burst(&mut self) {
        let Writing { begun, first, next, last } = self.writing;
        if next > first && last > begun {
            self.counters.bursts += 1;
            self.counters.burst_ps += last.since(begun);
            self.counters.burst_lines += next - first;
        }
    }

    /// A core wants rows to be cloned: the command goes over the channel.
    pub(super) fn command(&mut self, packet: PacketId, context: &mut Context) {
        let line = memory_of(1) / 64;
        let id = dma::request(Kind::Flush, line, 0, 0, context);
        self.commands.push((id, packet));
        self.port.want(id, Slot::Write, context);
    }

    /// Rows are cloned.
    pub(super) fn on_cloned(&mut self, packet: PacketId, context: &mut Context) {
        let Some(clone) = self.clones.end(packet) else { return };
        let now = context.now();
        if clone.received {
            context.send(clone.core, self.to_cha_ps + self.to_core_ps, Payload::Cloned(packet));
        } else {
            context.packets.get_mut(packet).end(Stage::TxCopy, now);
            self.tell_nic(Access::Doorbell { id: packet, core: clone.core }, context);
        }
    }
}
