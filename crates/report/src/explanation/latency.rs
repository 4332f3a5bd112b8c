//! Lines about the sources of a latency.

use super::parts::{ADMISSION, PARTS};
use super::workload::{find_pool, pool_name};
use super::wrap::wrap_text;
use crate::numbers::without_negative_zero;
use crate::row::{Fields, Row};
use hostnet_analysis::limits::NOT_KNOWN;
use serde_json::Value;

/// Length of the longest bar, in letters.
const BAR: f64 = 30.0;

/// Fraction of the unloaded latency below which the added latency needs no cause.
const ADDED_MIN: f64 = 0.05;

/// Prefix of the keys of the limit that lines may wait for outside of the CHA.
const TOR_KEYS: &str = "cha.tor.";

/// Explanation of waits for admission to the CHA if more TOR entries have been tried.
const NOT_FOR_ENTRIES: &str = "lines wait on the way to the CHA, or for what holds its TOR entries: more of these are \
                               not predicted to help";

/// Returns the parts of a latency, with a bar each, and its main cause if known.
pub(super) fn latency_lines(row: &Row, latency: &Row, events: &Row) -> Vec<String> {
    let domain = latency.text("domain");
    let [mean, unloaded] = ["mean_ns", "unloaded_ns"].map(|name| latency.number(name).unwrap_or_default());
    let pool = pool_name(row, domain);
    let place = find_pool(row, domain).and_then(|pool| pool.some_text("place"));
    let (place, parts) = match place {
        Some(place) => (format!("{pool} on {place}"), "; what waits add is the mean of all sockets"),
        None => (pool.to_owned(), ""),
    };
    let head = format!("Its lines take {mean:.0} ns in {place}, {unloaded:.0} ns without load{parts}:");
    let known = PARTS.map(|(key, name, _)| (name, latency.number(key)));
    let longest = known.iter().filter_map(|(_, value)| *value).map(f64::abs).fold(0.0, f64::max);
    let longest = if longest == 0.0 { 1.0 } else { longest };
    let bars = known.map(|(name, value)| match value {
        Some(value) => {
            let bar = "#".repeat((BAR * value.max(0.0) / longest).round_ties_even() as usize);
            let text = without_negative_zero(format!("{value:.0}"));
            format!("    {name:<19}{text:>5} ns  {bar}").trim_end().to_owned()
        }
        None => format!("    {name:<19}{NOT_KNOWN:>8}"),
    });
    let cause = describe_added_latency(row, latency, events).into_iter().flat_map(|text| wrap_text(&text, 2, 2));
    wrap_text(&head, 2, 2).into_iter().chain(bars).chain(cause).collect()
}

/// Describes the main cause of what load adds to a latency; `None` if load adds little.
///
/// `events` has the events of counters that a file lacks, by quantity.
#[must_use]
pub fn describe_added_latency(row: &Row, latency: &Row, events: &Row) -> Option<String> {
    let [mean, unloaded, unexplained] =
        ["mean_ns", "unloaded_ns", "unexplained_ns"].map(|name| latency.number(name).unwrap_or_default());
    let added = mean - unloaded;
    if added < ADDED_MIN * unloaded {
        return None;
    }
    if let Some(cause) = latency.some_text("cause") {
        return Some(format!("The largest part of the added latency is {cause}: {}.", explain_cause(row, cause)));
    }
    let is_unknown = added.round_ties_even() > 0.0 && unexplained.round_ties_even() > 0.0;
    is_unknown.then(|| describe_unknown(latency, unexplained.min(added), added, events))
}

/// Explains a cause, as far as the raised limits allow.
fn explain_cause(row: &Row, cause: &str) -> &'static str {
    match cause {
        "switching" => "the channels switch between reads and writes all the time",
        "write head-of-line" => "the channels serve writes first",
        "read head-of-line" => "the channels serve reads first",
        "top-of-queue" => "rows of DRAM have to be opened and closed",
        ADMISSION if is_not_for_entries(row) => NOT_FOR_ENTRIES,
        _ => "lines wait outside of the CHA, for TOR entries of their slice or on the way there",
    }
}

