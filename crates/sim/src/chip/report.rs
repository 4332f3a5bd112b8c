//! Summarizes a run of a chip.

use super::parts::part_name_and_title;
use super::rack;
use super::run::{ChipSimulation, Window};
use hostnet_chip::{ChipParams, Mode, Shape, PARTS};
use hostnet_config::ChipPlan;
use hostnet_measure::Histogram;
use hostnet_noc::{Channel, Layout, Place, Port};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};

/// Size of a line, in bytes.
const LINE: f64 = 64.0;
/// Share of cycles in which a link carries a flit, from which on the link counts as full.
const FULL: f64 = 0.85;

/// Results of a run of a chip.
#[derive(Clone, Debug, PartialEq)]
pub struct ChipReport {
    /// Summary; see docs/chip.md.
    pub summary: Value,
    /// Hexadecimal SHA-256 of the measured values.
    pub result_hash: String,
}

/// Reports a run from the windows of its chips.
pub(super) fn report(run: &ChipSimulation<'_>, windows: &[Window]) -> ChipReport {
    let plan = run.plan;
    let window = Window::sum(windows);
    let cycles = window.cycles.max(1) as f64;
    let units = ReportUnits { ns: 1e9 / plan.clock_hz as f64, cycles, chips: windows.len() as f64 };
    let flit = f64::from(plan.chip.flit_bytes);
    let links = links(run, &window, &units);
    let mut measured = json!({
        "windows": run.windows,
        "change": run.change,
        "stable": run.change.is_some_and(|change| change < plan.windows.change),
        "warm_up_ns": plan.windows.warm_up as f64 * units.ns,
        "window_ns": window.cycles as f64 * units.ns,
        "window_cycles": window.cycles,
        "operations": window.books.breakdown.count,
        "latency": times(&window.books.latency, &units),
        "breakdown": breakdown(plan, &window, &units),
        "bandwidth": bandwidth(&window, &units),
        "noc": {
            "flits": window.books.flits,
            "gb_per_s": units.gb_per_s(window.books.flits as f64 * flit),
            "flits_per_line": ratio(window.books.flits, window.books.lines_own),
            "link_gb_per_s": flit / units.ns,
            "links": links,
        },
        "llc": { "accesses": window.accesses, "writebacks": window.writebacks },
        "rrpp": times(&window.books.served, &units),
        "limit": limit(plan, &links),
    });
    if let Some(torus) = plan.torus {
        measured["rack"] = rack::rack(torus);
        measured["chips"] = rack::chips(run, torus, windows, &ReportUnits { chips: 1.0, ..units });
    }
    let result_hash = Sha256::digest(measured.to_string()).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut summary = json!({
        "kind": "chip",
        "name": plan.name,
        "complete": run.complete(),
        "config_hash": plan.hash,
        "result_hash": result_hash,
        "seed": plan.chip.seed,
        "clock_ghz": plan.clock_hz as f64 / 1e9,
        "simulated_ns": run.status().simulated_ps as f64 / 1e3,
        "config": plan.effective,
    });
    if let (Value::Object(all), Value::Object(measured)) = (&mut summary, measured) {
        all.extend(measured);
    }
    ChipReport { summary, result_hash }
}

/// Units that convert counts to quantities.
pub(super) struct ReportUnits {
    /// Length of a cycle, in ns.
    ns: f64,
    /// Length of the window, in cycles.
    cycles: f64,
    /// Number of chips in the counts.
    chips: f64,
}

impl ReportUnits {
    fn gb_per_s(&self, bytes: f64) -> f64 {
        bytes / (self.cycles * self.ns)
    }
}

fn ratio(of: u64, to: u64) -> Option<f64> {
    (to > 0).then(|| of as f64 / to as f64)
}

pub(super) fn times(histogram: &Histogram, units: &ReportUnits) -> Value {
    let Some(mean) = histogram.mean() else { return Value::Null };
    let (p50, p99, most) = (histogram.quantile(0.5), histogram.quantile(0.99), histogram.most() as f64);
    let ns = |cycles: Option<f64>| cycles.map(|cycles| cycles * units.ns);
    json!({
        "count": histogram.count(),
        "mean_cycles": mean,
        "p50_cycles": p50,
        "p99_cycles": p99,
        "max_cycles": most,
        "mean_ns": mean * units.ns,
        "p50_ns": ns(p50),
        "p99_ns": ns(p99),
        "max_ns": most * units.ns,
    })
}

