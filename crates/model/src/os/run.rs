//! What a network core does next.

use super::books::Spent;
use super::gro::Joined;
use super::NetStack;
use crate::lfb::Lfb;
use crate::line::{Packet, PacketId};
use crate::part::{Chore, Context, Payload};
use serde::{Deserialize, Serialize};

/// A piece of work of the core that nothing interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Task {
    /// The driver's and IP's work on a packet.
    Packet(PacketId),
    /// TCP's work on a segment.
    Segment(Joined),
    /// A segment goes out.
    Output {
        /// The core's own number of the connection.
        socket: u32,
        /// The segment as a packet.
        packet: Packet,
    },
    /// The part of a system call before its copy.
    Call,
    /// Lines of a copy.
    Copy,
    /// Lines of the kernel.
    Lines,
    /// The driver of rings.
    Ring,
    /// Instructions that flush lines for a NIC in a DIMM.
    Flush,
    /// Instructions that invalidate lines of a packet that has come by one.
    Invalidate(PacketId),
    /// Work for a request.
    Serve(Chore),
    /// What the kernel does beside packets.
    Kernel,
    /// The handler of an interrupt waits for the cause register.
    Cause,
}

/// What there is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    /// A piece of work, its time in ps, and what for.
    Work(Task, u64, Spent),
    /// Nothing until a line is there.
    Wait(Spent),
    /// Nothing.
    Nothing,
}

impl NetStack {
    /// It begins without the core, which it shares with other engines.
    pub(crate) fn share(&mut self) {
        self.turn = false;
    }

    /// Ends what the time of has come, and begins what is next.
    pub(super) fn run(&mut self, lfb: &mut Lfb, context: &mut Context) {
        let now = context.now();
        self.end_halt(now);
        if now < self.busy_until || self.stands_still(now) {
            return;
        }
        loop {
            if let Some(task) = self.task.take() {
                self.finish(task, lfb, context);
            }
            match self.choose(lfb, context) {
                Choice::Work(task, ps, spent) => {
                    let ps = self.stretched(&task, ps);
                    self.task = Some(task);
                    if ps > 0 {
                        self.say_idle(false, context);
                        self.turn_power(true, context);
                        self.times.turn(now, spent);
                        self.busy_until = now + ps;
                        context.send(context.id, ps, Payload::Step);
                        return;
                    }
                }
                Choice::Wait(spent) => {
                    self.turn_power(true, context);
                    self.times.turn(now, spent);
                    return;
                }
                Choice::Nothing => {
                    self.say_idle(true, context);
                    self.turn_power(false, context);
                    self.times.turn(now, Spent::Idle);
                    return;
                }
            }
        }
    }

    fn choose(&mut self, lfb: &mut Lfb, context: &mut Context) -> Choice {
        if self.registers.waits() {
            return Choice::Wait(Spent::Register);
        }
        if self.mcn.is_some() {
            let choice = self.next_ring(lfb, context);
            if choice != Choice::Nothing {
                return choice;
            }
        }
        if let Some(work) = self.next_pending() {
            return work;
        }
        if let Some(work) = self.next_flush(lfb, context) {
            return work;
        }
        if let Some(work) = self.next_output(context) {
            return work;
        }
        if context.now() >= self.applications_until {
            let choice = self.next_softirq(lfb, context);
            if choice != Choice::Nothing {
                return choice;
            }
        }
        let mut choice = if self.turn { self.next_call(lfb, context) } else { Choice::Nothing };
        if choice == Choice::Nothing && self.turn {
            choice = self.next_chore();
        }
        if choice == Choice::Nothing && self.softirq.is_polling() {
            if self.contended && context.now() < self.applications_until {
                self.look_later(context);
                return Choice::Nothing;
            }
            self.applications_until = context.now();
            return self.next_softirq(lfb, context);
        }
        if choice == Choice::Nothing && self.turn && self.spins() {
            return Choice::Wait(Spent::Send);
        }
        choice
    }

    /// The softirq has had its share: it goes on when the others have had theirs.
    fn look_later(&mut self, context: &mut Context) {
        let at = self.applications_until;
        if self.look_at != Some(at) {
            self.look_at = Some(at);
            context.send(context.id, at.since(context.now()), Payload::Step);
        }
    }

    fn finish(&mut self, task: Task, lfb: &mut Lfb, context: &mut Context) {
        match task {
            Task::Packet(id) => self.end_packet(id, lfb, context),
            Task::Segment(joined) => self.end_segment(&joined, context),
            Task::Output { socket, packet } => self.end_output(socket as usize, packet, context),
            Task::Call => self.begin_copy(context),
            Task::Flush => self.end_flush(lfb, context),
            Task::Invalidate(id) => self.read_anew(id, context),
            Task::Serve(chore) => self.end_chore(chore, context),
            Task::Cause => self.end_cause(context),
            Task::Copy | Task::Lines | Task::Ring | Task::Kernel => {}
        }
    }
}
