//! Benchmarks of whole servers: lines per second of processor time on one core, and two runs at a time against two
//! processes.

use crate::sample::{interleaved, Sample, Work};
use crate::{peak_bytes, Row, Size};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_model::params::SocketParams;
use hostnet_sim::{run_many, Options, Run};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Instant;

/// Argument that turns the benchmark program into one of the two worker processes.
pub const WORKER: &str = "--worker";

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

const ONE_CORE: &str = r#"
[server]
preset = "cascade-lake-6234"
[workload.stream]
kind = "stream"
cores = "0"
reads = 1.0
"#;

const QUADRANT_3: &str = r#"
[server]
preset = "cascade-lake-6234"
[workload.stream]
kind = "stream"
cores = "0-5"
reads = 0.0
[workload.disk]
kind = "fio"
job = "quadrant.fio"
cores = "6-7"
"#;

const REDIS: &str = r#"
[server]
preset = "ice-lake-8362"
[cache]
enabled = true
[workload.redis]
kind = "app"
app = "redis"
cores = "0-7"
[workload.disk]
kind = "fio"
job = "quadrant.fio"
cores = "28-31"
"#;

/// Small caches, which fill immediately, for runs whose speed is not measured.
const SMALL_CACHES: [&str; 3] = ["cache.l2.sets=16", "cache.llc.sets=16", "cache.filter.sets=16"];

/// Benchmarks C2M-Read on one core, quadrant 3 on six cores, Redis on eight cores with caches, and the functional
/// warm-up.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let scale = if size == Size::Quick { 1 } else { 100 };
    vec![
        single(size, "C2M-Read, 1 core", &plan(ONE_CORE, 200 * scale)),
        single(size, "quadrant 3, 6 cores", &plan(QUADRANT_3, 50 * scale)),
        single(size, "Redis, 8 cores beside FIO", &redis_plan(size, 20 * scale)),
        warm_up(size),
    ]
}

/// Runs C2M-Read on one core for `us` microseconds, in lines.
pub(crate) fn count_one_core(us: u64) -> Work {
    count(&plan(ONE_CORE, us))
}

/// Runs quadrant 3 on six cores for `us` microseconds, in lines.
pub(crate) fn count_quadrant_3(us: u64) -> Work {
    count(&plan(QUADRANT_3, us))
}

/// Runs Redis on eight cores with small caches for `us` microseconds, in lines.
pub(crate) fn count_redis(us: u64) -> Work {
    count(&plan_with(REDIS, us, &SMALL_CACHES))
}

/// Runs `plan` and counts the lines of its window; warm-ups of all lengths are equal.
fn count(plan: &Plan) -> Work {
    let mut run = Run::new(plan, Options::default());
    run.run(|_| true).expect("a benchmark does not get stuck");
    let report = run.report();
    Work { units: dram_lines(&report.summary).round() as u64, hash: hash(&report.result_hash) }
}

fn redis_plan(size: Size, duration_us: u64) -> Plan {
    plan_with(REDIS, duration_us, if size == Size::Quick { &SMALL_CACHES } else { &[] })
}

/// Benchmarks the functional warm-up, which fills the caches before time starts. An event is an LLC access of a core;
/// the pending count is the number of lines of the LLC.
fn warm_up(size: Size) -> Row {
    let plan = redis_plan(size, 1);
    let repetitions = if size == Size::Quick { 1 } else { 3 };
    row("functional warm-up, Redis, 8 cores", &(interleaved(repetitions, &[&|| filled(&plan)]).typical(0), 0), None)
}

fn filled(plan: &Plan) -> Sample {
    let clock = Clock::start();
    let mut run = Run::new(plan, Options::default());
    let seconds = clock.seconds();
    run.run(|_| true).expect("a benchmark does not get stuck");
    let SocketParams { cache, cha, .. } = plan.server().unwrap().socket();
    let lines =
        cache.as_ref().map_or(0, |cache| u64::from(cache.llc.sets) * u64::from(cache.llc.ways) * u64::from(cha.slices));
    let hash = hash(&run.report().result_hash);
    Sample { seconds, events: hostnet_sim::TURNOVERS * lines, pending_max: lines, hash }
}

/// Benchmarks two runs by `run_many` on two threads; the reference is two processes with a run each.
#[must_use]
pub fn pairs(size: Size) -> Vec<Row> {
    let plan = pair_plan(size);
    // In a test the current program is not the benchmark, so it cannot be started as a worker.
    if size == Size::Quick {
        return vec![row("run_many, 2 runs on 2 threads", &(many(&plan), 0), None)];
    }
    let samples = interleaved(5, &[&|| processes(&plan), &|| many(&plan)]);
    let ratio = samples.times_as_fast(1, 0);
    vec![
        row("2 processes, a run each", &(samples.typical(0), 0), None),
        row("run_many, 2 runs on 2 threads", &(samples.typical(1), 0), Some(ratio)),
    ]
}

/// Runs the work of one worker process.
pub fn work() {
    measure(&pair_plan(Size::Full));
}

/// Returns quadrant 3 on six cores.
pub(crate) fn quadrant_3() -> Plan {
    plan(QUADRANT_3, 50)
}

