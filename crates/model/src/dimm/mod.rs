//! NIC in the buffer device of a DIMM: the paths of the NIC and of the host to local memory.
//!
//! The NIC is attached to a DMA engine in the device, through which it reaches memory. The host reads by asynchronous
//! commands and writes over its channel. Clones of rows take the place of copies.

mod async_port;
mod clones;
mod counters;
mod device;
mod dma;
mod ncache;
mod ncontroller;
mod nprefetch;
mod rowclone;
#[cfg(test)]
mod tests;

pub use counters::DimmCounters;
pub use ncache::NCache;
pub use rowclone::{CloneClass, RowClone};

use crate::line::{memory_of, PacketId, Request, RequestId, RequestKind};
use crate::memory::Channel;
use crate::params::{DimmParams, PcieParams};
use crate::part::{self, Context, Part, PartKind, Payload, Pool, RegisterAccess, Slot, StartContext};
use async_port::AsyncPort;
use clones::PacketClones;
use dma::DmaEngine;
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
use ncontroller::NController;
use nprefetch::{NPrefetcher, PrefetchOutcome};
use serde::{Deserialize, Serialize};

/// Region of buffers that packets are written to, each packet from the first line of a buffer on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketBuffers {
    /// First physical line.
    pub line: u64,
    /// Number of lines.
    pub lines: u64,
    /// Lines of a buffer.
    pub step: u64,
}

/// Ids of the parts that a DIMM sends to, and its memory layout.
#[derive(Clone, Debug)]
pub struct DimmWiring {
    /// CHAs of the socket.
    pub cha: ComponentId,
    /// NIC in the DIMM.
    pub nic: ComponentId,
    /// Channel of the host that the DIMM is plugged into.
    pub channel: ComponentId,
    /// Link between the NIC and the DMA engine.
    pub link: PcieParams,
    /// Delay from the host's end of the channel to the CHA, in ps.
    pub to_cha_ps: u64,
    /// Delay from the CHA to a core, in ps.
    pub to_core_ps: u64,
    /// Buffers that packets are written to.
    pub buffers: Vec<PacketBuffers>,
    /// First physical line that is a clone; every later line is one, too.
    pub cloned_from: u64,
}

/// Packet that the NIC is writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PacketWrite {
    /// Time of the first write TLP.
    begun: Time,
    /// First line.
    first: u64,
    /// Line after the last one written so far.
    next: u64,
    /// Time at which memory last accepted a line of the packet.
    last: Time,
}

/// Buffer device of a DIMM that contains a NIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dimm {
    cha: ComponentId,
    nic: ComponentId,
    to_cha_ps: u64,
    to_core_ps: u64,
    hit_ps: u64,
    header: bool,
    cloned_from: u64,
    buffers: Vec<PacketBuffers>,
    port: AsyncPort,
    ncache: NCache,
    prefetcher: NPrefetcher,
    memory: NController,
    dma: DmaEngine,
    clones: PacketClones,
    writing: PacketWrite,
    counters: DimmCounters,
    /// Commands of clones on the channel, each with its packet.
    commands: Vec<(RequestId, PacketId)>,
}

impl Dimm {
    /// Creates a DIMM, which is component `id`.
    ///
    /// # Panics
    /// Panics if it has no ids, entries or turns, or its device or its cache has no delay.
    #[must_use]
    pub fn new(params: &DimmParams, id: ComponentId, wiring: DimmWiring, rng: Rng, classes: usize) -> Self {
        let least = params.ids.min(params.writes).min(params.dma_lines).min(params.nic_turns);
        assert!(least > 0, "a DIMM has ids, entries and turns");
        assert!(params.device_ps > 0 && params.ncache.hit_ps > 0, "a device takes time");
        // Without a cache prefetched lines would have no place.
        let prefetch = if params.ncache.sets > 0 { params.ncache.prefetch } else { 0 };
        Self {
            cha: wiring.cha,
            nic: wiring.nic,
            to_cha_ps: wiring.to_cha_ps.max(1),
            to_core_ps: wiring.to_core_ps.max(1),
            hit_ps: params.ncache.hit_ps,
            header: params.ncache.header,
            buffers: wiring.buffers,
            cloned_from: wiring.cloned_from,
            port: AsyncPort::new(params, wiring.channel, classes),
            ncache: NCache::new(&params.ncache, rng),
            prefetcher: NPrefetcher::new(prefetch),
            memory: NController::new(params, id, classes),
            dma: DmaEngine::new(wiring.nic, wiring.link, params.dma_lines, classes),
            clones: PacketClones::new(RowClone::new(&params.clone, &params.memory.dram)),
            writing: PacketWrite::default(),
            counters: DimmCounters::default(),
            commands: Vec::with_capacity(64),
        }
    }

