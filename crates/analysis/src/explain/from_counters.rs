//! Derives the facts about workloads from counters alone: those of all cores together and those of all devices.

use super::facts::{Isolated, Kind, WorkloadFacts};
use crate::binding::{full_share_estimate, lfb_domain, stream_otherwise, OFFERED_LOAD};
use crate::counters::{Counters, Flow};
use crate::limits;
use crate::offered::offered_gb_per_s;
use crate::pool::Pool;
use crate::predict::{isolated_latencies_ns, lone_latencies_ns, now_and_alone};
use crate::regime::{Basis, IsolatedGain};
use hostnet_model::params::{ServerParams, SocketParams, WorkloadKind};
use std::collections::BTreeSet;

/// Number of lines in a page of 4 KiB.
const LINES_PER_PAGE: f64 = 64.0;

/// Derives facts from counters alone: those of all cores together and those of all devices.
///
/// The busy cores are those of the server's streams or, without streams, as many as are needed to hold the entries in
/// use. The facts are named after the only workload of their kind on the server, if there is exactly one, else `C2M`,
/// `P2M-Write` and `P2M-Read`. Shares of time full are estimated from mean occupancies.
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
    let beside = |facts: WorkloadFacts| WorkloadFacts { alone: alone(server, &facts), ..facts };
    cores.into_iter().chain(devices).map(beside).collect()
}

/// Returns the predicted gain of all workloads of a kind without those of the other, if the facts cover all of that
/// kind.
fn alone(server: &ServerParams, facts: &WorkloadFacts) -> Option<IsolatedGain> {
    let of_devices = facts.kind == Kind::Fio;
    if of_devices && only(server, Kind::Fio).is_none() {
        return None;
    }
    let both = now_and_alone(server).into_iter().zip(&server.workloads);
    // Counters are sums over a side, so the predictions of its workloads are summed before they are compared.
    let mine = both.filter(|(_, workload)| workload.kind.is_of_devices() == of_devices);
    let sums = mine.map(|(both, _)| both).try_fold([0.0, 0.0], |[now, alone], both| {
        both.map(|both| [now + both[0].gb_per_s, alone + both[1].gb_per_s])
    })?;
    Some(IsolatedGain::predicted(sums, facts.gb_per_s))
}

/// Returns the index of the only workload of `kind`, if there is exactly one.
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
    // Without streams in the configuration: the fewest cores whose LFB entries hold those in use.
    let cores = stream_cores(server).unwrap_or((in_use / entries).ceil()).max(1.0);
    let credits = cores * entries;
    let pool = Pool {
        domain: core_domain(counters, server.socket(), latency_ns).to_owned(),
        credits,
        in_use,
        full_share: counters
            // L1D_PEND_MISS.FB_FULL measures the share; the mean occupancy is only a substitute for it.
            .lfb_full_cores
            .map_or_else(|| full_share_estimate(in_use, credits), |full| (full / cores).min(1.0)),
        latency_ns: Some(latency_ns),
        gb_per_s: accesses * 64.0 / counters.window_ns,
        place: None,
        prefetched: false,
    };
    // Per ps, the unit of the gaps that `stream_otherwise` compares with.
    let per_core = accesses / (counters.window_ns * 1000.0) / cores;
    let otherwise = stream_otherwise(least_gap_ps(server), server.socket().core.issue_ps, per_core);
    // Each store reads its line first, so write-backs cannot outnumber accesses.
    let written = (counters.core_write.lines.unwrap_or(0.0) - others).clamp(0.0, accesses);
    let moved = pool.gb_per_s + written * 64.0 / counters.window_ns;
    let name = only(server, Kind::Stream).map_or("C2M", |class| &server.workloads[class].name);
    let mut facts = WorkloadFacts::new(name, Kind::Stream, moved, vec![pool], otherwise);
    facts.store_share = if accesses > 0.0 { written / accesses } else { 0.0 };
    facts.isolated = predicted_alone(server);
    facts.estimated = counters.lfb_full_cores.is_none();
    Some(facts)
}

/// Predicts the latency of all streams of a server without its devices, averaged over their cores.
fn predicted_alone(server: &ServerParams) -> Option<Isolated> {
    let latencies = isolated_latencies_ns(server);
    let workloads = server.workloads.iter().zip(latencies);
    let streams = workloads.filter_map(|(workload, ns)| Some((workload.kind.stream()?.cores.len() as f64, ns?)));
    let (cores, sum) = streams.fold((0.0, 0.0), |all, (cores, ns)| (all.0 + cores, all.1 + cores * ns));
    (cores > 0.0).then(|| Isolated { ns: sum / cores, basis: Basis::Predicted })
}

