//! Driver of a memory channel network on a core: writes messages to rings, and reads messages out of rings.
//!
//! The component of the interfaces decides what may be done; the core does it, line by line, one piece of work after
//! the other. To write a message, the core reads how far the other side has read, stores the lines past its caches,
//! waits until the device has all of them and stores the pointer. To read a message, the core loads the first line,
//! which holds the length and the destination, then the other lines, and stores them to the memory of a packet. It
//! drops each line from its caches.

mod work;

use super::counters::StackCounts;
use super::lines::Lines;
use super::region::Region;
use super::task::NextWork;
use crate::lfb::Lfb;
use crate::line::{Packet, PacketId};
use crate::mcn::{end_half_write, route_packet, PacketRoute, RingTag, SramWindow, NEXT_PS};
use crate::params::McnParams;
use crate::part::{Context, Payload, RingEvent};
use hostnet_kernel::{ComponentId, Rng};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use work::Work;

/// Bytes of the memory that a core reads packets into, one after the other: several times the largest ring, so that
/// data that is still to be copied to applications is not overwritten.
pub const PACKET_BYTES: u64 = 4 << 20;
/// Value of [`crate::line::Packet::queue`] for a packet that arrived by a ring and not by the NIC.
pub(super) const BY_RING: u16 = u16::MAX;

/// Ids of the components that the driver on a core sends to, and its configuration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RingWiring {
    /// Interfaces of the machine that the driver runs on.
    pub part: ComponentId,
    /// CHA of the socket of the core.
    pub cha: ComponentId,
    /// Delay of a request from the core to the CHA, in ps.
    pub to_cha_ps: u64,
    /// Lines of the buffer devices, by interface.
    pub windows: Vec<SramWindow>,
    /// Parameters of the interfaces and their costs.
    pub params: McnParams,
    /// Number of the host that the driver runs on.
    pub host: u16,
    /// By flow: the class of the flow at this host, and the core at which the flow ends, if it ends at this host.
    pub flows: Vec<(u8, Option<ComponentId>)>,
    /// Memory that packets are read into.
    pub packets: Region,
    /// Random numbers of the LFB entries of the core.
    pub rng: Rng,
}

/// Work of a core for the interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum RingJob {
    /// Looks for messages, woken by a signal.
    Poll { signal: u16 },
    /// Writes a message that begins at a line of a ring.
    Write { id: PacketId, port: u16, line: u16 },
    /// Reads a message that begins at a line of a ring.
    Read { id: PacketId, port: u16, line: u16 },
}

/// Driver of the rings on a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RingDriver {
    wiring: RingWiring,
    jobs: VecDeque<RingJob>,
    work: Option<Work>,
    /// Interfaces whose poll words the driver reads, by signal.
    polled: Vec<Vec<u16>>,
    /// Number of lines that the core loads ahead of the line that it copies.
    ahead: u32,
    /// For each line that was requested, true if it has arrived; indexed by its number modulo the length.
    arrived: Vec<bool>,
    /// Offset of the next packet in the memory for packets, in bytes.
    next: u64,
}

/// Returns the interfaces whose poll words a driver reads, by signal. With engines there are none: the engines have
/// read the messages that they report.
fn polled(params: &McnParams) -> Vec<Vec<u16>> {
    let mut all = vec![Vec::new(); usize::from(params.signals())];
    for (port, interface) in params.interfaces.iter().enumerate().filter(|_| params.dma_lines.is_none()) {
        all[usize::from(params.signal(interface))].push(port as u16);
    }
    all
}

/// Next step of a core for the interfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RingStep {
    /// The core is busy, or waits.
    Busy(NextWork),
    /// A packet has been read out of a ring and must be passed on.
    Forward(PacketId),
    /// There is no work.
    Nothing,
}

/// Destination of a packet that was read out of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RingExit {
    /// Application of this core.
    Here,
    /// Core at which the flow of the packet ends.
    Core(ComponentId),
    /// Another interface.
    Interface,
    /// NIC of the host.
    Nic,
    /// None: the packet is for this host, but none of its flows ends here.
    Stranger,
}

impl RingDriver {
    /// Creates the driver, which loads up to `ahead` lines ahead of the one that it copies, at least 1.
    pub(super) fn new(wiring: RingWiring, ahead: u32) -> Self {
        let ahead = ahead.max(1);
        // A poll reads a word per interface, a copy as many lines as it loads ahead.
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

    /// Allocates memory for a packet of `lines` lines, and returns its first virtual line.
    fn place(&mut self, lines: u32) -> u64 {
        let bytes = u64::from(lines) * 64;
        // A packet does not wrap around: its lines are consecutive.
        if self.next + bytes > self.wiring.packets.bytes {
            self.next = 0;
        }
        let at = self.next;
        self.next += bytes;
        (self.wiring.packets.base + at) / 64
    }

    /// Handles an event of the interfaces or of a line that the driver has requested. Returns false if it is another
    /// event.
    pub(super) fn on_event(&mut self, payload: Payload, lfb: &mut Lfb, context: &mut Context) -> bool {
        match payload {
            Payload::Ring(RingEvent::Poll(signal)) => self.jobs.push_back(RingJob::Poll { signal }),
            Payload::Ring(RingEvent::Write { id, port, line }) => {
                self.jobs.push_back(RingJob::Write { id, port, line })
            }
            Payload::Ring(RingEvent::Read { id, port, line }) => self.jobs.push_back(RingJob::Read { id, port, line }),
            Payload::Ring(RingEvent::Fenced { .. }) => self.work.iter_mut().for_each(Work::fenced),
            // Lines of the devices are marked by their tags; all others belong to `Lines`.
            Payload::Data(id) if RingTag::is(context.requests.get(id).tag) => {
                let request = *context.requests.get(id);
                context.requests.remove(id);
                lfb.read.release(context.now(), request.class, request.since);
                lfb.free(request.class, request.entered, &mut self.wiring.rng, context);
                if let RingTag::Read { slot } = RingTag::of(request.tag) {
                    self.note_arrived(slot);
                    if let Some(port) = self.polled_at(slot) {
                        context.send(self.wiring.part, NEXT_PS, Payload::Ring(RingEvent::Looked(port)));
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

    /// Hands a packet to the interfaces. Returns false if the packet does not go by an interface.
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

    /// Returns the destination of a packet that was read out of a ring, and its class.
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

    /// Chooses the next step of the core for the interfaces.
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
