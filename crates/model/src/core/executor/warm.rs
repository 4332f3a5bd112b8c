//! Warm-up: fills the caches before the simulation starts, by accesses without events at about the rates of a busy
//! server.

use super::{Executor, Source};
use crate::cache::{Caches, L2Access};

/// Approximate latency of a miss on a busy server, in ps. It sets the rates of the cores in the warm-up, which matter
/// to the mix of lines in the LLC, not to time.
const MISS_PS: u64 = 130_000;

/// Executes the next access of a core in `caches` alone. Returns its approximate duration in ps, or nothing if the
/// core has nothing to do by itself or replays a trace once, which begins with the simulation.
pub(super) fn step(core: &mut Executor, caches: &mut Caches) -> Option<u64> {
    if core.replay_mut().is_some_and(|replay| !replay.repeats()) {
        return None;
    }
    let thread = &mut core.thread;
    // Kernel work follows from IO, of which there is none before the simulation, so the caller sets its pace.
    if let Source::Storage(storage) = &mut thread.source {
        storage.owe_line();
    }
    let item = core.held.take().or_else(|| thread.source.next(&mut core.pages, &mut core.rng))?;
    // Speed of the simulator only: the access after this one is drawn early, to prefetch the tables that it needs.
    core.held = thread.source.next(&mut core.pages, &mut core.rng);
    if let Some(next) = &core.held {
        caches.expect_access(core.index, next.line);
    }
    let work_ps = u64::from(item.instructions) * thread.instruction_fs / 1000;
    let class = thread.class;
    if caches.access(core.index, item.line, class, item.store) != L2Access::Miss {
        return Some(work_ps.max(1));
    }
    let found = caches.read(core.index, item.line, class);
    if found.hit.is_none() {
        let _ = caches.fetched(item.line, class);
    }
    // As in `on_data`: a dirty line from the LLC stays dirty in the L2.
    let dirty = item.store || found.hit == Some(true);
    if let Some(victim) = caches.fill(core.index, item.line, class, dirty, false) {
        let _ = caches.put(core.index, victim);
    }
    // Independent misses overlap as far as the LFB allows; dependent ones follow each other.
    let overlap = if item.depends { 1 } else { u64::from(core.params.lfb_entries) };
    Some(work_ps.max(MISS_PS / overlap) + if item.depends { work_ps } else { 0 })
}
