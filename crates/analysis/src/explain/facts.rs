//! What has to be known of a workload before it can be explained.

use crate::binding::{binding, full_share_estimate, lfb_domain, stream_otherwise, CORE, OFFERED_LOAD};
use crate::counters::{Counters, Flow};
use crate::explain::{unloaded, Cached};
use crate::limits::{self, Gain, Limits, LFB, NOT_KNOWN};
use crate::offered::offered_gb_per_s;
use crate::predict::{isolated_latencies_ns, lone_latencies_ns};
use crate::regime::Basis;
use hostnet_model::params::{ServerParams, SocketParams, WorkloadKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Share of what storage offers from which on it gets all of it: the rest is noise.
const ALL_OF_IT: f64 = 0.98;

/// Lines of a page of 4 KiB.
const LINES_PER_PAGE: f64 = 64.0;

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

/// The latency of a stream if its cores ran alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Isolated {
    /// Latency in ns.
    pub ns: f64,
    /// Where it comes from.
    pub basis: Basis,
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
    /// Its latency if its cores ran alone, if that is known; of streams only.
    pub isolated: Option<Isolated>,
    /// The latency of one of its cores alone in ns, as predicted, if that is known; of streams only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lone_ns: Option<f64>,
    /// The pools on its path.
    pub pools: Vec<Pool>,
    /// What limits it: limits whose raise helps it, or `not known`. Where predictions do not cover the server, or are
    /// far off, the fullest domains on its path instead.
    pub binding: Vec<String>,
    /// The limits whose raise helps it, and by how much; nothing where predictions do not cover the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Share of time that the fullest domain of these, or else on the path, is full.
    pub full_share: f64,
    /// Whether shares of time are estimated from mean occupancies.
    pub estimated: bool,
    /// What the caches do for it, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Cached>,
}

impl WorkloadFacts {
    /// The facts of a workload that moves `gb_per_s` through these pools, bound by one of them or by `otherwise`.
    /// Domains must have their usual names.
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
            isolated: None,
            lone_ns: None,
            pools,
            binding: bound.domains.iter().map(ToString::to_string).collect(),
            limits: None,
            full_share: bound.full_share,
            estimated: false,
            cached: None,
        }
    }

    /// The same, with what limits it.
    #[must_use]
    pub fn with_limits(mut self, limits: Option<Limits>) -> Self {
        let Some(mut limits) = limits else { return self };
        let held = self.pools.first().filter(|_| self.kind == Kind::Stream).map(|pool| pool.domain.clone());
        for gain in limits.gains.iter_mut().filter(|gain| gain.limit == LFB) {
            gain.limit = held.clone().unwrap_or_else(|| LFB.to_owned());
        }
        if limits.covered && !self.doubts(&limits) {
            self.binding = limits.names();
        }
        self.limits = Some(limits);
        self.full_share = self.main_pool().map_or(0.0, |pool| pool.full_share);
        self
    }

    /// Whether what is predicted of its limits is so far from what was measured that it may be wrong.
    fn doubts(&self, limits: &Limits) -> bool {
        let of_cores = self.pools.first().filter(|_| self.kind == Kind::Stream);
        limits.are_doubtful(self.gb_per_s, of_cores.and_then(|pool| pool.latency_ns))
    }

    /// Whether it is storage that gets all it asks for.
    fn gets_what_it_offers(&self) -> bool {
        self.offered_gb_per_s.zip(self.app_gb_per_s).is_some_and(|(offered, moved)| moved >= ALL_OF_IT * offered)
    }

    /// Why what is said to limit it may be wrong; nothing where its limits were raised, and predictions are near.
    fn doubt(&self) -> Option<String> {
        match &self.limits {
            None if self.binding == [OFFERED_LOAD] && self.gets_what_it_offers() => None,
            None => Some("not known for sure: predictions do not cover this server".to_owned()),
            Some(limits) if !limits.covered => {
                Some("not known for sure: predictions were not checked on such a server".to_owned())
            }
            Some(limits) if self.doubts(limits) => {
                Some(format!("not known for sure: {:.3} GB/s are predicted", limits.predicted_gb_per_s))
            }
            Some(_) => None,
        }
    }

    /// Whether what is said to limit it may be wrong.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.doubt().is_some()
    }

    /// What limits it, for a table: with a question mark where it may be wrong.
    #[must_use]
    pub fn limited_by(&self) -> String {
        let names = self.binding.join(" / ");
        if self.is_doubtful() {
            format!("{names} ?")
        } else {
            names
        }
    }

    /// What limits it and what helps, in words that follow its name.
    #[must_use]
    pub fn clause(&self) -> String {
        let bound = self.binding.join(" / ").replace(OFFERED_LOAD, "what it offers").replace(CORE, "its cores");
        if let Some(why) = self.doubt() {
            return format!("may be limited by {bound} ({why})");
        }
        match self.limits.as_ref().and_then(|limits| limits.gains.first()) {
            Some(Gain { raised, gain, .. }) if bound != NOT_KNOWN => {
                format!("is limited by {bound} ({:+.0}% with {raised})", 100.0 * gain)
            }
            _ if bound == NOT_KNOWN => {
                "is limited by nothing that has a name: a quarter more of any one limit gives less than 2%".to_owned()
            }
            _ => format!("is limited by {bound}"),
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

    /// What the credits of a pool are, in words: those of the parts that the workload uses, which may be some of all.
    fn credits_in_words(&self, pool: &Pool) -> String {
        match (self.kind, pool.domain.as_str()) {
            (Kind::Stream, _) => "LFB entries of its cores".to_owned(),
            (Kind::Fio, link @ ("PCIe posted" | "PCIe non-posted")) => format!("{link} credits of its links"),
            (Kind::Fio, domain) => format!("{domain} credits"),
        }
    }

    /// What binds it, as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let name = &self.workload;
        let clauses: String =
            self.cached.iter().flat_map(Cached::clauses).map(|clause| format!("; {clause}")).collect();
        if self.gb_per_s.is_nan() {
            return format!("{name}: nothing was measured");
        }
        let Some(pool) = self.main_pool() else {
            let looked = self.cached.is_some_and(|cached| cached.l2_miss_ratio.is_some());
            return if looked { format!("{name} lives in its caches") } else { format!("{name} moved nothing") };
        };
        let Pool { in_use, credits, .. } = pool;
        let full = 100.0 * pool.full_share;
        let latency = pool.latency_ns.map_or_else(String::new, |ns| format!(", {ns:.0} ns each"));
        let held = self.credits_in_words(pool);
        let state = format!("{in_use:.1} of {credits:.0} {held} in use, full {full:.0}% of the time");
        if pool.latency_ns.is_none() && self.gb_per_s == 0.0 {
            return format!("{name} moved nothing: {state}, and none came back{clauses}");
        }
        format!("{name} {}: {state}{latency}{clauses}", self.clause())
    }
}

