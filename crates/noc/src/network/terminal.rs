//! Terminals: source queues, injection of one flit per cycle, and ejection.

use super::allocate::{flit_of, next};
use super::{Network, Packet, PacketId};
use crate::{Layout, Reuse, Router, Routes};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Packet that a terminal is sending.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Sending {
    packet: PacketId,
    left: u16,
    vc: u8,
}

/// Source queue of one class at a terminal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct SourceQueue {
    waiting: VecDeque<Packet>,
    sending: Option<Sending>,
    /// Round-robin pointer over the virtual channels of the class.
    turn: u8,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TerminalState {
    router: u16,
    lines: Vec<SourceQueue>,
    /// Classes with flits to send, as a bit mask. `turn` is the round-robin pointer over the classes.
    busy: u32,
    turn: u8,
    /// Virtual channels of the router's input that no packet of this terminal holds. `credit` are those with room. Bit
    /// masks.
    free: u64,
    credit: u64,
    /// Classes that the terminal does not accept flits of, as a bit mask.
    closed: u32,
    /// First virtual channel of the router's input. The next fields are the cycles to it, the cycles of a credit, and
    /// the first virtual channel of the router's output.
    base: u32,
    in_cycles: u32,
    credit_cycles: u32,
    output_base: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Terminals {
    all: Vec<TerminalState>,
    /// Packets in source queues.
    pub(super) waiting: usize,
    /// Terminals with flits to send, as a bit mask.
    awake: Vec<u64>,
    vcs: usize,
    /// Room in the router's input, by terminal and virtual channel.
    pub(super) room: Vec<u8>,
    /// Credits withheld for flits of closed classes, by terminal and virtual channel.
    pub(super) withheld_credits: Vec<u8>,
    class_of_vc: Vec<u8>,
    vc_flits: u8,
    reuse: Reuse,
}

impl Terminals {
    pub(super) fn new(layout: &Layout, routes: &Routes, router: &Router, ports: usize) -> Self {
        let (classes, vcs) = (routes.class_vcs.len(), routes.vcs);
        let all = layout.terminals.iter().map(|terminal| {
            let port = usize::from(terminal.at.router) * ports + usize::from(terminal.at.port);
            TerminalState {
                router: terminal.at.router,
                lines: vec![SourceQueue::default(); classes],
                busy: 0,
                turn: 0,
                free: crate::routes::bits(vcs),
                credit: crate::routes::bits(vcs),
                closed: 0,
                base: (port * vcs) as u32,
                in_cycles: terminal.in_cycles,
                credit_cycles: terminal.credit_cycles,
                output_base: (port * vcs) as u32,
            }
        });
        let all: Vec<TerminalState> = all.collect();
        let class_of_vc = (0..vcs).map(|vc| {
            // Classes have disjoint channels, so each channel has exactly one.
            let class = routes.class_vcs.iter().position(|own| own >> vc & 1 != 0);
            class.expect("every virtual channel belongs to a class") as u8
        });
        Self {
            waiting: 0,
            awake: vec![0; all.len().div_ceil(64)],
            vcs,
            room: vec![router.vc_flits; all.len() * vcs],
            withheld_credits: vec![0; all.len() * vcs],
            class_of_vc: class_of_vc.collect(),
            vc_flits: router.vc_flits,
            reuse: router.reuse,
            all,
        }
    }

    pub(super) fn receive_credit(&mut self, place: usize) {
        let (terminal, vc) = (place / self.vcs, place % self.vcs);
        self.room[place] += 1;
        let one = &mut self.all[terminal];
        one.credit |= 1 << vc;
        let sending = one.lines[usize::from(self.class_of_vc[vc])].sending;
        // All places are back and no packet is being sent there: Drained, and harmless with TailSent.
        if self.room[place] == self.vc_flits && sending.is_none_or(|sending| usize::from(sending.vc) != vc) {
            one.free |= 1 << vc;
        }
    }

    /// Receives a flit on a virtual channel of a terminal and returns a credit, unless its class is closed.
    #[inline]
    pub(super) fn receive(&mut self, place: usize, cycle: u64, wheel: &mut super::wheel::Wheel) {
        let (terminal, vc) = (place / self.vcs, place % self.vcs);
        let one = &self.all[terminal];
        // The credit is withheld: flits then stay in the buffers and packets back up behind them.
        if one.closed != 0 && one.closed >> self.class_of_vc[vc] & 1 != 0 {
            self.withheld_credits[place] += 1;
        } else {
            wheel.credit(cycle + u64::from(one.credit_cycles), one.output_base + vc as u32);
        }
    }
}

impl Network {
    /// Draws the group of a packet.
    fn draw_group(&mut self, source: u16, destination: u16, class: u8) -> u8 {
        let router = self.terminals.all[usize::from(source)].router;
        let mut groups = self.routes.groups_of(class, usize::from(router), destination);
        match (groups.next(), groups.next()) {
            // A packet that can be of one group only draws nothing, and does not move the random stream.
            (Some(only), None) => only,
            (Some(first), Some(_)) => first + self.rng.below(2) as u8,
            (None, _) => unreachable!("there is a route from {source} to {destination}"),
        }
    }

    /// Queues a packet at its source. Its latency counts from the current cycle.
    ///
    /// # Panics
    /// Panics if a terminal or the class does not exist, or if the packet has no flit.
    pub fn offer(&mut self, source: u16, destination: u16, class: u8, flits: u16, tag: u64) {
        assert!(flits > 0 && usize::from(destination) < self.terminals.all.len(), "a packet of {flits} flits");
        let group = self.draw_group(source, destination, class);
        let (created, entered) = (self.cycle, self.cycle);
        let packet = Packet { source, destination, class, group, flits, created, entered, tag };
        let one = &mut self.terminals.all[usize::from(source)];
        one.lines[usize::from(class)].waiting.push_back(packet);
        one.busy |= 1 << class;
        self.terminals.waiting += 1;
        self.terminals.awake[usize::from(source) / 64] |= 1 << (source % 64);
    }

    /// Returns the packets of a class that are queued at a terminal, without the one being sent.
    ///
    /// # Panics
    /// Panics if there is no such terminal or class.
    #[must_use]
    pub fn queued(&self, terminal: u16, class: u8) -> usize {
        self.terminals.all[usize::from(terminal)].lines[usize::from(class)].waiting.len()
    }

    /// Opens or closes a terminal for the flits of a class. Flits that arrive while the class is closed stay in the
    /// buffers, at most as many as these hold. Packets delivered meanwhile belong to the caller, but their credits are
    /// returned only when the class is opened again.
    ///
    /// # Panics
    /// Panics if there is no such terminal or class.
    pub fn set_open(&mut self, terminal: u16, class: u8, open: bool) {
        let one = &mut self.terminals.all[usize::from(terminal)];
        assert!(usize::from(class) < one.lines.len(), "there is no class {class}");
        if !open {
            one.closed |= 1 << class;
            return;
        }
        // Open already: no credit is withheld.
        if one.closed >> class & 1 == 0 {
            return;
        }
        one.closed &= !(1 << class);
        for vc in 0..self.vcs {
            let place = usize::from(terminal) * self.vcs + vc;
            if self.terminals.class_of_vc[vc] == class {
                for _ in 0..std::mem::take(&mut self.terminals.withheld_credits[place]) {
                    self.wheel.credit(self.cycle + u64::from(one.credit_cycles), one.output_base + vc as u32);
                }
            }
        }
    }

    pub(super) fn send_from_terminals(&mut self) {
        for word in 0..self.terminals.awake.len() {
            let mut terminals = self.terminals.awake[word];
            while terminals != 0 {
                let terminal = word * 64 + terminals.trailing_zeros() as usize;
                terminals &= terminals - 1;
                self.send_from(terminal);
            }
        }
    }

    /// Sends a flit from a terminal, round robin over the classes that can send.
    fn send_from(&mut self, terminal: usize) {
        let busy = self.terminals.all[terminal].busy;
        let turn = self.terminals.all[terminal].turn;
        // Classes at or after the pointer first, then those before it: flit by flit, so a long packet blocks no class.
        let below = busy & ((1 << turn) - 1);
        for part in [busy & !below, below] {
            let mut classes = part;
            while classes != 0 {
                let class = classes.trailing_zeros() as usize;
                classes &= classes - 1;
                if self.send_of_class(terminal, class) {
                    let one = &mut self.terminals.all[terminal];
                    one.turn = ((class + 1) % one.lines.len()) as u8;
                    return;
                }
            }
        }
    }

    fn send_of_class(&mut self, terminal: usize, class: usize) -> bool {
        let Some((sending, first)) = self.next_flit(terminal, class) else { return false };
        let one = &mut self.terminals.all[terminal];
        let line = &mut one.lines[class];
        let bit = 1_u64 << sending.vc;
        let room = &mut self.terminals.room[terminal * self.vcs + usize::from(sending.vc)];
        *room -= 1;
        if *room == 0 {
            one.credit &= !bit;
        }
        let last = sending.left == 1;
        line.sending = if last { None } else { Some(Sending { left: sending.left - 1, ..sending }) };
        if last {
            if self.terminals.reuse == Reuse::TailSent {
                one.free |= bit;
            }
            // The class stays busy while packets wait: a terminal without flits is not visited.
            if line.waiting.is_empty() {
                one.busy &= !(1 << class);
                if one.busy == 0 {
                    self.terminals.awake[terminal / 64] &= !(1 << (terminal % 64));
                }
            }
        }
        self.counters.injected += 1;
        let flit = flit_of(sending.packet, first, last);
        self.wheel.flit(self.cycle + u64::from(one.in_cycles), one.base + u32::from(sending.vc), flit);
        true
    }

    /// Returns the next flit of a class that a terminal can send, and true if it begins a packet.
    fn next_flit(&mut self, terminal: usize, class: usize) -> Option<(Sending, bool)> {
        let own = self.routes.class_vcs[class];
        let one = &mut self.terminals.all[terminal];
        let line = &mut one.lines[class];
        if let Some(sending) = line.sending {
            // A packet that has begun stays in its channel: packets are not mixed in one.
            return (one.credit >> sending.vc & 1 != 0).then_some((sending, false));
        }
        // Both: a channel without room would hold the packet outside while another may have some.
        let open = own & one.free & one.credit;
        if open == 0 {
            return None;
        }
        let packet = line.waiting.pop_front()?;
        let vc = next(open, line.turn) as u8;
        line.turn = vc + 1;
        one.free &= !(1 << vc);
        self.terminals.waiting -= 1;
        // Latency in the network begins here; `created` keeps the time of the offer.
        let packet = Packet { entered: self.cycle, ..packet };
        Some((Sending { packet: self.enter(packet), left: packet.flits, vc }, true))
    }

    /// Assigns an id to a packet that enters the network.
    fn enter(&mut self, packet: Packet) -> PacketId {
        if let Some(id) = self.vacant.pop() {
            self.packets[id as usize] = packet;
            return id;
        }
        self.packets.push(packet);
        self.packets.len() as PacketId - 1
    }
}
