//! Ultra Path Interconnect (UPI): the way between two sockets, or from cores of another socket of which there is
//! nothing else to the memory of this one.
//!
//! Two directions. The requests of each end have pools of credits of their own: for messages without data (requests,
//! snoops, acknowledgements) and with a line (write-backs, data). A message takes a credit when it gets onto the wire
//! and waits for one in a queue of its pool, so that no kind holds another back. The credit comes back over the other
//! direction, a latency after the far end has taken the message: the CHA takes a read when it admits it, a write when
//! it admits it and a snoop when it comes; who asked takes an answer at once.
//!
//! At the far CHA a request belongs to its UPI; the UPI knows whose it is.

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
    pub const ALL: [Self; 5] = [Self::Request, Self::WriteBack, Self::Data, Self::Answer, Self::Snoop];

    fn is_outward(self) -> bool {
        !matches!(self, Self::Data | Self::Answer)
    }

    fn has_data(self) -> bool {
        matches!(self, Self::WriteBack | Self::Data)
    }

    /// The pool that a request sets out from.
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Snoop => Self::Snoop,
            Kind::CoreRead | Kind::IoRead | Kind::IoOwn => Self::Request,
            _ => Self::WriteBack,
        }
    }

    fn group(self) -> Group {
        match self {
            Self::Request => Group::UpiRequest,
            Self::WriteBack => Group::UpiWriteBack,
            Self::Data => Group::UpiData,
            Self::Answer => Group::UpiAnswer,
            Self::Snoop => Group::UpiSnoop,
        }
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

impl Credits {
    fn new(pool: UpiPool, params: &UpiParams, classes: usize) -> Self {
        let (count, bytes) = if pool.has_data() {
            (params.data_credits, params.data_bytes)
        } else {
            (params.request_credits, params.request_bytes)
        };
        Self {
            domain: Domain::new(count, count, classes),
            bytes: u64::from(bytes),
            waiting: Fifo::default(),
            returning: VecDeque::with_capacity(count as usize),
        }
    }
}

/// Whose a request is that is at the far CHA, and when it took its credit.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Flight {
    owner: ComponentId,
    since: Time,
}

/// One end: the lane that leaves it, and the credits of its requests and of their answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct End {
    lane: Lane,
    /// Of an end where nothing has requests: none.
    pools: Vec<Credits>,
}

/// The UPI between this socket and another.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Upi {
    /// The CHAs at its ends; none where there are cores of a socket of which there is nothing else.
    chas: [Option<ComponentId>; 2],
    latency_ps: u64,
    ends: [End; 2],
    /// By the number of the request.
    flights: Vec<Flight>,
}

impl Upi {
    /// A UPI from cores of another socket to the CHAs `cha` that tells `classes` workloads apart.
    ///
    /// # Panics
    /// If a pool has no credits or the latency is 0.
    #[must_use]
    pub fn new(params: &UpiParams, cha: ComponentId, classes: usize) -> Self {
        let mut upi = Self::between(params, [cha; 2], classes);
        upi.chas[0] = None;
        upi.ends[0].pools.truncate(UpiPool::Snoop as usize);
        upi.ends[1].pools.clear();
        upi
    }

    /// A UPI between the CHAs of two sockets that tells `classes` workloads apart.
    ///
    /// # Panics
    /// If a pool has no credits or the latency is 0.
    #[must_use]
    pub fn between(params: &UpiParams, chas: [ComponentId; 2], classes: usize) -> Self {
        assert!(params.latency_ps > 0, "a UPI has a latency");
        let end = || End {
            lane: Lane::at_rate(params.bytes_per_s, params.latency_ps),
            pools: UpiPool::ALL.map(|pool| Credits::new(pool, params, classes)).into(),
        };
        Self { chas: chas.map(Some), latency_ps: params.latency_ps, ends: [end(), end()], flights: Vec::new() }
    }

    /// The credits of a pool for the requests of an end.
    ///
    /// # Panics
    /// If there are none of it.
    #[must_use]
    pub fn credits(&self, end: usize, pool: UpiPool) -> &Domain {
        &self.ends[end].pools[pool as usize].domain
    }

    /// The domains, to settle or to reset.
    pub fn domains_mut(&mut self) -> impl Iterator<Item = &mut Domain> {
        self.ends.iter_mut().flat_map(|end| &mut end.pools).map(|credits| &mut credits.domain)
    }

