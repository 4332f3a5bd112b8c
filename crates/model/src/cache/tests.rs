//! Tests of invariants of the caches, under random geometries and random use, with and without delays between
//! components.

use super::*;
use crate::params::{CleanVictims, DdioParams, L2Params, LlcParams, PrefetchParams, Replacement};
use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest, Just, Strategy};
use proptest::test_runner::{TestCaseError, TestCaseResult};
use std::collections::BTreeSet;

pub(super) const CLASSES: usize = 3;
pub(super) const CORES: u32 = 3;
const LINES: u64 = 96;

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Use { core: u32, line: u64, store: bool },
    Prefetch { core: u32, line: u64 },
    IoWrite { line: u64, class: u8 },
    IoInvalidate { line: u64 },
    IoRead { line: u64, class: u8 },
    Deliver { index: usize },
}

/// Message in flight between a core and the LLC. The class of a core is its number.
#[derive(Clone, Copy, Debug)]
enum InFlight {
    Data { core: u32, line: u64, dirty: bool, from_memory: bool, prefetched: bool },
    Victim { core: u32, victim: Victim },
}

/// Caches, messages in flight, and the lines whose dirty data memory must still receive.
struct World {
    caches: Caches,
    in_flight: Vec<InFlight>,
    unwritten: BTreeSet<u64>,
    at_once: bool,
}

impl World {
    fn step(&mut self, step: Step) -> TestCaseResult {
        match step {
            Step::Use { core, line, store } => {
                if store {
                    self.unwritten.insert(line);
                }
                if self.caches.access(core, line, core as u8, store) == L2Access::Miss {
                    self.read(core, line, store, false)?;
                }
            }
            Step::Prefetch { core, line } => {
                if !self.caches.holds(core, line) {
                    self.read(core, line, false, true)?;
                }
            }
            Step::IoWrite { line, class } => {
                let (had, updates) = (self.way(line), self.caches.counts.class(class).ddio_updates);
                let IoWrite { evicted, hit } = self.caches.io_write(line, class);
                self.leaves(evicted)?;
                self.unwritten.insert(line);
                prop_assert!(hit || had.is_none());
                prop_assert_eq!(self.caches.counts.class(class).ddio_updates - updates, u64::from(had.is_some()));
                self.came(line, had, self.caches.params.ddio.ways)?;
                prop_assert!((0..CORES).all(|core| !self.caches.holds(core, line)));
            }
            Step::IoInvalidate { line } => {
                self.caches.io_invalidate(line);
                self.unwritten.remove(&line);
                prop_assert!(self.way(line).is_none() && (0..CORES).all(|core| !self.caches.holds(core, line)));
            }
            Step::IoRead { line, class } => {
                let had = self.way(line).is_some() || (0..CORES).any(|core| self.caches.holds(core, line));
                prop_assert_eq!(self.caches.io_read(line, class), had);
            }
            Step::Deliver { index } if !self.in_flight.is_empty() => self.deliver(index % self.in_flight.len())?,
            Step::Deliver { .. } => {}
        }
        while self.at_once && !self.in_flight.is_empty() {
            self.deliver(0)?;
        }
        Ok(())
    }

    fn read(&mut self, core: u32, line: u64, store: bool, prefetched: bool) -> TestCaseResult {
        let LlcRead { hit, evicted } = self.caches.read(core, line, core as u8);
        self.leaves(evicted)?;
        let dirty = store || hit == Some(true);
        self.in_flight.push(InFlight::Data { core, line, dirty, from_memory: hit.is_none(), prefetched });
        Ok(())
    }

    fn deliver(&mut self, index: usize) -> TestCaseResult {
        match self.in_flight.remove(index) {
            InFlight::Data { core, line, dirty, from_memory, prefetched } => {
                if from_memory {
                    let had = self.way(line);
                    let evicted = self.caches.fetched(line, core as u8);
                    self.leaves(evicted)?;
                    self.came(line, had, self.caches.masks[core as usize])?;
                }
                let victim = self.caches.fill(core, line, core as u8, dirty, prefetched);
                let passed = victim.is_some_and(|victim| victim.line == line);
                prop_assert!(!self.at_once || (self.caches.holds(core, line) && !passed));
                self.in_flight.extend(victim.map(|victim| InFlight::Victim { core, victim }));
            }
            InFlight::Victim { core, victim } => {
                let had = self.way(victim.line);
                let evicted = self.caches.put(core, victim);
                self.leaves(evicted)?;
                self.came(victim.line, had, self.caches.masks[usize::from(victim.class)])?;
            }
        }
        Ok(())
    }

    fn leaves(&mut self, evicted: Option<EvictedLine>) -> TestCaseResult {
        if let Some(EvictedLine { line, .. }) = evicted {
            prop_assert!(self.unwritten.remove(&line) || !self.at_once, "line {line} was not dirty");
        }
        Ok(())
    }

