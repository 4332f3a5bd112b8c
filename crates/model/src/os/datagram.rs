//! The ends of flows of datagrams at a network core: sockets of UDP, and the kernel's generator of packets.
//!
//! They take part in the turns of the core as the ends of streams do. Their numbers follow those.

mod params;
mod rows;

pub use params::DatagramEndParams;

use super::books::{SocketCounts, Spent};
use super::forward::Onward;
use super::output::Output;
use super::run::{Choice, Task};
use super::NetStack;
use crate::flow::Datagrams;
use crate::line::{Content, Ecn, Packet, PacketId};
use crate::params::{LineSize, Traffic};
use crate::part::{Context, Payload};
use crate::transport::journey::Stage;
use crate::transport::udp::{Datagram, HEADER_BYTES};
use hostnet_kernel::Time;
use rows::Rows;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes of an Ethernet header, before the IP header in memory.
pub(super) const ETHERNET_BYTES: u64 = 14;

/// One end of a flow of datagrams.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DatagramEnd {
    pub(super) params: DatagramEndParams,
    pub(super) application: Datagrams,
    pub(super) counts: SocketCounts,
    /// What has come and is not yet read, with the physical line that its frame begins at; and its data.
    pub(super) come: VecDeque<(Datagram, u64)>,
    pub(super) come_bytes: u64,
    /// What was written and goes out next, with the line of virtual memory that it lies at.
    pub(super) written: VecDeque<(Datagram, u64)>,
    /// Data that was written and has not left the NIC, and where what is written next lies.
    pub(super) out_bytes: u64,
    write_at: u64,
    /// What the call under way sends, or reads, with the line that its frame begins at.
    sending: Option<Datagram>,
    pub(super) reading: Option<(Datagram, u64)>,
    /// By what end what comes is sent on, if it is.
    pub(super) onward: Option<Onward>,
    /// Of a NIC in a DIMM.
    rows: Rows,
    begun: bool,
    /// Whether the application waits for its turn; whether it sleeps; whether it waits for room.
    pub(super) ready: bool,
    pub(super) asleep: bool,
    pub(super) blocked: bool,
    /// The event that will wake it up.
    wake_at: Option<Time>,
}

/// What the core has to do for an application of datagrams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DatagramWork {
    /// A system call that moves so many bytes.
    Call { bytes: u64, reads: bool, asleep: bool },
    /// The kernel hands the NIC its packet once more, which it wrote as any other the first time.
    Generate(Packet),
    /// A function looks at a packet that is sent on: bytes of its data, and its work before it reads, in ps.
    Forward { bytes: u64, work_ps: u64 },
    /// Nothing.
    Nothing,
}

impl DatagramEnd {
    fn new(params: DatagramEndParams) -> Self {
        let start = Time::from_ps(params.start_ps.max(1));
        Self {
            application: Datagrams::new(&params.traffic, params.initiator, start),
            counts: SocketCounts::default(),
            come: VecDeque::new(),
            come_bytes: 0,
            written: VecDeque::new(),
            out_bytes: 0,
            write_at: 0,
            sending: None,
            reading: None,
            onward: None,
            rows: Rows::default(),
            begun: false,
            ready: false,
            asleep: true,
            blocked: false,
            wake_at: None,
            params,
        }
    }

    /// Whether it sends packets on that came to another end.
    pub(super) fn sends_on(&self) -> bool {
        self.params.initiator && matches!(self.params.traffic, Traffic::Forward(_))
    }

    fn generates(&self) -> bool {
        self.params.initiator && matches!(self.params.traffic, Traffic::Generate { .. })
    }

    /// A packet of it has come; what the socket has no room for is dropped. Whether it has.
    pub(super) fn keep(&mut self, datagram: Datagram, line: u64) -> bool {
        let bytes = u64::from(datagram.bytes);
        self.counts.delivered += 1;
        if self.come_bytes + bytes > self.params.udp.buffer_bytes && !self.come.is_empty() {
            self.counts.dropped += 1;
            return false;
        }
        self.counts.segments += 1;
        self.come_bytes += bytes;
        self.come.push_back((datagram, line));
        true
    }

