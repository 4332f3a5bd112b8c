//! The table `engines`, of compression engines of NICs, and the limits that they set.

use super::class::{machine_of, TrafficClass};
use super::limit::{worst_limit, TrafficLimit, MOST};
use crate::report::table::{Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_model::ether::{Compressor, EngineCounts};
use hostnet_model::nic::Nic;

/// Compression engine of a host in one direction.
struct EngineRow<'a> {
    host: &'a str,
    direction: &'static str,
    counts: EngineCounts,
    window_ps: f64,
}

impl EngineRow<'_> {
    /// Returns the compression ratio of the data.
    fn ratio(&self) -> Option<f64> {
        (self.counts.wire_bytes > 0).then(|| self.counts.bytes as f64 / self.counts.wire_bytes as f64)
    }

    /// Returns the share of the window that the engine works.
    fn load(&self) -> Option<f64> {
        (self.window_ps > 0.0).then(|| self.counts.busy_ps as f64 / self.window_ps)
    }
}

/// Rows of the table: [`EngineRow`].
struct EngineRows;

impl TableRows for EngineRows {
    type Row<'a> = EngineRow<'a>;
}

const ENGINES: &[Column<EngineRows>] = &[
    Column::key(Column::text("host", |row| row.host.into())),
    Column::key(Column::text("direction", |row| row.direction.into())),
    Column::integer("packets", |row| row.counts.packets.into()),
    Column::integer("bytes", |row| row.counts.bytes.into()),
    Column::integer("wire_bytes", |row| row.counts.wire_bytes.into()),
    Column::number("ratio", |row| row.ratio().into()),
    Column::number("load", |row| row.load().into()),
    Column::integer("dropped_packets", |row| row.counts.dropped.into()),
];

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("engines", ENGINES)
}

/// Returns the counters of a host's engines, outgoing and incoming. Of several ports, the one with the busiest engine
/// counts.
fn engine_counts(view: &WorldView, host: u16) -> Option<[EngineCounts; 2]> {
    let out = |compressor: Option<&Compressor>| compressor.map(|compressor| compressor.counts(view.now));
    let (out, into): (Vec<EngineCounts>, _) = match machine_of(view, host) {
        Some(machine) => {
            let nic = machine.each::<Nic>().next()?;
            (out(nic.port().compressor()).into_iter().collect(), nic.decompressor())
        }
        None => {
            let (_, _, endpoint) = view.endpoints().find(|&(at, ..)| at == host)?;
            let ports = endpoint.ports().iter().filter_map(|port| out(port.compressor()));
            (ports.collect(), endpoint.decompressor())
        }
    };
    let into = into.map(|decompressor| decompressor.counts(view.now))?;
    Some([out.into_iter().max_by_key(|counts| counts.busy_ps).unwrap_or_default(), into])
}

/// Builds the table, with a row per host with engines and per direction. Returns `None` if there are none.
pub(super) fn engine_table(view: &WorldView) -> Option<Table> {
    let cluster = &view.plan.cluster;
    let own = (0..).zip(&cluster.hosts).filter(|(_, host)| host.compress.is_some());
    let found: Vec<_> = own.filter_map(|(at, host)| Some((&host.name, engine_counts(view, at)?))).collect();
    if found.is_empty() {
        return None;
    }
    let mut table = Table::of("engines", ENGINES);
    for (host, counts) in found {
        for (direction, counts) in ["out", "in"].into_iter().zip(counts) {
            table.add(ENGINES, &EngineRow { host, direction, counts, window_ps: view.window_ps() });
        }
    }
    Some(table)
}

/// Names the busiest engine on the path of a class, if it works most of the time. It need not be full to be the
/// limit, because steps of a job wait for each other.
pub(super) fn full_engine(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    busiest_engine(view, class).filter(|limit| limit.load >= Some(MOST))
}

/// Names the busiest engine on the path of a class.
pub(super) fn busiest_engine(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let hosts = class.hosts[0].union(&class.hosts[1]);
    worst_limit(hosts.filter_map(|&host| {
        let of = &view.plan.cluster.hosts[usize::from(host)];
        of.compress.as_ref()?;
        let [out, into] = engine_counts(view, host)?.map(|counts| counts.busy_ps as f64 / view.window_ps());
        let (load, does) = if out >= into { (out, "makes packets smaller") } else { (into, "restores packets") };
        let place = of.name.clone();
        let why = format!("the engine of {place} that {does} works {:.0} % of the time", load * 100.0);
        Some(TrafficLimit { limit: "compression", place, load: Some(load), why })
    }))
}