/// Returns true if more TOR entries were tried and did not help.
fn is_not_for_entries(row: &Row) -> bool {
    let Some(tried) = row.value("limits").and_then(Value::as_object) else { return false };
    let has_helped = tried.rows("gains").into_iter().any(|gain| gain.text("key").starts_with(TOR_KEYS));
    tried.is_set("covered") && !has_helped && !row.is_set("doubtful") && !row.is_set("refuted")
}

/// Says why no cause is named: how much is unexplained, and which counters would help.
fn describe_unknown(latency: &Row, rest: f64, added: f64, events: &Row) -> String {
    let text = format!("What load adds most is not known: {rest:.0} of {added:.0} ns are not explained.");
    let lacks = latency.rows("lacks");
    let mut counters: Vec<&str> = Vec::new();
    for name in lacks.iter().flat_map(|lack| lack.texts("counters")) {
        if !counters.contains(&name) {
            counters.push(name);
        }
    }
    if counters.is_empty() {
        return text;
    }
    let name = |name: &&str| {
        events.value(name).and_then(Value::as_str).map_or((*name).to_owned(), |it| format!("{name} ({it})"))
    };
    let names: Vec<String> = counters.iter().map(name).collect();
    let causes: Vec<&str> =
        lacks.iter().filter(|lack| !lack.texts("counters").is_empty()).map(|lack| lack.text("quantity")).collect();
    format!("{text} To determine {}, the counters lack {}.", causes.join(", "), names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::row;
    use serde_json::json;

    fn latency(cause: Option<&str>) -> Row {
        row(json!({
            "domain": "C2M-Read", "mean_ns": 100.0, "unloaded_ns": 60.0, "switching_ns": -0.4, "unexplained_ns": 30.0,
            "cause": cause, "lacks": [{"quantity": "switching", "counters": ["a", "b"]}, {"counters": ["a"]}],
        }))
    }

    #[test]
    fn parts_have_bars_in_proportion() {
        let facts = row(json!({"kind": "stream"}));
        let lines = latency_lines(&facts, &latency(Some("switching")), &Row::new());
        assert_eq!(lines[0], "  Its lines take 100 ns in LFB, 60 ns without load:");
        assert_eq!(lines[1], format!("    without load          60 ns  {}", "#".repeat(30)));
        assert_eq!(lines[2], "    switching              0 ns");
        assert_eq!(lines[3], "    write head-of-line not known");
        assert!(lines[8].starts_with("  The largest part of the added latency is switching"));
    }

    #[test]
    fn a_cause_that_more_entries_do_not_remove_says_so() {
        let limits = |key: &str| json!({"limits": {"covered": true, "gains": [{"key": key}]}});
        assert_eq!(explain_cause(&row(limits("core.lfb.entries")), ADMISSION), NOT_FOR_ENTRIES);
        assert_ne!(explain_cause(&row(limits("cha.tor.entries")), ADMISSION), NOT_FOR_ENTRIES);
        assert_ne!(explain_cause(&row(json!({})), ADMISSION), NOT_FOR_ENTRIES);
    }

    #[test]
    fn counters_that_would_tell_the_cause_are_named_once() {
        let events = row(json!({"a": "EVENT.A"}));
        let text = describe_added_latency(&row(json!({})), &latency(None), &events).expect("load adds something");
        assert!(text.starts_with("What load adds most is not known: 30 of 40 ns"));
        assert!(text.contains("the counters lack a (EVENT.A), b."), "{text}");
    }

    #[test]
    fn a_small_addition_needs_no_cause() {
        let near = row(json!({"mean_ns": 102.0, "unloaded_ns": 100.0, "unexplained_ns": 2.0}));
        assert_eq!(describe_added_latency(&row(json!({})), &near, &Row::new()), None);
    }
}
