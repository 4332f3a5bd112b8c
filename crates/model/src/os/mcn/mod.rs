//! The driver of a memory channel network on a core: messages that it writes to rings and reads out of them.
//!
//! The part of the interfaces says what may be done; the core does it, line by line, one piece of work after the other.
//! To write a message it reads up to where the other side has read, stores the lines past its caches, waits until the
//! device has them all and stores the pointer. To read one it loads the first line, which says how long it is and for
//! whom, then the others, and stores them to the memory of a packet; it drops each line from its caches.

mod work;

use super::moving::TO_CORE_PS;
use super::run::Choice;
use super::{NetStack, Region};
use crate::lfb::Lfb;
use crate::line::PacketId;
use crate::mcn::{end_of_write, way, RingTag, Way, Window, NEXT_PS};
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
    pub windows: Vec<Window>,
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
pub(super) struct Driver {
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

impl Driver {
    fn class_of(&self, flow: u32) -> u8 {
        self.wiring.flows[flow as usize].0
    }

    fn way(&self, to: u16) -> Way {
        let McnParams { on_dimm, interfaces, .. } = &self.wiring.params;
        way(self.wiring.host, to, *on_dimm, interfaces)
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
}

impl NetStack {
    /// With the driver of rings.
    #[must_use]
    pub fn with_rings(mut self, wiring: RingWiring, ahead: u32) -> Self {
        let ahead = ahead.max(1);
        let arrived = vec![false; (ahead as usize).max(wiring.params.interfaces.len())];
        let polled = polled(&wiring.params);
        self.mcn =
            Some(Box::new(Driver { wiring, jobs: VecDeque::new(), work: None, polled, ahead, arrived, next: 0 }));
        self
    }

    /// Handles an event that is for the driver of rings; whether it is.
    pub(super) fn on_ring_event(&mut self, payload: Payload, lfb: &mut Lfb, context: &mut Context) -> bool {
        let Some(driver) = &mut self.mcn else { return false };
        match payload {
            Payload::RingPoll(signal) => driver.jobs.push_back(Job::Poll { signal }),
            Payload::RingWrite { id, port, line } => driver.jobs.push_back(Job::Write { id, port, line }),
            Payload::RingRead { id, port, line } => driver.jobs.push_back(Job::Read { id, port, line }),
            Payload::RingFenced { .. } => driver.work.iter_mut().for_each(Work::fenced),
            Payload::RingSent { flow, bytes } => self.on_ring_sent(flow, bytes),
            Payload::RingReceived(id) => self.on_ring_received(id, context),
            Payload::Data(id) if RingTag::is(context.requests.get(id).tag) => {
                let request = *context.requests.get(id);
                context.requests.remove(id);
                lfb.read.release(context.now(), request.class, request.since);
                lfb.free(request.class, request.entered, &mut driver.wiring.rng, context);
                if let RingTag::Read { slot } = RingTag::of(request.tag) {
                    driver.arrived[usize::from(slot)] = true;
                    if let Some(port) = driver.polled_at(slot) {
                        context.send(driver.wiring.part, NEXT_PS, Payload::RingLooked(port));
                    }
                }
            }
            Payload::Admitted(id) if RingTag::is(context.requests.get(id).tag) => {
                let request = *context.requests.get(id);
                lfb.write.release(context.now(), request.class, request.since);
                lfb.free(request.class, request.entered, &mut driver.wiring.rng, context);
                end_of_write(id, context);
            }
            Payload::Data(_) => {
                self.lines.on_event(payload, lfb, &mut self.counts, context);
                if let (Some(slot), Some(driver)) = (self.lines.take_for_ring(), &mut self.mcn) {
                    driver.arrived[usize::from(slot)] = true;
                }
            }
            _ => return false,
        }
        true
    }

    /// Hands a packet to the interfaces if it goes by one.
    pub(super) fn goes_by_ring(&self, id: PacketId, context: &mut Context) -> bool {
        let Some(driver) = &self.mcn else { return false };
        let by_ring = matches!(driver.way(context.packets.get(id).to), Way::Interface(_));
        if by_ring {
            context.send(driver.wiring.part, NEXT_PS, Payload::Transmit(id));
        }
        by_ring
    }

    /// A packet of another machine has come by the NIC: it goes on by a ring.
    pub(super) fn passes_on(&mut self, id: PacketId, context: &mut Context) -> bool {
        let packet = *context.packets.get(id);
        let own = self.mcn.as_ref().is_some_and(|driver| driver.way(packet.to) == Way::Own);
        if own || !self.goes_by_ring(id, context) {
            return false;
        }
        let class = self.mcn.as_ref().map_or(0, |driver| driver.class_of(packet.flow));
        self.registers.class = class;
        let next = self.rings.received.next_line();
        self.lines.know_completion(next, false, class, context);
        self.lines.know(packet.line * 64, false, class, context);
        true
    }

    /// A packet has left the driver of rings.
    fn on_ring_sent(&mut self, flow: u32, bytes: u32) {
        match self.end_of(flow) {
            Some(index) if index < self.sockets.len() => self.leave(index, bytes),
            Some(index) => self.free_datagram(index, bytes),
            None => {}
        }
    }

    /// A packet has been read out of a ring, for an application of this core.
    fn on_ring_received(&mut self, id: PacketId, context: &mut Context) {
        context.packets.get_mut(id).queue = BY_RING;
        self.on_received(id, context);
        self.softirq.poll();
    }

    /// A packet that was read out of a ring goes where it belongs.
    fn forward(&mut self, id: PacketId, context: &mut Context) {
        let Some(driver) = &self.mcn else { return };
        let packet = *context.packets.get(id);
        let (class, core) = driver.wiring.flows[packet.flow as usize];
        match (driver.way(packet.to), core) {
            (Way::Own, Some(core)) if driver.wiring.params.steer && core != context.id => {
                context.send(core, TO_CORE_PS, Payload::RingReceived(id));
            }
            (Way::Own, Some(_)) => self.on_ring_received(id, context),
            (Way::Interface(_), _) => context.send(driver.wiring.part, NEXT_PS, Payload::Transmit(id)),
            (Way::Nic, _) => {
                self.lines.know(self.rings.segments.next_line(), true, class, context);
                self.ring(id, context);
            }
            (Way::Own, None) => {
                self.counts.strangers += 1;
                context.packets.remove(id);
            }
        }
    }

    /// What the core does next for the interfaces.
    pub(super) fn next_ring(&mut self, lfb: &mut Lfb, context: &mut Context) -> Choice {
        loop {
            let Some(driver) = &mut self.mcn else { return Choice::Nothing };
            if driver.work.is_none() {
                let Some(job) = driver.jobs.pop_front() else { return Choice::Nothing };
                driver.begin(job, context);
            }
            let Some(choice) = self.work(lfb, context) else { continue };
            return choice;
        }
    }
}
