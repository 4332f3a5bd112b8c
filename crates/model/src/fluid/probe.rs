//! Parts that load a server to find its rates: what packets bring, and what copies cost, each as much as asked for.

use crate::line::{Content, Ecn, Packet, PacketId};
use crate::os::CopyLines;
use crate::part::{self, Context, Part, PartKind, Payload, Start};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Packets of a flow that come one after the other, as what a sender hands down at once is cut into (64 KiB at an MTU
/// of 4 KiB).
const RUN_PACKETS: u32 = 16;

/// A part that loads a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Probe {
    /// A core that does nothing but copy.
    Copier(Box<Copier>),
    /// What sends packets to the NIC and takes them off its hands.
    Feeder(Feeder),
}

impl Part for Probe {
    fn kind(&self) -> PartKind {
        match self {
            Self::Copier(_) => PartKind::Core,
            Self::Feeder(_) => PartKind::Feeder,
        }
    }

    fn start(&mut self, start: &mut Start<'_>) {
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
            part::settle(copier.lines.domains_mut(), now);
        }
    }

    fn reset(&mut self, now: Time) {
        if let Self::Copier(copier) = self {
            part::reset(copier.lines.domains_mut(), now);
        }
    }
}

/// A core that copies packets from memory without end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Copier {
    lines: CopyLines,
    step: Option<Time>,
}

impl Copier {
    /// A core with these lines.
    #[must_use]
    pub fn new(lines: CopyLines) -> Self {
        Self { lines, step: None }
    }

    /// Lines copied since the start.
    #[must_use]
    pub fn copied(&self) -> u64 {
        self.lines.copied()
    }

    /// C2M-Read of its core.
    #[must_use]
    pub fn read(&self) -> &Domain {
        self.lines.read()
    }

    fn on_event(&mut self, payload: Payload, context: &mut Context) {
        if payload != Payload::Step {
            self.lines.on_event(payload, context);
        }
        if self.step.is_some_and(|step| step > context.now()) {
            return;
        }
        self.step = self.lines.advance(context);
        if let Some(step) = self.step {
            context.send(context.id, step.since(context.now()).max(1), Payload::Step);
        }
    }
}

/// A source of packets that takes them off the NIC again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Feeder {
    /// The NIC.
    nic: ComponentId,
    /// One for each of its queues.
    flows: u32,
    ip_bytes: u32,
    /// Packets that may be in the NIC, and that are.
    most: u32,
    inside: u32,
    /// Time between packets in units of 2^-10 ps; 0 = as many as may be in the NIC.
    gap: u64,
    due: u64,
    sent: u32,
}

impl Feeder {
    /// Sends packets of `ip_bytes` bytes of `flows` flows in turn, every `gap` (in 2^-10 ps), and never lets more than
    /// `most` be in the NIC; with a gap of 0 there are always so many.
    #[must_use]
    pub fn new(nic: ComponentId, flows: u32, ip_bytes: u32, most: u32, gap: u64) -> Self {
        Self { nic, flows, ip_bytes, most: most.max(1), inside: 0, gap, due: 0, sent: 0 }
    }

    fn on_event(&mut self, payload: Payload, context: &mut Context) {
        match payload {
            Payload::Step => self.go_on(context),
            Payload::Received(id) => self.received(id, context),
            // Interrupts and doorbells mean nothing to it.
            _ => {}
        }
    }

    fn go_on(&mut self, context: &mut Context) {
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
        let delay = (self.due >> 10).max(1);
        self.due -= delay.min(self.due >> 10) << 10;
        context.send(context.id, delay, Payload::Step);
    }

    fn send(&mut self, context: &mut Context) {
        self.inside += 1;
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
            queue: 0,
            line: 0,
            content: Content::Raw,
            next: PacketId::NONE,
        };
        let id = context.packets.insert(packet);
        context.send(self.nic, 1, Payload::Packet { id, port: 0 });
    }

    fn received(&mut self, id: PacketId, context: &mut Context) {
        let queue = context.packets.remove(id).queue;
        self.inside -= 1;
        context.send(self.nic, 1, Payload::Replenished { queue, count: 1, armed: false });
        if self.gap == 0 {
            self.go_on(context);
        }
    }
}
