//! Tests the prefetchers of cores without caches, and where write-backs of cores end.

use crate::common::laws::{assert_books, assert_little, drain};
use crate::common::results::{assert_near, domain, report};
use crate::common::{acquired, hash, settled, stream, us};
use hostnet_analysis::limits;
use hostnet_config::Plan;
use hostnet_kernel::Simulation;
use hostnet_model::Machine;
use hostnet_sim::build;
use hostnet_sim::sample::PoolGroup;

fn run(plan: &Plan) -> Simulation<Machine> {
    let mut simulation = build::one_server(plan.server().expect("a server"));
    simulation.run_until(us(60), |_| true);
    simulation
}

#[test]
fn a_core_keeps_its_lfb_and_its_prefetches_full() {
    let plan = stream("0", 1.0, &["core.lfb.entries=2", "core.lfb.refill=0 ns", "prefetch.stream_credits=3"]);
    let report = report(&plan);
    assert_near("LFB entries in use", domain(&report, "LFB", "in_use_mean"), 2.0, 0.02);
    assert_near("prefetches in flight", domain(&report, "L2 prefetch", "in_use_mean"), 3.0, 0.02);
    assert_near("lines in flight", domain(&report, "C2M-Read", "in_use_mean"), 5.0, 0.04);
    let (ns, gb_per_s) = (
        domain(&report, "C2M-Read", "latency_mean_ns"),
        report.summary["workloads"][0]["throughput_gb_per_s"].as_f64(),
    );
    assert_near("GB/s by Little's law", gb_per_s.expect("a rate"), 5.0 * 64.0 / ns, 0.1);
}

#[test]
fn explanations_count_the_prefetches_of_a_stream_with_its_lfb() {
    let found = report(&stream("0-3", 1.0, &["core.lfb.entries=4", "prefetch.stream_credits=2"]));
    let pool = &found.summary["binding"][0]["pools"][0];
    assert_eq!((pool["credits"].as_f64(), pool["prefetched"].as_bool()), (Some(24.0), Some(true)));
    let moved = found.summary["workloads"][0]["throughput_gb_per_s"].as_f64().expect("a rate");
    assert_near("GB/s through the pool", pool["gb_per_s"].as_f64().expect("a rate"), moved, 0.02 * moved);
}

#[test]
fn every_line_holds_an_lfb_entry_or_a_prefetch_credit() {
    for settings in [&["core.write_until=acceptance"][..], &[]] {
        for reads in [1.0, 0.5, 0.0] {
            let plan = stream("0-3", reads, &[settings, &["prefetch.stream_credits=7"]].concat());
            let mut simulation = run(&plan);
            assert_books(settled(&mut simulation));
            drain(&mut simulation);
            let machine = settled(&mut simulation);
            assert_little(machine);
            let of = |group| acquired(machine, group, 0);
            assert!(of(PoolGroup::Prefetch) > 0);
            assert_eq!(of(PoolGroup::C2mRead), of(PoolGroup::Lfb) + of(PoolGroup::Prefetch), "reads = {reads}");
        }
    }
}

#[test]
fn random_accesses_and_slow_streams_are_not_prefetched() {
    let of = |settings: &[&str]| {
        let plan = stream("0-3", 0.5, &[settings, &["prefetch.stream_credits=7"]].concat());
        let mut simulation = run(&plan);
        acquired(settled(&mut simulation), PoolGroup::Prefetch, 0)
    };
    assert_eq!(of(&["workload.stream.pattern=random"]), 0);
    assert_eq!(of(&["workload.stream.gap=100 ns"]), 0, "the LFB has entries left");
    assert!(of(&["workload.stream.gap=5 ns"]) > 0);
}

#[test]
fn without_credits_nothing_changes() {
    let of = |settings: &[&str]| {
        let mut simulation = run(&stream("0-3", 0.5, settings));
        hash([settled(&mut simulation)])
    };
    assert_eq!(of(&[]), of(&["prefetch.stream_credits=0", "core.write_until=admission"]));
    assert_ne!(of(&[]), of(&["prefetch.stream_credits=1"]));
}

#[test]
fn a_write_back_holds_its_entry_until_memory_accepts_the_line() {
    let ns = |until: &str| domain(&report(&stream("0", 0.0, &[until])), "C2M-Write", "latency_mean_ns");
    let (admission, acceptance) = (ns("core.write_until=admission"), ns("core.write_until=acceptance"));
    // 16 ns in the LLC, 42 ns to the memory controller and 17 ns back (cascade-lake-6234): an idle queue accepts.
    assert_near("C2M-Write in ns", acceptance - admission, 75.0, 1.5);
}

#[test]
fn planted_prefetches_are_found() {
    // Two lines in flight of a core that could use many more.
    let plan = stream("0-3", 1.0, &["core.lfb.entries=1", "prefetch.stream_credits=1"]);
    let told = limits::of(plan.server().expect("a server")).expect("predictions cover it");
    let names = told[0].names();
    assert!(names.iter().any(|name| name == "L2 prefetch"), "{names:?}");
    let found = report(&plan);
    assert_near(
        "predicted GB/s",
        told[0].predicted_gb_per_s,
        found.summary["workloads"][0]["throughput_gb_per_s"].as_f64().expect("a rate"),
        0.6,
    );
}

#[test]
fn the_time_of_a_hit_in_the_llc_takes_effect_where_write_backs_wait_for_it() {
    let no_effect = |reads: f64, until: &str| -> Vec<String> {
        let set = [format!("core.write_until={until}"), "cache.llc.hit=40 ns".to_owned()];
        let plan = stream("0", reads, &set.iter().map(String::as_str).collect::<Vec<_>>());
        let found = report(&plan).summary["no_effect"].clone();
        serde_json::from_value(found).expect("a list of keys")
    };
    assert_eq!(no_effect(0.5, "admission"), ["cache.llc.hit"]);
    assert_eq!(no_effect(0.5, "acceptance"), Vec::<String>::new());
    assert!(no_effect(1.0, "acceptance").contains(&"core.write_until".to_owned()), "loads write nothing back");
}
