//! Choice of the next work of a network core.

use super::counters::CoreTimeKind;
use super::delays::TO_CORE_PS;
use super::mcn::{RingExit, RingStep, BY_RING};
use super::service::ChoreEnd;
use super::task::{NextWork, Task};
use super::NetStack;
use crate::lfb::Lfb;
use crate::line::PacketId;
use crate::part::{Chore, Context, Payload, RingEvent};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Turns of the users of a core: the softirq, the applications, and other engines.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Turns {
    /// Time until which applications go before the softirq.
    pub(super) applications_until: Time,
    /// True while the applications may have the core, which other engines may share.
    applications: bool,
    /// True while another engine waits for the core.
    contended: bool,
    /// Time of the event at which the softirq continues after it has left the core to others.
    softirq_at: Option<Time>,
}

impl Turns {
    /// Creates the turns of a core that the stack has to itself.
    pub(super) fn new() -> Self {
        Self { applications_until: Time::ZERO, applications: true, contended: false, softirq_at: None }
    }
}

impl NetStack {
    /// Makes the stack begin without the core, which it shares with other engines.
    pub(crate) fn share(&mut self) {
        self.turns.applications = false;
    }

    /// Sets or clears the flag that another engine waits for the core.
    pub(crate) fn set_contended(&mut self, contended: bool) {
        self.turns.contended = contended;
    }

    /// Gives the core to the applications, or takes it from them.
    pub(crate) fn set_turn(&mut self, turn: bool, lfb: &mut Lfb, context: &mut Context) {
        self.turns.applications = turn;
        self.run(lfb, context);
        self.begin_migrations(context);
    }

    /// Returns true if the applications have work.
    pub(crate) fn wants(&self) -> bool {
        !self.ends.ready.is_empty() || self.current_call.is_some() || self.has_chores() || self.ends.datagrams.spins()
    }

    /// Returns true if the kernel works for packets, or waits for lines meanwhile.
    pub(crate) fn interrupts(&self) -> bool {
        matches!(self.times.current(), CoreTimeKind::Softirq | CoreTimeKind::Send | CoreTimeKind::Register)
    }

    /// Returns true if a piece of work is in progress.
    pub(crate) fn is_bound(&self, now: Time) -> bool {
        now < self.execution.busy_until
    }

    fn has_chores(&self) -> bool {
        self.services.as_ref().is_some_and(|services| services.has_chores())
    }

