//! `[pool]`: memory of other servers of a cluster.

mod hand_out;
mod member;
mod regions;

pub(super) use hand_out::hand_out;
pub(super) use member::Member;
pub(super) use regions::{check_switches, tell_switches};

use super::die::has_several_nodes;
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{
    Fidelity, Placement, PoolCacheParams, PoolFetch, PoolParams, PoolPrefetchKind, PoolPrefetchParams, PoolSpec,
    PoolWriteBack, ServerParams, Size, Spec, WorkloadSpec,
};

/// Overhead of a frame on the wire beside header and data: preamble, checksum and gap (IEEE 802.3, clauses 3 and 4).
const FRAME_BYTES: u32 = 8 + 4 + 12;
const LINE_BYTES: u32 = 64;

/// Resolves the pool parameters of a server before its lenders are known.
pub(super) fn resolve(spec: &Spec) -> Result<Option<Box<PoolParams>>, Issue> {
    let Some(pool) = &spec.pool else { return Ok(None) };
    let others = [
        ("server.sockets", spec.server.sockets.unwrap_or(1) > 1, "is for servers of one socket"),
        ("noc", spec.noc.is_some(), "has no place on a die"),
        ("chiplets.nps", has_several_nodes(spec), "needs a socket that is one NUMA node (chiplets.nps = 1)"),
        ("remote", spec.workload.values().any(WorkloadSpec::is_remote), "is not reached over UPI"),
        ("expander", spec.expander.is_some(), "is node 1, which memory behind a link is, too"),
        ("energy", spec.energy.is_some(), "has messages that an energy meter does not count"),
    ];
    if let Some((path, _, why)) = others.into_iter().find(|(_, given, _)| *given) {
        return Err(Issue::between(Code::NotSupported, &["pool", path], format!("{why}; drop one of them")));
    }
    check(pool, spec.memory.run.0.max(spec.memory.page.0))?;
    // Short messages are padded to the smallest frame (IEEE 802.3, clause 4).
    let on_wire = |bytes: u32| (pool.header.0 as u32 + bytes + FRAME_BYTES).max(pool.frame_min.0 as u32);
    let stride = match pool.prefetch.kind {
        PoolPrefetchKind::None => None,
        PoolPrefetchKind::NextLine => Some(false),
        PoolPrefetchKind::Stride => Some(true),
    };
    let ahead = |stride| PoolPrefetchParams { stride, depth: pool.prefetch.depth, queue: pool.prefetch.queue };
    Ok(Some(Box::new(PoolParams {
        lent_bytes: pool.lent.0,
        borrowed_bytes: pool.borrow.0,
        page_bytes: pool.page.0,
        lenders: Vec::new(),
        read_credits: pool.read_credits,
        write_credits: pool.write_credits,
        latency_ps: pool.latency.0,
        retry_ps: pool.retry.0,
        timeout_ps: pool.timeout.0,
        small_bytes: on_wire(0),
        data_bytes: on_wire(LINE_BYTES),
        demand_priority: pool.demand_priority,
        prefetch_priority: pool.prefetch_priority,
        port_packets: pool.port_queue,
        prefetch: stride.map(ahead),
        cache: cache(pool)?,
        shared: None,
        controller: None,
    })))
}

fn check(pool: &PoolSpec, run_bytes: u64) -> Result<(), Issue> {
    let shown = |bytes: u64| format(bytes, Dimension::Size);
    for (key, bytes, unit, what) in [
        ("pool.lent", pool.lent.0, pool.page.0, "pages"),
        ("pool.borrow", pool.borrow.0, pool.page.0, "pages"),
        ("pool.borrow", pool.borrow.0, run_bytes, "runs (memory.run)"),
    ] {
        if bytes % unit != 0 {
            let message = format!("{} is not a multiple of {what} of {}", shown(bytes), shown(unit));
            return Err(Issue::new(Code::NotAMultiple, key, message));
        }
    }
    if pool.prefetch_priority >= pool.demand_priority {
        let message = format!(
            "what is read ahead has priority {}, which is not below {}, that of demand",
            pool.prefetch_priority, pool.demand_priority
        );
        return Err(Issue::between(Code::WrongOrder, &["pool.prefetch_priority", "pool.demand_priority"], message));
    }
    Ok(())
}

