//! Ends of datagram flows at a network core: UDP sockets, and the kernel's packet generator.
//!
//! They take turns with the ends of TCP streams. Their numbers follow those of the streams.

mod forward;
mod numbers;
mod params;
mod rows;

pub(in crate::os) use numbers::DatagramEnds;
pub use params::DatagramEndParams;

use super::output::Output;
use super::{end_allocation, FlowEnds};
use crate::flow::Datagrams;
use crate::line::{Content, Ecn, Packet, PacketId};
use crate::os::counters::{CoreTimeKind, SocketCounts};
use crate::os::dimm::DimmDriver;
use crate::os::lines::Lines;
use crate::os::task::{NextWork, Task};
use crate::params::{LineSize, StackParams, Traffic, UDP_HEADER_BYTES};
use crate::part::{Context, Payload};
use crate::transport::stage_times::Stage;
use crate::transport::udp::Datagram;
use forward::PacketForwarding;
use hostnet_kernel::Time;
use rows::DatagramRows;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes of an Ethernet header, before the IP header in memory.
const ETHERNET_BYTES: u64 = 14;

/// One end of a datagram flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::os) struct DatagramEnd {
    pub(in crate::os) params: DatagramEndParams,
    pub(in crate::os) application: Datagrams,
    pub(in crate::os) counts: SocketCounts,
    /// Datagrams that have arrived and are unread, each with the first virtual line of its frame; and their bytes of
    /// data.
    arrived: VecDeque<(Datagram, u64)>,
    arrived_bytes: u64,
    /// Datagrams that were written and are sent next, each with its virtual line.
    written: VecDeque<(Datagram, u64)>,
    /// Bytes that were written and have not left the NIC, and offset of the next write in the buffer.
    out_bytes: u64,
    write_at: u64,
    /// Datagram that the current call sends; and datagram that it reads, with the first virtual line of its frame.
    sending: Option<Datagram>,
    reading: Option<(Datagram, u64)>,
    /// Forwarding of the datagrams that arrive here, if they are forwarded.
    forwarding_to: Option<PacketForwarding>,
    /// Memory of the datagrams, for a NIC in a DIMM.
    rows: DatagramRows,
    begun: bool,
    /// True if the application is queued for its turn; if it sleeps; if it waits for room.
    ready: bool,
    asleep: bool,
    blocked: bool,
    /// Time of the event that will wake the application.
    wake_at: Option<Time>,
}

/// Next work of the core for the application of an end of datagrams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::os) enum DatagramWork {
    /// A system call that moves `bytes` bytes.
    Call { bytes: u64, reads: bool, asleep: bool },
    /// The packet generator of the kernel hands the NIC a packet again that it has written before.
    Generate(Packet),
    /// A network function inspects a packet that is forwarded: bytes of its data, and work before the read, in ps.
    Forward { bytes: u64, work_ps: u64 },
    /// There is no work.
    Nothing,
}

impl DatagramEnd {
    fn new(params: DatagramEndParams) -> Self {
        let start = Time::from_ps(params.start_ps.max(1));
        Self {
            application: Datagrams::new(&params.traffic, params.initiator, start),
            counts: SocketCounts::default(),
            arrived: VecDeque::new(),
            arrived_bytes: 0,
            written: VecDeque::new(),
            out_bytes: 0,
            write_at: 0,
            sending: None,
            reading: None,
            forwarding_to: None,
            rows: DatagramRows::default(),
            begun: false,
            ready: false,
            asleep: true,
            blocked: false,
            wake_at: None,
            params,
        }
    }

    /// Returns true if the end sends packets that arrived at another end.
    pub(in crate::os) fn forwards(&self) -> bool {
        self.params.initiator && matches!(self.params.traffic, Traffic::Forward(_))
    }

    fn generates(&self) -> bool {
        self.params.initiator && matches!(self.params.traffic, Traffic::Generate { .. })
    }

    /// Queues a datagram that has arrived. Returns false if the datagram is dropped because the socket has no room.
    fn keep(&mut self, datagram: Datagram, line: u64) -> bool {
        let bytes = u64::from(datagram.bytes);
        self.counts.delivered += 1;
        // An empty socket takes any datagram, however small its buffer is.
        if self.arrived_bytes + bytes > self.params.udp.buffer_bytes && !self.arrived.is_empty() {
            self.counts.dropped += 1;
            return false;
        }
        self.counts.segments += 1;
        self.arrived_bytes += bytes;
        self.arrived.push_back((datagram, line));
        true
    }

