//! The table `caches`: accesses and lines of every workload in the caches.

use super::ratio;
use crate::read::sample::Sample;
use crate::report::table::{Column, Table, TableRows};
use crate::report::view::ServerView;
use hostnet_model::cache::{Caches, ClassCounts};
use hostnet_model::params::{LlcParams, SocketParams};
use serde_json::{json, Value};

const LINES_PER_MIB: f64 = 16_384.0;

/// Returns the size of `lines` lines of 64 B, in MiB.
pub(super) fn mib(lines: f64) -> f64 {
    lines / LINES_PER_MIB
}

/// Returns the LLC lines of cores and of devices, averaged over `moments`.
fn held(moments: &[ClassCounts]) -> [f64; 2] {
    let mean = |pick: fn(&ClassCounts) -> u64| moments.iter().map(pick).sum::<u64>() as f64 / moments.len() as f64;
    [mean(|counts| counts.core_lines), mean(|counts| counts.io_lines)]
}

/// Cache counters of one workload, or of all.
pub(crate) struct CacheRow<'a> {
    name: &'a str,
    counts: &'a ClassCounts,
    /// LLC lines of cores and of devices, averaged over the batches.
    held: [f64; 2],
}

/// Rows of the table: [`CacheRow`].
pub(crate) struct CacheRows;

impl TableRows for CacheRows {
    type Row<'a> = CacheRow<'a>;
}

pub(crate) const CACHES: &[Column<CacheRows>] = &[
    Column::key(Column::text("workload", |row| row.name.into())),
    Column::integer("l2_lookups", |row| row.counts.l2_lookups.into()),
    Column::integer("l2_misses", |row| row.counts.l2_misses.into()),
    Column::number("l2_miss_ratio", |row| ratio(row.counts.l2_misses, row.counts.l2_lookups)),
    Column::integer("prefetch_filled", |row| row.counts.prefetch_filled.into()),
    Column::integer("prefetch_used", |row| row.counts.prefetch_used.into()),
    Column::integer("llc_lookups", |row| row.counts.llc_lookups.into()),
    Column::integer("llc_misses", |row| row.counts.llc_misses.into()),
    Column::number("llc_miss_ratio", |row| ratio(row.counts.llc_misses, row.counts.llc_lookups)),
    Column::number("llc_mib_core", |row| mib(row.held[0]).into()),
    Column::number("llc_mib_io", |row| mib(row.held[1]).into()),
    Column::integer("core_evictions", |row| row.counts.core_evictions.into()),
    Column::integer("back_invalidations", |row| row.counts.back_invalidations.into()),
    Column::integer("ddio_updates", |row| row.counts.ddio_updates.into()),
    Column::integer("ddio_allocations", |row| row.counts.ddio_allocations.into()),
    Column::number("ddio_hit_ratio", |row| ratio(row.counts.ddio_updates, row.written())),
    Column::integer("ddio_leaks", |row| row.counts.ddio_leaks.into()),
    Column::number("ddio_leak_ratio", |row| ratio(row.counts.ddio_leaks, row.written())),
    Column::integer("ddio_evictions", |row| row.counts.ddio_evictions.into()),
    Column::integer("io_reads", |row| row.counts.io_reads.into()),
    Column::integer("io_read_hits", |row| row.counts.io_read_hits.into()),
    Column::integer("ddio_core_hits", |row| row.counts.ddio_core_hits.into()),
];

impl CacheRow<'_> {
    /// Returns the lines that devices wrote to the LLC.
    fn written(&self) -> u64 {
        self.counts.ddio_updates + self.counts.ddio_allocations
    }
}

/// Builds the table: a row for all workloads and one for each. Counts are from `total`. The contents of the LLC are
/// averaged over the ends of the batches, or taken from `total` if there are none.
fn table<'a>(names: impl Iterator<Item = &'a str>, total: &Sample, batches: &[Sample]) -> Table {
    let mut table = Table::of("caches", CACHES);
    // Contents are levels, so they are averaged; a run without a batch has only its end.
    let moments = if batches.is_empty() { std::slice::from_ref(total) } else { batches };
    let mut add = |name: &str, pick: &dyn Fn(&Sample) -> ClassCounts| {
        let held = held(&moments.iter().map(pick).collect::<Vec<_>>());
        table.add(CACHES, &CacheRow { name, counts: &pick(total), held });
    };
    add("all", &Sample::total_cache_counts);
    for (class, name) in names.enumerate() {
        add(name, &|sample| sample.cached(class));
    }
    table
}

/// Builds the table, if the server has caches.
pub(super) fn build_caches(view: &ServerView, total: &Sample) -> Option<Table> {
    let names = view.server.workloads.iter().map(|workload| workload.name.as_str());
    view.machine.has_caches().then(|| table(names, total, view.batches))
}

