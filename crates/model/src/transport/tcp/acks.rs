//! Effects of acknowledgements on the sender.

use super::congestion::Acked;
use super::scoreboard::DUPLICATES;
use super::sender::{RecoveryState, Reduction, Sender};
use super::{Counters, Segment};
use hostnet_kernel::Time;

impl Sender {
    /// Handles the acknowledgement in a segment. It is ignored if it covers data that was never sent.
    pub(crate) fn on_ack(&mut self, now: Time, segment: &Segment, counters: &mut Counters) {
        // The byte of a window probe is not counted as sent until it is acknowledged.
        if segment.ack > self.next && !self.accept_window_probe(segment.ack, counters) {
            return;
        }
        let moved = self.see_window(segment);
        // Speed only: with nothing in flight and nothing to repair, it can only move the window.
        if segment.ack == self.una && self.is_at_rest() && !segment.echo {
            self.reorder_at = Time::MAX;
            return;
        }
        // As they were before this acknowledgement: growth and reductions refer to that time.
        let flight = self.in_flight();
        let arrived = self.una + self.sacked_bytes();
        let acked = segment.ack.saturating_sub(self.una);
        let grow = self.may_grow(flight);
        counters.echoes += u64::from(segment.echo);
        let copied = self.see_blocks(segment);
        if acked > 0 {
            self.advance(now, segment, acked, counters);
        // The conditions of a duplicate acknowledgement (RFC 5681 section 2).
        } else if !self.sack && segment.bytes == 0 && segment.ack == self.una && !moved && self.next > self.una {
            self.duplicates += 1;
        }
        let delivered = self.delivered(acked, arrived);
        // Before `recover`: a loss that a probe has repaired reduces the window once.
        self.see_probe(segment, copied);
        self.see_echo(acked, segment.echo, counters);
        self.recover(counters);
        if acked > 0 {
            // No growth in recovery, nor while the window that an echo has reduced is acknowledged.
            if grow && self.state != RecoveryState::Recovery && self.una > self.reduced_to {
                self.congestion.grow(Acked { bytes: delivered, now, rtt_ps: self.rtt.smoothed_ps() });
            } else {
                self.congestion.skip(now);
            }
            self.schedule_probe(now);
        }
        self.watch_reordering(now);
    }

    /// Returns true if nothing is in flight, no duplicate is counted, and no loss is being repaired.
    #[inline]
    fn is_at_rest(&self) -> bool {
        self.una == self.next && self.state == RecoveryState::Open && self.duplicates == 0 && !self.probe_copy
    }

    /// Returns the bytes that an acknowledgement newly reports as delivered, if `arrived` bytes were known to be
    /// before. Without SACK, an acknowledgement after a timeout also covers data that had arrived long before, so it
    /// counts as one segment at most (RFC 3465 section 2.3).
    fn delivered(&self, acked: u64, arrived: u64) -> u64 {
        match (self.sack, self.state) {
            (true, _) => self.una + self.sacked_bytes() - arrived,
            (false, RecoveryState::Loss) => acked.min(self.mss),
            (false, _) => acked,
        }
    }

    /// Counts the byte of a window probe as sent if `ack` covers it. Returns false if `ack` covers data that was never
    /// sent.
    fn accept_window_probe(&mut self, ack: u64, counters: &mut Counters) -> bool {
        if ack > self.window_probe_to {
            return false;
        }
        counters.bytes_sent += ack - self.next;
        self.next = ack;
        true
    }

    /// Moves the end of the receiver's window. Returns true if it moved.
    fn see_window(&mut self, segment: &Segment) -> bool {
        let edge = segment.ack.saturating_add(segment.window);
        // The right edge never moves back; an older acknowledgement may carry a lower one.
        if edge <= self.edge {
            return false;
        }
        self.edge = edge;
        // The window is open again, so probing ends and its doubled interval is forgotten.
        if self.persist_at != Time::MAX {
            self.persist_at = Time::MAX;
            self.rtt.reset_backoff();
        }
        self.window_probe = false;
        true
    }

    /// Returns true if the congestion window may grow. A window that was not used has not been tested by the network
    /// (RFC 7661): it must have held data back, or have been half full in slow start.
    fn may_grow(&self, flight: u64) -> bool {
        self.una < self.limited_to || (self.congestion.in_slow_start() && 2 * flight >= self.congestion.bytes())
    }

    /// Applies SACK blocks. Returns true if one of them reports a duplicate (RFC 2883).
    fn see_blocks(&mut self, segment: &Segment) -> bool {
        let mut copied = false;
        if !self.sack {
            return copied;
        }
        // Blocks beyond what was sent are invalid and ignored.
        for block in segment.sack.iter().filter(|block| block.start < block.end && block.end <= self.next) {
            // A block below the acknowledgement reports a duplicate (RFC 2883 section 4).
            if block.end <= segment.ack.max(self.una) {
                copied |= block.end <= segment.ack;
            } else {
                self.board.make().arrive(block.start.max(self.una), block.end);
            }
        }
        copied
    }

