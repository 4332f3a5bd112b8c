//! Fast-forward of lone servers.

use super::{assert_checkpoint_changes_nothing, in_full, report, rows, skipped};
use crate::common::scenario::{any_scenario, scenarios};
use crate::common::{example, plan, stream};
use hostnet_config::{Length, Plan};
use hostnet_sim::Report;
use serde_json::Value;

/// Returns a plan that measures for `us`, with fast-forward.
fn forwarded(mut plan: Plan, us: u64) -> Plan {
    plan.run.length = Length::Duration { ps: us * 1_000_000 };
    plan.run.duration_max_ps = us * 1_000_000;
    plan.run.forward = true;
    plan
}

/// Columns of workloads with the relative error that they may have.
const OF_WORKLOADS: [(&str, f64); 6] = [
    ("throughput_gb_per_s", 0.01),
    ("latency_mean_ns", 0.01),
    ("latency_p99_ns", 0.03),
    ("io_latency_mean_ns", 0.01),
    ("operations_per_s", 0.01),
    ("operation_latency_mean_ns", 0.01),
];

/// Returns the quantities that differ between a run that skips and one in full by more than they may, with both
/// values. A latency of a domain counts as a share of the longest latency of its workload, and of the most lines.
fn errors(part: &Report, whole: &Report) -> Vec<(String, f64, f64)> {
    let mut found = Vec::new();
    let mut compare = |name: String, part: Option<f64>, whole: Option<f64>, most: f64| {
        if let (Some(part), Some(whole)) = (part, whole) {
            if (part - whole).abs() > most {
                found.push((name, part, whole));
            }
        }
    };
    assert_eq!(rows(part, "workloads").len(), rows(whole, "workloads").len());
    for (part, whole) in rows(part, "workloads").iter().zip(&rows(whole, "workloads")) {
        for (column, most) in OF_WORKLOADS {
            let [part_value, value] = [part, whole].map(|row| row.get(column).and_then(Value::as_f64));
            compare(format!("{} {column}", whole["workload"]), part_value, value, most * value.unwrap_or(0.0));
        }
    }
    let (part, whole) = (rows(part, "domains"), rows(whole, "domains"));
    let latency = |row: &Value| row["latency_mean_ns"].as_f64();
    for part in &part {
        let is_same = |row: &&Value| ["domain", "part", "workload"].iter().all(|&key| row[key] == part[key]);
        let Some(own) = whole.iter().find(is_same) else { continue };
        let same = whole.iter().filter(|row| row["workload"] == own["workload"]);
        let lines = |row: &Value| row["lines"].as_f64().unwrap_or(0.0);
        let longest = same.clone().filter_map(latency).fold(0.0, f64::max);
        let weight = lines(own) / same.map(lines).fold(1.0, f64::max);
        let name = format!("{} {}", own["domain"], own["workload"]);
        compare(name, latency(part), latency(own), 0.01 * longest / weight.max(1e-9));
    }
    found
}

#[test]
fn a_steady_run_ends_early_with_the_same_rates() {
    let long = forwarded(stream("0", 1.0, &[]), 500_000);
    let part = report(&long);
    assert!(skipped(&part) > 0.98, "{}", part.summary["forward"]);
    let whole = report(&in_full(&forwarded(stream("0", 1.0, &[]), 20_000)));
    assert_eq!(errors(&part, &whole), [], "within 1 %");
}

#[test]
fn what_may_change_is_simulated_in_full() {
    let traced = example("trace.toml", &["run.duration=50 us", "run.warmup=10 us"]);
    let cluster = example("dctcp.toml", &["run.duration=500 us", "run.warmup=100 us"]);
    let small = ["workload.stream.working_set=1 MiB", "run.duration=6 ms", "run.warmup=20 us"];
    for plan in [traced, cluster, stream("0-1", 1.0, &small)] {
        let Length::Duration { ps } = plan.run.length else { panic!("it has a duration") };
        let asked = report(&forwarded(plan.clone(), ps / 1_000_000));
        assert_eq!(skipped(&asked), 0.0, "{}", asked.summary["forward"]);
        assert_eq!(asked.result_hash, report(&plan).result_hash);
    }
}

