//! Why a run is as fast as it is: what limits each workload, and where its latency comes from.
//!
//! [`explain`] takes counters, the parameters of the socket and [`WorkloadFacts`]. A run hands them over in its
//! summary; [`from_counters`] makes them from counters alone.

mod behind_link;
mod cached;
pub mod facts;
mod from_counters;
mod latency;
mod on_mesh;
mod outside;
mod reach;
pub mod unloaded;
mod words;

pub use behind_link::{BehindLink, Busy, FAR_DRAM, FAR_LINK, POOL_PORT, WIRE_NEAR};
pub use cached::Cached;
pub use facts::{Isolated, Kind, Pool, WorkloadFacts};
pub use from_counters::from_counters;
pub use latency::Latency;
pub use on_mesh::OnMesh;
pub use outside::{OutsideLimit, Throttling, ENDED, NOT_MEASURED, THROTTLE};

use crate::counters::Counters;
use crate::regime::{regime, Basis, C2m, Crowd, P2m, Party, Regime, Sides};
use hostnet_model::params::SocketParams;
use serde::{Deserialize, Serialize};

/// A line that takes longer than this many times what it takes without load waits for somebody.
const LOADED: f64 = 1.1;

/// The explanation of a run or of a counter file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// Version of this form.
    pub format: u32,
    /// The regime.
    pub regime: Regime,
    /// The workload that contention hurts most, if there is any.
    pub suffers: Option<String>,
    /// Every workload.
    pub workloads: Vec<Explained>,
    /// What cannot be told, and for want of which counters.
    pub missing: Vec<String>,
}

/// One workload, explained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// What is known of it.
    #[serde(flatten)]
    pub facts: WorkloadFacts,
    /// Says what limits it and what helps, in words that follow its name.
    pub limited: String,
    /// Whether that may be wrong, because predictions are far from what was measured.
    pub doubtful: bool,
    /// The pool that limits it, or the fullest on its path.
    pub domain: Option<String>,
    /// The most that this pool lets through at its latency: credits x 64 B / latency, in GB/s.
    pub bound_gb_per_s: Option<f64>,
    /// Where its latency comes from.
    pub latency: Option<Latency>,
}

/// Explains a run of the server of `socket`: `facts` are those of its workloads, and `known` the regime if it has been
/// told already. Workloads without any traffic are left out.
#[must_use]
pub fn explain(
    socket: &SocketParams,
    counters: &Counters,
    facts: &[WorkloadFacts],
    known: Option<Regime>,
) -> Explanation {
    let facts: Vec<WorkloadFacts> = facts.iter().filter(|facts| facts.has_traffic()).cloned().collect();
    let facts = facts.as_slice();
    let untold = from_counters::untold(counters, facts);
    let mut missing: Vec<String> = untold.iter().map(from_counters::Untold::in_words).collect();
    let workloads: Vec<Explained> =
        facts.iter().map(|facts| explain_workload(socket, counters, facts, &mut missing)).collect();
    let domains = untold.iter().map(|untold| untold.domain);
    let regime = known.unwrap_or_else(|| regime_of(socket, facts).with_untold(domains));
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

/// The regime that the facts of all workloads tell. The latency that C2M would have alone is taken from [`isolated`].
#[must_use]
pub fn regime_of(socket: &SocketParams, facts: &[WorkloadFacts]) -> Regime {
    let streams = facts.iter().filter(|facts| facts.kind == Kind::Stream);
    let slowed = streams.filter_map(|facts| {
        let latency_ns = facts.main_pool()?.latency_ns?;
        let Isolated { ns, basis } = isolated(socket, facts);
        Some(C2m { latency_ns, isolated_ns: ns, basis })
    });
    let c2m = slowed.max_by(|a, b| (a.latency_ns / a.isolated_ns).total_cmp(&(b.latency_ns / b.isolated_ns)));
    let side = |kind| {
        let moving = facts.iter().filter(move |facts| facts.kind == kind && facts.has_traffic());
        let party = |facts: &WorkloadFacts| {
            let moved = facts.app_gb_per_s.unwrap_or(facts.gb_per_s);
            Party { name: facts.workload.clone(), alone: facts.alone }.capped(Some(moved), facts.offered_gb_per_s)
        };
        moving.map(party).collect()
    };
    let p2m = p2m(facts).unwrap_or_default();
    regime(&Sides { cores: side(Kind::Stream), devices: side(Kind::Fio), c2m, p2m, crowd: crowd(socket, facts) })
}

/// Judges how cores slow each other down, by the stream whose latency has grown most over one of its cores alone.
fn crowd(socket: &SocketParams, facts: &[WorkloadFacts]) -> Crowd {
    let held = |facts: &WorkloadFacts| Some((facts.main_pool()?.latency_ns?, facts.lone_ns?));
    let told = facts.iter().filter(|facts| !facts.is_doubtful()).filter_map(held);
    let most = told.max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    match most {
        Some((latency_ns, lone_ns)) => Crowd::Known { latency_ns, lone_ns },
        None if facts.iter().any(|facts| may_be_crowded(socket, facts)) => Crowd::NotKnown,
        None => Crowd::None,
    }
}

/// Returns true if several cores wait longer than without any load.
fn may_be_crowded(socket: &SocketParams, facts: &WorkloadFacts) -> bool {
    let Some(pool) = facts.main_pool().filter(|_| facts.kind == Kind::Stream) else { return false };
    let unloaded_ns = facts::unloaded_ns(socket, facts.kind, "C2M-Read", facts.store_share) + facts.added_by_link_ns();
    let several = pool.credits > f64::from(socket.core.lfb_entries);
    several && pool.latency_ns.is_some_and(|ns| ns > LOADED * unloaded_ns)
}

/// All storage together.
#[must_use]
pub fn p2m(facts: &[WorkloadFacts]) -> Option<P2m> {
    let storage: Vec<&WorkloadFacts> = facts.iter().filter(|facts| facts.kind == Kind::Fio).collect();
    let credits = storage.iter().flat_map(|facts| &facts.pools).filter(|pool| pool.domain.starts_with("P2M"));
    let full_share = credits.map(|pool| pool.full_share).reduce(f64::max)?;
    let gb_per_s = storage.iter().map(|facts| facts.app_gb_per_s.unwrap_or(facts.gb_per_s)).sum();
    let offered: Option<Vec<f64>> = storage.iter().map(|facts| facts.offered_gb_per_s).collect();
    Some(P2m { full_share, gb_per_s, offered_gb_per_s: offered.map(|offered| offered.iter().sum()) })
}

/// The latency of a stream if its cores ran alone: what the facts say, else that of a socket without load.
#[must_use]
pub fn isolated(socket: &SocketParams, facts: &WorkloadFacts) -> Isolated {
    let unloaded = || facts::unloaded_ns(socket, facts.kind, "C2M-Read", facts.store_share);
    facts.isolated.unwrap_or_else(|| Isolated { ns: unloaded() + facts.added_by_link_ns(), basis: Basis::Unloaded })
}

/// Finds the workload that the other side slows down most. Where none is known to be slowed down, it is the stream
/// whose latency has grown most, or else any workload.
fn suffers(socket: &SocketParams, facts: &[WorkloadFacts], regime: &Regime) -> Option<String> {
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
