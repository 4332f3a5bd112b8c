//! DMA reads of the functions: descriptors, then the data of packets, in read requests.

use super::gather::Fragment;
use super::reader::{Cut, DmaReader, ReadPurpose, ReadRequest};
use super::segments::{data_bytes, may_cut, next_bytes, piece, LAST, RDMA_CONTROL, RDMA_DATA};
use super::send_queue::{OpenSegment, PostedDescriptor};
use super::transmit::Transmit;
use super::Common;
use crate::line::{Content, Packets};
use crate::link::PcieEndpoint;
use crate::params::RDMA_MTU_MAX;
use crate::part::Context;
use hostnet_kernel::Time;

/// Lines of a page. No read request crosses a page boundary (PCIe base specification 3.0, 2.2.7).
const PAGE_LINES: u64 = 64;

/// Next action of a send queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadAction {
    Fetch(usize),
    Cut(usize),
}

impl Transmit {
    /// Returns the time of the next possible action of a function, if any.
    pub(super) fn next(
        &self,
        function: usize,
        now: Time,
        endpoint: &PcieEndpoint,
        packets: &Packets,
        common: &Common,
    ) -> Option<Time> {
        self.readers[function].next(self, now, endpoint, packets, common)
    }

    /// Sends the next read request of a function. Returns true if a request was sent.
    pub(super) fn read(
        &mut self,
        function: usize,
        endpoint: &mut PcieEndpoint,
        common: &mut Common,
        context: &mut Context,
    ) -> bool {
        // Taken out, because the reader changes the rest of the send side.
        let mut reader = std::mem::take(&mut self.readers[function]);
        let sent = reader.read(self, endpoint, common, context);
        self.readers[function] = reader;
        sent
    }

    /// Processes data that a function has requested and that has arrived.
    pub(super) fn complete(&mut self, function: usize, lines: u32, common: &mut Common, context: &mut Context) {
        let mut reader = std::mem::take(&mut self.readers[function]);
        reader.complete(self, lines, common, context);
        self.readers[function] = reader;
    }
}

impl DmaReader {
    /// Returns the time of the next possible action, if any.
    fn next(
        &self,
        of: &Transmit,
        now: Time,
        endpoint: &PcieEndpoint,
        packets: &Packets,
        common: &Common,
    ) -> Option<Time> {
        if self.may_ask_lent(endpoint) {
            return Some(now);
        }
        match self.cut {
            // Without credits the next completion calls `plan` again.
            Some(cut) => endpoint.may_read(endpoint.read_lines(cut.lines)).then_some(now),
            None if self.may_rdma(of, common) => Some(now),
            None => self.action(of, now, endpoint, packets, common).map(|_| now).or_else(|| self.doorbell(of, now)),
        }
    }

    /// Returns true if the send window admits another RDMA packet and an end may have one.
    fn may_rdma(&self, of: &Transmit, common: &Common) -> bool {
        // RDMA uses the first function (docs/models/nic.md, Functions).
        self.function == 0
            && common.rdma.may_send(&common.port)
            && of.window_used + RDMA_MTU_MAX <= common.params.send_window_bytes
    }

    /// Returns the time at which the NIC sees the next doorbell.
    fn doorbell(&self, of: &Transmit, now: Time) -> Option<Time> {
        let own = of.queues.iter().filter(|queue| queue.function == self.function);
        // Doorbells seen already wait for something else, whose event plans anew.
        own.filter_map(|queue| queue.next().map(|next| next.visible_at)).filter(|&visible_at| visible_at > now).min()
    }

    /// Returns the next action, round robin over the send queues. Cutting a packet goes before fetching a descriptor.
    fn action(
        &self,
        of: &Transmit,
        now: Time,
        endpoint: &PcieEndpoint,
        packets: &Packets,
        common: &Common,
    ) -> Option<ReadAction> {
        if of.segments == 0 {
            return None;
        }
        let count = of.queues.len();
        let own = |&queue: &usize| of.queues[queue].function == self.function;
        let turns = || (self.turn..self.turn + count).map(|queue| queue % count).filter(own);
        let may_cut = |&queue: &usize| may_cut(of.window_used, &of.queues[queue], packets, common);
        let may_fetch =
            |&queue: &usize| of.queues[queue].next().is_some_and(|next| next.visible_at <= now) && endpoint.may_read(1);
        // Cutting first: its descriptor is there already, and it frees a place for the next.
        let cut = turns().find(may_cut).map(ReadAction::Cut);
        cut.or_else(|| turns().find(may_fetch).map(ReadAction::Fetch))
    }

