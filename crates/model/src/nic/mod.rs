//! The NIC: packets from the cable to memory and cores, and back.
//!
//! A packet from the cable lies in the receive buffer until the last TLP with its data is sent; the buffer is one
//! queue, whose head waits for a descriptor of its ring and for posted credits. Segments of cores are read from memory,
//! cut into packets and sent by the port.

mod counters;
mod memory;
mod queue;
mod rdma;
mod receive;
mod sent;
#[cfg(test)]
mod tests;
mod transmit;

pub use counters::{DropReason, FlowCounters, NicCounters, Tally, Wait};
pub use memory::QueueMemory;
pub use rdma::{RdmaEnd, RDMA_MTU_MAX, RDMA_REGION_BYTES};

use crate::ether::{Egress, WireParams};
use crate::line::{PacketId, Pages, Rings, Translator};
use crate::link::Endpoint;
use crate::params::NicParams;
use crate::part::{self, Context, Part, PartKind, Payload, Pool, Start};
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
use queue::Queue;
use rdma::Rdma;
use receive::{Receive, Step};
use sent::Sent;
use serde::{Deserialize, Serialize};
use transmit::Transmit;

/// What the NIC knows of a flow. Flows of other hosts have an entry, too, which is not looked at.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NicFlow {
    /// The class that its lines count as.
    pub class: u8,
    /// The receive queue that it was steered to (aRFS); without one a hash spreads flows (RSS).
    pub queue: Option<u16>,
    /// The core that sends it, and is told when its segments have left.
    pub core: ComponentId,
    /// Data that segments are cut into at most, in bytes; at least 1.
    pub mss_bytes: u32,
}

/// Where a NIC sits in its server and in the network.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// The IIO that its PCIe link leads to.
    pub iio: ComponentId,
    /// Number of the link there: as many as there are drives.
    pub link: u8,
    /// Per receive queue: the core that it belongs to, whose segments go by its send queue. Without any the NIC takes
    /// nothing but RDMA.
    pub cores: Vec<ComponentId>,
    /// Per receive queue: the memory of both.
    pub memory: Vec<QueueMemory>,
    /// Whether queues may interrupt from the start; not when their cores poll.
    pub armed: bool,
    /// The flows, by their number in packets.
    pub flows: Vec<NicFlow>,
    /// The ends of RoCE flows here, which need no core.
    pub rdma: Vec<RdmaEnd>,
    /// Its end of the cable. Its `before_ps` is set by the NIC.
    pub wire: WireParams,
    /// Classes of traffic.
    pub classes: usize,
}

/// What both directions share.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Common {
    params: NicParams,
    pages: Translator,
    flows: Vec<NicFlow>,
    /// Spreads flows over queues.
    hash: u64,
    port: Egress,
    rdma: Rdma,
    counters: NicCounters,
    flow_counters: Vec<FlowCounters>,
}

impl Common {
    fn queue_of(&self, flow: u32) -> u16 {
        self.flows[flow as usize].queue.unwrap_or_else(|| {
            // The upper bits of a product spread small numbers evenly (Fibonacci hashing).
            let mixed = (u64::from(flow) ^ self.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            ((mixed * u64::from(self.params.queues)) >> 32) as u16
        })
    }
}

/// A NIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Nic {
    common: Common,
    endpoint: Endpoint,
    /// The time of the pending `Send` that counts; an earlier one makes a later one void.
    wake: Option<Time>,
    receive: Receive,
    transmit: Transmit,
    /// Whether reads have the next turn on the lane.
    read_turn: bool,
}

