//! A rank of a job: a small machine that takes the steps of its program. Pure: what it is to do comes out, what has
//! been done goes in. Messages from one rank to another are received in the order in which they were sent.

use crate::params::{JobParams, StepParams};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// How the messages to another rank go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Link {
    /// Over a connection: the end of a flow here.
    End(u32),
    /// To another rank of this host, by its number here.
    Local(u32),
}

/// Another rank that this one knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Peer {
    rank: u32,
    link: Link,
    /// Bytes that have come and are not received yet.
    inbox: u64,
}

/// What steps of the same name did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseBooks {
    /// Steps that were taken.
    pub steps: u64,
    /// Time that they took, and the longest of them, in ps.
    pub time_ps: u64,
    /// See `time_ps`.
    pub most_ps: u64,
    /// Of that time, what was computed.
    pub compute_ps: u64,
    /// Messages that were sent, and their bytes.
    pub messages: u64,
    /// See `messages`.
    pub bytes: u64,
    /// Bytes that were received.
    pub received_bytes: u64,
}

impl PhaseBooks {
    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            time_ps: self.time_ps + other.time_ps,
            most_ps: self.most_ps.max(other.most_ps),
            compute_ps: self.compute_ps + other.compute_ps,
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            received_bytes: self.received_bytes + other.received_bytes,
        }
    }

    /// Share of the time that was not computed: in which messages were sent or waited for. None without any time.
    #[must_use]
    pub fn communication_share(&self) -> Option<f64> {
        (self.time_ps > 0).then(|| (self.time_ps - self.compute_ps) as f64 / self.time_ps as f64)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    /// It waits for its beginning, or computes.
    Until(Time),
    /// It sends and receives.
    Moving {
        /// The end of a flow that it sends by, until all is written.
        sending: Option<u32>,
        /// When a copy to another rank of this host is done.
        copied: Option<Time>,
    },
    Done(Time),
}

/// What a rank wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// To be told when it is this late.
    Wake(Time),
    /// That a message of so many bytes be sent by an end of a flow; then it is told when that is written.
    Send(u32, u64),
    /// Nothing before something comes.
    Nothing,
}

/// A rank of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rank {
    job: u32,
    rank: u32,
    blocks: Vec<(u32, Vec<StepParams>)>,
    copy: (u64, u64),
    peers: Vec<Peer>,
    /// Where it is: block, how often that was done, step.
    at: (usize, u32, usize),
    state: State,
    /// When the present step began.
    since: Time,
    phases: Vec<PhaseBooks>,
}

impl Rank {
    /// Rank `rank` of job number `job`; `link` says how messages to another rank go.
    #[must_use]
    pub fn new(job: u32, params: &JobParams, rank: u32, mut link: impl FnMut(u32) -> Option<Link>) -> Self {
        let own = |block: &crate::params::BlockParams| (block.times, block.steps[rank as usize].clone());
        let blocks: Vec<_> = params.blocks.iter().map(own).collect();
        let steps = blocks.iter().flat_map(|(_, steps)| steps);
        let mut known: Vec<u32> =
            steps.flat_map(|step| [step.send, step.receive]).flatten().map(|to| to.rank).collect();
        known.sort_unstable();
        known.dedup();
        let peer = |rank| link(rank).map(|link| Peer { rank, link, inbox: 0 });
        let start = Time::from_ps(params.start_ps.max(1));
        let mut found = Self {
            job,
            rank,
            blocks,
            copy: (params.copy_bytes_per_s, params.copy_ps),
            peers: known.into_iter().filter_map(peer).collect(),
            at: (0, 0, 0),
            state: State::Until(start),
            since: start,
            phases: vec![PhaseBooks::default(); params.phases.len()],
        };
        found.skip();
        found
    }

    /// The step that it is in.
    fn step(&self) -> Option<StepParams> {
        let (block, _, step) = self.at;
        self.blocks.get(block)?.1.get(step).copied()
    }

    /// Goes on from blocks that have no more steps.
    fn skip(&mut self) {
        while let Some((times, steps)) = self.blocks.get(self.at.0) {
            if self.at.1 < *times && self.at.2 < steps.len() {
                return;
            }
            self.at = if self.at.1 + 1 < *times && !steps.is_empty() {
                (self.at.0, self.at.1 + 1, 0)
            } else {
                (self.at.0 + 1, 0, 0)
            };
        }
    }

    fn peer(&mut self, rank: u32) -> Option<&mut Peer> {
        let at = self.peers.binary_search_by_key(&rank, |peer| peer.rank).ok()?;
        self.peers.get_mut(at)
    }

