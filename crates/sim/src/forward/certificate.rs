//! Certifies that the latest repetitions of a job are alike, so that more of them need no simulation.

use crate::read::CONFIDENCE_GROUPS;
use hostnet_kernel::Time;
use hostnet_measure::batch;
use hostnet_model::flow::Rank;
use hostnet_model::params::Repetition;
use serde::{Deserialize, Serialize};

/// Least number of complete repetitions, and of the latest of these that must be alike.
pub(super) const COMPLETE_MIN: usize = 4;
const ALIKE: usize = 3;
/// Numbers of complete repetitions at which the mean over the latest half is tested.
const AVERAGED_AT: [usize; 3] = [64, 128, 256];
/// Largest error of the job's time, as a share of it: from repetitions that are not exactly alike, from the interval of
/// their mean, and from those at the start, which differ.
const ERROR_MAX: f64 = 0.005;
/// Largest difference between the means of both halves of the averaged repetitions, as a share.
const HALVES_MAX: f64 = 0.01;
/// Repetitions at the end of a block that are simulated in any case, as the measurement covers these: if the latest are
/// alike.
const LEFT_OF_ALIKE: u32 = 4;
/// Number of these if only the mean is known.
const LEFT_OF_MEAN: u32 = 32;

/// Largest share of the repetitions at the end by which a rank may be ahead of another. It is done by that much
/// earlier, and then sends nothing, so that its rate is as much too low.
const LEAD_MAX: f64 = 0.005;

const RETRANSMITS: &str = "connections retransmit, and not always equally often";

/// Repetitions of a rank that fast-forward looks at.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RankRepetitions {
    /// Repetition that the rank is in; `None` before the first and after the last.
    now: Option<Repetition>,
    pub(crate) is_done: bool,
    /// Repetitions of the block that are complete, as far as they are kept.
    pub(super) completed: u64,
    /// Start of the block and ends of its repetitions; empty if these were too many to keep.
    boundaries: Vec<Time>,
}

impl RankRepetitions {
    /// Returns the number of repetitions whose ends are known.
    fn complete(&self) -> usize {
        self.boundaries.len().saturating_sub(1)
    }

    /// Returns the mean duration of the last `count` of the first `complete` repetitions, in ps.
    fn mean_ps(&self, complete: usize, count: usize) -> f64 {
        self.boundaries[complete].since(self.boundaries[complete - count]) as f64 / count as f64
    }

    /// Reads a rank; `None` if its repetitions are not recorded.
    pub(crate) fn read(rank: &Rank) -> Option<Self> {
        let repetitions = rank.repetitions()?;
        Some(Self {
            now: repetitions.now(),
            is_done: rank.done_at().is_some(),
            completed: repetitions.completed() as u64,
            boundaries: repetitions.boundaries().unwrap_or_default(),
        })
    }
}

/// Repetitions of a job that a run skips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobSkip {
    /// Number of repetitions of the block, of which `skipped` are skipped.
    pub(super) of: u32,
    pub(crate) skipped: u32,
    /// Time after the skip until the measurement begins, in ps, so that it covers whole repetitions although the run
    /// ends before the job.
    pub(crate) wait_ps: u64,
    /// Time that they would take, in ps.
    pub(crate) ps: u64,
    /// Largest error of that time, in ps.
    pub(super) error_ps: u64,
    /// True if the time is a mean over many repetitions, false if the latest are alike.
    pub(crate) averaged: bool,
}

