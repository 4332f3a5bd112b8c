//! What network traffic costs a core: the kernel's work on packets, and the copies to and from applications.
//!
//! A core does one thing at a time. The softirq takes packets from the receive queue, joins them and hands them to TCP;
//! applications copy data line by line through the line fill buffer. The softirq goes first until its budget is used;
//! then the applications have as much time as it had.

mod allocation;
mod books;
mod copier;
mod datagram;
mod dimm;
mod fetch;
mod forward;
mod gro;
mod kernel;
mod lines;
mod mcn;
mod moving;
mod output;
mod power;
mod region;
mod registers;
mod run;
mod service;
mod socket;
mod softirq;
mod syscall;
#[cfg(test)]
mod tests;

pub use books::{CoreTimes, SocketCounts, Spent, StackCounts, SPENT};
pub use copier::{CopyLines, CopySource, PacketMemory};
pub use datagram::DatagramEndParams;
pub use dimm::{AllocCache, DimmWay};
pub use mcn::{RingWiring, PACKET_BYTES as RING_PACKET_BYTES};
pub use moving::{Hop, MigratedFlow};
pub use power::PowerWiring;
pub use region::Region;
pub use registers::RegisterWay;
pub use service::ServiceWiring;
pub use socket::NetSocketParams;

use crate::flow::Application;
use crate::lfb::Lfb;
use crate::line::{Pages, Rings};
use crate::params::{CoreParams, StackParams};
use crate::part::{Context, Group, Payload, Pool};
use crate::power::Clock;
use crate::transport::tcp::Connection;
use datagram::DatagramEnd;
use dimm::Driver;
use gro::Gro;
use hostnet_kernel::{ComponentId, Rng, Time};
use lines::Lines;
use moving::Moving;
use output::Output;
use power::{CauseRead, CorePower};
use registers::Registers;
use run::Task;
use serde::{Deserialize, Serialize};
use service::Services;
use socket::Socket;
use softirq::Softirq;
use std::collections::VecDeque;
use syscall::Calling;

/// Bytes of the buffer that the segments of a core are sent from: more than the NIC is ever given at a time.
const SEND_BYTES: u64 = 4 << 20;
/// Bytes of the buffers of the applications of a core.
const USER_BYTES: u64 = 64 << 20;
/// Bytes of what else the kernel of a core keeps.
const KERNEL_BYTES: u64 = 16 << 20;

/// Bytes of a file that is sent over and over. Devices leave nothing of it in caches, so that its size matters little.
pub const FILE_BYTES: u64 = 4 << 20;
/// Bytes behind a file that a segment which begins before its end reads: the largest segment, 1 MiB.
pub const FILE_END_BYTES: u64 = 1 << 20;

/// The virtual memory of a network core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetFootprint {
    /// What segments are sent from: the applications' data is copied there.
    pub send: Region,
    /// The buffers of its applications.
    pub user: Region,
    /// What else the kernel keeps.
    pub kernel: Region,
}

impl NetFootprint {
    /// Bytes that it takes.
    pub const BYTES: u64 = SEND_BYTES + USER_BYTES + KERNEL_BYTES;

    /// The regions one after the other from `base` on, a multiple of 4096.
    #[must_use]
    pub fn at(base: u64) -> Self {
        let send = Region { base, bytes: SEND_BYTES };
        let user = Region { base: base + SEND_BYTES, bytes: USER_BYTES };
        let kernel = Region { base: user.base + USER_BYTES, bytes: KERNEL_BYTES };
        Self { send, user, kernel }
    }
}

/// Whom a network core talks to.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// The CHAs of its socket.
    pub cha: ComponentId,
    /// The NIC.
    pub nic: ComponentId,
    /// The receive queue of the NIC that it serves, if any.
    pub queue: Option<u16>,
    /// The rings of its queues at the NIC.
    pub rings: Rings,
    /// Flows of its host that are on other cores and whose packets may come here, in ascending order.
    pub elsewhere: Vec<MigratedFlow>,
    /// What it takes longer to the function of the NIC that they go by than on one socket, in ps.
    pub away_ps: u64,
    /// The way to its registers, if they cost anything.
    pub registers: Option<RegisterWay>,
}

/// The network traffic of a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NetStack {
    nic: ComponentId,
    rings: Rings,
    away_ps: u64,
    registers: Registers,
    /// The driver of rings, if its machine is on a memory channel network.
    mcn: Option<Box<mcn::Driver>>,
    /// The driver of a NIC in a DIMM, if it is there.
    driver: Option<Box<Driver>>,
    /// Its part in the services of its server, if it has any.
    services: Option<Box<Services>>,
    /// Its frequency and sleep, if it has any but one frequency.
    power: Option<Box<CorePower>>,
    /// The clock of a core that has its power elsewhere.
    clock: Clock,
    cause: CauseRead,
    stack: StackParams,
    sockets: Vec<Socket>,
    /// The ends of flows of datagrams, whose numbers follow those of the sockets.
    datagrams: Vec<DatagramEnd>,
    /// Descriptors that datagrams have in the ring of the core's send queue.
    descriptors: u64,
    /// The flows of the sockets and these ends in ascending order, and their places.
    by_flow: Vec<(u32, u32)>,
    lines: Lines,
    softirq: Softirq,
    gro: Gro,
    moving: Moving,
    output: Output,
    /// Applications that may have something to do.
    ready: VecDeque<u32>,
    /// The system call under way.
    calling: Option<Calling>,
    /// What the core is busy with, and until when.
    task: Option<Task>,
    busy_until: Time,
    /// Until then applications go before the softirq.
    applications_until: Time,
    /// Whether packets that come in are marked, and those that go out.
    mark_incoming: bool,
    mark_outgoing: bool,
    /// Whether its applications may have the core, and whether another engine of the core wants it.
    turn: bool,
    contended: bool,
    /// When the softirq is looked at again that leaves the core to others.
    look_at: Option<Time>,
    times: CoreTimes,
    counts: StackCounts,
}