/// Returns C2M-Read or C2M-Write, whichever holds the LFB entries longer.
fn core_domain(counters: &Counters, socket: &SocketParams, latency_ns: f64) -> &'static str {
    // CHA counters begin at admission; the path there and back belongs to C2M-Read as well.
    let path_ns = (socket.core.to_cha_ps + socket.core.from_cha_ps) as f64 / 1000.0;
    let reading_ns = counters.core_read.latency_ns(counters.window_ns).map_or(latency_ns, |ns| ns + path_ns);
    lfb_domain(reading_ns, latency_ns - reading_ns)
}

/// Number of lines that the kernel accesses for the storage workloads of the server. These lines pass the LFBs too
/// but belong to no stream.
fn kernel_lines(counters: &Counters, server: &ServerParams) -> f64 {
    let storage = server.workloads.iter().filter_map(|workload| workload.kind.fio());
    // Lines per page are stored in units of 1/65536.
    let per_page = storage.map(|fio| fio.kernel_lines_per_page as f64 / 65_536.0);
    let moved = counters.iio_write.lines.unwrap_or(0.0) + counters.iio_read.lines.unwrap_or(0.0);
    // Counters do not separate storage workloads, so all of their pages count with the largest kernel work of any.
    per_page.reduce(f64::max).unwrap_or(0.0) * moved / LINES_PER_PAGE
}

/// Number of cores that the server's streams run on, if it has any.
fn stream_cores(server: &ServerParams) -> Option<f64> {
    // Several streams may share a core, which has its LFB entries once.
    let cores: BTreeSet<u32> = server.workloads.iter().flat_map(|workload| workload.kind.cores()).copied().collect();
    Some(cores.len() as f64).filter(|count| *count > 0.0)
}

/// Shortest gap of all streams, in ps.
fn least_gap_ps(server: &ServerParams) -> u64 {
    let streams = server.workloads.iter().filter_map(|workload| workload.kind.stream());
    // The shortest gap allows the highest rate, so the offered load is not named while any stream could go faster.
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
        place: None,
        prefetched: false,
    })
}

fn of_devices(name: &str, pools: Vec<Pool>) -> WorkloadFacts {
    let gb_per_s = pools.iter().map(|pool| pool.gb_per_s).sum();
    let mut facts = WorkloadFacts::new(name, Kind::Fio, gb_per_s, pools, OFFERED_LOAD);
    facts.app_gb_per_s = Some(gb_per_s);
    facts.estimated = true;
    facts
}

/// Creates facts in which all device traffic belongs to the only storage workload, `class`.
fn of_storage(server: &ServerParams, class: usize, pools: Vec<Pool>) -> WorkloadFacts {
    let facts = of_devices(&server.workloads[class].name, pools);
    WorkloadFacts { offered_gb_per_s: offered_gb_per_s(server, class), ..facts }
}

/// A domain whose traffic is not known, with the counters that would show it.
pub(super) struct UnknownTraffic {
    pub(super) domain: &'static str,
    missing: Vec<String>,
}

impl UnknownTraffic {
    /// Describes the quantity that cannot be computed, as a sentence.
    pub(super) fn in_words(&self) -> String {
        format!("what binds {} cannot be computed: no counter {}", self.domain, self.missing.join(", "))
    }
}

/// Returns the domains that may have traffic although the facts have none for lack of counters.
pub(super) fn unknown_traffic(counters: &Counters, facts: &[WorkloadFacts]) -> Vec<UnknownTraffic> {
    let told = |domain: &str| facts.iter().any(|facts| facts.pools.iter().any(|pool| pool.domain.starts_with(domain)));
    let pools = [
        // `of_cores` needs both counters of the LFB, `device_pool` only the occupancy.
        ("C2M", "lfb", counters.lfb, counters.core_read, true),
        ("P2M-Write", "iio_write", counters.iio_write, counters.io_write, false),
        ("P2M-Read", "iio_read", counters.iio_read, counters.io_read, false),
    ];
    let unknown_traffic = pools.into_iter().filter_map(|(domain, pool, held, inside, lines_needed)| {
        let mut missing = Vec::new();
        if held.occupancy.is_none() {
            missing.push(format!("{pool}.occupancy"));
        }
        if held.lines.is_none() && (lines_needed || held.occupancy.is_none()) {
            missing.push(format!("{pool}.lines"));
        }
        // A count of 0 in the CHA shows that nothing of the domain went on to memory.
        let absent = inside.lines == Some(0.0) || told(domain) || missing.is_empty();
        (!absent).then_some(UnknownTraffic { domain, missing })
    });
    unknown_traffic.collect()
}
