//! Where the latency of a workload comes from.

use super::facts::{unloaded_ns, Kind, WorkloadFacts};
use crate::counters::Counters;
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
    let queueing = queueing(server, counters, &pool.domain).inspect_err(&mut note).ok();
    let admission = admission(server, counters, facts, &pool.domain).inspect_err(&mut note).ok();
    let unloaded_ns = unloaded_ns(server, facts.kind, &pool.domain, facts.store_share);
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

fn admission(server: &ServerParams, counters: &Counters, facts: &WorkloadFacts, domain: &str) -> Result<f64, Missing> {
    let ns = |ps: u64| ps as f64 / 1000.0;
    let (core, iio) = (&server.core, &server.iio);
    match (facts.kind, domain) {
        (Kind::Stream, _) => {
            let write_back = facts.store_share * ns(core.to_cha_ps + core.write_ack_ps);
            formula::core_admission_ns(counters, ns(core.to_cha_ps + core.from_cha_ps) + write_back)
        }
        (Kind::Fio, "P2M-Read") => formula::io_read_admission_ns(counters, ns(iio.read_to_cha_ps + iio.read_return_ps)),
        (Kind::Fio, _) => formula::io_write_admission_ns(counters, ns(iio.write_to_cha_ps + iio.write_ack_ps)),
    }
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