/// Returns the parts of the mean latency. Their sums, in cycles, add up exactly to the total.
fn breakdown(plan: &ChipPlan, window: &Window, units: &ReportUnits) -> Value {
    let breakdown = &window.books.breakdown;
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

/// Returns the payload that entered and left the chips, for their own operations and for those of remote chips.
pub(super) fn bandwidth(window: &Window, units: &ReportUnits) -> Value {
    let own = units.gb_per_s(window.books.lines_own as f64 * LINE);
    let served = units.gb_per_s(window.books.lines_served as f64 * LINE);
    json!({
        "application_gb_per_s": own + served,
        "in_gb_per_s": units.gb_per_s(window.books.lines_in as f64 * LINE),
        "out_gb_per_s": units.gb_per_s(window.books.lines_out as f64 * LINE),
        "lines_own": window.books.lines_own,
        "lines_served": window.books.lines_served,
    })
}

/// Returns every output of every router, the most loaded first. For several chips, flits are sums and shares are
/// means.
pub(super) fn links(run: &ChipSimulation<'_>, window: &Window, units: &ReportUnits) -> Vec<Value> {
    let (chip, (layout, network)) = (&run.plan.chip, run.machine.chips()[0].network());
    let flits = |port: Port| window.sent[usize::from(port.router) * network.ports() + usize::from(port.port)];
    let place = |router: u16| {
        let place = layout.routers[usize::from(router)];
        json!([place.column, place.row])
    };
    let row = |name: String, kind: &str, from: Port, to: Value| {
        let flits = flits(from);
        let share = flits as f64 / (units.cycles * units.chips);
        json!({ "link": name, "kind": kind, "from": place(from.router), "to": to, "flits": flits, "share": share })
    };
    let between = layout.channels.iter().map(|channel| {
        row(layout.output_name(channel.from), channel_kind(channel, chip), channel.from, place(channel.to.router))
    });
    let out = layout.terminals.iter().enumerate().map(|(number, terminal)| {
        let (kind, behind) = behind(layout, number, chip);
        let name = format!("{} -> {behind}", layout.name(terminal.at.router));
        row(name, kind, terminal.at, Value::Null)
    });
    let mut links: Vec<Value> = between.chain(out).collect();
    links.sort_by_key(|link| std::cmp::Reverse(link["flits"].as_u64()));
    links
}

/// Returns the kind of a channel: between neighbours of a mesh, between LLC tiles, or between a core and the next
/// router of its chain.
fn channel_kind(channel: &Channel, chip: &ChipParams) -> &'static str {
    let is_core = |port: Port| port.router < chip.tiles();
    match chip.shape {
        Shape::Mesh => "mesh",
        Shape::NocOut if is_core(channel.from) || is_core(channel.to) => "chain",
        Shape::NocOut => "across",
    }
}

/// Returns the kind and the name of the unit behind a terminal.
fn behind(layout: &Layout, number: usize, chip: &ChipParams) -> (&'static str, String) {
    let (tiles, Place { column, row }) = (usize::from(chip.tiles()), layout.terminals[number].place);
    let (mesh, columns) = (chip.shape == Shape::Mesh, usize::from(chip.columns));
    match number {
        _ if mesh && number < tiles => ("tile", format!("tile {number}")),
        _ if mesh && number < tiles + usize::from(chip.rows) => ("edge", format!("edge of row {row}")),
        _ if mesh => ("memory", format!("memory controller {}", number - tiles - usize::from(chip.rows))),
        _ if number < tiles => ("core", format!("core {number}")),
        _ if number < tiles + columns => ("slice", format!("slice {column}")),
        _ if number < tiles + 2 * columns => ("edge", format!("NI of LLC tile {column}")),
        _ => ("memory", format!("memory controller {column}")),
    }
}

/// Returns the most loaded link and the kind of the limit: a full link, the latency, or something else.
fn limit(plan: &ChipPlan, links: &[Value]) -> Value {
    let Some(fullest) = links.first() else { return Value::Null };
    let share = fullest["share"].as_f64().unwrap_or_default();
    let by = match plan.chip.workload.mode {
        Mode::Turns => "latency",
        _ if share >= FULL => "link",
        Mode::Sync => "latency",
        Mode::Async => "other",
    };
    json!({ "by": by, "link": fullest["link"], "share": share })
}
