//! Integrated IO controller (IIO), which holds the credits of P2M-Write and P2M-Read.
//!
//! There is one entry per line. A write entry is held until the memory controller has accepted the line, a read entry
//! until its data is back. Links are served round robin, TLP by TLP; lines enter the processor interconnect one after
//! the other.

mod iommu;
mod registers;
mod translation;

use crate::line::{Request, RequestId, RequestKind};
use crate::link::{Lane, ReadBurst, ReadBursts, WaitingTlp};
use crate::params::{IioParams, LineSize, PcieParams};
use crate::part::{self, BufferCounters, Context, IioCounter, Part, PartKind, Payload, Pool, PoolGroup, TlpTag};
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
use iommu::Iommu;
pub use iommu::PageTables;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use translation::walk_of;

/// Link to a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct IioLink {
    device: ComponentId,
    pcie: PcieParams,
    writes: VecDeque<WaitingTlp>,
    reads: VecDeque<WaitingTlp>,
    /// Read requests whose address an IOMMU has not translated yet.
    untranslated: VecDeque<WaitingTlp>,
    down: Lane,
    /// Writes that leave their entries in order of arrival, each with true once memory has accepted it; `None` with
    /// relaxed ordering.
    in_order: Option<VecDeque<(RequestId, bool)>>,
    /// Writes whose visibility the device is notified of, in order: the last line of the TLP, the tag, and true once
    /// the line is visible.
    watched: VecDeque<(RequestId, TlpTag, bool)>,
}

impl IioLink {
    /// Records that memory has accepted a write. Returns the writes that leave their entries now, in order.
    fn acknowledge(&mut self, id: RequestId) -> impl Iterator<Item = RequestId> + '_ {
        if let Some(watched) = self.watched.iter_mut().find(|watched| watched.0 == id) {
            watched.2 = true;
        }
        let Self { in_order, .. } = self;
        let mut alone = Some(id).filter(|_| in_order.is_none());
        // Memory may accept writes out of order; without relaxed ordering an earlier one holds up those behind it.
        if let Some(writes) = in_order {
            if let Some(write) = writes.iter_mut().find(|write| write.0 == id) {
                write.1 = true;
            }
        }
        std::iter::from_fn(move || match in_order {
            None => alone.take(),
            Some(writes) if writes.front().is_some_and(|write| write.1) => writes.pop_front().map(|write| write.0),
            Some(_) => None,
        })
    }
}

/// Ids of the parts that an IIO sends to, and its links.
#[derive(Clone, Debug)]
pub struct IioWiring {
    /// CHAs of the socket.
    pub cha: ComponentId,
    /// Links, by number: the device at the other end, and the parameters of the link.
    pub links: Vec<(ComponentId, PcieParams)>,
}

/// IIO of a socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Iio {
    params: IioParams,
    cha: ComponentId,
    rng: Rng,
    links: Vec<IioLink>,
    /// By link: true if writes go to the LLC (DDIO); empty without caches.
    ddio: Vec<bool>,
    bursts: ReadBursts,
    write_turn: usize,
    read_turn: usize,
    /// Times at which the ports into the processor interconnect are free: for written lines, and for requests for
    /// lines.
    ports_free: [Time; 2],
    iommu: Option<Box<Iommu>>,
    write: Domain,
    read: Domain,
    /// Counters of the write buffer and of the read buffer.
    counts: [BufferCounters; 2],
    /// Period of the clock that accumulates occupancy, in ps.
    clock_ps: u64,
    /// Lines of 64 B that an entry stands for.
    line_size: LineSize,
}

