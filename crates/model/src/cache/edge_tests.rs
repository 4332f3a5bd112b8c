//! Tests of single operations of the caches, at the limits.

use super::*;
use crate::params::{CleanVictims, DdioParams, L2Params, LlcParams, PrefetchParams, Replacement};

const LINE: u64 = 1000;

/// Creates caches of two cores and one slice, with one set each and LRU. Class 2 belongs to devices, which use way 0
/// of the LLC.
fn caches(inclusion: Inclusion, l2_ways: u32, ways: u32, filter_ways: u32) -> Caches {
    let replacement = Replacement::Lru;
    let params = CacheParams {
        l2: L2Params { sets: 1, ways: l2_ways, replacement, hit_ps: 0 },
        llc: LlcParams {
            sets: 1,
            ways,
            replacement,
            inclusion,
            clean_victims: CleanVictims::All,
            hit_ps: 0,
            filter_sets: 1,
            filter_ways,
        },
        prefetch: PrefetchParams { stream: false, adjacent: false, credits: 0, pages: 0, distance_lines: 0 },
        masks: vec![u32::MAX; 3],
        ddio: DdioParams { drives: Vec::new(), ways: 1, write_ps: 0 },
    };
    Caches::new(&params, 2, 1, 3, 1)
}

/// Lets a core use a line without anything else happening meanwhile. Returns true if the LLC side had the line, or
/// `None` if the L2 had it, and the lines that left for memory.
fn use_line(caches: &mut Caches, core: u32, line: u64, store: bool) -> (Option<bool>, Vec<EvictedLine>) {
    let class = core as u8;
    if caches.access(core, line, class, store) != L2Access::Miss {
        return (None, Vec::new());
    }
    let LlcRead { hit, evicted } = caches.read(core, line, class);
    let mut left: Vec<_> = evicted.into_iter().collect();
    if hit.is_none() {
        left.extend(caches.fetched(line, class));
    }
    if let Some(victim) = caches.fill(core, line, class, store || hit == Some(true), false) {
        left.extend(caches.put(core, victim));
    }
    (Some(hit.is_some()), left)
}

fn lines(caches: &Caches, class: usize) -> (u64, u64) {
    let counts = caches.counts().classes()[class];
    (counts.core_lines, counts.io_lines)
}

#[test]
fn an_l2_and_a_victim_llc_together_hold_as_many_lines_as_both_have_ways() {
    for (cycle, hits) in [(2 + 4, 99 * 6), (2 + 4 + 1, 0)] {
        let mut caches = caches(Inclusion::Victim, 2, 4, 32);
        let all = (0..100).flat_map(|_| 0..cycle).filter(|&line| use_line(&mut caches, 0, line, false).0 == Some(true));
        assert_eq!(all.count(), hits, "cycle of {cycle} lines");
    }
}

#[test]
fn a_victim_llc_takes_the_clean_lines_that_it_is_to_take_and_all_that_are_dirty() {
    use CleanVictims::{All, Foreseen};
    for (clean_victims, taken) in [(All, true), (Foreseen, true), (CleanVictims::None, false)] {
        for store in [false, true] {
            let mut params = caches(Inclusion::Victim, 2, 4, 3).params().clone();
            params.llc.clean_victims = clean_victims;
            let mut caches = Caches::new(&params, 2, 1, 3, 1);
            for (line, store) in [(LINE, store), (0, false), (1, false)] {
                assert_eq!(use_line(&mut caches, 0, line, store).0, Some(false));
            }
            assert_eq!(lines(&caches, 0), (u64::from(taken || store), 0), "{clean_victims:?}");
            let back = use_line(&mut caches, 1, LINE, false);
            assert_eq!(back, (Some(taken || store), vec![]), "its entry of the snoop filter was given back");
        }
    }
}

/// Creates caches of two cores with `sets` sets, whose LLC takes the clean lines that its predictor selects.
pub(super) fn foreseeing(sets: u32) -> Caches {
    let mut params = caches(Inclusion::Victim, 1, 4, 32).params().clone();
    params.llc = LlcParams { sets, filter_sets: sets, clean_victims: CleanVictims::Foreseen, ..params.llc };
    Caches::new(&params, 2, 1, 3, 1)
}

/// Returns the LLC hits in the last of 100 sequential passes over `lines` lines by a core with one line of L2.
fn hits_of_a_cycle(lines: u64, clean_victims: CleanVictims) -> usize {
    let mut params = caches(Inclusion::Victim, 1, 4, 32).params().clone();
    params.llc = LlcParams { sets: 64, filter_sets: 64, clean_victims, ..params.llc };
    let mut caches = Caches::new(&params, 2, 1, 3, 1);
    let cycles = (0..100).flat_map(|_| 0..lines);
    let hits: Vec<bool> = cycles.map(|line| use_line(&mut caches, 0, line, false).0 == Some(true)).collect();
    hits[hits.len() - lines as usize..].iter().filter(|&&hit| hit).count()
}

