//! Tests of the IOMMU: with it off nothing changes, and with it misses of the IOTLB obey the laws of its credits.

use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_sim::{Options, Report, Run};
use serde_json::Value;
use std::path::Path;

const SERVER: &str = r#"
[server]
preset = "broadwell-r730"
sockets = 1
[workload.dma]
kind = "dma"
operation = "read"
size = "64 B"
window = "256 KiB"
outstanding = 32
[run]
warmup = "20 us"
duration = "100 us"
"#;

const DRIVES: &str = r#"
[server]
preset = "cascade-lake-6234"
[workload.disk]
kind = "fio"
cores = "7"
jobs = [{ rw = "read", bs = "128 KiB", iodepth = 8, ssd = 0 }]
[run]
warmup = "1 ms"
duration = "4 ms"
"#;

fn plan(text: &str, overrides: &[&str]) -> Plan {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let base_dir = Path::new(".");
    let input = Input { text, format: Format::Toml, file: "iommu.toml", base_dir, overrides: &overrides };
    resolve(&input).expect("a server")
}

fn report(text: &str, overrides: &[&str]) -> Report {
    let plan = plan(text, overrides);
    let mut run = Run::new(&plan, Options::default());
    run.run(|_| true).expect("a run goes on");
    run.report()
}

fn summary(text: &str, overrides: &[&str]) -> Value {
    report(text, overrides).summary
}

fn row(summary: &Value, table: &str, column: &str, name: &str) -> Option<Value> {
    let rows = summary[table].as_array().expect("a table");
    rows.iter().find(|row| row[column] == name && row.get("part").is_none_or(|part| part == "all")).cloned()
}

/// Returns the commands completed, and the domain of the page walks.
fn measured(overrides: &[&str]) -> (f64, Option<Value>) {
    let summary = summary(SERVER, overrides);
    let workload = row(&summary, "workloads", "workload", "dma").expect("a workload");
    (workload["io_completed"].as_f64().expect("commands"), row(&summary, "domains", "domain", "IOMMU walk"))
}

#[test]
fn an_iommu_that_is_off_changes_no_digit() {
    let hash = |overrides: &[&str]| report(SERVER, overrides).result_hash;
    assert_eq!(hash(&["iommu.mode=off", "iommu.iotlb.entries=1"]), hash(&[]));
    assert_ne!(hash(&["iommu.mode=lazy", "iommu.iotlb.entries=1"]), hash(&[]));
}

#[test]
fn a_window_of_as_many_pages_as_the_iotlb_has_entries_misses_no_more() {
    let (off, _) = measured(&[]);
    let (fits, walks) = measured(&["iommu.mode=lazy"]);
    assert!((fits / off - 1.0).abs() < 0.02, "{fits} commands of {off}");
    assert!(walks.is_none_or(|walks| walks["in_use_mean"].as_f64().unwrap() < 0.01), "all pages are cached");
    let (larger, walks) = measured(&["iommu.mode=lazy", "workload.dma.window=1 MiB"]);
    assert!(larger < 0.9 * off && walks.is_some(), "{larger} commands of {off}");
    let (superpages, _) =
        measured(&["iommu.mode=lazy", "workload.dma.window=1 MiB", "iommu.page=2 MiB", "memory.page=2 MiB"]);
    assert!(superpages > 0.97 * measured(&["memory.page=2 MiB"]).0, "{superpages} commands of {off}");
}

#[test]
fn misses_are_bound_by_the_walks_in_flight() {
    let window = ["iommu.mode=lazy", "workload.dma.window=16 MiB"];
    for walks in [1_u32, 3] {
        let of_walks = format!("iommu.walks={walks}");
        let (commands, domain) = measured(&[&window[..], &[&of_walks]].concat());
        let domain = domain.expect("walks");
        let [in_use, latency_ns] = ["in_use_mean", "latency_mean_ns"].map(|column| domain[column].as_f64().unwrap());
        assert!(in_use > 0.98 * f64::from(walks), "{in_use} of {walks} walks in flight");
        // Little's law: every command misses, but for those that join a walk.
        let most = f64::from(walks) / latency_ns * 100_000.0;
        assert!(commands > 0.95 * most && commands < 1.1 * most, "{commands} commands, {most} walks");
    }
}

#[test]
fn a_walk_reads_an_entry_of_each_level_that_is_not_cached() {
    let latency_ns = |more: &[&str]| {
        let window = ["iommu.mode=lazy", "workload.dma.window=16 MiB", "workload.dma.outstanding=1"];
        let (_, domain) = measured(&[&window[..], more].concat());
        domain.expect("walks")["latency_mean_ns"].as_f64().unwrap()
    };
    let (one, all) = (latency_ns(&[]), latency_ns(&["iommu.walk_cache=0"]));
    assert!((all / one - 4.0).abs() < 0.3, "{all} ns for four levels, {one} ns for the last");
}

#[test]
fn a_device_with_translations_of_its_own_needs_no_iotlb() {
    let (off, _) = measured(&[]);
    let small = ["iommu.mode=lazy", "iommu.iotlb.entries=1"];
    let (without, _) = measured(&small);
    let (with, _) = measured(&[&small[..], &["iommu.ats=64"]].concat());
    assert!(without < 0.8 * off && (with / off - 1.0).abs() < 0.02, "{with} with, {without} without of {off}");
}

#[test]
fn a_core_waits_for_every_invalidation_in_mode_strict() {
    let gb_per_s = |overrides: &[&str]| {
        let summary = summary(DRIVES, overrides);
        row(&summary, "workloads", "workload", "disk").expect("a workload")["app_gb_per_s"].as_f64().unwrap()
    };
    let off = gb_per_s(&[]);
    // A request of 128 KiB per 100 us.
    let most = 131_072.0 / 100e3;
    for caches in ["cache.enabled=false", "cache.enabled=true"] {
        let strict = gb_per_s(&["iommu.mode=strict", "iommu.invalidate=100 us", caches]);
        assert!((strict / most - 1.0).abs() < 0.1 && strict < off / 2.0, "{caches}: {strict} of {off} GB/s");
        let lazy = gb_per_s(&["iommu.mode=lazy", "iommu.invalidate=100 us", caches]);
        assert!(lazy > 0.97 * off, "{caches}: {lazy} of {off} GB/s");
    }
}
