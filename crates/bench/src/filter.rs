//! Benchmarks of the cache filter: accesses per second of processor time, without reading a trace.
//!
//! The pending count is the number of lines requested from memory.

use crate::cache::Hash;
use crate::sample::{interleaved, Sample};
use crate::server::{row, Clock};
use crate::{Row, Size};
use hostnet_kernel::Rng;
use hostnet_model::params::Replacement;
use hostnet_sim::filter::{CacheFilter, LevelParams};
use hostnet_traffic::Access;

/// One of so many accesses goes to the large buffer; the others hit in the L1.
const FAR_ONE_OF: u64 = 16;
const NEAR_BYTES: u64 = 16 << 10;
const FAR_BYTES: u64 = 256 << 20;

/// Benchmarks three cache levels with accesses that mostly hit in the first.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let (repetitions, accesses) = if size == Size::Quick { (1, 20_000) } else { (3, 10_000_000) };
    let sample = interleaved(repetitions, &[&|| three_levels(accesses)]).typical(0);
    vec![row("cache filter, 3 levels, 1 of 16 far", &(sample, 0), None)]
}

fn three_levels(accesses: u64) -> Sample {
    let level = |bytes, ways, replacement| LevelParams { bytes, ways, replacement };
    let mut filter = CacheFilter::new(&[
        level(32 << 10, 8, Replacement::Lru),
        level(1 << 20, 16, Replacement::Lru),
        level(24 << 20, 12, Replacement::Qlru),
    ]);
    let drawn = drawn(accesses);
    let (mut hash, mut left_over) = (Hash::default(), 0);
    let clock = Clock::start();
    for access in &drawn {
        filter.access(access, |request| {
            hash.add(request.line << 1 | u64::from(request.write));
            left_over += 1;
        });
    }
    Sample { seconds: clock.seconds(), events: accesses, pending_max: left_over, hash: hash.0 }
}

fn drawn(accesses: u64) -> Vec<Access> {
    let mut rng = Rng::new(1, 3);
    let mut draw = || {
        let drawn = rng.next_u64();
        let address = if drawn % FAR_ONE_OF == 0 {
            NEAR_BYTES + (drawn >> 16) % FAR_BYTES
        } else {
            drawn >> 16 & (NEAR_BYTES - 8)
        };
        Access { address: address & !7, thread: 0, size: 8, instructions_before: 3, store: drawn >> 63 == 1 }
    };
    (0..accesses).map(|_| draw()).collect()
}
