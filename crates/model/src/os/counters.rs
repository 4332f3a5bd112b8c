//! Counters of a network core.

use crate::met::ReachedLimits;
use hostnet_kernel::Time;
use hostnet_measure::Bins;
use serde::{Deserialize, Serialize};

/// Activity that a network core spends time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CoreTimeKind {
    /// Idle: there is no work.
    Idle,
    /// Softirq: received packets and segments, and acknowledgements to send.
    Softirq,
    /// System calls and wake-ups of applications.
    Call,
    /// Work of copies.
    Copy,
    /// Stalls of copies, which wait for lines.
    Stalled,
    /// Transmission of segments.
    Send,
    /// Waits for a register of the NIC, and for the lines that the driver exchanges with a NIC in a DIMM.
    Register,
    /// Work of applications for requests.
    Serve,
}

/// Number of kinds of [`CoreTimeKind`].
pub const CORE_TIME_KINDS: usize = 8;

/// Time of a core by activity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CoreTimes {
    current: CoreTimeKind,
    since: Time,
    ps: [u64; CORE_TIME_KINDS],
    /// Times at which the core was busy since the start of the run, if they are recorded.
    busy: Option<Box<Bins>>,
}

impl CoreTimes {
    pub(super) fn new() -> Self {
        Self { current: CoreTimeKind::Idle, since: Time::ZERO, ps: [0; CORE_TIME_KINDS], busy: None }
    }

    /// Returns the current activity.
    pub(super) fn current(&self) -> CoreTimeKind {
        self.current
    }

    /// Starts recording the times at which the core is busy.
    pub(super) fn watch(&mut self) {
        self.busy = Some(Box::default());
    }

    /// Returns the times at which the core was busy since the start of the run, up to the start of the current
    /// activity, if they are recorded.
    #[must_use]
    pub fn busy(&self) -> Option<&Bins> {
        self.busy.as_deref()
    }

    /// Records the current activity up to `now`, unless the core is idle.
    fn note(&mut self, now: Time) {
        // Idle time is what remains between the recorded intervals.
        if let Some(busy) = self.busy.as_mut().filter(|_| self.current != CoreTimeKind::Idle) {
            busy.add(self.since.ps(), now.ps());
        }
    }

    /// Switches to the activity `spent` at `now`.
    pub(super) fn turn(&mut self, now: Time, spent: CoreTimeKind) {
        self.note(now);
        // The time since the last turn belongs to the activity that ends.
        self.ps[self.current as usize] += now.since(self.since);
        self.since = now;
        self.current = spent;
    }

    /// Returns the time spent on an activity from the last reset until `now`, in ps. The times of all activities add
    /// up to the window.
    #[must_use]
    pub fn spent_ps(&self, spent: CoreTimeKind, now: Time) -> u64 {
        let running = if self.current == spent { now.since(self.since) } else { 0 };
        self.ps[spent as usize] + running
    }

    /// Counts `ps` of the time spent on copies as stalls instead.
    pub(super) fn waited(&mut self, ps: u64) {
        // A wait reported after a reset may be longer than the time counted since.
        let ps = ps.min(self.ps[CoreTimeKind::Copy as usize]);
        self.ps[CoreTimeKind::Copy as usize] -= ps;
        self.ps[CoreTimeKind::Stalled as usize] += ps;
    }

    /// Starts a new measurement window.
    pub(super) fn reset(&mut self, now: Time) {
        self.note(now);
        self.since = now;
        self.ps = [0; CORE_TIME_KINDS];
    }
}

/// Counters of one end of a flow since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketCounts {
    /// Packets received from the NIC.
    pub packets: u64,
    /// Received packets that TCP or the UDP socket has processed; the others wait in the core.
    pub delivered: u64,
    /// Segments that TCP has processed, after GRO; datagrams that the UDP socket has accepted.
    pub segments: u64,
    /// Datagrams dropped because the socket had no room.
    pub dropped: u64,
    /// Packets that GRO joined to a previous one.
    pub joined: u64,
    /// Packets that arrived marked (ECN).
    pub marked: u64,
    /// Packets that the host marked.
    pub marked_by_host: u64,
    /// Pure acknowledgements sent.
    pub acks: u64,
    /// Segments with data sent, before the NIC cuts them.
    pub sent: u64,
    /// Bytes of data in the segments sent.
    pub sent_bytes: u64,
    /// Bytes that the application has read.
    pub read_bytes: u64,
    /// Bytes that the application has written.
    pub written_bytes: u64,
    /// System calls of the application.
    pub calls: u64,
    /// System calls before which the application slept.
    pub wakes: u64,
}

/// Counters of a network core since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackCounts {
    /// Packets received from the NIC.
    pub packets: u64,
    /// Interrupts received.
    pub interrupts: u64,
    /// Polls of the receive queue.
    pub polls: u64,
    /// Polls that used up the budget.
    pub polls_full: u64,
    /// Packets that belong to no connection of this core and are discarded.
    pub strangers: u64,
    /// Lines read by copies, from memory or the caches.
    pub source_lines: u64,
    /// Source lines that were in a cache of the core.
    pub source_hits: u64,
    /// Lines of user buffers that were stored to.
    pub destination_lines: u64,
    /// Lines of headers and completions.
    pub extra_lines: u64,
    /// Limits of the configuration that have been reached.
    pub met: ReachedLimits,
}
