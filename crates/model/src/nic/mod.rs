//! The NIC moves packets from the cable to memory and cores, and from cores to the cable.
//!
//! A received packet occupies the receive buffer until its last data TLP is sent. The buffer is one FIFO per
//! function: the packet at its head waits for a descriptor of its ring and for posted credits. On the send side, the
//! NIC reads the segments of cores from memory, cuts them into packets and hands these to the port.

mod arbitration;
mod counters;
mod engines;
mod events;
mod function;
mod gather;
mod memory;
mod ncap;
mod pool;
mod queue;
mod rdma;
mod reader;
mod receive;
mod registers;
mod segments;
mod sent;
mod steering;
#[cfg(test)]
mod tests;
mod transmit;
mod waits;
mod wiring;
mod writer;

pub use counters::{DropReason, FlowCounters, HeadWait, NicCounters, Tally};
pub use memory::QueueMemory;
pub use ncap::{NcapCounts, NcapWiring};
pub use rdma::{RankEnd, RdmaEnd};
pub use waits::NicWaits;
pub use wiring::{FunctionWiring, NicFlow, NicWiring, QueueWiring};

use crate::ether::{Decompressor, Egress};
use crate::line::{socket_of, PacketId, Pages, QueueRings, Translator};
use crate::params::{NicParams, PcieParams, RDMA_MTU_MAX};
use crate::part::{self, Context, Part, PartKind, Payload, Pool, StartContext};
use function::Function;
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
use queue::Queue;
use rdma::Rdma;
use receive::Receive;
use sent::Sent;
use serde::{Deserialize, Serialize};
use transmit::{QueuePlacement, Transmit};

/// State that the receive side and the send side share.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Common {
    params: NicParams,
    pages: Translator,
    /// By node: the function that reads fragments on that node (IOctoSG). Empty if the function of the queue reads
    /// all.
    hints: Vec<Option<usize>>,
    flows: Vec<NicFlow>,
    /// Payload of the largest packet that the NIC sends, in bytes.
    largest_bytes: u32,
    /// Packets received, by flow. Empty unless flows may be steered from one queue to another.
    orders: Vec<u64>,
    /// Time of the last packet received, by flow. Empty unless steering rules expire.
    used: Vec<Time>,
    /// Seed of the hash that spreads flows over queues (RSS).
    hash: u64,
    port: Egress,
    rdma: Rdma,
    counters: NicCounters,
    flow_counters: Vec<FlowCounters>,
    /// Counter of requests for power management (NCAP), if enabled.
    watch: Option<Box<ncap::NcapWatch>>,
}

impl Common {
    /// Returns the function that the descriptor names for a line of virtual memory, if it names one.
    fn hint(&mut self, line: u64) -> Option<usize> {
        if self.hints.is_empty() {
            return None;
        }
        // The hint names the node of the physical page, which the driver knows from the fragment.
        let node = socket_of(self.pages.physical(line * 64) / 64);
        self.hints.get(usize::from(node)).copied().flatten()
    }
}

/// Network interface card with one or more PCIe functions, one port and one receive buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Nic {
    common: Common,
    functions: Vec<Function>,
    receive: Receive,
    transmit: Transmit,
    /// Engine that decompresses received packets, if any.
    decompressor: Option<Box<Decompressor>>,
    /// Component that handles the messages of the memory pool, and the number of packets waiting at the port from
    /// which on prefetch messages are dropped.
    pool: Option<(ComponentId, u32)>,
    /// Intervals in which the NIC waited for PCIe, if they are recorded.
    waits: Option<Box<NicWaits>>,
}

