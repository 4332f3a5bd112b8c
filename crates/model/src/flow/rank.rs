//! A rank of a job, as a pure state machine that takes the steps of its program: requests come out, completed work
//! goes in. Messages from one rank to another are received in the order in which they were sent.

mod operations;
mod repetitions;
mod stats;

pub use repetitions::Repetitions;

use super::completed_steps::CompletedSteps;
use super::graph::{copy_time_ps, Graph};
use super::phases::PhaseStats;
use super::rank_request::{CoreWork, LocalMessage, RankLink, RankRequest};
use super::sockets::SocketCore;
use crate::params::{AcceleratorParams, JobParams, RankProgram, RankStepParams};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Another rank that this one exchanges messages with.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RankPeer {
    rank: u32,
    link: RankLink,
    /// Bytes that have arrived and are not received yet.
    inbox: u64,
    /// Bytes of messages sent to the peer, and received from it.
    sent: u64,
    taken: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum RankState {
    /// Waits for the start of the job.
    Before(Time),
    /// Computes, or waits for the accelerator, until this time.
    Until(Time),
    /// Waits for its core.
    Working(CoreWork),
    /// Has computed, and sends next.
    Computed,
    /// Sends and receives.
    Moving {
        /// End of the flow by which it sends, until all data is written.
        sending: Option<u32>,
        /// Time at which a copy to another rank of this host is done.
        copied: Option<Time>,
    },
    /// Has completed all steps, at this time.
    Done(Time),
}

/// A rank of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rank {
    job: u32,
    rank: u32,
    program: RankProgram,
    /// Local copy between ranks of a host: bytes per second, and fixed time in ps.
    copy: (u64, u64),
    peers: Vec<RankPeer>,
    /// True if the core of a server computes and copies for the rank.
    on_core: bool,
    /// Core of the rank at an endpoint, if it has one.
    sockets: Option<SocketCore>,
    /// Time spent computing in the current step so far, in ps.
    computed_ps: u64,
    /// Completion time of each work of the accelerator that is not known to be done, and start of the accelerator's
    /// busy period at that time.
    device: VecDeque<(Time, Time)>,
    state: RankState,
    /// Time at which the current step began.
    since: Time,
    phases: Vec<PhaseStats>,
    completed_steps: CompletedSteps,
    /// Repetitions, if the run may skip some.
    repetitions: Option<Box<Repetitions>>,
    /// Operations and their progress, if the rank executes operations in place of the steps of its program.
    graph: Option<Box<Graph>>,
}

impl Rank {
    /// Creates rank `rank` of job number `job`. `link` returns the connection to another rank.
    #[must_use]
    pub fn new(job: u32, params: &JobParams, rank: u32, mut link: impl FnMut(u32) -> Option<RankLink>) -> Self {
        // Sorted: peers are found by binary search, and in the same order in every run.
        let known = params.peers_of(rank);
        let peer = |rank| link(rank).map(|link| RankPeer { rank, link, inbox: 0, sent: 0, taken: 0 });
        // An event lies at least 1 ps ahead.
        let start = Time::from_ps(params.start_ps.max(1));
        Self {
            job,
            rank,
            program: RankProgram::new(params, rank),
            copy: (params.copy_bytes_per_s, params.copy_ps),
            peers: known.into_iter().filter_map(peer).collect(),
            on_core: false,
            sockets: params.socket_bytes_per_s.map(SocketCore::new),
            computed_ps: 0,
            device: VecDeque::new(),
            state: RankState::Before(start),
            since: start,
            phases: vec![PhaseStats::default(); params.phases.len()],
            completed_steps: CompletedSteps::of_ranks(params.hosts.len()),
            repetitions: None,
            graph: None,
        }
    }

    /// Places the rank on a core of a server, which computes and copies for it.
    #[must_use]
    pub fn on_core(mut self) -> Self {
        self.on_core = true;
        // The core of the server models system calls and copies itself.
        self.sockets = None;
        self
    }

    /// Returns the current step.
    fn step(&self) -> Option<RankStepParams> {
        self.program.step()
    }

    fn peer(&mut self, rank: u32) -> Option<&mut RankPeer> {
        let at = self.peers.binary_search_by_key(&rank, |peer| peer.rank).ok()?;
        self.peers.get_mut(at)
    }