    /// Sends the next read request, alternating between lent fragments and the queues of this function. Returns true
    /// if a request was sent.
    fn read(
        &mut self,
        of: &mut Transmit,
        endpoint: &mut PcieEndpoint,
        common: &mut Common,
        context: &mut Context,
    ) -> bool {
        let lent_first = self.lent_turn;
        // Set again when an own request is sent, so that own and lent requests alternate.
        self.lent_turn = false;
        (lent_first && self.ask_lent(endpoint, common, context))
            || self.read_own(of, endpoint, common, context)
            || self.ask_lent(endpoint, common, context)
    }

    /// Sends the next read request for the queues of this function. Returns true if a request was sent.
    fn read_own(
        &mut self,
        of: &mut Transmit,
        endpoint: &mut PcieEndpoint,
        common: &mut Common,
        context: &mut Context,
    ) -> bool {
        while self.cut.is_none() {
            // RDMA flows and segments of cores alternate.
            self.rdma_turn = !self.rdma_turn;
            if self.rdma_turn && self.may_rdma(of, common) {
                self.cut_rdma(of, common, context);
                continue;
            }
            match self.action(of, context.now(), endpoint, context.packets, common) {
                // No segment can go, so RDMA need not wait for its turn.
                None if self.may_rdma(of, common) => self.cut_rdma(of, common, context),
                None => return false,
                Some(ReadAction::Fetch(queue)) => {
                    self.fetch(queue, of, endpoint, common, context);
                    return true;
                }
                Some(ReadAction::Cut(queue)) => self.cut(queue, of, common, context),
            }
        }
        self.ask(of, endpoint, common, context)
    }

    /// Reads the descriptor of the next segment of a send queue.
    fn fetch(
        &mut self,
        index: usize,
        of: &mut Transmit,
        endpoint: &mut PcieEndpoint,
        common: &mut Common,
        context: &mut Context,
    ) {
        let queue = &mut of.queues[index];
        let Some(PostedDescriptor { id, .. }) = queue.waiting.pop_front() else { return };
        queue.open.push_back(OpenSegment { id, known: false, cut: 0 });
        let line = common.pages.physical(queue.descriptors.next_line()) / 64;
        // The descriptor's line counts for the workload of the flow.
        let class = common.flows[context.packets.get(id).flow as usize].class;
        self.reads.push_back(ReadRequest { lines: 1, purpose: ReadPurpose::Descriptor(index as u16) });
        endpoint.read(line, 1, class, context);
    }

    /// Cuts the next packet from the first segment of a send queue. A packet without data is sent immediately,
    /// because its headers arrived with the descriptor.
    fn cut(&mut self, index: usize, of: &mut Transmit, common: &mut Common, context: &mut Context) {
        self.turn = index + 1;
        let queue = &mut of.queues[index];
        let Some(open) = queue.open.front_mut() else { return };
        let whole = *context.packets.get(open.id);
        let bytes = next_bytes(&whole, open, common);
        let from = open.cut;
        open.cut += bytes;
        let mut packet = piece(&whole, from, bytes);
        if open.cut == data_bytes(&whole) {
            // The last packet causes the completion of the segment.
            packet.queue |= LAST;
            context.packets.remove(open.id);
            queue.open.pop_front();
            of.segments -= 1;
        }
        let id = context.packets.insert(packet);
        // A pure acknowledgement has all its bytes in the descriptor.
        if bytes == 0 {
            of.send(id, common, context);
            return;
        }
        of.take(bytes, common);
        let class = common.flows[whole.flow as usize].class;
        // A burst stands for several lines, so offsets in memory shrink with it.
        let [from, to] = [from, from + bytes].map(|at| common.params.line_size.shrink(at));
        let line = whole.line + u64::from(from / 64);
        // A piece that begins or ends within a line reads the whole line.
        let lines = (to.div_ceil(64) - from / 64).max(1);
        let owner = of.gathers[self.function].begin(id, self.function);
        self.cut = Some(Cut { owner, line, lines, class, hinted: true });
        self.lend(of, common);
    }