impl Nic {
    /// Creates a NIC that is connected as `wiring` says.
    ///
    /// # Panics
    /// Panics if there is no function, if the number of queues differs from `params.queues`, if a queue names a
    /// function that does not exist or has no descriptors, if a completion is not 1 to 64 bytes, if a pool cannot
    /// hold one buffer, if the send window cannot hold one packet, or if the credits cannot cover one TLP.
    #[must_use]
    pub fn new(params: NicParams, wiring: NicWiring, pages: Pages, mut rng: Rng) -> Self {
        let NicWiring { functions, hints, queues, armed, steers, flows, rdma, mut wire, classes } = wiring;
        assert!(!functions.is_empty(), "a card has a function");
        assert_eq!(queues.len() as u32, params.queues, "every queue has a core");
        assert!(queues.iter().all(|queue| queue.function < functions.len()), "queues go by functions that there are");
        assert!(params.queues == 0 || params.ring_entries > 0, "a queue has descriptors");
        assert!(params.pool_bytes >= u64::from(params.descriptor_bytes), "the pool of a queue holds a buffer");
        assert!(params.completion_bytes > 0 && params.completion_bytes <= 64, "a completion is a line");
        let largest = flows.iter().map(|flow| flow.mss_bytes).max().unwrap_or(1);
        // RDMA packets share the send window with those of sockets.
        let largest = if rdma.is_empty() { largest } else { largest.max(RDMA_MTU_MAX) };
        // A packet larger than the window would wait for ever; so would a TLP larger than its credits.
        assert!(params.send_window_bytes >= largest, "the send window holds a packet");
        let holds = |of: &dyn Fn(&PcieParams) -> [u32; 2]| {
            functions.iter().map(|function| of(&function.pcie)).all(|[lines, bytes]| lines >= bytes / 64)
        };
        assert!(holds(&|pcie| [pcie.posted_lines, pcie.mps_bytes]), "posted credits hold a TLP");
        assert!(holds(&|pcie| [pcie.nonposted_lines, pcie.mrrs_bytes]), "read credits hold a request");
        wire.before_ps = params.transmit_ps;
        let senders: Vec<ComponentId> = flows.iter().map(|flow| flow.core).collect();
        // Cores that only receive have a send queue too, for acknowledgements.
        let all: Vec<ComponentId> = senders.iter().copied().chain(queues.iter().map(|queue| queue.core)).collect();
        let place = |core: ComponentId| {
            let queue = queues.iter().find(|queue| queue.core == core);
            queue.map_or(QueuePlacement { rings: QueueRings::NONE, function: 0, far: false, away_ps: 0 }, |queue| {
                QueuePlacement {
                    rings: queue.memory.rings(),
                    function: queue.function,
                    far: queue.far,
                    away_ps: queue.away_ps,
                }
            })
        };
        let transmit = Transmit::new(functions.len(), &senders, all, place);
        let waits = wire.watched.then(Box::default);
        let queues = queues.iter().map(|queue| Queue::new(&params, queue, armed)).collect();
        let lossy_bytes = receive::lossy_bytes(&params, &wire, params.line_size.expand(params.descriptor_bytes));
        Self {
            receive: Receive::new(functions.len(), queues, flows.len(), lossy_bytes),
            functions: functions.into_iter().map(|wiring| Function::new(wiring, classes)).collect(),
            transmit,
            decompressor: None,
            pool: None,
            waits,
            common: Common {
                pages: Translator::new(pages),
                hints,
                // The key of RSS is random; it follows the seed of the run.
                hash: rng.next_u64(),
                port: Egress::new(&wire),
                rdma: Rdma::new(rdma, flows.len()),
                counters: NicCounters::default(),
                flow_counters: vec![FlowCounters::default(); flows.len()],
                orders: if steers { vec![0; flows.len()] } else { Vec::new() },
                used: if params.steer_expiry_ps > 0 { vec![Time::ZERO; flows.len()] } else { Vec::new() },
                flows,
                largest_bytes: largest,
                params,
                watch: None,
            },
        }
    }

    /// Returns the counters of the NIC since the last reset. Call `settle` before reading means of levels.
    #[must_use]
    pub fn counters(&self) -> &NicCounters {
        &self.common.counters
    }

    /// Returns the packet counters of each flow, since the start of the run.
    #[must_use]
    pub fn flows(&self) -> &[FlowCounters] {
        &self.common.flow_counters
    }

    /// Returns the port, with its counters of sent packets and of pauses.
    #[must_use]
    pub fn port(&self) -> &Egress {
        &self.common.port
    }

    /// Returns the domain of the PCIe posted credits of a function's link.
    #[must_use]
    pub fn posted(&self, function: usize) -> &Domain {
        self.functions[function].endpoint.posted()
    }

    /// Returns the domain of the lines that a function has requested and not yet received.
    #[must_use]
    pub fn nonposted(&self, function: usize) -> &Domain {
        self.functions[function].endpoint.nonposted()
    }

    /// Returns the time since the last reset for which the lane from a function to its IIO was busy, in ps.
    #[must_use]
    pub fn lane_busy_ps(&self, function: usize, now: Time) -> u64 {
        self.functions[function].endpoint.busy_ps(now)
    }

    /// Returns the number of a function's link at its IIO.
    #[must_use]
    pub fn link(&self, function: usize) -> u8 {
        self.functions[function].endpoint.link()
    }

    /// Returns the credit domains of all functions, to settle or reset them.
    fn domains_mut(&mut self) -> impl Iterator<Item = &mut Domain> {
        self.functions.iter_mut().flat_map(|function| function.endpoint.domains_mut())
    }