    /// Returns the time at which the rank must be polled next, if it waits for a time.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Time> {
        match self.state {
            RankState::Before(at) | RankState::Until(at) => Some(at),
            RankState::Moving { copied, .. } => copied,
            RankState::Working(_) | RankState::Computed | RankState::Done(_) => None,
        }
    }

    /// Returns the next request of the rank. The caller repeats the call until it is [`RankRequest::Nothing`] or
    /// [`RankRequest::Wake`].
    pub fn next(&mut self, now: Time) -> RankRequest {
        if let Some(request) = self.next_of_operations(now) {
            return request;
        }
        // Bytes that the core has read by now may complete the step.
        self.take_reads(now);
        let rank_request = self.act(now);
        // A rank that only waits lets its core read what has arrived.
        match (&mut self.sockets, self.state, rank_request) {
            (Some(sockets), RankState::Moving { .. }, RankRequest::Wake(at)) => {
                RankRequest::Wake(sockets.read_while_idle(now).map_or(at, |read| read.min(at)))
            }
            (Some(sockets), RankState::Moving { .. }, RankRequest::Nothing) => {
                sockets.read_while_idle(now).map_or(RankRequest::Nothing, RankRequest::Wake)
            }
            _ => rank_request,
        }
    }

    fn act(&mut self, now: Time) -> RankRequest {
        loop {
            match self.state {
                RankState::Done(_) | RankState::Working(_) => return RankRequest::Nothing,
                RankState::Computed => {
                    if let Some(rank_request) = self.send(now) {
                        return rank_request;
                    }
                }
                RankState::Before(at) | RankState::Until(at) if at > now => return RankRequest::Wake(at),
                RankState::Before(_) => self.enter_step(now),
                RankState::Until(_) => {
                    if let Some(rank_request) = self.begin(now) {
                        return rank_request;
                    }
                }
                // The copy is done by an event of its own time (see `copied`).
                RankState::Moving { copied: Some(at), .. } => return RankRequest::Wake(at),
                RankState::Moving { sending: Some(end), .. } => return self.post(end, now),
                RankState::Moving { .. } => {
                    let Some(step) = self.step() else { return RankRequest::Nothing };
                    // The send comes first: a step ends when it has sent and received.
                    if !self.receives(&step) {
                        return RankRequest::Nothing;
                    }
                    self.completed_steps.now.received = now;
                    if let Some(core_work) = self.copy_out(&step) {
                        return self.core_work(core_work);
                    }
                    self.finish_step(&step, now);
                }
            }
        }
    }

    /// Completes a step, and enters the next one, if there is one.
    fn finish_step(&mut self, step: &RankStepParams, now: Time) {
        self.record_step(step, now);
        self.enter_step(now);
    }

    /// Enters the next step, if there is one.
    fn enter_step(&mut self, now: Time) {
        self.note_repetition(now);
        self.since = now;
        self.completed_steps.begin(now);
        let Some(next) = self.step() else {
            self.state = RankState::Done(now);
            return;
        };
        let given = self.feed_device(next.device, now);
        let ready = match &mut self.sockets {
            // The core of the server takes the time for computing itself.
            _ if self.on_core => given,
            // Computing needs the core, which may still be copying for the last step.
            Some(sockets) if next.compute_ps > 0 => sockets.occupy(given, next.compute_ps),
            _ => given + next.compute_ps,
        };
        self.computed_ps = ready.since(now);
        self.state = RankState::Until(ready);
    }

    /// Hands the accelerator its work. Returns the time at which no more than the allowed number of works are left.
    fn feed_device(&mut self, device: AcceleratorParams, now: Time) -> Time {
        while self.device.front().is_some_and(|&(done, _)| done <= now) {
            self.device.pop_front();
        }
        if device.work_ps > 0 {
            // Works are executed one after the other; an idle accelerator begins a busy period now.
            let (begins, busy_since) = self.device.back().copied().unwrap_or((now, now));
            self.device.push_back((begins + device.work_ps, busy_since));
        }
        // With no more than `left` works outstanding the step does not wait; `left` may be the largest number there is.
        let Some(more) = self.device.len().checked_sub((device.left as usize).saturating_add(1)) else { return now };
        let (done, busy_since) = self.device[more];
        self.completed_steps.now.device = Some((busy_since, done));
        done
    }

    fn core_work(&mut self, core_work: CoreWork) -> RankRequest {
        self.state = RankState::Working(core_work);
        RankRequest::CoreWork(core_work)
    }

    /// Returns the copy out of shared memory that a step needs for the message it has received, if any.
    fn copy_out(&mut self, step: &RankStepParams) -> Option<CoreWork> {
        let message = step.receive?;
        let shared = matches!(self.peer(message.rank)?.link, RankLink::Core(_));
        shared.then_some(CoreWork::CopyOut { rank: message.rank, bytes: message.bytes })
    }

    /// Records that the core has completed its work by now. After a copy into shared memory, returns the core of the
    /// receiver and the bytes.
    pub fn worked(&mut self, now: Time) -> Option<(ComponentId, u64)> {
        let RankState::Working(core_work) = self.state else { return None };
        match core_work {
            CoreWork::Compute { .. } => {
                self.computed_ps = now.since(self.since);
                self.state = RankState::Computed;
                None
            }
            CoreWork::CopyIn { rank, bytes } => {
                self.all_written(now);
                match self.peer(rank)?.link {
                    RankLink::Core(core) => Some((core, bytes)),
                    RankLink::End(_) | RankLink::Local(_) => None,
                }
            }
            // The message arrived before its copy began, so nothing else is left of the step.
            CoreWork::CopyOut { .. } => {
                let step = self.step()?;
                self.finish_step(&step, now);
                None
            }
        }
    }

    /// Requests computation from the core if the step needs any, otherwise begins to send.
    fn begin(&mut self, now: Time) -> Option<RankRequest> {
        let step = self.step()?;
        // At an endpoint the time for computing has passed already (`enter_step`).
        if self.on_core && (step.compute_ps > 0 || step.work > 0) {
            return Some(self.core_work(CoreWork::Compute { work: step.work, ps: step.compute_ps }));
        }
        self.send(now)
    }

    /// Begins to send the message of the step, if it has one.
    fn send(&mut self, now: Time) -> Option<RankRequest> {
        let step = self.step()?;
        self.completed_steps.now.computed = now;
        // This holds for a step that sends nothing; a message replaces the state below.
        self.all_written(now);
        self.prioritize_read(&step);
        let message = step.send?;
        let peer = self.peer(message.rank)?;
        peer.sent += message.bytes;
        let link = peer.link;
        Some(match link {
            RankLink::End(end) if step.posts => RankRequest::Send(end, message.bytes),
            RankLink::End(end) => {
                self.state = RankState::Moving { sending: Some(end), copied: None };
                let Some(sockets) = &mut self.sockets else { return Some(RankRequest::Send(end, message.bytes)) };
                sockets.begin(message.bytes, now);
                self.post(end, now)
            }
            RankLink::Core(_) => self.core_work(CoreWork::CopyIn { rank: message.rank, bytes: message.bytes }),
            RankLink::Local(_) => {
                let at = now + copy_time_ps(self.copy, message.bytes);
                self.state = RankState::Moving { sending: None, copied: Some(at) };
                RankRequest::Wake(at)
            }
        })
    }

    /// Sets the data that the core reads with priority: the message that the step receives.
    fn prioritize_read(&mut self, step: &RankStepParams) {
        let Some(message) = step.receive else { return };
        let came = self.peer(message.rank).map_or(0, |peer| peer.inbox);
        if let Some(sockets) = &mut self.sockets {
            // What has been read already need not be read with priority.
            sockets.prioritize_read(message.rank, message.bytes.saturating_sub(came));
        }
    }

    /// Passes the next bytes of a message to the connection if the core has copied them.
    fn post(&mut self, end: u32, now: Time) -> RankRequest {
        let Some(sockets) = &mut self.sockets else { return RankRequest::Nothing };
        match sockets.post(now) {
            Some(bytes) => RankRequest::Send(end, bytes),
            None => sockets.to_post().map_or(RankRequest::Nothing, RankRequest::Wake),
        }
    }

    /// Adds the bytes that the core has read by now to the inboxes.
    fn take_reads(&mut self, now: Time) {
        while let Some((from, bytes)) = self.sockets.as_mut().and_then(|sockets| sockets.take_read(now)) {
            if let Some(peer) = self.peer(from) {
                peer.inbox += bytes;
            }
        }
    }

    /// Records that all data that the step sends has been written.
    fn all_written(&mut self, now: Time) {
        self.state = RankState::Moving { sending: None, copied: None };
        self.completed_steps.now.written = now;
    }

    /// Returns true if the message that the step receives has arrived, and takes it.
    fn receives(&mut self, step: &RankStepParams) -> bool {
        let Some(message) = step.receive else { return true };
        let Some(peer) = self.peer(message.rank).filter(|peer| peer.inbox >= message.bytes) else { return false };
        peer.inbox -= message.bytes;
        peer.taken += message.bytes;
        true
    }

    /// Completes a copy to another rank of this host if one is due, and returns the message.
    pub fn copied(&mut self, now: Time) -> Option<LocalMessage> {
        if let Some(message) = self.with_operations(|graph| graph.copied(now)) {
            return message;
        }
        let RankState::Moving { copied: Some(at), .. } = self.state else { return None };
        if at > now {
            return None;
        }
        self.all_written(now);
        let message = self.step()?.send?;
        match self.peer(message.rank)?.link {
            RankLink::Local(to) => Some(LocalMessage { to, from: (self.rank, 0), bytes: message.bytes, message: None }),
            RankLink::End(_) | RankLink::Core(_) => None,
        }
    }

    /// Records that the connection has written everything passed to an end. Returns false if the rank does not wait
    /// for that.
    pub fn written(&mut self, end: u32, now: Time) -> bool {
        // The report may belong to a message of an earlier step.
        if !matches!(self.state, RankState::Moving { sending: Some(by), .. } if by == end) {
            return false;
        }
        // Without a socket core the connection was given the whole message at once.
        let all = self.sockets.as_mut().map_or(Some(true), |sockets| sockets.written(now));
        if all == Some(true) {
            self.all_written(now);
        }
        all.is_some()
    }

    /// Records bytes that have arrived from another rank of this host.
    pub fn arrive(&mut self, from: u32, bytes: u64) {
        if let Some(peer) = self.peer(from) {
            peer.inbox += bytes;
        }
    }
}