    /// Handles an event, and continues with the work of the core.
    pub(crate) fn on_event(&mut self, payload: Payload, lfb: &mut Lfb, context: &mut Context) {
        match payload {
            _ if self.driver.mcn.as_mut().is_some_and(|mcn| mcn.on_event(payload, lfb, context)) => {}
            Payload::Step => {}
            Payload::Received(id) => self.on_received(id, context),
            Payload::Interrupt { .. } => self.on_interrupt(context),
            Payload::Sent { flow, bytes } => self.on_sent(flow, bytes, context),
            Payload::Move { connection } => self.ends.begin_migration(connection),
            Payload::Backlog(id) => self.on_backlog(id, context),
            Payload::Transmit(id) => {
                let flow = context.packets.get(id).flow;
                let class = self.ends.class_of_flow(flow).unwrap_or_default();
                self.driver.hand_down(id, class, &mut self.ends, &mut self.lines, context);
            }
            Payload::Left { flow, bytes } => self.on_left(flow, bytes, context),
            Payload::Admitted(id) if context.requests.get(id).kind.is_flush() => {
                self.driver.dimm.iter_mut().for_each(|dimm| dimm.on_admitted(id, lfb, context));
            }
            Payload::Acknowledged(id) => {
                if let Some(dimm) = &mut self.driver.dimm {
                    dimm.on_flushed(id, &mut self.lines, lfb, &mut self.counts, context);
                }
            }
            Payload::Cloned(id) => {
                if self.driver.dimm.as_mut().is_some_and(|dimm| dimm.on_cloned(id, context)) {
                    self.end_packet(id, lfb, context);
                }
            }
            Payload::RegisterValue => self.driver.on_status(context),
            Payload::Timer { connection, generation } => {
                self.ends.on_timer(connection as usize, generation, &mut self.execution, context);
            }
            Payload::Begin { connection } => self.ends.begin(connection as usize, context.now()),
            Payload::Post { flow, bytes } => self.ends.post(flow, bytes),
            Payload::Power(event) => {
                self.execution.on_power(event, context);
                self.set_copy_line();
            }
            Payload::Chore { chore, read } => self.on_chore(chore, read, context),
            Payload::Served(slot) => self.on_served(slot, context),
            Payload::Idle { core, idle } => {
                let task = self.execution.task().is_some();
                self.services.iter_mut().for_each(|services| services.on_idle(core, idle, task, context));
            }
            Payload::Echo { on, outgoing: false } => self.softirq.mark_incoming = on,
            Payload::Echo { on, outgoing: true } => self.ends.mark_outgoing = on,
            Payload::Ring(RingEvent::Sent { flow, bytes }) => {
                self.ends.end_of(flow).into_iter().for_each(|index| self.end_sent(index, bytes));
            }
            Payload::Ring(RingEvent::Received(id)) => self.on_ring_received(id, context),
            _ => self.on_line(payload, lfb, context),
        }
        // A sleeping core with something to send or to poll would miss it: no interrupt follows.
        let work = self.ends.output.wants() || self.softirq.is_polling();
        self.execution.wake_on_event(payload, work, &self.ends, context);
        // Before `run`, which then chooses what preempts.
        self.preempt_chore(context.now());
        self.run(lfb, context);
        self.begin_migrations(context);
    }

    /// Handles an event of a line. The line may be one of the driver of rings.
    fn on_line(&mut self, payload: Payload, lfb: &mut Lfb, context: &mut Context) {
        self.lines.on_event(payload, lfb, &mut self.counts, context);
        if let Some(mcn) = &mut self.driver.mcn {
            self.lines.take_for_ring().into_iter().for_each(|slot| mcn.note_arrived(slot));
        }
    }

    /// Handles a packet that has been read out of a ring for an application of this core.
    fn on_ring_received(&mut self, id: PacketId, context: &mut Context) {
        context.packets.get_mut(id).queue = BY_RING;
        self.on_received(id, context);
        self.softirq.poll();
    }

    /// Starts the migration of threads that are due and that the core does no work for.
    fn begin_migrations(&mut self, context: &mut Context) {
        if !self.ends.migration.waits() {
            return;
        }
        let Self { ends, current_call, execution, softirq, .. } = self;
        // Packets being joined belong to the connection and go to TCP here first.
        let busy = |index| {
            let working = match execution.task() {
                Some(Task::Segment(joined)) => joined.socket == index,
                Some(Task::Output { socket, .. }) => *socket == index,
                _ => false,
            };
            working || current_call.is_some_and(|current_call| current_call.is_of(index)) || softirq.has_joined(index)
        };
        ends.begin_migrations(busy, context);
    }

    /// Ends the work that is over, and begins the next.
    fn run(&mut self, lfb: &mut Lfb, context: &mut Context) {
        let now = context.now();
        self.execution.end_halt(now);
        // Work in progress is not interrupted, and a core that sleeps or wakes up does none.
        if now < self.execution.busy_until || self.execution.is_stopped(now) {
            return;
        }
        loop {
            if let Some(task) = self.execution.take_task() {
                self.finish(task, lfb, context);
            }
            let spent = match self.choose(lfb, context) {
                NextWork::Work(task, work_ps, spent) => {
                    let ps = self.execution.begin(task, work_ps);
                    // An event lies 1 ps ahead, so work that takes no time ends in this loop.
                    if ps == 0 {
                        continue;
                    }
                    self.announce_idle(false, context);
                    // Waiting for a line counts as busy, as Linux sees it.
                    self.execution.end_idle(context);
                    self.execution.busy_until = now + ps;
                    context.send(context.id, ps, Payload::Step);
                    spent
                }
                NextWork::Wait(spent) => {
                    self.execution.end_idle(context);
                    spent
                }
                NextWork::Nothing => {
                    self.announce_idle(true, context);
                    self.execution.begin_idle(&self.ends, context);
                    CoreTimeKind::Idle
                }
            };
            return self.times.turn(now, spent);
        }
    }

