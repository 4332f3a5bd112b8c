//! Tests of the caches against a reference model: a list of lines that is searched linearly, without a directory. All
//! operations complete immediately, and replacement is LRU.

use super::tests::{geometry, steps, Step, CLASSES, CORES};
use super::*;
use crate::params::{CleanVictims, Replacement};
use proptest::prelude::{prop_assert_eq, proptest, Just};

/// Array that holds a line: the L2 of a core, or the LLC or snoop filter of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArrayId {
    L2(u32),
    Llc(u8),
    Filter(u8),
}

#[derive(Clone, Copy, Debug)]
struct Row {
    place: ArrayId,
    line: u64,
    way: u32,
    used: u64,
    class: u8,
    dirty: bool,
    io: bool,
    read: bool,
    prefetched: bool,
}

struct ReferenceModel {
    params: CacheParams,
    slices: u32,
    rows: Vec<Row>,
    now: u64,
    counts: Vec<ClassCounts>,
    left: Vec<(u64, u8, bool)>,
    /// Reads of observed sets that hit, minus those that missed, by core.
    found: [i32; CORES as usize],
}

impl ReferenceModel {
    /// Returns true if the set of a line is observed. With so few sets only the first is.
    fn observed(&self, line: u64) -> bool {
        line % u64::from(self.params.llc.sets) == 0
    }

    fn llc(&self, line: u64) -> ArrayId {
        ArrayId::Llc(Slicing::even(self.slices).of(line))
    }

    fn filter(&self, line: u64) -> ArrayId {
        ArrayId::Filter(Slicing::even(self.slices).of(line))
    }

    fn victim_mode(&self) -> bool {
        self.params.llc.inclusion == Inclusion::Victim
    }

