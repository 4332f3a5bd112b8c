//! Tests values that follow from few parameters, and values measured on an idle machine.

use crate::common;
use crate::common::results::{assert_near, domain, report};
use crate::common::{counters, example, plan, settled, stream, us};
use hostnet_sim::{build, Report};

#[test]
fn a_lone_core_reads_a_line_in_71_ns() {
    let report = report(&stream("0", 1.0, &[]));
    assert_near("C2M-Read in ns", domain(&report, "C2M-Read", "latency_mean_ns"), 71.0, 3.0);
    assert_near("LFB in ns", domain(&report, "LFB", "latency_mean_ns"), 71.0, 3.0);
}

#[test]
fn a_store_holds_its_entry_13_ns_longer_than_a_load() {
    let entry_ns = |reads| domain(&report(&stream("0", reads, &["run.duration=1 ms"])), "LFB", "latency_mean_ns");
    assert_near("LFB of stores less that of loads in ns", entry_ns(0.0) - entry_ns(1.0), 13.0, 4.0);
}

#[test]
fn a_lone_storage_read_writes_a_line_in_297_ns() {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[workload.probe]\nkind = \"fio\"\njob = \"probe.fio\"\n\
                [run]\nwarmup = \"20 us\"\nduration = \"2 ms\"\n";
    let report = report(&plan(text, &[]));
    assert_near("P2M-Write in ns", domain(&report, "P2M-Write", "latency_mean_ns"), 297.0, 12.0);
}

#[test]
fn one_stream_of_reads_fills_a_channel() {
    // With many credits and no gaps between them, only the channel remains as a limit.
    let settings =
        ["memory.channels=1", "core.lfb.entries=64", "core.lfb.refill=0 ns", "core.issue=0 ns", "memory.run=2 MiB"];
    let plan = stream("0", 1.0, &settings);
    let mut simulation = build::one_server(plan.server().unwrap());
    simulation.run_until(us(200), |_| true);
    let machine = settled(&mut simulation);
    let lines: u64 = counters(machine, us(200))[0].reads.iter().sum();
    let dram = &plan.server().unwrap().socket().memory.dram;
    let peak = us(200).ps() * dram.clock_ps_denominator / dram.clock_ps_numerator / u64::from(dram.timing.burst);
    assert!(lines <= peak, "{lines} lines of {peak}");
    assert!(lines * 10 >= peak * 9, "{lines} lines of {peak}: {:.1}%", 100.0 * lines as f64 / peak as f64);
}

#[test]
fn little_holds_in_every_domain_of_every_quadrant() {
    let quadrants = [
        ("1.0", "quadrant.fio"),
        ("1.0", "quadrant-write.fio"),
        ("0.0", "quadrant.fio"),
        ("0.0", "quadrant-write.fio"),
    ];
    for (reads, job) in quadrants {
        let settings = [format!("workload.stream.reads={reads}"), format!("workload.disk.job={job}")];
        let settings = settings.each_ref().map(String::as_str);
        let plan = example(common::QUADRANT_3, &[&settings[..], &["run.warmup=50 us", "run.duration=1 ms"]].concat());
        assert_little(&report(&plan), &format!("reads = {reads}, {job}"));
    }
}

/// Asserts that mean in use = throughput x mean latency, and throughput <= capacity x 64 B / latency.
fn assert_little(report: &Report, quadrant: &str) {
    let table = report.table("domains").expect("a table of domains");
    for row in &table.rows {
        let number = |column| table.number(row, column);
        let (Some(capacity), Some(in_use), Some(latency_ns)) =
            (number("capacity"), number("in_use_mean"), number("latency_mean_ns"))
        else {
            continue;
        };
        let name = format!("{quadrant}: {:?}", &row[..3]);
        let throughput = number("throughput_gb_per_s").expect("what has a latency has a throughput");
        let by_latency = in_use * 64.0 / latency_ns;
        assert!(in_use <= capacity * (1.0 + 1e-9), "{name}: {in_use} of {capacity} in use");
        assert!(throughput <= capacity * 64.0 / latency_ns * 1.005, "{name}: {throughput} GB/s in {latency_ns} ns");
        if number("lines").is_some_and(|lines| lines >= 20_000.0) {
            assert!(
                (throughput / by_latency - 1.0).abs() < 0.005,
                "{name}: {throughput} GB/s, by latency {by_latency}"
            );
        }
    }
}

#[test]
fn reads_and_writes_wait_in_one_line_for_a_shared_queue() {
    let settings =
        ["memory.channels=1", "memory.controller.shared_queue=true", "run.warmup=50 us", "run.duration=300 us"];
    for (reads, job) in [("1.0", "quadrant.fio"), ("0.0", "quadrant.fio"), ("0.0", "quadrant-write.fio")] {
        let own = [format!("workload.stream.reads={reads}"), format!("workload.disk.job={job}")];
        let plan = example(common::QUADRANT_3, &[&own.each_ref().map(String::as_str), &settings[..]].concat());
        let report = report(&plan);
        let workloads = report.table("workloads").expect("workloads");
        for row in &workloads.rows {
            let gb_per_s = workloads.number(row, "throughput_gb_per_s").unwrap_or(0.0);
            assert!(gb_per_s > 1.0, "{reads}, {job}: {:?} moves {gb_per_s} GB/s", workloads.text(row, "workload"));
        }
    }
}