    /// Returns true if another datagram may be written: as long as the data in the buffer is below the size of the
    /// buffer, so that one datagram always fits. The packet generator always may.
    fn has_room(&self) -> bool {
        // Below and not at the limit: the last datagram may exceed the buffer, as in Linux.
        self.generates() || (self.out_bytes < self.params.udp.buffer_bytes && self.rows.have_room())
    }

    /// Returns true if the end has waited for room and may continue. A socket waits until half of its buffer is free,
    /// as in Linux.
    fn resume(&mut self) -> bool {
        // Half, as `sock_def_write_space` of Linux, so that a sender does not wake for every datagram.
        let free = self.generates() || 2 * self.out_bytes <= self.params.udp.buffer_bytes;
        let resume = self.blocked && free;
        self.blocked &= !resume;
        resume
    }

    /// Returns the virtual line for a datagram that is written now. Once all data has been sent, the buffer is used
    /// from its start again.
    fn place(&mut self, index: usize, bytes: u32, output: &Output) -> u64 {
        if self.out_bytes == 0 {
            self.write_at = 0;
        }
        let line = output.buffer(index).line(self.write_at);
        // Datagrams begin at a line, because the NIC reads whole lines.
        self.write_at += u64::from(bytes).next_multiple_of(64);
        line
    }

    fn packet(&self, datagram: Datagram, line: u64) -> Packet {
        Packet {
            flow: self.params.flow,
            from: self.params.host,
            to: self.params.peer,
            ip_bytes: datagram.ip_bytes(),
            // UDP has no congestion control that would react to marks.
            ecn: Ecn::NotCapable,
            priority: self.params.priority,
            corrupt: false,
            copy: false,
            queue: 0,
            order: 0,
            line,
            content: Content::Udp(datagram),
            next: PacketId::NONE,
        }
    }

    /// Takes the oldest datagram that has arrived, and passes the lines to read for it to `source`. A burst that is
    /// less than half full is not counted.
    fn take(&mut self, size: LineSize, source: impl FnOnce(u64, u32)) -> Option<(Datagram, u64)> {
        let (datagram, line) = self.arrived.pop_front()?;
        self.arrived_bytes -= u64::from(datagram.bytes);
        let line_bytes = size.bytes();
        // Rounds up to whole lines; bursts are rounded to the nearest, so that the mean is right.
        let fill = if size.is_burst() { line_bytes / 2 } else { line_bytes - 1 };
        let first = ETHERNET_BYTES + u64::from(UDP_HEADER_BYTES);
        let (from, past) = (first / line_bytes, (first + u64::from(datagram.bytes) + fill) / line_bytes);
        if past > from {
            source(line + from, (past - from) as u32);
        }
        Some((datagram, line))
    }
}

impl FlowEnds {
    /// Adds ends of datagram flows, whose NIC has a send ring of `ring_descriptors`.
    ///
    /// # Panics
    /// Panics if two ends belong to one flow.
    pub(in crate::os) fn add_datagrams(&mut self, ends: Vec<DatagramEndParams>, ring_descriptors: u64) {
        let first = self.sockets.len();
        self.add_flows((first as u32..).zip(&ends).map(|(index, end)| (end.flow, index)));
        // The ends of datagrams take a share of the send memory each, so the shares shrink.
        self.output.divide(first + ends.len());
        for (index, socket) in self.sockets.iter_mut().enumerate() {
            socket.send_only_from(self.output.buffer(index));
        }
        let ends = ends.into_iter().map(DatagramEnd::new).collect();
        self.datagrams = DatagramEnds { ends, first, descriptors: 0, ring_descriptors };
        for end in 0..self.datagrams.ends.len() {
            if let Some((flow, forward)) = self.datagrams.forwarding(end) {
                let taken = self.end_of(flow).and_then(|index| self.datagrams.get_mut(index));
                taken.into_iter().for_each(|taken| taken.forwarding_to = Some(forward));
            }
        }
    }

    /// Returns the end of datagrams of a flow.
    pub(in crate::os) fn datagram_end_of(&mut self, flow: u32) -> Option<&mut DatagramEnd> {
        let index = self.end_of(flow)?;
        self.datagrams.get_mut(index)
    }

