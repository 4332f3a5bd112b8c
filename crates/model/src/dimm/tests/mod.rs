//! Laws of nCache, of nPrefetcher and of clones, without time.

use super::ncache::NCache;
use super::nprefetch::{NPrefetcher, PrefetchOutcome};
use super::rowclone::{CloneClass, RowClone};
use crate::line::RequestId;
use crate::memory::timing_tests::{dram, DDR4_2933};
use crate::params::{CloneParams, NCacheParams};
use hostnet_kernel::Rng;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn ncache(sets: u32, ways: u32) -> NCache {
    NCache::new(&NCacheParams { sets, ways, hit_ps: 1, prefetch: 0, header: true }, Rng::new(1, 2))
}

/// Lines of memory by version, a cache that holds some, and prefetches with the version that memory had when they
/// read.
#[derive(Default)]
struct Model {
    memory: BTreeMap<u64, u64>,
    held: BTreeMap<u64, u64>,
    coming: Vec<(RequestId, u64, u64)>,
}

proptest! {
    #[test]
    fn the_cache_has_what_memory_has_and_a_read_takes_it_out(
        (sets, ways, depth) in (0_u32..4, 1_u32..5, 0_u32..9),
        turns in prop::collection::vec((0_u32..5, 0_u64..40, any::<bool>()), 1..300),
    ) {
        let sets = if sets == 0 { 0 } else { 1 << sets };
        let (mut cache, mut prefetcher, mut model) = (ncache(sets, ways), NPrefetcher::new(depth), Model::default());
        let mut next = 0;
        for (turn, line, flag) in turns {
            let version = model.memory.get(&line).copied().unwrap_or(0);
            match turn {
                // The line is written; the first line of a packet is inserted.
                0 => {
                    model.memory.insert(line, version + 1);
                    cache.invalidate(line);
                    prefetcher.write(line);
                    model.held.remove(&line);
                    if flag {
                        cache.insert(line, true);
                        model.held.insert(line, version + 1);
                    }
                }
                // The host reads the line; the following lines are prefetched unless it was the first of a packet.
                1 | 2 => {
                    let found = cache.consume(line);
                    let same = model.held.get(&line) == Some(&version);
                    prop_assert!(found.is_none() || same, "a hit is what memory has");
                    prop_assert!(!cache.has(line), "a read takes the line out");
                    if found != Some(true) {
                        for line in prefetcher.after(line, |line| !cache.has(line)) {
                            prefetcher.begin(line, RequestId(next));
                            let version = model.memory.get(&line).copied().unwrap_or(0);
                            model.coming.push((RequestId(next), line, version));
                            next += 1;
                        }
                    }
                }
                // A prefetched line arrives.
                _ => {
                    if model.coming.is_empty() {
                        continue;
                    }
                    let (id, line, version) = model.coming.swap_remove(line as usize % model.coming.len());
                    if prefetcher.end(id) == PrefetchOutcome::Keep {
                        let now = model.memory.get(&line).copied().unwrap_or(0);
                        prop_assert_eq!(now, version, "nothing stale is kept");
                        cache.insert(line, false);
                        model.held.insert(line, version);
                    }
                }
            }
            prop_assert!(cache.lines().count() <= (sets * ways) as usize);
            for line in cache.lines() {
                prop_assert_eq!(model.held.get(&line), Some(&model.memory.get(&line).copied().unwrap_or(0)));
            }
        }
    }

    #[test]
    fn a_clone_is_of_the_class_that_its_rows_say((from, to) in (0_u32..1 << 20, 0_u32..1 << 20)) {
        let params = CloneParams { fpm_ps: 90, psm_ps: 540, gcm_ps: 1050, subarrays: 512 };
        let dram = dram(2, 4, 4, DDR4_2933);
        let (banks, ranks) = (dram.bank_groups * dram.banks_per_group, dram.ranks);
        let rows = RowClone::new(&params, &dram);
        let place = |row: u32| (row % banks, row / banks % ranks, row / banks / ranks % 512);
        let ((bank, rank, array), (other_bank, other_rank, other_array)) = (place(from), place(to));
        let law = if rank != other_rank {
            CloneClass::Device
        } else if bank != other_bank {
            CloneClass::Bank
        } else if array == other_array {
            CloneClass::SubArray
        } else {
            CloneClass::Device
        };
        prop_assert_eq!(rows.class(from, to), law);
        prop_assert_eq!(rows.class(from, from + banks * ranks * 512), CloneClass::SubArray);
        let bit = |bank: u32, rank: u32| 1_u64 << (rank * banks + bank);
        prop_assert_eq!(rows.banks(from, to), bit(bank, rank) | bit(other_bank, other_rank));
    }
}

#[test]
fn clones_within_a_sub_array_take_as_long_whatever_they_copy() {
    let params = CloneParams { fpm_ps: 90_000, psm_ps: 540_000, gcm_ps: 1_050_000, subarrays: 512 };
    let rows = RowClone::new(&params, &dram(2, 4, 4, DDR4_2933));
    let of = |class, lines| rows.ps(class, lines);
    assert_eq!([of(CloneClass::SubArray, 1), of(CloneClass::SubArray, 128)], [90_000; 2]);
    assert_eq!([of(CloneClass::Bank, 64), of(CloneClass::Bank, 16)], [540_000, 135_000]);
    assert_eq!([of(CloneClass::Device, 64), of(CloneClass::Device, 128)], [1_050_000, 2_100_000]);
}

#[test]
fn whoever_waits_for_a_prefetch_gets_it_once() {
    let mut prefetcher = NPrefetcher::new(2);
    assert_eq!(prefetcher.after(10, |_| true), [11, 12]);
    assert_eq!(prefetcher.after(62, |_| true), [63], "it stops at the end of a page");
    prefetcher.begin(11, RequestId(1));
    assert_eq!(prefetcher.after(10, |_| true), [12], "what is coming is not asked for again");
    assert!(prefetcher.join(11, RequestId(7)) && !prefetcher.join(11, RequestId(8)));
    assert_eq!(prefetcher.end(RequestId(1)), PrefetchOutcome::Hand(RequestId(7)));
}
