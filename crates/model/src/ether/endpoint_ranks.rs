//! Ranks of jobs at an endpoint, whose messages are sent over the ends of flows of the endpoint or copied locally, and
//! its services.

use super::endpoint::Endpoint;
use super::ranks::{EndpointRanks, NONE};
use crate::flow::{Rank, RankRequest};
use crate::params::ClusterParams;
use crate::part::{MessageEvent, NetContext, Payload};
use hostnet_kernel::{ComponentId, Scheduler, Time};

impl Endpoint {
    /// Adds the ranks and reducers that jobs have at this host. `part` returns the component of another host.
    #[must_use]
    pub fn with_ranks(mut self, cluster: &ClusterParams, host: u16, part: impl Fn(u16) -> ComponentId) -> Self {
        if !cluster.jobs.is_empty() {
            self.ranks = EndpointRanks::new(cluster, host, &self.ends, part);
        }
        self
    }

    /// Begins a new measurement window of the reducers.
    pub(super) fn reset_sums(&mut self, now: Time) {
        self.ranks.iter_mut().for_each(|ranks| ranks.sums.reset(now));
    }

    /// Iterates over the ranks of jobs at this endpoint.
    pub fn ranks(&self) -> impl Iterator<Item = &Rank> {
        self.ranks.iter().flat_map(|ranks| &ranks.ranks)
    }

    /// Iterates over the ranks of jobs at this endpoint, for changes between events.
    pub fn ranks_mut(&mut self) -> impl Iterator<Item = &mut Rank> {
        self.ranks.iter_mut().flat_map(|ranks| &mut ranks.ranks)
    }

    /// Returns the number of the first rank in events: after those of ends and services.
    fn first_rank(&self) -> u32 {
        (self.ends.len() + self.services().len()) as u32
    }

    /// Schedules the start of every rank.
    pub(super) fn begin_ranks(&self, id: ComponentId, scheduler: &mut Scheduler<Payload>) {
        let set = self.ranks.iter().flat_map(|ranks| &ranks.set);
        for (rank, at) in (self.first_rank()..).zip(set) {
            if let Some(at) = at {
                scheduler.send(id, id, at.ps(), Payload::Begin { connection: rank });
            }
        }
    }

    /// Handles an event of a rank or reducer.
    pub(super) fn on_rank(&mut self, connection: u32, context: &mut NetContext) {
        let (first, now) = (self.first_rank(), context.now());
        let Some(mut ranks) = self.ranks.take() else { return };
        let rank = connection.wrapping_sub(first);
        if let Some(set) = ranks.set.get_mut(rank as usize) {
            // An event for a time that has passed is used up.
            *set = set.filter(|&at| at > now);
            while let Some(message) = ranks.ranks[rank as usize].copied(now) {
                ranks.ranks[message.to as usize].deliver(&message, now);
                self.run_rank(&mut ranks, message.to, context);
            }
            self.run_rank(&mut ranks, rank, context);
        } else if let Some(reducer) = ranks.reducer(rank) {
            self.run_reducer(&mut ranks.sums, reducer, connection, context);
        }
        self.ranks = Some(ranks);
    }

    /// Passes bytes received at an end to its rank or reducer.
    pub(super) fn hand_over(&mut self, end: u32, context: &mut NetContext) {
        let Some(mut ranks) = self.ranks.take() else { return };
        let (rank, ..) = ranks.of_ends[end as usize];
        if let Some(reducer) = ranks.reducer(rank) {
            if self.take_vectors(&mut ranks.sums, reducer, end) {
                let event = self.first_rank() + rank;
                self.run_reducer(&mut ranks.sums, reducer, event, context);
            }
        } else if rank != NONE && self.exchange(end, &mut ranks, context.now()) {
            self.run_rank(&mut ranks, rank, context);
        }
        self.ranks = Some(ranks);
    }