    fn advance(&mut self, now: Time, segment: &Segment, acked: u64, counters: &mut Counters) {
        self.una = segment.ack;
        self.probe = false;
        if let Some(board) = self.board.get_mut() {
            board.advance(segment.ack);
        }
        // Partial window deflation: what is acknowledged has left the flight (RFC 6582 section 3.2).
        if self.duplicates > 0 {
            self.duplicates = self.duplicates.saturating_sub((acked.div_ceil(self.mss)).saturating_sub(1));
        }
        counters.bytes_acked += acked;
        if segment.echo {
            counters.bytes_marked += acked;
        }
        // A sample per acknowledgement, retransmissions included: the stamp tells them apart (RFC 7323).
        if segment.sent_echo != Time::ZERO && segment.sent_echo <= now {
            self.rtt.sample(now.since(segment.sent_echo));
        }
        self.rtt.reset_backoff();
        // Restarted by new data acknowledged, stopped when nothing is in flight (RFC 6298, 5.2 and 5.3).
        self.rto_at = Time::MAX;
        if self.una < self.next {
            self.start_timer(now);
        }
    }

    /// Handles the outcome of a tail loss probe. A probe that repeated the last packet and was not reported as a
    /// duplicate has repaired a loss (RFC 8985 section 7.4.2).
    fn see_probe(&mut self, segment: &Segment, copied: bool) {
        if !self.probe_copy {
            return;
        }
        if copied {
            self.probe_copy = false;
        } else if segment.ack > self.probe_to {
            self.probe_copy = false;
            self.congestion.on_loss(self.una < self.reduced_to);
            self.reduced_to = self.next;
        }
    }

    fn see_echo(&mut self, acked: u64, echo: bool, counters: &mut Counters) {
        if acked > 0 {
            self.congestion.observe(acked, echo, self.una, self.next);
            // The reduction ends with its window of data, or when a loss takes over.
            if self.una > self.reduced_to || self.state != RecoveryState::Open {
                self.reduction = None;
            } else if let Some(reduction) = &mut self.reduction {
                reduction.delivered += acked;
            }
        }
        // Once per window of data (RFC 3168 section 6.1.2, RFC 8257 section 3.3).
        if echo && self.state == RecoveryState::Open && self.una > self.reduced_to {
            self.congestion.on_echo();
            self.reduction = Some(Reduction { flight: self.in_flight().max(1) + acked, delivered: acked, sent: 0 });
            self.reduced_to = self.next;
            // Tells the receiver to stop echoing (RFC 3168 section 6.1.3).
            self.send_cwr = true;
            counters.reductions += 1;
        }
    }

    /// Detects losses, and begins and ends recovery.
    fn recover(&mut self, counters: &mut Counters) {
        // Recovery ends when all data in flight at its start is acknowledged (RFC 6582, RFC 6675).
        if self.state != RecoveryState::Open && self.una >= self.recover {
            self.state = RecoveryState::Open;
            self.duplicates = 0;
        }
        if !self.sack {
            self.detect_without_sack();
        } else if let Some(board) = self.board.get_mut() {
            board.detect(self.una, self.mss);
        }
        self.enter_recovery(counters);
    }

    /// Detects losses without SACK (RFC 6582): the first packet is lost after three duplicates, and in recovery after
    /// every partial acknowledgement.
    fn detect_without_sack(&mut self) {
        let begin = self.state == RecoveryState::Open && self.duplicates >= DUPLICATES;
        let partial = self.state == RecoveryState::Recovery && self.una > self.lost_without_sack;
        if begin || partial {
            self.lost_without_sack = self.una;
            // The first retransmission does not wait for the window (RFC 6675 section 5, step 4.3).
            self.force = true;
            self.board.make().lose(self.una, (self.una + self.mss).min(self.next));
        }
    }

    /// Begins recovery if data in flight has been lost.
    pub(super) fn enter_recovery(&mut self, counters: &mut Counters) {
        if self.state != RecoveryState::Open || self.lost_bytes() == 0 {
            return;
        }
        self.state = RecoveryState::Recovery;
        self.recover = self.next;
        self.force = true;
        // Probes are for the open state only (RFC 8985 section 7.2).
        self.probe_at = Time::MAX;
        // The loss repaired by the last probe belongs to the same recovery, so the window is reduced only once.
        self.probe_copy = false;
        self.congestion.on_loss(self.una < self.reduced_to);
        self.reduced_to = self.next;
        counters.recoveries += 1;
    }
}