#[test]
fn a_core_that_finds_its_lines_again_in_the_llc_leaves_them_there() {
    // 64 sets of 4 ways hold 256 lines. A cycle of 320 has 5 lines per set, one too many, and never hits.
    for (lines, hits) in [(256, 256), (320, 0)] {
        assert_eq!(hits_of_a_cycle(lines, CleanVictims::All), hits);
        assert_eq!(hits_of_a_cycle(lines, CleanVictims::Foreseen), hits);
        assert_eq!(hits_of_a_cycle(lines, CleanVictims::None), 0);
    }
}

#[test]
fn an_inclusive_llc_holds_as_many_lines_as_it_has_ways() {
    for (cycle, hits) in [(4, 99 * 4), (5, 0)] {
        let mut caches = caches(Inclusion::Inclusive, 2, 4, 32);
        let all = (0..100).flat_map(|_| 0..cycle).filter(|&line| use_line(&mut caches, 0, line, false).0 == Some(true));
        assert_eq!(all.count(), hits, "cycle of {cycle} lines");
    }
}

#[test]
fn a_line_that_leaves_an_inclusive_llc_leaves_the_core_and_takes_its_dirty_data_along() {
    let mut caches = caches(Inclusion::Inclusive, 4, 2, 32);
    use_line(&mut caches, 0, LINE, true);
    use_line(&mut caches, 0, 1, false);
    assert_eq!(use_line(&mut caches, 0, 2, false).1, [EvictedLine { line: LINE, class: 0, io: false }]);
    assert!(!caches.holds(0, LINE));
    assert_eq!(caches.counts().classes()[0].back_invalidations, 1);
    assert_eq!(caches.counts().classes()[0].core_evictions, 1);
}

#[test]
fn a_line_that_the_snoop_filter_forgets_leaves_the_core() {
    let mut caches = caches(Inclusion::Victim, 8, 8, 2);
    use_line(&mut caches, 0, LINE, true);
    use_line(&mut caches, 0, 1, false);
    assert_eq!(use_line(&mut caches, 0, 2, false).1, [EvictedLine { line: LINE, class: 0, io: false }]);
    assert_eq!(use_line(&mut caches, 0, 3, false).1, []);
    assert_eq!(caches.counts().classes()[0].back_invalidations, 2);
    assert!([LINE, 1].iter().all(|&line| !caches.holds(0, line)) && caches.holds(0, 2) && caches.holds(0, 3));
}

#[test]
fn a_clean_line_is_shared_until_somebody_stores_to_it() {
    for inclusion in [Inclusion::Victim, Inclusion::Inclusive] {
        let mut caches = caches(inclusion, 2, 4, 32);
        assert_eq!(use_line(&mut caches, 0, LINE, false).0, Some(false));
        assert_eq!(use_line(&mut caches, 1, LINE, false).0, Some(true));
        assert!(caches.holds(0, LINE) && caches.holds(1, LINE));
        assert_eq!(use_line(&mut caches, 1, LINE, true).0, None);
        assert!(!caches.holds(0, LINE) && caches.holds(1, LINE));
    }
}

#[test]
fn a_dirty_line_moves_to_its_reader_or_to_an_inclusive_llc() {
    let mut victim = caches(Inclusion::Victim, 2, 4, 32);
    use_line(&mut victim, 0, LINE, true);
    assert_eq!(victim.read(1, LINE, 1).hit, Some(true));
    assert!(!victim.holds(0, LINE));

    let mut inclusive = caches(Inclusion::Inclusive, 2, 4, 32);
    use_line(&mut inclusive, 0, LINE, true);
    assert_eq!(inclusive.read(1, LINE, 1).hit, Some(false));
    assert!(inclusive.holds(0, LINE));
    // The copy of core 0 is clean now and leaves silently. The LLC holds the dirty data.
    for line in 1..3 {
        assert_eq!((inclusive.read(0, line, 0).hit, inclusive.fetched(line, 0)), (None, None));
        assert_eq!(inclusive.fill(0, line, 0, false, false), None);
    }
    assert!(!inclusive.holds(0, LINE));
    assert_eq!(use_line(&mut inclusive, 1, 3, false).1, []);
    assert_eq!(use_line(&mut inclusive, 1, 4, false).1, [EvictedLine { line: LINE, class: 0, io: false }]);
}

#[test]
fn unread_lines_of_devices_fill_the_ways_of_ddio_and_then_leak() {
    for ways in 1..=4 {
        let mut params = caches(Inclusion::Victim, 2, 8, 32).params().clone();
        params.llc.sets = 4;
        params.ddio.ways = (1 << ways) - 1;
        let mut caches = Caches::new(&params, 2, 2, 3, 1);
        let left = (0..1000).filter(|&line| caches.io_write(line, 2).evicted.is_some()).count() as u64;
        assert_eq!(lines(&caches, 2), (0, ways * 4 * 2), "ways x sets x slices");
        let counts = caches.counts().classes()[2];
        assert_eq!((counts.ddio_leaks, counts.ddio_evictions), (left, left));
        assert_eq!((counts.ddio_allocations, counts.ddio_updates, left), (1000, 0, 1000 - ways * 8));
    }
}

