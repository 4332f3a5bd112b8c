//! Splits the latency of a workload into its causes.

use super::facts::{unloaded_ns, Kind, WorkloadFacts};
use super::reach::CacheReach;
use super::unloaded;
use crate::counters::{Counters, Flow};
use crate::formula::{self, Constants, FormulaVariant, InflationCauses, Missing};
use hostnet_model::params::SocketParams;
use serde::{Deserialize, Serialize};

/// Latency of a workload's lines by cause, in ns. Causes that the counters do not show are `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Name of the domain whose latency this is.
    pub domain: String,
    /// Mean latency.
    pub mean_ns: f64,
    /// Latency without load.
    pub unloaded_ns: f64,
    /// Turnarounds of a channel's bus between reads and writes.
    pub switching_ns: Option<f64>,
    /// Writes served first (write head-of-line blocking).
    pub write_hol_ns: Option<f64>,
    /// Reads served first (read head-of-line blocking).
    pub read_hol_ns: Option<f64>,
    /// Row activations and precharges of the request itself.
    pub top_of_queue_ns: Option<f64>,
    /// Wait for admission to the CHA.
    pub cha_admission_ns: Option<f64>,
    /// Rest: neither unloaded latency nor explained. It is negative if the causes add up to more than the mean.
    pub unexplained_ns: f64,
    /// Name of the largest cause; `None` if the unexplained rest is larger.
    pub cause: Option<String>,
    /// Causes that could not be computed, each with the counters that it lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<Missing>,
}

