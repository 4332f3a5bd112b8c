//! The NIC moves packets from the cable to memory and cores, and from cores to the cable.
//!
//! A received packet occupies the receive buffer until its last data TLP is sent. The buffer is one FIFO per
//! function: the packet at its head waits for a descriptor of its ring and for posted credits. On the send side, the
//! NIC reads the segments of cores from memory, cuts them into packets and hands these to the port.

mod arbitration;
mod counters;
mod data_path;
mod dma_reads;
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
mod receive_buffer;
mod registers;
mod segments;
mod send_queue;
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
use crate::line::{PacketId, Pages, QueueRings, Translator};
use crate::params::{NicParams, PcieParams, RDMA_MTU_MAX};
use crate::part::{self, Context, Part, PartKind, Payload, Pool, StartContext};
use data_path::{Common, DataPath};
use function::Function;
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
use queue::Queue;
use rdma::Rdma;
use receive::Receive;
use send_queue::QueuePlacement;
use sent::Sent;
use serde::{Deserialize, Serialize};
use transmit::Transmit;

/// Network interface card with one or more PCIe functions, one port and one receive buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Nic {
    path: DataPath,
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
        let lossy_bytes = receive_buffer::lossy_bytes(&params, &wire, params.line_size.expand(params.descriptor_bytes));
        Self {
            path: DataPath {
                receive: Receive::new(functions.len(), queues, flows.len(), lossy_bytes),
                functions: functions.into_iter().map(|wiring| Function::new(wiring, classes)).collect(),
                transmit,
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
            },
            decompressor: None,
            pool: None,
            waits,
        }
    }

    /// Returns the counters of the NIC since the last reset. Call `settle` before reading means of levels.
    #[must_use]
    pub fn counters(&self) -> &NicCounters {
        &self.path.common.counters
    }

    /// Returns the packet counters of each flow, since the start of the run.
    #[must_use]
    pub fn flows(&self) -> &[FlowCounters] {
        &self.path.common.flow_counters
    }

    /// Returns the intervals in which the NIC waited for PCIe, if they are recorded.
    #[must_use]
    pub fn waits(&self) -> Option<&NicWaits> {
        self.waits.as_deref()
    }

    /// Returns the port, with its counters of sent packets and of pauses.
    #[must_use]
    pub fn port(&self) -> &Egress {
        &self.path.common.port
    }

    /// Returns the domain of the PCIe posted credits of a function's link.
    #[must_use]
    pub fn posted(&self, function: usize) -> &Domain {
        self.path.functions[function].endpoint.posted()
    }

    /// Returns the domain of the lines that a function has requested and not yet received.
    #[must_use]
    pub fn nonposted(&self, function: usize) -> &Domain {
        self.path.functions[function].endpoint.nonposted()
    }

    /// Returns the time since the last reset for which the lane from a function to its IIO was busy, in ps.
    #[must_use]
    pub fn lane_busy_ps(&self, function: usize, now: Time) -> u64 {
        self.path.functions[function].endpoint.busy_ps(now)
    }

    /// Returns the number of a function's link at its IIO.
    #[must_use]
    pub fn link(&self, function: usize) -> u8 {
        self.path.functions[function].endpoint.link()
    }

    /// Returns the credit domains of all functions, to settle or reset them.
    fn domains_mut(&mut self) -> impl Iterator<Item = &mut Domain> {
        self.path.functions.iter_mut().flat_map(|function| function.endpoint.domains_mut())
    }

    /// Returns the number of functions.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.path.functions.len()
    }

    /// Returns the number of flows steered to queues of a function since the last reset.
    #[must_use]
    pub fn steered_to(&self, function: usize) -> u64 {
        self.path.functions[function].steered
    }

    /// Returns the bytes that a function has written and requested since the last reset. A burst counts with all the
    /// lines that it stands for.
    #[must_use]
    pub fn moved_bytes(&self, function: usize) -> [u64; 2] {
        let endpoint = &self.path.functions[function].endpoint;
        [endpoint.written_bytes(), endpoint.asked_bytes()].map(|bytes| self.path.common.params.line_size.expand(bytes))
    }

    /// Returns the number of descriptors in the ring of a receive queue.
    #[must_use]
    pub fn descriptors(&self, queue: u16) -> u32 {
        self.path.receive.buffer.queue(queue).free
    }

    /// Returns the virtual address at which the buffer pool of a receive queue begins.
    #[must_use]
    pub fn frames_from(&self, queue: u16) -> u64 {
        self.path.receive.buffer.queue(queue).base
    }

    /// Returns the receive queue that packets of a flow go to.
    #[must_use]
    pub fn queue_of(&self, flow: u32) -> u16 {
        self.path.common.queue_of(flow)
    }

    /// Returns the number of segments of cores that are not yet fully cut into packets.
    #[must_use]
    pub fn segments(&self) -> u32 {
        self.path.transmit.segments()
    }

    /// Returns the bytes requested from memory for sending and not yet sent.
    #[must_use]
    pub fn send_window_used(&self) -> u32 {
        self.path.transmit.window_used()
    }

    /// Returns the local ends of RoCE flows.
    pub fn rdma(&self) -> impl Iterator<Item = &RdmaEnd> {
        self.path.common.rdma.ends()
    }

    /// Returns the initial events of the NIC: delay from the start of the run in ps, and payload.
    pub fn starts(&self) -> impl Iterator<Item = (u64, Payload)> + '_ {
        let ends = (0..).zip(self.rdma()).filter(|(_, end)| end.initiator);
        ends.map(|(connection, end)| (end.start_ps.max(1), Payload::Begin { connection }))
    }

    /// Records whether PCIe holds receiving or sending up.
    fn note_waits(&mut self, now: Time) {
        if let Some(waits) = &mut self.waits {
            let DataPath { common, transmit, .. } = &self.path;
            // Data is missing and the port has nothing else to send: PCIe holds sending up.
            let is_idle = common.port.waiting_packets() == 0;
            waits.note(now, common.counters.credit_wait.value() > 0, transmit.window_used() > 0 && is_idle);
        }
    }
}

