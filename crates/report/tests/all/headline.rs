//! The head of the page: description, warnings, results.

use crate::runs::{between, channel_row, read_run, Example};
use hostnet_report::{header, result_section, ServerRun};
use serde_json::{json, Value};

fn results(summary: Value) -> String {
    result_section(&Example { summary, ..Example::default() }.run()).to_string()
}

#[test]
fn the_header_describes_the_run() {
    let run = json!({
        "summary": {"name": "a <b>", "seed": 7, "window_ns": 1e6, "warm_up_ns": 5e4, "lines": 546_000, "workloads": []},
        "manifest": {"started": "2026-01-02T03:04:05+00:00", "wall_time_s": 2.31, "events_per_s": 3.5e6},
    });
    let header = header(&read_run(&run)).to_string();
    for text in [
        "<h1>a &lt;b&gt;</h1>",
        "Simulated for 1 ms after 50 µs of warm-up: .",
        "run (simulation)",
        "<dd>7</dd>",
        "546,000",
        "2.31 s, 3.5 M events/s",
        "2026-01-02 03:04:05 UTC",
    ] {
        assert!(header.contains(text), "{text}");
    }
    assert!(!header.contains("class=\"warning\""));
}

#[test]
fn a_run_without_a_name_has_that_of_its_folder() {
    let run = read_run(&json!({"folder": "run-1", "summary": {"engine": "predict"}}));
    let header = header(&run).to_string();
    assert!(header.contains("<h1>run-1</h1>") && header.contains("Predicted: ."));
}

#[test]
fn results_that_are_not_to_be_trusted_have_warnings() {
    let row = json!({"workload": "s", "throughput_gb_per_s": 10.0, "throughput_drift": -1.0});
    let summary = json!({"complete": false, "unvalidated": "unvalidated: DDIO", "workloads": [row]});
    let header = header(&read_run(&json!({"summary": summary}))).to_string();
    let warnings = between(&header, "<b>Note: </b>", "</p>");
    assert_eq!(warnings.len(), 3);
    assert!(warnings[0].starts_with("stopped before its end"));
    assert!(warnings[2].starts_with("s drifts: -1 GB/s (-10\u{a0}%)"), "{}", warnings[2]);
}

#[test]
fn each_workload_has_a_tile_with_its_limit() {
    let row = |name: &str, limit: &str| json!({"workload": name, "limited_by": limit, "throughput_gb_per_s": 27.5});
    let summary = json!({
        "workloads": [row("one", "LFB / WPQ ?"), row("two", "not known")],
        "limits": ["one is limited by UPI link (at upi 1-0)", "two is not"],
    });
    let section = results(summary);
    assert!(section.contains("<p>limited by <b>LFB / WPQ ?</b></p>"));
    assert!(section.contains("<p>limit <b>not known</b></p>"), "nothing is limited by what is not known");
    assert!(section.contains("UPI link (at socket 1 to 0)"));
    assert!(!section.contains("class=\"limits\""));
    let loose = results(json!({"limits": ["a", "b", "c"]}));
    assert!(loose.contains("<ul class=\"limits\"><li>a</li><li>b</li><li>c</li></ul>"));
}

#[test]
fn an_application_is_told_in_operations() {
    let row = json!({
        "workload": "redis", "throughput_gb_per_s": 1.5, "operations_per_s": 123_456_000.0, "operations_ci95": 1234.5,
    });
    let section = results(json!({"workloads": [row]}));
    assert!(section.contains("<b>123,456,000</b> ± 1,234 operations/s</span><span>, 1.50 GB/s</span>"), "{section}");
}

#[test]
fn the_busiest_socket_says_how_busy_its_channels_are() {
    let socket = |number: u32, busy: f64| json!({"socket": number, "bus_busy_share": busy});
    let summary = json!({
        "channels": [channel_row(-1)],
        "channels_of_sockets": [socket(0, 0.0), socket(1, 0.75), socket(2, 0.75)],
    });
    let section = results(summary);
    assert!(section.contains("data bus busy <b>75.0\u{a0}%</b> of the time on socket 1"));
    assert!(section.contains("1.00 GB/s read, 2.00 GB/s written"));
    assert!(!results(json!({"channels": []})).contains("<h3>DRAM</h3>"));
}

#[test]
fn the_regime_of_the_explanation_comes_first() {
    let slowed = json!([{"workload": "s", "times": 1.18, "because_of": ["db"]}]);
    let blue = json!({"name": "blue", "evidence": ["bus busy 41 %"], "slowed": slowed, "open": []});
    let run = ServerRun {
        why: json!({"regime": blue}).as_object().expect("it is an object").clone(),
        ..Example { summary: json!({"regime": {"name": "mauve", "evidence": []}}), ..Example::default() }.run()
    };
    let section = result_section(&run).to_string();
    assert!(section.contains("regime-blue") && section.contains("runs 1.18 x slower because of db"));
    assert!(section.contains("bus busy 41\u{a0}%") && !section.contains("mauve"));
    let unknown = results(json!({"regime": {"name": "mauve"}}));
    assert!(unknown.contains("mauve") && !unknown.contains("regime-mauve"));
    assert!(!results(json!({})).contains("Regime"));
}
