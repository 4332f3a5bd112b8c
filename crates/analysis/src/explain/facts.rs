//! What has to be known of a workload before it can be explained.

use crate::binding::{binding, full_share_estimate, lfb_domain, stream_otherwise, CORE, OFFERED_LOAD};
use crate::counters::{Counters, Flow};
use crate::explain::unloaded;
use crate::offered::offered_gb_per_s;
use hostnet_model::params::{ServerParams, WorkloadKind};
use serde::{Deserialize, Serialize};

/// What kind of workload it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Loads and stores of cores.
    Stream,
    /// Storage IO.
    Fio,
}

/// A pool of credits on the path of a workload: of all the parts (cores, drives) that the workload uses, together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    /// The domain that it stands for.
    pub domain: String,
    /// Credits.
    pub credits: f64,
    /// Credits in use, mean, whoever uses them.
    pub in_use: f64,
    /// Share of time with all credits in use, mean over the parts.
    pub full_share: f64,
    /// Mean time that the workload holds a credit in ns; nothing without a line.
    pub latency_ns: Option<f64>,
    /// Lines of the workload that pass, in GB/s.
    pub gb_per_s: f64,
}

/// What has to be known of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadFacts {
    /// Its name.
    pub workload: String,
    /// Its kind.
    pub kind: Kind,
    /// Lines moved in its domains in GB/s.
    pub gb_per_s: f64,
    /// Data that its application moves, in GB/s; of storage only.
    pub app_gb_per_s: Option<f64>,
    /// Data that it would move if nothing in the host held it back, in GB/s; of storage only.
    pub offered_gb_per_s: Option<f64>,
    /// Share of stores in its accesses; of streams only.
    pub store_share: f64,
    /// The pools on its path.
    pub pools: Vec<Pool>,
    /// What binds it: one or two domains, `offered load` or `core`.
    pub binding: Vec<String>,
    /// Share of time that the binding domain, or the fullest on the path, is full.
    pub full_share: f64,
    /// Whether shares of time are estimated from mean occupancies.
    pub estimated: bool,
}

impl WorkloadFacts {
    /// The facts of a workload that moves `gb_per_s` through these pools, bound by one of them or by `otherwise`. Domains must have
    /// their usual names.
    #[must_use]
    pub fn new(workload: &str, kind: Kind, gb_per_s: f64, pools: Vec<Pool>, otherwise: &'static str) -> Self {
        let candidates: Vec<(&'static str, f64)> =
            pools.iter().filter_map(|pool| Some((known_domain(&pool.domain)?, pool.full_share))).collect();
        let bound = binding(&candidates, otherwise);
        Self {
            workload: workload.to_owned(),
            kind,
            gb_per_s,
            app_gb_per_s: None,
            offered_gb_per_s: None,
            store_share: 0.0,
            pools,
            binding: bound.domains.iter().map(ToString::to_string).collect(),
            full_share: bound.full_share,
            estimated: false,
        }
    }

    /// The pool that binds it, or the fullest on its path.
    #[must_use]
    pub fn main_pool(&self) -> Option<&Pool> {
        let bound = self.pools.iter().find(|pool| self.binding.first() == Some(&pool.domain));
        let share = |pool: &Pool| pool.in_use / pool.credits.max(1.0);
        let fuller = |a: &&Pool, b: &&Pool| a.full_share.total_cmp(&b.full_share).then(share(a).total_cmp(&share(b)));
        bound.or_else(|| self.pools.iter().max_by(fuller))
    }

    /// What binds it, as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (name, bound) = (&self.workload, self.binding.join(" / "));
        let Some(pool) = self.main_pool() else { return format!("{name} moved nothing") };
        let Pool { in_use, credits, .. } = pool;
        let full = 100.0 * pool.full_share;
        let latency = pool.latency_ns.map_or_else(String::new, |ns| format!(", {ns:.0} ns each"));
        let state = format!("{in_use:.1} of {credits:.0} {} credits in use, full {full:.0}% of the time", pool.domain);
        match bound.as_str() {
            OFFERED_LOAD => format!("{name} is limited by what it offers: {state}{latency}"),
            CORE => format!("{name} is limited by its cores: {state}{latency}"),
            _ => format!("{name} is limited by {bound}: {state}{latency}; throughput = credits x 64 B / latency"),
        }
    }
}

/// The name of a domain on a path, as a constant.
fn known_domain(name: &str) -> Option<&'static str> {
    const KNOWN: [&str; 6] = ["C2M-Read", "C2M-Write", "P2M-Write", "P2M-Read", "PCIe posted", "PCIe non-posted"];
    KNOWN.into_iter().find(|known| *known == name)
}

/// The facts that counters alone tell: of all cores together as workload `C2M`, and of all devices as `P2M-Write` and `P2M-Read`.
///
/// `cores` is the number of busy cores. Without it, those of the server's streams count; without streams, as many as hold the
/// entries in use. Shares of time full are estimated from mean occupancies.
#[must_use]
pub fn from_counters(counters: &Counters, server: &ServerParams, cores: Option<u32>) -> Vec<WorkloadFacts> {
    let mut all = Vec::new();
    all.extend(of_cores(counters, server, cores));
    let writes = of_devices("P2M-Write", counters.iio_write, server.iio.write_credits, counters.window_ns);
    let reads = of_devices("P2M-Read", counters.iio_read, server.iio.read_credits, counters.window_ns);
    let alone = writes.is_none() || reads.is_none();
    for mut facts in [writes, reads].into_iter().flatten() {
        facts.app_gb_per_s = Some(facts.gb_per_s);
        facts.offered_gb_per_s = if alone { all_offered(server) } else { None };
        all.push(facts);
    }
    all
}

