//! Finds the fullest domain on the path of a workload, for servers whose limits cannot be predicted.
//!
//! A domain binds if it is full for the largest share of time on the path and for at least half of the time. If no
//! domain binds, the workload gets all that it offers or its cores are the limit. [`limits`](crate::limits) says
//! more.

use serde::Serialize;

/// Share of time, 0 to 1, at or above which a full domain binds.
pub const FULL_SHARE_MIN: f64 = 0.5;

/// Largest difference between the shares of time full of two domains that bind together.
pub const TIE: f64 = 0.05;

/// Decimal fractions are not exact in binary: a difference equal to [`TIE`] must still count as a tie.
const ROUNDING: f64 = 1e-9;

/// Limit of a workload that gets all the throughput that it offers.
pub const OFFERED_LOAD: &str = "offered load";

/// Limit of a stream whose cores have free LFB entries now and then while no domain on its path is full.
pub const CORE: &str = "core";

/// Name of the line fill buffers, whose entries hold the misses of a core.
pub const LFB: &str = "LFB";
/// Name of the lines in flight that a core die allows its cores.
pub const CCD: &str = "CCD";
/// Name of the buses of the memory channels.
pub const CHANNEL: &str = "DRAM channel";

/// Name given to the limit of a workload if no named limit explains it.
pub const NOT_KNOWN: &str = "not known";

/// Share of the rate allowed by the gap of a stream, 0 to 1, at or above which the gap limits the stream: the rest is
/// jitter.
const GAP_REACHED: f64 = 0.9;

/// Exponent that turns mean occupancy into the share of time full, see [`full_share_estimate`].
const FULLNESS_EXPONENT: i32 = 8;

/// Domain, or other limit, that binds a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Binding {
    /// Names of the binding domains (two if they tie), or [`OFFERED_LOAD`] or [`CORE`].
    pub domains: Vec<&'static str>,
    /// Share of time, 0 to 1, that the fullest domain on the path is full, even if it does not bind.
    pub full_share: f64,
}

/// Returns the domain that binds a workload, or `otherwise` if none is full often enough.
///
/// `candidates` are the domains on the path of the workload, each with the share of time that it is full.
#[must_use]
pub fn binding(candidates: &[(&'static str, f64)], otherwise: &'static str) -> Binding {
    // The sort is stable, so equal shares keep the order of `candidates` and the answer does not depend on chance.
    let mut sorted = candidates.to_vec();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    let full_share = sorted.first().map_or(0.0, |first| first.1);
    // From half of the time on, senders wait more often than not (docs/domains.md, Where nothing is predicted).
    if full_share < FULL_SHARE_MIN {
        return Binding { domains: vec![otherwise], full_share };
    }
    let equal = sorted.iter().take(2).filter(|(_, share)| full_share - share <= TIE + ROUNDING);
    Binding { domains: equal.map(|(domain, _)| *domain).collect(), full_share }
}

/// Returns the domain in which the LFB entries of a stream spend more time, given the mean entries in use of each.
#[must_use]
pub fn lfb_domain(read_in_use: f64, write_in_use: f64) -> &'static str {
    // Every access begins with a read, also that of a store, so a tie (such as no traffic) counts as reads.
    if write_in_use > read_in_use {
        "C2M-Write"
    } else {
        "C2M-Read"
    }
}

/// Returns the limit of a stream on whose path no domain binds: the offered load if its gap exceeds the issue time of
/// the core and the stream reaches the rate that the gap allows, else the core.
///
/// `accesses_per_ps` is the rate of one core.
#[must_use]
pub fn stream_otherwise(gap_ps: u64, issue_ps: u64, accesses_per_ps: f64) -> &'static str {
    // A gap up to the issue time is hidden behind the issue, so the core sets the pace.
    if gap_ps > issue_ps && accesses_per_ps * gap_ps as f64 >= GAP_REACHED {
        OFFERED_LOAD
    } else {
        CORE
    }
}

/// Estimates the share of time that a pool is full from its mean occupancy alone, as `(in_use / credits)^8`: a mean
/// occupancy of 92 % gives half of the time.
///
/// Hardware counters give no more than the mean. The exponent was fitted to simulated LFB and IIO pools, where the
/// estimate is within 0.15.
#[must_use]
pub fn full_share_estimate(in_use: f64, credits: f64) -> f64 {
    if credits > 0.0 {
        // Multiplexed counters are scaled estimates, so the mean occupancy of a full pool may exceed its credits.
        (in_use / credits).clamp(0.0, 1.0).powi(FULLNESS_EXPONENT)
    } else {
        0.0
    }
}
