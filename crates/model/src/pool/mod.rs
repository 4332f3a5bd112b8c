//! Memory pool port of a server: its lines in the memory of other servers, and the lines that it serves to them.
//!
//! The port sits beside the CHA, as memory behind a link does. A request of the CHA for a pool line takes a credit,
//! becomes a message, and goes to the lender through the port of the NIC. At the lender, the line is read or written
//! at the memory channel, bypassing the CHA's request buffer, so that servers that lend to each other cannot
//! deadlock. A request ends with its first answer. A dropped message is reported by a NACK or detected by a timeout,
//! and retried. Prefetches are best effort.

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

use crate::line::{
    Content, CreditQueue, Ecn, Packet, PacketId, Pages, PoolKind, PoolMessage, RequestId, Translator, POOL_FLOW,
};
use crate::params::PoolParams;
use crate::part::{self, Context, Part, PartIds, PartKind, Payload, Pool, PoolGroup};
use controller::Controller;
use hostnet_kernel::{ComponentId, Time};
use lender::{answer_kind, request_kind, BesideAccess, BesideAccesses};
use paging::Paging;
use prefetch::Prefetcher;
use requester::Slot;
use serde::{Deserialize, Serialize};
use sharing::Sharing;

/// Connections of a pool port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PoolWiring {
    /// Number of the server among the hosts.
    pub host: u16,
    /// CHA of the server.
    pub cha: ComponentId,
    /// NIC whose port is shared.
    pub nic: ComponentId,
    /// Memory channels of the server.
    pub channels: PartIds,
    /// Latency from the CHA to a channel, in ps.
    pub to_channel_ps: u64,
    /// Traffic class that lines of other servers are accounted to.
    pub class: u8,
    /// Virtual address at which lent memory begins.
    pub lent: u64,
    /// Virtual address at which the local memory set aside as a cache begins.
    pub cached: u64,
    /// Path of the lines, if it is simple enough to be described.
    pub way: Option<PoolPath>,
}

/// Path between a server and its lenders. Used for reports only: the network model itself adds the latency.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PoolPath {
    /// Time of both messages of a read over the idle network to the nearest lender, in ps.
    pub read_ps: u64,
    /// Bandwidth of the server's port in each direction, in bytes per second.
    pub bytes_per_s: u64,
    /// Bandwidth of all its lenders together in each direction, in bytes per second, if each is as fast as the
    /// slowest.
    pub lenders_bytes_per_s: u64,
}

/// Memory pool port of a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PoolPort {
    params: PoolParams,
    wiring: PoolWiring,
    pages: Translator,
    /// Credit queues of reads and of writes.
    credit_queues: [CreditQueue; 2],
    slots: Vec<Slot>,
    free: Vec<u32>,
    sequence: u32,
    prefetcher: Option<Prefetcher>,
    paging: Option<Box<Paging>>,
    sharing: Option<Box<Sharing>>,
    controller: Option<Box<Controller>>,
    beside: BesideAccesses,
    counts: PoolCounts,
}

impl PoolPort {
    /// Creates a pool port.
    ///
    /// # Panics
    /// Panics if there are no credits, or if the latency to the port or a timer is 0.
    #[must_use]
    pub fn new(params: PoolParams, wiring: PoolWiring, pages: Pages, classes: usize) -> Self {
        assert!(params.read_credits.min(params.write_credits) > 0, "a pool has credits");
        assert!(params.latency_ps.min(params.retry_ps).min(params.timeout_ps) > 0, "ways and timers take time");
        // A slot per credit, so that a request with a credit always finds one.
        let slots = params.read_credits + params.write_credits;
        Self {
            credit_queues: [params.read_credits, params.write_credits]
                .map(|credits| CreditQueue::new(credits, classes)),
            slots: vec![Slot::default(); slots as usize],
            // In reverse order, so that slot 0 is taken first.
            free: (0..slots).rev().collect(),
            sequence: 0,
            prefetcher: params.prefetch.map(|ahead| Prefetcher::new(ahead, params.page_bytes, params.timeout_ps)),
            paging: params.cache.map(|cache| Box::new(Paging::new(cache, params.page_bytes))),
            sharing: params.shared.map(|shared| Box::new(Sharing::new(shared, params.page_bytes))),
            controller: params.controller.as_ref().map(|controller| Box::new(Controller::new(controller))),
            beside: BesideAccesses::default(),
            counts: PoolCounts::default(),
            pages: Translator::new(pages),
            params,
            wiring,
        }
    }

