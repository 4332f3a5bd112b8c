//! Names the bottleneck of a workload from occupancy and utilization, for servers that no prediction covers.
//!
//! Backpressure propagates upstream: a credit is held until the next stage has taken the line. A full pool therefore
//! says only that the limit is at the pool or further downstream. A saturated link or channel is a limit by itself,
//! because nothing downstream can make it busy.

use crate::binding::CHANNEL;
use serde::{Deserialize, Serialize};

/// Share of time full at or above which a pool may be the limit: its senders wait more often than not.
const FULL: f64 = 0.5;
/// Share of its usable bandwidth at or above which a rate is the limit: what is left is less than its own jitter.
const NEAR: f64 = 1.0;
/// Like [`NEAR`], but for a rate whose own queue is full. On a channel the rest goes to rows that even a longer queue
/// would not open in time; below this share, a longer queue would show the scheduler more banks. A link sends in bursts
/// and idles between them.
const NEAR_BEHIND_QUEUE: f64 = 0.9;
/// Share of time full at or above which a pool is named if no pool is full half of the time and no rate is near its
/// limit.
pub const OFTEN: f64 = 0.2;
/// Queues of rates: the pool whose entries are held by the lines that wait for the rate.
const QUEUES: [(&str, &str); 3] = [("RPQ", CHANNEL), ("WPQ", CHANNEL), ("CHA->UPI", "UPI link")];

/// A stage on the path of a workload's lines, at one place of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Name of the limit in answers.
    pub limit: String,
    /// Place of the stage: `socket 0`, `channel 3`, `upi 0-1`.
    pub place: String,
    /// Load of the stage relative to its limit.
    pub load: Load,
}

/// Load of a stage relative to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// A pool of credits.
    Pool {
        /// Number of steps downstream from the sender.
        depth: u8,
        /// Share of time without a free credit, 0 to 1.
        full: f64,
    },
    /// A bandwidth or another rate.
    Rate {
        /// Share in use of the rate that is achievable in practice.
        used: f64,
    },
}

impl Stage {
    /// Creates a pool `depth` steps downstream that is full for a share `full` of the time.
    #[must_use]
    pub fn pool(limit: impl Into<String>, place: impl Into<String>, depth: u8, full: f64) -> Self {
        Self { limit: limit.into(), place: place.into(), load: Load::Pool { depth, full } }
    }

    /// Creates a rate of which a share `used` is in use, where at most `most` is achievable in practice.
    #[must_use]
    pub fn rate(limit: impl Into<String>, place: impl Into<String>, used: f64, most: f64) -> Self {
        Self { limit: limit.into(), place: place.into(), load: Load::Rate { used: used / most } }
    }

    /// Ranks the stage by its distance downstream, then by its load. A rate ranks behind every pool.
    fn rank(&self) -> (u8, f64) {
        match self.load {
            Load::Pool { depth, full } => (depth, full),
            // Nothing downstream can make a link or a bus busy, so a saturated rate is itself the bottleneck.
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

    /// Describes the place of the stage and its load, in words that follow its name.
    #[must_use]
    pub fn in_words(&self) -> String {
        let place = &self.place;
        match self.load {
            Load::Pool { full, .. } => {
                format!("at {place}, full {:.0} % of the time where it is fullest", 100.0 * full)
            }
            Load::Rate { used } => {
                // `used` is relative to the share that is reached in practice, so it may exceed 1.
                let of = if self.limit == CHANNEL { ", read-write turnarounds included" } else { "" };
                format!("at {place}, {:.0} % of usable bandwidth used{of}", 100.0 * used.min(1.0))
            }
        }
    }
}

/// Returns the stage that limits a workload with `stages` on its path, or `None` if no stage is near its limit.
///
/// It is the most downstream stage near its limit. A rate counts as downstream of every pool; of several saturated
/// rates, the one with the largest share in use is returned.
#[must_use]
pub fn limiting(stages: &[Stage]) -> Option<&Stage> {
    let queued = |rate: &Stage| stages.iter().any(|stage| stage.is_queue_of(rate) && stage.is_from(FULL, NEAR));
    // A rate whose own queue is full has requests waiting, so it is the limit at a lower utilization already.
    let near = |stage: &Stage| if queued(stage) { NEAR_BEHIND_QUEUE } else { NEAR };
    let most_downstream = |full: f64| {
        let full = stages.iter().filter(|stage| stage.is_from(full, near(stage)));
        full.max_by(|a, b| {
            // Backpressure fills pools upstream of the bottleneck, so the most downstream full one is nearest to it.
            let ((a, near_a), (b, near_b)) = (a.rank(), b.rank());
            a.cmp(&b).then(near_a.total_cmp(&near_b))
        })
    };
    // Pools that are full less than half of the time count only if no stage is at its limit (docs/domains.md, rule 3).
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