/// Resolves the local memory that caches the pool.
fn cache(pool: &PoolSpec) -> Result<Option<PoolCacheParams>, Issue> {
    let (whole_pages, early) = (pool.fetch == PoolFetch::Page, pool.write_back == PoolWriteBack::Early);
    let Some(Size(bytes)) = pool.cache else {
        let without = [("pool.fetch", whole_pages), ("pool.write_back", early)].into_iter().find(|(_, given)| *given);
        return match without {
            Some((key, _)) => {
                Err(Issue::between(Code::RequiresKey, &[key, "pool.cache"], "there is no cache; give it a size"))
            }
            None => Ok(None),
        };
    };
    if bytes % pool.page.0 != 0 {
        let [bytes, page] = [bytes, pool.page.0].map(|bytes| format(bytes, Dimension::Size));
        let message = format!("{bytes} is not a multiple of pages of {page}");
        return Err(Issue::new(Code::NotAMultiple, "pool.cache", message));
    }
    if pool.borrow.0 == 0 {
        let message = "the server borrows nothing that could be cached";
        return Err(Issue::between(Code::NoEffect, &["pool.cache", "pool.borrow"], message));
    }
    if whole_pages && pool.prefetch.kind != PoolPrefetchKind::None {
        let message = "all lines of a page are fetched; reading ahead within it finds nothing to do";
        return Err(Issue::between(Code::ConflictingKeys, &["pool.prefetch.kind", "pool.fetch"], message));
    }
    Ok(Some(PoolCacheParams { bytes, whole_pages, early, transfers: pool.transfers }))
}

/// Returns the placement of buffers in the pool: the node after the only socket.
pub(super) fn placement(spec: &Spec, path: &str) -> Result<Placement, Issue> {
    match &spec.pool {
        None => Err(Issue::between(
            Code::RequiresKey,
            &[path, "pool"],
            "missing: the server has no place in a pool; give it a table [pool]",
        )),
        Some(pool) if pool.borrow.0 == 0 => {
            Err(Issue::between(Code::RequiresKey, &[path, "pool.borrow"], "the server borrows nothing of the pool"))
        }
        Some(_) => Ok(Placement::Socket(1)),
    }
}

/// Returns the bytes of the pool if buffers of a workload may be in it, otherwise `None`.
pub(super) fn least_of(server: &ServerParams) -> Option<u64> {
    let pool = server.socket().pool.as_ref()?;
    let any = server.workloads.iter().any(|workload| workload.memory == Placement::Socket(1));
    any.then_some(pool.borrowed_bytes)
}

/// Returns the bytes of its own memory that a server lends, and the key that says so.
pub(super) fn lent(server: &ServerParams) -> Option<(u128, String)> {
    let pool = server.socket().pool.as_ref()?;
    Some((pool.lent_bytes.into(), "pool.lent".to_owned()))
}

/// Returns the bytes of its own memory that a server uses to cache borrowed memory, and the key that says so.
pub(super) fn cached(server: &ServerParams) -> Option<(u128, String)> {
    let cache = server.socket().pool.as_ref()?.cache?;
    Some((cache.bytes.into(), "pool.cache".to_owned()))
}

/// Checks that a server that takes part in a pool is simulated line by line.
pub(super) fn check_lines(server: &ServerParams, fidelity: Fidelity, key: &str) -> Result<(), Issue> {
    if server.socket().pool.is_none() || fidelity == Fidelity::Line {
        return Ok(());
    }
    let message = "needs fidelity = \"line\": memory of other servers has no rates and no bursts";
    Err(Issue::between(Code::NeedsLineFidelity, &[key, "pool"], message))
}
