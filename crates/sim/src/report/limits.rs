//! Collects the facts that determine the limit of each workload.

use crate::read::sample::{PoolGroup, Sample};
use crate::report::memory_pool::describe_pool_path;
use crate::report::mesh::find_mesh_delay;
use crate::report::occupancy::{dram_ns, expander_bus_load, expander_link_load, pool, EXPANDER_GROUPS};
use crate::report::stages::stages;
use crate::report::throttle::throttling;
use crate::report::view::ServerView;
use hostnet_analysis::binding::{lfb_domain, stream_otherwise, OFFERED_LOAD};
use hostnet_analysis::explain::{unloaded, BehindLink, Cached, Isolated, Kind, LinkStage, Pool, WorkloadFacts};
use hostnet_analysis::limits;
use hostnet_analysis::limits::offer_bounds_in_words;
use hostnet_analysis::offered::offered_gb_per_s;
use hostnet_analysis::predict::{isolated_latencies_ns, lone_latencies_ns, now_and_alone, WorkloadPace};
use hostnet_analysis::regime::{Basis, IsolatedGain};
use hostnet_model::cache::ClassCounts;
use hostnet_model::params::{ExpanderParams, InterSocketParams, SocketParams, WorkloadKind};
use hostnet_model::pool::PoolPort;

/// Returns the facts about every workload.
pub(crate) fn collect_facts(view: &ServerView, total: &Sample) -> Vec<WorkloadFacts> {
    let isolated = isolated_latencies_ns(view.line_server).into_iter().enumerate();
    let beside = now_and_alone(view.line_server);
    let limits = limits::of(view.line_server).unwrap_or_default();
    let lone = lone_latencies_ns(view.line_server);
    let with = |(class, ns): (usize, Option<f64>)| {
        let facts = facts(view, total, class);
        let gain =
            |[now, alone]: [WorkloadPace; 2]| IsolatedGain::predicted([now.gb_per_s, alone.gb_per_s], facts.gb_per_s);
        WorkloadFacts {
            isolated: ns.map(|ns| Isolated { ns, basis: Basis::Predicted }),
            // A run stopped during its warm-up has measured nothing to compare predictions with.
            alone: beside[class].filter(|_| facts.gb_per_s > 0.0).map(gain),
            lone_ns: lone[class],
            cached: view.machine.has_caches().then(|| cached(&total.cached(class))),
            ..facts.with_limits(limits.get(class).cloned())
        }
    };
    let far = |class| behind_link(view, total, class).or_else(|| describe_pool_path(view, total, class));
    let crossing = |facts: WorkloadFacts, class| match far(class) {
        Some(way) => facts.behind_link(view.server.socket(), &way),
        None => {
            let facts = WorkloadFacts { hop_ns: hop_ns(view, total, class), ..facts };
            if crosses_sockets(view, total, class) {
                facts.crossing()
            } else {
                facts
            }
        }
    };
    let on_mesh =
        |(class, facts): (usize, WorkloadFacts)| crossing(facts, class).on_mesh(find_mesh_delay(view, total, class));
    let on_its_way = |(class, facts): (usize, WorkloadFacts)| {
        // The path through a memory pool leads to other servers, whose stages are not observed here.
        let known = view.machine.first::<PoolPort>().is_none() && view.window_ps() > 0.0;
        let lfb = facts.pools.first().filter(|_| facts.kind == Kind::Stream).cloned();
        let stages = if known { stages(view, total, class, lfb.as_ref()) } else { Vec::new() };
        with_outside_limits(view, class, facts.with_stages(stages))
    };
    isolated.map(with).enumerate().map(on_mesh).enumerate().map(on_its_way).collect()
}

/// Adds limits outside of the path in the server: throttling of cores by the host control, and the limit of a traffic
/// class on its end-to-end path.
fn with_outside_limits(view: &ServerView, class: usize, facts: WorkloadFacts) -> WorkloadFacts {
    if matches!(view.server.workloads[class].kind, WorkloadKind::Network) {
        let limit = view.limits.iter().find(|limit| limit.class == facts.workload);
        return facts.with_outside(limit.map(|limit| limit.at(view.name)));
    }
    // A workload that gets all that it offers loses nothing to throttling.
    if view.window_ps() <= 0.0 || facts.binding == [OFFERED_LOAD] {
        return facts;
    }
    let throttling = throttling(view, class, facts.pools.first());
    facts.throttled(throttling)
}

/// Share of time without a free UPI credit above which a workload counts as delayed by UPI.
const OFTEN: f64 = 0.01;