    /// Returns the number of functions.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.functions.len()
    }

    /// Returns the number of flows steered to queues of a function since the last reset.
    #[must_use]
    pub fn steered_to(&self, function: usize) -> u64 {
        self.functions[function].steered
    }

    /// Returns the bytes that a function has written and requested since the last reset. A burst counts with all the
    /// lines that it stands for.
    #[must_use]
    pub fn moved_bytes(&self, function: usize) -> [u64; 2] {
        let endpoint = &self.functions[function].endpoint;
        [endpoint.written_bytes(), endpoint.asked_bytes()].map(|bytes| self.common.params.line_size.expand(bytes))
    }

    /// Returns the number of descriptors in the ring of a receive queue.
    #[must_use]
    pub fn descriptors(&self, queue: u16) -> u32 {
        self.receive.queue(queue).free
    }

    /// Returns the virtual address at which the buffer pool of a receive queue begins.
    #[must_use]
    pub fn frames_from(&self, queue: u16) -> u64 {
        self.receive.queue(queue).base
    }

    /// Returns the receive queue that packets of a flow go to.
    #[must_use]
    pub fn queue_of(&self, flow: u32) -> u16 {
        self.common.queue_of(flow)
    }

    /// Returns the number of segments of cores that are not yet fully cut into packets.
    #[must_use]
    pub fn segments(&self) -> u32 {
        self.transmit.segments()
    }

    /// Returns the bytes requested from memory for sending and not yet sent.
    #[must_use]
    pub fn send_window_used(&self) -> u32 {
        self.transmit.window_used()
    }

    /// Returns the local ends of RoCE flows.
    pub fn rdma(&self) -> impl Iterator<Item = &RdmaEnd> {
        self.common.rdma.ends()
    }

    /// Returns the initial events of the NIC: delay from the start of the run in ps, and payload.
    pub fn starts(&self) -> impl Iterator<Item = (u64, Payload)> + '_ {
        let ends = (0..).zip(self.rdma()).filter(|(_, end)| end.initiator);
        ends.map(|(connection, end)| (end.start_ps.max(1), Payload::Begin { connection }))
    }
}

impl Part for Nic {
    fn kind(&self) -> PartKind {
        PartKind::Nic
    }

    fn start(&mut self, start: &mut StartContext<'_>) {
        self.starts().for_each(|(delay_ps, payload)| start.wake(delay_ps, payload));
        self.common.watch.iter().for_each(|watch| watch.start(start));
    }

    fn on_event(&mut self, payload: Payload, source: ComponentId, context: &mut Context) {
        // A wake-up that an earlier one has replaced changes nothing, so no plan is needed.
        if payload == Payload::Send && !self.send_due(context) {
            return;
        }
        if self.pool.is_some() && self.forward_pool_message(payload, source, context) {
            return;
        }
        let common = &mut self.common;
        match payload {
            Payload::Send => {}
            Payload::Packet { id, port } => {
                // A decompressed packet comes back on `Decompressor::PORT` and must not be decompressed again.
                if port != Decompressor::PORT && self.decompressor.is_some() && self.decompress(id, context) {
                    return;
                }
                let common = &mut self.common;
                // Traces show the packet at the NIC from here on, after decompression.
                context.packets.pass(id, context.id, context.now());
                self.receive.arrive(id, common, context);
            }
            Payload::PostedCredit { lines } => {
                let number = self.function_at(source);
                match PacketId(self.functions[number].endpoint.credited(context.now(), lines).0) {
                    PacketId::NONE => {}
                    Sent::TAG => self.transmit.sent.deliver(number, context),
                    packet => self.receive.deliver(packet, &mut self.common, context),
                }
            }
            Payload::Seen { tag } => match PacketId(tag.0) {
                Sent::TAG => self.transmit.sent.see(self.function_at(source), context),
                packet => self.receive.deliver(packet, &mut self.common, context),
            },
            Payload::Completion { lines, .. } => {
                let number = self.function_at(source);
                self.functions[number].endpoint.completed(context.now(), lines);
                self.transmit.complete(number, u32::from(lines), &mut self.common, context);
                // After `complete`, which has collected the queues whose descriptors have arrived.
                self.take_fetched();
            }
            Payload::Replenished { queue, count, armed } => {
                self.receive.replenish(queue, count, armed, common, context);
            }
            Payload::Interrupt { queue } => self.receive.expire(queue, common, context),
            Payload::Power(event) => self.on_power(event, context),
            Payload::Register { access, .. } => self.on_register(access, source, context),
            Payload::Begin { connection } => common.rdma.begin(connection),
            Payload::Post { flow, bytes } => common.rdma.post(flow, bytes, context),
            Payload::Timer { connection, generation } => common.rdma.on_timer(connection, generation, context),
            Payload::Transmit(id) => self.transmit.enqueue(id, source, common, context),
            Payload::Steer { flow, queue } => self.steer(flow, queue, source, context),
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
        // Credits, descriptors and the window change only at events, so planning after each is enough.
        self.plan(context);
        if self.waits.is_some() {
            self.note_waits(context.now());
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        self.functions.iter().for_each(|function| function.endpoint.pools(visit));
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.domains_mut(), now);
        self.common.counters.settle(now);
        self.common.port.settle(now);
    }

    /// Resets the counters of the window. Counters of flows continue.
    fn reset(&mut self, now: Time) {
        part::reset(self.domains_mut(), now);
        self.functions.iter_mut().for_each(|function| function.reset(now));
        self.common.counters.reset(now);
        self.common.rdma.reset();
        self.common.port.reset(now);
        self.reset_ncap();
        self.decompressor.iter_mut().for_each(|decompressor| decompressor.reset(now));
    }

    /// Stops the RoCE flows from issuing further requests.
    fn stop(&mut self) {
        self.common.rdma.stop();
    }
}
