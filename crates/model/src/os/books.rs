//! What a network core counts.

use crate::met::ReachedLimits;
use hostnet_kernel::Time;
use hostnet_measure::Bins;
use serde::{Deserialize, Serialize};

/// What a network core spends its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spent {
    /// Nothing is to be done.
    Idle,
    /// Packets and segments that came in, acknowledgements that go out.
    Softirq,
    /// System calls and wake-ups of applications.
    Call,
    /// Work of the copy.
    Copy,
    /// The copy waits for lines.
    Stalled,
    /// Segments that go out.
    Send,
    /// The wait for a register of the NIC.
    Register,
    /// Work of applications for requests.
    Serve,
}

/// The kinds of [`Spent`].
pub const SPENT: usize = 8;

/// Where the time of a core went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CoreTimes {
    now_spent: Spent,
    since: Time,
    ps: [u64; SPENT],
    /// When it had something to do since the start of the run, if that is kept.
    busy: Option<Box<Bins>>,
}

impl CoreTimes {
    pub(super) fn new() -> Self {
        Self { now_spent: Spent::Idle, since: Time::ZERO, ps: [0; SPENT], busy: None }
    }

    /// What time is spent on now.
    pub(super) fn now_spent(&self) -> Spent {
        self.now_spent
    }

    /// From now on it is kept when it has something to do.
    pub(super) fn watch(&mut self) {
        self.busy = Some(Box::default());
    }

    /// When it had something to do since the start of the run, but for what goes on, if that is kept.
    #[must_use]
    pub fn busy(&self) -> Option<&Bins> {
        self.busy.as_deref()
    }

    fn note(&mut self, now: Time) {
        if let Some(busy) = self.busy.as_mut().filter(|_| self.now_spent != Spent::Idle) {
            busy.add(self.since.ps(), now.ps());
        }
    }

    /// From now on time is spent on `spent`.
    pub(super) fn turn(&mut self, now: Time, spent: Spent) {
        self.note(now);
        self.ps[self.now_spent as usize] += now.since(self.since);
        self.since = now;
        self.now_spent = spent;
    }

    /// Time spent on something until `now` since the last reset, in ps. The times of all kinds add up to the window.
    #[must_use]
    pub fn spent_ps(&self, spent: Spent, now: Time) -> u64 {
        let running = if self.now_spent == spent { now.since(self.since) } else { 0 };
        self.ps[spent as usize] + running
    }

    /// So many ps of what was spent on copies were waiting.
    pub(super) fn waited(&mut self, ps: u64) {
        let ps = ps.min(self.ps[Spent::Copy as usize]);
        self.ps[Spent::Copy as usize] -= ps;
        self.ps[Spent::Stalled as usize] += ps;
    }

    /// Starts a new measuring window.
    pub(super) fn reset(&mut self, now: Time) {
        self.note(now);
        self.since = now;
        self.ps = [0; SPENT];
    }
}

/// What happened at one end of a flow since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketCounts {
    /// Packets from the NIC.
    pub packets: u64,
    /// Of those, the ones that TCP or a socket of UDP has seen; the others wait in the core.
    pub delivered: u64,
    /// Segments that TCP has seen, after joining; datagrams that the socket kept.
    pub segments: u64,
    /// Datagrams for which the socket had no room.
    pub dropped: u64,
    /// Packets that were joined to one before them.
    pub joined: u64,
    /// Packets that came marked.
    pub marked: u64,
    /// Packets that the host marked.
    pub marked_by_host: u64,
    /// Pure acknowledgements sent.
    pub acks: u64,
    /// Segments with data sent, before the NIC cuts them.
    pub sent: u64,
    /// Bytes of data in those.
    pub sent_bytes: u64,
    /// Bytes that the application has read.
    pub read_bytes: u64,
    /// Bytes that the application has written.
    pub written_bytes: u64,
    /// System calls of the application.
    pub calls: u64,
    /// Of those, the ones that it slept before.
    pub wakes: u64,
}

/// What happened at a network core since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackCounts {
    /// Packets from the NIC.
    pub packets: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Polls of the receive queue.
    pub polls: u64,
    /// Of those, the ones that used up the budget.
    pub polls_full: u64,
    /// Packets of no connection of this core, which end here.
    pub strangers: u64,
    /// Lines read by copies, from memory or the caches.
    pub source_lines: u64,
    /// Of those, lines that a cache of the core had.
    pub source_hits: u64,
    /// Lines of user buffers stored to.
    pub destination_lines: u64,
    /// Lines of headers and completions.
    pub extra_lines: u64,
    /// Limits that have come into play.
    pub met: ReachedLimits,
}