    fn way(&self, line: u64) -> Option<usize> {
        let slice = &self.caches.slices.llc[self.caches.slice(line)];
        slice.iter().find(|held| held.0 == line).map(|held| held.1)
    }

    /// Checks that a line stays in its LLC way, and that a new line enters a way of its mask.
    fn came(&self, line: u64, had: Option<usize>, mask: u32) -> TestCaseResult {
        match (had, self.way(line)) {
            (None, Some(way)) => prop_assert!(mask >> way & 1 == 1, "line {line} in way {way} of mask {mask:#x}"),
            (had, has) => prop_assert!(had.is_none() || had == has),
        }
        Ok(())
    }

    fn check(&self) -> TestCaseResult {
        let shared: Vec<_> = self.caches.slices.llc.iter().flat_map(TagArray::iter).collect();
        let private: Vec<_> = (0..CORES)
            .flat_map(|core| self.caches.l2.of(core).iter().map(move |(line, _, held)| (core, line, held)))
            .collect();
        self.check_counts(&shared)?;
        self.check_places(&shared, &private)?;
        for &(core, line, held) in &private {
            let holder = if self.caches.inclusive {
                shared.iter().find(|other| other.0 == line).map(|other| other.2.holder)
            } else {
                self.caches.slices.filter[self.caches.slice(line)].peek(line)
            };
            prop_assert!(holder.is_some_and(|holder| holder.includes(core)), "line {line} of core {core}: {holder:?}");
            let others = private.iter().filter(|other| other.1 == line && other.0 != core);
            prop_assert!(held.shared || others.count() == 0, "line {line} of core {core} is shared");
        }
        self.check_dirty(&shared, &private)
    }

    fn check_counts(&self, shared: &[(u64, usize, LlcLine)]) -> TestCaseResult {
        for (class, counts) in self.caches.counts().classes().iter().enumerate() {
            let lines = |io| shared.iter().filter(|held| usize::from(held.2.class) == class && held.2.io == io).count();
            prop_assert_eq!((counts.core_lines, counts.io_lines), (lines(false) as u64, lines(true) as u64));
            let dirty = shared.iter().filter(|held| usize::from(held.2.class) == class && held.2.dirty);
            prop_assert_eq!(counts.dirty_lines, dirty.count() as u64);
            prop_assert!(counts.ddio_leaks <= counts.ddio_evictions && counts.l2_misses <= counts.l2_lookups);
            prop_assert!(counts.prefetch_used <= counts.prefetch_filled && counts.llc_misses <= counts.llc_lookups);
        }
        prop_assert!(shared.iter().all(|held| held.2.dirty || !held.2.io));
        Ok(())
    }

    fn check_places(&self, shared: &[(u64, usize, LlcLine)], private: &[(u32, u64, L2Line)]) -> TestCaseResult {
        let lines: BTreeSet<u64> = shared.iter().map(|held| held.0).collect();
        prop_assert_eq!(lines.len(), shared.len(), "no line is in the LLC twice");
        let copies: BTreeSet<_> = private.iter().map(|&(core, line, _)| (core, line)).collect();
        prop_assert_eq!(copies.len(), private.len(), "no line is in an L2 twice");
        for &(_, line, _) in private {
            prop_assert_eq!(lines.contains(&line), self.caches.inclusive, "line {} is in an L2", line);
        }
        for (slice, array) in self.caches.slices.llc.iter().enumerate() {
            prop_assert!(array.iter().all(|held| self.caches.slice(held.0) == slice));
        }
        let tracked_holder = self
            .caches
            .slices
            .filter
            .iter()
            .flat_map(TagArray::iter)
            .filter(|tracked_holder| lines.contains(&tracked_holder.0));
        prop_assert_eq!(tracked_holder.count(), 0, "the filter notes no line of the LLC");
        Ok(())
    }

    fn check_dirty(&self, shared: &[(u64, usize, LlcLine)], private: &[(u32, u64, L2Line)]) -> TestCaseResult {
        let in_llc = shared.iter().filter(|held| held.2.dirty).map(|held| held.0);
        let in_l2 = private.iter().filter(|held| held.2.dirty).map(|held| held.1);
        let in_flight = self.in_flight.iter().filter_map(|&moving| match moving {
            InFlight::Data { line, dirty, .. } => dirty.then_some(line),
            InFlight::Victim { victim, .. } => victim.dirty.then_some(victim.line),
        });
        let places: Vec<u64> = in_llc.chain(in_l2).chain(in_flight).collect();
        let dirty: BTreeSet<u64> = places.iter().copied().collect();
        prop_assert!(self.unwritten.is_subset(&dirty), "lost: {:?}", self.unwritten.difference(&dirty));
        if self.at_once {
            prop_assert_eq!(&self.unwritten, &dirty);
            // An inclusive LLC may have older data of a line that is dirty in an L2.
            prop_assert!(self.caches.inclusive || places.len() == dirty.len(), "dirty twice: {places:?}");
        }
        Ok(())
    }
}

