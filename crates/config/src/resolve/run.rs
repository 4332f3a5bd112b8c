//! `[run]`.

use crate::code::Code;
use crate::error::Issue;
use crate::plan::{Length, RunPlan, WarmUp};
use crate::units::{format, shorten, Dimension};
use hostnet_params::{ForwardSpec, RunSpec, Time, UntilSpec, WarmUpSpec};
use std::path::Path;

const SEED: u64 = 1;
const DURATION_PS: u64 = 1_000_000_000;
const DURATION_MAX_PS: u64 = 100_000_000_000;
const JOBS_MAX_PS: u64 = 10_000_000_000_000;

/// Resolves the run. `ramp_ps` is the longest ramp time of a job file; it is the warm-up unless `run.warmup` gives one.
pub(super) fn resolve(run: &RunSpec, ramp_ps: u64) -> Result<RunPlan, Issue> {
    let forward = run.forward == Some(ForwardSpec::Auto);
    if forward && run.precision.is_some() {
        let message =
            "has an effect only with run.duration or run.until; run.precision ends a run by a rule of its own";
        return Err(Issue::new(Code::NoEffect, "run.forward", message));
    }
    if run.until.is_some() {
        return until_jobs(run, forward);
    }
    let (length, duration_max_ps) = match (run.duration, run.precision) {
        (Some(_), Some(_)) => {
            let message = "run.duration and run.precision exclude each other; give one of them";
            return Err(Issue::between(Code::ConflictingKeys, &["run.precision", "run.duration"], message));
        }
        (None, Some(relative)) => {
            (Length::Precision { relative }, run.duration_max.map_or(DURATION_MAX_PS, |Time(ps)| ps))
        }
        (duration, None) => {
            if run.duration_max.is_some() {
                let message = "has an effect only together with run.precision or run.until";
                return Err(Issue::new(Code::NoEffect, "run.duration_max", message));
            }
            let ps = duration.map_or(DURATION_PS, |Time(ps)| ps);
            (Length::Duration { ps }, ps)
        }
    };
    let warm_up = match run.warmup {
        Some(WarmUpSpec::Fixed(Time(ps))) => WarmUp::Fixed { ps },
        None if ramp_ps > 0 => WarmUp::Fixed { ps: ramp_ps },
        _ => WarmUp::Auto,
    };
    Ok(RunPlan { seed: run.seed.unwrap_or(SEED), warm_up, length, duration_max_ps, forward })
}

/// Resolves a run that measures until all jobs end.
fn until_jobs(run: &RunSpec, forward: bool) -> Result<RunPlan, Issue> {
    let others = [
        ("run.duration", run.duration.is_some()),
        ("run.precision", run.precision.is_some()),
        ("run.warmup", run.warmup.is_some_and(|warm_up| warm_up != WarmUpSpec::Fixed(Time(0)))),
    ];
    if let Some((other, _)) = others.into_iter().find(|(_, given)| *given) {
        let message = "a run until its jobs are done is measured from its start; leave one of both out";
        return Err(Issue::between(Code::ConflictingKeys, &[other, "run.until"], message));
    }
    Ok(RunPlan {
        seed: run.seed.unwrap_or(SEED),
        warm_up: WarmUp::Fixed { ps: 0 },
        length: Length::Jobs,
        duration_max_ps: run.duration_max.map_or(JOBS_MAX_PS, |Time(ps)| ps),
        forward,
    })
}

/// Checks that a run that ends with its jobs has jobs.
pub(super) fn check_jobs(run: &RunPlan, jobs: usize) -> Result<(), Issue> {
    if run.length == Length::Jobs && jobs == 0 {
        let message = "there are no jobs; give one, such as [job.train], in a cluster of hosts";
        return Err(Issue::new(Code::NothingToDo, "run.until", message));
    }
    Ok(())
}

/// Returns a note if the ramp time of a job file has no effect.
pub(super) fn ignored(run: &RunSpec, ramp_ps: u64) -> Option<String> {
    let ramp = format(ramp_ps, Dimension::Time);
    (ramp_ps > 0 && run.warmup.is_some()).then(|| format!("fio: ramp_time={ramp} is overridden by run.warmup"))
}

/// Returns a note if the measurement window is shorter than a round trip of the network.
pub(super) fn short_of_a_round_trip(run: &RunPlan, round_trip_ps: u64) -> Option<String> {
    let Length::Duration { ps } = run.length else { return None };
    let shown = |ps| format(ps, Dimension::Time);
    (ps < round_trip_ps).then(|| {
        format!(
            "run.duration: {} is less than a round trip over the longest cables, {}; measure for several",
            shown(ps),
            shown(round_trip_ps)
        )
    })
}

/// Returns the name of the run: the given one, or that of the file.
pub(super) fn name(run: &RunSpec, file: &str) -> Result<String, Issue> {
    const LENGTH_MAX: usize = 100;
    // A text without a file is called `<text>`, which is no name of a run.
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).filter(|stem| !stem.starts_with('<'));
    let Some(name) = &run.name else {
        return Ok(stem.unwrap_or("run").to_string());
    };
    let plain = !name.trim().is_empty() && !name.contains(|c: char| c.is_control() || c == '/' || c == '\\');
    if plain && name.chars().count() <= LENGTH_MAX {
        return Ok(name.clone());
    }
    let rule = format!("a name has 1 to {LENGTH_MAX} characters and no slash");
    Err(Issue::new(Code::MalformedValue, "run.name", format!("{} is not a name; {rule}", shorten(name))))
}

/// Returns the run with every default of the plan filled in.
pub(super) fn effective(run: &RunPlan, name: &str, spec: &RunSpec) -> RunSpec {
    let (duration, precision, duration_max) = match run.length {
        Length::Duration { ps } => (Some(Time(ps)), None, None),
        Length::Precision { relative } => (None, Some(relative), Some(Time(run.duration_max_ps))),
        Length::Jobs => (None, None, Some(Time(run.duration_max_ps))),
    };
    let warmup = match run.warm_up {
        WarmUp::Auto => WarmUpSpec::Auto,
        WarmUp::Fixed { ps } => WarmUpSpec::Fixed(Time(ps)),
    };
    RunSpec {
        name: Some(name.to_string()),
        seed: Some(run.seed),
        duration,
        precision,
        duration_max,
        until: (run.length == Length::Jobs).then_some(UntilSpec::Jobs),
        warmup: Some(warmup),
        forward: run.forward.then_some(ForwardSpec::Auto),
        memory: spec.memory,
    }
}
