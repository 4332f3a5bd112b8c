//! Filling the caches before time begins.
//!
//! Simulating the turnovers of a large LLC event by event would take longer than what is to be measured. So cores and
//! devices first carry out accesses on the caches alone, each at about the rate that it has when nothing disturbs it;
//! then time begins, and the timed warm-up settles what depends on rates.

use crate::feeds::Feeds;
use hostnet_model::cache::Caches;
use hostnet_model::core::CachedCore;
use hostnet_model::nvme::{Ssd, WrittenLine};
use hostnet_model::params::{CacheParams, ServerParams};
use hostnet_model::{Component, Machine};
use std::cmp::Reverse;
use std::collections::binary_heap::{BinaryHeap, PeekMut};

/// Turnovers of the LLC, and of its DDIO ways, before time begins.
pub const TURNOVERS: u64 = 3;

/// A part that fills the caches, and when its next access comes. Who comes first is less; ties go to the first part.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Agent {
    at_ps: u64,
    component: usize,
    lines: u64,
}

/// The agents whose accesses are still to come, the next one on top.
type Agents = BinaryHeap<Reverse<Agent>>;

/// Fills the caches of a machine: until its cores have looked for as many lines in the LLC as three turnovers of it, or
/// have made as many accesses if their L2s serve them, and its devices have written three turnovers of their ways.
pub(crate) fn fill(machine: &mut Machine, params: &ServerParams, feeds: &mut Feeds) {
    let Some(cache) = &params.cache else { return };
    let first_core = machine.first_id().0;
    let (Some(caches), components) = machine.warming() else { return };
    let turnover = llc_lines(cache, params.cha.slices);
    run_cores(caches, components, feeds, TURNOVERS * turnover);
    let ways = u64::from(cache.ddio.ways.count_ones());
    let lines = TURNOVERS * turnover * ways / u64::from(cache.llc.ways);
    run_all(caches, components, feeds, (params, cache, first_core), lines);
    caches.reset_counts();
}

fn llc_lines(cache: &CacheParams, slices: u32) -> u64 {
    u64::from(cache.llc.sets) * u64::from(cache.llc.ways) * u64::from(slices)
}

fn looked_for(caches: &Caches) -> u64 {
    caches.counts().classes().iter().map(|counts| counts.llc_lookups).sum()
}

/// The agents that `wanted` picks, all at time 0.
fn agents(components: &[Component], wanted: impl Fn(&Component) -> bool) -> Agents {
    let all = components.iter().enumerate().filter(|(_, component)| wanted(component));
    all.map(|(component, _)| Reverse(Agent { component, at_ps: 0, lines: 0 })).collect()
}

/// Lets the agent whose access comes first carry it out: `act` says how long that takes, or nothing when it has no more
/// to do. False when no agent is left.
fn next(agents: &mut Agents, act: impl FnOnce(&Agent) -> Option<u64>) -> bool {
    let Some(mut first) = agents.peek_mut() else { return false };
    let Reverse(agent) = &mut *first;
    match act(agent) {
        Some(took) => {
            agent.at_ps = agent.at_ps.saturating_add(took);
            agent.lines += 1;
        }
        None => {
            PeekMut::pop(first);
        }
    }
    true
}

/// Lets a core carry out an access; returns how long it takes, in ps, if it has anything to do.
fn access(core: &mut CachedCore, caches: &mut Caches, feeds: &mut Feeds) -> Option<u64> {
    feeds.fill_empty(core);
    core.warm_up(caches)
}

fn is_core(component: &Component) -> bool {
    component.get::<CachedCore>().is_some_and(CachedCore::is_busy)
}

/// Lets the cores run by themselves until the LLC has been looked into `lines` times.
fn run_cores(caches: &mut Caches, components: &mut [Component], feeds: &mut Feeds, lines: u64) {
    let mut agents = agents(components, is_core);
    let accesses_max = 4 * lines;
    for number in 0..accesses_max {
        let checked = number % 1024 == 0;
        if checked && looked_for(caches) >= lines {
            return;
        }
        let act = |agent: &Agent| access(components[agent.component].get_mut()?, caches, feeds);
        if !next(&mut agents, act) {
            return;
        }
    }
}

/// Lets cores and devices run until the devices have written `lines` lines to the LLC, if any of them writes there.
fn run_all(
    caches: &mut Caches,
    components: &mut [Component],
    feeds: &mut Feeds,
    (params, cache, first_core): (&ServerParams, &CacheParams, u32),
    lines: u64,
) {
    let mut agents = agents(components, |component| is_core(component) || puts(component, cache));
    let mut writing = agents.iter().filter(|Reverse(agent)| !is_core(&components[agent.component])).count();
    let line_ps = 64 * 1_000_000_000_000 / params.ssd.read_bytes_per_s.max(1);
    let mut written = 0;
    while written < lines && writing > 0 {
        let act = |agent: &Agent| {
            let component = &mut components[agent.component];
            if let Some(core) = component.get_mut() {
                return access(core, caches, feeds);
            }
            let put = put_line(component.get()?, agent.lines, first_core, caches);
            written += u64::from(put);
            writing -= usize::from(!put);
            put.then_some(line_ps)
        };
        if !next(&mut agents, act) {
            return;
        }
    }
}

/// Whether a part is a drive whose writes go to the LLC.
fn puts(component: &Component, cache: &CacheParams) -> bool {
    let drive = component.get::<Ssd>();
    drive.is_some_and(|drive| cache.ddio.drives.get(drive.index() as usize) == Some(&true))
}

/// Lets a drive write line `number` to the LLC, and the core that reads its data take a line of the block before; false
/// when the drive writes nothing.
fn put_line(ssd: &Ssd, number: u64, first_core: u32, caches: &mut Caches) -> bool {
    let Some(written) = ssd.written_line(number) else { return false };
    let _ = caches.io_write(written.line, written.class);
    if let Some(WrittenLine { line, class, reader: Some(reader) }) = ssd.consumed_line(number) {
        let core = reader.0 - first_core;
        let found = caches.read(core, line, class);
        if found.hit.is_none() {
            let _ = caches.fetched(line, class);
        }
        if let Some(victim) = caches.fill(core, line, class, found.hit == Some(true), false) {
            let _ = caches.put(core, victim);
        }
    }
    true
}
