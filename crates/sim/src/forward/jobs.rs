//! Leaves out repetitions of a job once the latest ones are certified as alike.

use super::{entry, shown, RunLength};
use crate::read::CONFIDENCE_GROUPS;
use hostnet_config::{Length, Plan};
use hostnet_measure::batch;
use hostnet_model::flow::Rank;
use hostnet_model::params::{HostKind, Repetition, Traffic};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Least number of complete repetitions, and of the latest of these that must be alike.
const COMPLETE_MIN: usize = 4;
const ALIKE: usize = 3;
/// Numbers of complete repetitions at which the mean over the latest half is tested.
const AVERAGED_AT: [usize; 3] = [64, 128, 256];
/// Largest error of the job's time, as a share of it: from repetitions that are not exactly alike, from the interval of
/// their mean, and from those at the start, which differ.
const ERROR_MAX: f64 = 0.005;
/// Largest difference between the means of both halves of the averaged repetitions, as a share.
const HALVES_MAX: f64 = 0.01;
/// Repetitions at the end of a block that are simulated in any case, as the measurement covers these: after
/// repetitions that are alike, and after a mean over many.
const LEFT: [u32; 2] = [4, 32];

/// Repetitions of a rank that fast-forward looks at.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RankRepetitions {
    job: u32,
    /// Repetition that the rank is in; `None` before the first and after the last.
    now: Option<Repetition>,
    pub(crate) is_done: bool,
    /// Durations of the latest repetitions of the block, in ps.
    durations_ps: Vec<u64>,
}

impl RankRepetitions {
    /// Reads a rank; `None` if its repetitions are not recorded.
    pub(crate) fn read(rank: &Rank) -> Option<Self> {
        let repetitions = rank.repetitions()?;
        Some(Self {
            job: rank.number().0,
            now: repetitions.now(),
            is_done: rank.done_at().is_some(),
            durations_ps: repetitions.durations_ps(),
        })
    }
}

/// Repetitions of a job that a run skips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobSkip {
    /// Number of the job.
    pub(crate) job: u32,
    /// Number of repetitions of the block, of which `skipped` are skipped.
    of: u32,
    pub(crate) skipped: u32,
    /// Time that they would take, in ps.
    pub(crate) ps: u64,
    /// Largest error of that time, in ps.
    error_ps: u64,
    /// True if the time is a mean over many repetitions, false if the latest are alike.
    pub(crate) averaged: bool,
}

/// Skips of a run, and the number of complete repetitions that was tested last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobSkips {
    /// True if repetitions may be skipped.
    pub(crate) are_allowed: bool,
    pub(crate) skips: Vec<JobSkip>,
    tested: u64,
    /// Reason for which nothing was skipped at the last test.
    pub(crate) refusal: String,
}

impl JobSkips {
    /// Returns the skips of a run that begins.
    pub(crate) fn before(plan: &Plan) -> Self {
        Self { are_allowed: are_allowed(plan), skips: Vec::new(), tested: 0, refusal: String::new() }
    }

    /// Returns the time of all skipped repetitions, in ps.
    pub(crate) fn skipped_ps(&self) -> u64 {
        self.skips.iter().map(|skip| skip.ps).sum()
    }

    /// Returns the number of repetitions that ranks must have completed when they are looked at next.
    pub(crate) fn next_test(&self) -> u64 {
        self.tested.max(COMPLETE_MIN as u64 - 1) + 1
    }