#[test]
fn device_data_that_was_read_does_not_leak() {
    let mut caches = caches(Inclusion::Victim, 2, 4, 32);
    caches.io_write(1, 2);
    assert!(caches.io_read(1, 2) && !caches.io_read(7, 2));
    assert_eq!(caches.io_write(2, 2).evicted, Some(EvictedLine { line: 1, class: 2, io: true }));
    let counts = caches.counts().classes()[2];
    assert_eq!((counts.ddio_evictions, counts.ddio_leaks, counts.io_reads, counts.io_read_hits), (1, 0, 2, 1));
    // A core takes the other line, which belongs to the core when it returns.
    assert_eq!(use_line(&mut caches, 0, 2, false).0, Some(true));
    assert_eq!(lines(&caches, 2), (0, 0));
    (3..5).for_each(|line| drop(use_line(&mut caches, 0, line, false)));
    assert_eq!((lines(&caches, 0), lines(&caches, 2)), ((1, 0), (0, 0)));
    assert_eq!(caches.counts().classes()[2].ddio_evictions, 1);
}

#[test]
fn a_device_write_updates_what_the_llc_has_and_allocates_what_a_core_has() {
    let mut caches = caches(Inclusion::Victim, 1, 4, 32);
    (1..4).for_each(|line| drop(use_line(&mut caches, 0, line, true)));
    // Lines 1 and 2 are in ways 0 and 1. Way 1 is not a way of DDIO.
    assert_eq!(caches.io_write(2, 2), IoWrite { hit: true, evicted: None });
    assert_eq!((lines(&caches, 0), lines(&caches, 2)), ((1, 0), (0, 1)));
    let evicted = Some(EvictedLine { line: 1, class: 0, io: false });
    assert_eq!(caches.io_write(3, 2), IoWrite { hit: true, evicted });
    assert!(!caches.holds(0, 3));
    let counts = caches.counts().classes()[2];
    assert_eq!((counts.ddio_updates, counts.ddio_allocations, counts.io_lines), (1, 1, 2));
}

#[test]
fn a_line_that_a_device_writes_while_a_core_waits_for_it_passes_the_l2_by() {
    for inclusion in [Inclusion::Victim, Inclusion::Inclusive] {
        let mut caches = caches(inclusion, 2, 4, 32);
        caches.read(0, LINE, 0);
        caches.io_invalidate(LINE);
        let victim = caches.fill(0, LINE, 0, true, false);
        assert_eq!(victim, Some(Victim { line: LINE, class: 0, dirty: true, taken: true }));
        assert!(!caches.holds(0, LINE));
    }
}

#[test]
fn an_older_copy_on_its_way_to_the_llc_joins_the_one_that_was_read_again() {
    let mut caches = caches(Inclusion::Victim, 1, 4, 32);
    use_line(&mut caches, 0, LINE, true);
    caches.read(0, 1, 0);
    let older = caches.fill(0, 1, 0, false, false).expect("one way holds one line");
    assert_eq!(caches.read(0, LINE, 0).hit, None);
    let clean = caches.fill(0, LINE, 0, false, false).expect("one way holds one line");
    assert_eq!((caches.put(0, clean), caches.put(0, older)), (None, None));
    assert_eq!(lines(&caches, 0), (1, 0));
    caches.read(0, 2, 0);
    assert_eq!(caches.fill(0, 2, 0, false, false), Some(older), "the copy is dirty again");
}

#[test]
fn a_prefetched_line_counts_at_its_first_use() {
    let mut caches = caches(Inclusion::Victim, 2, 4, 32);
    caches.read(0, LINE, 0);
    caches.fill(0, LINE, 0, false, true);
    assert_eq!(caches.access(0, LINE, 0, false), L2Access::Hit { prefetched: true });
    assert_eq!(caches.access(0, LINE, 0, false), L2Access::Hit { prefetched: false });
    let counts = caches.counts().classes()[0];
    assert_eq!((counts.prefetch_filled, counts.prefetch_used, counts.l2_lookups, counts.l2_misses), (1, 1, 2, 0));
}

#[test]
fn a_new_window_forgets_what_happened_and_keeps_what_is_held() {
    let mut caches = caches(Inclusion::Victim, 2, 4, 32);
    caches.io_write(LINE, 2);
    caches.reset_counts();
    let held = ClassCounts { io_lines: 1, dirty_lines: 1, ..ClassCounts::default() };
    assert_eq!(caches.counts().classes(), [ClassCounts::default(), ClassCounts::default(), held]);
}