/// Returns what may be skipped of the only job of a run; `None` if too little is left, or why nothing may. The job
/// began at `start_ps`, the run ends in `left_ps` at the latest, and `calm` is the number of the latest repetitions in
/// which connections retransmitted equally often.
pub(super) fn certify(
    ranks: &[RankRepetitions],
    start_ps: u64,
    left_ps: u64,
    calm: usize,
) -> Result<Option<JobSkip>, String> {
    let block = |rank: &RankRepetitions| rank.now.map(|now| (now.block, now.times));
    let at = ranks.first().and_then(block).ok_or("ranks have not begun or are done")?;
    if ranks.iter().any(|rank| block(rank) != Some(at)) {
        return Err("ranks are in different parts of the job".to_owned());
    }
    let complete = ranks.iter().map(RankRepetitions::complete).min().unwrap_or(0);
    if complete < COMPLETE_MIN {
        return Ok(None);
    }
    let durations = mean_durations(ranks, complete);
    let furthest = ranks.iter().filter_map(|rank| rank.now).map(|now| now.done).max().unwrap_or(0);
    let count = |left: u32| at.1.saturating_sub(1 + left + furthest);
    if count(LEFT_OF_ALIKE) as usize <= complete {
        return Ok(None);
    }
    if calm < ALIKE {
        return Err(RETRANSMITS.to_owned());
    }
    let alike = certify_alike(ranks, &durations, count(LEFT_OF_ALIKE));
    let certified = alike.or_else(|why| certify_mean(&durations, calm).map_err(|other| other.unwrap_or(why)))?;
    let least = if certified.averaged { LEFT_OF_MEAN } else { LEFT_OF_ALIKE };
    let left = least.max((lead_ps(ranks, complete) / certified.mean_ps / LEAD_MAX).ceil() as u32);
    check_start(&durations, certified.mean_ps, at.1)?;
    check_wait(start_ps as f64 / (certified.mean_ps * f64::from(at.1)))?;
    // The run may end before the job, and then measures as many.
    let until_end = left_ps as f64 / certified.mean_ps;
    let most = (until_end as u64).saturating_sub(u64::from(left));
    let is_cut = most < u64::from(count(left));
    let skipped = if is_cut { most as u32 } else { count(left) };
    if skipped as usize <= complete {
        return Ok(None);
    }
    let ps = certified.mean_ps * f64::from(skipped);
    Ok(Some(JobSkip {
        of: at.1,
        skipped,
        wait_ps: if is_cut { (until_end.fract() * certified.mean_ps) as u64 } else { 0 },
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

/// Returns by how much the first rank was ahead of the last one at the end of a repetition, in ps.
fn lead_ps(ranks: &[RankRepetitions], complete: usize) -> f64 {
    let ends = || ranks.iter().map(|rank| rank.boundaries[complete]);
    ends().max().zip(ends().min()).map_or(0.0, |(last, first)| last.since(first) as f64)
}

/// Returns the mean over the ranks of the duration of each of the first `complete` repetitions, in ps.
fn mean_durations(ranks: &[RankRepetitions], complete: usize) -> Vec<f64> {
    let mean = |end: usize| ranks.iter().map(|rank| rank.mean_ps(end, 1)).sum::<f64>() / ranks.len() as f64;
    (1..=complete).map(mean).collect()
}

/// Checks that the latest repetitions are so much alike that even if they went on to change as they do, the time of
/// `count` more is known.
fn certify_alike(ranks: &[RankRepetitions], durations: &[f64], count: u32) -> Result<Certified, String> {
    let latest = &durations[durations.len() - ALIKE..];
    let mean_ps = latest.iter().sum::<f64>() / ALIKE as f64;
    let (least, most) = latest.iter().fold((f64::MAX, 0.0_f64), |(least, most), &ps| (least.min(ps), most.max(ps)));
    let spread = (most - least) / mean_ps.max(1.0);
    let of_rank = |rank: &RankRepetitions| (rank.mean_ps(durations.len(), ALIKE) / mean_ps - 1.0).abs();
    // Ranks that fall behind change the job as well.
    let spread = ranks.iter().map(of_rank).fold(spread, f64::max);
    // A drift of `spread` per repetition adds up to this error of their mean.
    let error = spread * f64::from(count) / 2.0;
    if error > ERROR_MAX {
        return Err(format!("the latest {ALIKE} repetitions differ by {:.4} %", 100.0 * spread));
    }
    Ok(Certified { mean_ps, error, averaged: false })
}

/// Checks that the mean over the latest half of the repetitions is known and does not drift. The error is `None` if
/// there are too few for that.
fn certify_mean(durations: &[f64], calm: usize) -> Result<Certified, Option<String>> {
    if !AVERAGED_AT.contains(&durations.len()) {
        return Err(None);
    }
    // Losses may cause timeouts that are too rare to show.
    if calm < durations.len() / 2 {
        return Err(Some(RETRANSMITS.to_owned()));
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

/// Checks that the time before the job, as a share of its own, would not change the rates of the run.
fn check_wait(share: f64) -> Result<(), String> {
    if share > ERROR_MAX {
        return Err(format!("the run waits for the job for {:.2} % of its time", 100.0 * share));
    }
    Ok(())
}
