//! Instructions and memory accesses of benchmark steps on cores: the profiles of `specs/jobs`.

use super::program::Program;
use crate::error::Issue;
use crate::presets;
use crate::resolve::plan_error;
use hostnet_params::StepWorkParams;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Capacity of an L1, in bytes. Accesses to a smaller working set count as instructions only, as in all applications.
const L1_BYTES: f64 = 32768.0;
const LINE_BYTES: f64 = 64.0;

/// The profile of a kind of job.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Profile {
    #[serde(default, rename = "job")]
    _about: About,
    /// Costs of the steps, by their name.
    #[serde(default)]
    phase: BTreeMap<String, Phase>,
    #[serde(default)]
    messages: Messages,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    #[serde(default, rename = "description")]
    _description: String,
}

/// Costs of the steps of one name.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Phase {
    /// Instructions per operation.
    instructions: f64,
    /// Bytes read and written sequentially per unit.
    reads: f64,
    writes: f64,
    /// Working set of these arrays in bytes: per unit, and fixed.
    set: f64,
    fixed_set: f64,
    /// Random reads per unit.
    gathers: f64,
    /// Bytes of the randomly read table per element.
    table: f64,
}

/// Messages that ranks exchange after the steps of an archetype.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Messages {
    /// Bytes of an all-reduce over all ranks.
    allreduce: f64,
    /// Share of a rank's data that the rank sends to others.
    alltoall: f64,
}

/// Amount of work of a rank in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    /// Operations, as the benchmark counts them.
    pub(super) operations: f64,
    /// Elements of the arrays that are accessed in order (units of [`Phase`]).
    pub(super) units: f64,
    /// Elements of the table that is read at random.
    pub(super) elements: f64,
}

impl Profile {
    /// Loads the profile of a kind of job.
    pub(super) fn of(kind: &str) -> Result<Self, Issue> {
        serde_json::from_value(presets::job_profile(kind)?).map_err(plan_error)
    }

    /// Returns the instructions and memory accesses of a step on the core of a rank.
    pub(super) fn work(&self, phase: &str, amount: Amount) -> StepWorkParams {
        let Some(phase) = self.phase.get(phase) else { return StepWorkParams::default() };
        let Amount { operations, units, elements } = amount;
        let whole = |value: f64| value.round().max(0.0) as u64;
        let lines = |bytes: f64| whole(bytes / LINE_BYTES);
        let (set, table) = (phase.fixed_set.max(phase.set * units), phase.table * elements);
        // A set that fits the L1 needs no lines of the other caches.
        let walks = set > L1_BYTES;
        let misses = (1.0 - L1_BYTES / table.max(L1_BYTES)) * phase.gathers * units;
        let walked = |bytes: f64| if walks { lines(bytes * units) } else { 0 };
        let (read_lines, write_lines) = (walked(phase.reads), walked(phase.writes));
        let gathers = whole(misses);
        StepWorkParams {
            instructions: whole(phase.instructions * operations),
            read_lines,
            write_lines,
            gathers,
            span_lines: if read_lines + write_lines > 0 { lines(set).max(1) } else { 0 },
            gather_lines: if gathers > 0 { lines(table).max(1) } else { 0 },
        }
    }

    /// Adds the steps of an archetype; `data` are the bytes of all ranks together.
    pub(super) fn archetype(&self, program: &mut Program, group: &[u32], data: u64) {
        let each = data as f64 / f64::from(program.ranks);
        let units = each / LINE_BYTES;
        let amount = Amount { operations: units, units, elements: units };
        for name in self.phase.keys() {
            let (phase, work) = (program.phase(name), self.work(name, amount));
            program.labors(group, phase, work);
        }
        let Messages { allreduce, alltoall } = self.messages;
        if allreduce > 0.0 {
            program.doubling_sum(group, allreduce as u64);
        }
        if alltoall > 0.0 {
            let bytes = (each * alltoall / f64::from(program.ranks)).ceil() as u64;
            program.pairwise_alltoall(group, "all-to-all", bytes.max(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_read() {
        let kinds = ["npb-cg", "npb-ep", "npb-is", "npb-mg", "npb-ft", "npb-lu"];
        for kind in kinds.into_iter().chain(["streaming", "irregular", "compute", "shuffle"]) {
            assert!(!Profile::of(kind).expect("it is right").phase.is_empty(), "{kind}");
        }
    }

    #[test]
    fn what_an_l1_holds_is_instructions_only() {
        let phase = Phase { instructions: 2.0, reads: 16.0, set: 16.0, gathers: 1.0, table: 8.0, ..Phase::default() };
        let profile = Profile { phase: [("p".to_owned(), phase)].into(), ..Profile::default() };
        let amount = |units| Amount { operations: units, units, elements: units };
        let small = StepWorkParams { instructions: 4096, ..StepWorkParams::default() };
        assert_eq!(profile.work("p", amount(2048.0)), small);
        let large = profile.work("p", amount(65536.0));
        assert_eq!((large.read_lines, large.span_lines), (16384, 16384));
        // Of a table of 512 KiB, a sixteenth.
        assert_eq!((large.gathers, large.gather_lines), (65536 * 15 / 16, 8192));
    }
}
