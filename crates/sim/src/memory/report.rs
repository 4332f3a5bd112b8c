//! Summarizes a run of the memory alone. The controllers count in clocks; the summary is in ns.

use super::requests::{clocks_per_line, RequestSource};
use super::MemoryRun;
use hostnet_config::{MemoryPlan, Requests};
use hostnet_kernel::Time;
use hostnet_measure::{Domain, Histogram, Usage};
use hostnet_model::memory::Counters;
use hostnet_model::params::Refresh;
use hostnet_traffic::LINE_BYTES;
use serde_json::{json, Map, Value};
use sha2::{Digest, Sha256};

/// Results of a run of the memory alone.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryReport {
    /// Summary; see docs/memory.md.
    pub summary: Value,
    /// Hexadecimal SHA-256 of the measured values.
    pub result_hash: String,
}

/// A run of the memory alone that is reported.
#[derive(Clone, Copy)]
pub(super) struct MeasuredRun<'a> {
    pub(super) plan: &'a MemoryPlan,
    pub(super) run: &'a MemoryRun<RequestSource>,
    /// Requests of the warm-up.
    pub(super) warm_up: u64,
    /// True if requests have arrival times.
    pub(super) timed: bool,
    /// True if all requests were served.
    pub(super) complete: bool,
}

/// Builds the report of a run.
pub(super) fn build_report(measured_run: MeasuredRun) -> MemoryReport {
    let view = MemoryView::new(measured_run);
    let measured = json!({
        "complete": measured_run.complete,
        "requests": view.requests(),
        "bandwidth": view.bandwidth(),
        "latency": view.latency(),
        "rows": view.rows(&view.total),
        "commands": view.commands(&view.total),
        "time": view.time(),
        "domains": [view.domain("RPQ", |part| &part.rpq), view.domain("WPQ", |part| &part.wpq)],
        "channels": view.parts.iter().enumerate().map(|(index, part)| view.channel(index, part)).collect::<Vec<_>>(),
        "sources": (0..view.total.reads.len()).map(|source| view.source(source)).collect::<Vec<_>>(),
    });
    let result_hash = sha256(&measured.to_string());
    let mut summary = Map::new();
    summary.insert("format".to_owned(), json!(1));
    summary.insert("config_hash".to_owned(), json!(measured_run.plan.hash));
    summary.insert("result_hash".to_owned(), json!(result_hash));
    summary.insert("memory".to_owned(), view.memory());
    if let Value::Object(measured) = measured {
        summary.extend(measured);
    }
    summary.insert("ignored".to_owned(), json!(measured_run.plan.ignored));
    summary.insert("config".to_owned(), measured_run.plan.effective.clone());
    MemoryReport { summary: Value::Object(summary), result_hash }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One controller, with statistics settled at the end of the window.
struct SettledController {
    counters: Counters,
    rpq: Domain,
    wpq: Domain,
}

struct MemoryView<'a> {
    measured: MeasuredRun<'a>,
    parts: Vec<SettledController>,
    /// Sum of the counters of all controllers.
    total: Counters,
    clock_ns: f64,
    /// Length of the window, in clocks.
    window: u64,
}

impl<'a> MemoryView<'a> {
    fn new(measured: MeasuredRun<'a>) -> Self {
        let run = measured.run;
        let now = Time::from_ps(run.clock());
        let settled = |domain: &Domain| {
            // Settled in a copy, as a report must not change the run.
            let mut domain = domain.clone();
            domain.settle_all(now);
            domain
        };
        let parts: Vec<SettledController> = run
            .controllers()
            .iter()
            .map(|part| SettledController {
                counters: part.counters(now),
                rpq: settled(part.rpq()),
                wpq: settled(part.wpq()),
            })
            .collect();
        let dram = &measured.plan.dram;
        Self {
            total: sum(&parts),
            parts,
            clock_ns: dram.clock_ps_numerator as f64 / dram.clock_ps_denominator as f64 / 1000.0,
            window: run.clock() - run.measuring_since(),
            measured,
        }
    }

