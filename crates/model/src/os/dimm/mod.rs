//! Driver of a NIC in a DIMM: it flushes lines that the NIC will read, invalidates lines that the NIC has written, and
//! has rows cloned instead of copying packets.
//!
//! To send, the driver flushes the data and, once memory has it, the line of the descriptor, which acts as the
//! doorbell. To receive, it invalidates and reads the completion and the first line of the packet; then the packet is
//! cloned to a buffer of its socket.

mod alloc;
mod receiving;

pub use alloc::AllocCache;
pub(super) use receiving::Arrival;

use super::counters::{CoreTimeKind, StackCounts};
use super::ends::FlowEnds;
use super::lines::Lines;
use super::task::{NextWork, Task};
use crate::lfb::Lfb;
use crate::line::{memory_of, Content, Packet, PacketId, Request, RequestId, RequestKind};
use crate::params::DimmDriverParams;
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Rng};
use receiving::{DimmReceiver, ETHERNET_BYTES};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Path from a driver to its DIMM.
#[derive(Clone, Debug)]
pub struct DimmPath {
    /// Id of the DIMM.
    pub dimm: ComponentId,
    /// Delay from a core to the host's end of the channel, in ps, at least 1.
    pub to_dimm_ps: u64,
    /// Behaviour of the driver.
    pub driver: DimmDriverParams,
    /// Lines per row.
    pub lines_per_row: u32,
    /// Rows that the largest packet takes.
    pub packet_rows: u32,
    /// Number of the queue. It offsets the first buffer, so that the buffers of different queues begin in different
    /// banks.
    pub queue: u16,
    /// Rows that the driver allocates.
    pub rows: AllocCache,
}

/// Line to be flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Flush {
    /// Physical line (address / 64).
    line: u64,
    kind: RequestKind,
    tag: u32,
    class: u8,
}

/// Progress of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum FlushStep {
    /// The stores of the job are in flight.
    Stores,
    /// The instructions that flush the data are executing.
    Flushes,
    /// The data is in flight to memory.
    Fence,
    /// The instruction that flushes the descriptor is executing.
    Doorbell,
}

/// Lines to flush before a doorbell or the tail of a ring. Jobs run in the order in which they were handed down.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FlushJob {
    step: FlushStep,
    lines: VecDeque<Flush>,
    /// Packet whose doorbell follows its data, and the command of its clone, if it is cloned.
    packet: PacketId,
    clone: Option<Payload>,
    doorbell: Option<Flush>,
}

/// Driver of a core for a NIC in a DIMM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DimmDriver {
    dimm: ComponentId,
    to_dimm_ps: u64,
    pub(super) params: DimmDriverParams,
    lines_per_row: u64,
    packet_rows: u64,
    queue: u64,
    pub(super) rows: AllocCache,
    rng: Rng,
    jobs: VecDeque<FlushJob>,
    flushes: VecDeque<Flush>,
    /// Flushes in flight.
    out: u32,
    receiving: DimmReceiver,
}

impl DimmDriver {
    /// Creates the driver, whose LFB entries draw their refill times from `rng`.
    pub(super) fn new(way: DimmPath, rng: Rng) -> Self {
        let DimmPath { dimm, to_dimm_ps, driver, lines_per_row, packet_rows, queue, rows } = way;
        Self {
            dimm,
            to_dimm_ps,
            params: driver,
            lines_per_row: lines_per_row.into(),
            packet_rows: packet_rows.into(),
            queue: queue.into(),
            rows,
            rng,
            jobs: VecDeque::new(),
            flushes: VecDeque::new(),
            out: 0,
            receiving: DimmReceiver::default(),
        }
    }

    /// Returns the number of rows of the DIMM that this core's driver has in use.
    pub(super) fn rows_handed_out(&self) -> u32 {
        self.rows.handed_out()
    }

    /// Returns the number of datagrams since the start of the run that found no free rows and stayed where they had
    /// arrived.
    pub(super) fn received_in_place(&self) -> u64 {
        self.receiving.in_place
    }

    /// Returns true if datagrams lie where the NIC reads and writes them, without a copy by the core.
    pub(super) fn is_in_place(&self) -> bool {
        !self.params.copy
    }

    /// Returns the row of the DIMM that holds a physical line.
    fn row(&self, line: u64) -> u32 {
        // The memory of the DIMM is that of node 1.
        ((line - memory_of(1) / 64) / self.lines_per_row) as u32
    }

    /// Returns the first physical line of a row.
    fn line(&self, row: u32) -> u64 {
        memory_of(1) / 64 + u64::from(row) * self.lines_per_row
    }

    /// Returns the number of rows that `lines` lines from `line` on occupy.
    fn rows_of(&self, line: u64, lines: u64) -> u32 {
        // A datagram without data still has a frame, and so a row.
        ((line % self.lines_per_row + lines).div_ceil(self.lines_per_row) as u32).max(1)
    }

