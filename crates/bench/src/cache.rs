//! Benchmarks of caches without timing: accesses per second of processor time.
//!
//! An event is an access of a core or a device; the pending count is the number of lines in the caches at the end.

use crate::sample::{interleaved, Sample};
use crate::server::{row, Clock};
use crate::{Row, Size};
use hostnet_kernel::Rng;
use hostnet_model::cache::{Caches, ClassCounts, EvictedLine, L2Access, LlcRead, TagArray};
use hostnet_model::params::{
    CacheParams, CleanVictims, DdioParams, Inclusion, L2Params, LlcParams, PrefetchParams, Replacement,
};

/// Number of cores of the socket. Each core has its own class, and the devices have the class after the last core.
const CORES: u32 = 6;
const SLICES: u32 = 18;
/// Lines of the buffer of each core: eight times its share of the LLC.
const BUFFER_LINES: u64 = 1 << 18;

/// Benchmarks bare tag arrays, and the cache hierarchy of one socket under load from cores and DDIO.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let (repetitions, accesses) = if size == Size::Quick { (1, 20_000) } else { (3, 2_000_000) };
    let typical = |name: &str, lines: u64, run: &dyn Fn() -> Sample| {
        row(name, &(interleaved(repetitions, &[run]).typical(0), lines), None)
    };
    let array = |replacement, lines| move || array(replacement, lines, accesses);
    vec![
        typical("tag array, LRU, 1 of 2 misses", 0, &array(Replacement::Lru, 1 << 16)),
        typical("tag array, quad-age LRU, 1 of 2 misses", 0, &array(Replacement::Qlru, 1 << 16)),
        typical("tag array, LRU, all hit", 0, &array(Replacement::Lru, 1 << 14)),
        typical("caches, 6 cores beside DDIO", accesses, &|| socket(Inclusion::Victim, accesses)),
        typical("inclusive caches, 6 cores beside DDIO", accesses, &|| socket(Inclusion::Inclusive, accesses)),
    ]
}

/// Looks random lines up among the first `lines`, and inserts those that miss.
fn array(replacement: Replacement, lines: u64, accesses: u64) -> Sample {
    let mut array = TagArray::<u32>::new(2048, 16, replacement, Rng::new(1, 1));
    let (mut rng, all) = (Rng::new(1, 2), array.all_ways());
    // The array has 2^15 places, so it is full when the clock starts.
    for line in 0..lines.min(1 << 15) {
        array.insert(line, 0, all);
    }
    let mut hash = Hash::default();
    let clock = Clock::start();
    for _ in 0..accesses {
        let line = rng.next_u64() & (lines - 1);
        if let Some(slot) = array.lookup(line) {
            array.set_data(slot, array.data(slot) + 1);
        } else if let Some((left, uses)) = array.insert(line, 0, all) {
            hash.add(left ^ u64::from(uses));
        }
    }
    let seconds = clock.seconds();
    array.iter().for_each(|(line, way, uses)| hash.add(line ^ (way as u64) << 32 ^ u64::from(uses) << 40));
    Sample { seconds, events: accesses, pending_max: array.len() as u64, hash: hash.0 }
}

/// Runs cores that load and store, half of them at random and half sequentially, beside a device that writes its
/// buffer.
fn socket(inclusion: Inclusion, accesses: u64) -> Sample {
    let mut caches = Caches::new(&params(inclusion), CORES, SLICES, CORES as usize + 1, 1);
    let mut rng = Rng::new(1, 2);
    let mut hash = Hash::default();
    let clock = Clock::start();
    for turn in 0..accesses {
        let drawn = rng.next_u64();
        // Two numbers beyond the cores are writes by DDIO: a quarter of all accesses.
        let core = (drawn >> 32) as u32 % (CORES + 2);
        if core >= CORES {
            let line = u64::from(CORES) * BUFFER_LINES + turn % BUFFER_LINES;
            hash.leaves(caches.io_write(line, CORES as u8).evicted);
            continue;
        }
        let place = if core % 2 == 0 { drawn } else { turn };
        let line = u64::from(core) * BUFFER_LINES + place % BUFFER_LINES;
        use_line(&mut caches, core, line, drawn >> 63 == 1, &mut hash);
    }
    let seconds = clock.seconds();
    let counts = caches.counts().classes();
    counts.iter().for_each(|class| hash.add(class.l2_misses ^ class.llc_misses << 24 ^ class.ddio_leaks << 40));
    let held = |class: &ClassCounts| class.core_lines + class.io_lines;
    Sample { seconds, events: accesses, pending_max: counts.iter().map(held).sum(), hash: hash.0 }
}

fn use_line(caches: &mut Caches, core: u32, line: u64, store: bool, hash: &mut Hash) {
    let class = core as u8;
    if caches.access(core, line, class, store) != L2Access::Miss {
        return;
    }
    let LlcRead { hit, evicted } = caches.read(core, line, class);
    hash.leaves(evicted);
    if hit.is_none() {
        hash.leaves(caches.fetched(line, class));
    }
    if let Some(victim) = caches.fill(core, line, class, store || hit == Some(true), false) {
        hash.leaves(caches.put(core, victim));
    }
}

fn params(inclusion: Inclusion) -> CacheParams {
    let replacement = Replacement::Qlru;
    CacheParams {
        l2: L2Params { sets: 1024, ways: 16, replacement: Replacement::Lru, hit_ps: 0 },
        llc: LlcParams {
            sets: 2048,
            ways: 11,
            replacement,
            inclusion,
            clean_victims: CleanVictims::All,
            hit_ps: 0,
            filter_sets: 2048,
            filter_ways: 12,
        },
        prefetch: PrefetchParams { stream: false, adjacent: false, credits: 0, pages: 0, distance_lines: 0 },
        ddio: DdioParams { drives: vec![true], ways: 0x600, write_ps: 0 },
        masks: vec![0x7ff; CORES as usize + 1],
    }
}

#[derive(Default)]
pub(crate) struct Hash(pub(crate) u64);

impl Hash {
    pub(crate) fn add(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    fn leaves(&mut self, evicted: Option<EvictedLine>) {
        evicted.into_iter().for_each(|EvictedLine { line, class, io }| {
            self.add(line << 9 | u64::from(class) << 1 | u64::from(io));
        });
    }
}
