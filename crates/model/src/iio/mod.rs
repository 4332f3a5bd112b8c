//! The integrated IO controller (IIO): where the credits of P2M-Write and P2M-Read live.
//!
//! One entry per line. A write entry is held until the memory controller has accepted the line, a read entry until its
//! data is back. Links are served TLP by TLP, round robin; lines enter the processor interconnect one after the other.

mod counters;
mod registers;

use crate::line::{Kind, Request, RequestId};
use crate::link::Lane;
use crate::params::{IioParams, LineSize, PcieParams};
use crate::part::{self, Context, Group, IioCounter, Part, PartKind, Payload, Pool, Tag};
use counters::Cumulative;
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A TLP at the IIO whose lines wait for entries.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Waiting {
    line: u64,
    left: u8,
    lines: u8,
    class: u8,
    /// The burst of a read, the link of a write.
    burst: u32,
    /// What the device wants to be told by when a write can be seen, or [`Tag::NONE`].
    tag: Tag,
}

/// A read request of a device whose lines are on their way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Burst {
    link: u8,
    class: u8,
    outstanding: u8,
    ready: u8,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Link {
    device: ComponentId,
    pcie: PcieParams,
    writes: VecDeque<Waiting>,
    reads: VecDeque<Waiting>,
    down: Lane,
    /// Writes that leave their entries in the order in which they came (no relaxed ordering): each with whether memory
    /// has it.
    in_order: Option<VecDeque<(RequestId, bool)>>,
    /// Writes that the device is told of when they can be seen, in their order: by what, and whether they can be.
    watched: VecDeque<(RequestId, Tag, bool)>,
}

impl Link {
    /// Notes that memory has a write; the writes that leave now, in order.
    fn acknowledge(&mut self, id: RequestId) -> impl Iterator<Item = RequestId> + '_ {
        if let Some(watched) = self.watched.iter_mut().find(|watched| watched.0 == id) {
            watched.2 = true;
        }
        let Self { in_order, .. } = self;
        let mut alone = Some(id).filter(|_| in_order.is_none());
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

/// Whom an IIO talks to.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// The CHAs of its socket.
    pub cha: ComponentId,
    /// Its links, by their number: the device at the other end, and what the link costs.
    pub links: Vec<(ComponentId, PcieParams)>,
}

/// The IIO of a socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Iio {
    params: IioParams,
    cha: ComponentId,
    rng: Rng,
    links: Vec<Link>,
    /// Per link: whether writes go to the LLC; empty without caches.
    ddio: Vec<bool>,
    bursts: Vec<Burst>,
    bursts_free: Vec<u32>,
    write_turn: usize,
    read_turn: usize,
    /// When the ways into the processor interconnect are free: that of written lines, and that of requests for lines.
    ports_free: [Time; 2],
    write: Domain,
    read: Domain,
    /// Of the write and the read buffer.
    counts: [Cumulative; 2],
    clock_ps: u64,
    /// What an entry stands for.
    line_size: LineSize,
}

impl Iio {
    /// An IIO as `wiring` says. `ddio` tells whose writes go to the LLC; links beyond its end do not.
    #[must_use]
    pub fn new(params: IioParams, wiring: Wiring, ddio: Vec<bool>, rng: Rng, classes: usize) -> Self {
        let Wiring { cha, links } = wiring;
        let depth = |pcie: &PcieParams| (pcie.posted_lines.max(pcie.nonposted_lines) + 1) as usize;
        let bursts = links.iter().map(|(_, pcie)| depth(pcie)).sum();
        let link = |(device, pcie): (ComponentId, PcieParams)| Link {
            device,
            writes: VecDeque::with_capacity(depth(&pcie)),
            reads: VecDeque::with_capacity(depth(&pcie)),
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
            bursts: Vec::with_capacity(bursts),
            bursts_free: Vec::with_capacity(bursts),
            write_turn: 0,
            read_turn: 0,
            ports_free: [Time::ZERO; 2],
            counts: [Cumulative::default(); 2],
            clock_ps: 1,
            line_size: LineSize::LINE,
            cha,
            params,
            rng,
        }
    }

    /// Has the writes of a link leave their entries in order, as those of a device that does not ask for relaxed
    /// ordering.
    pub fn keep_order(&mut self, link: usize) {
        self.links[link].in_order = Some(VecDeque::with_capacity(self.params.write_credits as usize));
    }