    /// Chooses the next work of the application of an end in its turn. An initiator reads before it writes; an end
    /// that answers writes its answer first.
    pub(in crate::os) fn next_datagram_work(&mut self, index: usize, context: &mut Context) -> DatagramWork {
        let now = context.now();
        if let Some(forwarding_to) = self.datagrams.of_index(index).forwarding_to {
            return self.datagrams.next_forward(index, forwarding_to, now);
        }
        let ring_is_full = self.datagrams.is_ring_full();
        let Self { datagrams, output, .. } = self;
        let end = &mut datagrams.ends[index - datagrams.first];
        let asleep = end.asleep;
        let answers = !end.params.initiator;
        let may_write = end.has_room() && !ring_is_full;
        // Only an end that wants to write waits for room; others are woken by arrivals.
        end.blocked = !may_write && end.application.may_send(now);
        // An initiator reads first, so that answers do not pile up behind its requests.
        let writes = may_write && (answers || end.arrived.is_empty());
        let datagram = if writes { end.application.next(now) } else { None };
        // An answering end that is blocked does not read: the answer would find no room.
        let work = match (datagram, end.arrived.front().filter(|_| !(answers && end.blocked))) {
            // The first packet is written by a call; the generator then sends it again and again.
            (Some(datagram), _) if end.generates() && datagram.number > 0 => {
                DatagramWork::Generate(end.packet(datagram, output.buffer(index).line(0)))
            }
            (Some(datagram), _) => {
                end.sending = Some(datagram);
                DatagramWork::Call { bytes: datagram.bytes.into(), reads: false, asleep }
            }
            (None, Some((datagram, _))) => DatagramWork::Call { bytes: datagram.bytes.into(), reads: true, asleep },
            (None, None) => DatagramWork::Nothing,
        };
        end.asleep = work == DatagramWork::Nothing;
        end.ready = work != DatagramWork::Nothing;
        if let DatagramWork::Call { reads, .. } = work {
            let read = end.arrived.front_mut().filter(|_| reads);
            read.into_iter().for_each(|(datagram, _)| datagram.stage_times.end(Stage::RxDriver, now));
            end.counts.calls += 1;
            end.counts.wakes += u64::from(asleep);
        }
        let next = [end.application.wake_at(), end.application.timer()].into_iter().flatten().min();
        // Only an earlier wake-up needs a new event.
        let wake_at = next.filter(|&at| at > now && end.wake_at.is_none_or(|pending| at < pending));
        if let Some(at) = wake_at {
            end.wake_at = Some(at);
            context.send(context.id, at.since(now), Payload::Begin { connection: index as u32 });
        }
        work
    }

    /// Begins the copy of a system call of an end of datagrams.
    pub(in crate::os) fn begin_datagram_copy(
        &mut self,
        index: usize,
        reads: bool,
        lines: &mut Lines,
        stack: &StackParams,
        dimm: Option<&DimmDriver>,
        context: &Context,
    ) {
        let Self { datagrams, output, .. } = self;
        let end = &mut datagrams.ends[index - datagrams.first];
        let class = end.params.class;
        if let (true, Some(forwarding_to)) = (reads, end.forwarding_to) {
            return end.begin_inspection(forwarding_to, lines, context);
        }
        if dimm.is_some_and(DimmDriver::is_in_place) && (reads || end.rows.written_once) {
            lines.set_in_place();
        }
        if reads {
            lines.begin_read(class);
            end.reading = end.take(stack.line_size, |line, count| lines.source(line, count));
            return;
        }
        let Some(datagram) = end.sending.take() else { return };
        let line = match dimm {
            None => end.place(index, datagram.bytes, output),
            Some(driver) => end.place_in_rows(index, datagram.bytes, output.buffer(index), driver),
        };
        end.out_bytes += u64::from(datagram.bytes);
        end.written.push_back((datagram, line));
        let count = stack.line_size.shrink(u64::from(datagram.bytes)).div_ceil(64);
        lines.begin_write(class, count, line, context);
    }

