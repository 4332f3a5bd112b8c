//! Tests the memory alone, from a plan to its summary: closed forms, laws, and equal results of equal plans.

use hostnet_config::{memory_plan, Format, Input, MemoryPlan};
use hostnet_sim::memory::{MemoryError, MemoryPhase, MemoryReport, MemorySimulation};
use proptest::prelude::*;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

fn plan(settings: &[&str]) -> MemoryPlan {
    let overrides: Vec<String> = settings.iter().map(|text| text.to_string()).collect();
    let base_dir = Path::new("");
    let input = Input { text: "", format: Format::Toml, file: "text", base_dir, overrides: &overrides };
    memory_plan(&input).unwrap_or_else(|error| panic!("{error}"))
}

fn run(plan: &MemoryPlan) -> Result<MemoryReport, MemoryError> {
    let mut simulation = MemorySimulation::new(plan, false, |_| true)?;
    while simulation.step(|_| ())? {}
    assert!(simulation.complete());
    Ok(simulation.report())
}

fn summary(settings: &[&str]) -> Value {
    run(&plan(settings)).unwrap_or_else(|error| panic!("{error}")).summary
}

fn number(summary: &Value, pointer: &str) -> f64 {
    summary.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} is no number in {summary}"))
}

fn trace(name: &str, lines: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("hostnet-{}-{name}", std::process::id()));
    std::fs::File::create(&path).and_then(|mut file| file.write_all(lines.as_bytes())).expect("a file can be written");
    path
}

#[test]
fn sequential_reads_take_all_of_the_bus_but_the_refreshes() {
    let summary = summary(&["memory.profile=ramulator", "traffic.pattern=seq", "traffic.requests=100000"]);
    let share = number(&summary, "/bandwidth/share_of_peak");
    assert!((share - (1.0 - 514.0 / 11437.0)).abs() < 0.01, "{share}");
    assert!(number(&summary, "/rows/hit_share") > 0.98);
    assert!(summary["latency"]["read_from_arrival"].is_null());
    assert_eq!(summary["bandwidth"]["offered_gb_per_s"], Value::Null);
}

#[test]
fn a_read_of_an_idle_bank_takes_rcd_cl_and_a_burst() {
    let path = trace("lone", "0x0 READ 0\n0x100000 READ 900\n0x200000 READ 1800\n");
    let trace = format!("trace.path={}", path.display());
    let summary = summary(&["memory.profile=ramulator", "memory.map=C", "run.warmup=0.0", &trace]);
    std::fs::remove_file(path).expect("it is there");
    for latency in ["read_from_arrival", "read_from_acceptance"] {
        let mean_ns = number(&summary, &format!("/latency/{latency}/mean_ns"));
        assert!((mean_ns - (21 + 21 + 4) as f64 * 7.5 / 11.0).abs() < 1e-9, "{latency}: {mean_ns}");
    }
    assert_eq!(number(&summary, "/requests/reads"), 3.0);
}

#[test]
fn the_offered_load_is_accepted_below_saturation() {
    for (device, channels) in [("DDR4_2933", 1), ("DDR5_4800", 3), ("HBM2E", 1)] {
        let channels = format!("memory.channels={channels}");
        let device = format!("memory.device={device}");
        let summary = summary(&[&device, &channels, "traffic.load=0.3", "traffic.requests=60000"]);
        let offered = number(&summary, "/bandwidth/offered_gb_per_s");
        assert!((offered - 0.3 * number(&summary, "/memory/peak_gb_per_s")).abs() < 1e-9);
        let accepted = number(&summary, "/bandwidth/gb_per_s");
        assert!((accepted / offered - 1.0).abs() < 0.02, "{device}: {accepted} of {offered} GB/s");
    }
}