    /// Returns the size of the buffer of a datagram, in bytes: whole rows, so that the buffer can be cloned as a
    /// whole.
    pub(super) fn buffer_bytes(&self) -> u64 {
        self.packet_rows * self.lines_per_row * 64
    }

    /// Returns the offset of the first buffer of an end in its memory, in bytes. Buffers of different ends begin in
    /// different banks.
    pub(super) fn first_buffer(&self, index: usize) -> u64 {
        (self.queue + index as u64) * self.buffer_bytes()
    }

    /// Returns the offset of a datagram in its row, in lines. Consecutive buffers use different sets of the caches, as
    /// in coloured slabs.
    pub(super) fn colour(&self, line: u64, bytes: u32) -> u64 {
        let lines = u64::from(bytes).div_ceil(64);
        // The last line of the datagram must still lie in its row.
        let room = self.lines_per_row.saturating_sub(lines) + 1;
        line / self.lines_per_row * lines % room
    }

    /// Allocates rows for a clone of `lines` lines from `line` on. Returns the first line of the clone and the
    /// command, or `None` if no rows are free.
    fn clone_of(&mut self, line: u64, lines: u64, packet: PacketId, received: bool) -> Option<(u64, Payload)> {
        let (from, count) = (self.row(line), self.rows_of(line, lines));
        // Near the source: a clone within the sub-array is the fastest.
        let to = self.rows.take(from, count)?;
        let within = line % self.lines_per_row;
        let command = Payload::Clone { from, to, packet, lines: (within + lines) as u16, received };
        Some((self.line(to) + within, command))
    }

    /// Frees the frame of `ip_bytes` that begins at a line.
    pub(super) fn free_frame(&mut self, line: u64, ip_bytes: u32) {
        self.free(line, u64::from(ip_bytes) + ETHERNET_BYTES);
    }

    /// Frees the buffer of a datagram that begins at a line, if the buffer consists of rows of this driver.
    pub(super) fn free(&mut self, line: u64, bytes: u64) {
        let row = self.row(line);
        if self.rows.owns(row) {
            let count = self.rows_of(line, bytes.div_ceil(64));
            self.rows.give_back(row, count);
        }
    }

    /// Hands a packet or segment down to the NIC: queues the flush of its data, its clone if it is cloned, and the
    /// flush of `descriptor`, which acts as the doorbell.
    pub(super) fn hand_down(
        &mut self,
        id: PacketId,
        class: u8,
        descriptor: u64,
        ends: &mut FlowEnds,
        lines: &mut Lines,
        context: &mut Context,
    ) {
        // The descriptor is stored first; its flush must find it in the cache.
        lines.post(descriptor, class, context);
        let packet = *context.packets.get(id);
        let (bytes, datagram) = match packet.content {
            Content::Udp(datagram) => (datagram.bytes, true),
            Content::Tcp(segment) => (segment.bytes, false),
            Content::Roce(_) | Content::Pool(_) | Content::Raw => (0, false),
        };
        let end = ends.datagram_end_of(packet.flow);
        let onward = end.as_ref().is_some_and(|end| end.forwards());
        let (again, written_once) = end.map_or((false, false), |end| end.written_before());
        // The packet generator writes its packet only once.
        let count = if again { 0 } else { u64::from(bytes).div_ceil(64) };
        let flush = |line: u64| Flush { line: lines.physical(line * 64), kind: RequestKind::Flush, tag: 0, class };
        let data: VecDeque<Flush> = (packet.line..packet.line + count).map(flush).collect();
        // A first datagram is copied: the buffer of its socket is not in the DIMM yet (docs/models/dimm.md).
        let cloned = datagram && count > 0 && written_once && !onward && self.params.clone && !self.params.copy;
        let clone = if cloned { self.clone_of(packet.line, count, id, false) } else { None };
        if let Some((line, _)) = clone {
            context.packets.get_mut(id).line = line;
        }
        let doorbell = Flush { kind: RequestKind::FlushDoorbell, tag: id.0, ..flush(descriptor / 64) };
        let clone = clone.map(|(_, command)| command);
        self.jobs.push_back(FlushJob {
            step: FlushStep::Stores,
            lines: data,
            packet: id,
            clone,
            doorbell: Some(doorbell),
        });
        if datagram {
            let Packet { flow, line, .. } = *context.packets.get(id);
            ends.datagram_end_of(flow).into_iter().for_each(|end| end.note_sent(line));
        }
    }

