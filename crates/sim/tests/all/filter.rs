//! Tests the cache filter against plain reference caches.

use hostnet_config::Code;
use hostnet_model::params::Replacement;
use hostnet_sim::filter::{CacheFilter, LevelCounts, LevelParams};
use hostnet_traffic::{Access, Request};
use proptest::prelude::*;

fn level(sets: u64, ways: u32) -> LevelParams {
    LevelParams { bytes: sets * u64::from(ways) * 64, ways, replacement: Replacement::Lru }
}

fn access(address: u64, size: u32, store: bool) -> Access {
    Access { address, thread: 0, size, instructions_before: 0, store }
}

fn filtered(levels: &[LevelParams], accesses: &[Access]) -> (Vec<LevelCounts>, Vec<(u64, bool)>) {
    let mut filter = CacheFilter::new(levels);
    let mut out = Vec::new();
    accesses.iter().for_each(|access| filter.access(access, |Request { line, write, .. }| out.push((line, write))));
    (filter.counts(), out)
}

/// Number of sets, ways, and the lines of each set with their dirty bits.
type PlainLevel = (u64, usize, Vec<Vec<(u64, bool)>>);

/// Reference caches. The lines of a set are ordered from the least to the most recently used.
struct Plain {
    levels: Vec<PlainLevel>,
    out: Vec<(u64, bool)>,
}

impl Plain {
    fn new(levels: &[LevelParams]) -> Self {
        let one = |level: &LevelParams| (level.sets(), level.ways as usize, vec![Vec::new(); level.sets() as usize]);
        Self { levels: levels.iter().map(one).collect(), out: Vec::new() }
    }

    /// Returns the number of levels that missed.
    fn line(&mut self, number: usize, line: u64, store: bool) -> usize {
        let Some((sets, ways, lines)) = self.levels.get_mut(number) else {
            self.out.push((line, false));
            return 0;
        };
        let (set, ways) = (&mut lines[(line % *sets) as usize], *ways);
        if let Some(at) = set.iter().position(|held| held.0 == line) {
            let held = set.remove(at);
            set.push((line, held.1 || store));
            return 0;
        }
        let missed = self.line(number + 1, line, false);
        let (sets, _, lines) = &mut self.levels[number];
        let set = &mut lines[(line % *sets) as usize];
        let left = (set.len() == ways).then(|| set.remove(0));
        set.push((line, store));
        if let Some((left, true)) = left {
            self.write_back(number + 1, left);
        }
        missed + 1
    }

    fn write_back(&mut self, from: usize, line: u64) {
        for (sets, _, lines) in &mut self.levels[from..] {
            if let Some(held) = lines[(line % *sets) as usize].iter_mut().find(|held| held.0 == line) {
                held.1 = true;
                return;
            }
        }
        self.out.push((line, true));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_filter_does_what_plain_caches_do(
        shapes in prop::collection::vec((1u64..13, 1u32..5), 1..4),
        draws in prop::collection::vec((0u64..6000, 1u32..200, any::<bool>()), 1..400),
    ) {
        let levels: Vec<_> = shapes.iter().map(|(sets, ways)| level(*sets, *ways)).collect();
        let accesses: Vec<_> = draws.iter().map(|(at, size, store)| access(*at, *size, *store)).collect();
        let (counts, out) = filtered(&levels, &accesses);
        let mut plain = Plain::new(&levels);
        let mut misses = vec![0; levels.len()];
        for one in &accesses {
            let (first, last) = one.lines();
            let depth = (first..=last).map(|line| plain.line(0, line, one.store)).max().unwrap();
            misses[..depth].iter_mut().for_each(|count| *count += 1);
        }
        prop_assert_eq!(&out, &plain.out);
        let mut reached = accesses.len() as u64;
        for (level, missed) in counts.iter().zip(misses) {
            prop_assert_eq!((level.loads + level.stores, level.load_misses + level.store_misses), (reached, missed));
            reached = missed;
        }
        let last = counts.last().unwrap();
        prop_assert_eq!(out.iter().filter(|(_, write)| !write).count() as u64, last.fills);
        prop_assert!(out.iter().filter(|(_, write)| *write).count() as u64 >= last.write_backs);
    }
}

#[test]
fn an_access_across_lines_is_one() {
    let (counts, out) = filtered(&[level(4, 1)], &[access(60, 8, false), access(0, 8, false), access(60, 8, true)]);
    let expected = LevelCounts { loads: 2, stores: 1, load_misses: 1, store_misses: 0, fills: 2, write_backs: 0 };
    assert_eq!((counts[0], out), (expected, vec![(0, false), (1, false)]));
}

#[test]
fn a_cycle_one_line_too_long_always_misses_and_writes_back() {
    let accesses: Vec<_> = (0..90).map(|turn| access(turn % 9 * 64, 8, true)).collect();
    let (counts, out) = filtered(&[level(1, 8)], &accesses);
    assert_eq!((counts[0].store_misses, counts[0].write_backs, out.len()), (90, 82, 172));
    let (counts, _) = filtered(&[level(1, 9)], &accesses);
    assert_eq!((counts[0].store_misses, counts[0].write_backs), (9, 0));
}

#[test]
fn levels_that_cannot_be_are_refused_with_the_nearest_that_can() {
    let check = |bytes, ways| LevelParams { bytes, ways, replacement: Replacement::Lru }.check();
    assert_eq!(check(32 << 10, 8), Ok(()));
    assert_eq!(check(99 << 18, 11), Ok(()));
    let refused = |bytes, ways, code: Code, part: &str| {
        let fault = check(bytes, ways).expect_err("refused");
        assert!(fault.code == code && fault.message.contains(part), "{}: {fault}", fault.code);
    };
    refused(24 << 20, 11, Code::NotAMultiple, "25165888 bytes");
    refused(0, 8, Code::NotAMultiple, "512 bytes");
    refused(64, 0, Code::OutOfRange, "0 ways");
    assert_eq!(check(32 * 64, 32), Ok(()));
    assert!(check(33 * 64, 33).is_err());
    assert_eq!(check(1 << 36, 16), Ok(()));
    assert!(check((1 << 36) + 1024, 16).is_err());
}
