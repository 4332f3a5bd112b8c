//! An explanation as a page of plain text.

use super::bus::describe_bus;
use super::latency::latency_lines;
use super::parts::ADMISSION;
use super::remedies::Remedies;
use super::remedy_lines::remedy_lines;
use super::workload::{bound_text, find_pool, limit_text};
use super::wrap::wrap_text;
use crate::numbers::describe_share;
use crate::regime::regime_headline;
use crate::row::{Fields, Row};
use serde::Deserialize;
use serde_json::Value;

/// Note on a page where lines wait for admission to the CHA, which the pool CHA TOR may not show.
const OF_SLICES: &str =
    "a line waits for a TOR entry of its slice; CHA TOR is full only while those of all slices are \
                         in use";

/// A page of text has these details beside the explanation itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Details {
    /// Rows of the table `channels`.
    pub channels: Vec<Row>,
    /// Events of counters that a file lacks, by quantity.
    pub events: Row,
    /// Paragraphs after those of the workloads: the first line of each is wrapped, and others are not.
    pub paragraphs: Vec<Vec<String>>,
}

/// Returns the page, at most 80 columns wide. `why` is an explanation as `explain.json` has it.
#[must_use]
pub fn explanation_text(why: &Row, details: &Details) -> String {
    let workloads = why.rows("workloads");
    let title = format!("{} on {}", why.text("name"), why.text("server"));
    let regime = why.value("regime").and_then(Value::as_object).map(regime_lines).unwrap_or_default();
    let mut parts = vec![wrap_text(&title, 0, 0), regime];
    parts.extend(workloads.iter().map(|row| workload_lines(row, details)));
    parts.extend(details.paragraphs.iter().filter_map(|lines| {
        let (first, others) = lines.split_first()?;
        Some(wrap_text(first, 0, 0).into_iter().chain(others.iter().cloned()).collect())
    }));
    let remedies = why.value("steps").and_then(|steps| Remedies::deserialize(steps).ok());
    parts.extend(remedies.map(|remedies| remedy_lines(&remedies)));
    let cause = |row: &&Row| Some(row.value("latency")?.get("cause")? == ADMISSION);
    let is_waiting = workloads.iter().filter_map(cause).any(|is_admission| is_admission);
    let waits = is_waiting.then_some(OF_SLICES);
    let notes = why.texts("missing").into_iter().chain(why.texts("notes")).chain(waits);
    parts.push(notes.flat_map(|note| wrap_text(&format!("note: {note}"), 0, 6)).collect());
    let parts: Vec<String> = parts.iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect();
    format!("{}\n", parts.join("\n\n"))
}

/// Returns the regime: which workloads slow which others down, and the evidence.
fn regime_lines(regime: &Row) -> Vec<String> {
    let headline = wrap_text(&regime_headline(regime).unwrap_or_default(), 0, 0).into_iter();
    headline.chain(regime.texts("evidence").iter().flat_map(|line| wrap_text(&format!("- {line}"), 2, 4))).collect()
}

/// Returns the limit of a workload, its credits and bound, and the sources of its latency.
fn workload_lines(row: &Row, details: &Details) -> Vec<String> {
    let mut lines = wrap_text(&format!("{} {}", row.text("workload"), limit_text(row)), 0, 0);
    let bus = describe_bus(row, &details.channels);
    let pool = find_pool(row, row.text("domain")).and_then(|pool| bound_text(row, pool));
    let cached = row.value("cached").and_then(Value::as_object).map(cached_texts).unwrap_or_default();
    lines.extend(bus.into_iter().chain(pool).chain(cached).flat_map(|text| wrap_text(&text, 2, 2)));
    if let Some(latency) = row.value("latency").and_then(Value::as_object) {
        lines.extend(latency_lines(row, latency, &details.events));
    }
    lines
}

/// Describes the effect of the caches on a workload.
fn cached_texts(cached: &Row) -> Vec<String> {
    let share = |name: &str| cached.number(name);
    let misses = share("llc_miss_ratio")
        .map(|misses| format!("{} of the reads of its cores that look into the LLC miss.", describe_share(misses)));
    let devices = share("ddio_hit_ratio").map(|hits| {
        let [evictions, leaks] =
            ["ddio_eviction_ratio", "ddio_leak_ratio"].map(|name| 100.0 * share(name).unwrap_or_default());
        format!(
            "DDIO: {} of the lines that its devices write are in a cache already. Of 100 lines written, {evictions:.0} \
             leave the LLC for memory, {leaks:.0} of them before anything has read them.",
            describe_share(hits),
        )
    });
    misses.into_iter().chain(devices).collect()
}
