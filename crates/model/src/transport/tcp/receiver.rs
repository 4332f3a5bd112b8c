//! The receiving half of a connection: reassembly, acknowledgements and the advertised window.

use super::congestion::echoes_each_mark;
use super::intervals::Intervals;
use super::rare::Rare;
use super::{Counters, SackBlock, Segment};
use crate::met::Limit;
use crate::params::TcpParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Marks an unused entry of `Receiver::recent`.
const NOWHERE: u64 = u64::MAX;

/// A pending acknowledgement of the data before a change of marks (RFC 8257 section 3.2).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PendingAck {
    ack: u64,
    echo: bool,
    stamp: Time,
}

/// State of a receiver that keeps segments which came out of order or more than once, and changes of marks.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Disorder {
    /// Data that arrived out of order.
    early: Intervals,
    /// Starts of the intervals that changed last, the latest first.
    recent: [u64; 3],
    /// Duplicate data to report in the next acknowledgement (RFC 2883).
    duplicate: Option<SackBlock>,
    earlier: VecDeque<PendingAck>,
}

impl Default for Disorder {
    fn default() -> Self {
        Self { early: Intervals::default(), recent: [NOWHERE; 3], duplicate: None, earlier: VecDeque::new() }
    }
}

impl Disorder {
    /// Makes the interval around `byte` the first of the recent ones.
    fn remember(&mut self, byte: u64) {
        let Some(block) = self.early.covering(byte) else { return };
        let old = self.recent;
        self.recent = [block.start, NOWHERE, NOWHERE];
        // Intervals that the new one has swallowed are no longer listed.
        let others = old.into_iter().filter(|start| !(block.start..block.end).contains(start));
        for (slot, start) in self.recent[1..].iter_mut().zip(others) {
            *slot = start;
        }
    }

    fn blocks(&self) -> [SackBlock; 3] {
        let mut blocks = [SackBlock::default(); 3];
        let mut used = 0;
        if let Some(duplicate) = self.duplicate {
            blocks[0] = duplicate;
            used = 1;
        }
        // The latest interval first, so that a lost acknowledgement costs little (RFC 2018 section 4).
        for start in self.recent {
            let Some(block) = self.early.covering(start) else { continue };
            if used < blocks.len() && !blocks[..used].contains(&block) {
                blocks[used] = block;
                used += 1;
            }
        }
        blocks
    }
}

/// The receiving half of one end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Receiver {
    buffer: u64,
    mss: u64,
    ack_segments: u64,
    ack_delay_ps: u64,
    sack: bool,
    echoes_each_mark: bool,
    /// Next byte expected (RCV.NXT).
    next: u64,
    /// Bytes that the application has read.
    read: u64,
    /// End of the advertised window; never decreases.
    edge: u64,
    disorder: Rare<Disorder>,
    /// Bytes received in order and not acknowledged.
    pending: u64,
    /// True if an acknowledgement is due.
    ack_due: bool,
    /// Time at which a delayed acknowledgement is due.
    ack_at: Time,
    /// Value of the ECN echo in the next acknowledgement.
    congested: bool,
    /// Time stamp to echo (RFC 7323 section 4.3), and the last acknowledgement sent.
    stamp: Time,
    acked: u64,
}

impl Receiver {
    pub(crate) fn new(params: &TcpParams) -> Self {
        Self {
            buffer: params.receive_buffer_bytes,
            mss: u64::from(params.mss_bytes),
            ack_segments: u64::from(params.ack_segments),
            ack_delay_ps: params.ack_delay_ps,
            sack: params.sack,
            echoes_each_mark: echoes_each_mark(params.control),
            next: 0,
            read: 0,
            edge: params.receive_buffer_bytes,
            disorder: Rare::default(),
            pending: 0,
            ack_due: false,
            ack_at: Time::MAX,
            congested: false,
            stamp: Time::ZERO,
            acked: 0,
        }
    }

    /// Returns the bytes that the application may read.
    pub(crate) fn readable(&self) -> u64 {
        self.next - self.read
    }

    /// Removes `bytes` that the application reads. Advertises the window if it opens by much and little of it was
    /// left, as Linux does.
    pub(crate) fn read_bytes(&mut self, bytes: u64) {
        assert!(bytes <= self.readable(), "more was read than had arrived in order");
        self.read += bytes;
        // `tcp_cleanup_rbuf` of Linux: little was left, and the window at least doubles.
        let known = self.edge - self.next;
        let open = self.read + self.buffer - self.next;
        let step = (2 * self.mss).min(self.buffer / 2);
        if 2 * known <= self.buffer && open >= 2 * known && open - known >= step {
            self.ack_due = true;
        }
    }

    /// Handles the data of a segment.
    pub(crate) fn on_data(&mut self, now: Time, segment: &Segment, counters: &mut Counters) {
        counters.segments_received += 1;
        counters.segments_early += u64::from(segment.bytes > 0 && segment.sequence > self.next);
        self.see_mark(segment, counters);
        // Only segments up to the last acknowledgement update the time stamp (RFC 7323 section 4.3).
        if segment.sequence <= self.acked && segment.sent >= self.stamp {
            self.stamp = segment.sent;
        }
        let end = segment.sequence.saturating_add(u64::from(segment.bytes));
        let from = segment.sequence.max(self.next);
        // Data beyond the window is rejected (RFC 9293 section 3.10.7.4).
        let to = end.min(self.edge);
        counters.bytes_refused += end.saturating_sub(segment.sequence.max(self.edge));
        if from < to {
            self.place(now, from, to, counters);
        } else {
            // Nothing new: a duplicate or data beyond the window is acknowledged at once.
            self.ack_due = true;
        }
        let duplicate = (to.saturating_sub(segment.sequence)).saturating_sub(self.news(counters));
        if duplicate > 0 {
            counters.bytes_duplicate += duplicate;
            self.ack_due = true;
            self.disorder.make().duplicate =
                Some(SackBlock { start: segment.sequence, end: segment.sequence + duplicate });
        }
    }