    /// Takes the next RDMA packet. A packet without data is sent immediately.
    fn cut_rdma(&mut self, of: &mut Transmit, common: &mut Common, context: &mut Context) {
        let Some((mut packet, address)) = common.next_rdma(context) else { return };
        let Content::Roce(roce) = packet.content else { return };
        let bytes = roce.data_bytes();
        packet.queue = if bytes > 0 { RDMA_DATA } else { RDMA_CONTROL };
        let class = common.flows[packet.flow as usize].class;
        let id = context.packets.insert(packet);
        if bytes == 0 {
            of.send(id, common, context);
            return;
        }
        of.take(bytes, common);
        let owner = of.gathers[self.function].begin(id, self.function);
        let lines = common.params.line_size.shrink(bytes).div_ceil(64).max(1);
        self.cut = Some(Cut { owner, line: address / 64, lines, class, hinted: false });
    }

    /// Lends the next fragments of the packet being cut to the functions of the nodes that hold them.
    fn lend(&mut self, of: &mut Transmit, common: &mut Common) {
        while let Some(cut) = self.cut.as_mut().filter(|cut| cut.hinted) {
            // The first fragment on the own node ends the loop; it is requested below.
            let Some(function) = common.hint(cut.line).filter(|&function| function != self.function) else { return };
            // A page lies on one node, so a fragment ends with its page.
            let lines = cut.lines.min(lines_of_page(cut.line, common));
            of.gathers[self.function].ask();
            of.lend(function, Fragment { owner: cut.owner, line: cut.line, lines, class: cut.class });
            self.advance(lines, of);
        }
    }

    /// Advances the packet being cut by `lines` requested lines.
    fn advance(&mut self, lines: u32, of: &mut Transmit) {
        let Some(cut) = &mut self.cut else { return };
        cut.line += u64::from(lines);
        cut.lines -= lines;
        if cut.lines == 0 {
            of.gathers[self.function].end();
            self.cut = None;
        }
    }

    /// Requests the next part of the packet being cut. Returns true if a request was sent.
    fn ask(
        &mut self,
        of: &mut Transmit,
        endpoint: &mut PcieEndpoint,
        common: &mut Common,
        context: &mut Context,
    ) -> bool {
        let Some(Cut { owner, line, lines, class, .. }) = self.cut else { return false };
        let lines = endpoint.read_lines(lines).min(lines_of_page(line, common));
        // The cut stays; the request is sent when credits are back.
        if !endpoint.may_read(lines) {
            return false;
        }
        of.gathers[self.function].ask();
        self.send(line, lines, class, ReadPurpose::Fragment(owner), endpoint, common, context);
        self.advance(lines, of);
        self.lend(of, common);
        // A lent fragment goes next (see `read`).
        self.lent_turn = true;
        true
    }

    /// Processes `lines` lines of arrived data. Data that memory reorders counts for the oldest requests.
    ///
    /// # Panics
    /// Panics if more lines arrive than were requested.
    fn complete(&mut self, of: &mut Transmit, mut lines: u32, common: &mut Common, context: &mut Context) {
        while lines > 0 {
            // Completions do not name their request; the count of lines suffices (docs/models/nic.md, Data).
            let read = self.reads.front_mut().expect("data was asked for");
            let part = lines.min(read.lines);
            read.lines -= part;
            lines -= part;
            if read.lines > 0 {
                return;
            }
            let purpose = read.purpose;
            self.reads.pop_front();
            match purpose {
                ReadPurpose::Descriptor(queue) => of.mark_descriptor_arrived(queue),
                ReadPurpose::Free(queue) => of.fetched.push(queue),
                ReadPurpose::Part => {}
                ReadPurpose::Fragment(owner) => of.gather(owner, common, context),
            }
        }
    }
}

/// Returns the number of lines from `line` to the end of its page.
fn lines_of_page(line: u64, common: &Common) -> u32 {
    // A burst may stand for a page or more; then each is requested alone.
    let page_lines = common.params.line_size.shrink(PAGE_LINES).max(1);
    (page_lines - line % page_lines) as u32
}
