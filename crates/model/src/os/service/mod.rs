//! Services whose workers are threads of a server: requests are read, worked on, wait for storage, and are answered.
//!
//! A request is read at the core that has its connection, its home, and worked on there, unless that core has other
//! work and another one has none: then that one is given it, as a scheduler balances its run queues when a core has
//! nothing left. What waits for storage leaves the core to others; the answer is written at home.

mod admission;
#[cfg(test)]
mod tests;

use super::books::Spent;
use super::moving::TO_CORE_PS;
use super::run::{Choice, Task};
use super::NetStack;
use crate::flow::ServiceBooks;
use crate::params::ServiceParams;
use crate::part::{Chore, Context, Payload};
use admission::{Admission, Request};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The services of a server, as a core is told of them.
#[derive(Clone, Debug)]
pub struct ServiceWiring {
    /// The cores that serve the NIC, in the order of its queues.
    pub cores: Vec<ComponentId>,
    /// The place of this core among them.
    pub own: u16,
    /// The services of the server, each with the requests that this core may have begun at a time.
    pub services: Vec<(ServiceParams, u32)>,
}

/// The part of a core in the services of its server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Services {
    cores: Vec<ComponentId>,
    own: u16,
    admissions: Vec<Admission>,
    /// Requests that have been begun and not answered, by their place.
    requests: Vec<Option<Request>>,
    free: Vec<u32>,
    /// Pieces of work that wait for this core, and what is left of each, in ps at the reference clock.
    queue: VecDeque<(Chore, u64)>,
    /// Of each core, whether it is known to have nothing to do, as all have at first; and what was said of this one.
    idle: Vec<bool>,
    said_idle: bool,
    given: u64,
}

impl Services {
    fn new(wiring: ServiceWiring) -> Self {
        let count = wiring.cores.len();
        Self {
            cores: wiring.cores,
            own: wiring.own,
            admissions: wiring.services.into_iter().map(|(params, most)| Admission::new(&params, most)).collect(),
            requests: Vec::new(),
            free: Vec::new(),
            queue: VecDeque::new(),
            idle: vec![true; count],
            said_idle: true,
            given: 0,
        }
    }

    /// A core that is known to have nothing to do; it is not known any more.
    fn take_idle(&mut self) -> Option<ComponentId> {
        let own = usize::from(self.own);
        let found = (0..self.idle.len()).find(|&core| core != own && self.idle[core])?;
        self.idle[found] = false;
        Some(self.cores[found])
    }

    /// A piece of work waits for this core.
    fn queue(&mut self, chore: Chore) {
        self.queue.push_back((chore, u64::from(chore.work_ns) * 1000));
    }

    /// The next piece of work that waits and that nobody has begun.
    fn take_fresh(&mut self) -> Option<Chore> {
        let fresh = |&(chore, left_ps): &(Chore, u64)| left_ps == u64::from(chore.work_ns) * 1000;
        let at = self.queue.iter().position(fresh)?;
        self.queue.remove(at).map(|(chore, _)| chore)
    }

    fn begin(&mut self, request: Request) -> u32 {
        let slot = self.free.pop().unwrap_or(self.requests.len() as u32);
        if slot as usize == self.requests.len() {
            self.requests.push(None);
        }
        self.requests[slot as usize] = Some(request);
        slot
    }

    fn end(&mut self, slot: u32) -> Option<Request> {
        let request = self.requests.get_mut(slot as usize)?.take();
        self.free.extend(request.map(|_| slot));
        request
    }
}

impl NetStack {
    /// The same core with its part in the services of its server.
    #[must_use]
    pub fn with_services(mut self, wiring: ServiceWiring) -> Self {
        let numbers: Vec<u32> = wiring.services.iter().map(|(params, _)| params.number).collect();
        for socket in &mut self.sockets {
            let number = socket.params.service();
            socket.service = number.and_then(|number| numbers.iter().position(|&own| own == number));
        }
        self.services = Some(Box::new(Services::new(wiring)));
        self
    }

    /// The services that requests come here for: their numbers, how many requests are begun at a time, those that
    /// wait, and what became of them.
    pub fn services(&self) -> impl Iterator<Item = (u32, u32, usize, &ServiceBooks)> {
        let admissions = self.services.iter().flat_map(|services| &services.admissions);
        admissions.map(|own| (own.service(), own.most(), own.waiting(), own.books()))
    }

    /// Pieces of work that this core gave to others since the start of the run.
    #[must_use]
    pub fn given(&self) -> u64 {
        self.services.as_ref().map_or(0, |services| services.given)
    }

    /// The application of a socket has read: requests that are there in whole wait for workers.
    pub(super) fn take_requests(&mut self, index: usize, context: &mut Context) {
        let (Some(services), Some(service)) = (&mut self.services, self.sockets[index].service) else { return };
        let now = context.now();
        while let Some((number, work_ps)) = self.sockets[index].application.take_request() {
            services.admissions[service].arrive(Request { socket: index as u32, number, work_ps, since: now });
        }
        self.begin_requests(service, context);
    }

    /// Workers take the requests that wait.
    fn begin_requests(&mut self, service: usize, context: &mut Context) {
        let now = context.now();
        while let Some(services) = &mut self.services {
            let Some(request) = services.admissions[service].begin(now) else { return };
            let reads = services.admissions[service].reads();
            let chore = Chore {
                home: services.own,
                reads,
                service: service as u8,
                work_ns: admission::piece_ns(request.work_ps, reads),
                slot: services.begin(request),
            };
            self.place(chore, context);
        }
    }

