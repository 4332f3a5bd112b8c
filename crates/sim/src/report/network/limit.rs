//! Limits of classes of traffic.

use hostnet_analysis::explain::OutsideLimit;

/// Utilization at or above which a cable is full and a core is always busy, 0 to 1.
pub(super) const FULL: f64 = 0.95;
/// Share of time at or above which waiting for pauses, or for descriptors, is a limit.
pub(super) const WAIT: f64 = 0.05;

/// Bus utilization at or above which a channel is full: turnarounds between reads and writes leave no more.
pub(super) const BUS_FULL: f64 = 0.8;
/// Share of its time at or above which an activity of ranks is their limit.
pub(super) const MOST: f64 = 0.8;

/// Share of the arriving packets at or above which a port counts as dropping packets.
pub(super) const DROPPED: f64 = 0.001;

/// Limit of a traffic class.
#[derive(Clone)]
pub(crate) struct TrafficLimit {
    /// Name of the limit, as in column `limit` of the table `limits`.
    pub(crate) limit: &'static str,
    /// Host, switch or cable of the limit, or empty.
    pub(crate) place: String,
    /// Utilization, share of time or share of packets that the limit rests on, 0 to 1; `None` if it rests on none of
    /// these.
    pub(crate) load: Option<f64>,
    /// Evidence, in words.
    pub(crate) why: String,
}

/// Returns the limit with the highest load, and adds to its words at which other places it holds as well.
pub(super) fn worst_limit(limits: impl Iterator<Item = TrafficLimit>) -> Option<TrafficLimit> {
    let mut found: Vec<TrafficLimit> = limits.collect();
    // A stable sort: equal loads stay in the order of the hosts, so that the words do not change.
    found.sort_by(|one, other| other.load.unwrap_or(0.0).total_cmp(&one.load.unwrap_or(0.0)));
    let others: Vec<String> = found.iter().skip(1).map(|limit| limit.place.clone()).collect();
    let mut worst_limit = found.into_iter().next()?;
    match &others[..] {
        [] => {}
        [other] => worst_limit.why += &format!("; the same at {other}"),
        [other, more @ ..] => worst_limit.why += &format!("; the same at {other} and {} more", more.len()),
    }
    Some(worst_limit)
}

/// A traffic class, by name, and its limit.
pub(crate) struct ClassLimit<'a> {
    pub(crate) class: &'a str,
    pub(super) limit: TrafficLimit,
}

/// Limits that may lie in the memory system of a server, whose own stages say more.
const IN_HOST: [&str; 3] = ["host network", "PCIe", "memory bandwidth"];

impl ClassLimit<'_> {
    /// Returns the limit as it is reported at the server `host`.
    pub(crate) fn at(&self, host: &str) -> OutsideLimit {
        let TrafficLimit { limit, place, why, .. } = &self.limit;
        OutsideLimit { limit: (*limit).to_owned(), why: why.clone(), in_host: place == host && IN_HOST.contains(limit) }
    }
}

/// Name of the limit where it is not known.
pub(super) const NOT_KNOWN: &str = "not known";

/// Creates a limit that is not known, with the reason.
pub(super) fn not_known(load: Option<f64>, why: String) -> TrafficLimit {
    TrafficLimit { limit: NOT_KNOWN, place: String::new(), load, why }
}