    /// Returns the counters since the last reset.
    #[must_use]
    pub fn counters(&self) -> &DimmCounters {
        &self.counters
    }

    /// Returns the memory controllers.
    pub fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.memory.channels()
    }

    /// Returns the cache.
    #[must_use]
    pub fn ncache(&self) -> &NCache {
        &self.ncache
    }

    /// Returns the domains: request ids, entries of writes, and the entries of the DMA engine for writes and for
    /// reads.
    #[must_use]
    pub fn domains(&self) -> [&Domain; 4] {
        let ([ids, writes], [written, read]) = (self.port.domains(), self.dma.domains());
        [ids, writes, written, read]
    }

    fn domains_mut(&mut self) -> impl Iterator<Item = &mut Domain> {
        self.port.domains_mut().into_iter().chain(self.dma.domains_mut())
    }

    /// Handles a slot that has passed on the channel.
    fn on_slot(&mut self, id: RequestId, slot: Slot, context: &mut Context) {
        match slot {
            Slot::Command => self.on_read(id, context),
            Slot::Send => {
                // The request id returns with the data, so it is free again.
                self.port.end(id, true, context);
                context.send(self.cha, self.to_cha_ps, Payload::Read(id));
            }
            Slot::Write => match self.commands.iter().position(|&(command, _)| command == id) {
                Some(at) => {
                    let (_, packet) = self.commands.swap_remove(at);
                    context.requests.remove(id);
                    self.clones.command(packet);
                }
                None => self.on_write(id, context),
            },
        }
    }

    /// Handles a read of the host.
    fn on_read(&mut self, id: RequestId, context: &mut Context) {
        let Request { line, class, .. } = *context.requests.get(id);
        self.counters.reads += 1;
        let cloned = line >= self.cloned_from;
        self.counters.packet_reads += u64::from(cloned);
        let found = self.ncache.consume(line);
        if let Some(first) = found {
            self.counters.hits += 1;
            self.counters.first += u64::from(first);
            context.send(context.id, self.hit_ps, Payload::Data(id));
        // The line is in flight already; a second read of it would only cost bandwidth.
        } else if self.prefetcher.join(line, id) {
            self.counters.late += 1;
        } else {
            self.counters.packet_misses += u64::from(cloned);
            self.memory.ask(id, false, context);
        }
        // After the first line of a packet nothing is prefetched.
        if found != Some(true) {
            self.prefetch(line, class, context);
        }
    }

    /// Prefetches the lines after one that the host has read.
    fn prefetch(&mut self, line: u64, class: u8, context: &mut Context) {
        for line in self.prefetcher.after(line, |line| !self.ncache.has(line)) {
            let id = dma::request(RequestKind::Speculate, line, class, 0, context);
            self.prefetcher.begin(line, id);
            self.counters.prefetches += 1;
            self.memory.ask(id, false, context);
        }
    }

    /// Handles a line that the host writes.
    fn on_write(&mut self, id: RequestId, context: &mut Context) {
        let line = context.requests.get(id).line;
        self.counters.writes += 1;
        self.overwrite(line);
        self.memory.ask(id, false, context);
    }

    /// Invalidates the copies of a line, which gets another value in memory.
    fn overwrite(&mut self, line: u64) {
        self.ncache.invalidate(line);
        self.prefetcher.write(line);
    }

    /// Handles a line that memory has read.
    fn on_memory_read(&mut self, id: RequestId, context: &mut Context) {
        let Request { kind, line, place, .. } = *context.requests.get(id);
        self.memory.done(place.channel, true);
        match kind {
            RequestKind::Speculate => {
                context.requests.remove(id);
                match self.prefetcher.end(id) {
                    PrefetchOutcome::Keep => self.ncache.insert(line, false),
                    PrefetchOutcome::Hand(reader) => self.port.want(reader, Slot::Send, context),
                    PrefetchOutcome::Drop => {}
                }
            }
            _ if self.is_own(id, context) => self.dma.data(id, context),
            _ => self.port.want(id, Slot::Send, context),
        }
    }

    /// Handles the acceptance of a line by memory. The first line of a packet also goes to the cache, after an old
    /// copy is invalidated.
    fn on_memory_write(&mut self, id: RequestId, context: &mut Context) {
        let Request { kind, line, place, owner, tag, .. } = *context.requests.get(id);
        self.memory.done(place.channel, false);
        // A read may have brought an older copy between the arrival of the write and its acceptance.
        self.overwrite(line);
        if self.is_own(id, context) {
            // The driver reads the header first, so this line is worth keeping (docs/models/dimm.md, nCache).
            if self.header && self.begins_packet(line) {
                self.ncache.insert(line, true);
            }
            if (self.writing.first..self.writing.next).contains(&line) {
                self.writing.last = context.now();
            }
            return self.dma.accepted(id, context);
        }
        self.port.end(id, false, context);
        context.send(self.cha, self.to_cha_ps, Payload::Accepted(id));
        match kind {
            RequestKind::FlushDoorbell => self.on_doorbell(PacketId(tag), owner, context),
            RequestKind::FlushTail => {
                // The driver packs three values into the tag: armed in bit 31, the queue below it, the count in the
                // low 16 bits.
                let (queue, armed, count) = ((tag >> 16) as u16 & 0x7fff, tag >> 31 == 1, tag as u16);
                self.notify_nic(RegisterAccess::Tail { queue, count, armed }, context);
            }
            _ => {}
        }
    }

    /// Starts what can start: lines of the DMA engine, clones, requests to memory.
    fn advance(&mut self, context: &mut Context) {
        // The NIC's lines first, so that they are in the queues when requests are granted.
        while let Some(id) = self.dma.next(context) {
            self.counters.dma_read += u64::from(context.requests.get(id).kind.is_read());
            self.memory.ask(id, true, context);
        }
        let Self { clones, memory, counters, ncache, prefetcher, .. } = self;
        if clones.waits() {
            let first = memory_of(1) / 64;
            let mut overwrite = |row: u32, lines: u32| {
                let line = first + u64::from(row) * u64::from(lines);
                for line in line..line + u64::from(lines) {
                    ncache.invalidate(line);
                    prefetcher.write(line);
                }
            };
            clones.begin(memory, counters, &mut overwrite, context);
        }
        // While a clone waits no read is granted, so that the writes to its banks drain.
        let reads = !self.clones.waits();
        self.memory.grant(reads, &mut self.counters, context);
    }
}

