//! A server's place in a pool of memory: its lines in other servers, and what it serves of its own to them.
//!
//! Beside the CHA, as memory behind a link is: a line of the pool that the CHA wants takes a credit, becomes a message,
//! and goes by the port of the NIC to its lender. There it is read or written at the memory channel, past the CHA's
//! request buffer, so that servers that lend to each other cannot wait for each other. An answer ends a request once;
//! what is dropped is told by a NACK, or noticed by a timeout, and tried again. What is read ahead is best effort.

mod cache;
mod controller;
mod counts;
mod directory;
mod lender;
mod paging;
mod prefetch;
mod requester;
mod rights;
mod sharing;
#[cfg(test)]
mod sharing_tests;

pub use counts::PoolCounts;
pub(crate) use directory::{Directory, Order};

use crate::line::{Content, Ecn, Packet, PacketId, Pages, PoolKind, PoolMessage, Translator, POOL_FLOW};
use crate::params::PoolParams;
use crate::part::{self, Context, Group, Ids, Part, PartKind, Payload, Pool};
use controller::Controller;
use hostnet_kernel::{ComponentId, Time};
use lender::Served;
use paging::Paging;
use prefetch::Prefetcher;
use requester::{Slot, Way};
use serde::{Deserialize, Serialize};
use sharing::Sharing;

/// Whom the part talks to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Wiring {
    /// The server's number among the hosts.
    pub host: u16,
    /// The CHA.
    pub cha: ComponentId,
    /// The NIC, whose port it shares.
    pub nic: ComponentId,
    /// The channels of its memory.
    pub channels: Ids,
    /// From the CHA to a channel, in ps.
    pub to_channel_ps: u64,
    /// The class that the lines of others count as.
    pub class: u8,
    /// The virtual address at which lent memory begins.
    pub lent: u64,
    /// The same of what is set aside as a cache.
    pub cached: u64,
    /// What its lines cross, if that is simple.
    pub way: Option<PoolWay>,
}

/// What lines cross between a server and its lenders. It is for whoever looks on: the network itself takes the time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PoolWay {
    /// Both messages of a read over the network when nothing else is there, for the nearest lender, in ps.
    pub read_ps: u64,
    /// Bytes per second of its port in each direction.
    pub bytes_per_s: u64,
    /// The same of all its lenders, if each has as much as the slowest.
    pub lenders_bytes_per_s: u64,
}

/// A server's place in a pool of memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PoolPort {
    params: PoolParams,
    wiring: Wiring,
    pages: Translator,
    /// Of reads, and of writes.
    ways: [Way; 2],
    slots: Vec<Slot>,
    free: Vec<u32>,
    sequence: u32,
    prefetcher: Option<Prefetcher>,
    paging: Option<Box<Paging>>,
    sharing: Option<Box<Sharing>>,
    controller: Option<Box<Controller>>,
    /// By the number of the request: for whom a line is read or written here; nothing where nobody waits.
    serving: Vec<Option<Served>>,
    counts: PoolCounts,
}

impl PoolPort {
    /// A place in a pool.
    ///
    /// # Panics
    /// If there are no credits, or the way to the port takes no time.
    #[must_use]
    pub fn new(params: PoolParams, wiring: Wiring, pages: Pages, classes: usize) -> Self {
        assert!(params.read_credits.min(params.write_credits) > 0, "a pool has credits");
        assert!(params.latency_ps.min(params.retry_ps).min(params.timeout_ps) > 0, "ways and timers take time");
        let slots = params.read_credits + params.write_credits;
        Self {
            ways: [params.read_credits, params.write_credits].map(|credits| Way::new(credits, classes)),
            slots: vec![Slot::default(); slots as usize],
            free: (0..slots).rev().collect(),
            sequence: 0,
            prefetcher: params.prefetch.map(|ahead| Prefetcher::new(ahead, params.page_bytes, params.timeout_ps)),
            paging: params.cache.map(|cache| Box::new(Paging::new(cache, params.page_bytes))),
            sharing: params.shared.map(|shared| Box::new(Sharing::new(shared, params.page_bytes))),
            controller: params.controller.as_ref().map(|controller| Box::new(Controller::new(controller))),
            serving: Vec::new(),
            counts: PoolCounts::default(),
            pages: Translator::new(pages),
            params,
            wiring,
        }
    }