impl NetStack {
    /// That of core number `index`, as `wiring` says, with the ends of flows whose applications run on it, or come
    /// to it later. Packets of others must not come in by its receive queue, but for those that `wiring` says.
    ///
    /// # Panics
    /// If two sockets belong to the same flow.
    #[must_use]
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        index: u32,
        wiring: Wiring,
        core: CoreParams,
        stack: StackParams,
        pages: Pages,
        rng: Rng,
        sockets: Vec<NetSocketParams>,
        footprint: NetFootprint,
        classes: usize,
    ) -> Self {
        let mut by_flow: Vec<_> = (0..).zip(&sockets).map(|(index, socket)| (socket.flow, index)).collect();
        by_flow.sort_unstable();
        assert!(by_flow.windows(2).all(|pair| pair[0].0 < pair[1].0), "a flow has one end at a core");
        let output = Output::new(footprint.send, sockets.len(), stack.line_size);
        Self {
            lines: Lines::new(index, wiring.cha, core, &stack, pages, rng, [footprint.user, footprint.kernel], classes),
            softirq: Softirq::new(wiring.queue),
            gro: Gro::new(stack.gro_bytes),
            ready: VecDeque::with_capacity(sockets.len()),
            sockets: (0..).zip(sockets).map(|(index, params)| Socket::new(params, output.buffer(index))).collect(),
            output,
            moving: Moving::new(wiring.elsewhere),
            datagrams: Vec::new(),
            descriptors: 0,
            calling: None,
            task: None,
            busy_until: Time::ZERO,
            applications_until: Time::ZERO,
            mark_incoming: false,
            mark_outgoing: false,
            turn: true,
            contended: false,
            look_at: None,
            times: CoreTimes::new(),
            counts: StackCounts::default(),
            nic: wiring.nic,
            rings: wiring.rings,
            away_ps: wiring.away_ps,
            registers: Registers::new(wiring.registers),
            mcn: None,
            driver: None,
            services: None,
            power: None,
            clock: Clock::default(),
            cause: CauseRead::default(),
            by_flow,
            stack,
        }
    }

    /// The events that it begins with: how many ps from the start, and what it is to be sent.
    pub fn starts(&self) -> impl Iterator<Item = (u64, Payload)> + '_ {
        let count = self.sockets.len() as u32;
        let here = (0..).zip(&self.sockets).filter(|(_, socket)| socket.params.here);
        let streams = here.flat_map(|(connection, socket)| {
            let begin = (socket.params.start_ps.max(1), Payload::Begin { connection });
            let hop = socket.next_hop().map(|hop| (hop.at_ps.max(1), Payload::Move { connection }));
            std::iter::once(begin).chain(hop)
        });
        let datagrams = (count..).zip(&self.datagrams);
        self.first_tick()
            .into_iter()
            .chain(streams)
            .chain(datagrams.map(|(connection, end)| (end.params.start_ps.max(1), Payload::Begin { connection })))
    }

    /// The same, and it is kept when it has something to do.
    #[must_use]
    pub fn watched(mut self) -> Self {
        self.times.watch();
        self
    }

    /// Where its time went.
    #[must_use]
    pub fn times(&self) -> &CoreTimes {
        &self.times
    }

    /// What happened at it since the start of the run.
    #[must_use]
    pub fn counts(&self) -> &StackCounts {
        &self.counts
    }

    /// The ends of flows at it: the parameters, what happened there since the start of the run, the connection and the
    /// application.
    pub fn sockets(&self) -> impl Iterator<Item = (&NetSocketParams, &SocketCounts, &Connection, &Application)> {
        let present = self.sockets.iter().filter(|socket| socket.present);
        present.map(|socket| (&socket.params, &socket.counts, &socket.connection, &socket.application))
    }

    /// Packets that have come in and that TCP has not seen.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let counts = self.sockets.iter().map(|socket| &socket.counts);
        let counts = counts.chain(self.datagrams.iter().map(|end| &end.counts));
        counts.map(|counts| counts.packets - counts.delivered).sum()
    }

    /// Handles an event.
    pub(crate) fn on_event(&mut self, payload: Payload, lfb: &mut Lfb, context: &mut Context) {
        match payload {
            _ if self.mcn.is_some() && self.on_ring_event(payload, lfb, context) => {}
            Payload::Step => {}
            Payload::Received(id) => self.on_received(id, context),
            Payload::Interrupt { .. } => self.on_interrupt(context),
            Payload::Sent { flow, bytes } => self.on_sent(flow, bytes, context),
            Payload::Move { connection } => self.on_move(connection),
            Payload::Backlog(id) => self.on_backlog(id, context),
            Payload::Transmit(id) => self.on_transmit(id, context),
            Payload::Left { flow, bytes } => self.on_left(flow, bytes, context),
            Payload::Admitted(id) if context.requests.get(id).kind.is_flush() => self.on_admitted(id, lfb, context),
            Payload::Acknowledged(id) => self.on_flushed(id, lfb, context),
            Payload::Cloned(id) => self.on_cloned(id, lfb, context),
            Payload::RegisterValue => self.on_status(context),
            Payload::Timer { connection, generation } => self.on_timer(connection, generation, context),
            Payload::Begin { connection } => self.on_begin(connection, context.now()),
            Payload::Post { flow, bytes } => self.on_post(flow, bytes),
            Payload::Power(event) => self.on_power(event, context),
            Payload::Chore { chore, read } => self.on_chore(chore, read, context),
            Payload::Served(slot) => self.on_served(slot, context),
            Payload::Idle { core, idle } => self.on_idle(core, idle, context),
            Payload::Echo { on, outgoing: false } => self.mark_incoming = on,
            Payload::Echo { on, outgoing: true } => self.mark_outgoing = on,
            _ => self.lines.on_event(payload, lfb, &mut self.counts, context),
        }
        self.rouse(payload, context);
        self.put_off(context.now());
        self.run(lfb, context);
        if self.moving.waits() {
            self.depart(context);
        }
    }

    /// Whether its applications have something to do.
    pub(crate) fn wants(&self) -> bool {
        !self.ready.is_empty() || self.calling.is_some() || self.has_chores() || self.spins()
    }

    /// Whether the kernel works for packets, or waits for lines meanwhile.
    pub(crate) fn interrupts(&self) -> bool {
        matches!(self.times.now_spent(), Spent::Softirq | Spent::Send | Spent::Register)
    }

    /// Whether it is amid a piece of work.
    pub(crate) fn is_bound(&self, now: Time) -> bool {
        now < self.busy_until
    }

    /// Tells it whether another engine wants the core.
    pub(crate) fn set_contended(&mut self, contended: bool) {
        self.contended = contended;
    }

    /// Its applications have the core from now on, or they have not.
    pub(crate) fn set_turn(&mut self, turn: bool, lfb: &mut Lfb, context: &mut Context) {
        self.turn = turn;
        self.run(lfb, context);
        if self.moving.waits() {
            self.depart(context);
        }
    }

    /// The place of the socket of a flow, if that is here.
    fn socket_of(&self, flow: u32) -> Option<usize> {
        self.end_of(flow).filter(|&index| index < self.sockets.len())
    }

    /// The number of a flow's end, be it a socket of a stream or an end of datagrams.
    fn end_of(&self, flow: u32) -> Option<usize> {
        let at = self.by_flow.binary_search_by_key(&flow, |&(flow, _)| flow).ok()?;
        let index = self.by_flow[at].1 as usize;
        self.sockets.get(index).is_none_or(|socket| socket.present).then_some(index)
    }

    /// Shows the pools that it does not share with others.
    pub(crate) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        self.lines.prefetch().into_iter().for_each(|prefetch| visit(Pool::new(Group::Prefetch, prefetch)));
    }

    /// Brings its books up to `now`.
    pub(crate) fn settle(&mut self, now: Time) {
        self.lines.prefetch_mut().into_iter().for_each(|prefetch| prefetch.settle_all(now));
        self.settle_services(now);
        self.power.iter_mut().for_each(|power| power.settle(now));
    }

    /// What the lines of an end count as.
    fn class_of(&self, index: usize) -> u8 {
        let own = self.sockets.get(index).map(|socket| socket.params.class);
        own.unwrap_or_else(|| self.datagrams[index - self.sockets.len()].params.class)
    }

    /// Starts a new measuring window at `now`: times and latencies begin anew. Counts go on.
    pub(crate) fn reset(&mut self, now: Time) {
        self.times.reset(now);
        self.lines.prefetch_mut().into_iter().for_each(|prefetch| prefetch.reset(now));
        self.reset_services(now);
        self.power.iter_mut().for_each(|power| power.reset(now));
        self.sockets.iter_mut().for_each(|socket| socket.application.reset());
        self.datagrams.iter_mut().for_each(|end| end.application.reset());
    }

    /// Keeps the journeys of the datagrams that its applications read, or not any more.
    pub(crate) fn watch(&mut self, on: bool) {
        self.datagrams.iter_mut().for_each(|end| end.application.watch(on));
    }

    /// Applications begin nothing new. What they have written is still sent, and what comes is read.
    pub(crate) fn stop(&mut self) {
        self.sockets.iter_mut().for_each(|socket| socket.application.stop());
        self.datagrams.iter_mut().for_each(|end| end.application.stop());
    }
}
