//! Network stack of a core: the kernel's work on packets, and the copies to and from applications.
//!
//! A core does one thing at a time. The softirq takes packets from the receive queue, joins them and hands them to
//! TCP; applications copy data line by line through the line fill buffer. The softirq goes first until its budget is
//! used; then the applications have as much time as it had.

mod copier;
mod counters;
mod delays;
mod dimm;
mod ends;
mod execution;
mod fetch;
mod footprint;
mod gro;
mod kernel;
mod lines;
mod mcn;
mod nic_driver;
mod power;
mod region;
mod run;
mod service;
mod softirq;
mod syscall;
mod task;
#[cfg(test)]
mod tests;

pub use copier::{CopySource, PacketCopier, PacketMemory};
pub use counters::{CoreTimeKind, CoreTimes, SocketCounts, StackCounts, CORE_TIME_KINDS};
pub use dimm::{AllocCache, DimmPath};
pub use ends::datagram::DatagramEndParams;
pub use ends::migration::MigratedFlow;
pub(crate) use ends::migration::MigratingSocket;
pub use ends::socket::{NetSocketParams, ThreadMigration};
pub use footprint::NetFootprint;
pub use mcn::{RingWiring, PACKET_BYTES as RING_PACKET_BYTES};
pub use nic_driver::RegisterPath;
pub use power::PowerWiring;
pub use region::Region;
pub use service::ServiceWiring;

use crate::flow::{Application, Datagrams, ServiceStats};
use crate::line::{Packets, Pages, QueueRings};
use crate::params::{CoreParams, StackParams};
use crate::part::{Context, Payload, Pool, PoolGroup};
use crate::power::{Clock, ClockChange, CoreMeter};
use crate::transport::tcp::TcpConnection;
use dimm::DimmDriver;
use ends::output::Output;
use ends::FlowEnds;
use execution::Execution;
use hostnet_kernel::{ComponentId, Rng, Time};
use lines::Lines;
use mcn::RingDriver;
use nic_driver::NicDriver;
use run::Turns;
use serde::{Deserialize, Serialize};
use service::Services;
use softirq::Softirq;
use syscall::SystemCall;
use task::Task;

/// Components and paths that a network core uses.
#[derive(Clone, Debug)]
pub struct NetCoreWiring {
    /// CHA of the socket of the core.
    pub cha: ComponentId,
    /// Id of the NIC.
    pub nic: ComponentId,
    /// Receive queue of the NIC that the core serves, if any.
    pub queue: Option<u16>,
    /// Rings of the queues of the core at the NIC.
    pub rings: QueueRings,
    /// Flows of the host that end at other cores and whose packets may arrive at this core, in ascending order.
    pub elsewhere: Vec<MigratedFlow>,
    /// Extra delay to the function of the NIC if it is on a remote socket, in ps.
    pub away_ps: u64,
    /// Path to the registers of the NIC, if accesses cost anything.
    pub registers: Option<RegisterPath>,
}

/// Network stack of a core: the kernel's work on packets and the system calls of applications.
///
/// Each field owns its state; this type passes information between them, and chooses the next work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NetStack {
    stack: StackParams,
    ends: FlowEnds,
    driver: NicDriver,
    softirq: Softirq,
    lines: Lines,
    /// State of the services of its server at this core, if there are any.
    services: Option<Box<Services>>,
    execution: Execution,
    /// Current system call.
    current_call: Option<SystemCall>,
    turns: Turns,
    times: CoreTimes,
    counts: StackCounts,
}

