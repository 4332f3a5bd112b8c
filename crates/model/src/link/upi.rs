//! Ultra Path Interconnect (UPI): the link between two sockets, or between this socket and the cores of a remote
//! socket of which nothing else is simulated.
//!
//! A link has two directions. The requests of each end have their own credit pools, for messages without data
//! (requests, snoops, acknowledgements) and for messages with a line (write-backs, data). A message takes a credit
//! when it gets onto the wire, and waits for one in a queue of its pool, so that no kind of message blocks another.
//! The credit returns in the opposite direction, one latency after the far end has taken the message: the CHA takes a
//! read or a write when it admits it and a snoop when it arrives; the requester takes an answer at once.
//!
//! At the far CHA the UPI link is the owner of a request. The link remembers the original owner.

use super::Lane;
use crate::line::{Fifo, Request, RequestId, RequestKind};
use crate::params::UpiParams;
use crate::part::{self, Context, Part, PartKind, Payload, Pool, PoolGroup, UpiPool};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

impl UpiPool {
    /// All pools.
    pub const ALL: [Self; 5] = [Self::Request, Self::WriteBack, Self::Data, Self::Answer, Self::Snoop];

    /// Returns true for messages of the requester, false for answers.
    fn is_outward(self) -> bool {
        !matches!(self, Self::Data | Self::Answer)
    }

    fn has_data(self) -> bool {
        matches!(self, Self::WriteBack | Self::Data)
    }

    /// Returns the pool that a request takes its credit from.
    fn of(kind: RequestKind) -> Self {
        match kind {
            RequestKind::Snoop => Self::Snoop,
            // IoOwn requests ownership only; its line follows as a write-back.
            RequestKind::CoreRead | RequestKind::IoRead | RequestKind::IoOwn => Self::Request,
            _ => Self::WriteBack,
        }
    }

    fn group(self) -> PoolGroup {
        match self {
            Self::Request => PoolGroup::UpiRequest,
            Self::WriteBack => PoolGroup::UpiWriteBack,
            Self::Data => PoolGroup::UpiData,
            Self::Answer => PoolGroup::UpiAnswer,
            Self::Snoop => PoolGroup::UpiSnoop,
        }
    }
}

/// Credits of a pool.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct UpiCredits {
    domain: Domain,
    /// Bytes of a message.
    bytes: u64,
    /// Requests that wait for a credit.
    waiting: Fifo<Request>,
    /// Credits in flight back: the class of each, and the time at which it was taken.
    returning: VecDeque<(u8, Time)>,
}

impl UpiCredits {
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

/// Original owner of a request at the far CHA, and the time at which the request took its credit.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct SavedOwner {
    owner: ComponentId,
    since: Time,
}

/// One end of a link: the lane that leaves it, and the credits of its requests and of their answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct UpiEnd {
    lane: Lane,
    /// Credits by [`UpiPool`]; none at an end that makes no requests.
    pools: Vec<UpiCredits>,
}

/// UPI link between two sockets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Upi {
    /// CHAs at the ends; `None` at an end with cores of a socket of which nothing else is simulated.
    chas: [Option<ComponentId>; 2],
    latency_ps: u64,
    ends: [UpiEnd; 2],
    /// Original owners, by request number.
    saved_owners: Vec<SavedOwner>,
}

impl Upi {
    /// Creates a link from cores of a remote socket to the CHAs `cha`, for `classes` workloads.
    ///
    /// # Panics
    /// Panics if a pool has no credits or the latency is 0.
    #[must_use]
    pub fn new(params: &UpiParams, cha: ComponentId, classes: usize) -> Self {
        let mut upi = Self::between(params, [cha; 2], classes);
        // The caches of that socket are not simulated: there are no snoops, and this socket requests nothing.
        upi.chas[0] = None;
        upi.ends[0].pools.truncate(UpiPool::Snoop as usize);
        upi.ends[1].pools.clear();
        upi
    }

    /// Creates a link between the CHAs of two sockets, for `classes` workloads.
    ///
    /// # Panics
    /// Panics if a pool has no credits or the latency is 0.
    #[must_use]
    pub fn between(params: &UpiParams, chas: [ComponentId; 2], classes: usize) -> Self {
        assert!(params.latency_ps > 0, "a UPI has a latency");
        let end = || UpiEnd {
            lane: Lane::at_rate(params.bytes_per_s, params.latency_ps),
            pools: UpiPool::ALL.map(|pool| UpiCredits::new(pool, params, classes)).into(),
        };
        Self { chas: chas.map(Some), latency_ps: params.latency_ps, ends: [end(), end()], saved_owners: Vec::new() }
    }

    /// Returns the credits of a pool for the requests of an end, 0 or 1.
    ///
    /// # Panics
    /// Panics if the end has no such pool.
    #[must_use]
    pub fn credits(&self, end: usize, pool: UpiPool) -> &Domain {
        &self.ends[end].pools[pool as usize].domain
    }