fn pair_plan(size: Size) -> Plan {
    plan(QUADRANT_3, if size == Size::Quick { 50 } else { 3000 })
}

/// # Panics
/// Panics if the configuration of a benchmark is invalid.
fn plan(text: &str, duration_us: u64) -> Plan {
    plan_with(text, duration_us, &[])
}

/// # Panics
/// Panics if the configuration of a benchmark is invalid.
fn plan_with(text: &str, duration_us: u64, more: &[&str]) -> Plan {
    let mut overrides = vec![format!("run.duration=\"{duration_us} us\""), "run.warmup=\"20 us\"".to_owned()];
    overrides.extend(more.iter().map(|&one| one.to_owned()));
    let input =
        Input { text, format: Format::Toml, file: "benchmark", base_dir: Path::new(EXAMPLES), overrides: &overrides };
    resolve(&input).expect("the configuration of a benchmark is right")
}

fn single(size: Size, name: &str, plan: &Plan) -> Row {
    let repetitions = if size == Size::Quick { 1 } else { 3 };
    let lines = measure(plan).1;
    let samples = interleaved(repetitions, &[&|| measure(plan).0]);
    row(name, &(samples.typical(0), lines), None)
}

pub(crate) fn row(name: &str, (sample, lines): &(Sample, u64), times_reference: Option<f64>) -> Row {
    let with_lines = *lines > 0;
    Row {
        benchmark: name.to_owned(),
        events_per_s: sample.events as f64 / sample.seconds,
        lines_per_s: with_lines.then(|| *lines as f64 / sample.seconds),
        events_per_line: with_lines.then(|| sample.events as f64 / *lines as f64),
        pending_max: sample.pending_max,
        memory_max_bytes: peak_bytes(),
        times_reference,
        hash: format!("{:016x}", sample.hash),
    }
}

/// Measures one run, in seconds of processor time where the system counts that, and the number of lines that crossed
/// DRAM.
fn measure(plan: &Plan) -> (Sample, u64) {
    let mut run = Run::new(plan, Options::default());
    let clock = Clock::start();
    run.run(|_| true).expect("a benchmark does not get stuck");
    let seconds = clock.seconds();
    let (events, pending_max) = (run.events(), run.pending_max() as u64);
    let report = run.report();
    // Lines are counted in the window only, events also in the warm-up: scale the lines up to the whole run.
    let simulated = run.simulated_ps() as f64 / (run.simulated_ps() as f64 - warm_up_ps(&report.summary));
    let lines = dram_lines(&report.summary) * simulated;
    (Sample { seconds, events, pending_max, hash: hash(&report.result_hash) }, lines as u64)
}

fn warm_up_ps(summary: &serde_json::Value) -> f64 {
    summary["warm_up_ns"].as_f64().unwrap_or(0.0) * 1000.0
}

/// Returns the number of lines read from and written to DRAM in the window.
fn dram_lines(summary: &serde_json::Value) -> f64 {
    let window_ns = summary["window_ns"].as_f64().unwrap_or(0.0);
    let rate = |key: &str| summary["channels"][0][key].as_f64().unwrap_or(0.0);
    (rate("read_gb_per_s") + rate("write_gb_per_s")) * window_ns / 64.0
}

pub(crate) fn hash(hexadecimal: &str) -> u64 {
    u64::from_str_radix(&hexadecimal[..16], 16).unwrap_or(0)
}

fn many(plan: &Plan) -> Sample {
    let plans = [plan.clone(), plan.clone()];
    // Wall time, as the work is on other threads.
    let start = Instant::now();
    let finished = run_many(&plans, Options::default(), 2, |_| true).expect("a benchmark does not get stuck");
    Sample { seconds: start.elapsed().as_secs_f64(), ..both(&finished) }
}

fn both(finished: &[hostnet_sim::FinishedRun]) -> Sample {
    Sample {
        seconds: 0.0,
        events: finished.iter().map(|one| one.events).sum(),
        pending_max: finished.iter().map(|one| one.pending_max as u64).max().unwrap_or(0),
        hash: hash(&finished[0].report.result_hash),
    }
}

/// Measures two concurrent processes. Their results are known, so only their time matters.
fn processes(plan: &Plan) -> Sample {
    let (sample, _) = measure(plan);
    let start = Instant::now();
    let workers: Vec<Child> = (0..2).map(|_| worker()).collect();
    workers.into_iter().for_each(|mut child| {
        child.wait().expect("a worker ends");
    });
    Sample { seconds: start.elapsed().as_secs_f64(), events: sample.events * 2, ..sample }
}

fn worker() -> Child {
    let program = std::env::current_exe().expect("the benchmark knows its program");
    Command::new(program).arg(WORKER).spawn().expect("a worker starts")
}

/// Measures processor time of this thread where the system counts that, wall time elsewhere.
pub(crate) struct Clock {
    processor_ns: Option<u64>,
    wall: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { processor_ns: processor_ns(), wall: Instant::now() }
    }

    pub(crate) fn seconds(&self) -> f64 {
        match (self.processor_ns, processor_ns()) {
            // The system updates its count only from time to time, so the count may not have changed after a very
            // short run.
            (Some(start), Some(end)) if end > start => (end - start) as f64 / 1e9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

fn processor_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