/// The name of a domain on a path, as a constant.
fn known_domain(name: &str) -> Option<&'static str> {
    const KNOWN: [&str; 6] = ["C2M-Read", "C2M-Write", "P2M-Write", "P2M-Read", "PCIe posted", "PCIe non-posted"];
    KNOWN.into_iter().find(|known| *known == name)
}

/// The facts that counters alone tell: of all cores together and of all devices.
///
/// The busy cores are those of the server's streams; without streams, as many as hold the entries in use. A workload
/// has the name of the only one of its kind that the server has, else `C2M`, `P2M-Write` and `P2M-Read`. Shares of time
/// full are estimated from mean occupancies.
#[must_use]
pub fn from_counters(counters: &Counters, server: &ServerParams) -> Vec<WorkloadFacts> {
    let iio = &server.socket().iio;
    let writes = device_pool("P2M-Write", counters.iio_write, iio.write_credits, counters.window_ns);
    let reads = device_pool("P2M-Read", counters.iio_read, iio.read_credits, counters.window_ns);
    let pools: Vec<Pool> = writes.into_iter().chain(reads).collect();
    let limits = limits::of(server).unwrap_or_default();
    let of = |kind| only(server, kind).and_then(|class| limits.get(class).cloned());
    let devices = match only(server, Kind::Fio) {
        Some(class) if !pools.is_empty() => vec![of_storage(server, class, pools).with_limits(of(Kind::Fio))],
        _ => pools.into_iter().map(|pool| of_devices(&pool.domain.clone(), vec![pool])).collect(),
    };
    let lone_ns = || only(server, Kind::Stream).and_then(|class| lone_latencies_ns(server)[class]);
    let of_streams = |facts: WorkloadFacts| WorkloadFacts { lone_ns: lone_ns(), ..facts.with_limits(of(Kind::Stream)) };
    let cores = of_cores(counters, server).map(of_streams);
    cores.into_iter().chain(devices).collect()
}

/// The number of the only workload of its kind, if there is one only.
fn only(server: &ServerParams, kind: Kind) -> Option<usize> {
    let is_of = |workload: &WorkloadKind| match kind {
        Kind::Stream => !workload.is_of_devices(),
        Kind::Fio => workload.fio().is_some(),
    };
    let mut same = (0..server.workloads.len()).filter(|&class| is_of(&server.workloads[class].kind));
    same.next().filter(|_| same.next().is_none())
}