impl Iio {
    /// Creates an IIO. `ddio` has true for each link whose writes go to the LLC; links beyond its end do not use DDIO.
    #[must_use]
    pub fn new(params: IioParams, wiring: IioWiring, ddio: Vec<bool>, rng: Rng, classes: usize) -> Self {
        let IioWiring { cha, links } = wiring;
        // A request list never exceeds the credits of its link; one more entry avoids growth at the limit.
        let depth = |pcie: &PcieParams| (pcie.posted_lines.max(pcie.nonposted_lines) + 1) as usize;
        let bursts = links.iter().map(|(_, pcie)| depth(pcie)).sum();
        let link = |(device, pcie): (ComponentId, PcieParams)| IioLink {
            device,
            writes: VecDeque::with_capacity(depth(&pcie)),
            reads: VecDeque::with_capacity(depth(&pcie)),
            untranslated: VecDeque::new(),
            down: Lane::new(&pcie),
            watched: VecDeque::new(),
            pcie,
            in_order: (!params.relaxed_ordering).then(|| VecDeque::with_capacity(params.write_credits as usize)),
        };
        Self {
            write: Domain::new(params.write_credits, params.write_credits, classes),
            read: Domain::new(params.read_credits, params.read_credits, classes),
            links: links.into_iter().map(link).collect(),
            ddio,
            bursts: ReadBursts::with_capacity(bursts),
            write_turn: 0,
            read_turn: 0,
            ports_free: [Time::ZERO; 2],
            iommu: None,
            counts: [BufferCounters::default(); 2],
            clock_ps: 1,
            line_size: LineSize::LINE,
            cha,
            params,
            rng,
        }
    }

    /// Makes the writes of a link leave their entries in order, as those of a device without relaxed ordering.
    pub fn keep_order(&mut self, link: usize) {
        self.links[link].in_order = Some(VecDeque::with_capacity(self.params.write_credits as usize));
    }

    /// Sets the period of the clock that accumulates occupancy, in ps, at least 1. The default is 1 ps.
    pub fn set_clock(&mut self, clock_ps: u64) {
        self.clock_ps = clock_ps.max(1);
    }

    /// Makes counters count, for every entry, the lines of 64 B that it stands for.
    pub fn set_line_size(&mut self, size: LineSize) {
        self.line_size = size;
    }

    /// Returns the value of a counter, in lines of 64 B.
    #[must_use]
    pub fn counter(&self, counter: IioCounter, now: Time) -> u64 {
        let [write, read] = &self.counts;
        let entries = match counter {
            IioCounter::WriteOccupancy => write.occupancy_ps(now, self.write.in_use()) / self.clock_ps,
            IioCounter::WriteInsertions => write.insertions(),
            IioCounter::ReadOccupancy => read.occupancy_ps(now, self.read.in_use()) / self.clock_ps,
            IioCounter::ReadInsertions => read.insertions(),
            IioCounter::ExpanderOccupancy | IioCounter::ExpanderInsertions => unreachable!("the CHA counts these"),
        };
        self.line_size.expand(entries)
    }

    /// Returns the time since the last reset for which the lane of a link to its device was busy, in ps; 0 if there is
    /// no such link.
    #[must_use]
    pub fn lane_busy_ps(&self, link: u8, now: Time) -> u64 {
        self.links.get(usize::from(link)).map_or(0, |link| link.down.busy_ps(now))
    }

    /// Returns the domain P2M-Write: entries of the write buffer.
    #[must_use]
    pub fn write(&self) -> &Domain {
        &self.write
    }

    /// Returns the domain P2M-Read: entries of the read buffer.
    #[must_use]
    pub fn read(&self) -> &Domain {
        &self.read
    }

    /// Returns the domains, to settle or reset them.
    pub fn domains_mut(&mut self) -> impl Iterator<Item = &mut Domain> {
        let walks = self.iommu.as_mut().map(|iommu| iommu.walks_mut());
        [&mut self.write, &mut self.read].into_iter().chain(walks)
    }

    /// Handles a write TLP of `lines` lines from `line` on, which arrives over `link`. Unless `tag` is
    /// [`TlpTag::NONE`], the device receives it when the last line is visible.
    pub(crate) fn on_write_tlp(
        &mut self,
        line: u64,
        lines: u8,
        class: u8,
        link: u8,
        tag: TlpTag,
        context: &mut Context,
    ) {
        let mut waiting = WaitingTlp::new(line, lines, class, u32::from(link), tag);
        waiting.untranslated = self.translate(line, class, link, context);
        self.links[usize::from(link)].writes.push_back(waiting);
        self.start_writes(context);
    }

