//! Tests cores that replay the trace of a program.

use crate::common;
use hostnet_config::Plan;
use hostnet_sim::{check_traces, Options, Report, Run, SimulationError};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Folder for the traces of one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hostnet-replay-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for traces");
        Self(path)
    }

    /// Writes a trace of `count` loads and stores with two instructions each, over `lines` lines that are `stride`
    /// bytes apart.
    fn trace(&self, name: &str, count: u64, lines: u64, stride: u64) -> PathBuf {
        let mut text = String::new();
        for number in 0..count {
            let kind = if number % 4 == 0 { 'S' } else { 'L' };
            let address = 0x0400_0000 + number % lines * stride;
            writeln!(text, "I  00001000,4\nI  00001004,4\n {kind} {address:08x},8").expect("text");
        }
        self.file(name, &text)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a trace");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const ONCE: &str = "workload.replay.repeat=false";
const NO_STREAMER: &str = "prefetch.stream=false";
const NO_PAIRS: &str = "prefetch.adjacent=false";

fn replay(file: &Path, cores: &str, overrides: &[&str]) -> Plan {
    let text = format!(
        "[server]\npreset = \"cascade-lake-6234\"\n[cache]\nenabled = true\n\
         [workload.replay]\nkind = \"app\"\napp = \"trace\"\nfile = {file:?}\ncores = \"{cores}\"\n\
         [run]\nwarmup = \"20 us\"\nduration = \"100 us\"\n"
    );
    common::plan(&text, overrides)
}

fn report(plan: &Plan, options: Options) -> Report {
    let mut run = Run::new(plan, options);
    assert_eq!(run.run(|_| true), Ok(true));
    run.report()
}

fn number(report: &Report, table: &str, row: usize, column: &str) -> f64 {
    let table = report.table(table).expect("a table");
    table.number(&table.rows[row], column).unwrap_or_else(|| panic!("no {column}"))
}

fn operations(report: &Report) -> f64 {
    number(report, "workloads", 0, "operations")
}

#[test]
fn a_trace_in_the_l2_runs_at_the_rate_of_its_instructions() {
    let folder = Folder::new("rate");
    // 512 KiB fit in the L2, but not in the L1 that the trace bypasses.
    let plan = replay(&folder.trace("a.lackey", 20_000, 8192, 64), "0", &["workload.replay.ipc=0.5"]);
    let report = report(&plan, Options::default());
    // Two instructions at 3.3 GHz and 0.5 per clock.
    let expected = 100_000.0 / (2.0 / 0.5 / 3.3);
    let found = operations(&report);
    assert!((found / expected - 1.0).abs() < 0.01, "{found} accesses, expected {expected}");
    assert_eq!(number(&report, "caches", 0, "l2_misses"), 0.0);
}

#[test]
fn every_core_has_memory_of_its_own() {
    let folder = Folder::new("own");
    // 16 MiB; the LLC and an L2 together hold 25.75 MiB.
    let file = folder.trace("a.lackey", 1 << 18, 1 << 18, 64);
    let one = report(&replay(&file, "0", &[NO_STREAMER, NO_PAIRS]), Options::default());
    let two = report(&replay(&file, "0,3", &[NO_STREAMER, NO_PAIRS]), Options::default());
    let misses = |report: &Report| number(report, "caches", 0, "llc_misses");
    assert!(misses(&one) < 0.1 * operations(&one), "{} of {} miss", misses(&one), operations(&one));
    assert!(misses(&two) > 0.2 * operations(&two), "{} of {} miss", misses(&two), operations(&two));
}

#[test]
fn without_repeat_a_thread_ends_after_every_step_once() {
    let folder = Folder::new("once");
    let file = folder.trace("a.lackey", 3000, 3000, 64);
    for (cores, threads) in [("0", 1.0), ("1-2", 2.0)] {
        let plan = replay(&file, cores, &[ONCE, "run.warmup=0 ns", NO_STREAMER, NO_PAIRS]);
        let report = report(&plan, Options::default());
        assert_eq!(operations(&report), 3000.0 * threads);
        assert_eq!(number(&report, "caches", 0, "llc_misses"), 3000.0 * threads, "caches begin empty");
    }
}

#[test]
fn pauses_and_checkpoints_change_nothing() {
    let folder = Folder::new("pauses");
    let file = folder.trace("a.lackey", 9_000, 5_000, 192);
    for settings in [&[][..], &[ONCE, "workload.replay.ipc=0.05"]] {
        let settings = [settings, &[NO_STREAMER]].concat();
        let plan = replay(&file, "0-1", &settings);
        let mut whole = Run::new(&plan, Options::default());
        assert_eq!(whole.run(|_| true), Ok(true));
        let outcome = |run: &mut Run| (run.epochs().to_vec(), run.report().result_hash);
        let expected = outcome(&mut whole);
        let epochs = &expected.0;
        for checkpoint_at_ps in [1, 10_000_000, 33_333_333, 60_000_000, 119_000_000] {
            let mut through = Run::new(&plan, Options { checkpoint_at_ps, ..Options::default() });
            assert_eq!(through.run(|_| true), Ok(true));
            assert_eq!(outcome(&mut through), expected);
            let bytes = through.checkpoint().expect("a checkpoint");
            assert!(bytes.len() < 30_000_000, "{} bytes", bytes.len());
            let mut resumed = Run::resume(&plan, Options::default(), bytes).expect("a checkpoint of the same plan");
            assert_eq!(resumed.run(|_| true), Ok(true));
            assert_eq!(outcome(&mut resumed), expected, "{checkpoint_at_ps}");
        }
        let mut halting = Run::new(&plan, Options { series_ps: 7_000_000, ..Options::default() });
        let mut calls = 0;
        while !halting
            .run(|_| {
                calls += 1;
                calls % 2 == 0
            })
            .expect("a right trace")
        {}
        assert_eq!(halting.epochs(), &epochs[..]);
        // A clone of a run reopens the traces.
        let mut copy = Run::new(&plan, Options::default()).clone();
        assert_eq!(copy.run(|_| true), Ok(true));
        assert_eq!(copy.epochs(), &epochs[..]);
    }
}

/// Returns the error of a run with an invalid trace.
fn refused(plan: &Plan) -> String {
    match Run::new(plan, Options::default()).run(|_| true) {
        Err(SimulationError::Trace(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wrong_line_ends_the_run_with_its_place() {
    let folder = Folder::new("wrong");
    let right = std::fs::read_to_string(folder.trace("right.lackey", 100_000, 100_000, 64)).expect("a trace");
    let file = folder.file("wrong.lackey", &(right + " L what,8\n"));
    for settings in [&[][..], &[ONCE]] {
        let plan = replay(&file, "0", &[settings, &["run.duration=5 ms", "run.warmup=0 ns"]].concat());
        assert_eq!(check_traces(plan.server().unwrap()), Ok(()), "the beginning is right");
        let message = refused(&plan);
        assert!(message.starts_with(&format!("{}:300001: ", file.display())), "{message}");
    }
    let short = replay(&file, "0", &[ONCE, "run.duration=1 us", "run.warmup=0 ns"]);
    assert_eq!(Run::new(&short, Options::default()).run(|_| true), Ok(true), "it does not come that far");
    let plan = replay(&folder.file("early.lackey", "I  1000,4\n L 1000,8\n S ,8\n"), "0", &[]);
    let error = check_traces(plan.server().unwrap()).expect_err("the third line is wrong").to_string();
    assert!(error.contains("early.lackey:3: "), "{error}");
}

#[test]
fn a_trace_that_is_cut_or_gone_ends_the_run() {
    let folder = Folder::new("gone");
    let file = folder.trace("a.lackey", 1000, 1000, 64);
    let plan = replay(&file, "0", &[]);
    std::fs::remove_file(&file).expect("a file");
    assert!(refused(&plan).contains("cannot be read"), "{}", refused(&plan));
    let text = std::fs::read_to_string(folder.trace("b.lackey", 1000, 1000, 64)).expect("a trace");
    let plan = replay(&folder.file("b.lackey", text.trim_end()), "0", &[]);
    assert!(refused(&plan).contains("b.lackey:3000: is cut short"), "{}", refused(&plan));
}

#[test]
fn a_trace_larger_than_memory_is_refused_where_it_does_not_fit() {
    let folder = Folder::new("large");
    let file = folder.trace("a.lackey", 100_000, 100_000, 4096);
    let fits = ["memory.size=400 MiB"];
    assert_eq!(Run::new(&replay(&file, "0", &fits), Options::default()).run(|_| true), Ok(true));
    let message = refused(&replay(&file, "0", &["memory.size=200 MiB"]));
    assert!(message.contains("a.lackey:153603: 0x10800000 does not fit"), "{message}");
    let message = refused(&replay(&file, "0-1", &fits));
    assert!(message.contains("does not fit: the pages before it fill the memory of 209715200 bytes"), "{message}");
}

#[test]
fn instructions_that_a_trace_does_not_tell_are_one_per_access() {
    let folder = Folder::new("bare");
    let text: String = (0..8192).map(|line| format!("ST {:#x}\n", line * 64)).collect();
    let plan = replay(&folder.file("a.trace", &text), "0", &["workload.replay.ipc=0.5", NO_STREAMER]);
    let found = operations(&report(&plan, Options::default()));
    let expected = 100_000.0 / (1.0 / 0.5 / 3.3);
    assert!((found / expected - 1.0).abs() < 0.01, "{found} accesses, expected {expected}");
}

/// Stores that wait long for the LLC leave no deficit: the accesses after them take their full time.
#[test]
fn a_delayed_core_does_not_catch_up_instantly() {
    let folder = Folder::new("held");
    let store = |line: u64| format!("ST {:#x}\n", line * 64);
    let text: String = (0..60_000).chain((0..300_000).map(|number| number % 8192)).map(store).collect();
    let file = folder.file("a.trace", &text);
    let plan = replay(&file, "0", &["run.duration=400 us", "run.warmup=0 ns", NO_STREAMER, NO_PAIRS]);
    let most = 400_000.0 / (1.0 / 2.0 / 3.3);
    let found = operations(&report(&plan, Options::default()));
    assert!(found > 360_000.0 && found < 0.9 * most, "{found} accesses, {most} if none waited");
}

#[test]
fn the_example_runs() {
    let report = report(&common::example("trace.toml", &["run.duration=50 us"]), Options::default());
    assert!(number(&report, "workloads", 1, "operations") > 1000.0);
}
