//! The sending half of a connection.

use super::congestion::Congestion;
use super::hold::{SendLimit, SendLimitClock};
use super::rare::Rare;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::{Counters, Segment};
use crate::met::Limit;
use crate::params::TcpParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// State of loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum RecoveryState {
    Open,
    /// Fast recovery, until all data that was in flight at its start is acknowledged.
    Recovery,
    /// Recovery after a timeout, until all data that was in flight then is acknowledged.
    Loss,
}

/// A reduction in progress: the window shrinks in proportion to the bytes delivered (RFC 6937), not at once.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Reduction {
    /// Bytes in flight when the reduction started, and bytes delivered and sent since.
    pub(super) flight: u64,
    pub(super) delivered: u64,
    pub(super) sent: u64,
}

/// The sending half of one end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sender {
    pub(super) mss: u64,
    tso: u64,
    buffer: u64,
    pub(super) sack: bool,
    pub(super) tail_loss_probe: bool,
    /// Bytes that the application has written.
    written: u64,
    /// First byte that is not acknowledged (SND.UNA).
    pub(super) una: u64,
    /// First byte that was never sent (SND.NXT).
    pub(super) next: u64,
    /// End of the receiver's window.
    pub(super) edge: u64,
    pub(super) board: Rare<Scoreboard>,
    pub(super) state: RecoveryState,
    /// End of the data in flight when recovery began, and when the window was last reduced. When all below is
    /// acknowledged, recovery ends, and an echo may reduce the window again.
    pub(super) recover: u64,
    pub(super) reduced_to: u64,
    pub(super) reduction: Option<Reduction>,
    /// End of the data sent when the congestion window last held data back. The window may grow by acknowledgements
    /// below.
    pub(super) limited_to: u64,
    /// Duplicate acknowledgements, counted without SACK.
    pub(super) duplicates: u64,
    /// Start of the last hole that was found lost without SACK.
    pub(super) lost_without_sack: u64,
    /// True if the next retransmission ignores the congestion window.
    pub(super) force: bool,
    /// True if CWR must be set in the next segment with new data.
    pub(super) send_cwr: bool,
    pub(super) rtt: RttEstimator,
    pub(super) congestion: Congestion,
    /// True if packets that are not full are sent at once (TCP_NODELAY).
    pub(super) no_delay: bool,
    /// End of the last packet that was not full: no other such packet is sent before it is acknowledged.
    small_to: u64,
    /// First byte of the last packet of new data.
    pub(super) tail: u64,
    last_sent: Time,
    pub(super) held: SendLimitClock,
    pub(super) rto_at: Time,
    pub(super) probe_at: Time,
    pub(super) reorder_at: Time,
    pub(super) reorder_to: u64,
    pub(super) persist_at: Time,
    /// True if a tail loss probe must be sent.
    pub(super) probe: bool,
    /// End of the data in flight at the last probe, and true if the probe was a copy that could hide a loss.
    pub(super) probe_to: u64,
    pub(super) probe_copy: bool,
    /// True if a closed window must be probed.
    pub(super) window_probe: bool,
    pub(super) window_probe_to: u64,
}

impl Sender {
    pub(crate) fn new(params: &TcpParams) -> Self {
        let mss = u64::from(params.mss_bytes);
        Self {
            mss,
            // Whole segments, so that only the end of the data makes a partial packet.
            tso: (u64::from(params.tso_bytes) / mss * mss).max(mss),
            buffer: params.send_buffer_bytes,
            sack: params.sack,
            // Probes need SACK (RFC 8985 section 7).
            tail_loss_probe: params.tail_loss_probe && params.sack,
            written: 0,
            una: 0,
            next: 0,
            edge: params.receive_buffer_bytes,
            board: Rare::default(),
            state: RecoveryState::Open,
            recover: 0,
            reduced_to: 0,
            reduction: None,
            limited_to: 0,
            duplicates: 0,
            lost_without_sack: 0,
            force: false,
            send_cwr: false,
            no_delay: false,
            small_to: 0,
            rtt: RttEstimator::new(params.rto_min_ps, params.rto_initial_ps),
            congestion: Congestion::new(params),
            tail: 0,
            last_sent: Time::ZERO,
            held: SendLimitClock::default(),
            rto_at: Time::MAX,
            probe_at: Time::MAX,
            reorder_at: Time::MAX,
            reorder_to: 0,
            persist_at: Time::MAX,
            probe: false,
            probe_to: 0,
            probe_copy: false,
            window_probe: false,
            window_probe_to: 0,
        }
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        assert!(bytes <= self.room(), "more was written than the send buffer has room for");
        self.written += bytes;
    }

    pub(crate) fn room(&self) -> u64 {
        self.buffer - (self.written - self.una)
    }

    pub(crate) fn unacknowledged(&self) -> u64 {
        self.written - self.una
    }

