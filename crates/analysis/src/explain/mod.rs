//! Explains the performance of a run: the limit of each workload and the causes of its latency.
//!
//! [`explain`] takes counters, the parameters of the socket and [`WorkloadFacts`]. A run provides the facts in its
//! summary; [`from_counters`] derives them from counters alone.

mod behind_link;
mod cached;
pub mod facts;
mod from_counters;
mod latency;
mod on_mesh;
mod outside;
mod outside_facts;
mod reach;
pub mod unloaded;
mod words;

pub use crate::pool::Pool;
pub use behind_link::{BehindLink, LinkStage, EXPANDER_DRAM, EXPANDER_LINK, POOL_PORT, WIRE_NEAR};
pub use cached::Cached;
pub use facts::{Isolated, Kind, WorkloadFacts};
pub use from_counters::from_counters;
pub use latency::Latency;
pub use on_mesh::{MeshLinkKind, OnMesh};
pub use outside::{OutsideLimit, Throttling, ENDED, NOT_MEASURED, THROTTLE};

use crate::counters::Counters;
use crate::regime::{regime, Basis, C2mLoad, ContentionSides, CoreContention, P2mLoad, Regime, SideWorkload};
use hostnet_model::params::SocketParams;
use serde::{Deserialize, Serialize};

/// Factor over the unloaded latency of a line above which the line is taken to queue behind other lines.
const LOADED: f64 = 1.1;

/// The explanation of a run or of a counter file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// Version of this format.
    pub format: u32,
    /// Regime of contention between cores and devices.
    pub regime: Regime,
    /// Name of the workload that contention slows down most; `None` without workloads.
    pub suffers: Option<String>,
    /// Explanation of each workload.
    pub workloads: Vec<Explained>,
    /// Quantities that cannot be computed, each with the counters that it lacks.
    pub missing: Vec<String>,
}

/// Explanation of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// Facts about the workload.
    #[serde(flatten)]
    pub facts: WorkloadFacts,
    /// Description of the limit of the workload and of the raise that helps, in words that follow its name.
    pub limited: String,
    /// True if that may be wrong, because predictions are far from the measurement.
    pub doubtful: bool,
    /// Name of the pool that limits the workload, or of the fullest pool on its path.
    pub domain: Option<String>,
    /// Largest throughput of that pool at its latency, credits x 64 B / latency, in GB/s.
    pub bound_gb_per_s: Option<f64>,
    /// Causes of the latency of the workload.
    pub latency: Option<Latency>,
}

/// Explains a run of the server of `socket` from the facts about its workloads.
///
/// `known` is the regime if it was determined before. Workloads without any traffic are left out.
#[must_use]
pub fn explain(
    socket: &SocketParams,
    counters: &Counters,
    facts: &[WorkloadFacts],
    known: Option<Regime>,
) -> Explanation {
    let facts: Vec<WorkloadFacts> = facts.iter().filter(|facts| facts.has_traffic()).cloned().collect();
    let facts = facts.as_slice();
    let unknown_traffic = from_counters::unknown_traffic(counters, facts);
    let mut missing: Vec<String> = unknown_traffic.iter().map(from_counters::UnknownTraffic::in_words).collect();
    let workloads: Vec<Explained> =
        facts.iter().map(|facts| explain_workload(socket, counters, facts, &mut missing)).collect();
    let domains = unknown_traffic.iter().map(|unknown_traffic| unknown_traffic.domain);
    let regime = known.unwrap_or_else(|| regime_of(socket, facts).with_unknown_traffic(domains));
    let suffers = suffers(socket, facts, &regime);
    Explanation { format: 1, regime, suffers, workloads, missing }
}

fn explain_workload(
    socket: &SocketParams,
    counters: &Counters,
    facts: &WorkloadFacts,
    missing: &mut Vec<String>,
) -> Explained {
    let pool = facts.main_pool();
    let bound = pool.and_then(|pool| pool.latency_ns.map(|latency| pool.credits * 64.0 / latency));
    Explained {
        limited: facts.clause(),
        doubtful: facts.is_doubtful(),
        domain: pool.map(|pool| pool.domain.clone()),
        bound_gb_per_s: bound,
        latency: latency::of(socket, counters, facts, missing),
        facts: facts.clone(),
    }
}

/// Determines the regime from the facts about all workloads, with the isolated C2M latency from [`isolated`].
#[must_use]
pub fn regime_of(socket: &SocketParams, facts: &[WorkloadFacts]) -> Regime {
    let streams = facts.iter().filter(|facts| facts.kind == Kind::Stream);
    let slowed = streams.filter_map(|facts| {
        let latency_ns = facts.main_pool()?.latency_ns?;
        let Isolated { ns, basis } = isolated(socket, facts);
        Some(C2mLoad { latency_ns, isolated_ns: ns, basis })
    });
    let c2m = slowed.max_by(|a, b| (a.latency_ns / a.isolated_ns).total_cmp(&(b.latency_ns / b.isolated_ns)));
    let side = |kind| {
        let moving = facts.iter().filter(move |facts| facts.kind == kind && facts.has_traffic());
        let party = |facts: &WorkloadFacts| {
            // The offered load counts data, so it is compared with the data rate and not with lines.
            let moved = facts.app_gb_per_s.unwrap_or(facts.gb_per_s);
            SideWorkload { name: facts.workload.clone(), alone: facts.alone }
                .capped(Some(moved), facts.offered_gb_per_s)
        };
        moving.map(party).collect()
    };
    let p2m = p2m(facts).unwrap_or_default();
    regime(&ContentionSides {
        cores: side(Kind::Stream),
        devices: side(Kind::Fio),
        c2m,
        p2m,
        crowd: crowd(socket, facts),
    })
}

