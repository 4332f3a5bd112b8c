//! Tests that the same plan gives the same result: repeated, across a checkpoint, on any number of threads, with or
//! without a series.

use crate::common;
use crate::common::{example, stream};
use hostnet_config::Plan;
use hostnet_kernel::Rng;
use hostnet_sim::{run_many, CheckpointError, Options, Report, Run};

/// Returns a short run with all traffic: cores that load and store, and drives that are read and written.
fn mixed(seed: u64) -> Plan {
    let seed = format!("run.seed={seed}");
    let settings =
        ["workload.stream.reads=0.5", "workload.stream.cores=0-2", "run.warmup=15 us", "run.duration=45 us", &seed];
    example(common::QUADRANT_3, &settings)
}

/// Returns a plan of drives with a path to each of two sockets, with memory interleaved over both.
fn octo() -> Plan {
    let text = "server.preset = \"skylake-8160\"\nssd.mode = \"octo\"\n[workload.disk]\nkind = \"fio\"\n\
        memory = \"interleave\"\njobs = [{ rw = \"rw\", bs = \"64 KiB\", iodepth = 8, size = \"1 GiB\", ssd = 0 }]\n\
        [run]\nwarmup = \"15 us\"\nduration = \"45 us\"\n";
    common::plan(text, &[])
}

/// Returns a plan of cores with caches and memory interleaved between local DRAM and a CXL link.
fn expanded() -> Plan {
    let more = ["expander={}", "workload.stream.memory=interleave", "workload.stream.working_set=1 MiB"];
    let cached =
        ["cache.enabled=true", "cache.l2.sets=64", "cache.llc.sets=64", "run.warmup=15 us", "run.duration=45 us"];
    stream("0-2", 0.5, &[&more[..], &cached].concat())
}

fn run(plan: &Plan, options: Options) -> Run {
    let mut run = Run::new(plan, options);
    assert_eq!(run.run(|_| true), Ok(true));
    run
}

fn report(plan: &Plan) -> Report {
    run(plan, Options::default()).report()
}

#[test]
fn a_seed_gives_one_result() {
    let first = report(&mixed(1));
    let again = report(&mixed(1));
    assert_eq!(first, again);
    assert_eq!(first.result_hash, again.result_hash);
    assert_ne!(first.result_hash, report(&mixed(2)).result_hash);
}

#[test]
fn a_checkpoint_at_any_time_changes_nothing() {
    for (index, plan) in [mixed(3), stream("0-1", 0.3, &["run.warmup=auto"]), octo(), expanded()].iter().enumerate() {
        let plain = run(plan, Options::default());
        let end_ps = plain.simulated_ps();
        let hash = plain.clone().report().result_hash;
        let mut draw = Rng::new(9, index as u64);
        for checkpoint_at_ps in [1, 15_000_000, draw.below(end_ps), draw.below(end_ps), end_ps - 1] {
            let options = Options { checkpoint_at_ps, ..Options::default() };
            let mut through = run(plan, options);
            assert_eq!(through.report().result_hash, hash, "taking it at {checkpoint_at_ps} ps");
            let bytes = through.checkpoint().unwrap_or_else(|| panic!("no checkpoint at {checkpoint_at_ps} ps"));
            let mut resumed = Run::resume(plan, Options::default(), bytes).expect("a checkpoint of the same plan");
            assert_eq!(resumed.simulated_ps(), checkpoint_at_ps);
            assert_eq!(resumed.run(|_| true), Ok(true));
            assert_eq!(resumed.report().result_hash, hash, "going on from {checkpoint_at_ps} ps");
            assert_eq!(resumed.pending_max(), plain.pending_max());
        }
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let options = Options { checkpoint_at_ps: 5_000_000, ..Options::default() };
    let through = run(&mixed(4), options);
    let bytes = through.checkpoint().expect("a checkpoint");
    let other = Run::resume(&mixed(5), Options::default(), bytes);
    assert!(matches!(other, Err(CheckpointError::Label { .. })), "another seed");
    let series = Options { series_ps: 1_000_000, ..Options::default() };
    assert!(matches!(Run::resume(&mixed(4), series, bytes), Err(CheckpointError::Label { .. })), "another series");
    let cut = Run::resume(&mixed(4), Options::default(), &bytes[..bytes.len() / 2]);
    assert!(matches!(cut, Err(CheckpointError::Damaged(_))), "half a checkpoint");
}

#[test]
fn stopping_and_resuming_changes_nothing() {
    let plan = example(common::QUADRANT_3, &["run.warmup=20 us", "run.duration=300 us"]);
    let whole = report(&plan);
    let mut halting = Run::new(&plan, Options::default());
    // The callback is called before a run continues, so a run that stops at every call would make no progress.
    let (mut told, mut halts) = (0, 0);
    while !halting
        .run(|_| {
            told += 1;
            told % 3 > 0
        })
        .expect("nothing is stuck")
    {
        halts += 1;
    }
    assert!(halts > 1, "the run was stopped {halts} times");
    assert_eq!(halting.report().result_hash, whole.result_hash);
}

#[test]
fn threads_do_not_matter() {
    let plans: Vec<Plan> = (1..=3).map(mixed).collect();
    let hashes = |threads: usize| -> Vec<String> {
        let finished = run_many(&plans, Options::default(), threads, |_| true).expect("nothing is stuck");
        finished.into_iter().map(|finished| finished.report.result_hash).collect()
    };
    let one = hashes(1);
    assert_eq!(one, hashes(2));
    assert_eq!(one, hashes(16));
    assert_eq!(one[0], report(&mixed(1)).result_hash);
}

#[test]
fn a_series_does_not_change_the_other_tables() {
    let plain = report(&mixed(6));
    for series_ps in [700_001, 1_000_000, 40_000_000] {
        let mut with = run(&mixed(6), Options { series_ps, ..Options::default() });
        let with = with.report();
        for name in ["workloads", "domains", "channels"] {
            assert_eq!(with.table(name), plain.table(name), "{name} with a series every {series_ps} ps");
        }
        assert_eq!(with.summary, plain.summary);
        let rows = with.table("series").expect("a series").rows.len();
        assert!(rows > 0 && plain.table("series").is_some_and(|table| table.rows.is_empty()));
    }
}