impl Nic {
    /// A NIC as `wiring` says.
    ///
    /// # Panics
    /// If there are not as many cores as queues, a queue's pool holds no buffer, the send window does not hold a
    /// packet, or credits do not hold a TLP.
    #[must_use]
    pub fn new(params: NicParams, wiring: Wiring, pages: Pages, mut rng: Rng) -> Self {
        let Wiring { iio, link, cores, memory, armed, flows, rdma, mut wire, classes } = wiring;
        assert_eq!(cores.len() as u32, params.queues, "every queue has a core");
        assert_eq!(memory.len(), cores.len(), "every queue has memory");
        assert!(params.queues == 0 || params.ring_entries > 0, "a queue has descriptors");
        assert!(params.pool_bytes >= u64::from(params.descriptor_bytes), "the pool of a queue holds a buffer");
        assert!(params.completion_bytes > 0 && params.completion_bytes <= 64, "a completion is a line");
        let largest = flows.iter().map(|flow| flow.mss_bytes).max().unwrap_or(1);
        let largest = if rdma.is_empty() { largest } else { largest.max(RDMA_MTU_MAX) };
        assert!(params.send_window_bytes >= largest, "the send window holds a packet");
        let pcie = &params.pcie;
        assert!(pcie.posted_lines >= pcie.mps_bytes / 64, "posted credits hold a TLP");
        assert!(pcie.nonposted_lines >= pcie.mrrs_bytes / 64, "read credits hold a request");
        wire.before_ps = params.transmit_ps;
        let queues = cores.iter().zip(&memory);
        let queues = queues.map(|(&core, memory)| Queue::new(&params, core, memory, armed)).collect();
        let senders: Vec<ComponentId> = flows.iter().map(|flow| flow.core).collect();
        let rings = |core: ComponentId| {
            let queue = cores.iter().position(|&other| other == core);
            queue.map_or(Rings::NONE, |queue| memory[queue].rings())
        };
        let lossy_bytes = receive::lossy_bytes(&params, &wire, params.line_size.expand(params.descriptor_bytes));
        Self {
            endpoint: Endpoint::new(iio, link, params.pcie.clone(), classes),
            wake: None,
            receive: Receive::new(queues, flows.len(), lossy_bytes),
            transmit: Transmit::new(&senders, rings),
            read_turn: false,
            common: Common {
                pages: Translator::new(pages),
                hash: rng.next_u64(),
                port: Egress::new(&wire),
                rdma: Rdma::new(rdma, flows.len()),
                counters: NicCounters::default(),
                flow_counters: vec![FlowCounters::default(); flows.len()],
                flows,
                params,
            },
        }
    }

    /// What it counts as a whole, since the last reset; settle before reading means.
    #[must_use]
    pub fn counters(&self) -> &NicCounters {
        &self.common.counters
    }

    /// What became of the packets of each flow, since the start of the run.
    #[must_use]
    pub fn flows(&self) -> &[FlowCounters] {
        &self.common.flow_counters
    }

    /// Its port, with what it sent and for how long it was paused.
    #[must_use]
    pub fn port(&self) -> &Egress {
        &self.common.port
    }

    /// PCIe posted credits of its link.
    #[must_use]
    pub fn posted(&self) -> &Domain {
        self.endpoint.posted()
    }

    /// Lines that it has asked for and not yet received.
    #[must_use]
    pub fn nonposted(&self) -> &Domain {
        self.endpoint.nonposted()
    }

    /// The domains, to settle or to reset.
    pub fn domains_mut(&mut self) -> [&mut Domain; 2] {
        self.endpoint.domains_mut()
    }

    /// Descriptors in the ring of a receive queue.
    #[must_use]
    pub fn descriptors(&self, queue: u16) -> u32 {
        self.receive.queue(queue).free
    }

    /// The virtual address of the memory that the frames of a receive queue go through.
    #[must_use]
    pub fn frames_from(&self, queue: u16) -> u64 {
        self.receive.queue(queue).base
    }

    /// The receive queue that a flow's packets go to.
    #[must_use]
    pub fn queue_of(&self, flow: u32) -> u16 {
        self.common.queue_of(flow)
    }

    /// Segments of cores that are not yet wholly cut into packets.
    #[must_use]
    pub fn segments(&self) -> u32 {
        self.transmit.segments()
    }

    /// Bytes asked of memory for sending and not yet sent.
    #[must_use]
    pub fn send_window_used(&self) -> u32 {
        self.transmit.window_used()
    }

    /// The ends of RoCE flows.
    pub fn rdma(&self) -> impl Iterator<Item = &RdmaEnd> {
        self.common.rdma.ends()
    }

