//! All sections of a page together.

use crate::runs::{channel_row, domain_row, read_run};
use hostnet_report::explanation::{explanation_text, Details};
use hostnet_report::{page_sections, picture_section, Glossary, Html, Row, ServerRun};
use serde_json::{json, Value};

/// Returns an explanation as the analysis writes it: without names of the parts of a latency, and without remedies.
fn explanation() -> Value {
    let latency = json!({"domain": "C2M-Read", "mean_ns": 90.0, "unloaded_ns": 60.0, "unexplained_ns": 30.0});
    json!({
        "name": "example",
        "server": "a server",
        "regime": {"name": "red", "evidence": ["both share a channel"], "slowed": []},
        "workloads": [{"workload": "stream", "limited": "is limited by DRAM channel", "latency": latency}],
        "missing": [],
    })
}

/// Returns a run that has everything that a page shows.
fn whole_run() -> ServerRun {
    let summary = json!({
        "name": "example",
        "workloads": [{"workload": "stream", "throughput_gb_per_s": 27.5}],
        "domains": [domain_row("LFB", "all", 60.0, 96.0)],
        "channels": [channel_row(-1), channel_row(0)],
        "caches": [{"workload": "stream", "l2_lookups": 9}],
        "upi": [{"from": 0, "to": 1, "gb_per_s": 3.0}],
        "dies": [{"socket": 0, "columns": 1, "rows": 1, "stops": [{"column": 0, "row": 0, "parts": ["core0"]}]}],
    });
    let mut run = read_run(&json!({"summary": summary, "why": explanation()}));
    run.explanation = Some(explanation_text(&run.why, &Details::default()));
    run
}

fn names(run: &ServerRun) -> Vec<&'static str> {
    page_sections(run, Html::default(), &Glossary::default()).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_page_has_a_section_for_everything_that_the_run_has() {
    let all = ["header", "results", "picture", "why", "caches", "workloads", "domains", "channels", "links", "mesh"];
    assert_eq!(names(&whole_run()), all);
    assert_eq!(names(&ServerRun::default()), ["header", "results", "workloads", "domains"]);
}

#[test]
fn a_section_alone_is_that_of_the_page() {
    let run = whole_run();
    let sections = page_sections(&run, Html::default(), &Glossary::default());
    let picture = sections.into_iter().find(|(name, _)| *name == "picture").map(|(_, section)| section);
    assert_eq!(picture, picture_section(&run));
}

#[test]
fn an_explanation_needs_no_file() {
    let mut run = whole_run();
    let why = |run: &ServerRun| {
        let sections = page_sections(run, Html::default(), &Glossary::default());
        sections.into_iter().find(|(name, _)| *name == "why").expect("it is explained").1.to_string()
    };
    let shown = why(&run);
    assert!(shown.contains("stream is limited by DRAM channel.") && shown.contains(">not explained<"));
    assert!(shown.contains("<pre>example on a server") && !shown.contains("<table"));
    let gains = Row::from_iter([("stream".to_owned(), json!(0.2))]);
    let step = json!({"what": "RPQ", "path": "rpq", "before": "46", "factor": 2.0, "gains": gains});
    run.why.insert("steps".to_owned(), json!({"engine": "predict", "workload": "stream", "steps": [step]}));
    assert!(why(&run).contains("<td>RPQ</td><td>46</td><td class=\"number\">+20\u{a0}%</td>"));
}