    /// Ends a system call: the application receives the data that was read, and data that was written is queued for
    /// output.
    pub(in crate::os) fn end_datagram_call(
        &mut self,
        index: usize,
        reads: bool,
        dimm: Option<&mut DimmDriver>,
        now: Time,
    ) {
        let Some(end) = self.datagrams.get_mut(index) else { return };
        let read = end.reading.take();
        if let Some((mut datagram, line)) = read {
            datagram.stage_times.end(Stage::RxCopy, now);
            end.application.receive(now, datagram);
            end.counts.read_bytes += u64::from(datagram.bytes);
            match (end.forwarding_to, dimm) {
                // The frame is kept: the NIC sends the packet from where it arrived.
                (Some(forwarding_to), _) => {
                    let sender = self.datagrams.forward(forwarding_to, datagram.bytes, line, now);
                    self.output.push(sender);
                }
                (None, Some(driver)) => driver.free_frame(line, datagram.ip_bytes()),
                (None, None) => {}
            }
        }
        let Some(end) = self.datagrams.get_mut(index) else { return };
        let sent = end.written.back_mut().filter(|_| !reads);
        sent.into_iter().for_each(|(datagram, _)| datagram.stage_times.end(Stage::TxCopy, now));
        self.ready.push_back(index as u32);
        if !reads {
            self.output.push(index as u32);
        }
    }

    /// Takes the next datagram that an end has written, as work of the core.
    pub(in crate::os) fn next_written(
        &mut self,
        index: usize,
        stack: &StackParams,
        in_place: bool,
        now: Time,
    ) -> Option<NextWork> {
        let end = self.datagrams.get_mut(index)?;
        let (datagram, line) = end.written.pop_front()?;
        let mut packet = end.packet(datagram, line);
        let allocation_ps = self.allocation_ps(Some(index), &packet.content, stack, in_place);
        end_allocation(&mut packet, Stage::TxDriver, Stage::TxCopy, allocation_ps, now);
        let work_ps = allocation_ps + stack.send_ps;
        Some(NextWork::Work(Task::Output { socket: index as u32, packet }, work_ps, CoreTimeKind::Send))
    }

    /// Queues a datagram that has arrived in its socket; one that finds no room is dropped.
    pub(in crate::os) fn keep_datagram(
        &mut self,
        index: usize,
        datagram: Datagram,
        line: u64,
        dimm: Option<&mut DimmDriver>,
    ) {
        let Some(end) = self.datagrams.get_mut(index) else { return };
        if !end.keep(datagram, line) {
            dimm.into_iter().for_each(|driver| driver.free_frame(line, datagram.ip_bytes()));
        }
        self.datagrams.queue_turn(index, &mut self.ready);
    }

    /// Counts a datagram that is handed to the NIC.
    pub(in crate::os) fn count_datagram(&mut self, index: usize, datagram: Datagram) {
        self.datagrams.descriptors += 1;
        let Some(end) = self.datagrams.get_mut(index) else { return };
        end.counts.sent += 1;
        end.counts.sent_bytes += u64::from(datagram.bytes);
        // A generated packet was not written by a call, so it is counted here.
        if end.generates() && datagram.number > 0 {
            end.out_bytes += u64::from(datagram.bytes);
            self.ready.push_back(index as u32);
        } else {
            end.counts.written_bytes += u64::from(datagram.bytes);
        }
    }

    /// Frees the descriptor and the memory of a datagram whose completion has arrived.
    pub(in crate::os) fn free_datagram(&mut self, index: usize, bytes: u32, dimm: Option<&mut DimmDriver>) {
        self.datagrams.descriptors -= 1;
        if let Some(end) = self.datagrams.get_mut(index) {
            end.out_bytes -= u64::from(bytes);
            let from = end.rows.sent_from.pop_front();
            // A forwarded datagram lies in the frame that it arrived in.
            let frame = if end.forwards() { ETHERNET_BYTES + u64::from(UDP_HEADER_BYTES) } else { 0 };
            end.rows.free_at.extend(end.rows.written_at.pop_front());
            if let (Some(driver), Some(line)) = (dimm, from) {
                driver.free(line, frame + u64::from(bytes));
            }
        }
        // The ring is shared, so its free descriptor may let any end continue.
        for index in self.datagrams.first..self.datagrams.first + self.datagrams.ends.len() {
            if self.datagrams.ends[index - self.datagrams.first].resume() {
                self.datagrams.queue_turn(index, &mut self.ready);
            }
        }
    }
}
