//! Programs written by the user.

use super::program::{Program, NOTHING};
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{JobStepSpec, RankMessageParams, RankStepParams, Size, StepWorkParams};

/// Maximum number of step names of a job.
const NAMES_MAX: usize = 200;

/// Adds the steps of a list to a program.
pub(super) fn write(path: &str, steps: &[JobStepSpec], program: &mut Program) -> Result<(), Issue> {
    if steps.is_empty() {
        let message = "missing; give what ranks do, such as [{ rank = 0, to = 1, send = \"1 MB\" }]";
        return Err(Issue::new(Code::MissingKey, format!("{path}.steps"), message));
    }
    for (number, step) in steps.iter().enumerate() {
        let at = format!("{path}.steps[{number}]");
        let [send, receive] = [("to", step.to, "send", step.send), ("from", step.from, "receive", step.receive)]
            .map(|(rank_key, rank, key, bytes)| message(&at, [rank_key, key], rank, bytes));
        let (send, receive) = (send?, receive?);
        let phase = program.phase(step.name.as_deref().unwrap_or("step"));
        if program.phases.len() > NAMES_MAX {
            let message = format!("more than {NAMES_MAX} names of steps");
            return Err(Issue::new(Code::TooMany, format!("{at}.name"), message));
        }
        let compute_ps = step.compute.map_or(0, |time| time.0);
        let work = program.work(work(&at, step)?);
        let ranks = program.ranks;
        let computed = RankStepParams { phase, compute_ps, work, ..NOTHING };
        if let Some(rank) = step.rank {
            for (key, other) in [("rank", rank), ("to", send.0), ("from", receive.0)] {
                if other >= ranks {
                    let message = format!("there is no rank {other}; the job has {ranks}, counted from 0");
                    return Err(Issue::new(Code::DoesNotExist, format!("{at}.{key}"), message));
                }
            }
            for (key, (other, bytes)) in [("to", send), ("from", receive)] {
                if bytes > 0 && other == rank {
                    let message = format!("rank {rank} sends to itself");
                    return Err(Issue::new(Code::SendsInCircle, format!("{at}.{key}"), message));
                }
            }
            program.push(rank, RankStepParams { send: some(send), receive: some(receive), ..computed });
            continue;
        }
        for (key, (distance, bytes)) in [("to", send), ("from", receive)] {
            if bytes > 0 && distance % ranks == 0 {
                let message = format!("{distance} ranks further among {ranks} is the rank itself");
                return Err(Issue::new(Code::SendsInCircle, format!("{at}.{key}"), message));
            }
        }
        let takers = if program.is_too_long() { 0 } else { ranks };
        for rank in 0..takers {
            let to = (rank + send.0 % ranks) % ranks;
            let from = (rank + ranks - receive.0 % ranks) % ranks;
            let (send, receive) = (some((to, send.1)), some((from, receive.1)));
            program.push(rank, RankStepParams { send, receive, ..computed });
        }
    }
    Ok(())
}

/// Returns a message, or `None` if the message has no bytes.
fn some((rank, bytes): (u32, u64)) -> Option<RankMessageParams> {
    (bytes > 0).then_some(RankMessageParams { rank, bytes })
}

/// Returns the instructions and memory accesses of a step on the core of a rank at a server.
fn work(at: &str, step: &JobStepSpec) -> Result<StepWorkParams, Issue> {
    let Some(given) = step.key_of_servers() else { return Ok(StepWorkParams::default()) };
    let issue = |code: Code, key: &str, other: &str, message: &str| {
        Err(Issue::between(code, &[&format!("{at}.{key}"), &format!("{at}.{other}")], message))
    };
    if step.compute.is_some() {
        return issue(Code::ConflictingKeys, "compute", given, "time, or what a core executes, but not both");
    }
    let lines = |size: Option<Size>| size.map_or(0, |Size(bytes)| bytes.div_ceil(64));
    let (read_lines, write_lines) = (lines(step.reads), lines(step.writes));
    let walked = read_lines + write_lines;
    if walked == 0 && step.working_set.is_some() {
        return issue(Code::NoEffect, "working_set", "reads", "has an effect only with reads or writes");
    }
    let gathers = step.gathers.unwrap_or(0);
    match (gathers > 0, step.gather_set.is_some()) {
        (true, false) => return issue(Code::MissingKey, "gather_set", "gathers", "missing; gathers need it"),
        (false, true) => return issue(Code::NoEffect, "gather_set", "gathers", "has an effect only with gathers"),
        _ => {}
    }
    Ok(StepWorkParams {
        instructions: step.instructions.unwrap_or(0),
        read_lines,
        write_lines,
        gathers,
        span_lines: step.working_set.map_or(walked, |Size(bytes)| bytes.div_ceil(64)),
        gather_lines: lines(step.gather_set),
    })
}

/// Returns the peer rank and the bytes of a message; 0 bytes if there is none.
fn message(at: &str, keys: [&str; 2], rank: Option<u32>, bytes: Option<Size>) -> Result<(u32, u64), Issue> {
    match (rank, bytes) {
        (Some(rank), Some(Size(bytes))) => Ok((rank, bytes)),
        (None, None) => Ok((0, 0)),
        (None, Some(_)) => {
            Err(Issue::new(Code::MissingKey, format!("{at}.{}", keys[0]), format!("missing; {} needs it", keys[1])))
        }
        (Some(_), None) => {
            Err(Issue::new(Code::MissingKey, format!("{at}.{}", keys[1]), format!("missing; {} needs it", keys[0])))
        }
    }
}
