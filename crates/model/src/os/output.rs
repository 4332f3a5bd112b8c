//! What goes out: segments of data and acknowledgements, on their way from TCP to the NIC; and the timers of TCP.

use super::books::Spent;
use super::moving::TO_CORE_PS;
use super::region::Region;
use super::run::{Choice, Task};
use super::NetStack;
use crate::line::{Content, Ecn, Packet, PacketId};
use crate::params::LineSize;
use crate::part::{Context, Payload};
use crate::transport::journey::Stage;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes of the headers of IP (20) and TCP (20, timestamps 12).
const HEADER_BYTES: u32 = 52;
/// The least memory that a socket sends from: well above a segment and a system call, which run past its end. With many
/// sockets they overlap.
const SHARE_BYTES: u64 = 1 << 20;

/// The way out of a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Output {
    /// Connections that may have something to send.
    waiting: VecDeque<u32>,
    region: Region,
    /// Bytes of it that each socket has.
    share: u64,
    line_size: LineSize,
}

impl Output {
    pub(super) fn new(region: Region, sockets: usize, line_size: LineSize) -> Self {
        let mut output = Self { waiting: VecDeque::new(), region, share: region.bytes, line_size };
        output.divide(sockets);
        output
    }

    /// Gives each of so many sockets its share.
    pub(super) fn divide(&mut self, sockets: usize) {
        let share = self.region.bytes / (sockets.max(1) as u64) / SHARE_BYTES * SHARE_BYTES;
        self.share = share.max(SHARE_BYTES);
    }

    /// Whether a connection may have something to send.
    pub(super) fn wants(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A socket has something to send that has no other way out.
    pub(super) fn push(&mut self, socket: u32) {
        self.waiting.push_back(socket);
    }

    /// A socket has nothing to send here any more.
    pub(super) fn forget(&mut self, socket: u32) {
        self.waiting.retain(|&other| other != socket);
    }

    /// Where a socket sends from.
    pub(super) fn buffer(&self, socket: usize) -> Buffer {
        let first = socket as u64 * self.share % self.region.bytes;
        Buffer { base: self.region.base + first, share: self.share, line_size: self.line_size }
    }
}

/// The memory that a socket sends from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Buffer {
    base: u64,
    share: u64,
    line_size: LineSize,
}

impl Buffer {
    /// A file in its place, which is sent again from its beginning when its end comes.
    pub(super) fn of_file(self, file: Region) -> Self {
        Self { base: file.base, share: file.bytes, ..self }
    }

    /// How many buffers of `unit` bytes fit.
    pub(super) fn places(&self, unit: u64) -> usize {
        (self.share / unit) as usize
    }

    /// The line of virtual memory where a byte of the stream lies. What follows lies behind it, past the end of the
    /// share too.
    pub(super) fn line(&self, byte: u64) -> u64 {
        (self.base + self.line_size.shrink(byte % self.share)) / 64
    }
}

impl NetStack {
    /// A connection may have something to send.
    pub(super) fn want_output(&mut self, index: usize) {
        let socket = &mut self.sockets[index];
        if !socket.sending {
            socket.sending = true;
            self.output.waiting.push_back(index as u32);
        }
    }

    /// The next segment to send, of the connections in turn.
    pub(super) fn next_output(&mut self, context: &mut Context) -> Option<Choice> {
        while let Some(index) = self.output.waiting.pop_front() {
            if index as usize >= self.sockets.len() {
                let work = self.next_written(index as usize, context.now());
                if work.is_some() {
                    return work;
                }
                continue;
            }
            let socket = &mut self.sockets[index as usize];
            socket.sending = false;
            let segment =
                if socket.stays() && socket.may_send() { socket.connection.next(context.now()) } else { None };
            let Some(segment) = segment else {
                self.set_timer(index as usize, context);
                continue;
            };
            let capable = socket.connection.ecn_capable(&segment);
            let packet = Packet {
                flow: socket.params.flow,
                from: socket.params.host,
                to: socket.params.peer,
                ip_bytes: segment.bytes + HEADER_BYTES,
                ecn: if capable { Ecn::Capable } else { Ecn::NotCapable },
                priority: socket.params.priority,
                corrupt: false,
                copy: false,
                queue: 0,
                order: 0,
                line: socket.line(segment.sequence),
                content: Content::Tcp(segment),
                next: PacketId::NONE,
            };
            let (ps, spent) = if segment.bytes > 0 {
                (self.allocation_ps(Some(index as usize), &packet.content) + self.stack.send_ps, Spent::Send)
            } else {
                (self.stack.ack_ps, Spent::Softirq)
            };
            self.want_output(index as usize);
            return Some(Choice::Work(Task::Output { socket: index, packet }, ps, spent));
        }
        None
    }