#[test]
fn a_share_of_warm_up_is_a_share_of_the_requests_of_a_trace() {
    let path = trace("counted", &"LD 0x40\nST 128\n".repeat(500));
    let trace = format!("trace.path={}", path.display());
    for (warm_up, measured) in [("0.0", 1000.0), ("0.1", 900.0), ("0.9", 100.0)] {
        let summary = summary(&[&trace, &format!("run.warmup={warm_up}")]);
        assert_eq!(number(&summary, "/requests/measured"), measured, "{warm_up}");
        assert_eq!(number(&summary, "/requests/accepted"), 1000.0);
    }
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn an_error_in_a_trace_is_found_before_the_run_or_in_it() {
    let path = trace("wrong", &format!("{}LD x\n", "LD 64\n".repeat(20_000)));
    let setting = format!("trace.path={}", path.display());
    let error = |setting: &[&str]| run(&plan(setting)).expect_err("the trace is wrong").to_string();
    for warm_up in ["run.warmup=0.1", "run.warmup=0.0"] {
        assert!(error(&[&setting, warm_up]).starts_with(&format!("{}:20001: \"x\"", path.display())));
    }
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn a_pause_of_a_trace_can_be_stopped() {
    let path = trace("pause", "0x0 READ 0\n0x40 READ 9000000000000000\n");
    let setting = format!("trace.path={}", path.display());
    let plan = plan(&[&setting, "run.warmup=0.0"]);
    let mut simulation = MemorySimulation::new(&plan, false, |_| true).expect("the trace is right");
    assert_eq!(simulation.step(|_| ()), Ok(true), "the second read is far away");
    assert_eq!(simulation.status().requests, 1);
    assert_eq!(simulation.status().phase, MemoryPhase::Measuring);
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn counting_can_be_stopped() {
    let path = trace("long", &"LD 64\n".repeat(200_000));
    let setting = format!("trace.path={}", path.display());
    let plan = plan(&[&setting]);
    let mut simulation = MemorySimulation::new(&plan, false, |status| {
        assert_eq!(status.phase, MemoryPhase::Counting);
        false
    })
    .expect("the trace is right");
    assert_eq!(simulation.step(|_| ()), Ok(false));
    assert!(!simulation.complete());
    assert_eq!(number(&simulation.report().summary, "/requests/accepted"), 0.0);
    std::fs::remove_file(path).expect("it is there");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Little's law and conservation hold for any memory and traffic, and equal plans give equal results.
    #[test]
    fn laws_hold(
        device in prop::sample::select(vec!["DDR3_1600", "DDR4_3200", "DDR5_6400", "HBM2E"]),
        profile in prop::sample::select(vec!["intel", "ramulator"]),
        map in prop::sample::select(vec!["A", "B", "C", "intel"]),
        pattern in prop::sample::select(vec!["seq", "rand", "str3", "cstr2"]),
        (channels, outstanding, seed) in (1_u32..7, 0_u32..40, 1_u64..1000),
        (reads, warm_up) in (0.0_f64..=1.0, 0.0_f64..0.9),
    ) {
        let settings = [
            format!("memory.device={device}"), format!("memory.profile={profile}"), format!("memory.map={map}"),
            format!("traffic.pattern={pattern}"), format!("memory.channels={channels}"),
            format!("run.outstanding={outstanding}"), format!("traffic.seed={seed}"), format!("traffic.reads={reads}"),
            format!("run.warmup={warm_up}"), "traffic.requests=6000".to_owned(),
        ];
        let plan = plan(&settings.each_ref().map(String::as_str));
        let report = run(&plan).expect("nothing is wrong");
        prop_assert_eq!(&report, &run(&plan).expect("nothing is wrong"));
        let summary = &report.summary;
        let measured = number(summary, "/requests/measured");
        prop_assert_eq!(number(summary, "/requests/reads") + number(summary, "/requests/writes"), measured);
        prop_assert_eq!(number(summary, "/latency/read_from_acceptance/count"), number(summary, "/requests/reads"));
        prop_assert_eq!(measured + number(summary, "/requests/warm_up"), 6000.0);
        let shares = ["read_mode_share", "write_mode_share", "idle_share"];
        let whole: f64 = shares.iter().map(|share| number(summary, &format!("/time/{share}"))).sum();
        prop_assert!((whole - 1.0).abs() < 1e-9, "{}", whole);
        let channels = summary["channels"].as_array().expect("a list");
        for command in ["ACT", "PRE", "RD", "WR", "REF"] {
            let path = format!("/commands/{command}");
            let sum: f64 = channels.iter().map(|channel| number(channel, &path)).sum();
            prop_assert_eq!(sum, number(summary, &path), "{}", command);
        }
        for channel in channels {
            prop_assert!(number(channel, "/busy_share") <= 1.0 + 1e-9);
        }
        let sources = summary["sources"].as_array().expect("a list");
        let of_sources: f64 = sources.iter().map(|source| number(source, "/reads") + number(source, "/writes")).sum();
        prop_assert_eq!(of_sources, measured);
    }
}