    /// Has a piece of work done: by another core if that has nothing to do and this one has.
    fn place(&mut self, chore: Chore, context: &mut Context) {
        let busy = self.task.is_some() || self.softirq.is_polling();
        let Some(services) = &mut self.services else { return };
        let other = if busy || !services.queue.is_empty() { services.take_idle() } else { None };
        match other {
            Some(core) => {
                services.given += 1;
                context.send(core, TO_CORE_PS, Payload::Chore { chore, read: false });
            }
            None => services.queue(chore),
        }
    }

    /// Another core has nothing to do, or something: it is given what waits here.
    pub(super) fn on_idle(&mut self, core: u16, idle: bool, context: &mut Context) {
        let Some(services) = &mut self.services else { return };
        services.idle[usize::from(core)] = idle;
        let spare = usize::from(self.task.is_none());
        if idle && services.queue.len() > spare {
            let Some(chore) = services.take_fresh() else { return };
            services.idle[usize::from(core)] = false;
            services.given += 1;
            context.send(services.cores[usize::from(core)], TO_CORE_PS, Payload::Chore { chore, read: false });
        }
    }

    /// Tells the other cores whether this one has nothing to do.
    pub(super) fn say_idle(&mut self, idle: bool, context: &mut Context) {
        let Some(services) = &mut self.services else { return };
        if std::mem::replace(&mut services.said_idle, idle) != idle {
            let own = services.own;
            for (place, &core) in services.cores.iter().enumerate() {
                if place != usize::from(own) {
                    context.send(core, TO_CORE_PS, Payload::Idle { core: own, idle });
                }
            }
        }
    }

    /// A piece of work is to be done here, or storage has answered.
    pub(super) fn on_chore(&mut self, chore: Chore, read: bool, context: &mut Context) {
        if read {
            self.count_read(false, context.now());
        } else {
            // Who gave it takes this core for one that has something to do, and so it is told when that is done.
            self.say_idle(false, context);
        }
        // Others may have given it something, too.
        self.place(chore, context);
    }

    /// Whether pieces of work wait for the core.
    pub(super) fn has_chores(&self) -> bool {
        self.services.as_ref().is_some_and(|services| !services.queue.is_empty())
    }

    /// The next piece of work.
    pub(super) fn next_chore(&mut self) -> Choice {
        let chore = self.services.as_mut().and_then(|services| services.queue.pop_front());
        chore.map_or(Choice::Nothing, |(chore, left_ps)| Choice::Work(Task::Serve(chore), left_ps, Spent::Serve))
    }

    /// The kernel has something to do, or a socket is to be read or written: what the core does for a request is put
    /// off, so that no answer waits for the work on another request.
    pub(super) fn put_off(&mut self, now: Time) {
        let Some(Task::Serve(chore)) = self.task else { return };
        // While it is the turn of applications packets wait: to stop and go on at each event would only add events.
        let packets = self.softirq.is_polling() && now >= self.applications_until;
        let calls = self.turn && (!self.ready.is_empty() || self.calling.is_some());
        let urgent = packets || self.output.wants() || self.has_pending() || calls;
        if !urgent || now >= self.busy_until {
            return;
        }
        let left_ps = self.left_ps(now);
        self.task = None;
        self.busy_until = now;
        if let Some(services) = &mut self.services {
            services.queue.push_front((chore, left_ps));
        }
    }

    /// A piece of work is done: storage is read, or the request has been served.
    pub(super) fn end_chore(&mut self, mut chore: Chore, context: &mut Context) {
        let Some(services) = &self.services else { return };
        if chore.reads > 0 {
            let admission = &services.admissions[usize::from(chore.service)];
            let read_ps = admission.read_ps().max(1);
            chore.reads -= 1;
            self.count_read(true, context.now());
            return context.send(context.id, read_ps, Payload::Chore { chore, read: true });
        }
        if chore.home == services.own {
            self.on_served(chore.slot, context);
        } else {
            let home = services.cores[usize::from(chore.home)];
            context.send(home, TO_CORE_PS, Payload::Served(chore.slot));
        }
    }

    /// A request that came to this core has been served: it is answered, and its worker takes the next.
    pub(super) fn on_served(&mut self, slot: u32, context: &mut Context) {
        let Some(services) = &mut self.services else { return };
        let Some(request) = services.end(slot) else { return };
        let index = request.socket as usize;
        let Some(service) = self.sockets[index].service else { return };
        services.admissions[service].end(context.now());
        self.sockets[index].application.serve(request.number);
        self.want_turn(index);
        self.begin_requests(service, context);
    }

    /// Brings the books of its services up to `now`.
    pub(super) fn settle_services(&mut self, now: Time) {
        let admissions = self.services.iter_mut().flat_map(|services| &mut services.admissions);
        admissions.for_each(|own| own.settle(now));
    }

    /// Starts a new measuring window of its services.
    pub(super) fn reset_services(&mut self, now: Time) {
        let admissions = self.services.iter_mut().flat_map(|services| &mut services.admissions);
        admissions.for_each(|own| own.reset(now));
    }
}
