//! Leaves out repetitions of a job once the latest ones are certified as alike.

use super::certificate::{certify, JobSkip, RankRepetitions, COMPLETE_MIN};
use super::{entry, shown, RunLength};
use hostnet_config::{Length, Plan};
use hostnet_model::flow::Rank;
use hostnet_model::params::{HostKind, Traffic};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Skips of a run, and the number of complete repetitions that was tested last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobSkips {
    /// True if repetitions may be skipped.
    pub(crate) are_allowed: bool,
    pub(crate) skips: Vec<JobSkip>,
    tested: u64,
    /// Retransmissions of all connections at the last test, and the number of complete repetitions at the first test
    /// with that many.
    retransmitted: u64,
    calm_from: u64,
    /// Reason for which nothing was skipped at the last test.
    pub(crate) refusal: String,
}

impl JobSkips {
    /// Returns the skips of a run that begins.
    pub(crate) fn before(plan: &Plan) -> Self {
        let (are_allowed, skips, refusal) = (are_allowed(plan), Vec::new(), String::new());
        Self { are_allowed, skips, tested: 0, retransmitted: 0, calm_from: 0, refusal }
    }

    /// Returns the time of all skipped repetitions, in ps.
    pub(crate) fn skipped_ps(&self) -> u64 {
        self.skips.iter().map(|skip| skip.ps).sum()
    }

    /// Returns the number of repetitions that ranks must have completed when they are looked at next.
    pub(crate) fn next_test(&self) -> u64 {
        self.tested.max(COMPLETE_MIN as u64 - 1) + 1
    }

    /// Tests the ranks of all jobs, whose connections have retransmitted a number of packets. The run ends in `left_ps`
    /// at the latest. Returns what may be skipped, if anything.
    pub(crate) fn test(&mut self, ranks: &[RankRepetitions], left_ps: u64, retransmitted: u64) -> Option<JobSkip> {
        self.tested = least_completed(ranks);
        if retransmitted != self.retransmitted {
            (self.retransmitted, self.calm_from) = (retransmitted, self.tested);
        }
        let found = certify(ranks, left_ps, (self.tested - self.calm_from) as usize);
        // At the end too few are left, which is not why nothing was skipped before.
        let skip = found.map_err(|why| self.refusal = why).ok()??;
        self.skips.push(skip.clone());
        // The next block begins with none.
        (self.tested, self.calm_from) = (0, 0);
        Some(skip)
    }
}

/// Returns true if repetitions of the jobs of a plan may be skipped.
fn are_allowed(plan: &Plan) -> bool {
    plan.run.forward && plan.run.length == Length::Jobs && refusal(plan).is_none()
}

/// Returns true if all ranks that are not done have completed `count` repetitions of their block.
pub(crate) fn have_completed<'a>(mut ranks: impl Iterator<Item = &'a Rank>, count: u64) -> bool {
    ranks.all(|rank| rank.done_at().is_some() || completed(rank) >= count)
}

fn completed(rank: &Rank) -> u64 {
    rank.repetitions().map_or(0, |repetitions| repetitions.completed() as u64)
}

/// Returns the least number of repetitions that the ranks which are not done have completed; 0 without any.
fn least_completed(ranks: &[RankRepetitions]) -> u64 {
    let waiting = ranks.iter().filter(|rank| !rank.is_done);
    waiting.map(|rank| rank.complete() as u64).min().unwrap_or(0)
}

/// Returns why jobs are simulated in full, if a later repetition may differ from an earlier one for a reason that
/// these do not show.
fn refusal(plan: &Plan) -> Option<String> {
    let cluster = &plan.cluster;
    if let Some(host) = cluster.hosts.iter().find(|host| !matches!(host.kind, HostKind::Endpoint(_))) {
        return Some(format!("host \"{}\" is a server", host.name));
    }
    if cluster.switches.iter().any(|switch| switch.learning.is_some()) {
        return Some("a switch learns addresses".to_owned());
    }
    if cluster.cables.iter().any(|cable| !cable.down_ps.is_empty() || cable.corrupt > 0) {
        return Some("a cable is down for a time or corrupts packets".to_owned());
    }
    // Even a flow without end changes slowly, as its window grows.
    let other = cluster.flows.iter().find(|flow| !matches!(flow.traffic, Traffic::Messages(_)))?;
    Some(format!("the traffic of \"{}\" may change over time", cluster.classes[usize::from(other.class)]))
}

/// Returns the entry `forward` of the summary.
pub(super) fn outcome(plan: &Plan, length: &RunLength) -> Value {
    let skipped_ps: u64 = length.skips.iter().map(|skip| skip.ps).sum();
    let all_ps = length.now_ps + skipped_ps;
    let note = if length.skips.is_empty() {
        let why = refusal(plan).unwrap_or_else(|| length.refusal.to_owned());
        let why = if why.is_empty() { "there are too few repetitions".to_owned() } else { why };
        format!("run.forward: nothing was skipped, because {why}")
    } else {
        let told = length.skips.iter().map(|skip| tell(plan, skip)).collect::<Vec<_>>().join("; ");
        format!("run.forward: {told}; rates, latencies and queues are those of the repetitions after these")
    };
    let mut entry = entry(all_ps as f64, length.now_ps as f64, &note);
    if let Some(entry) = entry.as_object_mut() {
        let error_ps: u64 = length.skips.iter().map(|skip| skip.error_ps).sum();
        entry.insert("error_ns".to_owned(), (error_ps as f64 / 1000.0).into());
    }
    entry
}

fn tell(plan: &Plan, skip: &JobSkip) -> String {
    let why = if skip.averaged { "have a mean duration that does not drift" } else { "take the same time" };
    let percent = 100.0 * skip.error_ps as f64 / skip.ps.max(1) as f64;
    format!(
        "{} of {} repetitions of job \"{}\" were skipped ({} to within {percent:.2} %), because those before {why}",
        skip.skipped,
        skip.of,
        plan.cluster.jobs[skip.job as usize].name,
        // Whole nanoseconds.
        shown(skip.ps / 1000 * 1000),
    )
}
