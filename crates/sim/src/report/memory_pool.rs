//! Collects evidence for the limit of a workload whose lines lie in a memory pool of other servers.
//!
//! As for memory behind a link, the utilization of each stage tells how close the stage is to saturation. Effects on
//! the path that are not observed here (queues, DRAM, other traffic) raise the latency, and then no limit is named.

use super::occupancy::{dram_ns, pool};
use super::view::ServerView;
use crate::read::sample::{PoolGroup, Sample};
use hostnet_analysis::explain::{BehindLink, LinkStage, Pool, POOL_PORT, WIRE_NEAR};
use hostnet_model::params::{Placement, PoolParams};
use hostnet_model::pool::{PoolCounts, PoolPath, PoolPort};

/// Assumed load of the busiest of several lenders relative to their mean. A page lies entirely at one lender, so
/// lenders are not loaded evenly.
const UNEVEN: f64 = 1.25;

/// Domain groups of a memory pool.
const POOL_GROUPS: [PoolGroup; 2] = [PoolGroup::PoolRead, PoolGroup::PoolWrite];

/// Returns the path of a workload's lines to a memory pool, or `None` if no line lies in a pool.
///
/// If the latency of the path depends on more than its stages (a local cache or prefetcher, pages shared with other
/// servers, retries), only the delay between CHA and port is returned.
pub(super) fn describe_pool_path(view: &ServerView, total: &Sample, class: usize) -> Option<BehindLink> {
    let port = view.machine.first::<PoolPort>()?;
    let (params, counts) = (port.params(), port.counts());
    let of = |group| total.of(group, class).lines as f64;
    let far: f64 = POOL_GROUPS.map(of).iter().sum();
    let kept = (params.cache.is_some() || params.shared.is_some())
        && view.server.workloads[class].memory == Placement::Socket(1);
    if far == 0.0 && !kept {
        return None;
    }
    let lines: f64 = [PoolGroup::ChaRead, PoolGroup::ChaWrite].map(of).iter().sum();
    let share = far / lines.max(1.0);
    let alone = params.shared.is_none() || counts.granted == [0; 2] && counts.taken == 0;
    let plain = params.cache.is_none() && params.prefetch.is_none() && counts.retries == 0;
    let way = port.way().filter(|_| plain && alone);
    let Some(way) = way else {
        let ns = 4.0 * params.latency_ps as f64 / 1000.0;
        let (things, credits, unloaded_ns) = (Vec::new(), Vec::new(), Vec::new());
        return Some(BehindLink { ns, saved_ns: 0.0, share: 0.0, things, credits, unloaded_ns });
    };
    let socket = view.server.socket();
    let beyond_ns = (3 * params.latency_ps + socket.cha.read_to_mc_ps + way.read_ps) as f64 / 1000.0;
    let credits: Vec<Pool> =
        POOL_GROUPS.iter().filter_map(|&group| pool(view, total, group, class, group.name())).collect();
    let held_ns = |pool: &Pool| {
        if pool.domain == PoolGroup::PoolRead.name() {
            beyond_ns + dram_ns(&socket.memory.dram) + socket.cha.from_mc_ps as f64 / 1000.0
        } else {
            beyond_ns
        }
    };
    Some(BehindLink {
        ns: beyond_ns + params.latency_ps as f64 / 1000.0,
        saved_ns: 0.0,
        share,
        things: port_stages(view, params, counts, way),
        unloaded_ns: credits.iter().map(held_ns).collect(),
        credits,
    })
}

/// Returns the utilization of the server's port, in its busier direction, and of the ports of its lenders, as far as
/// this server loads them.
fn port_stages(view: &ServerView, params: &PoolParams, counts: &PoolCounts, way: &PoolPath) -> Vec<LinkStage> {
    let sent: u64 = counts.sent_bytes.iter().sum();
    let lines = (counts.reads * u64::from(params.data_bytes) + counts.writes * u64::from(params.small_bytes)) as f64;
    let share = |bytes: f64, bytes_per_s: u64| bytes * 1e12 / bytes_per_s as f64 / view.window_ps();
    let near = WIRE_NEAR;
    let own = f64::max(share(sent as f64, way.bytes_per_s), share(lines, way.bytes_per_s));
    let lent = f64::max(share(sent as f64, way.lenders_bytes_per_s), share(lines, way.lenders_bytes_per_s));
    let lent = if params.lenders.len() > 1 { lent * UNEVEN } else { lent };
    vec![LinkStage { name: Some(POOL_PORT), used: own, near }, LinkStage { name: None, used: lent, near }]
}
