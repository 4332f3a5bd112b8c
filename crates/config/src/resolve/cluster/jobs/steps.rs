//! Programs that the user wrote.

use super::program::Program;
use crate::error::Issue;
use crate::spec::{JobStepSpec, Size};

/// Names of steps that a job may have.
const NAMES_MAX: usize = 200;

/// Adds the steps of a list to a program.
pub(super) fn write(path: &str, steps: &[JobStepSpec], program: &mut Program) -> Result<(), Issue> {
    if steps.is_empty() {
        let message = "missing; give what ranks do, such as [{ rank = 0, to = 1, send = \"1 MB\" }]";
        return Err(Issue::new(format!("{path}.steps"), message));
    }
    for (number, step) in steps.iter().enumerate() {
        let at = format!("{path}.steps[{number}]");
        let [send, receive] = [("to", step.to, "send", step.send), ("from", step.from, "receive", step.receive)]
            .map(|(rank_key, rank, key, bytes)| message(&at, [rank_key, key], rank, bytes));
        let (send, receive) = (send?, receive?);
        let phase = program.phase(step.name.as_deref().unwrap_or("step"));
        if program.phases.len() > NAMES_MAX {
            return Err(Issue::new(format!("{at}.name"), format!("more than {NAMES_MAX} names of steps")));
        }
        let compute_ps = step.compute.map_or(0, |time| time.0);
        let ranks = program.ranks;
        if let Some(rank) = step.rank {
            for (key, other) in [("rank", rank), ("to", send.0), ("from", receive.0)] {
                if other >= ranks {
                    let message = format!("there is no rank {other}; the job has {ranks}, counted from 0");
                    return Err(Issue::new(format!("{at}.{key}"), message));
                }
            }
            for (key, (other, bytes)) in [("to", send), ("from", receive)] {
                if bytes > 0 && other == rank {
                    return Err(Issue::new(format!("{at}.{key}"), format!("rank {rank} sends to itself")));
                }
            }
            program.step(rank, phase, compute_ps, send, receive);
            continue;
        }
        for (key, (distance, bytes)) in [("to", send), ("from", receive)] {
            if bytes > 0 && distance % ranks == 0 {
                let message = format!("{distance} ranks further among {ranks} is the rank itself");
                return Err(Issue::new(format!("{at}.{key}"), message));
            }
        }
        let takers = if program.is_too_long() { 0 } else { ranks };
        for rank in 0..takers {
            let to = (rank + send.0 % ranks) % ranks;
            let from = (rank + ranks - receive.0 % ranks) % ranks;
            program.step(rank, phase, compute_ps, (to, send.1), (from, receive.1));
        }
    }
    Ok(())
}

/// A rank and the bytes of a message; no bytes where there is none.
fn message(at: &str, keys: [&str; 2], rank: Option<u32>, bytes: Option<Size>) -> Result<(u32, u64), Issue> {
    match (rank, bytes) {
        (Some(rank), Some(Size(bytes))) => Ok((rank, bytes)),
        (None, None) => Ok((0, 0)),
        (None, Some(_)) => Err(Issue::new(format!("{at}.{}", keys[0]), format!("missing; {} needs it", keys[1]))),
        (Some(_), None) => Err(Issue::new(format!("{at}.{}", keys[1]), format!("missing; {} needs it", keys[0]))),
    }
}