    /// Records that the rank at the other end of a flow has sent a message.
    pub(super) fn on_announced(&mut self, flow: u32, message: (u32, u32)) {
        let (Some(end), Some(ranks)) = (self.end_of(flow), &mut self.ranks) else { return };
        let (rank, from, _) = ranks.of_ends[end as usize];
        if let Some(rank) = ranks.ranks.get_mut(rank as usize) {
            rank.announce(from, message);
        }
    }

    /// Handles a message that has arrived by a flow, or the acknowledgement of messages that an end has sent.
    pub(super) fn on_message(&mut self, event: MessageEvent, flow: u32, bytes: u64, context: &mut NetContext) {
        let Some(end) = self.end_of(flow) else { return };
        if self.ends[end as usize].on_message(event, bytes, context.now()) {
            self.hand_over(end, context);
        }
    }

    /// Notifies a rank of bytes received at one of its ends and of a completed write. Returns false if there is
    /// neither.
    fn exchange(&mut self, end: u32, ranks: &mut EndpointRanks, now: Time) -> bool {
        let (rank, from, lane) = ranks.of_ends[end as usize];
        let (at, rank) = (&mut self.ends[end as usize], &mut ranks.ranks[rank as usize]);
        let Some(application) = at.application_mut() else { return false };
        let arrived = application.take_arrived();
        let written = (application.written_bytes(), application.is_written());
        if arrived > 0 {
            rank.arrive_on((from, lane), arrived, now);
        }
        let written = rank.written_on((from, lane), end, written, now);
        arrived > 0 || written
    }

    /// Runs a rank until it has to wait.
    fn run_rank(&mut self, ranks: &mut EndpointRanks, rank: u32, context: &mut NetContext) {
        let (first, now) = (self.first_rank(), context.now());
        loop {
            match ranks.ranks[rank as usize].next(now) {
                RankRequest::Send(end, bytes) => {
                    self.ends[end as usize].update_application(now, |application| application.post(bytes));
                    // A write that fits the buffer is complete at once.
                    self.exchange(end, ranks, now);
                    match self.messages {
                        None => self.flush(end, context),
                        Some(network) => self.ends[end as usize].send_message(bytes, network, context),
                    }
                }
                RankRequest::Wake(at) => {
                    let set = &mut ranks.set[rank as usize];
                    // One event per rank; a later one is set when this has fired.
                    if set.is_none_or(|set| set > at) {
                        *set = Some(at);
                        let delay_ps = at.ps().saturating_sub(now.ps()).max(1);
                        context.send(context.id, delay_ps, Payload::Begin { connection: first + rank });
                    }
                    return;
                }
                RankRequest::Announce(end, (repetition, message)) => {
                    let Some(&(peer, delay_ps)) = ranks.peers.get(end as usize) else { continue };
                    let flow = self.ends[end as usize].flow();
                    context.send(peer, delay_ps.max(1), Payload::Announced { flow, repetition, message });
                }
                // Only ranks at servers request work of a core.
                RankRequest::CoreWork(_) | RankRequest::Nothing => return,
            }
        }
    }

    /// Handles the event of a service: one or more requests have been served.
    pub(super) fn on_served(&mut self, service: u32, context: &mut NetContext) {
        let now = context.now();
        // Several workers may end at the same time; one event serves them all.
        while let Some((end, number)) = self.services.as_mut().and_then(|services| services.served(service, now)) {
            self.ends[end as usize].update_application(now, |application| application.serve(number));
            self.advance(end, context);
        }
        let to_set = self.services.as_mut().and_then(|services| services.event(service));
        self.arm_service(to_set, context);
    }

    /// Passes requests that have arrived at an end to their workers.
    pub(super) fn take_requests(&mut self, end: u32, context: &mut NetContext) {
        let Some(services) = &mut self.services else { return };
        let to_set = services.admit(end, &mut self.ends[end as usize], context.now());
        self.arm_service(to_set, context);
    }

    fn arm_service(&self, to_set: Option<(u32, Time)>, context: &mut NetContext) {
        if let Some((service, time)) = to_set {
            let delay_ps = time.ps().saturating_sub(context.now().ps()).max(1);
            context.send(context.id, delay_ps, Payload::Begin { connection: self.ends.len() as u32 + service });
        }
    }
}