/// Returns true if lines of a workload cross to other sockets, or its snoops often wait for UPI credits.
fn crosses_sockets(view: &ServerView, total: &Sample, class: usize) -> bool {
    let waits = |group| pool(view, total, group, class, "").is_some_and(|pool| pool.full_share > OFTEN);
    total.of(PoolGroup::ChaUpi, class).lines > 0 || [PoolGroup::UpiSnoop, PoolGroup::UpiAnswer].into_iter().any(waits)
}

/// Returns the unloaded latency of the UPI crossings, in ns, averaged over the lines of a workload that are waited
/// for.
fn hop_ns(view: &ServerView, total: &Sample, class: usize) -> f64 {
    let Some(InterSocketParams { upi, broadcast, .. }) = &view.server.upi else { return 0.0 };
    let of = |group| total.of(group, class).lines as f64;
    let wire_ns = |bytes: u32| f64::from(bytes) / upi.bytes_per_s as f64 * 1e9;
    let there_ns = upi.latency_ps as f64 / 1000.0;
    // A device write takes four messages: the request for ownership, its grant, the line, and the acknowledgement.
    let written = of(PoolGroup::P2mWrite) > of(PoolGroup::P2mRead);
    let messages = if written { 3.0 } else { 1.0 };
    let hop_ns = (messages + 1.0) * there_ns + messages * wire_ns(upi.request_bytes) + wire_ns(upi.data_bytes);
    // A core that hits a line in flight for a prefetcher waits for only a part of the crossing.
    let (asked, all) = if view.server.workloads[class].kind.is_of_devices() {
        (of(PoolGroup::UpiRequest), of(PoolGroup::P2mWrite) + of(PoolGroup::P2mRead))
    } else {
        (of(PoolGroup::UpiRequest) - of(PoolGroup::Prefetch), of(PoolGroup::Lfb))
    };
    let crossing = (asked / all.max(1.0)).clamp(0.0, 1.0);
    // With home snoop, the other sockets are snooped while DRAM is read.
    let dram_ns = unloaded::dram_ns(&view.server.socket().memory.dram);
    let snoops_ns = if *broadcast && !written { (2.0 * there_ns - dram_ns).max(0.0) } else { 0.0 };
    crossing * hop_ns + snoops_ns
}

/// Returns the path of a workload's lines behind a CXL link, or `None` if no line lies behind one.
fn behind_link(view: &ServerView, total: &Sample, class: usize) -> Option<BehindLink> {
    let socket = view.server.socket();
    let expander = socket.expander.as_ref()?;
    let of = |group| total.of(group, class).lines as f64;
    let far = EXPANDER_GROUPS.map(of);
    let lines: f64 = far.iter().sum();
    if lines == 0.0 {
        return None;
    }
    let all = [PoolGroup::ChaRead, PoolGroup::ChaWrite].map(of);
    let of_device = view.server.workloads[class].kind.is_of_devices();
    let by_device = [PoolGroup::P2mRead, PoolGroup::P2mWrite].map(of);
    // Cores wait for reads only, because stores are written back later. Devices are judged by the direction with more
    // lines.
    let waited = usize::from(if of_device { by_device[1] > by_device[0] } else { far[0] == 0.0 });
    // Lines of the kernel's work for devices lie in local memory, and devices do not wait for them.
    let own = if of_device { by_device[waited] } else { all[waited] };
    let part = (far[waited] / own.min(all[waited]).max(1.0)).min(1.0);
    let [ns, saved_ns] = expander_latency_ns(socket, expander)[waited].map(|ns| part * ns);
    let groups = EXPANDER_GROUPS.into_iter().chain([PoolGroup::ChaExpander]);
    let credits: Vec<Pool> = groups.filter_map(|group| pool(view, total, group, class, group.name())).collect();
    let unloaded_ns = credits.iter().map(|pool| held_ns(pool, socket, expander));
    Some(BehindLink {
        ns,
        saved_ns,
        share: lines / all.iter().sum::<f64>().max(1.0),
        things: LinkStage::behind_link(expander_bus_load(view), expander_link_load(view, total, expander)),
        unloaded_ns: unloaded_ns.collect(),
        credits,
    })
}

/// Returns the time that a line holds a credit of a pool on the way to memory behind a link without load, in ns.
fn held_ns(pool: &Pool, socket: &SocketParams, expander: &ExpanderParams) -> f64 {
    let dram_ns = || dram_ns(&expander.memory.dram);
    let more = match &pool.domain {
        name if name == PoolGroup::ExpanderRead.name() => dram_ns(),
        name if name == PoolGroup::ChaExpander.name() => dram_ns() + socket.cha.read_to_mc_ps as f64 / 1000.0,
        _ => 0.0,
    };
    expander_round_trip_ns(expander) + more
}

