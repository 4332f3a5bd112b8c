//! The table `dimms`, of NICs in DIMMs, and their limits.

use super::class::machine_of;
use super::limit::TrafficLimit;
use crate::report::table::{Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_model::dimm::Dimm;
use hostnet_model::memory::Channel;

/// Share of a pool in use at or above which a DIMM may be the limit.
const HELD: f64 = 0.5;
/// Line size, in bytes.
const LINE_BYTES: u64 = 64;

/// One DIMM with a NIC, and the channel slots that it used.
struct DimmRow<'a> {
    host: &'a str,
    dimm: &'a Dimm,
    slots: [u64; 3],
}

/// Rows of the table: [`DimmRow`].
struct DimmRows;

impl TableRows for DimmRows {
    type Row<'a> = DimmRow<'a>;
}

const DIMMS: &[Column<DimmRows>] = &[
    Column::key(Column::text("host", |row| row.host.into())),
    Column::integer("reads", |row| row.dimm.counters().reads.into()),
    Column::integer("hits", |row| row.dimm.counters().hits.into()),
    Column::integer("late", |row| row.dimm.counters().late.into()),
    Column::integer("first", |row| row.dimm.counters().first.into()),
    Column::integer("packet_reads", |row| row.dimm.counters().packet_reads.into()),
    Column::integer("packet_misses", |row| row.dimm.counters().packet_misses.into()),
    Column::integer("packets", |row| row.dimm.counters().bursts.into()),
    Column::integer("prefetches", |row| row.dimm.counters().prefetches.into()),
    Column::integer("writes", |row| row.dimm.counters().writes.into()),
    Column::integer("dma_written", |row| row.dimm.counters().dma_written.into()),
    Column::integer("dma_read", |row| row.dimm.counters().dma_read.into()),
    Column::integer("clones_fpm", |row| row.dimm.counters().clones[0].into()),
    Column::integer("clones_psm", |row| row.dimm.counters().clones[1].into()),
    Column::integer("clones_gcm", |row| row.dimm.counters().clones[2].into()),
    Column::integer("commands", |row| row.slots.iter().sum::<u64>().into()),
    Column::integer("channel_bytes", |row| ((row.slots[1] + row.slots[2]) * LINE_BYTES).into()),
    Column::number("burst_ns", |row| {
        let counters = row.dimm.counters();
        (counters.burst_ps as f64 / counters.bursts.max(1) as f64 / 1000.0).into()
    }),
    Column::number("burst_lines", |row| {
        let counters = row.dimm.counters();
        (counters.burst_lines as f64 / counters.bursts.max(1) as f64).into()
    }),
];

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("dimms", DIMMS)
}

/// Builds the table, with a row per DIMM with a NIC. Returns `None` without such DIMMs.
pub(super) fn dimm_table(view: &WorldView) -> Option<Table> {
    let mut table = Table::of("dimms", DIMMS);
    for (host, machine) in view.servers() {
        let Some(dimm) = machine.first::<Dimm>() else { continue };
        let slots = machine.each::<Channel>().map(Channel::slots_passed);
        let slots = slots.fold([0; 3], |sum, own| [0, 1, 2].map(|kind| sum[kind] + own[kind]));
        let host = &view.plan.cluster.hosts[host].name;
        table.add(DIMMS, &DimmRow { host, dimm, slots });
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Names the pool of a host's DIMM that is most in use, if it is in use most of the time. The limit is not known: it
/// may be the pool, the memory behind it, or the channel.
pub(super) fn dimm_limit(view: &WorldView, host: u16) -> Option<TrafficLimit> {
    let dimm = machine_of(view, host)?.first::<Dimm>()?;
    let names = ["request ids", "entries of writes", "entries of written DMA lines", "entries of read DMA lines"];
    let share = |area: u64, capacity: u32| area as f64 / view.window_ps() / f64::from(capacity);
    let pools = dimm.domains().into_iter().zip(names);
    let held = pools.map(|(domain, name)| (share(domain.area_ps(), domain.capacity()), name));
    let (held, name) = held.max_by(|one, other| one.0.total_cmp(&other.0)).filter(|held| held.0 >= HELD)?;
    let place = view.plan.cluster.hosts[usize::from(host)].name.clone();
    let why = format!(
        "the {name} of the DIMM of {place} are held {:.0} % of the time: there are too few, or memory or the \
        channel is slow",
        held * 100.0
    );
    Some(TrafficLimit { limit: "not known", place, load: Some(held), why })
}