    /// Flushes the lines of descriptors that are returned to a receive ring. The last of them makes the tail visible
    /// to the NIC.
    pub(super) fn flush_tail(
        &mut self,
        addresses: &[u64],
        queue: u16,
        count: u16,
        armed: bool,
        class: u8,
        lines: &Lines,
    ) {
        let tag = u32::from(armed) << 31 | u32::from(queue) << 16 | u32::from(count);
        let flush = |&address: &u64| Flush { line: lines.physical(address), kind: RequestKind::Flush, tag: 0, class };
        let mut lines: VecDeque<Flush> = addresses.iter().map(flush).collect();
        // The tail becomes visible last, when all descriptors before it are in memory.
        if let Some(last) = lines.back_mut() {
            *last = Flush { kind: RequestKind::FlushTail, tag, ..*last };
        }
        self.jobs.push_back(FlushJob {
            step: FlushStep::Flushes,
            lines,
            packet: PacketId::NONE,
            clone: None,
            doorbell: None,
        });
    }

    /// Chooses the next work of the core for lines to flush.
    pub(super) fn next_flush(
        &mut self,
        lines: &mut Lines,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) -> Option<NextWork> {
        self.pump(lines, lfb, counts, context);
        let stores = lines.stores_pending();
        let job = self.jobs.front_mut()?;
        let flush_ps = self.params.flush_ps;
        let work = |lines: u64| Some(NextWork::Work(Task::Flush, lines * flush_ps, CoreTimeKind::Send));
        match job.step {
            // A flush must not overtake the stores to its line.
            FlushStep::Stores if stores => Some(NextWork::Wait(CoreTimeKind::Register)),
            FlushStep::Stores => {
                job.step = FlushStep::Flushes;
                work(job.lines.len() as u64)
            }
            FlushStep::Flushes => work(job.lines.len() as u64),
            FlushStep::Fence if self.out > 0 || !self.flushes.is_empty() => {
                Some(NextWork::Wait(CoreTimeKind::Register))
            }
            FlushStep::Fence => {
                job.step = FlushStep::Doorbell;
                // The data is in memory now, so the clone copies it and not an older row.
                if let Some(command) = job.clone {
                    context.send(self.dimm, self.to_dimm_ps, command);
                }
                work(1)
            }
            FlushStep::Doorbell => work(1),
        }
    }

    /// Ends the flush instructions of a job. `next_descriptor` is the line of the next descriptor, which is fetched
    /// before it is needed.
    pub(super) fn end_flush(
        &mut self,
        next_descriptor: u64,
        lines: &mut Lines,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) {
        let Some(job) = self.jobs.front_mut() else { return };
        self.flushes.append(&mut job.lines);
        let rings = job.step == FlushStep::Doorbell;
        let class = job.doorbell.map_or(0, |doorbell| doorbell.class);
        if rings || job.doorbell.is_none() {
            self.flushes.extend(job.doorbell);
            self.jobs.pop_front();
        } else {
            job.step = FlushStep::Fence;
        }
        self.pump(lines, lfb, counts, context);
        // Stored ahead, so that its line is in the cache when the next packet needs it.
        if rings {
            lines.post(next_descriptor, class, context);
            lines.push_stores(lfb, counts, context);
        }
    }

    /// Issues flushes while the LFB has free entries, once earlier stores are in the caches.
    fn pump(&mut self, lines: &mut Lines, lfb: &mut Lfb, counts: &mut StackCounts, context: &mut Context) {
        lines.push_stores(lfb, counts, context);
        // A line that is flushed before its store arrives would reach memory without the new data.
        if lines.stores_pending() {
            return;
        }
        let (cha, to_cha_ps) = lines.cha();
        while lfb.idle > 0 {
            let Some(Flush { line, kind, tag, class }) = self.flushes.pop_front() else { return };
            let now = context.now();
            lfb.take(class, now);
            // The entry only writes, so its time as a read is zero.
            lfb.read.release(now, class, now);
            lfb.turn(class, now);
            let id = lfb.request(line, class, false, tag, context);
            context.requests.get_mut(id).kind = kind;
            self.out += 1;
            context.send(cha, to_cha_ps, Payload::Arrive(id));
        }
    }

    /// Frees the LFB entry of a flushed line that the CHA has admitted.
    pub(super) fn on_admitted(&mut self, id: RequestId, lfb: &mut Lfb, context: &mut Context) {
        let Request { class, since, entered, .. } = *context.requests.get(id);
        // Marks the entry as freed, so that `on_flushed` does not free it again.
        context.requests.get_mut(id).for_store = true;
        lfb.write.release(context.now(), class, since);
        lfb.free(class, entered, &mut self.rng, context);
    }

    /// Ends the flush of a line, which memory holds now.
    pub(super) fn on_flushed(
        &mut self,
        id: RequestId,
        lines: &mut Lines,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) {
        // A clean line is acknowledged without an admission, so the entry is freed here.
        if !context.requests.get(id).for_store {
            self.on_admitted(id, lfb, context);
        }
        context.requests.remove(id);
        self.out -= 1;
        self.pump(lines, lfb, counts, context);
    }
}
