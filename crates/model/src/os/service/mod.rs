//! Services whose workers are threads of a server: requests are read, worked on, wait for storage, and are answered.
//!
//! A request is read at the core of its connection, its home, and worked on there, unless that core has other work and
//! another core is idle: then the idle core gets the request, as a scheduler balances run queues when a core runs out
//! of work. While a request waits for storage, the core is free for others. The answer is written at the home core.

mod admission;
#[cfg(test)]
mod tests;

use super::counters::CoreTimeKind;
use super::delays::TO_CORE_PS;
use super::ends::FlowEnds;
use super::task::{NextWork, Task};
use crate::flow::ServiceStats;
use crate::params::ServiceParams;
use crate::part::{Chore, Context, Payload};
use admission::{ServiceQueue, ServiceRequest};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Services of a server, from the point of view of a core.
#[derive(Clone, Debug)]
pub struct ServiceWiring {
    /// Cores that serve the NIC, in the order of its queues.
    pub cores: Vec<ComponentId>,
    /// Index of this core among them.
    pub own: u16,
    /// Services of the server, each with the maximum number of requests that this core has in progress at a time.
    pub services: Vec<(ServiceParams, u32)>,
}

/// State of the services of a server at a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Services {
    cores: Vec<ComponentId>,
    own: u16,
    service_queues: Vec<ServiceQueue>,
    /// Requests in progress, by slot.
    requests: Vec<Option<ServiceRequest>>,
    free: Vec<u32>,
    /// Pieces of work that wait for this core, each with the rest of it, in ps at the reference clock.
    queue: VecDeque<(Chore, u64)>,
    /// For each core, true if the core is idle as far as is known (initially all are); and the last announcement of
    /// this core.
    idle: Vec<bool>,
    announced_idle: bool,
    given: u64,
}

impl Services {
    /// Creates the state of the services of a server at a core.
    pub(super) fn new(wiring: ServiceWiring) -> Self {
        let count = wiring.cores.len();
        Self {
            cores: wiring.cores,
            own: wiring.own,
            service_queues: wiring
                .services
                .into_iter()
                .map(|(params, most)| ServiceQueue::new(&params, most))
                .collect(),
            requests: Vec::new(),
            free: Vec::new(),
            queue: VecDeque::new(),
            idle: vec![true; count],
            announced_idle: true,
            given: 0,
        }
    }

    /// Takes a core that is idle as far as is known, and marks it as busy.
    fn take_idle(&mut self) -> Option<ComponentId> {
        let own = usize::from(self.own);
        // The lowest number, so that the choice is deterministic.
        let found = (0..self.idle.len()).find(|&core| core != own && self.idle[core])?;
        self.idle[found] = false;
        Some(self.cores[found])
    }

    /// Queues a piece of work for this core.
    fn queue(&mut self, chore: Chore) {
        self.queue.push_back((chore, u64::from(chore.work_ns) * 1000));
    }

    /// Takes the next waiting piece of work that no core has begun.
    fn take_fresh(&mut self) -> Option<Chore> {
        let fresh = |&(chore, left_ps): &(Chore, u64)| left_ps == u64::from(chore.work_ns) * 1000;
        // A preempted item continues on its core, where its data is in the caches.
        let at = self.queue.iter().position(fresh)?;
        self.queue.remove(at).map(|(chore, _)| chore)
    }

    /// Stores a request in progress. Returns its slot.
    fn begin(&mut self, request: ServiceRequest) -> u32 {
        let slot = self.free.pop().unwrap_or(self.requests.len() as u32);
        if slot as usize == self.requests.len() {
            self.requests.push(None);
        }
        self.requests[slot as usize] = Some(request);
        slot
    }

    /// Takes the request out of a slot.
    fn end(&mut self, slot: u32) -> Option<ServiceRequest> {
        let request = self.requests.get_mut(slot as usize)?.take();
        self.free.extend(request.map(|_| slot));
        request
    }

    /// Assigns each socket the service that its requests are for.
    pub(super) fn assign_sockets(&self, ends: &mut FlowEnds) {
        for socket in &mut ends.sockets {
            let number = socket.params.service();
            socket.service =
                number.and_then(|number| self.service_queues.iter().position(|own| own.service() == number));
        }
    }

    /// Returns the services whose requests arrive here: number, maximum number of requests in progress, waiting
    /// requests, and statistics.
    pub(super) fn service_queues(&self) -> impl Iterator<Item = (u32, u32, usize, &ServiceStats)> {
        self.service_queues.iter().map(|own| (own.service(), own.most(), own.waiting(), own.counters()))
    }

    /// Returns the number of pieces of work that this core gave to others since the start of the run.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// Queues the requests that the application of a socket has read in full, and begins them as workers are free.
    /// `busy` is true if the core has other work.
    pub(super) fn take_requests(&mut self, index: usize, ends: &mut FlowEnds, busy: bool, context: &mut Context) {
        let Some(service) = ends.sockets[index].service else { return };
        let now = context.now();
        while let Some((number, work_ps)) = ends.sockets[index].application.take_request() {
            self.service_queues[service].arrive(ServiceRequest { socket: index as u32, number, work_ps, since: now });
        }
        self.begin_requests(service, busy, context);
    }

