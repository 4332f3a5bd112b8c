//! Tests that results describe caches and applications where there are any, and only there.

use crate::common::plan;
use hostnet_config::Plan;
use hostnet_sim::{Cell, Options, Report, Run, Table};
use std::collections::BTreeSet;

const SMALL: &str = "[server]\npreset = \"cascade-lake-6234\"\n\
    [cache]\nenabled = true\nl2 = { sets = 64 }\nllc = { sets = 64 }\nfilter = { sets = 128 }\n";
const REDIS: &str = "[workload.redis]\nkind = \"app\"\napp = \"redis\"\ncores = \"0-1\"\nkeys = 20000\n";
const DISK: &str = "[workload.disk]\nkind = \"fio\"\ncores = \"6-7\"\n\
    jobs = [{ rw = \"read\", bs = \"64 KiB\", iodepth = 4, size = \"1 GiB\", ssd = 0 }]\n";
const TIMES: &str = "[run]\nwarmup = \"20 us\"\nduration = \"100 us\"\n";

fn report(plan: &Plan, series_ps: u64) -> Report {
    let mut run = Run::new(plan, Options { series_ps, ..Options::default() });
    assert!(run.run(|_| true).expect("nothing is stuck"));
    run.report()
}

fn both() -> Plan {
    plan(&[SMALL, REDIS, DISK, TIMES].concat(), &[])
}

fn row<'a>(table: &'a Table, workload: &str) -> &'a [Cell] {
    table.rows.iter().find(|row| table.text(row, "workload") == Some(workload)).expect("a row of the workload")
}

fn number(report: &Report, table: &str, workload: &str, column: &str) -> Option<f64> {
    let table = report.table(table).expect("the table");
    table.number(row(table, workload), column)
}

#[test]
fn operations_are_counted_in_the_window_and_timed() {
    let found = report(&both(), 0);
    let of = |column: &str| number(&found, "workloads", "redis", column);
    let (count, rate) = (of("operations").unwrap(), of("operations_per_s").unwrap());
    assert!(count > 100.0);
    assert!((rate - count / 100e-6).abs() < 1e-3 * rate, "{count} in 100 us are {rate} per s");
    assert!(of("operations_ci95").unwrap() < rate);
    let [mean, median, tail] = ["mean", "p50", "p99"].map(|name| of(&format!("operation_latency_{name}_ns")).unwrap());
    assert!(median <= tail && mean <= tail);
    assert_eq!(of("execution_time_s"), None, "a server has no end");
    assert_eq!(number(&found, "workloads", "disk", "operations"), None);
}

#[test]
fn a_graph_takes_as_long_as_its_operations() {
    let graph = "[workload.graph]\nkind = \"app\"\napp = \"pagerank\"\ncores = \"0-1\"\nscale = 16\n";
    let plan = plan(&[SMALL, graph, TIMES].concat(), &[]);
    let found = report(&plan, 0);
    let of = |column: &str| number(&found, "workloads", "graph", column).unwrap();
    let hostnet_model::params::WorkloadKind::App(app) = &plan.server().unwrap().workloads[0].kind else {
        panic!("an application")
    };
    let all = hostnet_model::app::count_operations(app).expect("a graph has an end") as f64;
    assert!((of("execution_time_s") * of("operations_per_s") / all - 1.0).abs() < 1e-9);
}

#[test]
fn cache_tables_have_a_total_and_each_workload() {
    let found = report(&both(), 0);
    let of = |workload: &str, column: &str| number(&found, "caches", workload, column);
    for column in ["l2_lookups", "llc_misses", "ddio_allocations", "ddio_evictions", "llc_mib_core", "llc_mib_io"] {
        let parts = of("redis", column).unwrap() + of("disk", column).unwrap();
        assert!((of("all", column).unwrap() - parts).abs() < 1e-9, "{column}");
    }
    assert!(of("redis", "llc_lookups").unwrap() > 0.0);
    assert!(of("disk", "ddio_leak_ratio").unwrap() > 0.0, "nobody reads what the drive writes");
    assert_eq!(of("redis", "ddio_leak_ratio"), None);
    let llc_mib = found.summary["llc"]["mib"].as_f64().unwrap();
    assert!((llc_mib - 18.0 * 64.0 * 11.0 * 64.0 / f64::from(1 << 20)).abs() < 1e-9);
    assert!(of("all", "llc_mib_core").unwrap() + of("all", "llc_mib_io").unwrap() <= llc_mib);
    assert_eq!(found.summary["caches"].as_array().unwrap().len(), 3);
}

#[test]
fn a_series_of_caches_agrees_with_the_whole() {
    let found = report(&both(), 10_000_000);
    let series = found.table("series").unwrap();
    let mut seen = BTreeSet::new();
    let mut operations = Vec::new();
    for row in &series.rows {
        let (subject, quantity) = (series.text(row, "subject").unwrap(), series.text(row, "quantity").unwrap());
        seen.insert((subject.to_owned(), quantity.to_owned()));
        if quantity == "operations_per_s" {
            operations.push(series.number(row, "value").unwrap());
        }
    }
    for (subject, quantity) in [("redis", "llc_mib_core"), ("redis", "llc_miss_ratio"), ("disk", "ddio_leak_ratio")] {
        assert!(seen.contains(&(subject.to_owned(), quantity.to_owned())), "{quantity} of {subject}");
    }
    assert!(!seen.contains(&("redis".to_owned(), "ddio_leak_ratio".to_owned())));
    let mean = operations.iter().sum::<f64>() / operations.len() as f64;
    let whole = number(&found, "workloads", "redis", "operations_per_s").unwrap();
    assert!((mean / whole - 1.0).abs() < 1e-9, "{mean} is {whole}");
}

#[test]
fn results_without_caches_have_no_cache_tables() {
    let server = "[server]\npreset = \"cascade-lake-6234\"\n";
    let stream = "[workload.stream]\nkind = \"stream\"\ncores = \"0\"\n";
    let found = report(&plan(&[server, stream, DISK, TIMES].concat(), &[]), 10_000_000);
    assert!(found.table("caches").is_none());
    let text = found.summary.to_string();
    for word in ["\"caches\"", "\"llc\"", "cached", "operations", "prefetch"] {
        assert!(!text.contains(word), "{word}");
    }
    let series = found.table("series").unwrap();
    assert!(series.rows.iter().all(|row| series.text(row, "subject") != Some("L2 prefetch")));
}

#[test]
fn limits_mention_misses_and_leaks() {
    let found = report(&both(), 0);
    let limits: Vec<&str> =
        found.summary["limits"].as_array().unwrap().iter().filter_map(|line| line.as_str()).collect();
    let said = |name: &str, words: &str| limits.iter().any(|line| line.starts_with(name) && line.contains(words));
    assert!(said("redis", "of the reads of its cores miss the LLC"), "{limits:?}");
    assert!(said("disk", "leave for memory"), "{limits:?}");
    assert!(!said("redis", "leave for memory"), "{limits:?}");
}
