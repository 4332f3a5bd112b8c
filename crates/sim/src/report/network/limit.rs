//! A limit of a class of traffic.

/// A cable is full, a core is busy, from this share on.
pub(super) const FULL: f64 = 0.95;
/// Packets wait for pauses, or for descriptors, when they do so for this share of time.
pub(super) const WAIT: f64 = 0.05;

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
