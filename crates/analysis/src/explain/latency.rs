//! Where the latency of a workload comes from.

use super::facts::{unloaded_ns, Kind, WorkloadFacts};
use super::reach::Reach;
use super::unloaded;
use crate::counters::{Counters, Flow};
use crate::formula::{self, Constants, Form, Inflation, Missing};
use hostnet_model::params::ServerParams;
use serde::{Deserialize, Serialize};

/// The latency of a workload's lines, split into its causes. Everything in ns; what the counters do not tell is `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The domain that it is about.
    pub domain: String,
    /// Mean.
    pub mean_ns: f64,
    /// Without load.
    pub unloaded_ns: f64,
    /// The bus of a channel changes direction.
    pub switching_ns: Option<f64>,
    /// Writes go first.
    pub write_hol_ns: Option<f64>,
    /// Reads go first.
    pub read_hol_ns: Option<f64>,
    /// Rows are opened and closed.
    pub top_of_queue_ns: Option<f64>,
    /// Wait for admission to the CHA.
    pub cha_admission_ns: Option<f64>,
    /// What is left: neither unloaded nor explained. Negative where the formula claims more than there is.
    pub unexplained_ns: f64,
    /// The largest of the causes.
    pub cause: Option<String>,
}

/// Splits the latency of a workload. Nothing if it moved no line. Reasons for gaps go to `missing`.
pub(super) fn of(
    server: &ServerParams,
    counters: &Counters,
    facts: &WorkloadFacts,
    missing: &mut Vec<String>,
) -> Option<Latency> {
    let pool = match facts.kind {
        Kind::Stream => facts.pools.first(),
        Kind::Fio => {
            let credits = facts.pools.iter().filter(|pool| pool.domain.starts_with("P2M"));
            credits.max_by(|a, b| a.gb_per_s.total_cmp(&b.gb_per_s))
        }
    }?;
    let mean_ns = pool.latency_ns?;
    let mut note = |failure: &Missing| {
        let text = failure.to_string();
        if !missing.contains(&text) {
            missing.push(text);
        }
    };
    let way_ns = way_ns(server, facts, &pool.domain);
    let reach = Reach::of(server, counters, facts, &pool.domain);
    let queueing = queueing(server, counters, &pool.domain).inspect_err(&mut note).ok();
    let queueing = queueing.map(|all| reach.map_or(all, |reach| all.times(reach.memory)));
    let admission = match reach {
        None => admission(counters, facts, &pool.domain, way_ns).inspect_err(&mut note).ok(),
        Some(reach) => admission_beside_llc(counters, facts, &pool.domain, reach).map(|ns| ns - way_ns),
    };
    let unloaded_ns = match reach {
        None => unloaded_ns(server, facts.kind, &pool.domain, facts.store_share),
        Some(reach) => way_ns + reach.unloaded_ns(),
    };
    Some(split(pool.domain.clone(), mean_ns, unloaded_ns, queueing, admission.map(|ns| ns.max(0.0))))
}

/// What queueing at the memory controller adds, by the formula in the form of its authors' figures.
fn queueing(server: &ServerParams, counters: &Counters, domain: &str) -> Result<Inflation, Missing> {
    let constants = Constants::of(server);
    if domain == "P2M-Write" {
        return formula::write(counters, &constants, Form::Adj);
    }
    let whole = formula::read(counters, &constants, Form::AdjCha);
    whole.or_else(|_| formula::read(counters, &constants, Form::Adj))
}

/// The way to the CHA and back, in ns; for a stream that of the write-backs of its stores too.
fn way_ns(server: &ServerParams, facts: &WorkloadFacts, domain: &str) -> f64 {
    let ns = |ps: u64| ps as f64 / 1000.0;
    let (core, iio) = (&server.core, &server.iio);
    match (facts.kind, domain) {
        (Kind::Stream, _) => ns(core.to_cha_ps + core.from_cha_ps) + facts.store_share * unloaded::c2m_write_ns(server),
        (Kind::Fio, "P2M-Read") => ns(iio.read_to_cha_ps + iio.read_return_ps),
        (Kind::Fio, _) => ns(iio.write_to_cha_ps + iio.write_ack_ps),
    }
}

fn admission(counters: &Counters, facts: &WorkloadFacts, domain: &str, way_ns: f64) -> Result<f64, Missing> {
    match (facts.kind, domain) {
        (Kind::Stream, _) => formula::core_admission_ns(counters, way_ns),
        (Kind::Fio, "P2M-Read") => formula::io_read_admission_ns(counters, way_ns),
        (Kind::Fio, _) => formula::io_write_admission_ns(counters, way_ns),
    }
}

/// The wait for admission and the way, where only some lines go on to memory. Nothing without a line.
fn admission_beside_llc(counters: &Counters, facts: &WorkloadFacts, domain: &str, reach: Reach) -> Option<f64> {
    let (held, inside): (Flow, Flow) = match (facts.kind, domain) {
        (Kind::Stream, _) => (counters.lfb, counters.core_read),
        (Kind::Fio, "P2M-Read") => (counters.iio_read, counters.io_read),
        (Kind::Fio, _) => (counters.iio_write, counters.io_write),
    };
    let inside_ns = inside.latency_ns(counters.window_ns).unwrap_or(0.0);
    Some(held.latency_ns(counters.window_ns)? - reach.memory * inside_ns - reach.llc_ns)
}

fn split(
    domain: String,
    mean_ns: f64,
    unloaded_ns: f64,
    queueing: Option<Inflation>,
    cha_admission_ns: Option<f64>,
) -> Latency {
    let known = queueing.map_or(0.0, |parts| parts.total_ns()) + cha_admission_ns.unwrap_or(0.0);
    let part = |pick: fn(&Inflation) -> f64| queueing.as_ref().map(pick);
    let mut latency = Latency {
        domain,
        mean_ns,
        unloaded_ns,
        switching_ns: part(|parts| parts.switching_ns),
        write_hol_ns: part(|parts| parts.write_hol_ns),
        read_hol_ns: part(|parts| parts.read_hol_ns),
        top_of_queue_ns: part(|parts| parts.top_of_queue_ns),
        cha_admission_ns,
        unexplained_ns: mean_ns - unloaded_ns - known,
        cause: None,
    };
    latency.cause = latency.largest();
    latency
}

impl Latency {
    /// The causes by name, with what each adds.
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

    fn largest(&self) -> Option<String> {
        let known = self.parts().into_iter().filter_map(|(name, ns)| Some((name, ns?)));
        let most = known.filter(|(_, ns)| *ns > 0.0).max_by(|a, b| a.1.total_cmp(&b.1));
        most.map(|(name, _)| name.to_owned())
    }
}