/// Returns the size of the LLC and of its ways that device writes may allocate in, in MiB. With several sockets,
/// the entry `sockets` has the LLC of each.
pub(super) fn describe_llc(view: &ServerView) -> Value {
    let Some(cache) = &view.server.socket().cache else { return Value::Null };
    let slices: u32 = view.server.sockets.iter().map(|socket| socket.cha.slices).sum();
    let way = mib(f64::from(slices) * f64::from(cache.llc.sets));
    // Without DDIO no device allocates lines, whatever ways are set.
    let ddio = cache.ddio.drives.iter().any(|on| *on);
    let mut told = json!({
        "mib": way * f64::from(cache.llc.ways),
        "ddio_mib": if ddio { way * f64::from(cache.ddio.ways.count_ones()) } else { 0.0 },
    });
    if view.server.sockets.len() > 1 {
        let sockets = view.server.sockets.iter().zip(view.machine.caches());
        told["sockets"] = sockets.map(|(socket, caches)| llc_of(socket, caches)).collect();
    }
    told
}

/// Returns the size of the LLC of a socket, its contents at the end of the window, and the lookups and misses of its
/// cores.
fn llc_of(socket: &SocketParams, caches: &Caches) -> Value {
    let classes = caches.counts().classes().iter();
    let counts = classes.fold(ClassCounts::default(), |sum, counts| sum.plus(counts));
    let lines = |llc: &LlcParams| f64::from(socket.cha.slices) * f64::from(llc.sets) * f64::from(llc.ways);
    json!({
        "mib": socket.cache.as_ref().map(|cache| mib(lines(&cache.llc))),
        "core_mib": mib(counts.core_lines as f64),
        "io_mib": mib(counts.io_lines as f64),
        "lookups": counts.llc_lookups,
        "misses": counts.llc_misses,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts() -> impl Strategy<Value = ClassCounts> {
        let cores = (0_u64..1000, 0_u64..1000, 0_u64..1000, 0_u64..1000, 0_u64..1000);
        let devices = (0_u64..1000, 0_u64..1000, 0_u64..1000, 0_u64..1000, 0_u64..1000);
        (cores, devices).prop_map(
            |((l2, misses, llc, llc_misses, core_lines), (updates, allocations, leaks, more, io))| ClassCounts {
                l2_lookups: l2 + misses,
                l2_misses: misses,
                llc_lookups: llc + llc_misses,
                llc_misses,
                ddio_updates: updates,
                ddio_allocations: allocations,
                ddio_leaks: leaks.min(updates + allocations),
                ddio_evictions: leaks + more,
                core_lines,
                io_lines: io,
                ..ClassCounts::default()
            },
        )
    }

    fn sample(caches: Vec<ClassCounts>) -> Sample {
        Sample { caches, ..Sample::read_empty(2) }
    }

    proptest! {
        #[test]
        fn the_first_row_is_the_sum_of_the_others_and_ratios_are_shares(a in counts(), b in counts()) {
            let found = table(["a", "b"].into_iter(), &sample(vec![a, b]), &[]);
            let number = |row: usize, column: &str| found.number(&found.rows[row], column);
            for column in CACHES.iter().skip(1).map(|column| column.name) {
                if column.ends_with("_ratio") {
                    for row in 0..3 {
                        prop_assert!(number(row, column).is_none_or(|share| (0.0..=1.0).contains(&share)), "{column}");
                    }
                } else {
                    let [all, one, two] = [0, 1, 2].map(|row| number(row, column).unwrap());
                    prop_assert!((all - one - two).abs() < 1e-9, "{column}");
                }
            }
            let [misses, lookups] = [a.llc_misses + b.llc_misses, a.llc_lookups + b.llc_lookups];
            let ratio = (lookups > 0).then(|| misses as f64 / lookups as f64);
            prop_assert_eq!(number(0, "llc_miss_ratio"), ratio);
        }
    }

    #[test]
    fn what_the_llc_holds_is_the_mean_of_the_batches() {
        let held = |core_lines, io_lines| ClassCounts { core_lines, io_lines, ..ClassCounts::default() };
        let batches = [sample(vec![held(16_384, 0)]), sample(vec![held(49_152, 8192)])];
        let found = table(["a"].into_iter(), &sample(vec![held(1, 1)]), &batches);
        for row in &found.rows {
            assert_eq!(found.number(row, "llc_mib_core"), Some(2.0));
            assert_eq!(found.number(row, "llc_mib_io"), Some(0.25));
        }
    }

    #[test]
    fn nothing_written_has_no_leak_ratio() {
        let found = table(["a"].into_iter(), &sample(vec![ClassCounts::default()]), &[]);
        assert_eq!(found.number(&found.rows[1], "ddio_leak_ratio"), None);
        assert_eq!(found.number(&found.rows[1], "ddio_leaks"), Some(0.0));
    }
}