    /// The events that it begins with: how many ps from the start, and what it is to be sent.
    pub fn starts(&self) -> impl Iterator<Item = (u64, Payload)> + '_ {
        let ends = (0..).zip(self.rdma()).filter(|(_, end)| end.initiator);
        ends.map(|(connection, end)| (end.start_ps.max(1), Payload::Begin { connection }))
    }

    /// Sends a TLP: writes and reads take turns.
    fn send(&mut self, context: &mut Context) {
        let (endpoint, common) = (&mut self.endpoint, &mut self.common);
        if self.read_turn && self.transmit.read(endpoint, common, context) {
            self.read_turn = false;
            return;
        }
        if self.transmit.sent.write(endpoint, common, context) {
            self.read_turn = true;
            return;
        }
        let may_write =
            matches!(self.receive.next(endpoint, context.packets, common), Step::Write(time) if time <= context.now());
        if may_write {
            self.receive.write(endpoint, common, context);
            self.read_turn = true;
        } else if !self.read_turn {
            self.transmit.read(endpoint, common, context);
        }
    }

    /// Sees to it that the next TLP is sent, and notes what the head of the buffer waits for.
    fn plan(&mut self, context: &mut Context) {
        let now = context.now();
        let (write, wait) = match self.receive.next(&self.endpoint, context.packets, &self.common) {
            Step::Write(time) => (Some(time), Wait::None),
            Step::Wait(wait) => (None, wait),
        };
        self.common.counters.wait(now, wait);
        let read = self.transmit.next(now, &self.endpoint, context.packets, &self.common);
        let completion = self.transmit.sent.may_write(&self.endpoint, &self.common).then_some(now);
        if let Some(time) = write.into_iter().chain(read).chain(completion).min() {
            self.wake_at(time, context);
        }
    }

    /// Sees to it that a `Send` comes at `time`, or as soon as the lane is free after it.
    fn wake_at(&mut self, time: Time, context: &mut Context) {
        let time = time.max(self.endpoint.free_at()).max(context.now() + 1);
        if self.wake.is_none_or(|wake| wake > time) {
            self.wake = Some(time);
            context.send(context.id, time.since(context.now()), Payload::Send);
        }
    }

    /// Whether the `Send` that came is the one that counts.
    fn awake(&mut self, now: Time) -> bool {
        let due = self.wake == Some(now);
        if due {
            self.wake = None;
        }
        due
    }
}

impl Part for Nic {
    fn kind(&self) -> PartKind {
        PartKind::Nic
    }

    fn start(&mut self, start: &mut Start<'_>) {
        self.starts().for_each(|(delay_ps, payload)| start.wake(delay_ps, payload));
    }

    fn on_event(&mut self, payload: Payload, _source: ComponentId, context: &mut Context) {
        if payload == Payload::Send && !self.awake(context.now()) {
            return;
        }
        let common = &mut self.common;
        match payload {
            Payload::Send => self.send(context),
            Payload::Packet { id, .. } => {
                context.packets.pass(id, context.id, context.now());
                self.receive.arrive(id, common, context);
            }
            Payload::PostedCredit { lines } => match PacketId(self.endpoint.credited(context.now(), lines)) {
                PacketId::NONE => {}
                Sent::TAG => self.transmit.sent.deliver(context),
                packet => self.receive.deliver(packet, common, context),
            },
            Payload::Completion { lines, .. } => {
                self.endpoint.completed(context.now(), lines);
                self.transmit.complete(u32::from(lines), common, context);
            }
            Payload::Replenished { queue, count, armed } => {
                self.receive.replenish(queue, count, armed, common, context);
            }
            Payload::Interrupt { queue } => self.receive.expire(queue, common, context),
            Payload::Begin { connection } => common.rdma.begin(connection),
            Payload::Timer { connection, generation } => common.rdma.on_timer(connection, generation, context),
            Payload::Transmit(id) => self.transmit.enqueue(id, common, context),
            Payload::PortReady { .. } => {
                if let Some(left) = common.port.on_ready(&mut context.net()) {
                    self.transmit.leave(&left, common, context);
                }
            }
            Payload::Pause { priority, on, .. } => {
                common.counters.pauses_received += u64::from(on);
                common.port.on_pause(priority, on, &mut context.net());
            }
            other => unreachable!("a NIC was sent {other:?}"),
        }
        self.plan(context);
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        self.endpoint.pools(visit);
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.domains_mut(), now);
        self.common.counters.settle(now);
        self.common.port.settle(now);
    }

    /// Counters of flows go on.
    fn reset(&mut self, now: Time) {
        part::reset(self.domains_mut(), now);
        self.common.counters.reset(now);
        self.common.rdma.reset();
        self.common.port.reset(now);
    }

    /// Its RoCE flows ask for nothing more.
    fn stop(&mut self) {
        self.common.rdma.stop();
    }
}