    /// What it did since the last reset.
    #[must_use]
    pub fn counts(&self) -> &PoolCounts {
        &self.counts
    }

    /// As the controller of shared pages: requests that it has granted, and servers that it has told to give a page
    /// away or to write it no more, since the last reset.
    #[must_use]
    pub fn decided(&self) -> Option<[u64; 2]> {
        self.controller.as_ref().map(|controller| [controller.directory.decided, controller.directory.told])
    }

    /// What it lends and borrows.
    #[must_use]
    pub fn params(&self) -> &PoolParams {
        &self.params
    }

    /// What its lines cross, if that is simple.
    #[must_use]
    pub fn way(&self) -> Option<&PoolWay> {
        self.wiring.way.as_ref()
    }

    /// Requests of its own that have no answer yet and hold a credit.
    #[must_use]
    pub fn open(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Sends a message to another server after `delay_ps` and the way to the port.
    fn send(&mut self, message: PoolMessage, to: u16, delay_ps: u64, context: &mut Context) {
        let bytes = if message.kind.has_line() { self.params.data_bytes } else { self.params.small_bytes };
        let demand = message.kind.is_demand();
        self.counts.sent_bytes[message.kind as usize] += u64::from(bytes);
        let id = context.packets.insert(Packet {
            flow: POOL_FLOW,
            from: self.wiring.host,
            to,
            ip_bytes: bytes,
            ecn: Ecn::NotCapable,
            priority: if demand { self.params.demand_priority } else { self.params.prefetch_priority },
            corrupt: false,
            copy: false,
            queue: 0,
            order: 0,
            line: 0,
            content: Content::Pool(message),
            next: PacketId::NONE,
        });
        context.send(self.wiring.nic, delay_ps + self.params.latency_ps, Payload::Transmit(id));
    }

    /// A message has come.
    fn on_packet(&mut self, id: PacketId, context: &mut Context) {
        let packet = context.packets.remove(id);
        let Content::Pool(message) = packet.content else { unreachable!("a pool was sent {packet:?}") };
        if packet.corrupt {
            return;
        }
        if message.requester == self.wiring.host {
            return self.on_answer(message, context);
        }
        match message.kind {
            kind if kind.is_asked_of_controller() => self.on_page_message(packet.from, message, context),
            PoolKind::Revoke | PoolKind::Demote => self.give_away(packet.from, message, context),
            _ => self.serve(message, context),
        }
    }
}

impl Part for PoolPort {
    fn kind(&self) -> PartKind {
        PartKind::Pool
    }

    fn on_event(&mut self, payload: Payload, _source: ComponentId, context: &mut Context) {
        match payload {
            Payload::Arrive(id) => self.on_request(id, context),
            Payload::Packet { id, .. } => self.on_packet(id, context),
            Payload::Timer { connection, generation } => self.on_timer(connection, generation, context),
            Payload::Data(id) | Payload::Acknowledged(id) => self.served(id, context),
            other => unreachable!("a pool was sent {other:?}"),
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        let [reads, writes] = &self.ways;
        visit(Pool::new(Group::PoolRead, &reads.credits));
        visit(Pool::new(Group::PoolWrite, &writes.credits));
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.ways.iter_mut().map(|way| &mut way.credits), now);
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.ways.iter_mut().map(|way| &mut way.credits), now);
        self.counts.reset();
        self.controller.iter_mut().for_each(|controller| controller.directory.reset());
    }
}