#[test]
fn caches_that_still_fill_are_not_skipped() {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[cache]\nenabled = true\n\
                [workload.a]\nkind = \"app\"\napp = \"mlc\"\ncores = \"0\"\nworking_set = \"8 MiB\"\n\
                [run]\nwarmup = \"1 us\"\nduration = \"8 ms\"\n";
    let plan = plan(text, &[]);
    let part = report(&forwarded(plan.clone(), 8_000));
    if skipped(&part) > 0.0 {
        assert_eq!(errors(&part, &report(&plan)), []);
    }
}

/// Returns a server of preset `cascade-lake-6234` with a workload `w` and more tables, measured for `us`.
fn server(workload: &str, more: &str, us: u64) -> Plan {
    let text = format!("[server]\npreset = \"cascade-lake-6234\"\n{more}\n[workload.w]\n{workload}\n[run]\n");
    forwarded(plan(&text, &[]), us)
}

#[test]
fn the_first_storage_commands_do_not_stand_for_all() {
    // A command takes 4.4 ms. The first one reads or writes for all of the time after which a run may end at first.
    let mixed = "kind = \"fio\"\njobs = [{ rw = \"rw\", bs = \"16 MiB\", iodepth = 1, ssd = 0 }]";
    // A drive is idle for 5 ms between two commands of 9 ms.
    let late = "kind = \"fio\"\njobs = [{ rw = \"read\", bs = \"32 MiB\", iodepth = 1, ssd = \"0-3\" }]";
    for (workload, more) in [(mixed, ""), (late, "[ssd]\nlatency = \"5 ms\"")] {
        let found = report(&server(workload, more, 30_000));
        assert_eq!(skipped(&found), 0.0, "{}", found.summary["forward"]);
    }
    let short = "kind = \"fio\"\njobs = [{ rw = \"read\", bs = \"128 KiB\", iodepth = 32, ssd = \"0-3\" }]";
    let found = report(&server(short, "", 30_000));
    assert!(skipped(&found) > 0.5, "{}", found.summary["forward"]);
}

#[test]
fn caches_whose_lines_are_from_before_are_not_skipped() {
    let enabled = "[cache]\nenabled = true";
    let redis = "kind = \"app\"\napp = \"redis\"\ncores = \"0\"\nthink = \"100 us\"";
    // A core reads a line in 400 ns, and drives the lines that the device reads out of the LLC.
    let device = "kind = \"dma\"\noperation = \"read\"\nsize = \"256 B\"\nwindow = \"12 MiB\"\noutstanding = 2\n\
                  warm = true\n[workload.core]\nkind = \"stream\"\ncores = \"0\"\ngap = \"400 ns\"";
    for workload in [redis, device] {
        let found = report(&server(workload, enabled, 40_000));
        assert_eq!(skipped(&found), 0.0, "{}", found.summary["forward"]);
    }
}

#[test]
fn a_checkpoint_changes_nothing() {
    let plan = forwarded(stream("0-1", 0.5, &[]), 100_000);
    let expected = report(&plan);
    assert!(skipped(&expected) > 0.5, "{}", expected.summary["forward"]);
    assert_checkpoint_changes_nothing(&plan, 300, &expected);
}

/// Compares random servers with fast-forward to those in full. Returns the number of servers that were forwarded, and
/// prints those whose results are too far off.
fn compare_servers(count: usize, us: u64) -> [usize; 2] {
    let mut counts = [0; 2];
    for scenario in scenarios(any_scenario(), count) {
        let plan = forwarded(scenario.plan(), us);
        let part = report(&plan);
        if skipped(&part) == 0.0 {
            continue;
        }
        let found = errors(&part, &report(&in_full(&plan)));
        if !found.is_empty() {
            println!("{scenario:?}\n{}\n{found:?}", part.summary["forward"]);
        }
        counts = [counts[0] + 1, counts[1] + usize::from(!found.is_empty())];
    }
    counts
}

#[test]
#[ignore = "long"]
fn two_hundred_servers_are_within_one_percent() {
    let [forwarded, wrong] = compare_servers(200, 20_000);
    assert!(forwarded > 10 && wrong == 0, "{wrong} of {forwarded} are beyond the limits");
}
