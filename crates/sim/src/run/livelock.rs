//! Detects livelocks: events follow each other while simulated time hardly advances and no lines or packets move.

use hostnet_kernel::Progress;

/// Minimum number of events before a livelock is suspected: about a second of work.
const EVENTS_MIN: u64 = 1 << 22;
/// Events per pending event that a healthy run may handle at almost the same time, as many flows may start together.
const EVENTS_PER_PENDING: u64 = 16;

/// Progress of a run since the last check.
#[derive(Clone, Copy, Debug)]
pub(super) struct LivelockDetector {
    since: Progress,
    /// Total that had moved at the last check, if the run has crept since the check before.
    moved: Option<u64>,
}

impl LivelockDetector {
    /// Starts to watch a run.
    pub(super) fn begin(progress: Progress) -> Self {
        Self { since: progress, moved: None }
    }

    /// Returns true if the run creeps. An event takes at least 1 ps, so time that advances by no more than that per
    /// event means events that only follow each other. `pending` is the number of pending events.
    pub(super) fn is_creeping(&mut self, progress: Progress, pending: usize) -> bool {
        let events = progress.events - self.since.events;
        if events < EVENTS_MIN.max(EVENTS_PER_PENDING * pending as u64) {
            return false;
        }
        let creeps = progress.time.since(self.since.time) <= events;
        if !creeps {
            *self = Self::begin(progress);
        }
        creeps
    }

    /// Returns true if a creeping run still moves lines or packets. `moved` is the total that it has moved since its
    /// start.
    pub(super) fn still_moves(&mut self, progress: Progress, moved: u64) -> bool {
        let before = self.moved.replace(moved);
        // The next check covers another full span of events from here.
        self.since = progress;
        // The first call has nothing to compare with, so a livelock takes two checks.
        before != Some(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostnet_kernel::Time;

    /// Returns the turn, of up to 100 turns of `events` and `ps` each, after which a run with `pending` events ends
    /// as a livelock.
    fn ends_after(events: u64, ps: u64, pending: usize, mut moved: impl FnMut(u64) -> u64) -> Option<u64> {
        let at = |turn: u64| Progress { time: Time::from_ps(turn * ps), events: turn * events };
        let mut livelock = LivelockDetector::begin(at(0));
        (1..100).find(|&turn| livelock.is_creeping(at(turn), pending) && !livelock.still_moves(at(turn), moved(turn)))
    }

    #[test]
    fn a_livelock_is_a_run_that_creeps_and_moves_nothing() {
        let turn = EVENTS_MIN;
        assert_eq!(ends_after(turn, turn, 10, |_| 0), Some(2), "a single event that sends itself every ps");
        assert_eq!(ends_after(turn, 0, 10, |_| 7), Some(2), "time stands still");
        assert_eq!(ends_after(turn, turn + 1, 10, |_| 0), None, "time goes on");
        assert_eq!(ends_after(turn, 1, 10, |turn| turn), None, "lines move");
    }

    #[test]
    fn many_pending_events_may_happen_at_one_time() {
        let pending = (4 * EVENTS_MIN / EVENTS_PER_PENDING) as usize;
        assert_eq!(ends_after(EVENTS_MIN, 0, pending, |_| 0), Some(8), "after two turns of four");
        assert_eq!(ends_after(EVENTS_MIN, 0, 100 * pending, |_| 0), None);
    }
}