    fn memory(&self) -> Value {
        let plan = self.measured.plan;
        let written = &plan.effective["memory"];
        json!({
            "device": written["device"],
            "profile": written["profile"],
            "map": written["map"],
            "channels": plan.map.channels,
            "controllers": self.parts.len(),
            "ranks": plan.dram.ranks,
            "capacity_bytes": plan.capacity_bytes,
            "clock_ns": self.clock_ns,
            "peak_gb_per_s": self.peak(),
        })
    }

    fn requests(&self) -> Value {
        let tally = self.measured.run.tally();
        let of = |write: usize| tally.sources.iter().map(|source| source[write]).sum::<u64>();
        // A controller may keep writes below its watermark for ever (memory.md, `unserved`).
        let unserved = |part: &SettledController| u64::from(part.rpq.in_use() + part.wpq.in_use());
        json!({
            "accepted": self.measured.run.taken(),
            "warm_up": self.measured.warm_up,
            "measured": tally.accepted,
            "reads": of(0),
            "writes": of(1),
            "forwarded": self.total.forwarded,
            "merged": self.total.merged,
            "unserved": self.parts.iter().map(unserved).sum::<u64>(),
        })
    }

    fn bandwidth(&self) -> Value {
        let tally = self.measured.run.tally();
        // Between the first and the last acceptance lie one interval fewer than requests.
        let gb_per_s = self.gb_per_s(tally.accepted.saturating_sub(1), tally.last - tally.first);
        let load = match &self.measured.plan.requests {
            Requests::Traffic(traffic) => traffic.load,
            Requests::Trace { .. } => None,
        };
        json!({
            "gb_per_s": gb_per_s,
            "share_of_peak": gb_per_s.map(|rate| rate / self.peak()),
            "offered_gb_per_s": load.map(|load| load * self.peak()),
            "read_gb_per_s": self.gb_per_s(dram_reads(&self.total), self.window),
            "write_gb_per_s": self.gb_per_s(dram_writes(&self.total), self.window),
        })
    }

    fn latency(&self) -> Value {
        let tally = self.measured.run.tally();
        let mut write_residence = Histogram::default();
        for usage in self.parts.iter().flat_map(|part| part.wpq.classes()) {
            write_residence.merge(usage.residence());
        }
        json!({
            // Without arrival times a request arrives when it is accepted, so this latency means nothing.
            "read_from_arrival": self.measured.timed.then(|| self.histogram(&tally.from_arrival)),
            "read_from_acceptance": self.histogram(&tally.from_acceptance),
            "write_residence": self.histogram(&write_residence),
        })
    }

    fn histogram(&self, histogram: &Histogram) -> Value {
        let quantile = |share| histogram.quantile(share).map(|clocks| clocks * self.clock_ns);
        json!({
            "count": histogram.count(),
            "mean_ns": histogram.mean().map(|clocks| clocks * self.clock_ns),
            "p50_ns": quantile(0.5),
            "p99_ns": quantile(0.99),
            "max_ns": quantile(1.0),
        })
    }

    fn rows(&self, counters: &Counters) -> Value {
        let (hits, misses, conflicts) = (counters.row_hits, counters.row_misses, counters.row_conflicts);
        let all = hits + misses + conflicts;
        json!({
            "hits": hits,
            "misses": misses,
            "conflicts": conflicts,
            "hit_share": ratio(hits, all),
            "miss_share": ratio(misses, all),
            "conflict_share": ratio(conflicts, all),
            "activations_per_request": ratio(activations(counters), dram_reads(counters) + dram_writes(counters)),
        })
    }

    /// Returns the commands by name. A request that is only partly served within the window counts if its last column
    /// access is in the window.
    fn commands(&self, counters: &Counters) -> Value {
        let accesses = u64::from(self.measured.plan.dram.accesses_per_line);
        let same_bank = self.measured.plan.controller.refresh == Refresh::SameBank;
        let refreshes = |wanted: bool| if wanted { counters.refreshes } else { 0 };
        json!({
            "ACT": activations(counters),
            "PRE": counters.precharges,
            // A narrow channel needs several column accesses for a line.
            "RD": dram_reads(counters) * accesses,
            "WR": dram_writes(counters) * accesses,
            "REF": refreshes(!same_bank),
            "REFSB": refreshes(same_bank),
        })
    }