impl NetStack {
    /// Creates the stack of core number `index` with the ends of flows whose applications run on it, or migrate to it
    /// later. Only packets of these flows and of `wiring.elsewhere` may arrive at its receive queue.
    ///
    /// # Panics
    /// Panics if two sockets belong to one flow.
    #[must_use]
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        index: u32,
        wiring: NetCoreWiring,
        core: CoreParams,
        stack: StackParams,
        pages: Pages,
        rng: Rng,
        sockets: Vec<NetSocketParams>,
        footprint: NetFootprint,
        classes: usize,
    ) -> Self {
        let output = Output::new(footprint.send, sockets.len(), stack.line_size);
        Self {
            lines: Lines::new(index, wiring.cha, core, &stack, pages, rng, [footprint.user, footprint.kernel], classes),
            softirq: Softirq::new(wiring.queue, stack.gro_bytes),
            ends: FlowEnds::new(output, sockets, wiring.elsewhere),
            driver: NicDriver::new(wiring.nic, wiring.rings, wiring.away_ps, wiring.registers),
            services: None,
            execution: Execution::new(),
            current_call: None,
            turns: Turns::new(),
            times: CoreTimes::new(),
            counts: StackCounts::default(),
            stack,
        }
    }

    /// Adds ends of flows of datagrams.
    ///
    /// # Panics
    /// Panics if two ends belong to one flow.
    #[must_use]
    pub fn with_datagrams(mut self, ends: Vec<DatagramEndParams>) -> Self {
        self.ends.add_datagrams(ends, self.driver.rings.segments.lines());
        self
    }

    /// Adds the driver of a memory channel network, which loads up to `ahead` lines ahead of the one that it copies.
    #[must_use]
    pub fn with_rings(mut self, wiring: RingWiring, ahead: u32) -> Self {
        self.driver.mcn = Some(Box::new(RingDriver::new(wiring, ahead)));
        self
    }

    /// Adds the driver of a NIC in a DIMM.
    #[must_use]
    pub fn with_dimm(mut self, way: DimmPath, rng: Rng) -> Self {
        self.driver.dimm = Some(Box::new(DimmDriver::new(way, rng)));
        self
    }

    /// Adds the services of its server that the core takes part in.
    #[must_use]
    pub fn with_services(mut self, wiring: ServiceWiring) -> Self {
        let services = Services::new(wiring);
        services.assign_sockets(&mut self.ends);
        self.services = Some(Box::new(services));
        self
    }

    /// Gives the core frequencies and sleep states.
    #[must_use]
    pub fn with_power(mut self, wiring: PowerWiring) -> Self {
        self.execution.set_power(wiring, self.stack.poll);
        self.set_copy_line();
        self
    }

    /// Makes the interrupt handler wait `read_ps` for the cause register of the NIC.
    #[must_use]
    pub fn with_cause_register(mut self, read_ps: u64) -> Self {
        self.execution.cause.read_ps = read_ps;
        self
    }

    /// Records the times at which the core is busy.
    #[must_use]
    pub fn watched(mut self) -> Self {
        self.times.watch();
        self
    }

    /// Returns the events that the core begins with: the delay from the start in ps, and the event.
    pub fn starts(&self) -> impl Iterator<Item = (u64, Payload)> + '_ {
        self.execution.first_tick().into_iter().chain(self.ends.starts())
    }

    /// Returns the time of the core by activity.
    #[must_use]
    pub fn times(&self) -> &CoreTimes {
        &self.times
    }

    /// Returns the counters of the core since the start of the run.
    #[must_use]
    pub fn counts(&self) -> &StackCounts {
        &self.counts
    }

    /// Returns the sockets at the core: their parameters, their counters since the start of the run, the connection
    /// and the application.
    pub fn sockets(&self) -> impl Iterator<Item = (&NetSocketParams, &SocketCounts, &TcpConnection, &Application)> {
        let present = self.ends.sockets.iter().filter(|socket| socket.present);
        present.map(|socket| (&socket.params, &socket.counts, &socket.connection, &socket.application))
    }

    /// Returns the ends of flows of datagrams at the core: their parameters, their counters since the start of the
    /// run, and the application.
    pub fn datagrams(&self) -> impl Iterator<Item = (&DatagramEndParams, &SocketCounts, &Datagrams)> {
        self.ends.datagrams.iter().map(|end| (&end.params, &end.counts, &end.application))
    }

    /// Returns the services whose requests arrive here: number, maximum number of requests in progress, waiting
    /// requests, and statistics.
    pub fn services(&self) -> impl Iterator<Item = (u32, u32, usize, &ServiceStats)> {
        self.services.iter().flat_map(|services| services.service_queues())
    }

    /// Returns the number of pieces of work that this core gave to others since the start of the run.
    #[must_use]
    pub fn given(&self) -> u64 {
        self.services.as_ref().map_or(0, |services| services.given())
    }

    /// Returns the power meter, the entries into each C-state and the wake-ups in the window; `None` without
    /// frequencies and sleep states.
    #[must_use]
    pub fn power(&self) -> Option<(&CoreMeter, &[u64], u64)> {
        self.execution.power()
    }

    /// Returns the number of rows of a DIMM that this core's driver has in use.
    #[must_use]
    pub fn rows_handed_out(&self) -> u32 {
        self.driver.dimm.as_ref().map_or(0, |dimm| dimm.rows_handed_out())
    }

    /// Returns the number of datagrams since the start of the run that found no free rows and stayed where they had
    /// arrived.
    #[must_use]
    pub fn received_in_place(&self) -> u64 {
        self.driver.dimm.as_ref().map_or(0, |dimm| dimm.received_in_place())
    }

    /// Returns the number of packets that have arrived and that TCP or the UDP sockets have not processed.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.ends.undelivered_packets()
    }

    /// Visits the pools that the stack does not share with other engines.
    pub(crate) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        self.lines.prefetch().into_iter().for_each(|prefetch| visit(Pool::new(PoolGroup::Prefetch, prefetch)));
    }

    /// Brings statistics up to `now`.
    pub(crate) fn settle(&mut self, now: Time) {
        self.lines.prefetch_mut().into_iter().for_each(|prefetch| prefetch.settle_all(now));
        self.services.iter_mut().for_each(|services| services.settle(now));
        self.execution.power.iter_mut().for_each(|power| power.settle(now));
    }

    /// Starts a new measurement window at `now`: times and latencies are reset, counters are not.
    pub(crate) fn reset(&mut self, now: Time) {
        self.times.reset(now);
        self.lines.prefetch_mut().into_iter().for_each(|prefetch| prefetch.reset(now));
        self.services.iter_mut().for_each(|services| services.reset(now));
        self.execution.power.iter_mut().for_each(|power| power.reset(now));
        self.ends.reset();
    }

    /// Starts recording the stage times of the datagrams that its applications read, or stops if `on` is false.
    pub(crate) fn watch(&mut self, on: bool) {
        self.ends.datagrams.iter_mut().for_each(|end| end.application.watch(on));
    }

    /// Stops the applications: they begin nothing new, but what they have written is sent and what arrives is read.
    pub(crate) fn stop(&mut self) {
        self.ends.stop();
    }

    /// Applies a change of the clock of a core whose power is managed elsewhere.
    pub(crate) fn change_clock(&mut self, change: ClockChange, context: &mut Context) {
        self.execution.change_clock(change, context);
        self.set_copy_line();
    }

    /// Sets the initial clock of a core that the stack shares, whose power is managed elsewhere.
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.execution.set_clock(clock);
        self.set_copy_line();
    }

    /// Sets the work per line of a copy at the current clock.
    fn set_copy_line(&mut self) {
        self.lines.set_copy_line(self.execution.stretch(self.stack.copy_line_ps));
    }

    /// Hands over the socket of a flow to the core that its thread migrates to.
    pub(crate) fn release_socket(&mut self, flow: u32, own: ComponentId, packets: &Packets) -> Option<MigratingSocket> {
        let waiting = self.waiting_of(flow, packets);
        self.ends.release_socket(flow, own, waiting)
    }

    /// Adds the socket of a flow whose thread has migrated here.
    pub(crate) fn take(&mut self, migrating_socket: MigratingSocket, context: &mut Context) {
        let waiting = self.waiting_of(migrating_socket.flow(), context.packets);
        self.ends.adopt_socket(migrating_socket, waiting, &mut self.execution, context);
    }

    /// Returns the number of packets of a flow that have arrived here and that the driver has not handled.
    fn waiting_of(&self, flow: u32, packets: &Packets) -> u64 {
        let working = match self.execution.task() {
            Some(Task::Packet(id)) => u64::from(packets.get(*id).flow == flow),
            _ => 0,
        };
        working + self.softirq.waiting(packets).filter(|packet| packet.flow == flow).count() as u64
    }
}
