//! Timers of the sending half: retransmission, tail loss, reordering, closed windows.

use super::scoreboard::Scoreboard;
use super::sender::{RecoveryState, Sender};
use super::Counters;
use hostnet_kernel::Time;

/// Longest delay assumed for the acknowledgement of a single packet, in ps (RFC 8985 section 7.2, WCDelAckT).
const ACK_DELAY_WORST_PS: u64 = 200_000_000_000;

impl Sender {
    /// Returns the time of the earliest timer; [`Time::MAX`] if none runs.
    pub(crate) fn timer(&self) -> Time {
        self.rto_at.min(self.probe_at).min(self.reorder_at).min(self.persist_at)
    }

    pub(crate) fn on_timer(&mut self, now: Time, counters: &mut Counters) {
        // Before the others: a loss found here ends probing.
        if now >= self.reorder_at {
            self.reorder_at = Time::MAX;
            self.board.make().lose_below(self.una, self.reorder_to);
            self.enter_recovery(counters);
            self.watch_reordering(now);
        }
        if now >= self.probe_at {
            self.probe_at = Time::MAX;
            self.probe = true;
        }
        if now >= self.rto_at {
            self.time_out(counters);
        }
        if now >= self.persist_at {
            self.persist_at = Time::MAX;
            self.window_probe = true;
            // The interval between probes doubles.
            self.rtt.back_off();
        }
    }

    /// Handles a retransmission timeout (RFC 6298 section 5): all data not known to have arrived is lost and is sent
    /// again, starting with a window of one segment.
    fn time_out(&mut self, counters: &mut Counters) {
        self.rto_at = Time::MAX;
        counters.timeouts += 1;
        // Recovery has halved the window for these losses already.
        self.congestion.on_timeout(self.state != RecoveryState::Open);
        self.rtt.back_off();
        self.board.make().lose_all(self.una, self.next);
        self.state = RecoveryState::Loss;
        self.recover = self.next;
        // An echo for data sent from now on may reduce the new window.
        self.reduced_to = self.una;
        self.duplicates = 0;
        // The first packet goes at once, whatever the window.
        self.force = true;
        self.probe = false;
        self.probe_copy = false;
        self.probe_at = Time::MAX;
        self.reorder_at = Time::MAX;
    }

    /// Starts the retransmission timer unless it runs.
    pub(super) fn start_timer(&mut self, now: Time) {
        if self.rto_at == Time::MAX {
            self.rto_at = now.saturating_add(self.rtt.rto_ps());
        }
    }

    /// Schedules a tail loss probe (RFC 8985 section 7.2). The probe of a single packet waits so long that the
    /// retransmission timeout mostly comes first.
    pub(super) fn schedule_probe(&mut self, now: Time) {
        self.probe_at = Time::MAX;
        let calm = self.state == RecoveryState::Open && self.sacked_bytes() == 0;
        // No second probe before the first one is answered.
        if !self.tail_loss_probe || !calm || self.una == self.next || self.una < self.probe_to {
            return;
        }
        let rtt_ps = self.rtt.smoothed_ps();
        // Without a sample only the timeout helps.
        if rtt_ps == 0 {
            return;
        }
        let alone = self.una >= self.tail;
        let wait_ps = 2 * rtt_ps + if alone { ACK_DELAY_WORST_PS } else { 0 };
        let at = now.saturating_add(wait_ps);
        // Later than the timeout it would never be sent.
        if at < self.rto_at {
            self.probe_at = at;
        }
    }

    /// Starts the reordering timer if a hole has too little beyond it to be considered lost. The hole is lost if
    /// nothing arrives for a quarter of the shortest round-trip time (RFC 8985 section 6.2).
    pub(super) fn watch_reordering(&mut self, now: Time) {
        match self.board.get().and_then(Scoreboard::doubtful_to) {
            None => self.reorder_at = Time::MAX,
            Some(limit) => {
                // The reordering timer takes the place of the probe.
                self.probe_at = Time::MAX;
                if self.reorder_at == Time::MAX {
                    let least_ps = self.rtt.least_ps();
                    let wait_ps = if least_ps == u64::MAX { self.rtt.rto_ps() } else { least_ps };
                    self.reorder_at = now.saturating_add((wait_ps / 4).max(1));
                    self.reorder_to = limit;
                }
            }
        }
    }

    /// Starts the timer of a window probe, if nothing is in flight that could open the window.
    pub(super) fn watch_window(&mut self, now: Time) {
        // With data in flight its acknowledgement will carry the window.
        if self.una == self.next && self.persist_at == Time::MAX {
            self.persist_at = now.saturating_add(self.rtt.rto_ps());
        }
    }
}