    /// A segment is ready for the NIC.
    pub(super) fn end_output(&mut self, index: usize, mut packet: Packet, context: &mut Context) {
        let by = if index < self.sockets.len() { self.sends_by(index) } else { None };
        let class = self.class_of(index);
        if let Content::Udp(datagram) = packet.content {
            self.count_datagram(index, datagram);
        }
        if let Content::Tcp(segment) = packet.content {
            let socket = &mut self.sockets[index];
            let bytes = u64::from(segment.bytes);
            if self.mark_outgoing && bytes > 0 && packet.ecn == Ecn::Capable {
                packet.ecn = Ecn::Marked;
                socket.counts.marked_by_host += u64::from(segment.bytes.div_ceil(socket.params.tcp.mss_bytes));
            }
            socket.in_nic += bytes;
            socket.counts.sent_bytes += bytes;
            socket.counts.sent += u64::from(bytes > 0);
            socket.counts.acks += u64::from(bytes == 0);
        }
        packet.end(Stage::TxDriver, context.now());
        let id = context.packets.insert(packet);
        if let Some(core) = by {
            context.send(core, TO_CORE_PS, Payload::Transmit(id));
            return;
        }
        if self.mcn.is_some() && self.goes_by_ring(id, context) {
            return;
        }
        self.hand_down(id, class, context);
    }

    /// The completion of a segment is there: its data has left the NIC.
    pub(super) fn on_sent(&mut self, flow: u32, bytes: u32, context: &mut Context) {
        let completion = self.rings.sent.next_line();
        let Some(index) = self.end_of(flow) else {
            if let Some(elsewhere) = self.moving.find(flow) {
                self.lines.know(completion, false, elsewhere.class, context);
                context.send(elsewhere.core, TO_CORE_PS, Payload::Left { flow, bytes });
            }
            return;
        };
        let class = self.class_of(index);
        if index >= self.sockets.len() {
            self.forget(completion, context);
            self.lines.know_in_turn(completion, class, context);
            return self.free_datagram(index, bytes);
        }
        self.forget(completion, context);
        self.lines.know(completion, false, class, context);
        self.leave(index, bytes);
    }

    /// What caches have of a line that a NIC in a DIMM has written is out of date.
    fn forget(&self, address: u64, context: &mut Context) {
        if self.driver.is_some() {
            let line = self.lines.physical(address);
            context.caches.own().into_iter().for_each(|caches| caches.io_invalidate(line));
        }
    }

    /// Data of a socket has left by the queue of another core.
    pub(super) fn on_left(&mut self, flow: u32, bytes: u32, context: &mut Context) {
        match (self.socket_of(flow), self.moving.find(flow)) {
            (Some(index), _) => self.leave(index, bytes),
            (None, Some(elsewhere)) => context.send(elsewhere.core, TO_CORE_PS, Payload::Left { flow, bytes }),
            (None, None) => {}
        }
    }

    /// Bytes of a socket have left its machine.
    pub(super) fn leave(&mut self, index: usize, bytes: u32) {
        let socket = &mut self.sockets[index];
        socket.in_nic = socket.in_nic.saturating_sub(u64::from(bytes));
        self.want_output(index);
    }

    /// Sees to it that an event comes no later than the connection's timer; a timer that was moved ahead is looked at
    /// again then.
    pub(super) fn set_timer(&mut self, index: usize, context: &mut Context) {
        let socket = &mut self.sockets[index];
        let Some(at) = socket.connection.timer().filter(|_| socket.present) else { return };
        if socket.timer_at.is_some_and(|pending| pending <= at) {
            return;
        }
        socket.timer_at = Some(at);
        socket.generation = socket.generation.wrapping_add(1);
        let delay = at.ps().saturating_sub(context.now().ps()).max(1);
        let generation = socket.generation;
        context.send(context.id, delay, Payload::Timer { connection: index as u32, generation });
        self.note_timer(context.now(), at, index);
    }

    /// The event of a timer has come.
    pub(super) fn on_timer(&mut self, connection: u32, generation: u32, context: &mut Context) {
        let index = connection as usize;
        let socket = &mut self.sockets[index];
        if socket.generation != generation {
            return;
        }
        socket.timer_at = None;
        let now = context.now();
        if socket.connection.timer().is_some_and(|at| at <= now) {
            socket.fired_at = Some(now);
            socket.connection.on_timer(now);
            self.want_output(index);
        }
        self.set_timer(index, context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stream_lies_in_the_share_of_its_socket(
            pages in 0_u64..16,
            sockets in 1_usize..40,
            socket in 0_usize..40,
            bytes in prop::collection::vec(any::<u64>(), 1..50),
        ) {
            let region = Region { base: pages * 4096, bytes: 8 << 20 };
            let socket = socket % sockets;
            let output = Output::new(region, sockets, LineSize::LINE);
            let buffer = output.buffer(socket);
            let first = buffer.line(0) * 64;
            prop_assert!(first % 4096 == 0 && first >= region.base && first < region.base + region.bytes);
            for byte in bytes {
                let line = buffer.line(byte) * 64;
                prop_assert!(line >= first && line < first + output.share && line < region.base + region.bytes);
                prop_assert_eq!(buffer.line(byte % output.share) * 64, line);
            }
            let other = output.buffer((socket + 1) % sockets).line(0) * 64;
            prop_assert!(sockets == 1 || sockets > 8 || other >= first + output.share || other < first);
        }
    }
}