    /// Handles a read request for `lines` lines from `line` on, which arrives over `link`.
    pub(crate) fn on_read_tlp(&mut self, line: u64, lines: u8, class: u8, link: u8, context: &mut Context) {
        let burst = self.bursts.open(link, class, lines);
        let mut waiting = WaitingTlp::new(line, lines, class, burst, TlpTag::NONE);
        waiting.untranslated = self.translate(line, class, link, context);
        if waiting.untranslated.is_some() {
            self.links[usize::from(link)].untranslated.push_back(waiting);
            return;
        }
        self.links[usize::from(link)].reads.push_back(waiting);
        self.start_reads(context);
    }

    /// Handles the acceptance of a write by memory: frees entries, and notifies the device of writes that are visible.
    pub(crate) fn on_acknowledged(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let link = context.requests.get(id).tag as usize;
        let device = self.links[link].device;
        // An entry counts until the write may leave it, so ordering lengthens the time for which a credit is held.
        for id in self.links[link].acknowledge(id) {
            let Request { class, since, .. } = *context.requests.get(id);
            self.write.release(now, class, since);
            self.counts[0].leave(now);
            context.requests.remove(id);
        }
        let watched = &mut self.links[link].watched;
        // In the order of the writes, even with relaxed ordering (docs/models/iio.md, Visibility of writes).
        while let Some(&(_, tag, true)) = watched.front() {
            watched.pop_front();
            context.send(device, 1, Payload::Seen { tag });
        }
        self.start_writes(context);
    }

    /// Gives free write entries to waiting TLPs, round robin over the links.
    fn start_writes(&mut self, context: &mut Context) {
        while self.write.free() > 0 {
            let count = self.links.len();
            let next = (0..count).map(|step| (self.write_turn + step) % count);
            // Writes of a link stay in order, so one whose address is not translated holds up those behind it.
            let may_start =
                |&link: &usize| self.links[link].writes.front().is_some_and(|write| write.untranslated.is_none());
            let Some(link) = next.into_iter().find(may_start) else { return };
            let Some(mut tlp) = self.links[link].writes.pop_front() else { return };
            let kind = if self.ddio.get(link) == Some(&true) { RequestKind::IoPut } else { RequestKind::IoWrite };
            while tlp.left > 0 && self.write.free() > 0 {
                self.start_line(&mut tlp, kind, context);
            }
            // A TLP that has got only some of its entries goes on first.
            if tlp.left > 0 {
                self.links[link].writes.push_front(tlp);
                self.write_turn = link;
                return;
            }
            self.write_turn = link + 1;
            // Posted credits return once all lines of the TLP have an entry.
            let credit = Payload::PostedCredit { lines: tlp.lines };
            let IioLink { device, pcie, .. } = &self.links[link];
            context.send(*device, pcie.latency_ps, credit);
        }
    }

    /// Gives free read entries to waiting TLPs, round robin over the links.
    fn start_reads(&mut self, context: &mut Context) {
        while self.read.free() > 0 {
            let count = self.links.len();
            let next = (0..count).map(|step| (self.read_turn + step) % count);
            let Some(link) = next.into_iter().find(|&link| !self.links[link].reads.is_empty()) else { return };
            let Some(mut tlp) = self.links[link].reads.pop_front() else { return };
            while tlp.left > 0 && self.read.free() > 0 {
                self.start_line(&mut tlp, RequestKind::IoRead, context);
            }
            if tlp.left > 0 {
                self.links[link].reads.push_front(tlp);
                self.read_turn = link;
                return;
            }
            // Non-posted credits are not returned here: a device counts its reads until their completions arrive.
            self.read_turn = link + 1;
        }
    }