fn mask(ways: u32) -> impl Strategy<Value = u32> {
    (0..ways).prop_flat_map(move |low| (low + 1..=ways).prop_map(move |end| (low..end).map(|way| 1 << way).sum()))
}

pub(super) fn geometry(replacement: impl Strategy<Value = Replacement>) -> impl Strategy<Value = CacheParams> {
    let sizes = (0_u32..3, 1_u32..=6, 0_u32..3, 1_u32..=12, 0_u32..3, 1_u32..=12);
    let inclusion = prop_oneof![
        Just((Inclusion::Victim, CleanVictims::All)),
        Just((Inclusion::Victim, CleanVictims::Foreseen)),
        Just((Inclusion::Victim, CleanVictims::None)),
        Just((Inclusion::Inclusive, CleanVictims::Foreseen)),
    ];
    let masks = |ways| (prop::collection::vec(mask(ways), CLASSES), mask(ways));
    let all = (sizes, inclusion, replacement)
        .prop_flat_map(move |(sizes, inclusion, replacement)| (Just((sizes, inclusion, replacement)), masks(sizes.3)));
    all.prop_map(|((sizes, (inclusion, clean_victims), replacement), (masks, ddio))| {
        let (l2_bits, l2_ways, bits, ways, filter_bits, filter_ways) = sizes;
        CacheParams {
            l2: L2Params { sets: 1 << l2_bits, ways: l2_ways, replacement, hit_ps: 0 },
            llc: LlcParams {
                sets: 1 << bits,
                ways,
                replacement,
                inclusion,
                clean_victims,
                hit_ps: 0,
                filter_sets: 1 << filter_bits,
                filter_ways,
            },
            prefetch: PrefetchParams { stream: false, adjacent: false, credits: 0, pages: 0, distance_lines: 0 },
            masks,
            ddio: DdioParams { drives: Vec::new(), ways: ddio, write_ps: 0 },
        }
    })
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (core, line, class) = (0..CORES, 0..LINES, 0..CLASSES as u8);
    let step = prop_oneof![
        6 => (core.clone(), line.clone(), any::<bool>())
            .prop_map(|(core, line, store)| Step::Use { core, line, store }),
        1 => (core, line.clone()).prop_map(|(core, line)| Step::Prefetch { core, line }),
        4 => (line.clone(), class.clone()).prop_map(|(line, class)| Step::IoWrite { line, class }),
        1 => line.clone().prop_map(|line| Step::IoInvalidate { line }),
        1 => (line, class).prop_map(|(line, class)| Step::IoRead { line, class }),
        6 => any::<usize>().prop_map(|index| Step::Deliver { index }),
    ];
    prop::collection::vec(step, 1..400)
}

fn policies() -> impl Strategy<Value = Replacement> {
    prop_oneof![Just(Replacement::Lru), Just(Replacement::Random), Just(Replacement::Qlru)]
}

proptest! {
    #[test]
    fn nothing_is_lost_or_held_twice_and_everybody_keeps_track(
        params in geometry(policies()),
        slices in 1_u32..4,
        at_once in any::<bool>(),
        steps in steps(),
    ) {
        let caches = Caches::new(&params, CORES, slices, CLASSES, 1);
        let mut world = World { caches, in_flight: Vec::new(), unwritten: BTreeSet::new(), at_once };
        for step in steps {
            world.step(step)?;
            world.check().map_err(|error| TestCaseError::fail(format!("after {step:?}: {error}")))?;
        }
    }

    #[test]
    fn caches_read_back_go_on_as_the_ones_written(params in geometry(policies()), steps in steps()) {
        let world = |caches| World { caches, in_flight: Vec::new(), unwritten: BTreeSet::new(), at_once: true };
        let mut first = world(Caches::new(&params, CORES, 2, CLASSES, 7));
        for &step in &steps[..steps.len() / 2] {
            first.step(step)?;
        }
        let text = serde_json::to_string(&first.caches).expect("caches can be written");
        let mut second = world(serde_json::from_str(&text).expect("what was written can be read"));
        second.unwritten.clone_from(&first.unwritten);
        for &step in &steps[steps.len() / 2..] {
            first.step(step)?;
            second.step(step)?;
        }
        let text = |world: &World| serde_json::to_string(&world.caches).expect("caches can be written");
        prop_assert_eq!(text(&first), text(&second));
    }
}