impl Part for Dimm {
    fn kind(&self) -> PartKind {
        PartKind::Dimm
    }

    /// Schedules the first refreshes of the memory controllers.
    fn start(&mut self, start: &mut StartContext<'_>) {
        self.memory.channels_mut().for_each(|channel| channel.start(start));
    }

    fn on_event(&mut self, payload: Payload, source: ComponentId, context: &mut Context) {
        match payload {
            Payload::Arrive(id) => self.port.arrive(id, context),
            Payload::Slot { id, slot } => self.on_slot(id, slot, context),
            Payload::Wake => self.memory.channels_mut().for_each(|channel| channel.on_wake(context)),
            Payload::Read(id) => self.on_memory_read(id, context),
            Payload::Accepted(id) => self.on_memory_write(id, context),
            Payload::Data(id) => self.port.want(id, Slot::Send, context),
            Payload::WriteTlp { line, lines, class, tag, .. } => {
                self.on_dma_write(line, lines, class, tag, context.now());
            }
            Payload::ReadTlp { line, lines, class, .. } => self.dma.read(line, lines, class),
            Payload::Clone { from, to, packet, lines, received } => {
                self.clones.announce([from, to, lines.into()], packet, source, received);
                self.command(packet, context);
            }
            Payload::Cloned(packet) => self.on_cloned(packet, context),
            other => unreachable!("a DIMM was sent {other:?}"),
        }
        // Every event may free an entry, a credit or a bank.
        self.advance(context);
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        self.port.pools(visit);
        self.dma.pools(visit);
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.domains_mut(), now);
        self.memory.settle(now);
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.domains_mut(), now);
        self.memory.reset(now);
        self.counters = DimmCounters::default();
    }
}
