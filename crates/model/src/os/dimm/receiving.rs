//! Packets that have come by a NIC in a DIMM.

use super::super::books::Spent;
use super::super::lines::Pace;
use super::super::run::{Choice, Task};
use super::NetStack;
use crate::lfb::Lfb;
use crate::line::{Content, Packet, PacketId};
use crate::part::Context;
use crate::transport::journey::Stage;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes of an Ethernet header, before the IP header in memory.
const ETHERNET_BYTES: u64 = 14;

/// Packets that have come and are not yet the softirq's.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Receiving {
    come: VecDeque<PacketId>,
    /// The one whose lines are read anew.
    reading: Option<PacketId>,
    /// Those that are being cloned while they are worked on, and the one that the driver is through with before that.
    cloning: Vec<PacketId>,
    held: Option<PacketId>,
    /// Datagrams that found no rows free.
    pub(super) in_place: u64,
}

impl NetStack {
    /// A packet has come.
    pub(in crate::os) fn arrive_by_dimm(&mut self, id: PacketId) {
        if let Some(driver) = &mut self.driver {
            driver.receiving.come.push_back(id);
        }
    }

    /// What the core does next for packets that have come.
    pub(in crate::os) fn next_arrival(&mut self, lfb: &mut Lfb, context: &mut Context) -> Option<Choice> {
        let driver = self.driver.as_ref()?;
        if let Some(id) = driver.receiving.reading {
            match self.lines.follow(lfb, &mut self.counts, context) {
                Pace::Waiting => return Some(Choice::Wait(Spent::Register)),
                Pace::Until(at) => {
                    return Some(Choice::Work(Task::Lines, at.since(context.now()), Spent::Softirq));
                }
                Pace::Done => self.end_arrival(id, context),
            }
        }
        let driver = self.driver.as_mut()?;
        let id = driver.receiving.come.pop_front()?;
        Some(Choice::Work(Task::Invalidate(id), driver.params.flush_ps, Spent::Softirq))
    }

    /// The instruction that invalidates the completion of a packet is through: it is read.
    pub(in crate::os) fn read_anew(&mut self, id: PacketId, context: &mut Context) {
        let flow = context.packets.get(id).flow;
        let class = self.end_of(flow).map_or(0, |index| self.class_of(index));
        let completion = self.rings.received.next_line();
        self.know_fresh(completion, class, context);
        if let Some(driver) = &mut self.driver {
            driver.receiving.reading = Some(id);
        }
    }

    /// A line that the NIC has written is read: what caches have of it is out of date.
    pub(in crate::os) fn know_fresh(&mut self, address: u64, class: u8, context: &mut Context) {
        let line = self.lines.physical(address);
        if let Some(caches) = context.caches.own() {
            caches.io_invalidate(line);
        }
        self.lines.know(address, false, class, context);
    }

    /// The completion of a packet is there, which is the softirq's now. A datagram is cloned to a buffer of its socket,
    /// if there is one free, while its first line is read where it came in and the driver works on it.
    fn end_arrival(&mut self, id: PacketId, context: &mut Context) {
        let now = context.now();
        let packet = context.packets.get_mut(id);
        packet.end(Stage::RxInvalidate, now);
        let Packet { flow, line, ip_bytes, content, .. } = *packet;
        let index = self.end_of(flow);
        let own = matches!(content, Content::Udp(_)) && index.is_some();
        let class = index.map_or(0, |index| self.class_of(index));
        self.know_fresh(line * 64, class, context);
        let Some(driver) = &mut self.driver else { return };
        driver.receiving.reading = None;
        let lines = (u64::from(ip_bytes) + ETHERNET_BYTES).div_ceil(64);
        let clone = if own { driver.clone_of(line, lines, id, true) } else { None };
        driver.receiving.in_place += u64::from(own && clone.is_none());
        if let Some((to, command)) = clone {
            driver.receiving.cloning.push(id);
            context.packets.get_mut(id).line = to;
            if let Some(caches) = context.caches.own() {
                (to..to + lines).for_each(|line| caches.io_invalidate(line));
            }
            context.send(driver.dimm, driver.to_dimm_ps, command);
        }
        self.keep_received(id, context);
    }

    /// The driver is through with a packet: whether it has to wait for the clone of it.
    pub(in crate::os) fn holds_back(&mut self, id: PacketId, context: &mut Context) -> bool {
        let Some(driver) = &mut self.driver else { return false };
        let (holds, now) = (driver.receiving.cloning.contains(&id), context.now());
        if holds {
            driver.receiving.held = Some(id);
            context.packets.get_mut(id).end(Stage::RxDriver, now);
        }
        holds
    }

    /// Whether the driver waits for a clone.
    pub(in crate::os) fn is_held(&self) -> bool {
        self.driver.as_ref().is_some_and(|driver| driver.receiving.held.is_some())
    }

    /// A packet is where its socket has it.
    pub(in crate::os) fn on_cloned(&mut self, id: PacketId, lfb: &mut Lfb, context: &mut Context) {
        let Some(driver) = &mut self.driver else { return };
        driver.receiving.cloning.retain(|&other| other != id);
        if driver.receiving.held == Some(id) {
            driver.receiving.held = None;
            let now = context.now();
            context.packets.get_mut(id).end(Stage::RxCopy, now);
            self.end_packet(id, lfb, context);
        }
    }
}