/// What all storage workloads of a server offer together.
fn all_offered(server: &ServerParams) -> Option<f64> {
    (0..server.workloads.len()).filter_map(|class| offered_gb_per_s(server, class)).reduce(|a, b| a + b)
}

fn of_cores(counters: &Counters, server: &ServerParams, cores: Option<u32>) -> Option<WorkloadFacts> {
    let latency_ns = counters.lfb.latency_ns(counters.window_ns)?;
    let in_use = counters.lfb.occupancy?;
    let entries = f64::from(server.core.lfb_entries);
    let cores = cores.map(f64::from).or_else(|| stream_cores(server)).unwrap_or((in_use / entries).ceil());
    let way_ns = (server.core.to_cha_ps + server.core.from_cha_ps) as f64 / 1000.0;
    let reading = counters.core_read.latency_ns(counters.window_ns).map_or(latency_ns, |ns| ns + way_ns);
    let domain = lfb_domain(reading, latency_ns - reading);
    let credits = cores * entries;
    let gb_per_s = counters.lfb.gb_per_s(counters.window_ns)?;
    let full_share = full_share_estimate(in_use, credits);
    let pool = Pool { domain: domain.to_owned(), credits, in_use, full_share, latency_ns: Some(latency_ns), gb_per_s };
    let accesses_per_ps = counters.lfb.lines? / (counters.window_ns * 1000.0) / cores;
    let otherwise = stream_otherwise(least_gap_ps(server), server.core.issue_ps, accesses_per_ps);
    let written = counters.core_write.lines.unwrap_or(0.0);
    let moved = gb_per_s + written * 64.0 / counters.window_ns;
    let mut facts = WorkloadFacts::new("C2M", Kind::Stream, moved, vec![pool], otherwise);
    facts.store_share = (written / counters.lfb.lines?).min(1.0);
    facts.estimated = true;
    Some(facts)
}

/// Cores that the server's streams run on, if it has any.
fn stream_cores(server: &ServerParams) -> Option<f64> {
    let cores = server.workloads.iter().map(|workload| match &workload.kind {
        WorkloadKind::Stream(stream) => stream.cores.len(),
        WorkloadKind::Fio(_) => 0,
    });
    Some(cores.sum::<usize>() as f64).filter(|count| *count > 0.0)
}

/// The gap of all streams, if they all have one.
fn least_gap_ps(server: &ServerParams) -> u64 {
    let gaps = server.workloads.iter().filter_map(|workload| match &workload.kind {
        WorkloadKind::Stream(stream) => Some(stream.gap_ps),
        WorkloadKind::Fio(_) => None,
    });
    gaps.min().unwrap_or(0)
}

fn of_devices(domain: &str, flow: Flow, credits: u32, window_ns: f64) -> Option<WorkloadFacts> {
    let in_use = flow.occupancy.filter(|in_use| *in_use > 0.0)?;
    let credits = f64::from(credits);
    let gb_per_s = flow.gb_per_s(window_ns).unwrap_or(0.0);
    let full_share = full_share_estimate(in_use, credits);
    let latency_ns = flow.latency_ns(window_ns);
    let pool = Pool { domain: domain.to_owned(), credits, in_use, full_share, latency_ns, gb_per_s };
    let mut facts = WorkloadFacts::new(domain, Kind::Fio, gb_per_s, vec![pool], OFFERED_LOAD);
    facts.estimated = true;
    Some(facts)
}

/// Traffic in the counters that the facts say nothing of, for want of which counters.
#[must_use]
pub fn untold(counters: &Counters, facts: &[WorkloadFacts]) -> Vec<String> {
    let told = |domain: &str| facts.iter().any(|facts| facts.pools.iter().any(|pool| pool.domain.starts_with(domain)));
    let pools = [
        ("C2M", "lfb", counters.lfb, counters.core_read, true),
        ("P2M-Write", "iio_write", counters.iio_write, counters.io_write, false),
        ("P2M-Read", "iio_read", counters.iio_read, counters.io_read, false),
    ];
    let untold = pools.into_iter().filter_map(|(domain, pool, held, inside, lines_needed)| {
        let mut missing = Vec::new();
        if held.occupancy.is_none() {
            missing.push(format!("{pool}.occupancy"));
        }
        if held.lines.is_none() && (lines_needed || held.occupancy.is_none()) {
            missing.push(format!("{pool}.lines"));
        }
        let absent = inside.lines == Some(0.0) || told(domain) || missing.is_empty();
        (!absent).then(|| format!("what binds {domain} cannot be computed: no counter {}", missing.join(", ")))
    });
    untold.collect()
}

/// Latency of a line of a workload without load in ns: of an LFB entry, or in the IIO. `domain` says which for devices.
#[must_use]
pub fn unloaded_ns(server: &ServerParams, kind: Kind, domain: &str, store_share: f64) -> f64 {
    match (kind, domain) {
        (Kind::Stream, _) => unloaded::c2m_read_ns(server) + store_share * unloaded::c2m_write_ns(server),
        (Kind::Fio, "P2M-Read") => unloaded::p2m_read_ns(server),
        (Kind::Fio, _) => unloaded::p2m_write_ns(server),
    }
}
