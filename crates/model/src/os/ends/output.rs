//! Output of a core: segments of data and acknowledgements from TCP to the NIC; and the timers of TCP.

use super::buffer::Buffer;
use super::socket::Socket;
use super::FlowEnds;
use crate::line::{Content, Ecn, Packet, PacketId};
use crate::os::counters::CoreTimeKind;
use crate::os::execution::Execution;
use crate::os::region::Region;
use crate::os::task::{NextWork, Task};
use crate::params::{LineSize, StackParams};
use crate::part::{Context, Payload};
use crate::transport::tcp::Segment;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes of the headers of IP (20) and TCP (20, timestamps 12).
const HEADER_BYTES: u32 = 52;
/// Minimum memory that a socket sends from: well above a segment and a system call, which may extend past its end. With
/// many sockets these buffers overlap.
const SHARE_BYTES: u64 = 1 << 20;

/// Connections with output, and the memory that they send from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::os) struct Output {
    /// Connections that may have something to send.
    waiting: VecDeque<u32>,
    region: Region,
    /// Bytes of the region per socket.
    share: u64,
    line_size: LineSize,
}

impl Output {
    pub(in crate::os) fn new(region: Region, sockets: usize, line_size: LineSize) -> Self {
        let mut output = Self { waiting: VecDeque::new(), region, share: region.bytes, line_size };
        output.divide(sockets);
        output
    }

    /// Divides the region among `sockets` sockets.
    pub(in crate::os) fn divide(&mut self, sockets: usize) {
        // Whole MiB, so that a segment at the start of a share is aligned to pages.
        let share = self.region.bytes / (sockets.max(1) as u64) / SHARE_BYTES * SHARE_BYTES;
        self.share = share.max(SHARE_BYTES);
    }

    /// Returns true if a connection may have something to send.
    pub(in crate::os) fn wants(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Queues an end of datagrams that has something to send.
    pub(in crate::os) fn push(&mut self, socket: u32) {
        self.waiting.push_back(socket);
    }

    /// Removes the entries of a socket.
    pub(in crate::os) fn forget(&mut self, socket: u32) {
        self.waiting.retain(|&other| other != socket);
    }

    /// Returns the memory that a socket sends from.
    pub(in crate::os) fn buffer(&self, socket: usize) -> Buffer {
        // With more shares than fit they overlap, which only matters to the caches.
        let first = socket as u64 * self.share % self.region.bytes;
        Buffer { base: self.region.base + first, share: self.share, line_size: self.line_size }
    }
}

impl FlowEnds {
    /// Queues a connection that may have something to send, unless it is queued.
    pub(in crate::os) fn queue_output(&mut self, index: usize) {
        let socket = &mut self.sockets[index];
        // One place in the queue per socket keeps the round robin fair.
        if !socket.sending {
            socket.sending = true;
            self.output.waiting.push_back(index as u32);
        }
    }

    /// Chooses the next segment or datagram to send, round robin over connections; `in_place` is true if datagrams
    /// need no copy.
    pub(in crate::os) fn next_output(
        &mut self,
        stack: &StackParams,
        in_place: bool,
        execution: &mut Execution,
        context: &mut Context,
    ) -> Option<NextWork> {
        while let Some(index) = self.output.waiting.pop_front() {
            if index as usize >= self.sockets.len() {
                let work = self.next_written(index as usize, stack, in_place, context.now());
                if work.is_some() {
                    return work;
                }
                continue;
            }
            let socket = &mut self.sockets[index as usize];
            socket.sending = false;
            // Without a segment nothing is sent; the timer covers what is in flight.
            let Some(packet) = socket.next_segment(context.now()) else {
                self.set_timer(index as usize, execution, context);
                continue;
            };
            // Headers alone are an acknowledgement.
            let (ps, spent) = if packet.ip_bytes > HEADER_BYTES {
                let allocation_ps = self.allocation_ps(Some(index as usize), &packet.content, stack, in_place);
                (allocation_ps + stack.send_ps, CoreTimeKind::Send)
            } else {
                (stack.ack_ps, CoreTimeKind::Softirq)
            };
            self.queue_output(index as usize);
            return Some(NextWork::Work(Task::Output { socket: index, packet }, ps, spent));
        }
        None
    }