    /// Takes an entry for the next line of a TLP and sends the line, or the request for it, to the CHA.
    fn start_line(&mut self, tlp: &mut WaitingTlp, kind: RequestKind, context: &mut Context) {
        let now = context.now();
        let [writes, reads] = &mut self.counts;
        let (domain, counts, to_cha_ps) = match kind {
            RequestKind::IoWrite | RequestKind::IoPut => (&mut self.write, writes, self.params.write_to_cha_ps),
            _ => (&mut self.read, reads, self.params.read_to_cha_ps),
        };
        let taken = domain.try_acquire(now, tlp.class);
        assert!(taken, "an entry is free");
        counts.insert(now);
        let line = tlp.take_line();
        let link = if kind == RequestKind::IoRead { self.bursts.link(tlp.burst) } else { tlp.burst as u8 };
        let request = Request { engine: link, ..context.request(kind, line, tlp.class, tlp.burst) };
        let id = context.requests.insert(request);
        // The last line of a TLP stands for the whole TLP (docs/models/iio.md, Visibility of writes).
        if tlp.tag != TlpTag::NONE && tlp.left == 0 {
            self.links[tlp.burst as usize].watched.push_back((id, tlp.tag, false));
        }
        if kind != RequestKind::IoRead {
            if let Some(writes) = &mut self.links[tlp.burst as usize].in_order {
                writes.push_back((id, false));
            }
        }
        if let Some(caches) = context.caches.own() {
            // Speed of the simulator only: prefetches its tables for the lookup to come.
            caches.expect(line);
        }
        let delay = self.enter(kind == RequestKind::IoRead, now) + to_cha_ps;
        context.send(self.cha, delay, Payload::Arrive(id));
    }

    /// Takes the next slot of the port into the processor interconnect. Returns the delay until then, in ps.
    fn enter(&mut self, is_read: bool, now: Time) -> u64 {
        // Reads and writes have a port each: requests for lines do not wait behind written lines.
        let port_free = &mut self.ports_free[usize::from(is_read)];
        let start = now.max(*port_free);
        *port_free = start + self.rng.around(self.params.line_ps, self.params.line_spread_ps);
        start.since(now)
    }

    /// Handles the data of a line. A completion leaves when it is full (MPS) or is the last of its request.
    pub(crate) fn on_data(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let request = context.requests.get(id);
        if let Some(walk) = walk_of(request) {
            return self.on_table_entry(id, walk, context);
        }
        let Request { class, since, tag, .. } = *request;
        self.read.release(now, class, since);
        self.counts[1].leave(now);
        context.requests.remove(id);
        let ReadBurst { link, class, .. } = self.bursts.get(tag);
        let IioLink { device, pcie, down, .. } = &mut self.links[usize::from(link)];
        if let Some(lines) = self.bursts.arrive(tag, pcie.mps_bytes) {
            // Every completion pays header and framing, so small ones waste bandwidth (docs/models/pcie.md).
            let bytes = u64::from(lines) * 64 + u64::from(pcie.completion_overhead_bytes);
            let delay = down.send(now, bytes);
            context.send(*device, delay, Payload::Completion { lines, class });
        }
        self.start_reads(context);
    }
}

impl Part for Iio {
    fn kind(&self) -> PartKind {
        PartKind::Iio
    }

    fn on_event(&mut self, payload: Payload, source: ComponentId, context: &mut Context) {
        match payload {
            Payload::ReadCounter { counter } => {
                let value = self.counter(counter, context.now());
                // The controller that reads the register models the time of the read itself.
                context.send(source, 1, Payload::Counter { counter, value });
            }
            Payload::Register { link, access } => self.on_register(link, access, context),
            Payload::Unmap { line, lines } => self.on_unmap(line, lines),
            Payload::Translated { page, link } => self.on_translated(page, link, context),
            other => unreachable!("the IIO was sent {other:?}"),
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(PoolGroup::P2mWrite, &self.write));
        visit(Pool::new(PoolGroup::P2mRead, &self.read));
        if let Some(iommu) = &self.iommu {
            visit(Pool::new(PoolGroup::IommuWalk, iommu.walks()));
        }
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.domains_mut(), now);
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.domains_mut(), now);
        self.links.iter_mut().for_each(|link| link.down.reset(now));
    }
}