    fn time(&self) -> Value {
        json!({
            "elapsed_ns": self.window as f64 * self.clock_ns,
            "elapsed_clocks": self.window,
            "read_mode_share": self.reading_share(&self.total, self.parts.len()),
            "write_mode_share": self.share(self.total.write_mode_ps, self.parts.len()),
            "idle_share": self.share(self.total.idle_ps, self.parts.len()),
            "refresh_share": self.share(self.refresh_clocks(&self.total), self.ranks()),
            "write_modes": self.total.write_modes,
            "switches": self.total.switches,
        })
    }

    fn domain(&self, name: &str, of: impl Fn(&SettledController) -> &Domain) -> Value {
        let parts: Vec<&Domain> = self.parts.iter().map(of).collect();
        let mut residence = Histogram::default();
        parts.iter().flat_map(|domain| domain.classes()).for_each(|usage| residence.merge(usage.residence()));
        let add = |count: &dyn Fn(&Domain) -> u64| parts.iter().map(|domain| count(domain)).sum::<u64>();
        let area = add(&Domain::area_ps);
        json!({
            "domain": name,
            "capacity": add(&|domain| domain.capacity().into()),
            "in_use_mean": ratio(area, self.window),
            "in_use_max": add(&|domain| domain.in_use_max().into()),
            "full_share": self.share(add(&Domain::full_ps), parts.len()),
            "latency_mean_ns": residence.mean().map(|clocks| clocks * self.clock_ns),
            "latency_little_ns": self.little_ns(area, residence.count()),
            "latency_p50_ns": residence.quantile(0.5).map(|clocks| clocks * self.clock_ns),
            "latency_p99_ns": residence.quantile(0.99).map(|clocks| clocks * self.clock_ns),
            "requests": residence.count(),
        })
    }

    fn channel(&self, index: usize, part: &SettledController) -> Value {
        let counters = &part.counters;
        let (reads, writes) = (dram_reads(counters), dram_writes(counters));
        let subchannels = self.measured.plan.dram.subchannels as usize;
        // `clocks_per_line` is that of all controllers together; one alone takes as many times longer.
        let busy = clocks_per_line(self.measured.plan) * self.parts.len() as f64 * (reads + writes) as f64;
        let mut row = json!({
            "channel": index / subchannels,
            "subchannel": index % subchannels,
            "reads": reads,
            "writes": writes,
            "read_gb_per_s": self.gb_per_s(reads, self.window),
            "write_gb_per_s": self.gb_per_s(writes, self.window),
            "busy_share": (self.window > 0).then(|| busy / self.window as f64),
            "forwarded": counters.forwarded,
            "merged": counters.merged,
            "rows": self.rows(counters),
            "commands": self.commands(counters),
            "read_mode_share": self.reading_share(counters, 1),
            "write_mode_share": self.share(counters.write_mode_ps, 1),
            "idle_share": self.share(counters.idle_ps, 1),
            "refresh_share": self.share(self.refresh_clocks(counters), self.ranks() / self.parts.len()),
        });
        for (name, domain) in [("rpq", &part.rpq), ("wpq", &part.wpq)] {
            row[format!("{name}_in_use_mean")] = json!(ratio(domain.area_ps(), self.window));
            row[format!("{name}_full_share")] = json!(self.share(domain.full_ps(), 1));
        }
        row
    }

