//! The tables of the page: what they show, and what a copy of them has.

use crate::runs::{between, channel_row, domain_row, read_run, Example};
use hostnet_report::{
    caches_section, channels_section, domains_section, links_section, workloads_section, Glossary, Html, Row, ServerRun,
};
use serde::Deserialize;
use serde_json::{json, Value};

fn run(summary: Value) -> ServerRun {
    read_run(&json!({"summary": summary}))
}

/// Returns the cells of the first table as they are copied; the first row has the names.
fn copied(section: &str) -> Vec<Vec<&str>> {
    let table = between(section, "<table>", "</table>")[0];
    table.split("<tr>").skip(1).map(|row| between(row, "data-copied=\"", "\"")).collect()
}

fn workload(name: &str) -> Value {
    json!({
        "workload": name,
        "throughput_gb_per_s": 27.456789,
        "throughput_ci95": 0.14,
        "latency_mean_ns": null,
        "lines": 430_000,
        "limited_by": "",
    })
}

#[test]
fn columns_without_values_are_left_out_and_copies_are_exact() {
    let section = workloads_section(&run(json!({"workloads": [workload("a <b>")]})), &Glossary::default()).to_string();
    let rows = copied(&section);
    assert_eq!(rows[0], ["workload", "throughput_gb_per_s\tthroughput_ci95", "lines"]);
    assert_eq!(rows[1], ["a &lt;b&gt;", "27.456789\t0.14", "430000"]);
    assert!(section.contains("27.5 ± 0.14") && section.contains("430,000"));
    assert!(section.contains("half of a 95\u{a0}% confidence interval"));
    assert!(!section.contains("Latency ns") && !section.contains("I/O requests"));
}

#[test]
fn storage_and_applications_have_tables() {
    let mut disk = workload("disk");
    disk["io_completed"] = json!(33);
    let mut app = workload("redis");
    app["operations_per_s"] = json!(123_456_000.0);
    app["operation_latency_p99_ns"] = json!(12_000.0);
    let section = workloads_section(&run(json!({"workloads": [disk, app]})), &Glossary::default()).to_string();
    assert_eq!(between(&section, "aria-label=\"", "\""), ["Workloads", "I/O requests", "Applications"]);
    assert!(section.contains("once 100 of them behind a full queue"));
    assert!(section.contains(">12.0<"), "the 99th percentile in µs");
}

#[test]
fn domains_are_split_by_workload_and_part() {
    let mut split = domain_row("LFB", "all", 20.0, 96.0);
    split["workload"] = json!("stream");
    let parts: Vec<Value> = (0..1001).map(|core| domain_row("LFB", &format!("core {core}"), 6.0, 12.0)).collect();
    let of = |parts: &[Value]| {
        let summary = json!({"domains": [domain_row("LFB", "all", 60.0, 96.0), split]});
        let run = read_run(&json!({"summary": summary, "domains": parts}));
        domains_section(&run, &Glossary::default()).to_string()
    };
    let few = of(&parts[..2]);
    assert_eq!(between(&few, "<summary>", "</summary>"), ["By workload", "By part of the machine"]);
    assert!(few.contains("<span class=\"name\">stream</span>") && few.contains("<span class=\"name\">core 1</span>"));
    assert!(of(&parts).contains("By part of the machine: 1,001 rows, in domains.parquet."));
    assert_eq!(between(&of(&[]), "<summary>", "</summary>"), ["By workload"]);
}

#[test]
fn channels_that_are_alike_are_folded() {
    let summary = |count: i64| json!({"channels": (-1..count).map(channel_row).collect::<Vec<_>>()});
    let section = |count| channels_section(&run(summary(count)), &Glossary::default()).expect("there are channels");
    let many = section(12).to_string();
    assert_eq!(copied(&many).len(), 3, "a heading, the mean of all, the total");
    assert!(many.contains(">0-11, mean<") && many.contains("<summary>13 rows, one for each channel</summary>"));
    let few = section(4).to_string();
    assert_eq!(copied(&few).len(), 6);
    assert!(!few.contains("one for each channel") && few.contains("<summary>More columns</summary>"));
    assert!(channels_section(&run(json!({})), &Glossary::default()).is_none());
}

#[test]
fn idle_links_share_a_row() {
    let link = |from: u32, to: u32, rate: f64| {
        let busy = rate / 40.0;
        json!({"from": from, "to": to, "busy_share": busy, "gb_per_s": rate, "line_gb_per_s": rate})
    };
    let run = run(json!({"upi": [link(0, 1, 10.0), link(1, 0, 0.0), link(0, 2, 0.0)]}));
    let section = links_section(&run, &Glossary::default()).expect("there are links").to_string();
    assert!(section.contains("socket 0 to 1") && section.contains("2 other directions") && section.contains(">idle<"));
    assert_eq!(copied(&section)[1][0], "0\t1");
}

#[test]
fn caches_have_charts_only_if_there_are_any() {
    let row = |workload: &str, lookups: u32| json!({"workload": workload, "l2_lookups": lookups, "prefetch_filled": 0});
    let run = run(json!({"caches": [row("all", 9), row("app", 9), row("disk", 0)], "llc": {"mib": 24.75}}));
    let glossary = Glossary::default();
    let section = caches_section(&run, Html::default(), &glossary).expect("there are caches").to_string();
    assert!(!section.contains("class=\"pair\"") && !section.contains("class=\"note\""));
    assert_eq!(copied(&section).len(), 3, "a heading, all, and the workload that has cores");
    let drawn = caches_section(&run, Html::raw("<i></i>"), &glossary).expect("there are caches").to_string();
    assert!(drawn.contains("<div class=\"pair\"><i></i></div>"));
    assert!(caches_section(&Example::default().run(), Html::default(), &glossary).is_none());
}

#[test]
fn headings_have_the_definitions_of_their_columns() {
    let columns = json!({"workloads": {"lines": {"meaning": "lines that were moved"}}});
    let terms = json!([{"name": "workload", "kind": "word", "meaning": "a load"}]);
    let glossary = Glossary::deserialize(json!({"columns": columns, "terms": terms})).expect("it is a glossary");
    let section = workloads_section(&run(json!({"workloads": [workload("a")]})), &glossary).to_string();
    assert!(section.contains("aria-description=\"lines that were moved\">Lines</dfn>"));
    assert!(section.contains("aria-description=\"a load\">Workload</dfn>"));
}

#[test]
fn every_group_of_tables_has_rows_for_the_screen() {
    let summary = json!({
        "workloads": [workload("a")],
        "domains": [domain_row("LFB", "all", 60.0, 96.0)],
        "channels": [channel_row(-1), channel_row(0)],
    });
    let Value::Object(summary) = summary else { unreachable!("it is an object") };
    let count = |group: &str, summary: &Row| hostnet_report::tables_of(group, summary).len();
    let groups = ["workloads", "caches", "domains", "channels", "total", "upi", "mesh", "another"];
    assert_eq!(groups.map(|group| count(group, &summary)), [1, 0, 1, 1, 1, 1, 1, 0]);
}