/// Returns the unloaded round trip of a request and its line to a device behind a CXL link, in ns.
fn expander_round_trip_ns(expander: &ExpanderParams) -> f64 {
    let wires_ps = f64::from(expander.request_bytes + expander.data_bytes) / expander.bytes_per_s as f64 * 1e12;
    (2.0 * (expander.latency_ps + expander.device_ps) as f64 + wires_ps) / 1000.0
}

/// Returns unloaded latencies of reads, then of writes, in ns: from the host's end of a CXL link and back, and the
/// part between CHA and local memory that is saved instead.
fn expander_latency_ns(socket: &SocketParams, expander: &ExpanderParams) -> [[f64; 2]; 2] {
    let [from_mc, write_ack] = [socket.cha.from_mc_ps, socket.cha.write_ack_ps].map(|ps| ps as f64 / 1000.0);
    let [far, near] = [&expander.memory.dram, &socket.memory.dram].map(unloaded::dram_ns);
    let way = expander_round_trip_ns(expander);
    [[way + far, near + from_mc], [way, write_ack]]
}

/// Returns the facts about workload `class`: the pools on its path, its throughput and its offered load.
fn facts(view: &ServerView, total: &Sample, class: usize) -> WorkloadFacts {
    let workload = &view.server.workloads[class];
    let own = view.throughput_groups(class);
    let lines = total.moved(own, class);
    let gb_per_s = if view.window_ps() > 0.0 { view.gb_per_s(lines) } else { 0.0 };
    if workload.kind.is_of_devices() {
        let groups = [PoolGroup::P2mWrite, PoolGroup::P2mRead, PoolGroup::Posted, PoolGroup::NonPosted];
        let pools = groups.iter().filter_map(|&group| pool(view, total, group, class, group.name())).collect();
        let mut facts = WorkloadFacts::new(&workload.name, Kind::Fio, gb_per_s, pools, OFFERED_LOAD);
        if workload.kind.fio().is_some() {
            facts.app_gb_per_s = Some(view.gb_per_s_of(total.app_bytes[class] * view.lines_each()));
            facts.offered_gb_per_s = offered_gb_per_s(view.line_server, class);
            facts.offered_by = offer_bounds_in_words(view.line_server, class);
        }
        return facts;
    }
    let [read, write] = [PoolGroup::C2mRead, PoolGroup::C2mWrite].map(|group| total.of(group, class));
    let domain = lfb_domain(read.area_ps as f64, write.area_ps as f64);
    let ahead = pool(view, total, PoolGroup::Prefetch, class, domain).filter(|_| !view.machine.has_caches());
    let lfb = pool(view, total, PoolGroup::Lfb, class, domain);
    let pools: Vec<Pool> = lfb.map(|lfb| ahead.iter().fold(lfb, Pool::with_prefetches)).into_iter().collect();
    // Prefetched lines pass C2M-Read and not the LFB; with caches they are not accesses.
    let prefetched = if view.server.socket().core.stream_prefetches > 0 { PoolGroup::C2mRead } else { PoolGroup::Lfb };
    let accesses = total.of(prefetched, class).lines as f64;
    let per_core = accesses / view.window_ps() / workload.kind.cores().len() as f64;
    let gap_ps = workload.kind.stream().map_or(0, |stream| stream.gap_ps);
    let otherwise = stream_otherwise(gap_ps, view.server.socket().core.issue_ps, per_core);
    let mut facts = WorkloadFacts::new(&workload.name, Kind::Stream, gb_per_s, pools, otherwise);
    facts.store_share = if accesses > 0.0 { (write.lines as f64 / accesses).min(1.0) } else { 0.0 };
    facts
}

/// Returns the cache statistics of a workload as ratios.
fn cached(counts: &ClassCounts) -> Cached {
    let share = |over: u64, under: u64| (under > 0).then(|| over as f64 / under as f64);
    let written = counts.ddio_updates + counts.ddio_allocations;
    Cached {
        l2_miss_ratio: share(counts.l2_misses, counts.l2_lookups),
        llc_miss_ratio: share(counts.llc_misses, counts.llc_lookups),
        ddio_hit_ratio: share(counts.ddio_updates, written),
        ddio_leak_ratio: share(counts.ddio_leaks, written),
        ddio_eviction_ratio: share(counts.ddio_evictions, written),
    }
}
