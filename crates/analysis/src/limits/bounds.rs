//! Names what bounds the load that storage offers.

use super::list::LIMITS;
use crate::offered::{offered_gb_per_s, LINKS};
use hostnet_model::params::ServerParams;

/// Least change of the offered load, as a share, that shows that a bound matters.
const BINDS: f64 = 0.05;

/// Names the bounds of the load that storage workload `class` offers: each one that takes more than half of a tenth
/// off the load when it is lowered by a tenth, and the commands in flight if doubling them adds that much.
#[must_use]
pub fn offer_bounds_in_words(server: &ServerParams, class: usize) -> Vec<String> {
    let Some(offered) = offered_gb_per_s(server, class) else { return Vec::new() };
    let with = |changes: &[&str], factor: f64| {
        let mut changed = server.clone();
        for limit in LIMITS.iter().filter(|limit| changes.contains(&limit.key())) {
            changed = limit.raised(&changed, factor);
        }
        offered_gb_per_s(&changed, class).unwrap_or(0.0)
    };
    let binds = |key: &str| match key {
        // Counts are rounded up, so a tenth less leaves a depth below 10 as it is: double it instead.
        "iodepth" => with(&[key], 2.0) > (1.0 + BINDS) * offered,
        key => with(&[key], 0.9) < (1.0 - BINDS) * offered,
    };
    BOUNDS.iter().filter(|(key, _)| binds(key)).map(|(_, words)| (*words).to_owned()).collect()
}

/// Possible bounds of the offered load: the key of each limit and its name in answers.
const BOUNDS: [(&str, &str); 4] = [
    ("ssd.read_bandwidth", "bandwidth of its drives"),
    ("pcie.lanes", LINKS),
    ("rate", "its rate"),
    ("iodepth", "commands in flight"),
];
