//! What holds for all caches, under random geometries and random use.

use super::*;
use crate::params::{DdioParams, L2Params, LlcParams, PrefetchParams, Replacement};

const CLASSES: usize = 3;
const CORES: u32 = 3;

/// Caches of one set everywhere, all LRU, in one slice.
fn params(l2_ways: u32, llc_ways: u32, ddio: u32, inclusion: Inclusion) -> CacheParams {
    let replacement = Replacement::Lru;
    CacheParams {
        l2: L2Params { sets: 1, ways: l2_ways, replacement, hit_ps: 0 },
        llc: LlcParams { sets: 1, ways: llc_ways, replacement, inclusion, hit_ps: 0, filter_sets: 1, filter_ways: 32 },
        prefetch: PrefetchParams { stream: false, adjacent: false, credits: 0, pages: 0, distance_lines: 0 },
        masks: vec![u32::MAX; CLASSES],
        ddio: DdioParams { drives: Vec::new(), ways: ddio, write_ps: 0 },
    }
}

fn caches(params: &CacheParams) -> Caches {
    Caches::new(params, CORES, 1, CLASSES, 1)
}

/// A core uses a line, as the parts do when nothing else happens meanwhile. Returns whether its L2 or the LLC had it,
/// and the dirty lines that left for memory.
fn use_line(caches: &mut Caches, core: u32, line: u64, class: u8, store: bool) -> (bool, Vec<Evicted>) {
    if caches.access(core, line, class, store) != Access::Miss {
        return (true, Vec::new());
    }
    let Read { hit, evicted } = caches.read(core, line, class);
    let mut left: Vec<_> = evicted.into_iter().collect();
    if hit.is_none() {
        left.extend(caches.fetched(line, class));
    }
    if let Some(victim) = caches.fill(core, line, class, store || hit == Some(true), false) {
        left.extend(caches.put(core, victim));
    }
    (hit.is_some(), left)
}

#[test]
fn a_victim_llc_gets_what_leaves_an_l2_and_gives_it_back() {
    let mut caches = caches(&params(2, 4, 1, Inclusion::Victim));
    for line in 0..6 {
        assert_eq!(use_line(&mut caches, 0, line, 0, line == 0), (false, vec![]));
    }
    assert_eq!(caches.counts().classes()[0].core_lines, 4);
    assert!(caches.holds(0, 5) && caches.holds(0, 4) && !caches.holds(0, 3));
    // The dirty line comes back as dirty, and 4 leaves for it.
    let read = caches.read(0, 0, 0);
    assert_eq!(read, Read { hit: Some(true), evicted: None });
    assert_eq!(caches.counts().classes()[0].core_lines, 3);
    assert_eq!(caches.fill(0, 0, 0, true, false), Some(Victim { line: 4, class: 0, dirty: false }));
}
