//! Names the bottleneck of a workload by occupancy and utilization, where no prediction covers the server.
//!
//! Backpressure runs upstream: a credit is held until the next stage has taken the line. So a full pool says only that
//! the limit lies there or further downstream, while a saturated link or channel is a limit by itself: nothing
//! downstream can make it busy.

use crate::limits::CHANNEL;
use serde::{Deserialize, Serialize};

/// A pool that is full for at least this share of time may be the limit: its senders wait more often than not.
const FULL: f64 = 0.5;
/// A rate of which at least this share is used is the limit: the rest is less than its own jitter.
const NEAR: f64 = 1.0;
/// This is for a rate whose own queue is full. Of a channel the rest goes to rows that even a longer queue would not
/// open in time; below this share, a longer queue would show the scheduler more banks. A link sends in bursts and idles
/// between them.
const NEAR_BEHIND_QUEUE: f64 = 0.9;
/// A pool that is full for at least this share of time is named where nothing is full or near its rate.
pub const OFTEN: f64 = 0.2;
/// The queues of rates: lines that wait for a rate hold entries of these.
const QUEUES: [(&str, &str); 3] = [("RPQ", CHANNEL), ("WPQ", CHANNEL), ("CHA->UPI", "UPI link")];

/// A stage on the path of a workload's lines, at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Name of the limit in answers.
    pub limit: String,
    /// Where it is: `socket 0`, `channel 3`, `upi 0-1`.
    pub place: String,
    /// Nearness to its limit.
    pub load: Load,
}

/// Nearness of a stage to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Credits: how far downstream their receiver is, and the share of time that none is left.
    Pool {
        /// Steps from the sender.
        depth: u8,
        /// Share of time without a free credit.
        full: f64,
    },
    /// A rate: the share that is used of what is achievable in practice.
    Rate {
        /// Share of that.
        used: f64,
    },
}

impl Stage {
    /// A pool, `depth` steps downstream, that is full for a share of time.
    #[must_use]
    pub fn pool(limit: impl Into<String>, place: impl Into<String>, depth: u8, full: f64) -> Self {
        Self { limit: limit.into(), place: place.into(), load: Load::Pool { depth, full } }
    }

    /// A rate of which a share is used, where `most` of it is achievable in practice.
    #[must_use]
    pub fn rate(limit: impl Into<String>, place: impl Into<String>, used: f64, most: f64) -> Self {
        Self { limit: limit.into(), place: place.into(), load: Load::Rate { used: used / most } }
    }

    /// Ranks a stage by how far downstream it is, as far as a full pool tells: a rate is behind every pool.
    fn rank(&self) -> (u8, f64) {
        match self.load {
            Load::Pool { depth, full } => (depth, full),
            Load::Rate { used } => (u8::MAX, used),
        }
    }

    fn is_queue_of(&self, rate: &Self) -> bool {
        QUEUES.contains(&(self.limit.as_str(), rate.limit.as_str()))
    }

    fn is_from(&self, full: f64, near: f64) -> bool {
        match self.load {
            Load::Pool { full: share, .. } => share >= full,
            Load::Rate { used } => used >= near,
        }
    }

    /// Returns where it is and how close to its limit, in words that follow its name.
    #[must_use]
    pub fn in_words(&self) -> String {
        let place = &self.place;
        match self.load {
            Load::Pool { full, .. } => {
                format!("at {place}, full {:.0} % of the time where it is fullest", 100.0 * full)
            }
            Load::Rate { used } => {
                let of = if self.limit == CHANNEL { ", turns between reads and writes included" } else { "" };
                format!("at {place}, {:.0} % of usable bandwidth used{of}", 100.0 * used.min(1.0))
            }
        }
    }
}