    /// Begins the waiting requests of a service, as far as workers are free.
    fn begin_requests(&mut self, service: usize, busy: bool, context: &mut Context) {
        let now = context.now();
        while let Some(request) = self.service_queues[service].begin(now) {
            let reads = self.service_queues[service].reads();
            let chore = Chore {
                home: self.own,
                reads,
                service: service as u8,
                work_ns: admission::piece_ns(request.work_ps, reads),
                slot: self.begin(request),
            };
            self.assign(chore, busy, context);
        }
    }

    /// Assigns a piece of work to an idle core if this one is busy, else queues the piece here.
    fn assign(&mut self, chore: Chore, busy: bool, context: &mut Context) {
        // The home core does the work itself unless it would wait.
        let other = if busy || !self.queue.is_empty() { self.take_idle() } else { None };
        match other {
            Some(core) => {
                self.given += 1;
                context.send(core, TO_CORE_PS, Payload::Chore { chore, read: false });
            }
            None => self.queue(chore),
        }
    }

    /// Notes that another core has become idle or busy. An idle one gets a piece of work that waits here behind the
    /// current work, or behind another piece if the core has no `task`.
    pub(super) fn on_idle(&mut self, core: u16, idle: bool, task: bool, context: &mut Context) {
        self.idle[usize::from(core)] = idle;
        // Without a task the first item in the queue is about to begin here.
        let spare = usize::from(!task);
        // A core that runs out of work pulls from others, as `newidle_balance` of Linux does.
        if idle && self.queue.len() > spare {
            let Some(chore) = self.take_fresh() else { return };
            self.idle[usize::from(core)] = false;
            self.given += 1;
            context.send(self.cores[usize::from(core)], TO_CORE_PS, Payload::Chore { chore, read: false });
        }
    }

    /// Announces to the other cores that this one has become idle or busy, if that has changed.
    pub(super) fn announce_idle(&mut self, idle: bool, context: &mut Context) {
        if std::mem::replace(&mut self.announced_idle, idle) != idle {
            let own = self.own;
            for (place, &core) in self.cores.iter().enumerate() {
                if place != usize::from(own) {
                    context.send(core, TO_CORE_PS, Payload::Idle { core: own, idle });
                }
            }
        }
    }

    /// Handles a piece of work that another core gave to this one, or a piece whose `read` of storage has ended.
    pub(super) fn on_chore(&mut self, chore: Chore, read: bool, busy: bool, context: &mut Context) {
        if !read {
            // The core that gave the work assumes that this core is busy, so this core must announce when it is idle
            // again.
            self.announce_idle(false, context);
        }
        // Several cores may have given work at the same time.
        self.assign(chore, busy, context);
    }

    /// Returns true if pieces of work wait for the core.
    pub(super) fn has_chores(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Chooses the next piece of work.
    pub(super) fn next_chore(&mut self) -> NextWork {
        let next = self.queue.pop_front();
        next.map_or(NextWork::Nothing, |(chore, left_ps)| {
            NextWork::Work(Task::Serve(chore), left_ps, CoreTimeKind::Serve)
        })
    }

    /// Puts the current piece of work back; `left_ps` at the reference clock are left.
    pub(super) fn put_back(&mut self, chore: Chore, left_ps: u64) {
        // The preempted item goes on before others that wait.
        self.queue.push_front((chore, left_ps));
    }

    /// Ends a piece of work. Returns the next step at this core.
    pub(super) fn end_chore(&mut self, mut chore: Chore, context: &mut Context) -> ChoreEnd {
        if chore.reads > 0 {
            // An event lies at least 1 ps ahead.
            let read_ps = self.service_queues[usize::from(chore.service)].read_ps().max(1);
            chore.reads -= 1;
            context.send(context.id, read_ps, Payload::Chore { chore, read: true });
            return ChoreEnd::Reads;
        }
        if chore.home == self.own {
            return ChoreEnd::Served(chore.slot);
        }
        context.send(self.cores[usize::from(chore.home)], TO_CORE_PS, Payload::Served(chore.slot));
        ChoreEnd::Elsewhere
    }

    /// Answers a request of this core that has been served, and begins the next request of its service.
    pub(super) fn on_served(&mut self, slot: u32, ends: &mut FlowEnds, busy: bool, context: &mut Context) {
        let Some(request) = self.end(slot) else { return };
        let index = request.socket as usize;
        let Some(service) = ends.sockets[index].service else { return };
        self.service_queues[service].end(context.now());
        ends.sockets[index].application.serve(request.number);
        ends.queue_turn(index);
        // The worker is free, so the next request may begin.
        self.begin_requests(service, busy, context);
    }

    /// Brings the statistics up to `now`.
    pub(super) fn settle(&mut self, now: Time) {
        self.service_queues.iter_mut().for_each(|own| own.settle(now));
    }

    /// Starts a new measurement window.
    pub(super) fn reset(&mut self, now: Time) {
        self.service_queues.iter_mut().for_each(|own| own.reset(now));
    }
}

/// Next step after the end of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChoreEnd {
    /// The request reads storage.
    Reads,
    /// The request in this slot of the core has been served.
    Served(u32),
    /// The request belongs to another core, which has been notified.
    Elsewhere,
}