fn of_cores(counters: &Counters, server: &ServerParams) -> Option<WorkloadFacts> {
    let latency_ns = counters.lfb.latency_ns(counters.window_ns)?;
    let others = kernel_lines(counters, server);
    let accesses = (counters.lfb.lines? - others).max(0.0);
    let in_use = accesses * latency_ns / counters.window_ns;
    let entries = f64::from(server.socket().core.lfb_entries);
    let cores = stream_cores(server).unwrap_or((in_use / entries).ceil()).max(1.0);
    let credits = cores * entries;
    let pool = Pool {
        domain: core_domain(counters, server.socket(), latency_ns).to_owned(),
        credits,
        in_use,
        full_share: counters
            .lfb_full_cores
            .map_or_else(|| full_share_estimate(in_use, credits), |full| (full / cores).min(1.0)),
        latency_ns: Some(latency_ns),
        gb_per_s: accesses * 64.0 / counters.window_ns,
    };
    let per_core = accesses / (counters.window_ns * 1000.0) / cores;
    let otherwise = stream_otherwise(least_gap_ps(server), server.socket().core.issue_ps, per_core);
    let written = (counters.core_write.lines.unwrap_or(0.0) - others).clamp(0.0, accesses);
    let moved = pool.gb_per_s + written * 64.0 / counters.window_ns;
    let name = only(server, Kind::Stream).map_or("C2M", |class| &server.workloads[class].name);
    let mut facts = WorkloadFacts::new(name, Kind::Stream, moved, vec![pool], otherwise);
    facts.store_share = if accesses > 0.0 { written / accesses } else { 0.0 };
    facts.isolated = predicted_alone(server);
    facts.estimated = counters.lfb_full_cores.is_none();
    Some(facts)
}

/// The latency of all streams of a server when its devices are silent, mean over their cores.
fn predicted_alone(server: &ServerParams) -> Option<Isolated> {
    let latencies = isolated_latencies_ns(server);
    let workloads = server.workloads.iter().zip(latencies);
    let streams = workloads.filter_map(|(workload, ns)| Some((workload.kind.stream()?.cores.len() as f64, ns?)));
    let (cores, sum) = streams.fold((0.0, 0.0), |all, (cores, ns)| (all.0 + cores, all.1 + cores * ns));
    (cores > 0.0).then(|| Isolated { ns: sum / cores, basis: Basis::Predicted })
}

/// C2M-Read or C2M-Write, whichever holds the entries longer.
fn core_domain(counters: &Counters, socket: &SocketParams, latency_ns: f64) -> &'static str {
    let way_ns = (socket.core.to_cha_ps + socket.core.from_cha_ps) as f64 / 1000.0;
    let reading_ns = counters.core_read.latency_ns(counters.window_ns).map_or(latency_ns, |ns| ns + way_ns);
    lfb_domain(reading_ns, latency_ns - reading_ns)
}

/// Lines that the kernel touches for the storage workloads that the server is known to have: they pass LFBs too, but no
/// stream asked for them.
fn kernel_lines(counters: &Counters, server: &ServerParams) -> f64 {
    let storage = server.workloads.iter().filter_map(|workload| workload.kind.fio());
    let per_page = storage.map(|fio| fio.kernel_lines_per_page as f64 / 65_536.0);
    let moved = counters.iio_write.lines.unwrap_or(0.0) + counters.iio_read.lines.unwrap_or(0.0);
    per_page.reduce(f64::max).unwrap_or(0.0) * moved / LINES_PER_PAGE
}

/// Cores that the server's streams run on, if it has any.
fn stream_cores(server: &ServerParams) -> Option<f64> {
    let cores: BTreeSet<u32> = server.workloads.iter().flat_map(|workload| workload.kind.cores()).copied().collect();
    Some(cores.len() as f64).filter(|count| *count > 0.0)
}

/// The least gap of all streams.
fn least_gap_ps(server: &ServerParams) -> u64 {
    let streams = server.workloads.iter().filter_map(|workload| workload.kind.stream());
    streams.map(|stream| stream.gap_ps).min().unwrap_or(0)
}

fn device_pool(domain: &str, flow: Flow, credits: u32, window_ns: f64) -> Option<Pool> {
    let in_use = flow.occupancy.filter(|in_use| *in_use > 0.0)?;
    let credits = f64::from(credits);
    Some(Pool {
        domain: domain.to_owned(),
        credits,
        in_use,
        full_share: full_share_estimate(in_use, credits),
        latency_ns: flow.latency_ns(window_ns),
        gb_per_s: flow.gb_per_s(window_ns).unwrap_or(0.0),
    })
}

fn of_devices(name: &str, pools: Vec<Pool>) -> WorkloadFacts {
    let gb_per_s = pools.iter().map(|pool| pool.gb_per_s).sum();
    let mut facts = WorkloadFacts::new(name, Kind::Fio, gb_per_s, pools, OFFERED_LOAD);
    facts.app_gb_per_s = Some(gb_per_s);
    facts.estimated = true;
    facts
}

/// All device traffic is that of the one storage workload.
fn of_storage(server: &ServerParams, class: usize, pools: Vec<Pool>) -> WorkloadFacts {
    let facts = of_devices(&server.workloads[class].name, pools);
    WorkloadFacts { offered_gb_per_s: offered_gb_per_s(server, class), ..facts }
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
pub fn unloaded_ns(socket: &SocketParams, kind: Kind, domain: &str, store_share: f64) -> f64 {
    match (kind, domain) {
        (Kind::Stream, _) => unloaded::c2m_read_ns(socket) + store_share * unloaded::c2m_write_ns(socket),
        (Kind::Fio, "P2M-Read") => unloaded::p2m_read_ns(socket),
        (Kind::Fio, _) => unloaded::p2m_write_ns(socket),
    }
}