    fn source(&self, source: usize) -> Value {
        let tally = self.measured.run.tally();
        let [reads, writes] = tally.sources[source];
        let mut row = json!({
            "source": source,
            "reads": reads,
            "writes": writes,
            "bytes": (reads + writes) * LINE_BYTES,
            "share": ratio(reads + writes, tally.accepted),
        });
        let of = |pick: &dyn Fn(&SettledController) -> &Domain| {
            let mut residence = Histogram::default();
            let usages: Vec<&Usage> = self.parts.iter().map(|part| &pick(part).classes()[source]).collect();
            usages.iter().for_each(|usage| residence.merge(usage.residence()));
            (usages.iter().map(|usage| usage.area_ps()).sum::<u64>(), residence)
        };
        for (name, (area, residence)) in [("rpq", of(&|part| &part.rpq)), ("wpq", of(&|part| &part.wpq))] {
            row[format!("{name}_in_use_mean")] = json!(ratio(area, self.window));
            row[format!("{name}_latency_mean_ns")] = json!(residence.mean().map(|clocks| clocks * self.clock_ns));
        }
        row
    }

    /// Returns the mean residence by Little's law: the area of entries in use over the entries returned, in ns.
    fn little_ns(&self, area: u64, requests: u64) -> Option<f64> {
        ratio(area, requests).map(|clocks| clocks * self.clock_ns)
    }

    /// Returns the share of the window in which `parts` controllers were neither writing nor idle.
    fn reading_share(&self, counters: &Counters, parts: usize) -> Option<f64> {
        let others = counters.write_mode_ps + counters.idle_ps;
        self.share((self.window * parts as u64).saturating_sub(others), parts)
    }

    fn refresh_clocks(&self, counters: &Counters) -> u64 {
        let timing = &self.measured.plan.dram.timing;
        let same_bank = self.measured.plan.controller.refresh == Refresh::SameBank;
        counters.refreshes * u64::from(if same_bank { timing.rfc_sb } else { timing.rfc })
    }

    /// Returns the number of ranks of all controllers.
    fn ranks(&self) -> usize {
        self.measured.plan.dram.ranks as usize * self.parts.len()
    }

    /// Returns `clocks` as a share of the window, as the mean over `parts`.
    fn share(&self, clocks: u64, parts: usize) -> Option<f64> {
        ratio(clocks, self.window * parts as u64)
    }

    fn gb_per_s(&self, lines: u64, clocks: u64) -> Option<f64> {
        ratio(lines * LINE_BYTES, clocks).map(|bytes| bytes / self.clock_ns)
    }

    fn peak(&self) -> f64 {
        LINE_BYTES as f64 / (clocks_per_line(self.measured.plan) * self.clock_ns)
    }
}

fn ratio(over: u64, under: u64) -> Option<f64> {
    // A share of nothing is no value: JSON has no NaN.
    (under > 0).then(|| over as f64 / under as f64)
}

fn activations(counters: &Counters) -> u64 {
    counters.read_activations + counters.write_activations
}

/// Returns the lines read from DRAM: all reads that were not forwarded from the write queue.
fn dram_reads(counters: &Counters) -> u64 {
    counters.reads.iter().sum::<u64>() - counters.forwarded
}

/// Returns the lines written to DRAM: all writes that were not merged.
fn dram_writes(counters: &Counters) -> u64 {
    counters.writes.iter().sum::<u64>() - counters.merged
}

fn sum(parts: &[SettledController]) -> Counters {
    let mut total = Counters::default();
    for counters in parts.iter().map(|part| &part.counters) {
        total.reads.resize(counters.reads.len(), 0);
        total.writes.resize(counters.writes.len(), 0);
        total.reads.iter_mut().zip(&counters.reads).for_each(|(all, one)| *all += one);
        total.writes.iter_mut().zip(&counters.writes).for_each(|(all, one)| *all += one);
        total.forwarded += counters.forwarded;
        total.merged += counters.merged;
        total.row_hits += counters.row_hits;
        total.row_misses += counters.row_misses;
        total.row_conflicts += counters.row_conflicts;
        total.read_activations += counters.read_activations;
        total.write_activations += counters.write_activations;
        total.precharges += counters.precharges;
        total.refreshes += counters.refreshes;
        total.switches += counters.switches;
        total.write_modes += counters.write_modes;
        total.write_mode_ps += counters.write_mode_ps;
        total.idle_ps += counters.idle_ps;
    }
    total
}
