//! Driver on the receive side: it is woken, looks at the poll words, and reads the messages that it saw.

use super::engine::CopyEngines;
use super::link::RingPair;
use super::{Mcn, PacketRoute, NEXT_PS};
use crate::line::{Packet, PacketId};
use crate::params::McnWake;
use crate::part::{Context, Payload, RingEvent};

impl Mcn {
    /// Returns true if the driver may take a packet. A packet for another ring must stay where it is while that
    /// ring's queue of relayed packets is full.
    pub(super) fn has_room(&self, packet: &Packet) -> bool {
        match self.route_packet(packet.from, packet.to) {
            // Only packets between DIMMs are held back, because they are never dropped (docs/models/mcn.md, Rings).
            PacketRoute::Interface(port) if self.is_relayed(packet) => {
                self.links[usize::from(port)].relayed() < self.params.queue_packets
            }
            _ => true,
        }
    }

    /// Returns true if a packet comes from a DIMM and this machine is its host.
    pub(super) fn is_relayed(&self, packet: &Packet) -> bool {
        !self.params.on_dimm && self.params.interfaces.iter().any(|interface| interface.host == packet.from)
    }

    /// Handles an arrived message: interrupts the driver, or passes the message to an engine.
    pub(super) fn on_message(&mut self, id: PacketId, port: u16, context: &mut Context) {
        let link = &mut self.links[usize::from(port)];
        link.arrive(id, context.packets);
        if self.engines.is_none() {
            let signal = self.params.signal(&link.interface);
            return self.interrupt(signal, context);
        }
        // Engines learn of each message at once (ALERT_N); poll words are for cores.
        link.look();
        if let Some((id, at, _)) = link.take(context.packets) {
            self.transfer(id, port, at, false, context);
        }
    }

    /// Interrupts the driver, unless the driver polls by timer.
    pub(super) fn interrupt(&mut self, signal: u16, context: &mut Context) {
        if let McnWake::Interrupt(ps) = self.params.wake {
            self.wake_driver(signal, ps, context);
        }
    }

    /// Wakes the driver after `ps`. While the driver is busy, only records the signal.
    pub(super) fn wake_driver(&mut self, signal: u16, ps: u64, context: &mut Context) {
        // One poll at a time; the signal is looked at when this one is over.
        if self.polling {
            self.again[usize::from(signal)] = true;
            return;
        }
        (self.polling, self.signal) = (true, signal);
        self.polls += 1;
        context.send(self.core, ps, Payload::Ring(RingEvent::Poll(signal)));
    }

    /// Handles the poll timer: schedules the next one and wakes the driver.
    pub(super) fn on_timer(&mut self, context: &mut Context) {
        if let McnWake::Timer(ps) = self.params.wake {
            // From now and not from the end of the poll, so that the timer does not drift.
            context.send(context.id, ps, Payload::Wake);
            self.wake_driver(0, NEXT_PS, context);
        }
    }

    /// Continues after the driver has read the poll words of the interfaces that its signal stands for.
    pub(super) fn on_polled(&mut self, context: &mut Context) {
        if let Some(engines) = &mut self.engines {
            engines.look();
            return self.hand_next(context);
        }
        // Round robin: the interface after the last one goes first.
        self.turn = (self.turn + 1) % self.links.len();
        self.read_next(context);
    }

    /// Reads the next message that the driver saw, staying at an interface as long as it has messages. If none is
    /// left, the driver stops. Messages that have arrived since then wait for the next timer or interrupt.
    pub(super) fn read_next(&mut self, context: &mut Context) {
        let count = self.links.len();
        let may_read = |port: &usize| {
            let seen = self.links[*port].next_seen();
            seen.is_some_and(|id| self.has_room(context.packets.get(id)))
        };
        // Stays at an interface while it has messages, then goes on round robin.
        let next = (0..count).map(|step| (self.turn + step) % count).find(may_read);
        let Some(port) = next else { return self.rest(context) };
        self.turn = port;
        if let Some((id, at, _)) = self.links[port].take(context.packets) {
            context.send(self.core, NEXT_PS, Payload::Ring(RingEvent::Read { id, port: port as u16, line: at as u16 }));
        }
    }

    /// Ends a look of the driver. If signals have arrived meanwhile, wakes the driver for the next one, round robin
    /// over channels.
    pub(super) fn rest(&mut self, context: &mut Context) {
        self.polling = false;
        let (last, count) = (self.signal, self.again.len() as u16);
        let mut signals = (1..=count).map(|step| (last + step) % count);
        // The channel after the last one first, so that none starves.
        let next = signals.find(|&signal| std::mem::take(&mut self.again[usize::from(signal)]) && self.waits(signal));
        if let Some(signal) = next {
            self.wake_driver(signal, NEXT_PS, context);
        }
    }

    /// Returns true if a recorded signal still has a message to read. The driver may have read it since.
    fn waits(&self, signal: u16) -> bool {
        let mut links = self.links.iter().filter(|link| self.params.signal(&link.interface) == signal);
        matches!(self.params.wake, McnWake::Timer(_))
            || links.any(RingPair::has_message)
            || self.engines.as_ref().is_some_and(CopyEngines::has_message)
    }

    /// Returns the signal of an interface from which the driver has seen a message that it can now read, if any.
    pub(super) fn find_resumable_signal(&self, context: &Context) -> Option<u16> {
        let has_room = |id: &PacketId| self.has_room(context.packets.get(*id));
        let engines = self.engines.as_ref().and_then(CopyEngines::next_seen).filter(has_room);
        let link = self.links.iter().find(|link| link.next_seen().filter(has_room).is_some());
        link.map(|link| self.params.signal(&link.interface)).or(engines.map(|_| 0))
    }

    /// Continues after the driver has read a message of `lines` lines.
    pub(super) fn on_read(&mut self, port: u16, lines: u32, context: &mut Context) {
        if self.engines.is_some() {
            return self.hand_next(context);
        }
        let link = &mut self.links[usize::from(port)];
        link.consumed += lines;
        link.counts.read += 1;
        self.report_consumed(port, context);
        self.read_next(context);
    }
}