    /// Whether another datagram may be written: always one, and as much as the socket holds.
    pub(super) fn has_room(&self) -> bool {
        self.generates() || (self.out_bytes < self.params.udp.buffer_bytes && self.rows.have_room())
    }

    /// Whether it waited for room and need not any more. A socket waits until half of it is free, as in Linux.
    fn goes_on(&mut self) -> bool {
        let free = self.generates() || 2 * self.out_bytes <= self.params.udp.buffer_bytes;
        let goes_on = self.blocked && free;
        self.blocked &= !goes_on;
        goes_on
    }

    /// The line of virtual memory for a datagram that is written now. What was freed last is used first.
    fn place(&mut self, index: usize, bytes: u32, output: &Output) -> u64 {
        if self.out_bytes == 0 {
            self.write_at = 0;
        }
        let line = output.buffer(index).line(self.write_at);
        self.write_at += u64::from(bytes).next_multiple_of(64);
        line
    }

    fn packet(&self, datagram: Datagram, line: u64) -> Packet {
        Packet {
            flow: self.params.flow,
            from: self.params.host,
            to: self.params.peer,
            ip_bytes: datagram.ip_bytes(),
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

    /// Takes the oldest datagram that has come, and hands the lines to read for it to `source`. A burst that is not
    /// half full counts as none.
    fn take(&mut self, size: LineSize, source: impl FnOnce(u64, u32)) -> Option<(Datagram, u64)> {
        let (datagram, line) = self.come.pop_front()?;
        self.come_bytes -= u64::from(datagram.bytes);
        let line_bytes = size.bytes();
        let fill = if size.is_burst() { line_bytes / 2 } else { line_bytes - 1 };
        let first = ETHERNET_BYTES + u64::from(HEADER_BYTES);
        let (from, past) = (first / line_bytes, (first + u64::from(datagram.bytes) + fill) / line_bytes);
        if past > from {
            source(line + from, (past - from) as u32);
        }
        Some((datagram, line))
    }
}

impl NetStack {
    /// With these ends of flows of datagrams, too.
    ///
    /// # Panics
    /// If two ends belong to the same flow.
    #[must_use]
    pub fn with_datagrams(mut self, ends: Vec<DatagramEndParams>) -> Self {
        let first = self.sockets.len();
        self.by_flow.extend((first as u32..).zip(&ends).map(|(index, end)| (end.flow, index)));
        self.by_flow.sort_unstable();
        assert!(self.by_flow.windows(2).all(|pair| pair[0].0 < pair[1].0), "a flow has one end at a core");
        self.output.divide(first + ends.len());
        for (index, socket) in self.sockets.iter_mut().enumerate() {
            socket.send_only_from(self.output.buffer(index));
        }
        self.datagrams = ends.into_iter().map(DatagramEnd::new).collect();
        self.join_onward();
        self
    }

    /// The ends of flows of datagrams at it: the parameters, what happened there since the start of the run, and the
    /// application.
    pub fn datagrams(&self) -> impl Iterator<Item = (&DatagramEndParams, &SocketCounts, &Datagrams)> {
        self.datagrams.iter().map(|end| (&end.params, &end.counts, &end.application))
    }

    /// The end of datagrams with a number, if it is one.
    pub(super) fn datagram_end(&mut self, index: usize) -> Option<&mut DatagramEnd> {
        let at = index.checked_sub(self.sockets.len())?;
        self.datagrams.get_mut(at)
    }

    /// The end of datagrams of a flow, and its number.
    pub(super) fn datagrams_of(&mut self, flow: u32) -> Option<(usize, &mut DatagramEnd)> {
        let index = self.end_of(flow)?;
        Some((index, self.datagram_end(index)?))
    }

    /// The flow of an end begins, or its application wakes up by itself.
    pub(super) fn begin_datagrams(&mut self, index: usize, now: Time) {
        let Some(end) = self.datagram_end(index) else { return };
        end.begun |= now.ps() >= end.params.start_ps;
        if end.wake_at.is_some_and(|at| at <= now) {
            end.wake_at = None;
        }
        self.want_datagrams(index);
    }

    /// The application of an end may have something to do.
    pub(super) fn want_datagrams(&mut self, index: usize) {
        let Some(end) = self.datagram_end(index) else { return };
        // The other end answers whenever it is asked.
        if (end.begun || !end.params.initiator) && !end.ready {
            end.ready = true;
            self.ready.push_back(index as u32);
        }
    }

    /// What an application does now that it has its turn: it reads before it writes, but who answers does so first.
    pub(super) fn next_deed(&mut self, index: usize, context: &mut Context) -> DatagramWork {
        let now = context.now();
        if let Some(onward) = self.datagrams[index - self.sockets.len()].onward {
            return self.next_onward(index, onward, now);
        }
        let ring_is_full = self.is_ring_full();
        let Self { sockets, datagrams, output, .. } = self;
        let end = &mut datagrams[index - sockets.len()];
        let asleep = end.asleep;
        let answers = !end.params.initiator;
        let may_write = end.has_room() && !ring_is_full;
        end.blocked = !may_write && end.application.may_send(now);
        let writes = may_write && (answers || end.come.is_empty());
        let datagram = if writes { end.application.next(now) } else { None };
        let deed = match (datagram, end.come.front().filter(|_| !(answers && end.blocked))) {
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
        end.asleep = deed == DatagramWork::Nothing;
        end.ready = deed != DatagramWork::Nothing;
        if let DatagramWork::Call { reads, .. } = deed {
            let read = end.come.front_mut().filter(|_| reads);
            read.into_iter().for_each(|(datagram, _)| datagram.journey.end(Stage::RxDriver, now));
            end.counts.calls += 1;
            end.counts.wakes += u64::from(asleep);
        }
        let next = [end.application.wake_at(), end.application.timer()].into_iter().flatten().min();
        let wake_at = next.filter(|&at| at > now && end.wake_at.is_none_or(|pending| at < pending));
        if let Some(at) = wake_at {
            end.wake_at = Some(at);
            context.send(context.id, at.since(now), Payload::Begin { connection: index as u32 });
        }
        deed
    }

    /// The system call of an end of datagrams comes to its copy.
    pub(super) fn copy_datagram(&mut self, index: usize, reads: bool, context: &Context) {
        let in_place = self.is_in_place();
        let Self { sockets, datagrams, output, lines, stack, driver, .. } = self;
        let end = &mut datagrams[index - sockets.len()];
        let class = end.params.class;
        if let (true, Some(onward)) = (reads, end.onward) {
            lines.begin_inspection(class);
            let first = u64::from(!context.caches.are_there());
            end.reading = end.take_frame();
            let read = end.reading.map(|(datagram, line)| (line + first, onward.lines(datagram).saturating_sub(first)));
            read.filter(|&(_, count)| count > 0).into_iter().for_each(|(line, count)| lines.source(line, count as u32));
            return;
        }
        if in_place && (reads || end.rows.zoned) {
            lines.set_in_place();
        }
        if reads {
            lines.begin_read(class);
            end.reading = end.take(stack.line_size, |line, count| lines.source(line, count));
            return;
        }
        let Some(datagram) = end.sending.take() else { return };
        let line = match driver {
            None => end.place(index, datagram.bytes, output),
            Some(driver) => end.place_in_rows(index, datagram.bytes, output.buffer(index), driver),
        };
        end.out_bytes += u64::from(datagram.bytes);
        end.written.push_back((datagram, line));
        let count = stack.line_size.shrink(u64::from(datagram.bytes)).div_ceil(64);
        lines.begin_write(class, count, line, context);
    }

    /// The call is over: what was read has come to the application, what was written goes out.
    pub(super) fn end_datagram_call(&mut self, index: usize, reads: bool, now: Time) {
        let Some(end) = self.datagram_end(index) else { return };
        let read = end.reading.take();
        if let Some((mut datagram, line)) = read {
            datagram.journey.end(Stage::RxCopy, now);
            end.application.receive(now, datagram);
            end.counts.read_bytes += u64::from(datagram.bytes);
            match end.onward {
                Some(onward) => self.send_on(onward, datagram.bytes, line, now),
                None => self.free_received(line, datagram.ip_bytes()),
            }
        }
        let Some(end) = self.datagram_end(index) else { return };
        let sent = end.written.back_mut().filter(|_| !reads);
        sent.into_iter().for_each(|(datagram, _)| datagram.journey.end(Stage::TxCopy, now));
        self.ready.push_back(index as u32);
        if !reads {
            self.output.push(index as u32);
        }
    }

    /// The driver is through with a packet of an end.
    pub(super) fn keep_datagram(&mut self, index: usize, datagram: Datagram, line: u64) {
        if let Some(end) = self.datagram_end(index) {
            if !end.keep(datagram, line) {
                self.free_received(line, datagram.ip_bytes());
            }
            self.want_datagrams(index);
        }
    }

    /// The next datagram that an end has written, as work of the core.
    pub(super) fn next_written(&mut self, index: usize, now: Time) -> Option<Choice> {
        let end = self.datagram_end(index)?;
        let (datagram, line) = end.written.pop_front()?;
        let mut packet = end.packet(datagram, line);
        let allocation_ps = self.allocation_ps(Some(index), &packet.content);
        Self::note_allocation(&mut packet, Stage::TxDriver, Stage::TxCopy, allocation_ps, now);
        let work_ps = allocation_ps + self.stack.send_ps;
        Some(Choice::Work(Task::Output { socket: index as u32, packet }, work_ps, Spent::Send))
    }

    /// A datagram is handed to the NIC.
    pub(super) fn count_datagram(&mut self, index: usize, datagram: Datagram) {
        self.descriptors += 1;
        let Some(end) = self.datagram_end(index) else { return };
        end.counts.sent += 1;
        end.counts.sent_bytes += u64::from(datagram.bytes);
        if end.generates() && datagram.number > 0 {
            end.out_bytes += u64::from(datagram.bytes);
            self.ready.push_back(index as u32);
        } else {
            end.counts.written_bytes += u64::from(datagram.bytes);
        }
    }

    /// The completion of a datagram is there.
    pub(super) fn free_datagram(&mut self, index: usize, bytes: u32) {
        self.descriptors -= 1;
        let first = self.sockets.len();
        if let Some(end) = self.datagram_end(index) {
            end.out_bytes -= u64::from(bytes);
            let from = end.rows.sent_from.pop_front();
            // What is sent on lies in the frame that it came in.
            let frame = if end.sends_on() { ETHERNET_BYTES + u64::from(HEADER_BYTES) } else { 0 };
            end.rows.free_at.extend(end.rows.written_at.pop_front());
            if let (Some(driver), Some(line)) = (&mut self.driver, from) {
                driver.free(line, frame + u64::from(bytes));
            }
        }
        for at in 0..self.datagrams.len() {
            if self.datagrams[at].goes_on() {
                self.want_datagrams(first + at);
            }
        }
    }

    /// Whether the ring of the core's queue has no descriptor for a datagram. What streams have in it is bounded by
    /// their windows.
    pub(super) fn is_ring_full(&self) -> bool {
        self.descriptors >= self.rings.segments.lines()
    }

    /// Whether the kernel's generator runs, and tries for ever while the ring is full.
    pub(super) fn spins(&self) -> bool {
        self.datagrams.iter().any(|end| end.blocked && end.generates())
    }
}