    fn announce_idle(&mut self, idle: bool, context: &mut Context) {
        self.services.iter_mut().for_each(|services| services.announce_idle(idle, context));
    }

    /// Chooses the next work of the core: drivers and output first, then the softirq until its budget is used, then
    /// system calls and work for requests, as Linux does.
    fn choose(&mut self, lfb: &mut Lfb, context: &mut Context) -> NextWork {
        // The core stalls on the read of a register, so nothing else can be done.
        if self.driver.waits() {
            return NextWork::Wait(CoreTimeKind::Register);
        }
        let choice = self.next_ring(lfb, context);
        if choice != NextWork::Nothing {
            return choice;
        }
        // The interrupt handler and deferred kernel work come before softirqs and applications.
        if let Some(work) = self.execution.next_pending() {
            return work;
        }
        if let Some(dimm) = &mut self.driver.dimm {
            if let Some(work) = dimm.next_flush(&mut self.lines, lfb, &mut self.counts, context) {
                return work;
            }
        }
        // Pending transmissions come before the softirq (docs/models/os.md, One task at a time).
        if let Some(work) = self.next_output(context) {
            return work;
        }
        // After a full poll the applications have their share first (see `end_poll`).
        if context.now() >= self.turns.applications_until {
            let choice = self.next_softirq(lfb, context);
            if choice != NextWork::Nothing {
                return choice;
            }
        }
        let turn = self.turns.applications;
        let mut choice = if turn { self.next_call(lfb, context) } else { NextWork::Nothing };
        // Work items come after system calls (docs/models/os.md, The run queue).
        if let Some(services) = self.services.as_mut().filter(|_| choice == NextWork::Nothing && turn) {
            choice = services.next_chore();
        }
        if choice == NextWork::Nothing && self.softirq.is_polling() {
            // Another engine uses the rest of the applications' time.
            if self.turns.contended && context.now() < self.turns.applications_until {
                self.resume_softirq_later(context);
                return NextWork::Nothing;
            }
            // Without work the applications give up the rest of their time.
            self.turns.applications_until = context.now();
            return self.next_softirq(lfb, context);
        }
        // With a full ring the packet generator retries without pause, so that the core is never idle.
        if choice == NextWork::Nothing && turn && self.ends.datagrams.spins() {
            return NextWork::Wait(CoreTimeKind::Send);
        }
        choice
    }

    /// Chooses the next segment or datagram to send.
    pub(super) fn next_output(&mut self, context: &mut Context) -> Option<NextWork> {
        let in_place = self.driver.is_in_place();
        self.ends.next_output(&self.stack, in_place, &mut self.execution, context)
    }

    /// Chooses the next work of the core for the interfaces of a memory channel network.
    fn next_ring(&mut self, lfb: &mut Lfb, context: &mut Context) -> NextWork {
        while let Some(mcn) = &mut self.driver.mcn {
            match mcn.next_step(&mut self.lines, lfb, &mut self.counts, context) {
                RingStep::Busy(choice) => return choice,
                RingStep::Forward(id) => self.forward_from_ring(id, context),
                RingStep::Nothing => break,
            }
        }
        NextWork::Nothing
    }

