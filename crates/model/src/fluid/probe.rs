//! Load generators that measure the rates of a server: a packet source and cores that copy, each at a given load.

use crate::cache::Caches;
use crate::line::{Content, Ecn, Packet, PacketId};
use crate::os::PacketCopier;
use crate::part::{self, Context, Part, PartKind, Payload, StartContext};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Consecutive packets of a flow: the packets that one segment of a sender is cut into (64 KiB at an MTU of 4 KiB).
const RUN_PACKETS: u32 = 16;
/// Bytes of an Ethernet header.
const ETHERNET_BYTES: u32 = 14;

/// Returns the lines of a packet of `ip_bytes` bytes.
#[must_use]
pub fn lines_of(ip_bytes: u32) -> u32 {
    (ip_bytes + ETHERNET_BYTES).div_ceil(64)
}

/// Load generator of a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Probe {
    /// Core that does nothing but copy.
    Copier(Box<Copier>),
    /// Source that sends packets to the NIC and takes received packets from it.
    Feeder(Feeder),
}

impl Part for Probe {
    fn kind(&self) -> PartKind {
        match self {
            Self::Copier(_) => PartKind::Core,
            Self::Feeder(_) => PartKind::Feeder,
        }
    }

    fn start(&mut self, start: &mut StartContext<'_>) {
        start.wake(1 + start.index * 137, Payload::Step);
    }

    fn on_event(&mut self, payload: Payload, _source: ComponentId, context: &mut Context) {
        match self {
            Self::Copier(copier) => copier.on_event(payload, context),
            Self::Feeder(feeder) => feeder.on_event(payload, context),
        }
    }

    fn settle(&mut self, now: Time) {
        if let Self::Copier(copier) = self {
            copier.settle(now);
        }
    }

    fn reset(&mut self, now: Time) {
        if let Self::Copier(copier) = self {
            copier.settle(now);
            copier.idle_ps = 0;
            part::reset(copier.lines.domains_mut(), now);
        }
    }
}

/// Core that copies packets without end, or as they arrive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Copier {
    lines: PacketCopier,
    step: Option<Time>,
    /// Time since which the core has had nothing to copy, if it has nothing.
    idle_since: Option<Time>,
    idle_ps: u64,
}

impl Copier {
    /// Creates a core that copies `lines`.
    #[must_use]
    pub fn new(lines: PacketCopier) -> Self {
        Self { lines, step: None, idle_since: None, idle_ps: 0 }
    }

    /// Returns the lines copied since the start.
    #[must_use]
    pub fn copied(&self) -> u64 {
        self.lines.copied()
    }

    /// Returns the time without anything to copy since the last reset, in ps.
    #[must_use]
    pub fn idle_ps(&self) -> u64 {
        self.idle_ps
    }

    /// Returns the domain C2M-Read of the core.
    #[must_use]
    pub fn read(&self) -> &Domain {
        self.lines.read()
    }

    /// Copies a packet of `lines` lines, from virtual line `line` on, in `caches` alone, before the simulation starts.
    pub fn warm_up(&mut self, line: u64, lines: u32, caches: &mut Caches) {
        self.lines.warm_up(line, lines, caches);
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.lines.domains_mut(), now);
        self.count_idle(now);
        self.idle_since = self.idle_since.map(|_| now);
    }

    fn count_idle(&mut self, now: Time) {
        self.idle_ps += self.idle_since.map_or(0, |since| now.since(since));
    }

    fn on_event(&mut self, payload: Payload, context: &mut Context) {
        let now = context.now();
        match payload {
            Payload::Step => {}
            Payload::Received(id) => {
                let Packet { line, ip_bytes, .. } = context.packets.remove(id);
                self.lines.queue_packet(line, lines_of(ip_bytes));
            }
            payload => self.lines.on_event(payload, context),
        }
        if self.idle_since.is_some() {
            // Waits for as many packets as the kernel merges: an application is notified of all of them at once.
            if self.lines.waiting() < RUN_PACKETS as usize {
                return;
            }
            self.count_idle(now);
            self.idle_since = None;
        }
        // The core is still busy with what it has begun.
        if self.step.is_some_and(|step| step > now) {
            return;
        }
        self.step = self.lines.advance(context);
        match self.step {
            Some(step) => context.send(context.id, step.since(now).max(1), Payload::Step),
            None if self.lines.is_done() => self.idle_since = Some(now),
            None => {}
        }
    }
}

