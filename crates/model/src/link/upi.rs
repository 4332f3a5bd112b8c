//! Ultra Path Interconnect (UPI): the way from the cores of another socket to the memory of this one.
//!
//! Two directions, each with a pool of credits for messages without data (requests, acknowledgements) and one for
//! messages with a line (write-backs, data). A message takes a credit when it gets onto the wire and waits for one in a
//! queue of its pool, so that neither kind holds the other back. The credit comes back over the other direction, a
//! latency after the far end has taken the message: the CHA takes a read when it admits it and a write-back when it
//! acknowledges it, a core takes an answer at once.
//!
//! At the CHA a request belongs to its UPI; the UPI knows the core.

use super::Lane;
use crate::line::{Fifo, Kind, Request, RequestId};
use crate::params::UpiParams;
use crate::part::{self, Context, Group, Part, PartKind, Payload, Pool, UpiPool};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

impl UpiPool {
    /// Every pool.
    pub const ALL: [Self; 4] = [Self::Request, Self::WriteBack, Self::Data, Self::Answer];

    fn is_outward(self) -> bool {
        matches!(self, Self::Request | Self::WriteBack)
    }

    fn has_data(self) -> bool {
        matches!(self, Self::WriteBack | Self::Data)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Credits {
    domain: Domain,
    bytes: u64,
    waiting: Fifo<Request>,
    /// Credits on their way back: whose, and since when they were taken.
    returning: VecDeque<(u8, Time)>,
}

/// Who made a request that is at the CHA, and when it took its credit.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Flight {
    owner: ComponentId,
    since: Time,
}

/// The UPI between this socket and another.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Upi {
    cha: ComponentId,
    latency_ps: u64,
    out: Lane,
    back: Lane,
    pools: [Credits; 4],
    /// By the number of the request.
    flights: Vec<Flight>,
}

impl Upi {
    /// A UPI to the CHAs `cha` that tells `classes` workloads apart.
    ///
    /// # Panics
    /// If a pool has no credits or the latency is 0.
    #[must_use]
    pub fn new(params: &UpiParams, cha: ComponentId, classes: usize) -> Self {
        assert!(params.latency_ps > 0, "a UPI has a latency");
        let credits = |pool: UpiPool| {
            let (count, bytes) = if pool.has_data() {
                (params.data_credits, params.data_bytes)
            } else {
                (params.request_credits, params.request_bytes)
            };
            Credits {
                domain: Domain::new(count, count, classes),
                bytes: u64::from(bytes),
                waiting: Fifo::default(),
                returning: VecDeque::with_capacity(count as usize),
            }
        };
        let lane = || Lane::at_rate(params.bytes_per_s, params.latency_ps);
        Self {
            cha,
            latency_ps: params.latency_ps,
            out: lane(),
            back: lane(),
            pools: UpiPool::ALL.map(credits),
            flights: Vec::new(),
        }
    }

    /// The credits of a pool.
    #[must_use]
    pub fn credits(&self, pool: UpiPool) -> &Domain {
        &self.pools[pool as usize].domain
    }

    /// The domains, to settle or to reset.
    pub fn domains_mut(&mut self) -> [&mut Domain; 4] {
        self.pools.each_mut().map(|pool| &mut pool.domain)
    }

    /// Sends a message, now or when it has a credit.
    fn offer(&mut self, pool: UpiPool, id: RequestId, context: &mut Context) {
        let credits = &mut self.pools[pool as usize];
        if credits.domain.free() == 0 {
            credits.waiting.push(context.requests, id);
        } else {
            self.send(pool, id, context);
        }
    }

    fn send(&mut self, pool: UpiPool, id: RequestId, context: &mut Context) {
        let now = context.now();
        let credits = &mut self.pools[pool as usize];
        let class = context.requests.get(id).class;
        let taken = credits.domain.try_acquire(now, class);
        assert!(taken, "a free credit was seen");
        if pool.is_outward() {
            let delay = self.out.send(now, credits.bytes);
            self.set_out(id, context);
            context.send(self.cha, delay, Payload::Arrive(id));
            return;
        }
        let delay = self.back.send(now, credits.bytes);
        credits.returning.push_back((class, now));
        context.send(context.id, delay + self.latency_ps, Payload::UpiCredit { pool });
        let index = id.0 as usize;
        let request = context.requests.get_mut(id);
        let payload = if pool == UpiPool::Data {
            request.owner = self.flights[index].owner;
            Payload::Data(id)
        } else {
            Payload::Taken(id)
        };
        let owner = request.owner;
        context.send(owner, delay, payload);
    }

    /// Notes whose a request is before it goes on as that of this UPI.
    fn set_out(&mut self, id: RequestId, context: &mut Context) {
        let index = id.0 as usize;
        if index >= self.flights.len() {
            self.flights.resize(index + 1, Flight::default());
        }
        let since = context.now();
        let request = context.requests.get_mut(id);
        self.flights[index] = Flight { owner: request.owner, since };
        request.owner = context.id;
    }

    /// The CHA has taken a request. News of a read come a latency later, when its credit is back. That of a write-back
    /// is the CHA's from now on, so that the answer goes on as a request of its own.
    fn on_admitted(&mut self, id: RequestId, context: &mut Context) {
        let request = *context.requests.get(id);
        let Flight { owner, since } = self.flights[id.0 as usize];
        if request.kind != Kind::CoreWrite {
            self.give_back(UpiPool::Request, request.class, since, context);
            return;
        }
        self.pools[UpiPool::WriteBack as usize].returning.push_back((request.class, since));
        context.send(context.id, self.latency_ps, Payload::UpiCredit { pool: UpiPool::WriteBack });
        let answer = context.requests.insert(Request { owner, next: RequestId::NONE, ..request });
        self.offer(UpiPool::Answer, answer, context);
    }

    fn on_credit(&mut self, pool: UpiPool, context: &mut Context) {
        if let Some((class, since)) = self.pools[pool as usize].returning.pop_front() {
            self.give_back(pool, class, since, context);
        }
    }

    /// A credit is back: the next message that waits for one may leave.
    fn give_back(&mut self, pool: UpiPool, class: u8, since: Time, context: &mut Context) {
        let credits = &mut self.pools[pool as usize];
        credits.domain.release(context.now(), class, since);
        if let Some(id) = credits.waiting.pop(context.requests) {
            self.send(pool, id, context);
        }
    }
}

impl Part for Upi {
    fn kind(&self) -> PartKind {
        PartKind::Upi
    }

    fn on_event(&mut self, payload: Payload, _source: ComponentId, context: &mut Context) {
        match payload {
            Payload::Arrive(id) => {
                let is_read = context.requests.get(id).kind.is_read();
                self.offer(if is_read { UpiPool::Request } else { UpiPool::WriteBack }, id, context);
            }
            Payload::Data(id) => self.offer(UpiPool::Data, id, context),
            Payload::Admitted(id) => self.on_admitted(id, context),
            Payload::UpiCredit { pool } => self.on_credit(pool, context),
            other => unreachable!("a UPI was sent {other:?}"),
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(Group::UpiRequest, self.credits(UpiPool::Request)));
        visit(Pool::new(Group::UpiWriteBack, self.credits(UpiPool::WriteBack)));
        visit(Pool::new(Group::UpiData, self.credits(UpiPool::Data)));
        visit(Pool::new(Group::UpiAnswer, self.credits(UpiPool::Answer)));
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.domains_mut(), now);
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.domains_mut(), now);
    }
}