    /// The end that a message comes from: the second one's are those of its CHAs.
    fn end_of(&self, source: ComponentId) -> usize {
        usize::from(self.chas[1] == Some(source))
    }

    /// Sends a message for the requests of an end, now or when it has a credit.
    fn offer(&mut self, end: usize, pool: UpiPool, id: RequestId, context: &mut Context) {
        let credits = &mut self.ends[end].pools[pool as usize];
        if credits.domain.free() == 0 {
            credits.waiting.push(context.requests, id);
        } else {
            self.send(end, pool, id, context);
        }
    }

    fn send(&mut self, end: usize, pool: UpiPool, id: RequestId, context: &mut Context) {
        let now = context.now();
        let credits = &mut self.ends[end].pools[pool as usize];
        let (class, bytes) = (context.requests.get(id).class, credits.bytes);
        let taken = credits.domain.try_acquire(now, class);
        assert!(taken, "a free credit was seen");
        if pool.is_outward() {
            let delay = self.ends[end].lane.send(now, bytes);
            self.set_out(id, context);
            let far = self.chas[1 - end].expect("there are CHAs at the far end");
            context.send(far, delay, Payload::Arrive(id));
            return;
        }
        credits.returning.push_back((class, now));
        let delay = self.ends[1 - end].lane.send(now, bytes);
        context.send(context.id, delay + self.latency_ps, Payload::UpiCredit { pool, end: end as u8 });
        let request = context.requests.get_mut(id);
        let payload = if pool == UpiPool::Data {
            request.owner = self.flights[id.0 as usize].owner;
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

    /// The far CHA has taken a request. News of a read or snoop come a latency later, when its credit is back. That of
    /// a core's write-back is the CHA's from now on, so that the answer goes on as a request of its own; a device's is
    /// answered when memory has it.
    fn on_admitted(&mut self, end: usize, id: RequestId, context: &mut Context) {
        let request = *context.requests.get(id);
        let Flight { owner, since } = self.flights[id.0 as usize];
        let pool = UpiPool::of(request.kind);
        if pool != UpiPool::WriteBack {
            self.give_back(end, pool, request.class, since, context);
            return;
        }
        self.ends[end].pools[pool as usize].returning.push_back((request.class, since));
        context.send(context.id, self.latency_ps, Payload::UpiCredit { pool, end: end as u8 });
        if request.kind == Kind::CoreWrite {
            let answer = context.requests.insert(Request { owner, next: RequestId::NONE, ..request });
            self.offer(end, UpiPool::Answer, answer, context);
        }
    }

    /// What a request asked for is done, and there are no data to send.
    fn on_done(&mut self, end: usize, id: RequestId, context: &mut Context) {
        context.requests.get_mut(id).owner = self.flights[id.0 as usize].owner;
        self.offer(end, UpiPool::Answer, id, context);
    }

    fn on_credit(&mut self, end: usize, pool: UpiPool, context: &mut Context) {
        if let Some((class, since)) = self.ends[end].pools[pool as usize].returning.pop_front() {
            self.give_back(end, pool, class, since, context);
        }
    }

    /// A credit is back: the next message that waits for one may leave.
    fn give_back(&mut self, end: usize, pool: UpiPool, class: u8, since: Time, context: &mut Context) {
        let credits = &mut self.ends[end].pools[pool as usize];
        credits.domain.release(context.now(), class, since);
        if let Some(id) = credits.waiting.pop(context.requests) {
            self.send(end, pool, id, context);
        }
    }
}

impl Part for Upi {
    fn kind(&self) -> PartKind {
        PartKind::Upi
    }

    fn on_event(&mut self, payload: Payload, source: ComponentId, context: &mut Context) {
        let near = self.end_of(source);
        match payload {
            Payload::Arrive(id) => {
                let pool = UpiPool::of(context.requests.get(id).kind);
                self.offer(near, pool, id, context);
            }
            Payload::Data(id) => self.offer(1 - near, UpiPool::Data, id, context),
            Payload::Admitted(id) => self.on_admitted(1 - near, id, context),
            Payload::Acknowledged(id) => self.on_done(1 - near, id, context),
            Payload::UpiCredit { pool, end } => self.on_credit(usize::from(end), pool, context),
            other => unreachable!("a UPI was sent {other:?}"),
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        for end in &self.ends {
            for (pool, credits) in UpiPool::ALL.into_iter().zip(&end.pools) {
                visit(Pool::new(pool.group(), &credits.domain));
            }
        }
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.domains_mut(), now);
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.domains_mut(), now);
    }
}