    /// Counts occupancy by a clock with a period of `clock_ps` ps, at least 1. Without this by one of 1 ps.
    pub fn set_clock(&mut self, clock_ps: u64) {
        self.clock_ps = clock_ps.max(1);
    }

    /// Has counters count for every entry the lines that it stands for.
    pub fn set_line_size(&mut self, size: LineSize) {
        self.line_size = size;
    }

    /// The value of a counter, in lines of 64 B.
    #[must_use]
    pub fn counter(&self, counter: IioCounter, now: Time) -> u64 {
        let [write, read] = &self.counts;
        let entries = match counter {
            IioCounter::WriteOccupancy => write.occupancy_ps(now, self.write.in_use()) / self.clock_ps,
            IioCounter::WriteInsertions => write.insertions(),
            IioCounter::ReadOccupancy => read.occupancy_ps(now, self.read.in_use()) / self.clock_ps,
            IioCounter::ReadInsertions => read.insertions(),
        };
        self.line_size.expand(entries)
    }

    /// Time since the last reset for which the lane of a link to its device was busy, in ps; 0 of no link.
    #[must_use]
    pub fn lane_busy_ps(&self, link: u8, now: Time) -> u64 {
        self.links.get(usize::from(link)).map_or(0, |link| link.down.busy_ps(now))
    }

    /// P2M-Write.
    #[must_use]
    pub fn write(&self) -> &Domain {
        &self.write
    }

    /// P2M-Read.
    #[must_use]
    pub fn read(&self) -> &Domain {
        &self.read
    }

    /// The domains, to settle or to reset.
    pub fn domains_mut(&mut self) -> [&mut Domain; 2] {
        [&mut self.write, &mut self.read]
    }

    /// A write TLP of `lines` lines from `line` on arrives over `link`, whose device is told by `tag`, if that is one,
    /// when the last of them can be seen.
    pub(crate) fn on_write_tlp(&mut self, line: u64, lines: u8, class: u8, link: u8, tag: Tag, context: &mut Context) {
        let waiting = Waiting { line, left: lines, lines, class, burst: u32::from(link), tag };
        self.links[usize::from(link)].writes.push_back(waiting);
        self.start_writes(context);
    }

    /// A read request of `lines` lines from `line` on arrives over `link`.
    pub(crate) fn on_read_tlp(&mut self, line: u64, lines: u8, class: u8, link: u8, context: &mut Context) {
        let burst = self.open_burst(Burst { link, class, outstanding: lines, ready: 0 });
        let waiting = Waiting { line, left: lines, lines, class, burst, tag: Tag::NONE };
        self.links[usize::from(link)].reads.push_back(waiting);
        self.start_reads(context);
    }

    /// Memory has accepted a write.
    pub(crate) fn on_acknowledged(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let link = context.requests.get(id).tag as usize;
        let device = self.links[link].device;
        for id in self.links[link].acknowledge(id) {
            let Request { class, since, .. } = *context.requests.get(id);
            self.write.release(now, class, since);
            self.counts[0].leave(now);
            context.requests.remove(id);
        }
        let watched = &mut self.links[link].watched;
        while let Some(&(_, tag, true)) = watched.front() {
            watched.pop_front();
            context.send(device, 1, Payload::Seen { tag });
        }
        self.start_writes(context);
    }

    fn open_burst(&mut self, burst: Burst) -> u32 {
        if let Some(index) = self.bursts_free.pop() {
            self.bursts[index as usize] = burst;
            return index;
        }
        self.bursts.push(burst);
        self.bursts.len() as u32 - 1
    }

    /// Gives free write entries to waiting TLPs.
    fn start_writes(&mut self, context: &mut Context) {
        while self.write.free() > 0 {
            let count = self.links.len();
            let next = (0..count).map(|step| (self.write_turn + step) % count);
            let Some(link) = next.into_iter().find(|&link| !self.links[link].writes.is_empty()) else { return };
            let Some(mut tlp) = self.links[link].writes.pop_front() else { return };
            let kind = if self.ddio.get(link) == Some(&true) { Kind::IoPut } else { Kind::IoWrite };
            while tlp.left > 0 && self.write.free() > 0 {
                self.start_line(&mut tlp, kind, context);
            }
            if tlp.left > 0 {
                self.links[link].writes.push_front(tlp);
                self.write_turn = link;
                return;
            }
            self.write_turn = link + 1;
            let credit = Payload::PostedCredit { lines: tlp.lines };
            let Link { device, pcie, .. } = &self.links[link];
            context.send(*device, pcie.latency_ps, credit);
        }
    }