    /// Returns the bytes in flight, as far as they are known (the pipe of RFC 6675).
    pub(crate) fn in_flight(&self) -> u64 {
        let gone = self.board.get().map_or(0, |board| board.sacked_bytes() + board.lost_bytes());
        let out = self.next - self.una - gone;
        // Without SACK, each duplicate acknowledgement stands for a segment that has left the network.
        out - (self.duplicates * self.mss).min(out)
    }

    /// Returns the bytes that have arrived beyond the cumulative acknowledgement.
    #[inline]
    pub(super) fn sacked_bytes(&self) -> u64 {
        self.board.get().map_or(0, Scoreboard::sacked_bytes)
    }

    /// Returns the bytes that are lost and have not been sent again.
    #[inline]
    pub(super) fn lost_bytes(&self) -> u64 {
        self.board.get().map_or(0, Scoreboard::lost_bytes)
    }

    /// Writes the next segment with data to send into `segment`. Returns false if there is none.
    // A segment is written where it is needed, as an optional one would be copied by every function that returns it.
    pub(crate) fn next(&mut self, now: Time, segment: &mut Segment, counters: &mut Counters) -> bool {
        if self.una == self.written {
            self.held.set_limit(now, None, counters);
            return false;
        }
        // A closed window admits nothing else.
        if self.window_probe {
            *segment = self.probe_window(now, counters);
            return true;
        }
        // Lost data goes before new data (RFC 6675 section 4, NextSeg rule 1).
        if self.lost_bytes() > 0 && self.retransmit_lost(now, segment, counters) {
            return true;
        }
        if std::mem::take(&mut self.probe) && self.una < self.next {
            *segment = self.probe_tail(now, counters);
            return true;
        }
        self.send_new_data(now, segment, counters)
    }

    /// Writes a retransmission of lost data into `segment`. Returns false if the congestion window admits none.
    fn retransmit_lost(&mut self, now: Time, segment: &mut Segment, counters: &mut Counters) -> bool {
        let Some((start, end)) = self.board.get().and_then(Scoreboard::first_lost) else { return false };
        // Whole packets: a part of one would leave a new hole.
        let allowed = self.allowed() / self.mss * self.mss;
        let allowed = if self.force { allowed.max(self.mss) } else { allowed };
        let bytes = (end - start).min(self.tso).min(allowed);
        self.mark_limits(u64::MAX, end - start, allowed, counters);
        if bytes == 0 {
            return false;
        }
        self.force = false;
        self.board.make().send_again(start, start + bytes, self.mss, self.next);
        *segment = self.repeat_data(now, start, bytes, counters);
        true
    }

    /// Returns a segment that repeats data.
    fn repeat_data(&mut self, now: Time, sequence: u64, bytes: u64, counters: &mut Counters) -> Segment {
        counters.segments_retransmitted += 1;
        counters.packets_retransmitted += bytes.div_ceil(self.mss);
        counters.bytes_retransmitted += bytes;
        self.last_sent = now;
        self.start_timer(now);
        Segment { sequence, bytes: bytes as u32, sent: now, retransmitted: true, ..Segment::default() }
    }

    /// Returns the bytes that the congestion window admits. During a reduction these are its share of the bytes
    /// delivered (RFC 6937 section 3.1).
    pub(super) fn allowed(&self) -> u64 {
        let (window, flight) = (self.congestion.bytes(), self.in_flight());
        match &self.reduction {
            Some(reduction) if flight > window => {
                let share = u128::from(reduction.delivered) * u128::from(window);
                (share.div_ceil(u128::from(reduction.flight)) as u64).saturating_sub(reduction.sent)
            }
            _ => window.saturating_sub(flight),
        }
    }

    /// Writes a segment with new data into `segment`. Returns false if there is none or the windows do not admit it.
    fn send_new_data(&mut self, now: Time, segment: &mut Segment, counters: &mut Counters) -> bool {
        let waiting = self.written - self.next;
        if waiting == 0 {
            if self.room() == 0 {
                counters.met.set(Limit::SendBuffer);
            }
            // Linux wakes a writer when a third of the buffer is free (sk_stream_is_writeable).
            let full = self.room() < self.buffer / 3;
            self.held.set_limit(now, full.then_some(SendLimit::Buffer), counters);
            return false;
        }
        self.restart_after_idle(now);
        let open = self.edge - self.next;
        // A full packet, or all that is left (silly window avoidance of the sender).
        let least = waiting.min(self.mss);
        if open < least {
            self.held.set_limit(now, Some(SendLimit::Receiver), counters);
            counters.met.set(Limit::ReceiveBuffer);
            self.watch_window(now);
            return false;
        }
        let allowed = self.allowed();
        if allowed < least {
            self.hold_by_congestion(now, counters);
            return false;
        }
        self.held.set_limit(now, None, counters);
        self.mark_limits(waiting, open, allowed, counters);
        let bytes = waiting.min(self.tso).min(open).min(allowed);
        let hold = !self.no_delay && self.una < self.small_to;
        // Partial packets are sent only at the end of the data, and not while another one is in flight.
        let whole = (bytes < waiting || hold) && bytes != self.mss;
        let bytes = if whole { bytes / self.mss * self.mss } else { bytes };
        if bytes > 0 {
            *segment = self.new_segment(now, bytes, counters);
        }
        bytes > 0
    }