    /// When it begins, or is done with computing or copying, if it waits for that.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Time> {
        match self.state {
            State::Until(at) => Some(at),
            State::Moving { copied, .. } => copied,
            State::Done(_) => None,
        }
    }

    /// What it does next. To be asked until it wants nothing, or to be woken.
    pub fn next(&mut self, now: Time) -> Wanted {
        loop {
            match self.state {
                State::Done(_) => return Wanted::Nothing,
                State::Until(at) if at > now => return Wanted::Wake(at),
                State::Until(_) => {
                    if let Some(wanted) = self.begin(now) {
                        return wanted;
                    }
                }
                State::Moving { copied: Some(at), .. } => return Wanted::Wake(at),
                State::Moving { sending: Some(_), .. } => return Wanted::Nothing,
                State::Moving { .. } => {
                    let Some(step) = self.step() else { return self.end(now) };
                    if !self.receives(&step) {
                        return Wanted::Nothing;
                    }
                    self.ends(&step, now);
                    let Some(next) = self.step() else { return self.end(now) };
                    self.since = now;
                    self.state = State::Until(now + next.compute_ps);
                }
            }
        }
    }

    fn end(&mut self, now: Time) -> Wanted {
        self.state = State::Done(now);
        Wanted::Nothing
    }

    /// Begins to send what the step sends. The first step computes only then.
    fn begin(&mut self, now: Time) -> Option<Wanted> {
        let Some(step) = self.step() else { return Some(self.end(now)) };
        if self.since + step.compute_ps > now {
            self.state = State::Until(self.since + step.compute_ps);
            return None;
        }
        self.state = State::Moving { sending: None, copied: None };
        let message = step.send?;
        let link = self.peer(message.rank)?.link;
        let (rate, latency_ps) = self.copy;
        Some(match link {
            Link::End(end) => {
                self.state = State::Moving { sending: Some(end), copied: None };
                Wanted::Send(end, message.bytes)
            }
            Link::Local(_) => {
                let ps = u128::from(message.bytes) * 1_000_000_000_000 / u128::from(rate.max(1));
                let at = now + latency_ps.saturating_add(u64::try_from(ps).unwrap_or(u64::MAX)).max(1);
                self.state = State::Moving { sending: None, copied: Some(at) };
                Wanted::Wake(at)
            }
        })
    }

    /// Whether all that the step receives has come. Then it is taken.
    fn receives(&mut self, step: &StepParams) -> bool {
        let Some(message) = step.receive else { return true };
        let Some(peer) = self.peer(message.rank).filter(|peer| peer.inbox >= message.bytes) else { return false };
        peer.inbox -= message.bytes;
        true
    }

    fn ends(&mut self, step: &StepParams, now: Time) {
        let took_ps = now.since(self.since);
        let books = &mut self.phases[usize::from(step.phase)];
        books.steps += 1;
        books.time_ps += took_ps;
        books.most_ps = books.most_ps.max(took_ps);
        books.compute_ps += step.compute_ps;
        if let Some(message) = step.send {
            books.messages += 1;
            books.bytes += message.bytes;
        }
        books.received_bytes += step.receive.map_or(0, |message| message.bytes);
        self.at.2 += 1;
        self.skip();
    }

    /// A copy to another rank of this host that is done by now: that rank, by its number here, and the bytes.
    pub fn copied(&mut self, now: Time) -> Option<(u32, u64)> {
        let State::Moving { copied: Some(at), .. } = self.state else { return None };
        if at > now {
            return None;
        }
        self.state = State::Moving { sending: None, copied: None };
        let message = self.step()?.send?;
        match self.peer(message.rank)?.link {
            Link::Local(to) => Some((to, message.bytes)),
            Link::End(_) => None,
        }
    }

    /// All that goes by an end of a flow has been written to its connection. False if it does not wait for that.
    pub fn written(&mut self, end: u32) -> bool {
        let waits = matches!(self.state, State::Moving { sending: Some(by), .. } if by == end);
        if waits {
            self.state = State::Moving { sending: None, copied: None };
        }
        waits
    }

    /// Bytes have come from another rank.
    pub fn arrive(&mut self, from: u32, bytes: u64) {
        if let Some(peer) = self.peer(from) {
            peer.inbox += bytes;
        }
    }

    /// The job, and which rank of it this is.
    #[must_use]
    pub fn number(&self) -> (u32, u32) {
        (self.job, self.rank)
    }

    /// When it was done with all of its steps, if it is.
    #[must_use]
    pub fn done_at(&self) -> Option<Time> {
        if let State::Done(at) = self.state {
            Some(at)
        } else {
            None
        }
    }

    /// What its steps did since the start of the run, by their names.
    #[must_use]
    pub fn phases(&self) -> &[PhaseBooks] {
        &self.phases
    }

    /// Bytes that have come from other ranks and that no step has received.
    #[must_use]
    pub fn unreceived_bytes(&self) -> u64 {
        self.peers.iter().map(|peer| peer.inbox).sum()
    }

    /// The other ranks that it knows, and how messages to them go.
    pub fn links(&self) -> impl Iterator<Item = (u32, Link)> + '_ {
        self.peers.iter().map(|peer| (peer.rank, peer.link))
    }
}
