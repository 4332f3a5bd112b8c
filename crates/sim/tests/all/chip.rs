//! Tests runs of chips: windows, sums, and that equal plans give equal results.

use hostnet_config::{chip_plan, ChipPlan, Format, Input};
use hostnet_kernel::ThreadExchange;
use hostnet_sim::chip::{ChipPhase, ChipReport, ChipSimulation};
use hostnet_sim::SharedExchange;
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex};

fn plan(overrides: &[&str]) -> ChipPlan {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    let text = "[chip]\npreset = \"scale-out-64\"\n";
    let input =
        Input { text, format: Format::Toml, file: "chip.toml", base_dir: Path::new("."), overrides: &overrides };
    chip_plan(&input).unwrap_or_else(|error| panic!("{error}"))
}

fn run(overrides: &[&str]) -> ChipReport {
    let plan = plan(overrides);
    let mut simulation = ChipSimulation::new(&plan);
    while simulation.step().expect("something moves") {}
    assert!(simulation.complete());
    simulation.report()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn the_parts_add_up_to_the_latency_exactly() {
    for placement in ["edge", "per-tile", "split", "numa"] {
        let report = run(&[&format!("ni.placement={placement}"), "run.window=50 us", "run.max=2"]);
        let summary = report.summary;
        let breakdown = &summary["breakdown"];
        let parts = breakdown["parts"].as_array().unwrap();
        let sum: u64 = parts.iter().map(|part| part["sum_cycles"].as_u64().unwrap()).sum();
        assert_eq!(breakdown["sum_cycles"], sum, "{placement}");
        let mean = sum as f64 / number(&summary["operations"]);
        assert!((number(&summary["latency"]["mean_cycles"]) - mean).abs() < 1e-9, "{placement}");
        assert!((number(&summary["latency"]["mean_ns"]) - mean / 2.0).abs() < 1e-9, "{placement}");
        assert_eq!(summary["limit"]["by"], "latency");
        assert!(parts.iter().any(|part| part["part"] == "network_out" && part["mean_cycles"] == 70.0));
    }
}

#[test]
fn a_noc_out_is_quicker_and_names_its_links() {
    let given = ["run.window=300 us", "run.max=1"];
    let mesh = run(&given).summary;
    let noc_out = run(&[&given[..], &["noc.topology=noc-out"]].concat()).summary;
    let mean = |summary: &Value| number(&summary["latency"]["mean_cycles"]);
    assert!(mean(&noc_out) < mean(&mesh), "{} and {} cycles", mean(&noc_out), mean(&mesh));
    let links = noc_out["noc"]["links"].as_array().unwrap();
    let of = |kind: &str| links.iter().filter(|link| link["kind"] == kind).count();
    assert_eq!((of("across"), of("chain"), of("mesh")), (8 * 7, 2 * 64, 0));
    assert_eq!((of("core"), of("slice"), of("edge"), of("memory")), (64, 8, 8, 8));
    assert!(links.iter().any(|link| link["link"] == "(3, 4) -> NI of LLC tile 3"));
    assert!(links.iter().any(|link| link["link"] == "(3, 3) -> core 24"));
}

#[test]
fn a_window_counts_only_itself() {
    let long = run(&["workload.mode=async", "run.warmup=10 us", "run.window=4 us", "run.max=3", "run.change=0.0001"]);
    let summary = long.summary;
    assert_eq!((&summary["windows"], &summary["window_cycles"]), (&Value::from(3), &Value::from(8000)));
    let payload = number(&summary["bandwidth"]["lines_own"]) * 64.0 / 4000.0;
    assert!((number(&summary["bandwidth"]["in_gb_per_s"]) - payload).abs() < 1e-9);
    for link in summary["noc"]["links"].as_array().unwrap() {
        assert!(number(&link["share"]) <= 1.0, "a link carries a flit per cycle at most: {link}");
    }
    assert!(number(&summary["llc"]["accesses"]) > 0.0 && number(&summary["rrpp"]["mean_cycles"]) > 150.0);
}

#[test]
fn writes_go_out_and_come_in() {
    let given = ["workload.mode=sync", "workload.op=write", "workload.size=256 B", "run.window=5 us", "run.max=2"];
    let rates = &run(&given).summary["bandwidth"];
    assert!(number(&rates["out_gb_per_s"]) > 0.0);
    let both = number(&rates["in_gb_per_s"]) + number(&rates["out_gb_per_s"]);
    assert!((number(&rates["application_gb_per_s"]) - both).abs() < 1e-9);
}

/// Settings of a small rack: chips with few cores and a small LLC.
const RACK: [&str; 9] = [
    "rack.kind=torus",
    "rack.size=[2, 2, 2]",
    "chip.columns=4",
    "chip.rows=2",
    "coherence.llc=256 KiB",
    "workload.mode=async",
    "run.warmup=2 us",
    "run.window=2 us",
    "run.max=2",
];

fn run_with(plan: &ChipPlan, threads: usize, way: Option<SharedExchange>) -> ChipReport {
    let mut simulation = ChipSimulation::with(plan, threads, way);
    while simulation.step().expect("something moves") {}
    simulation.report()
}

#[test]
fn a_rack_is_the_same_on_any_threads_and_processes() {
    let plan = plan(&RACK);
    let one = run_with(&plan, 1, None);
    for threads in [2, 5, 8] {
        assert_eq!(run_with(&plan, threads, None), one, "{threads} threads");
    }
    for ranks in [2, 3] {
        let reports: Vec<ChipReport> = std::thread::scope(|scope| {
            let ways =
                ThreadExchange::all(ranks).into_iter().map(|way| -> SharedExchange { Arc::new(Mutex::new(way)) });
            let started: Vec<_> = ways.map(|way| scope.spawn(|| run_with(&plan, 2, Some(way)))).collect();
            started.into_iter().map(|one| one.join().expect("it ends")).collect()
        });
        assert!(reports.iter().all(|report| *report == one), "{ranks} processes");
    }
}

#[test]
fn a_rack_is_the_sum_of_its_chips() {
    let summary = run(&RACK).summary;
    assert_eq!(summary["rack"], serde_json::json!({ "chips": 8, "size": [2, 2, 2], "diameter": 3 }));
    let chips = summary["chips"].as_array().unwrap();
    assert_eq!((chips.len(), &chips[6]["at"]), (8, &serde_json::json!([0, 1, 1])));
    let sum = |of: &dyn Fn(&Value) -> f64| chips.iter().map(of).sum::<f64>();
    assert_eq!(sum(&|chip| number(&chip["operations"])), number(&summary["operations"]));
    for key in ["application_gb_per_s", "in_gb_per_s", "out_gb_per_s", "lines_own", "lines_served"] {
        let total = number(&summary["bandwidth"][key]);
        assert!((sum(&|chip| number(&chip["bandwidth"][key])) / total - 1.0).abs() < 1e-9, "{key}");
    }
    let mean = sum(&|chip| number(&chip["operations"]) * number(&chip["latency"]["mean_cycles"]));
    assert!((mean / number(&summary["operations"]) / number(&summary["latency"]["mean_cycles"]) - 1.0).abs() < 1e-9);
    let most = chips.iter().map(|chip| number(&chip["share"])).fold(0.0, f64::max);
    let fullest = number(&summary["noc"]["links"][0]["share"]);
    assert!(fullest <= most && most <= 1.0, "the mean of a link is at most the fullest one");
}

#[test]
fn equal_plans_give_equal_results_and_others_do_not() {
    let given = ["workload.mode=sync", "run.warmup=2 us", "run.window=3 us", "run.max=2"];
    let (one, other) = (run(&given), run(&given));
    assert_eq!(one, other);
    let seeded = run(&[&given[..], &["run.seed=2"]].concat());
    assert_ne!(one.result_hash, seeded.result_hash);
}

#[test]
fn a_stopped_run_reports_its_results_so_far() {
    let plan = plan(&["run.window=20 us", "run.warmup=1 us"]);
    let mut simulation = ChipSimulation::new(&plan);
    assert_eq!(simulation.status().phase, ChipPhase::WarmUp);
    for _ in 0..12 {
        assert!(simulation.step().unwrap());
    }
    assert_eq!(simulation.status().phase, ChipPhase::Window(1));
    let summary = simulation.report().summary;
    assert_eq!((&summary["complete"], &summary["stable"]), (&Value::Bool(false), &Value::Bool(false)));
    assert!(number(&summary["operations"]) > 0.0);
}
