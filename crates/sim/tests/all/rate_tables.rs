//! Tests tables of rates that runs share: results are the same with and without them, and on any number of threads.

use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_sim::{run_many, Options, Preparation, RateTables, Run};
use std::fs;
use std::path::{Path, PathBuf};

const CLUSTER: &str = r#"
[host.receiver]
preset = "cascade-lake-hostcc"
fidelity = "fluid"
[host.sender]
kind = "endpoint"
[flow.bulk]
kind = "bulk"
from = "sender"
to = "receiver"
[run]
duration = "200 us"
warmup = "100 us"
"#;

fn plan(overrides: &[&str]) -> Plan {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let base_dir = Path::new(".");
    let input = Input { text: CLUSTER, format: Format::Toml, file: "t.toml", base_dir, overrides: &overrides };
    resolve(&input).expect("a right cluster")
}

/// Returns tables like those of a new process. Tables live as long as the process.
fn tables(folder: fn() -> Option<PathBuf>) -> Option<&'static RateTables> {
    Some(Box::leak(Box::new(RateTables::new(folder))))
}

/// Returns the path of the folder of a test.
fn place(name: &str) -> Option<PathBuf> {
    Some(std::env::temp_dir().join(format!("hostnet-rates-{}-{name}", std::process::id())))
}

fn files(folder: fn() -> Option<PathBuf>) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder().expect("a folder").join("rates-1")).expect("it was made");
    entries.map(|entry| entry.expect("it is there").path()).collect()
}

fn with(rate_tables: Option<&'static RateTables>) -> Options {
    Options { rate_tables, ..Options::default() }
}

/// Returns the hash of the results, and true if rates were measured.
fn outcome(plan: &Plan, options: Options) -> (String, bool) {
    let mut measured = false;
    let run = Run::prepare(plan, options, |stage| {
        measured |= matches!(stage, Preparation::Rates { .. });
        true
    });
    let mut run = run.expect("nobody stops it");
    assert!(run.run(|_| true).expect("it is not stuck"));
    (run.report().result_hash, measured)
}

#[test]
fn a_table_is_measured_once() {
    let folder = || place("once");
    let plan = plan(&[]);
    let (hash, measured) = outcome(&plan, Options::default());
    assert!(measured);
    let first = tables(folder);
    assert_eq!(outcome(&plan, with(first)), (hash.clone(), true));
    assert_eq!(outcome(&plan, with(first)), (hash.clone(), false), "it is in memory");
    assert_eq!(outcome(&plan, with(tables(folder))), (hash.clone(), false), "it is in the folder");
    assert_eq!(files(folder).len(), 1);
    fs::remove_dir_all(folder().unwrap()).expect("it is ours");
    assert_eq!(outcome(&plan, with(first)), (hash.clone(), false), "it is in memory still");
    assert_eq!(outcome(&plan, with(tables(folder))), (hash, true), "the folder is gone");
    fs::remove_dir_all(folder().unwrap()).expect("it is ours");
}

#[test]
fn a_damaged_file_is_measured_anew_and_replaced() {
    let folder = || place("damaged");
    let plan = plan(&[]);
    let (hash, _) = outcome(&plan, with(tables(folder)));
    let file = files(folder).pop().expect("a table");
    let whole = fs::read(&file).expect("it is there");
    let _ = outcome(&self::plan(&["run.seed=2"]), with(tables(folder)));
    let other = files(folder).into_iter().find(|other| *other != file).expect("another table");
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    for damaged in [&whole[..whole.len() - 1], b"", &changed, &fs::read(&other).expect("it is there")] {
        fs::write(&file, damaged).expect("it is ours");
        assert_eq!(outcome(&plan, with(tables(folder))), (hash.clone(), true));
        assert!(fs::read(&file).expect("it is there") == whole);
    }
    fs::remove_dir_all(folder().unwrap()).expect("it is ours");
}

#[test]
fn runs_at_once_share_the_work() {
    let folder = || place("at-once");
    let plans = ["150 us", "200 us", "250 us"].map(|length| plan(&[&format!("run.duration=\"{length}\"")]));
    let alone = plans.each_ref().map(|plan| outcome(plan, Options::default()).0);
    let [one, other] = [tables(folder), tables(folder)];
    let many = |kept| run_many(&plans, with(kept), 3, |_| true).expect("it is not stuck");
    // Two sets of tables with one folder are like two processes.
    let both = std::thread::scope(|scope| {
        let second = scope.spawn(|| many(other));
        [many(one), second.join().expect("it ends")]
    });
    for finished in both {
        let hashes: Vec<String> = finished.into_iter().map(|finished| finished.report.result_hash).collect();
        assert_eq!(hashes, alone);
    }
    assert_eq!(files(folder).len(), 1, "a table does not depend on the length of a run");
    fs::remove_dir_all(folder().unwrap()).expect("it is ours");
}

#[test]
fn a_run_continues_the_table_of_one_that_was_stopped() {
    let plan = plan(&[]);
    let kept = tables(|| None);
    let on_stage = |stage| !matches!(stage, Preparation::Rates { done: 1, .. });
    assert!(Run::prepare(&plan, with(kept), on_stage).is_none());
    let mut first = None;
    let run = Run::prepare(&plan, with(kept), |stage| {
        first.get_or_insert(stage);
        true
    });
    assert!(matches!(first, Some(Preparation::Rates { done: 1, .. })), "{first:?}");
    let mut run = run.expect("nobody stops it");
    assert!(run.run(|_| true).expect("it is not stuck"));
    assert_eq!(run.report().result_hash, outcome(&plan, Options::default()).0);
}

#[test]
fn threads_do_not_change_a_table() {
    let ddio = ["host.receiver.cache.enabled=true", "host.receiver.nic.ddio=true"];
    let level = ["host.receiver.control.rule=\"fixed\"", "host.receiver.control.level=2"];
    let sender = |key: &str, value: &str| format!("host.sender.{key}=\"{value}\"");
    let two = [("kind", "server"), ("preset", "cascade-lake-hostcc"), ("fidelity", "fluid")];
    let two = two.map(|(key, value)| sender(key, value));
    for overrides in [&ddio[..], &level, &two.each_ref().map(String::as_str)] {
        let plan = plan(overrides);
        let on = |threads| outcome(&plan, Options { threads, ..Options::default() });
        assert_eq!(on(1), on(4), "{overrides:?}");
    }
}
