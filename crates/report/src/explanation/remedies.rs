//! Effects of changes of a server, as an explanation has them.

use crate::numbers::format_general;
use hostnet_analysis::limits::{Scale, LIMITS};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Changes below this fraction count as none.
pub(super) const NO_GAIN: f64 = 0.01;

/// Effects of all changes on every workload.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Remedies {
    /// `predict` or `run`.
    pub(super) engine: String,
    /// Workload whose gain orders the steps.
    pub(super) workload: String,
    pub(super) steps: Vec<Step>,
}

/// A change of a server and its effect.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Step {
    /// Description of the limit.
    pub(super) what: String,
    /// Key of the configuration.
    pub(super) path: String,
    /// Value of the key; empty if the change is not that of a single key.
    pub(super) before: String,
    #[serde(default)]
    pub(super) after: String,
    /// Factor by which the limit is raised; 1 for changes that are no multiple.
    pub(super) factor: f64,
    /// Relative change of the throughput of each workload.
    pub(super) gains: BTreeMap<String, f64>,
    /// Simulated change beside a predicted one.
    pub(super) confirmed: Option<BTreeMap<String, f64>>,
    /// Half-widths of the 95 % intervals of simulated changes.
    #[serde(default)]
    pub(super) noise: Option<BTreeMap<String, f64>>,
}

impl Step {
    /// Returns the simulated changes, if there are any.
    pub(super) fn confirmed(&self) -> Option<&BTreeMap<String, f64>> {
        self.confirmed.as_ref().filter(|gains| !gains.is_empty())
    }

    /// Returns the most reliable changes.
    pub(super) fn surest(&self) -> &BTreeMap<String, f64> {
        self.confirmed().unwrap_or(&self.gains)
    }

    /// Returns the half-width of the interval of the gain of a workload.
    pub(super) fn noise(&self, workload: &str) -> Option<f64> {
        self.noise.as_ref()?.get(workload).copied()
    }
}

/// Returns a gain; 0 if it counts as none.
pub(super) fn counted_gain(gain: f64) -> f64 {
    if gain.abs() < NO_GAIN {
        0.0
    } else {
        gain
    }
}

/// Groups steps by the limit that they raise, in the order of their first steps.
pub(super) fn group_by_limit<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Vec<Vec<&'a Step>> {
    let mut limits: Vec<Vec<&Step>> = Vec::new();
    for step in steps {
        match limits.iter_mut().find(|limit| limit[0].path == step.path) {
            Some(limit) => limit.push(step),
            None => limits.push(vec![step]),
        }
    }
    limits
}

/// Returns the step of a limit with a factor.
pub(super) fn step_by<'a>(limit: &[&'a Step], factor: f64) -> Option<&'a Step> {
    limit.iter().rev().find(|step| step.factor == factor).copied()
}

/// Returns the factors of steps in ascending order.
pub(super) fn sorted_factors(steps: &[&Step]) -> Vec<f64> {
    let mut factors: Vec<f64> = steps.iter().map(|step| step.factor).collect();
    factors.sort_by(f64::total_cmp);
    factors.dedup();
    factors
}

/// Returns " / " and the factors if raising a limit divides the value of its key; else an empty text.
pub(super) fn divided_text(limit: &[&Step]) -> String {
    let keys = || LIMITS.iter().flat_map(|limit| limit.keys);
    if !keys().any(|key| key.path == limit[0].path && key.scale == Scale::Less) {
        return String::new();
    }
    let factors: Vec<String> = sorted_factors(limit).into_iter().map(|factor| format_general(factor, 6)).collect();
    format!(" / {}", factors.join(", / "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(path: &str, factor: f64) -> Step {
        let (gains, path) = (BTreeMap::new(), path.to_owned());
        let (what, before, after) = (path.clone(), "8".to_owned(), "10".to_owned());
        Step { what, path, before, after, factor, gains, confirmed: None, noise: None }
    }

    #[test]
    fn a_cost_is_divided_and_a_count_is_not() {
        let cost =
            LIMITS.iter().flat_map(|limit| limit.keys).find(|key| key.scale == Scale::Less).expect("one is a cost");
        let (once, twice) = (step(cost.path, 4.0), step(cost.path, 1.25));
        assert_eq!(divided_text(&[&once, &twice]), " / 1.25, / 4");
        assert_eq!(divided_text(&[&step("core.count", 2.0)]), "");
    }

    #[test]
    fn steps_of_a_limit_are_one_group() {
        let steps = [step("a", 2.0), step("b", 2.0), step("a", 4.0)];
        let groups = group_by_limit(&steps);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(step_by(&groups[0], 4.0).map(|step| step.factor), Some(4.0));
        assert_eq!(sorted_factors(&groups[0]), [2.0, 4.0]);
    }
}
