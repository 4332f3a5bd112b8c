//! Summarizes a run of a chip.

use super::links::links;
use super::parts::part_name_and_title;
use super::rack;
use super::units::{bandwidth, ratio, times, ReportUnits};
use super::window::Window;
use hostnet_chip::{Chip, Mode, PARTS};
use hostnet_config::ChipPlan;
use serde_json::{json, Value};
use sha2::{Digest, Sha256};

/// Share of cycles with a flit on a link at or above which the link counts as full.
const FULL: f64 = 0.85;

/// Results of a run of a chip.
#[derive(Clone, Debug, PartialEq)]
pub struct ChipReport {
    /// Summary; see docs/chip.md.
    pub summary: Value,
    /// Hexadecimal SHA-256 of the measured values.
    pub result_hash: String,
}

/// A run of a chip that is reported.
pub(super) struct MeasuredRun<'a> {
    pub(super) plan: &'a ChipPlan,
    /// The first chip, whose network all have.
    pub(super) chip: &'a Chip,
    /// Number of complete windows.
    pub(super) windows: u32,
    /// Relative difference of the last two windows, once there are two.
    pub(super) change: Option<f64>,
    /// True if the run has reached its end.
    pub(super) complete: bool,
    pub(super) simulated_ps: u64,
}

/// Reports a run from the windows of its chips.
pub(super) fn build_report(run: &MeasuredRun, windows: &[Window]) -> ChipReport {
    let plan = run.plan;
    let window = Window::sum(windows);
    let cycles = window.cycles.max(1) as f64;
    let units = ReportUnits { ns: 1e9 / plan.clock_hz as f64, cycles, chips: windows.len() as f64 };
    let flit = f64::from(plan.chip.flit_bytes);
    let links = links(run.chip, &plan.chip, &window, &units);
    let mut measured = json!({
        "windows": run.windows,
        "change": run.change,
        "stable": run.change.is_some_and(|change| change < plan.windows.change),
        "warm_up_ns": plan.windows.warm_up as f64 * units.ns,
        "window_ns": window.cycles as f64 * units.ns,
        "window_cycles": window.cycles,
        "operations": window.stats.breakdown.count,
        "latency": times(&window.stats.latency, &units),
        "breakdown": breakdown(plan, &window, &units),
        "bandwidth": bandwidth(&window, &units),
        "noc": {
            "flits": window.stats.flits,
            "gb_per_s": units.gb_per_s(window.stats.flits as f64 * flit),
            "flits_per_line": ratio(window.stats.flits, window.stats.lines_own),
            "link_gb_per_s": flit / units.ns,
            "links": links,
        },
        "llc": { "accesses": window.accesses, "writebacks": window.writebacks },
        "rrpp": times(&window.stats.served, &units),
        "limit": limit(plan, &links),
    });
    if let Some(torus) = plan.torus {
        measured["rack"] = rack::rack(torus);
        measured["chips"] = rack::chips(run.chip, plan, torus, windows, &ReportUnits { chips: 1.0, ..units });
    }
    // Only measurements are hashed: the configuration has its own hash.
    let result_hash = Sha256::digest(measured.to_string()).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut summary = json!({
        "kind": "chip",
        "name": plan.name,
        "complete": run.complete,
        "config_hash": plan.hash,
        "result_hash": result_hash,
        "seed": plan.chip.seed,
        "clock_ghz": plan.clock_hz as f64 / 1e9,
        "simulated_ns": run.simulated_ps as f64 / 1e3,
        "config": plan.effective,
    });
    if let (Value::Object(all), Value::Object(measured)) = (&mut summary, measured) {
        all.extend(measured);
    }
    ChipReport { summary, result_hash }
}

/// Returns the parts of the mean latency. Their sums, in cycles, add up exactly to the total.
fn breakdown(plan: &ChipPlan, window: &Window, units: &ReportUnits) -> Value {
    let breakdown = &window.stats.breakdown;
    let total: u64 = breakdown.sums.iter().sum();
    let rows = PARTS.iter().filter(|part| breakdown.sums[**part as usize] > 0).map(|part| {
        let (part_name, title) = part_name_and_title(*part, plan.chip.ni.placement);
        let sum = breakdown.sums[*part as usize];
        json!({
            "part": part_name,
            "title": title,
            "sum_cycles": sum,
            "mean_cycles": ratio(sum, breakdown.count),
            "mean_ns": ratio(sum, breakdown.count).map(|cycles| cycles * units.ns),
            "share": ratio(sum, total),
        })
    });
    json!({
        "operations": breakdown.count,
        "sum_cycles": total,
        "mean_cycles": ratio(total, breakdown.count),
        "parts": rows.collect::<Vec<_>>(),
    })
}

/// Returns the most loaded link and the kind of the limit: a full link, the latency, or something else.
fn limit(plan: &ChipPlan, links: &[Value]) -> Value {
    let Some(fullest) = links.first() else { return Value::Null };
    let share = fullest["share"].as_f64().unwrap_or_default();
    let by = match plan.chip.workload.mode {
        // One operation at a time never fills a link, so its latency is the limit.
        Mode::Turns => "latency",
        _ if share >= FULL => "link",
        Mode::Sync => "latency",
        // Work queues are full and no link is: operations wait elsewhere (chip.md, Links).
        Mode::Async => "other",
    };
    json!({ "by": by, "link": fullest["link"], "share": share })
}