    fn find(&mut self, place: ArrayId, line: u64) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.place == place && row.line == line)
    }

    fn use_row(&mut self, place: ArrayId, line: u64) -> Option<&mut Row> {
        self.now += 1;
        let now = self.now;
        let row = self.find(place, line)?;
        row.used = now;
        Some(row)
    }

    fn remove(&mut self, place: ArrayId, line: u64) -> Option<Row> {
        let index = self.rows.iter().position(|row| row.place == place && row.line == line)?;
        Some(self.rows.remove(index))
    }

    fn insert(&mut self, place: ArrayId, line: u64, class: u8, mask: u32) -> (&mut Row, Option<Row>) {
        let (sets, ways) = match place {
            ArrayId::L2(_) => (self.params.l2.sets, self.params.l2.ways),
            ArrayId::Llc(_) => (self.params.llc.sets, self.params.llc.ways),
            ArrayId::Filter(_) => (self.params.llc.filter_sets, self.params.llc.filter_ways),
        };
        let rows = &self.rows;
        let in_way = |way| {
            let same = |row: &&Row| {
                row.place == place && row.way == way && row.line % u64::from(sets) == line % u64::from(sets)
            };
            rows.iter().find(same)
        };
        let allowed = (0..ways).filter(|way| mask >> way & 1 == 1);
        let way = allowed.min_by_key(|&way| (in_way(way).map_or(0, |row| row.used), way)).expect("a mask has ways");
        let old = in_way(way).map(|row| row.line);
        let left = old.and_then(|old| self.remove(place, old));
        self.now += 1;
        let used = self.now;
        self.rows.push(Row { place, line, way, used, class, dirty: false, io: false, read: false, prefetched: false });
        (self.rows.last_mut().expect("just pushed"), left)
    }

    /// Invalidates a line in all cores but one. Returns the copies.
    fn lose(&mut self, line: u64, spared: Option<u32>) -> Vec<Row> {
        let cores = (0..CORES).filter(|&core| Some(core) != spared);
        cores.filter_map(|core| self.remove(ArrayId::L2(core), line)).collect()
    }

    fn count(&mut self, class: u8) -> &mut ClassCounts {
        &mut self.counts[usize::from(class)]
    }

    fn goes_to_memory(&mut self, row: Row) {
        if row.io {
            self.count(row.class).ddio_evictions += 1;
            self.count(row.class).ddio_leaks += u64::from(!row.read);
        } else {
            self.count(row.class).core_evictions += 1;
        }
        self.left.push((row.line, row.class, row.io));
    }

    /// Invalidates a line in the cores because its entry is needed. A dirty copy is newer than that of the LLC.
    fn force_out(&mut self, mut row: Row) {
        for copy in self.lose(row.line, None) {
            self.count(copy.class).back_invalidations += 1;
            if copy.dirty {
                row = Row { class: copy.class, dirty: true, io: false, ..row };
            }
        }
        if row.dirty {
            self.goes_to_memory(row);
        }
    }

    fn allocate(&mut self, line: u64, class: u8, mask: u32, dirty: bool, io: bool) {
        let (row, left) = self.insert(self.llc(line), line, class, mask);
        (row.dirty, row.io) = (dirty, io);
        if let Some(left) = left {
            if self.victim_mode() {
                if left.dirty {
                    self.goes_to_memory(left);
                }
            } else {
                self.force_out(left);
            }
        }
    }

    fn track(&mut self, line: u64) {
        let (_, left) = self.insert(self.filter(line), line, 0, u32::MAX);
        if let Some(left) = left {
            self.force_out(left);
        }
    }

    fn use_line(&mut self, core: u32, line: u64, store: bool, prefetch: bool) {
        let class = core as u8;
        if prefetch && self.find(ArrayId::L2(core), line).is_some() {
            return;
        }
        if !prefetch {
            self.count(class).l2_lookups += 1;
            if let Some(row) = self.use_row(ArrayId::L2(core), line) {
                row.dirty |= store;
                let used = std::mem::take(&mut row.prefetched);
                self.count(class).prefetch_used += u64::from(used);
                if store {
                    self.lose(line, Some(core));
                }
                return;
            }
            self.count(class).l2_misses += 1;
        }
        let dirty = if self.victim_mode() { self.take(line) } else { self.copy(line, class) };
        if self.observed(line) {
            self.found[core as usize] += if dirty.is_some() { 1 } else { -1 };
        }
        self.count(class).llc_lookups += 1;
        self.count(class).llc_misses += u64::from(dirty.is_none());
        self.count(class).prefetch_filled += u64::from(prefetch);
        let dirty = store || dirty == Some(true);
        if dirty {
            self.lose(line, Some(core));
        }
        let (row, left) = self.insert(ArrayId::L2(core), line, class, u32::MAX);
        (row.dirty, row.prefetched) = (dirty, prefetch);
        if let Some(left) = left {
            self.leave_l2(left);
        }
    }

    /// Reads a line from a victim LLC or from another core.
    fn take(&mut self, line: u64) -> Option<bool> {
        if let Some(row) = self.remove(self.llc(line), line) {
            self.track(line);
            return Some(row.dirty);
        }
        if self.use_row(self.filter(line), line).is_none() {
            self.track(line);
            return None;
        }
        let dirty = (0..CORES).find(|&core| self.find(ArrayId::L2(core), line).is_some_and(|row| row.dirty));
        dirty.and_then(|core| self.remove(ArrayId::L2(core), line));
        Some(dirty.is_some())
    }

    /// Reads a line from an inclusive LLC, which fetches a line on a miss.
    fn copy(&mut self, line: u64, class: u8) -> Option<bool> {
        let dirty = (0..CORES).filter_map(|core| {
            let row = self.find(ArrayId::L2(core), line)?;
            std::mem::take(&mut row.dirty).then_some(row.class)
        });
        let dirty = dirty.last();
        let Some(row) = self.use_row(self.llc(line), line) else {
            self.allocate(line, class, self.params.masks[usize::from(class)], false, false);
            return None;
        };
        if row.io {
            (row.class, row.io) = (class, false);
        }
        if let Some(class) = dirty {
            (row.class, row.dirty) = (class, true);
        }
        Some(false)
    }

    fn leave_l2(&mut self, left: Row) {
        let Row { line, class, dirty, .. } = left;
        let mask = self.params.masks[usize::from(class)];
        if self.victim_mode() {
            if (0..CORES).any(|core| self.find(ArrayId::L2(core), line).is_some()) {
                return;
            }
            self.remove(self.filter(line), line);
            let ArrayId::L2(core) = left.place else { unreachable!("it left an L2") };
            let taken = match self.params.llc.clean_victims {
                CleanVictims::All => true,
                CleanVictims::Foreseen => self.observed(line) || self.found[core as usize] >= 0,
                CleanVictims::None => false,
            };
            if dirty || taken {
                self.allocate(line, class, mask, dirty, false);
            }
        } else if dirty {
            let row = self.find(self.llc(line), line).expect("an inclusive LLC has what an L2 has");
            (row.class, row.dirty, row.io, row.read) = (class, true, false, false);
        }
    }

    fn io_write(&mut self, line: u64, class: u8) {
        let of_core = (0..CORES).any(|core| self.find(ArrayId::L2(core), line).is_some());
        self.lose(line, None);
        self.remove(self.filter(line), line);
        if let Some(row) = self.use_row(self.llc(line), line) {
            (row.class, row.dirty, row.io, row.read) = (class, true, true, false);
            self.count(class).ddio_updates += 1;
        } else {
            self.count(class).ddio_allocations += 1;
            self.count(class).ddio_core_hits += u64::from(of_core);
            self.allocate(line, class, self.params.ddio.ways, true, true);
        }
    }

    fn io_read(&mut self, line: u64, class: u8) {
        let in_llc = self.use_row(self.llc(line), line).map(|row| row.read = true).is_some();
        let hit = in_llc || (0..CORES).any(|core| self.find(ArrayId::L2(core), line).is_some());
        self.count(class).io_reads += 1;
        self.count(class).io_read_hits += u64::from(hit);
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Use { core, line, store } => self.use_line(core, line, store, false),
            Step::Prefetch { core, line } => self.use_line(core, line, false, true),
            Step::IoWrite { line, class } => self.io_write(line, class),
            Step::IoRead { line, class } => self.io_read(line, class),
            Step::IoInvalidate { line } => self.rows.retain(|row| row.line != line),
            Step::Deliver { .. } => {}
        }
    }

    fn counts(&self) -> Vec<ClassCounts> {
        let mut counts = self.counts.clone();
        for row in self.rows.iter().filter(|row| matches!(row.place, ArrayId::Llc(_))) {
            let counts = &mut counts[usize::from(row.class)];
            *(if row.io { &mut counts.io_lines } else { &mut counts.core_lines }) += 1;
            counts.dirty_lines += u64::from(row.dirty);
        }
        counts
    }
}