    /// Returns the domains, to settle or reset them.
    pub fn domains_mut(&mut self) -> impl Iterator<Item = &mut Domain> {
        self.ends.iter_mut().flat_map(|end| &mut end.pools).map(|credits| &mut credits.domain)
    }

    /// Returns the end that a message comes from: 1 if the CHAs at end 1 sent it, otherwise 0.
    fn end_of(&self, source: ComponentId) -> usize {
        usize::from(self.chas[1] == Some(source))
    }

    /// Sends a message for the requests of an end, or queues it until a credit is free.
    fn send_or_queue(&mut self, end: usize, pool: UpiPool, id: RequestId, context: &mut Context) {
        let credits = &mut self.ends[end].pools[pool as usize];
        if credits.domain.free() == 0 {
            credits.waiting.push(context.requests, id);
        } else {
            self.send(end, pool, id, context);
        }
    }

    /// Puts a message on the wire; a credit must be free.
    fn send(&mut self, end: usize, pool: UpiPool, id: RequestId, context: &mut Context) {
        let now = context.now();
        let credits = &mut self.ends[end].pools[pool as usize];
        let (class, bytes) = (context.requests.get(id).class, credits.bytes);
        let taken = credits.domain.try_acquire(now, class);
        assert!(taken, "a free credit was seen");
        if pool.is_outward() {
            let delay = self.ends[end].lane.send(now, bytes);
            self.save_owner(id, context);
            let far = self.chas[1 - end].expect("there are CHAs at the far end");
            context.send(far, delay, Payload::Arrive(id));
            return;
        }
        // The requester takes an answer at once, so the credit leaves the far end as the answer arrives there.
        credits.returning.push_back((class, now));
        let delay = self.ends[1 - end].lane.send(now, bytes);
        context.send(context.id, delay + self.latency_ps, Payload::UpiCredit { pool, end: end as u8 });
        let request = context.requests.get_mut(id);
        let payload = if pool == UpiPool::Data {
            request.owner = self.saved_owners[id.0 as usize].owner;
            Payload::Data(id)
        } else {
            Payload::Taken(id)
        };
        let owner = request.owner;
        context.send(owner, delay, payload);
    }

    /// Saves the owner of a request before the request continues as one of this link.
    fn save_owner(&mut self, id: RequestId, context: &mut Context) {
        let index = id.0 as usize;
        if index >= self.saved_owners.len() {
            self.saved_owners.resize(index + 1, SavedOwner::default());
        }
        let since = context.now();
        let request = context.requests.get_mut(id);
        self.saved_owners[index] = SavedOwner { owner: request.owner, since };
        // The far CHA answers this link and not a core of another socket, so that answers need credits, too.
        request.owner = context.id;
    }

    /// Handles the admission of a request by the far CHA. For a write this message arrives at once, and its credit
    /// needs another latency; for any other request it arrives one latency later, when the credit is back. The far CHA
    /// keeps the request of a core's write-back, so that its answer travels as a new request. A device write is
    /// answered when memory has accepted it.
    fn on_admitted(&mut self, end: usize, id: RequestId, context: &mut Context) {
        let request = *context.requests.get(id);
        let SavedOwner { owner, since } = self.saved_owners[id.0 as usize];
        let pool = UpiPool::of(request.kind);
        if pool != UpiPool::WriteBack {
            self.return_credit(end, pool, request.class, since, context);
            return;
        }
        self.ends[end].pools[pool as usize].returning.push_back((request.class, since));
        context.send(context.id, self.latency_ps, Payload::UpiCredit { pool, end: end as u8 });
        if request.kind == RequestKind::CoreWrite {
            let answer = context.requests.insert(Request { owner, next: RequestId::NONE, ..request });
            self.send_or_queue(end, UpiPool::Answer, answer, context);
        }
    }

    /// Sends the answer to a request that is done and has no data to return.
    fn on_done(&mut self, end: usize, id: RequestId, context: &mut Context) {
        context.requests.get_mut(id).owner = self.saved_owners[id.0 as usize].owner;
        self.send_or_queue(end, UpiPool::Answer, id, context);
    }

    fn on_credit(&mut self, end: usize, pool: UpiPool, context: &mut Context) {
        if let Some((class, since)) = self.ends[end].pools[pool as usize].returning.pop_front() {
            self.return_credit(end, pool, class, since, context);
        }
    }

    /// Frees a credit that is back, and sends the next message that waits for one.
    fn return_credit(&mut self, end: usize, pool: UpiPool, class: u8, since: Time, context: &mut Context) {
        // The domain counts the credit from the wire until its return, which is what limits throughput.
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
                self.send_or_queue(near, pool, id, context);
            }
            Payload::Data(id) => self.send_or_queue(1 - near, UpiPool::Data, id, context),
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
