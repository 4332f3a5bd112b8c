//! Tests that the work of cores scales with their clock, and that memory does not.

use crate::common::plan;
use crate::common::results::report;
use hostnet_config::Plan;
use hostnet_sim::Report;

const APP: &str = "kind = \"app\"\napp = \"pagerank\"\ncores = \"0-1\"\n";
const RUN: &str = "[run]\nwarmup = \"100 us\"\nduration = \"100 us\"\n";
/// Only the frequency of the preset, and no sleep.
const PLAIN: &str = "[power]\ngovernor = \"performance\"\nidle = \"poll\"\npstates = [\"3.3 GHz @ 1.2 V\"]\n";

/// Returns a server with cores at the frequency of the preset, or at half of it.
fn at(workload: &str, more: &str, half: bool) -> Plan {
    let chosen = if half { "1.65" } else { "3.3" };
    let power = format!(
        "[power]\nidle = \"poll\"\npstates = [\"1.65 GHz @ 0.8 V\", \"3.3 GHz @ 1.2 V\"]\n\
         governor = {{ kind = \"userspace\", frequency = \"{chosen} GHz\" }}\nrelock = \"1 us\"\nslew = \"1 V/us\"\n"
    );
    server(workload, &format!("{more}{power}"))
}

fn server(workload: &str, more: &str) -> Plan {
    plan(&format!("[server]\npreset = \"cascade-lake-6234\"\n[workload.w]\n{workload}{more}{RUN}"), &[])
}

/// Returns a value of the only workload.
fn of(report: &Report, column: &str) -> f64 {
    let table = report.table("workloads").expect("workloads");
    table.number(&table.rows[0], column).unwrap_or_else(|| panic!("{column}: {:?}", table.rows[0]))
}

/// Returns the power of a core, in W.
fn watts(report: &Report, core: usize) -> f64 {
    let table = report.table("power").expect("the power of cores");
    table.number(&table.rows[core], "power_w").expect("a power")
}

#[test]
fn one_frequency_without_sleep_changes_nothing() {
    let cache = "[cache]\nenabled = true\n";
    let stream = "kind = \"stream\"\ncores = \"0-1\"\nreads = 0.5\n";
    for (workload, more) in [(APP, cache), (stream, cache), (stream, "")] {
        let without = report(&server(workload, more));
        let with = report(&server(workload, &format!("{more}{PLAIN}")));
        for table in &without.tables {
            assert_eq!(Some(table), with.table(table.name), "{workload} {more} {}", table.name);
        }
    }
}

#[test]
fn computing_takes_twice_the_time_at_half_the_frequency() {
    // All accesses hit in the L2.
    let small = "kind = \"stream\"\ncores = \"0\"\nreads = 1.0\nworking_set = \"64 KiB\"\n";
    let looked = |half: bool| {
        let report = report(&at(small, "[cache]\nenabled = true\n", half));
        let table = report.table("caches").expect("caches");
        table.number(&table.rows[0], "l2_lookups").expect("a count")
    };
    let (whole, half) = (looked(false), looked(true));
    assert!((whole / half - 2.0).abs() < 0.01, "{whole} and {half}");
    // The gap between accesses dominates.
    let paced = "kind = \"stream\"\ncores = \"0\"\nreads = 1.0\ngap = \"500 ns\"\n";
    let [whole, half] = [false, true].map(|half| of(&report(&at(paced, "", half)), "throughput_gb_per_s"));
    assert!((whole / half - 2.0).abs() < 0.05, "{whole} and {half}");
}

#[test]
fn memory_bound_work_hardly_slows_down_and_takes_less_energy() {
    // Eight cores load two channels beyond saturation.
    let many = "kind = \"stream\"\ncores = \"0-7\"\nreads = 1.0\n";
    let [whole, half] = [false, true].map(|half| report(&at(many, "", half)));
    let [fast, slow] = [&whole, &half].map(|report| of(report, "throughput_gb_per_s"));
    assert!((fast / slow - 1.0).abs() < 0.05, "{fast} and {slow}");
    assert!(watts(&half, 0) < 0.5 * watts(&whole, 0), "{} and {}", watts(&half, 0), watts(&whole, 0));
}

#[test]
fn an_application_scales_partly_with_the_clock() {
    let cache = "[cache]\nenabled = true\n";
    let [whole, half] = [false, true].map(|half| of(&report(&at(APP, cache, half)), "operations_per_s"));
    assert!((1.05..2.0).contains(&(whole / half)), "{whole} and {half}");
}

#[test]
fn a_governor_sees_that_a_stream_keeps_its_core_busy() {
    let stream = "kind = \"stream\"\ncores = \"0-1\"\nreads = 1.0\n";
    let power = "[power]\ngovernor = { kind = \"ondemand\", period = \"10 us\" }\nslew = \"1 V/us\"\n\
        relock = \"1 us\"\npstates = [\"0.4 GHz @ 0.65 V\", \"3.3 GHz @ 1.2 V\"]\n";
    let report = report(&server(stream, power));
    let table = report.table("power").expect("the power of cores");
    assert_eq!(table.number(&table.rows[0], "ghz_mean"), Some(3.3));
    assert_eq!(table.number(&table.rows[0], "running_share"), Some(1.0));
}

/// Returns the throughput of a flow to a core in Gbps, beside the given workload on the same core or alone, at the
/// given P-states.
fn received(workload: &str, pstates: &str, chosen: &str) -> f64 {
    let text = format!(
        "[host.a]\nkind = \"endpoint\"\n[host.b]\npreset = \"cascade-lake-hostcc\"\n{workload}\n\
         [host.b.power]\nidle = \"poll\"\nrelock = \"1 us\"\nslew = \"1 V/us\"\npstates = [{pstates}]\n\
         governor = {{ kind = \"userspace\", frequency = \"{chosen} GHz\" }}\n\
         [network]\nrate = \"100 Gbps\"\nlatency = \"1 us\"\n\
         [flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\nto_cores = \"0\"\n\
         [run]\nwarmup = \"1 ms\"\nduration = \"1 ms\"\n"
    );
    let report = report(&plan(&text, &[]));
    let flows = report.table("flows").expect("flows");
    flows.number(&flows.rows[0], "received_bytes").expect("a number") * 8.0 / 1e6
}

#[test]
#[ignore = "long"]
fn a_core_that_begins_at_a_frequency_is_as_fast_as_one_that_comes_to_it() {
    let from_above = received("", "\"1.1 GHz @ 0.8 V\", \"2.2 GHz @ 1.2 V\", \"3.3 GHz @ 1.2 V\"", "1.1");
    let always = received("", "\"1.1 GHz @ 0.8 V\"", "1.1");
    assert!((from_above / always - 1.0).abs() < 0.05, "{from_above} and {always}");
}

#[test]
#[ignore = "long"]
fn network_traffic_that_shares_a_core_follows_its_clock() {
    let beside = "[host.b.workload.w]\nkind = \"stream\"\ncores = \"0\"\nreads = 1.0\ngap = \"1 us\"\n";
    let both = "\"1.65 GHz @ 0.8 V\", \"3.3 GHz @ 1.2 V\"";
    let [fast, slow] = ["3.3", "1.65"].map(|chosen| received(beside, both, chosen));
    assert!(fast > 1.4 * slow, "{fast} and {slow}");
}
