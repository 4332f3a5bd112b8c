//! The driver of a memory channel network on a core: messages that it writes to rings and reads out of them.
//!
//! The part of the interfaces says what may be done; the core does it, line by line, one piece of work after the other.
//! To write a message it reads up to where the other side has read, stores the lines past its caches, waits until the
//! device has them all and stores the pointer. To read one it loads the first line, which says how long it is and for
//! whom, then the others, and stores them to the memory of a packet; it drops each line from its caches.

mod work;

use super::books::StackCounts;
use super::lines::Lines;
use super::region::Region;
use super::task::Choice;
use crate::lfb::Lfb;
use crate::line::{Packet, PacketId};
use crate::mcn::{end_half_write, route_packet, PacketRoute, RingTag, SramWindow, NEXT_PS};
use crate::params::McnParams;
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Rng};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use work::Work;

/// Bytes of the memory that a core reads packets into, one after the other: as many as the largest ring holds a few
/// times over, so that what is copied to applications is still there.
pub const PACKET_BYTES: u64 = 4 << 20;
/// [`crate::line::Packet::queue`] of a packet that came by a ring and not by the NIC.
pub(super) const BY_RING: u16 = u16::MAX;

/// Whom the driver on a core talks to, and what it knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RingWiring {
    /// The interfaces of its machine.
    pub part: ComponentId,
    /// The CHAs of its socket, and how long requests take there, in ps.
    pub cha: ComponentId,
    /// See `cha`.
    pub to_cha_ps: u64,
    /// The lines of the buffer devices, by interface.
    pub windows: Vec<SramWindow>,
    /// The interfaces and what they cost.
    pub params: McnParams,
    /// The number of its host.
    pub host: u16,
    /// By flow: its class here, and the core at which it ends here, if it does.
    pub flows: Vec<(u8, Option<ComponentId>)>,
    /// What packets are read into.
    pub packets: Region,
    /// Random numbers of its entries of the LFB.
    pub rng: Rng,
}

/// What a core has to do for the interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Job {
    /// It looks whether messages have come, by the signal that it heard.
    Poll { signal: u16 },
    /// It writes a message that begins at a line of a ring.
    Write { id: PacketId, port: u16, line: u16 },
    /// It reads one.
    Read { id: PacketId, port: u16, line: u16 },
}

/// The driver on a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RingDriver {
    wiring: RingWiring,
    jobs: VecDeque<Job>,
    work: Option<Work>,
    /// By signal: the interfaces whose poll words it reads.
    polled: Vec<Vec<u16>>,
    /// Lines that it asks for ahead of the one that it copies.
    ahead: u32,
    /// Which of the lines that were asked for are there, by their number modulo the length of this list.
    arrived: Vec<bool>,
    /// Bytes of the memory for packets that are before the next.
    next: u64,
}

/// By signal: the interfaces whose poll words a driver reads. Engines have read what they tell it of.
fn polled(params: &McnParams) -> Vec<Vec<u16>> {
    let mut all = vec![Vec::new(); usize::from(params.signals())];
    for (port, interface) in params.interfaces.iter().enumerate().filter(|_| params.dma_lines.is_none()) {
        all[usize::from(params.signal(interface))].push(port as u16);
    }
    all
}

/// What a core does next for the interfaces, or an event of theirs asks of the rest of its stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RingStep {
    /// The core is busy, or waits.
    Busy(Choice),
    /// A packet that was read out of a ring goes where it belongs.
    Forward(PacketId),
    /// There is nothing to do.
    Nothing,
}

/// Where a packet that was read out of a ring goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RingExit {
    /// An application of this core.
    Here,
    /// The core at which its flow ends.
    Core(ComponentId),
    /// Another interface.
    Interface,
    /// The NIC.
    Nic,
    /// Nowhere: no flow of the host is its own.
    Stranger,
}

impl RingDriver {
    /// Creates the driver, which loads up to `ahead` lines ahead of the one that it copies, at least 1.
    pub(super) fn new(wiring: RingWiring, ahead: u32) -> Self {
        let ahead = ahead.max(1);
        let arrived = vec![false; (ahead as usize).max(wiring.params.interfaces.len())];
        let polled = polled(&wiring.params);
        Self { wiring, jobs: VecDeque::new(), work: None, polled, ahead, arrived, next: 0 }
    }

