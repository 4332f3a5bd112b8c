//! Benchmarks of one memory channel without a host: requests per second of processor time.
//!
//! An event is a request that is accepted or a DRAM command that is issued; the pending count is that of the entries
//! in use of both queues.

use crate::sample::{interleaved, Sample, Work};
use crate::server::{hash, row, Clock};
use crate::{Row, Size};
use hostnet_config::{memory_plan, Format, Input, MemoryPlan};
use hostnet_sim::memory::MemorySimulation;
use serde_json::Value;
use std::path::Path;

/// A channel of DDR4-2933 with a controller like that of Ramulator.
const CHANNEL: &str = r#"
[memory]
device = "DDR4_2933"
profile = "ramulator"
[run]
warmup = 0.0
"#;

/// Name, pattern, share of reads, load (`None`: saturated) and entries of each queue.
type Case = (&'static str, &'static str, f64, Option<f64>, u32);

const CASES: [Case; 6] = [
    ("memory, sequential reads, saturated", "sequential", 1.0, None, 32),
    ("memory, random reads, saturated", "random", 1.0, None, 32),
    ("memory, random 67:33, 60% load", "random", 0.67, Some(0.6), 32),
    ("memory, random reads, 1% load", "random", 1.0, Some(0.01), 32),
    ("memory, random 50:50, saturated", "random", 0.5, None, 32),
    ("memory, random 50:50, saturated, 128 entries", "random", 0.5, None, 128),
];

/// Benchmarks a channel from nearly idle to saturated.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let (repetitions, requests) = if size == Size::Quick { (1, 2_000) } else { (3, 2_000_000) };
    let measured = CASES.iter().map(|case| {
        let plan = plan(case, requests);
        let samples = interleaved(repetitions, &[&|| measure(&plan)]);
        row(case.0, &(samples.typical(0), requests), None)
    });
    measured.collect()
}

/// Serves `requests` of case number `case`.
pub(crate) fn count(case: usize, requests: u64) -> Work {
    Work { units: requests, hash: measure(&plan(&CASES[case], requests)).hash }
}

/// # Panics
/// Panics if the configuration of a benchmark is invalid.
fn plan(&(_, pattern, reads, load, entries): &Case, requests: u64) -> MemoryPlan {
    let mut overrides = vec![
        format!("traffic.pattern=\"{pattern}\""),
        format!("traffic.reads={reads:?}"),
        format!("traffic.requests={requests}"),
        format!("memory.controller.rpq.entries={entries}"),
        format!("memory.controller.wpq.entries={entries}"),
    ];
    overrides.extend(load.map(|load| format!("traffic.load={load:?}")));
    let base_dir = Path::new(".");
    let input = Input { text: CHANNEL, format: Format::Toml, file: "benchmark", base_dir, overrides: &overrides };
    memory_plan(&input).expect("the configuration of a benchmark is right")
}

/// Measures one run, in seconds of processor time where the system counts that.
fn measure(plan: &MemoryPlan) -> Sample {
    let mut simulation = MemorySimulation::new(plan, false, |_| true).expect("described traffic cannot be wrong");
    let clock = Clock::start();
    while simulation.step(|_| ()).expect("described traffic cannot be wrong") {}
    let seconds = clock.seconds();
    let report = simulation.report();
    let summary = &report.summary;
    let commands = summary["commands"].as_object().into_iter().flat_map(|kinds| kinds.values());
    let events = commands.filter_map(Value::as_u64).sum::<u64>() + simulation.status().requests;
    let domains = summary["domains"].as_array().into_iter().flatten();
    let pending_max = domains.filter_map(|domain| domain["in_use_max"].as_u64()).sum();
    Sample { seconds, events, pending_max, hash: hash(&report.result_hash) }
}