/// Applies one step to the caches, completing all transfers. Appends the lines that leave for memory to `left`.
fn step(caches: &mut Caches, step: Step, left: &mut Vec<(u64, u8, bool)>) {
    let mut note = |evicted: Option<EvictedLine>| left.extend(evicted.map(|gone| (gone.line, gone.class, gone.io)));
    let (core, line, store, prefetched) = match step {
        Step::Use { core, line, store } if caches.access(core, line, core as u8, store) == L2Access::Miss => {
            (core, line, store, false)
        }
        Step::Prefetch { core, line } if !caches.holds(core, line) => (core, line, false, true),
        Step::IoWrite { line, class } => return note(caches.io_write(line, class).evicted),
        Step::IoRead { line, class } => {
            caches.io_read(line, class);
            return;
        }
        Step::IoInvalidate { line } => return caches.io_invalidate(line),
        _ => return,
    };
    let class = core as u8;
    let LlcRead { hit, evicted } = caches.read(core, line, class);
    note(evicted);
    if hit.is_none() {
        note(caches.fetched(line, class));
    }
    if let Some(victim) = caches.fill(core, line, class, store || hit == Some(true), prefetched) {
        note(caches.put(core, victim));
    }
}

proptest! {
    #[test]
    fn caches_do_what_a_list_of_lines_does(
        params in geometry(Just(Replacement::Lru)),
        slices in 1_u32..4,
        steps in steps(),
    ) {
        let mut caches = Caches::new(&params, CORES, slices, CLASSES, 1);
        let counts = vec![ClassCounts::default(); CLASSES];
        let (rows, left) = (Vec::new(), Vec::new());
        let mut plain = ReferenceModel { params, slices, rows, now: 0, counts, left, found: [0; 3] };
        let mut left = Vec::new();
        for next in steps {
            step(&mut caches, next, &mut left);
            plain.step(next);
            prop_assert_eq!(&left, &plain.left, "after {:?}", next);
            prop_assert_eq!(caches.counts().classes(), plain.counts(), "after {:?}", next);
        }
    }
}