    /// Returns the class of a flow at this host.
    pub(super) fn class_of(&self, flow: u32) -> u8 {
        self.wiring.flows[flow as usize].0
    }

    fn route_packet(&self, to: u16) -> PacketRoute {
        let McnParams { on_dimm, interfaces, .. } = &self.wiring.params;
        route_packet(self.wiring.host, to, *on_dimm, interfaces)
    }

    /// A place in virtual memory for a packet of so many lines.
    fn place(&mut self, lines: u32) -> u64 {
        let bytes = u64::from(lines) * 64;
        if self.next + bytes > self.wiring.packets.bytes {
            self.next = 0;
        }
        let at = self.next;
        self.next += bytes;
        (self.wiring.packets.base + at) / 64
    }

    /// Handles an event of the interfaces or of a line that the driver asked for. Returns false if it is another event.
    pub(super) fn on_event(&mut self, payload: Payload, lfb: &mut Lfb, context: &mut Context) -> bool {
        match payload {
            Payload::RingPoll(signal) => self.jobs.push_back(Job::Poll { signal }),
            Payload::RingWrite { id, port, line } => self.jobs.push_back(Job::Write { id, port, line }),
            Payload::RingRead { id, port, line } => self.jobs.push_back(Job::Read { id, port, line }),
            Payload::RingFenced { .. } => self.work.iter_mut().for_each(Work::fenced),
            Payload::Data(id) if RingTag::is(context.requests.get(id).tag) => {
                let request = *context.requests.get(id);
                context.requests.remove(id);
                lfb.read.release(context.now(), request.class, request.since);
                lfb.free(request.class, request.entered, &mut self.wiring.rng, context);
                if let RingTag::Read { slot } = RingTag::of(request.tag) {
                    self.note_arrived(slot);
                    if let Some(port) = self.polled_at(slot) {
                        context.send(self.wiring.part, NEXT_PS, Payload::RingLooked(port));
                    }
                }
            }
            Payload::Admitted(id) if RingTag::is(context.requests.get(id).tag) => {
                let request = *context.requests.get(id);
                lfb.write.release(context.now(), request.class, request.since);
                lfb.free(request.class, request.entered, &mut self.wiring.rng, context);
                end_half_write(id, context);
            }
            _ => return false,
        }
        true
    }

    /// Notes that the line of a slot has arrived.
    pub(super) fn note_arrived(&mut self, slot: u16) {
        self.arrived[usize::from(slot)] = true;
    }

    /// Hands a packet to the interfaces. Returns false if it does not go by one.
    pub(super) fn transmit(&self, id: PacketId, context: &mut Context) -> bool {
        let by_ring = matches!(self.route_packet(context.packets.get(id).to), PacketRoute::Interface(_));
        if by_ring {
            context.send(self.wiring.part, NEXT_PS, Payload::Transmit(id));
        }
        by_ring
    }

    /// Returns true if a packet is for this host.
    pub(super) fn is_own(&self, packet: &Packet) -> bool {
        self.route_packet(packet.to) == PacketRoute::Own
    }

    /// Returns where a packet that was read out of a ring goes, and its class.
    pub(super) fn exit_of(&self, packet: &Packet, own: ComponentId) -> (RingExit, u8) {
        let (class, core) = self.wiring.flows[packet.flow as usize];
        let exit = match (self.route_packet(packet.to), core) {
            (PacketRoute::Own, Some(core)) if self.wiring.params.steer && core != own => RingExit::Core(core),
            (PacketRoute::Own, Some(_)) => RingExit::Here,
            (PacketRoute::Interface(_), _) => RingExit::Interface,
            (PacketRoute::Nic, _) => RingExit::Nic,
            (PacketRoute::Own, None) => RingExit::Stranger,
        };
        (exit, class)
    }

    /// Chooses what the core does next for the interfaces.
    pub(super) fn next_step(
        &mut self,
        lines: &mut Lines,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) -> RingStep {
        loop {
            if self.work.is_none() {
                let Some(job) = self.jobs.pop_front() else { return RingStep::Nothing };
                self.begin(job, context);
            }
            match self.work(lines, lfb, counts, context) {
                RingStep::Nothing => {}
                step => return step,
            }
        }
    }
}