    /// Records that the congestion window holds data back from now on.
    fn hold_by_congestion(&mut self, now: Time, counters: &mut Counters) {
        self.held.set_limit(now, Some(SendLimit::Congestion), counters);
        // Acknowledgements below show that the window was the limit (see `may_grow`).
        self.limited_to = self.next;
        counters.met.set(Limit::CongestionWindow);
    }

    /// Returns true if only the congestion window holds new data back, and then records it as [`Sender::next`] would,
    /// which would return nothing. Otherwise nothing changes.
    #[inline]
    pub(crate) fn is_held_by_congestion(&mut self, now: Time, counters: &mut Counters) -> bool {
        let least = (self.written - self.next).min(self.mss);
        // Data in flight, so that no idle time resets the window; nothing to repair and nothing to probe.
        let calm = self.una < self.next && self.lost_bytes() == 0 && !self.probe && !self.window_probe;
        let held = calm && least > 0 && self.edge - self.next >= least && self.allowed() < least;
        if held {
            self.hold_by_congestion(now, counters);
        }
        held
    }

    /// Records the limits that make the next segment shorter than it could be.
    fn mark_limits(&self, waiting: u64, open: u64, allowed: u64, counters: &mut Counters) {
        let met = &mut counters.met;
        if waiting.min(open).min(allowed) > self.tso {
            met.set(Limit::Offload);
        }
        if waiting.min(open).min(self.tso) > allowed {
            met.set(Limit::CongestionWindow);
        }
        if open.min(allowed).min(self.tso) > waiting && self.room() == 0 {
            met.set(Limit::SendBuffer);
        }
    }

    /// Creates a segment with new data.
    #[inline]
    fn new_segment(&mut self, now: Time, bytes: u64, counters: &mut Counters) -> Segment {
        let sequence = self.next;
        // Idle time does not count for the curve of CUBIC (RFC 9438 section 5.8).
        if self.una == sequence {
            self.congestion.skip(now);
        }
        self.next += bytes;
        if let Some(reduction) = &mut self.reduction {
            reduction.sent += bytes;
        }
        // Speed only: most segments are one full packet, which needs no division.
        let (packets, rest) = if bytes == self.mss { (1, 0) } else { (bytes.div_ceil(self.mss), bytes % self.mss) };
        self.tail = sequence + (packets - 1) * self.mss;
        // Minshall: only one partial packet may be in flight.
        if rest > 0 {
            self.small_to = self.next;
        }
        counters.segments_sent += 1;
        counters.packets_sent += packets;
        counters.bytes_sent += bytes;
        self.last_sent = now;
        self.start_timer(now);
        self.schedule_probe(now);
        let reduced = std::mem::take(&mut self.send_cwr);
        Segment { sequence, bytes: bytes as u32, reduced, sent: now, ..Segment::default() }
    }

    /// Returns a tail loss probe (RFC 8985 section 7.3): a new segment if the receiver has room for it, otherwise the
    /// last one again.
    fn probe_tail(&mut self, now: Time, counters: &mut Counters) -> Segment {
        counters.probes += 1;
        self.probe_to = self.next;
        let bytes = (self.written - self.next).min(self.mss);
        self.probe_copy = bytes == 0 || self.edge - self.next < bytes;
        if self.probe_copy {
            // The last packet, or what of it is not acknowledged.
            let start = self.tail.max(self.una);
            return self.repeat_data(now, start, self.next - start, counters);
        }
        let segment = self.new_segment(now, bytes, counters);
        self.probe_to = self.next;
        // One probe until it is answered.
        self.probe_at = Time::MAX;
        segment
    }

    /// Probes a closed window (RFC 9293 section 3.8.6.1): sends the bytes that fit into a window smaller than a
    /// segment, or one byte beyond the window.
    fn probe_window(&mut self, now: Time, counters: &mut Counters) -> Segment {
        self.window_probe = false;
        let bytes = (self.edge - self.next).min(self.written - self.next).min(self.mss);
        counters.window_probes += 1;
        if bytes > 0 {
            return self.new_segment(now, bytes, counters);
        }
        self.window_probe_to = self.next + 1;
        self.last_sent = now;
        self.watch_window(now);
        Segment { sequence: self.next, bytes: 1, sent: now, ..Segment::default() }
    }

    /// Resets the congestion window after an idle time longer than the timeout (RFC 5681 section 4.1).
    fn restart_after_idle(&mut self, now: Time) {
        if self.una == self.next && now.since(self.last_sent) > self.rtt.rto_ps() {
            self.congestion.on_idle();
        }
    }
}
