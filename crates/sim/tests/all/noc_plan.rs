//! Tests a network on a chip alone, from a plan to its summary.

use hostnet_config::{noc_plan, Format, Input, NocPlan};
use hostnet_sim::noc::{NocPhase, NocReport, NocRunError, NocSimulation};
use std::path::Path;

fn plan(overrides: &[&str]) -> NocPlan {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    let base_dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let input = Input { text: "", format: Format::Toml, file: "noc.toml", base_dir, overrides: &overrides };
    noc_plan(&input).unwrap_or_else(|error| panic!("{error}"))
}

fn run(overrides: &[&str]) -> NocReport {
    let plan = plan(overrides);
    let mut simulation = NocSimulation::new(&plan, |_| true).expect("it can begin");
    while simulation.step() {}
    assert!(simulation.complete());
    simulation.report()
}

fn trace(name: &str, text: &str) {
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), text).expect("it can be written");
}

#[test]
fn packets_pass_through_all_phases_and_come_out_as_they_went_in() {
    let plan = plan(&["run.warmup=2000", "run.measure=3000", "traffic.rate=0.35"]);
    let mut simulation = NocSimulation::new(&plan, |_| true).expect("it can begin");
    let mut phases = vec![simulation.status().phase];
    while simulation.step() {
        let status = simulation.status();
        assert!(status.simulated_ps == status.cycles * 500 && status.done_ppm <= 1_000_000);
        phases.push(status.phase);
    }
    phases.dedup();
    assert_eq!(phases[..2], [NocPhase::WarmUp, NocPhase::Measuring]);
    let summary = simulation.report().summary;
    assert_eq!(summary["packets"]["measured"], summary["packets"]["arrived"]);
    assert_eq!(summary["cycles"]["measured"], 3000);
    assert_eq!(summary["saturation"]["saturated"], false);
}

#[test]
fn looking_at_a_run_changes_nothing() {
    let plan = plan(&["run.measure=2000", "noc.routing=o1turn", "traffic.packet_flits=3"]);
    let mut simulation = NocSimulation::new(&plan, |_| true).expect("it can begin");
    while simulation.step() {
        assert!(!simulation.report().result_hash.is_empty());
    }
    let again = run(&["run.measure=2000", "noc.routing=o1turn", "traffic.packet_flits=3"]);
    assert_eq!(simulation.report(), again);
}

#[test]
fn a_run_that_has_measured_nothing_has_no_numbers() {
    let plan = plan(&[]);
    let simulation = NocSimulation::new(&plan, |_| true).expect("it can begin");
    let summary = simulation.report().summary;
    for (table, key) in [("rate", "accepted"), ("rate", "offered"), ("saturation", "saturated")] {
        assert!(summary[table][key].is_null(), "{table}.{key}");
    }
    assert!(summary["latency"]["packet"]["mean_cycles"].is_null());
    assert!(summary["latency"]["packet"]["percentiles_cycles"].is_null());
    assert!(summary["links"][0]["busy_share"].is_null());
}

#[test]
fn a_trace_ends_with_its_last_packet() {
    trace("apart.txt", "0 0 63 5\n1000000000 63 0 5\n");
    let summary = run(&["trace.path=apart.txt"]).summary;
    assert_eq!(summary["packets"]["arrived"], 2);
    let alone = 3 * 14 + 5 + 4_u64;
    let all = summary["cycles"]["all"].as_u64().expect("a count");
    assert!((alone..alone + 10).contains(&(all - 1_000_000_000)), "{all}: it ends once the credits are back");
    assert_eq!(summary["latency"]["packet"]["max_cycles"], alone as f64);
    assert!(summary["bound"].is_null() && summary["saturation"]["saturated"].is_null());
}

#[test]
fn an_invalid_trace_is_reported_before_the_run() {
    trace("wrong.txt", "0 0 63 5\n1 63 64 5\n");
    let plan = plan(&["trace.path=wrong.txt"]);
    let fault = NocSimulation::new(&plan, |_| true).map(|_| ()).expect_err("node 64 is beyond the mesh");
    assert!(matches!(fault, NocRunError::Trace(_)));
    assert!(fault.to_string().ends_with("wrong.txt:2: \"64\" is not a node: 0 to 63 are allowed"), "{fault}");
}
