//! Occupancy of the pools, buses and links of a server.

use crate::read::sample::{DomainTotals, PoolGroup, Sample};
use crate::report::channels::line_ps;
use crate::report::pool_sites::{find_pool_sites, PoolSite};
use crate::report::view::ServerView;
use hostnet_analysis::explain::Pool;
use hostnet_measure::Domain;
use hostnet_model::expander::Expander;
use hostnet_model::params::{DramParams, ExpanderParams};

/// Domain groups of memory behind a CXL link.
pub(super) const EXPANDER_GROUPS: [PoolGroup; 2] = [PoolGroup::ExpanderRead, PoolGroup::ExpanderWrite];

/// Returns the latency of a DRAM read that finds no row open, in ns.
pub(super) fn dram_ns(dram: &DramParams) -> f64 {
    let clocks = f64::from(dram.timing.rcd + dram.timing.cl + dram.timing.burst);
    clocks * dram.clock_ps_numerator as f64 / dram.clock_ps_denominator as f64 / 1000.0
}

/// Returns the share of time that the data buses behind the CXL link move lines.
pub(super) fn expander_bus_load(view: &ServerView) -> f64 {
    let Some(expander) = view.server.socket().expander.as_ref() else { return 0.0 };
    let channels = || view.machine.each::<Expander>().flat_map(Expander::channels);
    let lines = channels().map(|channel| channel.controller().counters(view.now));
    let moved: u64 = lines.map(|counts| counts.reads.iter().chain(&counts.writes).sum::<u64>()).sum();
    moved as f64 * line_ps(&expander.memory) / channels().count().max(1) as f64 / view.window_ps()
}

/// Returns the share of time that the busier direction of the CXL link sends messages.
pub(super) fn expander_link_load(view: &ServerView, total: &Sample, expander: &ExpanderParams) -> f64 {
    let [reads, writes] = EXPANDER_GROUPS
        .map(|group| (0..view.server.workloads.len()).map(|class| total.of(group, class).lines).sum::<u64>() as f64);
    let [request, line] = [expander.request_bytes, expander.data_bytes].map(f64::from);
    // Reads send requests out and lines back, writes send lines out and answers back.
    let bytes = f64::max(reads * request + writes * line, reads * line + writes * request);
    bytes / expander.bytes_per_s as f64 * 1e12 / view.window_ps()
}

/// Returns the pool of a group that the workload uses, under the name `domain`. If the workload uses several places,
/// the fullest is returned, because credits of one socket are of no use to another.
pub(super) fn pool(view: &ServerView, total: &Sample, group: PoolGroup, class: usize, domain: &str) -> Option<Pool> {
    let pool_sites = find_pool_sites(view, group).into_iter().map(|place| place.used_by(class));
    let pool_sites: Vec<PoolSite> = pool_sites.filter(|place| !place.pools.is_empty()).collect();
    let window_ps = view.window_ps();
    if window_ps <= 0.0 {
        return None;
    }
    let full = |place: &PoolSite| place.mean(full_ps(group)) / window_ps;
    let held = |place: &PoolSite| place.sum(Domain::area_ps) / place.sum(|domain| u64::from(domain.capacity()));
    let fuller = |a: &&PoolSite, b: &&PoolSite| full(a).total_cmp(&full(b)).then(held(a).total_cmp(&held(b)));
    let fullest = pool_sites.iter().max_by(fuller)?;
    let one_of_many = pool_sites.len() > 1;
    let here = fullest.totals(group, class);
    // Of several places the fullest alone is the evidence; totals of all would hide its latency.
    let DomainTotals { lines, residence_ps, .. } = if one_of_many { here } else { total.of(group, class) };
    let each = view.lines_each() as f64;
    Some(Pool {
        domain: domain.to_owned(),
        credits: each * fullest.sum(|domain| u64::from(domain.capacity())),
        in_use: each * fullest.sum(Domain::area_ps) / window_ps,
        full_share: full(fullest),
        latency_ns: (lines > 0).then(|| residence_ps as f64 / lines as f64 / 1000.0),
        gb_per_s: view.gb_per_s(lines),
        place: one_of_many.then(|| fullest.name.clone()),
        prefetched: false,
    })
}

/// Returns the function that reads how long a domain was full, in ps. A PCIe pool is full when too few credits are
/// left for another packet of the largest size.
pub(super) fn full_ps(group: PoolGroup) -> fn(&Domain) -> u64 {
    match group {
        PoolGroup::Posted | PoolGroup::NonPosted => Domain::over_threshold_ps,
        _ => Domain::full_ps,
    }
}