/// Finds the stage that limits a workload with these on its path; nothing if none is near its limit.
///
/// It is the most downstream one that is full. If several rates are saturated, it is the one closest to its limit.
#[must_use]
pub fn limiting(stages: &[Stage]) -> Option<&Stage> {
    let queued = |rate: &Stage| stages.iter().any(|stage| stage.is_queue_of(rate) && stage.is_from(FULL, NEAR));
    let near = |stage: &Stage| if queued(stage) { NEAR_BEHIND_QUEUE } else { NEAR };
    let most_downstream = |full: f64| {
        let full = stages.iter().filter(|stage| stage.is_from(full, near(stage)));
        full.max_by(|a, b| {
            let ((a, near_a), (b, near_b)) = (a.rank(), b.rank());
            a.cmp(&b).then(near_a.total_cmp(&near_b))
        })
    };
    most_downstream(FULL).or_else(|| most_downstream(OFTEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(stages: &[Stage]) -> Option<(&str, &str)> {
        limiting(stages).map(|stage| (stage.limit.as_str(), stage.place.as_str()))
    }

    fn pool(limit: &str, depth: u8, full: f64) -> Stage {
        Stage::pool(limit, "socket 0", depth, full)
    }

    #[test]
    fn the_most_downstream_full_pool_is_the_limit() {
        let stages = [pool("LFB", 0, 1.0), pool("CHA TOR", 2, 0.98), pool("RPQ", 7, 0.1)];
        assert_eq!(named(&stages), Some(("CHA TOR", "socket 0")));
        let behind = [&stages[..], &[Stage::pool("CHA TOR", "socket 1", 5, 0.6)]].concat();
        assert_eq!(named(&behind), Some(("CHA TOR", "socket 1")), "the home of the lines holds the others up");
    }

    #[test]
    fn a_rate_near_its_most_is_behind_every_pool() {
        let bus = |used| Stage::rate("DRAM channel", "channel 2", used, 0.9);
        let full = [pool("LFB", 0, 1.0), pool("RPQ", 7, 1.0)];
        assert_eq!(named(&[&full[..], &[bus(0.8)]].concat()), Some(("RPQ", "socket 0")));
        assert_eq!(named(&[&full[..], &[bus(0.82)]].concat()), Some(("DRAM channel", "channel 2")));
        assert_eq!(named(&[full[0].clone(), bus(0.89)]), Some(("LFB", "socket 0")), "its queue has room");
        assert_eq!(named(&[&full[..], &[bus(0.91)]].concat()), Some(("DRAM channel", "channel 2")));
        let both = [bus(0.91), Stage::rate("UPI link", "upi 0-1", 0.99, 0.95)];
        assert_eq!(named(&both), Some(("UPI link", "upi 0-1")), "the nearest to its most");
    }

    #[test]
    fn a_wire_that_is_nearly_full_is_behind_the_entries_of_its_lines() {
        let wire = |used| Stage::rate("UPI link", "upi 1-0", used, 0.95);
        let stages = |held, used| [pool("P2M-Write", 1, 1.0), pool("CHA->UPI", 3, held), wire(used)];
        assert_eq!(named(&stages(0.64, 0.912)), Some(("UPI link", "upi 1-0")));
        assert_eq!(named(&stages(0.64, 0.85)), Some(("CHA->UPI", "socket 0")), "the wire has room");
        assert_eq!(named(&stages(0.3, 0.912)), Some(("P2M-Write", "socket 0")), "its lines have entries");
    }

    #[test]
    fn pools_that_are_often_full_are_named_where_none_is_full_and_else_nothing_is() {
        assert_eq!(named(&[pool("LFB", 0, 0.4), pool("WPQ", 7, 0.1)]), Some(("LFB", "socket 0")));
        assert_eq!(named(&[pool("LFB", 0, 0.4), pool("WPQ", 7, 0.3)]), Some(("WPQ", "socket 0")));
        assert_eq!(named(&[pool("LFB", 0, 0.1)]), None);
        assert_eq!(named(&[]), None);
    }
}