/// Source of packets, which also takes received packets from the NIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Feeder {
    /// NIC that the packets go to.
    nic: ComponentId,
    /// By queue: core that copies received packets; without one nothing reads them.
    readers: Vec<ComponentId>,
    /// Number of flows, one for each queue of the NIC.
    flows: u32,
    ip_bytes: u32,
    /// Maximum number of packets in the NIC.
    most: u32,
    /// Packets in the NIC.
    inside: u32,
    /// Time between packets in units of 2^-10 ps; 0 keeps the maximum number of packets in the NIC.
    gap: u64,
    /// Time that is left of earlier gaps, in the same unit.
    due: u64,
    sent: u32,
}

impl Feeder {
    /// Creates a source that sends packets of `ip_bytes` bytes from `flows` flows, which take turns, one every `gap`
    /// (in units of 2^-10 ps), with at most `most` packets in the NIC. With a gap of 0 there are always that many.
    #[must_use]
    pub fn new(nic: ComponentId, flows: u32, ip_bytes: u32, most: u32, gap: u64) -> Self {
        let most = most.max(1);
        Self { nic, readers: Vec::new(), flows, ip_bytes, most, inside: 0, gap, due: 0, sent: 0 }
    }

    /// Adds a core for each queue, which copies received packets.
    #[must_use]
    pub fn with_readers(self, readers: Vec<ComponentId>) -> Self {
        Self { readers, ..self }
    }

    fn on_event(&mut self, payload: Payload, context: &mut Context) {
        match payload {
            Payload::Step => self.send_next(context),
            Payload::Received(id) => self.received(id, context),
            // The source ignores interrupts and doorbells.
            _ => {}
        }
    }

    fn send_next(&mut self, context: &mut Context) {
        if self.gap == 0 {
            while self.inside < self.most {
                self.send(context);
            }
            return;
        }
        if self.inside < self.most {
            self.send(context);
        }
        self.due += self.gap;
        // The fraction of a ps is kept for the next gap, so that the mean rate is exact.
        let delay = (self.due >> 10).max(1);
        self.due -= delay.min(self.due >> 10) << 10;
        context.send(context.id, delay, Payload::Step);
    }

    fn send(&mut self, context: &mut Context) {
        self.inside += 1;
        // Packets come in runs of one flow, as the segments of a sender do.
        let flow = self.sent / RUN_PACKETS % self.flows.max(1);
        self.sent = self.sent.wrapping_add(1);
        let packet = Packet {
            flow,
            from: 0,
            to: 0,
            ip_bytes: self.ip_bytes,
            ecn: Ecn::NotCapable,
            priority: 0,
            corrupt: false,
            copy: false,
            queue: 0,
            order: 0,
            line: 0,
            content: Content::Raw,
            next: PacketId::NONE,
        };
        let id = context.packets.insert(packet);
        context.send(self.nic, 1, Payload::Packet { id, port: 0 });
    }

    fn received(&mut self, id: PacketId, context: &mut Context) {
        let queue = context.packets.get(id).queue;
        match self.readers.get(usize::from(queue)) {
            Some(&reader) => context.send(reader, 1, Payload::Received(id)),
            None => drop(context.packets.remove(id)),
        }
        self.inside -= 1;
        // The source polls, so the card never interrupts.
        context.send(self.nic, 1, Payload::Replenished { queue, count: 1, armed: false });
        if self.gap == 0 {
            self.send_next(context);
        }
    }
}