    /// Passes a packet that was read out of a ring on to its destination.
    fn forward_from_ring(&mut self, id: PacketId, context: &mut Context) {
        let Some(mcn) = &self.driver.mcn else { return };
        let (exit, class) = mcn.exit_of(context.packets.get(id), context.id);
        match exit {
            RingExit::Core(core) => context.send(core, TO_CORE_PS, Payload::Ring(RingEvent::Received(id))),
            RingExit::Here => self.on_ring_received(id, context),
            RingExit::Interface => {
                mcn.transmit(id, context);
            }
            RingExit::Nic => {
                self.lines.access_line(self.driver.rings.segments.next_line(), true, class, context);
                self.driver.ring_doorbell(id, context);
            }
            RingExit::Stranger => {
                self.counts.strangers += 1;
                context.packets.remove(id);
            }
        }
    }

    /// Schedules the softirq, whose budget is used, for the time when the applications have had their share.
    fn resume_softirq_later(&mut self, context: &mut Context) {
        let at = self.turns.applications_until;
        if self.turns.softirq_at != Some(at) {
            self.turns.softirq_at = Some(at);
            context.send(context.id, at.since(context.now()), Payload::Step);
        }
    }

    /// Finishes a piece of work whose time is over.
    fn finish(&mut self, task: Task, lfb: &mut Lfb, context: &mut Context) {
        match task {
            Task::Packet(id) => self.end_packet(id, lfb, context),
            Task::Segment(joined) => self.end_segment(&joined, context),
            Task::Output { socket, packet } => self.end_output(socket as usize, packet, context),
            Task::Call => self.begin_copy(context),
            Task::Flush => {
                let mut rings = self.driver.rings.segments;
                if let Some(dimm) = &mut self.driver.dimm {
                    dimm.end_flush(rings.next_line(), &mut self.lines, lfb, &mut self.counts, context);
                }
            }
            Task::Invalidate(id) => self.end_invalidate(id, context),
            Task::Serve(chore) => self.end_chore(chore, context),
            Task::Cause => {
                if self.execution.end_cause(context) {
                    self.softirq.poll();
                }
            }
            Task::Copy | Task::Lines | Task::Ring | Task::Kernel => {}
        }
    }

    /// Returns true if work for a request would have to wait for other work of the core.
    pub(super) fn is_busy(&self) -> bool {
        self.execution.task().is_some() || self.softirq.is_polling()
    }

    /// Handles a piece of work from another core, or the end of a read of storage.
    fn on_chore(&mut self, chore: Chore, read: bool, context: &mut Context) {
        let busy = self.is_busy();
        if read {
            self.execution.count_read(false, context.now());
        }
        self.services.iter_mut().for_each(|services| services.on_chore(chore, read, busy, context));
    }

    /// Ends a piece of work for a request: it reads storage, or has been served.
    fn end_chore(&mut self, chore: Chore, context: &mut Context) {
        let Some(services) = &mut self.services else { return };
        match services.end_chore(chore, context) {
            ChoreEnd::Reads => self.execution.count_read(true, context.now()),
            ChoreEnd::Served(slot) => self.on_served(slot, context),
            ChoreEnd::Elsewhere => {}
        }
    }

    /// Handles the end of the service of a request that arrived at this core.
    fn on_served(&mut self, slot: u32, context: &mut Context) {
        let busy = self.is_busy();
        let Self { services, ends, .. } = self;
        services.iter_mut().for_each(|services| services.on_served(slot, ends, busy, context));
    }

    /// Preempts work for a request if the kernel has work or a socket can be read or written, so that no answer waits
    /// for the work on another request.
    fn preempt_chore(&mut self, now: Time) {
        let Some(&Task::Serve(chore)) = self.execution.task() else { return };
        // During the turn of the applications packets wait: preempting at each event would only add events.
        let packets = self.softirq.is_polling() && now >= self.turns.applications_until;
        let calls = self.turns.applications && (!self.ends.ready.is_empty() || self.current_call.is_some());
        let urgent = packets || self.ends.output.wants() || self.execution.has_pending() || calls;
        // Work that ends now needs no preemption.
        if !urgent || now >= self.execution.busy_until {
            return;
        }
        let left_ps = self.execution.preempt(now);
        self.services.iter_mut().for_each(|services| services.put_back(chore, left_ps));
    }
}