impl Part for Nic {
    fn kind(&self) -> PartKind {
        PartKind::Nic
    }

    fn start(&mut self, start: &mut StartContext<'_>) {
        self.starts().for_each(|(delay_ps, payload)| start.wake(delay_ps, payload));
        self.path.common.watch.iter().for_each(|watch| watch.start(start));
    }

    fn on_event(&mut self, payload: Payload, source: ComponentId, context: &mut Context) {
        // A wake-up that an earlier one has replaced changes nothing, so no plan is needed.
        if payload == Payload::Send && !self.path.send_due(context) {
            return;
        }
        if self.pool.is_some() && self.forward_pool_message(payload, source, context) {
            return;
        }
        let common = &mut self.path.common;
        match payload {
            Payload::Send => {}
            Payload::Packet { id, port } => {
                // A decompressed packet comes back on `Decompressor::PORT` and must not be decompressed again.
                if port != Decompressor::PORT && self.decompressor.is_some() && self.decompress(id, context) {
                    return;
                }
                let common = &mut self.path.common;
                // Traces show the packet at the NIC from here on, after decompression.
                context.packets.pass(id, context.id, context.now());
                self.path.receive.arrive(id, common, context);
            }
            Payload::PostedCredit { lines } => {
                let number = self.path.function_at(source);
                match PacketId(self.path.functions[number].endpoint.credited(context.now(), lines).0) {
                    PacketId::NONE => {}
                    Sent::TAG => self.path.transmit.sent.deliver(number, context),
                    packet => self.path.receive.buffer.deliver(packet, &mut self.path.common, context),
                }
            }
            Payload::Seen { tag } => match PacketId(tag.0) {
                Sent::TAG => self.path.transmit.sent.see(self.path.function_at(source), context),
                packet => self.path.receive.buffer.deliver(packet, &mut self.path.common, context),
            },
            Payload::Completion { lines, .. } => {
                let number = self.path.function_at(source);
                self.path.functions[number].endpoint.completed(context.now(), lines);
                self.path.transmit.complete(number, u32::from(lines), &mut self.path.common, context);
                // After `complete`, which has collected the queues whose descriptors have arrived.
                self.path.take_fetched();
            }
            Payload::Replenished { queue, count, armed } => {
                self.path.receive.buffer.replenish(queue, count, armed, common, context);
            }
            Payload::Interrupt { queue } => self.path.receive.buffer.expire(queue, common, context),
            Payload::Power(event) => self.on_power(event, context),
            Payload::Register { access, .. } => self.path.on_register(access, source, context),
            Payload::Begin { connection } => common.rdma.begin(connection),
            Payload::Post { flow, bytes } => common.rdma.post(flow, bytes, context),
            Payload::Timer { connection, generation } => common.rdma.on_timer(connection, generation, context),
            Payload::Transmit(id) => self.path.transmit.enqueue(id, source, common, context),
            Payload::Steer { flow, queue } => self.path.steer(flow, queue, source, context),
            Payload::PortReady { .. } => {
                if let Some(left) = common.port.on_ready(&mut context.net()) {
                    self.path.transmit.leave(&left, common, context);
                }
            }
            Payload::Pause { priority, on, .. } => {
                common.counters.pauses_received += u64::from(on);
                common.port.on_pause(priority, on, &mut context.net());
            }
            other => unreachable!("a NIC was sent {other:?}"),
        }
        // Credits, descriptors and the window change only at events, so planning after each is enough.
        self.path.plan(context);
        self.note_waits(context.now());
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        self.path.functions.iter().for_each(|function| function.endpoint.pools(visit));
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.domains_mut(), now);
        self.path.common.counters.settle(now);
        self.path.common.port.settle(now);
    }

    /// Resets the counters of the window. Counters of flows continue.
    fn reset(&mut self, now: Time) {
        part::reset(self.domains_mut(), now);
        self.path.functions.iter_mut().for_each(|function| function.reset(now));
        self.path.common.counters.reset(now);
        self.path.common.rdma.reset();
        self.path.common.port.reset(now);
        self.reset_ncap();
        self.decompressor.iter_mut().for_each(|decompressor| decompressor.reset(now));
    }

    /// Stops the RoCE flows from issuing further requests.
    fn stop(&mut self) {
        self.path.common.rdma.stop();
    }
}
