use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const LINES: u64 = 64;

fn cache(frames: u64, early: bool) -> Cache {
    let params = PoolCacheParams { bytes: frames * 4096, whole_pages: true, early, transfers: 4 };
    Cache::new(params, 4096)
}

/// Brings a line into the cache. Returns false if its page gets no frame.
fn bring(cache: &mut Cache, line: u64) -> bool {
    let spot = match cache.find(line) {
        CacheLookup::Nothing => cache.claim(line).map(|(spot, _)| spot),
        CacheLookup::Line(spot) | CacheLookup::Room(spot, _) => Some(spot),
    };
    spot.map(|spot| cache.arrive(spot)).is_some()
}

#[test]
fn as_many_pages_fit_as_there_are_frames() {
    for (pages, evicts) in [(8, false), (9, true)] {
        let mut cache = cache(8, false);
        let claims = (0..pages).map(|page| cache.claim(page * LINES).expect("all are clean").1);
        assert_eq!(claims.filter(|&evicts| evicts).count() > 0, evicts);
        let there = (0..pages).filter(|&page| cache.find(page * LINES) != CacheLookup::Nothing).count();
        assert_eq!(there, 8);
    }
}

#[test]
fn a_page_that_was_used_since_stays_once_more() {
    let mut cache = cache(4, false);
    (0..4).for_each(|page| assert!(bring(&mut cache, page * LINES)));
    assert!(bring(&mut cache, 4 * LINES), "all were used: the first leaves");
    assert_eq!(cache.find(0), CacheLookup::Nothing);
    let CacheLookup::Line(spot) = cache.find(LINES) else { panic!("the second stays") };
    cache.touch(spot);
    assert!(bring(&mut cache, 5 * LINES));
    assert!(cache.find(LINES) != CacheLookup::Nothing && cache.find(2 * LINES) == CacheLookup::Nothing);
}

#[test]
fn a_dirty_page_leaves_when_its_lines_are_written_back() {
    let mut cache = cache(1, false);
    let (spot, _) = cache.claim(3).expect("a free frame");
    assert!(cache.overwrite(spot) && !cache.overwrite(spot));
    assert_eq!((cache.claim(LINES), cache.next_back(false)), (None, None), "it was used just now");
    assert_eq!(cache.claim(LINES), None);
    assert_eq!(cache.next_back(true), Some(spot));
    assert_eq!((cache.next_back(false), cache.claim(LINES), cache.unwritten()), (None, None, 1));
    cache.written_back(spot);
    assert_eq!(cache.unwritten(), 0);
    assert!(matches!(cache.claim(LINES), Some((_, true))) && !cache.is_valid(spot));
}

#[test]
fn what_is_dirty_leaves_early_unless_others_wait() {
    let mut cache = cache(2, true);
    let (spot, _) = cache.claim(3).expect("a free frame");
    cache.overwrite(spot);
    assert_eq!((cache.next_back(true), cache.next_back(false)), (None, Some(spot)));
}

#[test]
fn the_lines_of_a_page_are_fetched_but_for_those_that_are_there_or_on_their_way() {
    let mut cache = cache(2, false);
    let (spot, _) = cache.claim(60).expect("a free frame");
    cache.ask(spot, true);
    cache.arrive(FrameLine { within: 1, ..spot });
    cache.fetch_page(spot);
    cache.fetch_page(spot);
    let fetched: Vec<u64> = std::iter::from_fn(|| cache.next_fetch()).map(|spot| spot.within).collect();
    let wanted: Vec<u64> = (61..64).chain([0]).chain(2..60).collect();
    assert_eq!(fetched, wanted);
    cache.fetch_page(spot);
    assert_eq!(cache.next_fetch(), None);
}

/// Checks the invariants of all frames and pages.
fn check(cache: &mut Cache, pages: u64, dirty: &BTreeMap<u64, bool>) {
    let held = |line: u64| cache.find(line) != CacheLookup::Nothing;
    let resident = (0..pages).filter(|page| held(page * LINES)).count();
    assert_eq!(resident, cache.used);
    for frame in 0..cache.frames.len() as u32 {
        let Frame { dirty, page, cleaning, .. } = cache.frames[frame as usize];
        let bits: u32 = cache.dirty.of(frame).iter().map(|word| word.count_ones()).sum();
        assert_eq!(bits, dirty);
        assert!(!cleaning || dirty > 0);
        let spot = |within| FrameLine { frame, generation: 0, within };
        assert!((0..LINES).all(|within| !cache.dirty.get(spot(within)) || cache.present.get(spot(within))));
        let mine = cache.frames.iter().filter(|other| other.page == page).count();
        assert!(page == NO_PAGE || mine == 1);
    }
    assert!(dirty.iter().all(|(&line, &dirty)| !dirty || matches!(cache.find(line), CacheLookup::Line(_))));
}

proptest! {
    #[test]
    fn a_line_that_was_written_is_there_until_it_is_written_back(
        frames in 1_u64..6,
        early in any::<bool>(),
        steps in prop::collection::vec((0_u8..4, 0_u64..10, 0_u64..3), 1..400),
    ) {
        let mut cache = cache(frames, early);
        // Written lines, each with true until its write-back begins.
        let (mut dirty, mut leaving) = (BTreeMap::new(), Vec::new());
        for (step, page, within) in steps {
            let line = page * LINES + within;
            match step {
                0 => { bring(&mut cache, line); }
                1 => if let CacheLookup::Line(spot) | CacheLookup::Room(spot, _) = cache.find(line) {
                    prop_assert_eq!(cache.overwrite(spot), dirty.insert(line, true) != Some(true));
                },
                2 => if let Some(spot) = cache.next_back(within == 0) {
                    prop_assert_eq!(dirty.insert(cache.line_at(spot), false), Some(true));
                    leaving.push((spot, cache.line_at(spot)));
                },
                _ => if !leaving.is_empty() {
                    let (spot, line) = leaving.swap_remove(page as usize % leaving.len());
                    prop_assert_eq!(cache.line_at(spot), line, "its page stays until then");
                    cache.written_back(spot);
                },
            }
            check(&mut cache, 10, &dirty);
            let unwritten = dirty.values().filter(|&&dirty| dirty).count() + leaving.len();
            prop_assert_eq!(cache.unwritten(), unwritten as u64);
        }
    }
}