    /// Gives free read entries to waiting TLPs.
    fn start_reads(&mut self, context: &mut Context) {
        while self.read.free() > 0 {
            let count = self.links.len();
            let next = (0..count).map(|step| (self.read_turn + step) % count);
            let Some(link) = next.into_iter().find(|&link| !self.links[link].reads.is_empty()) else { return };
            let Some(mut tlp) = self.links[link].reads.pop_front() else { return };
            while tlp.left > 0 && self.read.free() > 0 {
                self.start_line(&mut tlp, Kind::IoRead, context);
            }
            if tlp.left > 0 {
                self.links[link].reads.push_front(tlp);
                self.read_turn = link;
                return;
            }
            self.read_turn = link + 1;
        }
    }

    /// Takes an entry for the next line of a TLP and sends the line on its way.
    fn start_line(&mut self, tlp: &mut Waiting, kind: Kind, context: &mut Context) {
        let now = context.now();
        let [writes, reads] = &mut self.counts;
        let (domain, counts, to_cha_ps) = match kind {
            Kind::IoWrite | Kind::IoPut => (&mut self.write, writes, self.params.write_to_cha_ps),
            _ => (&mut self.read, reads, self.params.read_to_cha_ps),
        };
        let taken = domain.try_acquire(now, tlp.class);
        assert!(taken, "an entry is free");
        counts.insert(now);
        let line = tlp.line + u64::from(tlp.lines - tlp.left);
        tlp.left -= 1;
        let link = if kind == Kind::IoRead { self.bursts[tlp.burst as usize].link } else { tlp.burst as u8 };
        let request = Request { engine: link, ..context.request(kind, line, tlp.class, tlp.burst) };
        let id = context.requests.insert(request);
        if tlp.tag != Tag::NONE && tlp.left == 0 {
            self.links[tlp.burst as usize].watched.push_back((id, tlp.tag, false));
        }
        if kind != Kind::IoRead {
            if let Some(writes) = &mut self.links[tlp.burst as usize].in_order {
                writes.push_back((id, false));
            }
        }
        if let Some(caches) = context.caches.own() {
            caches.expect(line);
        }
        let port_free = &mut self.ports_free[usize::from(kind == Kind::IoRead)];
        let start = now.max(*port_free);
        *port_free = start + self.rng.around(self.params.line_ps, self.params.line_spread_ps);
        context.send(self.cha, start.since(now) + to_cha_ps, Payload::Arrive(id));
    }

    /// The data of a line is back: a completion leaves when it is full, or the last of its request.
    pub(crate) fn on_data(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let Request { class, since, tag, .. } = *context.requests.get(id);
        self.read.release(now, class, since);
        self.counts[1].leave(now);
        context.requests.remove(id);
        let burst = &mut self.bursts[tag as usize];
        burst.outstanding -= 1;
        burst.ready += 1;
        let Burst { link, class, outstanding, ready } = *burst;
        let Link { device, pcie, down, .. } = &mut self.links[usize::from(link)];
        if outstanding == 0 || u32::from(ready) * 64 >= pcie.mps_bytes {
            burst.ready = 0;
            let bytes = u64::from(ready) * 64 + u64::from(pcie.completion_overhead_bytes);
            let delay = down.send(now, bytes);
            context.send(*device, delay, Payload::Completion { lines: ready, class });
        }
        if outstanding == 0 {
            self.bursts_free.push(tag);
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
                context.send(source, 1, Payload::Counter { counter, value });
            }
            Payload::Register { link, access } => self.on_register(link, access, context),
            other => unreachable!("the IIO was sent {other:?}"),
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(Group::P2mWrite, &self.write));
        visit(Pool::new(Group::P2mRead, &self.read));
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.domains_mut(), now);
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.domains_mut(), now);
        self.links.iter_mut().for_each(|link| link.down.reset(now));
    }
}
