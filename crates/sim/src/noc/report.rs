//! Summarizes a run of a network on a chip. The network counts in cycles; the summary also has ns.

use super::verdict::saturated;
use hostnet_config::NocPlan;
use hostnet_measure::Histogram;
use hostnet_noc::{LinkCount, Report, Run, Shape};
use serde_json::{json, Map, Value};
use sha2::{Digest, Sha256};

/// Steps of a distribution: whole percentiles.
const STEPS: u32 = 100;

/// Results of a run of a network on a chip.
#[derive(Clone, Debug, PartialEq)]
pub struct NocReport {
    /// Summary; see docs/noc.md.
    pub summary: Value,
    /// Hexadecimal SHA-256 of the measured values.
    pub result_hash: String,
}

/// Returns the length of a cycle, in ns.
pub(super) fn clock_ns(plan: &NocPlan) -> f64 {
    1e9 / plan.clock_hz as f64
}

/// Builds the report of a run of a plan. `complete` is true if the run has reached its end.
pub(super) fn build_report(plan: &NocPlan, run: &Run, complete: bool) -> NocReport {
    let view = NocView { plan, report: run.report(), busiest: run.busiest(), clock_ns: clock_ns(plan) };
    let measured = json!({
        "complete": complete,
        "cycles": view.cycles(),
        "packets": view.packets(),
        "rate": view.rate(),
        "bound": view.bound(),
        "saturation": view.saturation(),
        "latency": view.latency(),
        "links": view.report.links.iter().map(|link| view.link(link)).collect::<Vec<_>>(),
    });
    let result_hash: String = Sha256::digest(measured.to_string()).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut summary = Map::new();
    summary.insert("format".to_owned(), json!(1));
    summary.insert("config_hash".to_owned(), json!(plan.hash));
    summary.insert("result_hash".to_owned(), json!(result_hash));
    summary.insert("noc".to_owned(), view.noc());
    if let Value::Object(measured) = measured {
        summary.extend(measured);
    }
    summary.insert("config".to_owned(), plan.effective.clone());
    NocReport { summary: Value::Object(summary), result_hash }
}

struct NocView<'a> {
    plan: &'a NocPlan,
    report: Report,
    /// Expected load of the most loaded output, and its name.
    busiest: Option<(f64, String)>,
    clock_ns: f64,
}

impl NocView<'_> {
    fn noc(&self) -> Value {
        let (topology, columns, rows) = match self.plan.params.shape {
            Shape::Mesh { columns, rows } => ("mesh", columns, rows),
            // A ring is drawn as two rows (noc.md, `noc`).
            Shape::Ring { nodes } => ("ring", nodes.div_ceil(2), 2),
        };
        json!({
            "topology": topology,
            "columns": columns,
            "rows": rows,
            "nodes": self.report.terminals,
            "clock_ns": self.clock_ns,
            "flit_bytes": self.plan.flit_bytes,
            "link_gb_per_s": self.plan.flit_bytes as f64 / self.clock_ns,
        })
    }

    fn cycles(&self) -> Value {
        let Report { cycles, all_cycles, .. } = self.report;
        // A run may be stopped in its warm-up.
        let warm_up = self.plan.measure.warmup.min(all_cycles);
        json!({ "warm_up": warm_up, "measured": cycles, "drained": all_cycles - warm_up - cycles, "all": all_cycles })
    }

    fn packets(&self) -> Value {
        let Report { packets, arrived, links_mean, flit_hops, drained, .. } = self.report;
        json!({
            "measured": packets,
            "arrived": arrived,
            "drained": drained,
            "links_mean": (arrived > 0).then_some(links_mean),
            "flit_hops": flit_hops,
        })
    }

    fn rate(&self) -> Value {
        let Report { cycles, terminals, offered, accepted, accepted_least, .. } = self.report;
        let known = |value: f64| (cycles > 0).then_some(value);
        let all = f64::from(terminals) * self.plan.flit_bytes as f64 / self.clock_ns;
        json!({
            "offered": known(offered),
            "accepted": known(accepted),
            "accepted_least": known(accepted_least),
            "accepted_gb_per_s": known(accepted * all),
        })
    }

    /// Returns the injection rate at which the most loaded output is full, from the routes alone.
    fn bound(&self) -> Value {
        match &self.busiest {
            // `load` is the flits on the output per flit that every node offers, so its inverse fills the output.
            Some((load, name)) => json!({ "rate": 1.0 / load, "link": name, "load": load }),
            None => Value::Null,
        }
    }

    fn saturation(&self) -> Value {
        let Report { cycles, terminals, offered, packets, backlog: (before, after), .. } = self.report;
        // A run that was stopped early has no backlog at the end of its measurement.
        if cycles == 0 || cycles < self.plan.measure.measure {
            return json!({ "saturated": null, "backlog_before": null, "backlog_after": null });
        }
        let flits = offered * cycles as f64 * f64::from(terminals);
        json!({
            "saturated": saturated(before, after, packets, flits),
            "backlog_before": before,
            "backlog_after": after,
        })
    }

    fn latency(&self) -> Value {
        let zero = (self.report.arrived > 0).then_some(self.report.zero_load_mean);
        json!({
            "packet": self.histogram(&self.report.latency),
            "network": self.histogram(&self.report.network_latency),
            "zero_load": { "mean_cycles": zero, "mean_ns": zero.map(|cycles| cycles * self.clock_ns) },
        })
    }

    fn histogram(&self, histogram: &Histogram) -> Value {
        let mut values = json!({ "count": histogram.count() });
        let mut put = |name: &str, cycles: Option<f64>| {
            values[format!("{name}_cycles")] = json!(cycles);
            values[format!("{name}_ns")] = json!(cycles.map(|cycles| cycles * self.clock_ns));
        };
        put("mean", histogram.mean());
        for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)] {
            put(name, histogram.quantile(share));
        }
        let steps = (0..=STEPS).map(|step| histogram.quantile(f64::from(step) / f64::from(STEPS)));
        values["percentiles_cycles"] = json!(steps.collect::<Option<Vec<f64>>>());
        values
    }

    fn link(&self, link: &LinkCount) -> Value {
        let LinkCount { name, from, to, to_terminal, flits, expected_load } = link;
        let cycles = self.report.cycles;
        json!({
            "link": name,
            "from": [from.0, from.1],
            "to": [to.0, to.1],
            "to_node": to_terminal,
            "flits": flits,
            "busy_share": (cycles > 0).then(|| *flits as f64 / cycles as f64),
            "load": expected_load,
        })
    }
}