    /// Returns the new bytes since the last call.
    fn news(&self, counters: &mut Counters) -> u64 {
        let all = self.next + self.disorder.get().map_or(0, |disorder| disorder.early.bytes());
        let news = all - counters.bytes_received;
        counters.bytes_received = all;
        news
    }

    fn see_mark(&mut self, segment: &Segment, counters: &mut Counters) {
        counters.segments_marked += u64::from(segment.marked);
        if !self.echoes_each_mark {
            // Echoed until the sender has reduced its window (RFC 3168 section 6.1.3).
            self.congested = segment.marked || (self.congested && !segment.reduced);
        } else if segment.marked != self.congested {
            // Data before the change is acknowledged with the old state (RFC 8257 section 3.2, figure 1).
            if self.pending > 0 {
                let ack = PendingAck { ack: self.next, echo: self.congested, stamp: self.stamp };
                self.disorder.make().earlier.push_back(ack);
                self.acked = self.next;
                self.pending = 0;
            }
            self.congested = segment.marked;
            self.ack_due = true;
        }
    }

    /// Stores the bytes from `from` to `to`, which are within the window.
    fn place(&mut self, now: Time, from: u64, to: u64, counters: &mut Counters) {
        if from > self.next {
            let disorder = self.disorder.make();
            disorder.early.insert(from, to);
            disorder.remember(from);
            // Out of order: at once, so that the sender sees the hole (RFC 5681 section 4.2).
            self.ack_due = true;
            return;
        }
        let before = self.next;
        self.next = to;
        if let Some(disorder) = self.disorder.get_mut().filter(|disorder| !disorder.early.is_empty()) {
            if let Some(block) = disorder.early.covering(to) {
                self.next = block.end;
            }
            disorder.early.remove_below(self.next);
            // A segment that fills a hole is acknowledged at once (RFC 5681 section 4.2).
            self.ack_due = true;
        }
        self.pending += self.next - before;
        if !self.ack_due && self.pending < self.ack_segments.max(2) * self.mss {
            counters.met.set(Limit::AckCount);
        }
        if self.ack_segments <= 1 || self.pending >= self.ack_segments * self.mss {
            self.ack_due = true;
        } else if self.ack_delay_ps == 0 {
            self.ack_due = true;
            counters.met.set(Limit::AckDelay);
        // The delay counts from the first data that is not acknowledged.
        } else if self.ack_at == Time::MAX {
            self.ack_at = now.saturating_add(self.ack_delay_ps);
        }
    }

    /// Returns true if an acknowledgement is due.
    pub(crate) fn is_ack_due(&self) -> bool {
        self.ack_due
    }

    /// Returns true if no acknowledgement waits, not even one of data before a change of marks.
    pub(crate) fn is_drained(&self) -> bool {
        !self.ack_due && !self.has_earlier()
    }

    pub(crate) fn timer(&self) -> Time {
        self.ack_at
    }

    pub(crate) fn on_timer(&mut self, now: Time, counters: &mut Counters) {
        if now >= self.ack_at {
            counters.met.set(Limit::AckDelay);
            self.ack_at = Time::MAX;
            self.ack_due = true;
        }
    }

    /// Returns true if an acknowledgement of data before a change of marks waits.
    #[inline]
    pub(crate) fn has_earlier(&self) -> bool {
        self.disorder.get().is_some_and(|disorder| !disorder.earlier.is_empty())
    }

    /// Writes a pending acknowledgement of the data before a change of marks into `segment`. Returns false if there is
    /// none.
    pub(crate) fn acknowledge_earlier(&mut self, segment: &mut Segment) -> bool {
        let earlier = self.disorder.get_mut().and_then(|disorder| disorder.earlier.pop_front());
        let Some(earlier) = earlier else { return false };
        segment.ack = earlier.ack;
        segment.window = self.edge.saturating_sub(earlier.ack);
        segment.echo = earlier.echo;
        segment.sent_echo = earlier.stamp;
        true
    }

    /// Writes an acknowledgement into `segment`. None is due afterwards.
    pub(crate) fn acknowledge(&mut self, segment: &mut Segment) {
        self.offer();
        segment.ack = self.next;
        segment.window = self.edge - self.next;
        segment.echo = self.congested;
        segment.sent_echo = self.stamp;
        if let Some(disorder) = self.disorder.get_mut() {
            if self.sack && (disorder.duplicate.is_some() || !disorder.early.is_empty()) {
                segment.sack = disorder.blocks();
            }
            disorder.duplicate = None;
        }
        self.acked = self.next;
        self.pending = 0;
        self.ack_due = false;
        self.ack_at = Time::MAX;
    }

    /// Moves the end of the advertised window if the gain is large enough (RFC 9293 section 3.8.6.2.2).
    fn offer(&mut self) {
        let open = self.read + self.buffer;
        // Silly window avoidance: a segment or half of the buffer.
        if open - self.edge >= self.mss.min(self.buffer / 2).max(1) {
            self.edge = open;
        }
    }
}