/// Each cause by name, with the latency that it adds in ns or the counters that it lacks.
type LatencyCauses = [(&'static str, Result<f64, Missing>); 5];

/// Share of the mean latency by which one cause may exceed the latency that load adds: formulas are not exact.
const TOLERANCE: f64 = 0.1;

/// Splits the latency of a workload. Returns `None` if the workload moved no line. Appends the reasons for missing
/// causes to `missing`.
pub(super) fn of(
    socket: &SocketParams,
    counters: &Counters,
    facts: &WorkloadFacts,
    missing: &mut Vec<String>,
) -> Option<Latency> {
    let pool = match facts.kind {
        Kind::Stream => facts.pools.first(),
        Kind::Fio => {
            // Drives that read and write have two domains: the latency is that of the one which moves more.
            let credits = facts.pools.iter().filter(|pool| pool.domain.starts_with("P2M"));
            credits.max_by(|a, b| a.gb_per_s.total_cmp(&b.gb_per_s))
        }
    }?;
    let mean_ns = pool.latency_ns?;
    let path_ns = path_ns(socket, facts, &pool.domain);
    let reach = CacheReach::of(socket, counters, facts, &pool.domain);
    let share = reach.map_or(1.0, |reach| reach.memory);
    let queueing = queueing(socket, counters, &pool.domain);
    let admission = match reach {
        // Checked before `crosses`, which is set for lines behind a link as well.
        _ if facts.link_ns > 0.0 => {
            Err(Missing::counter("CHA admission", "of the time that lines take behind the link"))
        }
        _ if facts.crosses => Err(Missing::counter("CHA admission", "of the time that lines take over UPI")),
        None => admission(counters, facts, &pool.domain, path_ns),
        Some(reach) => admission_beside_llc(counters, facts, &pool.domain, reach).map(|ns| ns - path_ns),
    };
    let unloaded_ns = match reach {
        None => unloaded_ns(socket, facts.kind, &pool.domain, facts.store_share),
        // Only lines that miss the LLC reach the link, hence `share` below.
        Some(reach) => path_ns + reach.unloaded_ns(),
    } + share * facts.added_by_link_ns();
    // The CHA counters cover the lines of all cores. A wait longer than the workload's own latency belongs to other
    // lines.
    let most_ns = mean_ns - unloaded_ns + TOLERANCE * mean_ns;
    let admission = admission.and_then(|ns| match ns > most_ns {
        true => Err(Missing::counter("CHA admission", "of the time that its lines alone wait there")),
        false => Ok(ns),
    });
    // In the order of `Latency::parts`. Lines that the LLC serves do not queue at the memory controller, hence `share`.
    let causes: LatencyCauses = [
        ("switching", queueing.switching.map(|ns| share * ns)),
        ("write head-of-line", queueing.write_hol.map(|ns| share * ns)),
        ("read head-of-line", queueing.read_hol.map(|ns| share * ns)),
        ("top-of-queue", queueing.top_of_queue.map(|ns| share * ns)),
        // A difference of means over different sets of lines may be negative; a wait cannot.
        ("CHA admission", admission.map(|ns| ns.max(0.0))),
    ];
    note(&causes, missing);
    Some(split(pool.domain.clone(), mean_ns, unloaded_ns, causes))
}

/// Appends the missing causes to `missing`; causes that lack the same counters share an entry.
fn note(causes: &LatencyCauses, missing: &mut Vec<String>) {
    let mut lacking: Vec<Missing> = Vec::new();
    for failure in causes.iter().filter_map(|(_, ns)| ns.as_ref().err()) {
        let same = |other: &&mut Missing| (&other.counters, &other.zero) == (&failure.counters, &failure.zero);
        match lacking.iter_mut().find(same) {
            Some(other) => other.quantity = format!("{}, {}", other.quantity, failure.quantity),
            None => lacking.push(failure.clone()),
        }
    }
    for text in lacking.iter().map(ToString::to_string) {
        if !missing.contains(&text) {
            missing.push(text);
        }
    }
}

/// Computes the causes at the memory controller, with the variant of the formula that its authors used for their
/// figures.
fn queueing(socket: &SocketParams, counters: &Counters, domain: &str) -> InflationCauses {
    let constants = Constants::of(socket);
    if domain == "P2M-Write" {
        return formula::causes_of_write(counters, &constants, FormulaVariant::Adj);
    }
    // AdjCha needs more counters, and equals Adj as long as the RPQ is never full (docs/explain.md, The formula).
    let told_in_cha = counters.rpq_full_share.and(counters.core_read.occupancy).and(counters.io_read.occupancy);
    let form = if told_in_cha.is_some() { FormulaVariant::AdjCha } else { FormulaVariant::Adj };
    formula::causes_of_read(counters, &constants, form)
}

/// Latency of the path to the CHA and back, in ns; for a stream including that of the write-backs of its stores.
fn path_ns(socket: &SocketParams, facts: &WorkloadFacts, domain: &str) -> f64 {
    let ns = |ps: u64| ps as f64 / 1000.0;
    let (core, iio) = (&socket.core, &socket.iio);
    match (facts.kind, domain) {
        // A store holds its LFB entry for the write-back too, which ends at the CHA.
        (Kind::Stream, _) => ns(core.to_cha_ps + core.from_cha_ps) + facts.store_share * unloaded::c2m_write_ns(socket),
        (Kind::Fio, "P2M-Read") => ns(iio.read_to_cha_ps + iio.read_return_ps),
        (Kind::Fio, _) => ns(iio.write_to_cha_ps + iio.write_ack_ps),
    }
}

fn admission(counters: &Counters, facts: &WorkloadFacts, domain: &str, path_ns: f64) -> Result<f64, Missing> {
    match (facts.kind, domain) {
        (Kind::Stream, _) => formula::core_admission_ns(counters, path_ns).and_then(|ns| with_stores(counters, ns)),
        (Kind::Fio, "P2M-Read") => formula::io_read_admission_ns(counters, path_ns),
        (Kind::Fio, _) => formula::io_write_admission_ns(counters, path_ns),
    }
}

/// Returns `admission_ns` if the number of write-backs is known: without it the wait would include the write-back
/// time.
fn with_stores(counters: &Counters, admission_ns: f64) -> Result<f64, Missing> {
    let lacking = || Missing::counter("the wait of core lines for the CHA", "core_write.lines");
    counters.core_write.lines.map(|_| admission_ns).ok_or_else(lacking)
}

/// Computes the wait for admission including the path, where only some lines go on to memory. Fails without a line.
fn admission_beside_llc(
    counters: &Counters,
    facts: &WorkloadFacts,
    domain: &str,
    reach: CacheReach,
) -> Result<f64, Missing> {
    let (pool, held, inside): (&str, Flow, Flow) = match (facts.kind, domain) {
        (Kind::Stream, _) => ("lfb.lines", counters.lfb, counters.core_read),
        (Kind::Fio, "P2M-Read") => ("iio_read.lines", counters.iio_read, counters.io_read),
        (Kind::Fio, _) => ("iio_write.lines", counters.iio_write, counters.io_write),
    };
    let inside_ns = inside.latency_ns(counters.window_ns).unwrap_or(0.0);
    let held_ns = held.latency_ns(counters.window_ns);
    let held_ns = held_ns.ok_or_else(|| Missing::counter("the wait for the CHA", pool))?;
    // CHA counters hold only lines that go on to memory; the others spend the LLC's latency instead.
    Ok(held_ns - reach.memory * inside_ns - reach.llc_ns)
}

fn split(domain: String, mean_ns: f64, unloaded_ns: f64, causes: LatencyCauses) -> Latency {
    let lacking = causes.iter().filter_map(|(name, ns)| Some((name, ns.as_ref().err()?)));
    let lacks = lacking.map(|(name, failure)| Missing { quantity: (*name).to_owned(), ..failure.clone() }).collect();
    let [switching_ns, write_hol_ns, read_hol_ns, top_of_queue_ns, cha_admission_ns] = causes.map(|(_, ns)| ns.ok());
    let mut latency = Latency {
        domain,
        mean_ns,
        unloaded_ns,
        switching_ns,
        write_hol_ns,
        read_hol_ns,
        top_of_queue_ns,
        cha_admission_ns,
        unexplained_ns: 0.0,
        cause: None,
        lacks,
    };
    let known: f64 = latency.parts().iter().filter_map(|(_, ns)| *ns).sum();
    latency.unexplained_ns = mean_ns - unloaded_ns - known;
    latency.cause = latency.largest();
    latency
}

impl Latency {
    /// Returns each cause by name, with the latency that it adds in ns.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, Option<f64>); 5] {
        [
            ("switching", self.switching_ns),
            ("write head-of-line", self.write_hol_ns),
            ("read head-of-line", self.read_hol_ns),
            ("top-of-queue", self.top_of_queue_ns),
            ("CHA admission", self.cha_admission_ns),
        ]
    }

    /// Returns the largest cause, or `None` if the unexplained rest is larger: one unknown cause may account for all
    /// of the rest.
    fn largest(&self) -> Option<String> {
        let known = self.parts().into_iter().filter_map(|(name, ns)| Some((name, ns?)));
        let most = known.filter(|(_, ns)| *ns > 0.0).max_by(|a, b| a.1.total_cmp(&b.1));
        most.filter(|(_, ns)| *ns >= self.unexplained_ns).map(|(name, _)| name.to_owned())
    }
}