    /// Returns the counters since the last reset.
    #[must_use]
    pub fn counts(&self) -> &PoolCounts {
        &self.counts
    }

    /// Returns the counters of the controller of shared pages since the last reset, if this server is the controller:
    /// requests granted, and servers ordered to give a page away or to stop writing it.
    #[must_use]
    pub fn decided(&self) -> Option<[u64; 2]> {
        self.controller.as_ref().map(|controller| [controller.directory.decided, controller.directory.told])
    }

    /// Returns the parameters of the pool port.
    #[must_use]
    pub fn params(&self) -> &PoolParams {
        &self.params
    }

    /// Returns the path of the lines, if it is described.
    #[must_use]
    pub fn way(&self) -> Option<&PoolPath> {
        self.wiring.way.as_ref()
    }

    /// Returns the number of the server's requests that hold a credit.
    #[must_use]
    pub fn open(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Sends a message to another server after `delay_ps` and the latency to the port.
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

    /// Handles a message that has arrived. A corrupted one is dropped.
    fn on_packet(&mut self, id: PacketId, context: &mut Context) {
        let packet = context.packets.remove(id);
        let Content::Pool(message) = packet.content else { unreachable!("a pool was sent {packet:?}") };
        // No NACK for a damaged message; its timeout repeats it.
        if packet.corrupt {
            return;
        }
        // Answers carry the requester, all else comes from other requesters.
        if message.requester == self.wiring.host {
            return self.on_answer(message, context);
        }
        match message.kind {
            kind if kind.is_asked_of_controller() => self.controller_mut().enqueue(packet.from, message, context),
            PoolKind::Revoke | PoolKind::Demote => self.on_page_order(packet.from, message, context),
            _ => self.serve(message, context),
        }
    }

    fn controller_mut(&mut self) -> &mut Controller {
        self.controller.as_mut().expect("only the controller is asked")
    }

    /// Decides on the oldest message about a page, and sends the orders that follow.
    fn decide(&mut self, context: &mut Context) {
        for (to, message) in self.controller_mut().decide() {
            self.send(message, to, self.params.latency_ps, context);
        }
        self.controller_mut().go_on(context);
    }

    /// Reads or writes a line for another server at its channel, bypassing the CHA.
    fn serve(&mut self, message: PoolMessage, context: &mut Context) {
        let line = self.pages.physical(self.wiring.lent + message.line * 64) / 64;
        let access = (line, request_kind(message.kind));
        let delay_ps = self.params.latency_ps + self.wiring.to_channel_ps;
        self.beside.start(&self.wiring, access, BesideAccess::Asked(message), delay_ps, context);
    }

    /// Continues after an access that bypassed the CHA.
    fn served(&mut self, id: RequestId, context: &mut Context) {
        match self.beside.end(id, context) {
            BesideAccess::Asked(message) => self.answer(message, context),
            BesideAccess::Kept(spot) => self.kept(spot),
            BesideAccess::Leaving(place) => self.send_transfer(place, context),
        }
    }

    /// Answers another server.
    fn answer(&mut self, message: PoolMessage, context: &mut Context) {
        let kind = answer_kind(message.kind);
        let written = matches!(kind, PoolKind::Written | PoolKind::WrittenBack);
        self.counts.served[usize::from(written)] += 1;
        self.send(PoolMessage { kind, ..message }, message.requester, 0, context);
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
        let [reads, writes] = &self.credit_queues;
        visit(Pool::new(PoolGroup::PoolRead, reads.credits()));
        visit(Pool::new(PoolGroup::PoolWrite, writes.credits()));
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.credit_queues.iter_mut().map(CreditQueue::credits_mut), now);
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.credit_queues.iter_mut().map(CreditQueue::credits_mut), now);
        self.counts.reset();
        self.controller.iter_mut().for_each(|controller| controller.directory.reset());
    }
}
