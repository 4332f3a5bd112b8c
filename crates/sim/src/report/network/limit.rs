//! A limit of a class of traffic.

use hostnet_analysis::explain::OutsideLimit;

/// A cable is full, a core is busy, from this share on.
pub(super) const FULL: f64 = 0.95;
/// Packets wait for pauses, or for descriptors, when they do so for this share of time.
pub(super) const WAIT: f64 = 0.05;

/// A channel is full when its bus is busy for this share of the time: reads and writes in turn leave no more.
pub(super) const BUS_FULL: f64 = 0.8;
/// Ranks do little else than this when it takes so much of their time.
pub(super) const MOST: f64 = 0.8;

/// A port counts as dropping packets if it drops at least this share of the arriving ones.
pub(super) const DROPPED: f64 = 0.001;

/// What limits a class.
#[derive(Clone)]
pub(crate) struct Limit {
    pub(crate) limit: &'static str,
    pub(crate) place: String,
    pub(crate) load: Option<f64>,
    pub(crate) why: String,
}

/// Of the same limit at several hosts, the one that is nearest to full, and how many others there are.
pub(super) fn worst(limits: impl Iterator<Item = Limit>) -> Option<Limit> {
    let mut found: Vec<Limit> = limits.collect();
    found.sort_by(|one, other| other.load.unwrap_or(0.0).total_cmp(&one.load.unwrap_or(0.0)));
    let others: Vec<String> = found.iter().skip(1).map(|limit| limit.place.clone()).collect();
    let mut worst = found.into_iter().next()?;
    match &others[..] {
        [] => {}
        [other] => worst.why += &format!("; the same at {other}"),
        [other, more @ ..] => worst.why += &format!("; the same at {other} and {} more", more.len()),
    }
    Some(worst)
}

/// A class by its name, and what limits it.
pub(crate) struct ClassLimit<'a> {
    pub(crate) class: &'a str,
    pub(super) limit: Limit,
}

/// Limits at a server that its memory system may say more of.
const IN_HOST: [&str; 3] = ["host network", "PCIe", "memory bandwidth"];

impl ClassLimit<'_> {
    /// As a server of that name tells it of the class.
    pub(crate) fn at(&self, host: &str) -> OutsideLimit {
        let Limit { limit, place, why, .. } = &self.limit;
        OutsideLimit { limit: (*limit).to_owned(), why: why.clone(), in_host: place == host && IN_HOST.contains(limit) }
    }
}

/// What limits something whose limit is not known.
pub(super) const NOT_KNOWN: &str = "not known";

/// Returns the limit of something whose limit is not known, and why.
pub(super) fn not_known(load: Option<f64>, why: String) -> Limit {
    Limit { limit: NOT_KNOWN, place: String::new(), load, why }
}
