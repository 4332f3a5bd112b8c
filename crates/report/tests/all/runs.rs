//! Runs to make sections from, and ways to read them.

use hostnet_report::ServerRun;
use serde_json::{json, Value};

/// Pools of a server with their capacities.
pub(crate) const CAPACITIES: [(&str, f64); 10] = [
    ("C2M-Read", 96.0),
    ("C2M-Write", 96.0),
    ("P2M-Write", 92.0),
    ("P2M-Read", 200.0),
    ("LFB", 96.0),
    ("CHA TOR", 252.0),
    ("RPQ", 92.0),
    ("WPQ", 82.0),
    ("PCIe posted", 256.0),
    ("PCIe non-posted", 1024.0),
];

/// Returns a row of the table `domains`.
pub(crate) fn domain_row(domain: &str, part: &str, in_use: f64, capacity: f64) -> Value {
    json!({
        "domain": domain,
        "part": part,
        "workload": "all",
        "in_use_mean": in_use,
        "in_use_max": capacity,
        "capacity": capacity as u64,
        "latency_mean_ns": 100.0,
        "throughput_gb_per_s": in_use * 0.64,
    })
}

/// Returns a row of the table `channels`.
pub(crate) fn channel_row(number: i64) -> Value {
    json!({
        "channel": number,
        "read_gb_per_s": 1.0,
        "write_gb_per_s": 2.0,
        "bus_busy_share": 0.25,
        "row_miss_ratio": 0.25,
    })
}

/// A run that a test varies.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    /// Domains that are used; all if empty.
    pub(crate) domains: Vec<&'static str>,
    /// Share of the credits in use.
    pub(crate) share: f64,
    /// Number of memory channels.
    pub(crate) channels: i64,
    /// Limit of the workload.
    pub(crate) limited_by: &'static str,
    /// Entries of the summary beside those of the example.
    pub(crate) summary: Value,
}

impl Default for Example {
    fn default() -> Self {
        Self { domains: Vec::new(), share: 0.5, channels: 2, limited_by: "C2M-Read", summary: json!({}) }
    }
}

impl Example {
    /// Returns the run.
    pub(crate) fn run(&self) -> ServerRun {
        let is_used = |(name, _): &&(&str, f64)| self.domains.is_empty() || self.domains.contains(name);
        let used = CAPACITIES.iter().filter(is_used);
        let totals: Vec<Value> =
            used.map(|(name, capacity)| domain_row(name, "all", self.share * capacity, *capacity)).collect();
        let queue = |name: &'static str| {
            (0..self.channels).map(move |number| domain_row(name, &format!("channel {number}"), 10.0, 46.0))
        };
        let cores = (0..6).map(|number| domain_row("LFB", &format!("core {number}"), 6.0, 12.0));
        let mut summary = json!({
            "name": "example",
            "workloads": [{"workload": "stream", "limited_by": self.limited_by, "throughput_gb_per_s": 27.5}],
            "domains": totals,
            "channels": (-1..self.channels).map(channel_row).collect::<Vec<_>>(),
        });
        let more = self.summary.as_object().expect("entries are an object").clone();
        summary.as_object_mut().expect("a summary is an object").extend(more);
        let run = json!({
            "summary": summary,
            "manifest": {"config": {
                "core": {"count": 8},
                "cha": {"slices": 18},
                "memory": {
                    "channels": 2,
                    "device": "DDR4_2933",
                    "dram": {"ranks": 2, "bank_groups": 4, "banks_per_group": 4, "subchannels": 1},
                },
                "pcie": {"generation": 3, "lanes": 16},
                "ssd": {"count": 4},
            }},
            "domains": queue("RPQ").chain(queue("WPQ")).chain(cores).collect::<Vec<_>>(),
        });
        read_run(&run)
    }

    /// Returns the section with the picture.
    pub(crate) fn picture(&self) -> String {
        hostnet_report::picture_section(&self.run()).expect("the run has pools").to_string()
    }
}

/// Reads a run.
pub(crate) fn read_run(run: &Value) -> ServerRun {
    ServerRun::from_json(&run.to_string()).expect("the run is complete")
}

/// Returns the texts between each `start` and the next `end`.
pub(crate) fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    text.split(start).skip(1).filter_map(|rest| rest.split(end).next()).collect()
}

/// Returns the widths of the elements of a class.
pub(crate) fn widths(text: &str, class: &str) -> Vec<f64> {
    let elements = text.split('<').filter(|element| element.contains(&format!("class=\"{class}\"")));
    let bars = elements.filter(|element| element.contains("height=\"8\" rx=\"2\""));
    bars.filter_map(|element| between(element, "width=\"", "\"").first()?.parse().ok()).collect()
}
