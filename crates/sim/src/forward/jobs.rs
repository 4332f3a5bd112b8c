//! Leaves out repetitions of a job once the latest ones are certified as alike.

use super::certificate::{certify, JobSkip, RankRepetitions, COMPLETE_MIN};
use super::{entry, shown, RunLength};
use hostnet_config::{Length, Plan};
use hostnet_kernel::Time;
use hostnet_model::flow::Rank;
use hostnet_model::params::{FlowParams, HostKind, Traffic, Transport};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Skips of a run, and the number of complete repetitions that was tested last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobSkips {
    /// True if repetitions may be skipped.
    pub(crate) are_allowed: bool,
    pub(crate) skips: Vec<JobSkip>,
    tested: u64,
    resends: Resends,
    /// Reason for which nothing was skipped at the last test.
    pub(crate) refusal: String,
}

impl JobSkips {
    /// Returns the skips of a run that begins.
    pub(crate) fn before(plan: &Plan) -> Self {
        Self {
            are_allowed: are_allowed(plan),
            skips: Vec::new(),
            tested: 0,
            resends: Resends::before(plan),
            refusal: String::new(),
        }
    }

    /// Returns the time of all skipped repetitions, in ps.
    pub(crate) fn skipped_ps(&self) -> u64 {
        self.skips.iter().map(|skip| skip.ps).sum()
    }

    /// Returns the number of repetitions that ranks must have completed when they are looked at next.
    pub(crate) fn next_test(&self) -> u64 {
        self.tested.max(COMPLETE_MIN as u64 - 1) + 1
    }

    /// Tests the ranks of the only job at `now`, when their connections have retransmitted a number of packets. The run
    /// ends in `left_ps` at the latest. Returns what may be skipped, if anything.
    pub(crate) fn test(
        &mut self,
        plan: &Plan,
        ranks: &[RankRepetitions],
        left_ps: u64,
        retransmitted: u64,
        now: Time,
    ) -> Option<JobSkip> {
        self.tested = least_completed(ranks);
        self.resends.note(retransmitted, self.tested, now);
        let found = certify(ranks, plan.cluster.jobs[0].start_ps, left_ps, self.resends.calm(self.tested, now));
        // At the end too few are left, which is not why nothing was skipped before.
        let skip = found.map_err(|why| self.refusal = why).ok()??;
        self.skips.push(skip.clone());
        // The next block begins with none.
        self.tested = 0;
        self.resends = Resends { total: retransmitted, ack_delay_ps: self.resends.ack_delay_ps, ..Resends::default() };
        Some(skip)
    }
}

/// Retransmissions of all connections, which may stop although repetitions take equally long.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Resends {
    /// Retransmissions so far, and repetitions that were complete then.
    total: u64,
    at: u64,
    /// Retransmissions in a repetition, the number of complete repetitions since when there have been as many in each,
    /// and that time.
    each: u64,
    from: u64,
    since: Time,
    /// Longest delay of an acknowledgement, in ps.
    ack_delay_ps: u64,
}

impl Resends {
    fn before(plan: &Plan) -> Self {
        let delay_ps = |flow: &FlowParams| match &flow.transport {
            Transport::Tcp(tcp) => tcp.ack_delay_ps,
            _ => 0,
        };
        Self { ack_delay_ps: plan.cluster.flows.iter().map(delay_ps).max().unwrap_or(0), ..Self::default() }
    }

    /// Records the retransmissions when a number of repetitions are complete.
    fn note(&mut self, total: u64, complete: u64, now: Time) {
        let (more, repetitions) = (total - self.total, complete.saturating_sub(self.at).max(1));
        let is_whole = more % repetitions == 0;
        if !is_whole || more / repetitions != self.each {
            (self.from, self.since) = (complete, now);
        }
        (self.total, self.at, self.each) = (total, complete, more / repetitions);
    }

    /// Returns the number of the latest repetitions in which connections retransmitted equally often; 0 if that has not
    /// been so for as long as an acknowledgement may be delayed: the first that is changes the round-trip time that a
    /// connection has measured, so that it may no longer probe in vain.
    fn calm(&self, complete: u64, now: Time) -> usize {
        let is_settled = self.each == 0 || now.since(self.since) > self.ack_delay_ps;
        if is_settled {
            complete.saturating_sub(self.from) as usize
        } else {
            0
        }
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
    waiting.map(|rank| rank.completed).min().unwrap_or(0)
}

/// Returns why jobs are simulated in full, if a later repetition may differ from an earlier one for a reason that
/// these do not show.
fn refusal(plan: &Plan) -> Option<String> {
    let cluster = &plan.cluster;
    // Rates are those of the whole run, and a measurement that begins anew would leave out the earlier jobs.
    if cluster.jobs.len() > 1 {
        return Some("there are several jobs".to_owned());
    }
    if let Some(host) = cluster.hosts.iter().find(|host| !matches!(host.kind, HostKind::Endpoint(_))) {
        return Some(format!("host \"{}\" is a server", host.name));
    }
    if cluster.switches.iter().any(|switch| switch.learning.is_some()) {
        return Some("a switch learns addresses".to_owned());
    }
    if cluster.cables.iter().any(|cable| !cable.down_ps.is_empty() || cable.corrupt > 0) {
        return Some("a cable is down for a time or corrupts packets".to_owned());
    }
    if let Some(job) = cluster.jobs.iter().find(|job| job.has_operations()) {
        return Some(format!("the operations of job \"{}\" may overlap in another way in each repetition", job.name));
    }
    // Even a flow without end changes slowly, as its window grows.
    let other = cluster.flows.iter().find(|flow| !matches!(flow.traffic, Traffic::Messages(_)))?;
    Some(format!("the traffic of \"{}\" may change over time", cluster.classes[usize::from(other.class)]))
}

/// `COVERED` says which results include the skipped repetitions.
const COVERED: &str =
    "tables jobs, steps and ranks include them, the critical path does not; rates, queues and counts \
    are those after them";

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
        format!("run.forward: {told}; {COVERED}")
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
        plan.cluster.jobs[0].name,
        // Whole nanoseconds.
        shown(skip.ps / 1000 * 1000),
    )
}
