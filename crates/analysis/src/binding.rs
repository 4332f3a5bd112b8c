//! Which domain on the path of a workload is fullest: all there is to say where nobody knows what would help it.
//!
//! It is the one that is full the largest fraction of time, if that is at least half of it. Where no domain is, the
//! workload has what it offers, or its cores are the limit. [`limits`](crate::limits) says more.

use serde::Serialize;

/// Share of time from which on a full domain binds.
pub const FULL_SHARE_MIN: f64 = 0.5;

/// Two domains whose shares differ by no more than this bind together.
pub const TIE: f64 = 0.05;

/// Decimal fractions are not exact in binary: a difference on the limit counts as within it.
const ROUNDING: f64 = 1e-9;

/// What binds a workload that asks for no more than it gets.
pub const OFFERED_LOAD: &str = "offered load";

/// What binds a stream whose cores have entries to spare now and then, though nothing else holds it back.
pub const CORE: &str = "core";

/// Share of the rate that its gap allows from which on the gap limits a stream: the rest is jitter.
const GAP_REACHED: f64 = 0.9;

/// Power of the mean occupancy that comes closest to the share of time full, see [`full_share_estimate`].
const FULLNESS_EXPONENT: i32 = 8;

/// What binds a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Binding {
    /// The domains, two if they are equally full; or `offered load`, or `core`.
    pub domains: Vec<&'static str>,
    /// Share of time that the first of them is full; if none binds, that of the fullest on the path.
    pub full_share: f64,
}

/// What binds a workload whose path has these domains, each with the share of time that it is full; `otherwise` if none
/// does.
#[must_use]
pub fn binding(candidates: &[(&'static str, f64)], otherwise: &'static str) -> Binding {
    let mut sorted = candidates.to_vec();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    let full_share = sorted.first().map_or(0.0, |first| first.1);
    if full_share < FULL_SHARE_MIN {
        return Binding { domains: vec![otherwise], full_share };
    }
    let equal = sorted.iter().take(2).filter(|(_, share)| full_share - share <= TIE + ROUNDING);
    Binding { domains: equal.map(|(domain, _)| *domain).collect(), full_share }
}

/// The domain in which the LFB entries of a stream spend more time.
#[must_use]
pub fn lfb_domain(read_in_use: f64, write_in_use: f64) -> &'static str {
    if write_in_use > read_in_use {
        "C2M-Write"
    } else {
        "C2M-Read"
    }
}

/// What binds a stream that no domain binds: its gap, where it is longer than what the core needs and reached, or the
/// core. `accesses_per_ps` is the rate of one core.
#[must_use]
pub fn stream_otherwise(gap_ps: u64, issue_ps: u64, accesses_per_ps: f64) -> &'static str {
    if gap_ps > issue_ps && accesses_per_ps * gap_ps as f64 >= GAP_REACHED {
        OFFERED_LOAD
    } else {
        CORE
    }
}

/// The share of time that a pool is full, told from its mean occupancy alone: `(in_use / credits)^8`, so that 92% in
/// use on average mean full half of the time.
///
/// Counters of hardware tell no more. The power is that of simulated LFB and IIO pools, where it is right within 0.15.
#[must_use]
pub fn full_share_estimate(in_use: f64, credits: f64) -> f64 {
    if credits > 0.0 {
        (in_use / credits).clamp(0.0, 1.0).powi(FULLNESS_EXPONENT)
    } else {
        0.0
    }
}