/// Finds out how much the cores slow each other down: returns the latency of the stream that has grown most over one
/// of its cores alone.
fn crowd(socket: &SocketParams, facts: &[WorkloadFacts]) -> CoreContention {
    let held = |facts: &WorkloadFacts| Some((facts.main_pool()?.latency_ns?, facts.lone_ns?));
    // `lone_ns` is predicted: where predictions are off, their error would be taken for contention.
    let told = facts.iter().filter(|facts| !facts.is_doubtful()).filter_map(held);
    let most = told.max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    match most {
        Some((latency_ns, lone_ns)) => CoreContention::Known { latency_ns, lone_ns },
        None if facts.iter().any(|facts| may_be_crowded(socket, facts)) => CoreContention::NotKnown,
        None => CoreContention::None,
    }
}

/// Returns true if several cores run the workload and wait longer than without load.
fn may_be_crowded(socket: &SocketParams, facts: &WorkloadFacts) -> bool {
    let Some(pool) = facts.main_pool().filter(|_| facts.kind == Kind::Stream) else { return false };
    let unloaded_ns = facts::unloaded_ns(socket, facts.kind, "C2M-Read", facts.store_share) + facts.added_by_link_ns();
    // More credits than one core has LFB entries: several cores run the workload.
    let several = pool.credits > f64::from(socket.core.lfb_entries);
    several && pool.latency_ns.is_some_and(|ns| ns > LOADED * unloaded_ns)
}

/// Sums the load of all storage workloads. Returns `None` if they have no P2M pool.
#[must_use]
pub fn p2m(facts: &[WorkloadFacts]) -> Option<P2mLoad> {
    let storage: Vec<&WorkloadFacts> = facts.iter().filter(|facts| facts.kind == Kind::Fio).collect();
    let credits = storage.iter().flat_map(|facts| &facts.pools).filter(|pool| pool.domain.starts_with("P2M"));
    // Drives wait if either direction is out of credits, so the fuller one counts.
    let full_share = credits.map(|pool| pool.full_share).reduce(f64::max)?;
    let gb_per_s = storage.iter().map(|facts| facts.app_gb_per_s.unwrap_or(facts.gb_per_s)).sum();
    // The sum is known only if the offered load of every storage workload is.
    let offered: Option<Vec<f64>> = storage.iter().map(|facts| facts.offered_gb_per_s).collect();
    Some(P2mLoad { full_share, gb_per_s, offered_gb_per_s: offered.map(|offered| offered.iter().sum()) })
}

/// Returns the latency of a stream if its cores ran alone: that of the facts, else that of an unloaded socket.
#[must_use]
pub fn isolated(socket: &SocketParams, facts: &WorkloadFacts) -> Isolated {
    let unloaded = || facts::unloaded_ns(socket, facts.kind, "C2M-Read", facts.store_share);
    facts.isolated.unwrap_or_else(|| Isolated { ns: unloaded() + facts.added_by_link_ns(), basis: Basis::Unloaded })
}

/// Returns the name of the workload that the other side slows down most. If none is known to be slowed down, that is
/// the stream whose latency has grown most (in regime `red`, the storage that misses most of its offered load), or
/// else the first workload.
fn suffers(socket: &SocketParams, facts: &[WorkloadFacts], regime: &Regime) -> Option<String> {
    // Storage that moved nothing has lost everything, instead of dividing by zero.
    let loss = |facts: &WorkloadFacts| Some(facts.offered_gb_per_s? / facts.app_gb_per_s?.max(f64::MIN_POSITIVE));
    let growth = |facts: &WorkloadFacts| Some(facts.main_pool()?.latency_ns? / isolated(socket, facts).ns);
    let wanted = if regime.name == "red" { Kind::Fio } else { Kind::Stream };
    let measure = |facts: &WorkloadFacts| match wanted {
        Kind::Fio => loss(facts).unwrap_or(1.0),
        Kind::Stream => growth(facts).unwrap_or(1.0),
    };
    let of_kind = |facts: &&WorkloadFacts| facts.kind == wanted;
    let slowed = regime.slowed.iter().filter_map(|slowed| facts.iter().find(|facts| facts.workload == slowed.workload));
    let worst = facts
        .iter()
        .filter(of_kind)
        .max_by(|a, b| measure(a).total_cmp(&measure(b)).then(a.full_share.total_cmp(&b.full_share)));
    slowed.clone().find(of_kind).or(worst).or_else(|| facts.first()).map(|facts| facts.workload.clone())
}