    /// Records that ranks were looked at, of which each has completed at least `least` repetitions of its block.
    pub(crate) fn test(&mut self, least: u64, found: Result<Option<JobSkip>, String>) -> Option<JobSkip> {
        self.tested = least;
        // At the end too few are left, which is not why nothing was skipped before.
        let skip = found.map_err(|why| self.refusal = why).ok()??;
        self.skips.push(skip.clone());
        // The next block begins with none.
        self.tested = 0;
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
pub(crate) fn least_completed(ranks: &[RankRepetitions]) -> u64 {
    let waiting = ranks.iter().filter(|rank| !rank.is_done);
    waiting.map(|rank| rank.durations_ps.len() as u64).min().unwrap_or(0)
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

/// Returns what may be skipped of the only job that runs, `None` if too little is left of it, or why nothing may.
/// `left_ps` is the time until the run ends
/// at the latest, and `dropped` the number of packets that queues have dropped.
pub(crate) fn certify(ranks: &[RankRepetitions], left_ps: u64, dropped: u64) -> Result<Option<JobSkip>, String> {
    let mut waiting = ranks.iter().filter(|rank| !rank.is_done);
    let job = waiting.next().ok_or("all jobs are done")?.job;
    if waiting.any(|rank| rank.job != job) {
        return Err("several jobs run at the same time".to_owned());
    }
    let own: Vec<&RankRepetitions> = ranks.iter().filter(|rank| rank.job == job).collect();
    let block = |rank: &RankRepetitions| rank.now.map(|now| (now.block, now.times));
    let at = block(own[0]).ok_or("ranks have not begun or are done")?;
    if own.iter().any(|rank| block(rank) != Some(at)) {
        return Err("ranks are in different parts of the job".to_owned());
    }
    let complete = own.iter().map(|rank| rank.durations_ps.len()).min().unwrap_or(0);
    if complete < COMPLETE_MIN {
        return Err(format!("fewer than {COMPLETE_MIN} repetitions are complete"));
    }
    let durations = mean_durations(&own, complete);
    let furthest = own.iter().filter_map(|rank| rank.now).map(|now| now.done).max().unwrap_or(0);
    let count = |left: u32| at.1.saturating_sub(1 + left + furthest);
    if count(LEFT[0]) as usize <= complete {
        return Ok(None);
    }
    let alike = is_alike(&own, &durations, count(LEFT[0]));
    let certified = alike.or_else(|why| is_known(&durations, dropped).map_err(|other| other.unwrap_or(why)))?;
    check_start(&durations, certified.mean_ps, at.1)?;
    let most = (left_ps as f64 / certified.mean_ps) as u64;
    let skipped = count(LEFT[usize::from(certified.averaged)]).min(u32::try_from(most).unwrap_or(u32::MAX));
    if skipped as usize <= complete {
        return Ok(None);
    }
    let ps = certified.mean_ps * f64::from(skipped);
    Ok(Some(JobSkip {
        job,
        of: at.1,
        skipped,
        ps: ps.round() as u64,
        error_ps: (ps * certified.error).ceil() as u64,
        averaged: certified.averaged,
    }))
}

/// Duration of a repetition that is known.
struct Certified {
    mean_ps: f64,
    /// Largest error of the time of all that are skipped, as a share.
    error: f64,
    averaged: bool,
}

/// Returns the mean over the ranks of the duration of each of the first `complete` repetitions, in ps.
fn mean_durations(own: &[&RankRepetitions], complete: usize) -> Vec<f64> {
    let mean = |index: usize| own.iter().map(|rank| rank.durations_ps[index] as f64).sum::<f64>() / own.len() as f64;
    (0..complete).map(mean).collect()
}

/// Checks that the latest repetitions are so much alike that even if they went on to change as they do, the time of
/// `count` more is known.
fn is_alike(own: &[&RankRepetitions], durations: &[f64], count: u32) -> Result<Certified, String> {
    let latest = &durations[durations.len() - ALIKE..];
    let mean_ps = latest.iter().sum::<f64>() / ALIKE as f64;
    let (least, most) = latest.iter().fold((f64::MAX, 0.0_f64), |(least, most), &ps| (least.min(ps), most.max(ps)));
    let spread = (most - least) / mean_ps.max(1.0);
    let of_rank = |rank: &&RankRepetitions| {
        let latest = &rank.durations_ps[durations.len() - ALIKE..durations.len()];
        (latest.iter().sum::<u64>() as f64 / ALIKE as f64 / mean_ps - 1.0).abs()
    };
    // Ranks that fall behind change the job as well.
    let spread = own.iter().map(of_rank).fold(spread, f64::max);
    // A drift of `spread` per repetition adds up to this error of their mean.
    let error = spread * f64::from(count) / 2.0;
    if error > ERROR_MAX {
        return Err(format!("the latest {ALIKE} repetitions differ by {:.4} %", 100.0 * spread));
    }
    Ok(Certified { mean_ps, error, averaged: false })
}

/// Checks that the mean over the latest half of the repetitions is known and does not drift. The error is `None` if
/// there are too few for that.
fn is_known(durations: &[f64], dropped: u64) -> Result<Certified, Option<String>> {
    if !AVERAGED_AT.contains(&durations.len()) {
        return Err(None);
    }
    if dropped > 0 {
        return Err(Some("queues drop packets, which may cause rare timeouts".to_owned()));
    }
    let latest = &durations[durations.len() / 2..];
    let found = batch::estimate(latest, CONFIDENCE_GROUPS);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (first, second) = latest.split_at(latest.len() / 2);
    let differs = (mean(first) - mean(second)).abs() / found.mean;
    let error = found.half_width / found.mean;
    if found.drift.is_some() || differs > HALVES_MAX {
        return Err(Some("the durations of repetitions drift".to_owned()));
    }
    if error > ERROR_MAX {
        return Err(Some(format!("the mean duration of repetitions is known only to {:.2} %", 100.0 * error)));
    }
    Ok(Certified { mean_ps: found.mean, error, averaged: true })
}

/// Checks that the repetitions at the start, which the measurement leaves out, would not change it.
fn check_start(durations: &[f64], mean_ps: f64, times: u32) -> Result<(), String> {
    let beyond: f64 = durations.iter().map(|ps| ps - mean_ps).sum();
    let share = beyond.abs() / (mean_ps * f64::from(times));
    if share > ERROR_MAX {
        return Err(format!("the first repetitions differ from later ones by {:.2} % of the whole", 100.0 * share));
    }
    Ok(())
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