    /// Counts a segment of a socket that is handed to the NIC, and marks it if the host marks data that leaves.
    pub(in crate::os) fn count_segment(&mut self, index: usize, segment: &Segment, packet: &mut Packet) {
        let socket = &mut self.sockets[index];
        let bytes = u64::from(segment.bytes);
        if self.mark_outgoing && bytes > 0 && packet.ecn == Ecn::Capable {
            packet.ecn = Ecn::Marked;
            // Counted in packets, as the NIC cuts the segment and copies the mark.
            socket.counts.marked_by_host += u64::from(segment.bytes.div_ceil(socket.params.tcp.mss_bytes));
        }
        socket.in_nic += bytes;
        socket.counts.sent_bytes += bytes;
        socket.counts.sent += u64::from(bytes > 0);
        socket.counts.acks += u64::from(bytes == 0);
    }

    /// Takes bytes of a socket out of those at the NIC: they have left the machine.
    pub(in crate::os) fn end_sent(&mut self, index: usize, bytes: u32) {
        let socket = &mut self.sockets[index];
        // Bytes sent before a migration may be reported to a socket that has none at the NIC.
        socket.in_nic = socket.in_nic.saturating_sub(u64::from(bytes));
        self.queue_output(index);
    }

    /// Schedules an event for the timer of a connection, unless an earlier one is pending. If the timer has moved to a
    /// later time, that event schedules the next.
    pub(in crate::os) fn set_timer(&mut self, index: usize, execution: &mut Execution, context: &mut Context) {
        let socket = &mut self.sockets[index];
        let Some(at) = socket.connection.timer().filter(|_| socket.present) else { return };
        // The pending event is early enough; it sets the next when it fires.
        if socket.timer_at.is_some_and(|pending| pending <= at) {
            return;
        }
        socket.timer_at = Some(at);
        socket.generation = socket.generation.wrapping_add(1);
        let delay = at.ps().saturating_sub(context.now().ps()).max(1);
        let generation = socket.generation;
        context.send(context.id, delay, Payload::Timer { connection: index as u32, generation });
        execution.note_timer(context.now(), at, index);
    }

    /// Handles the event of a timer. The event is ignored if a later one has replaced it.
    pub(in crate::os) fn on_timer(
        &mut self,
        index: usize,
        generation: u32,
        execution: &mut Execution,
        context: &mut Context,
    ) {
        let socket = &mut self.sockets[index];
        // Events cannot be cancelled, so a replaced one is recognised by its number.
        if socket.generation != generation {
            return;
        }
        socket.timer_at = None;
        let now = context.now();
        // The timer may have moved on while its event was pending.
        if socket.connection.timer().is_some_and(|at| at <= now) {
            socket.fired_at = Some(now);
            socket.connection.on_timer(now);
            self.queue_output(index);
        }
        self.set_timer(index, execution, context);
    }

    /// Returns the time at which the timer of a connection is due, if it is set.
    pub(in crate::os) fn timer_of(&self, index: usize) -> Option<Time> {
        self.sockets.get(index)?.connection.timer()
    }

    /// Returns true if the event at `now` is of a timer that was moved or cancelled, which causes no interrupt.
    pub(in crate::os) fn is_cancelled_timer(&self, payload: Payload, now: Time) -> bool {
        let Payload::Timer { connection, .. } = payload else { return false };
        let Some(socket) = self.sockets.get(connection as usize) else { return false };
        socket.fired_at != Some(now)
    }
}

impl Socket {
    /// Returns the next segment that the connection may send and the NIC has room for, as a packet.
    fn next_segment(&mut self, now: Time) -> Option<Packet> {
        // A flow that reaches its limit at the NIC sends no acknowledgements, either.
        let segment = if self.stays() && self.may_send() { self.connection.next(now) } else { None }?;
        let capable = self.connection.ecn_capable(&segment);
        Some(Packet {
            flow: self.params.flow,
            from: self.params.host,
            to: self.params.peer,
            ip_bytes: segment.bytes + HEADER_BYTES,
            ecn: if capable { Ecn::Capable } else { Ecn::NotCapable },
            priority: self.params.priority,
            corrupt: false,
            copy: false,
            queue: 0,
            order: 0,
            line: self.line(segment.sequence),
            content: Content::Tcp(segment),
            next: PacketId::NONE,
        })
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
