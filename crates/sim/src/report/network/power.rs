//! The tables of power management: `power` (cores), `power_states`, `frequencies` and `ncap`.

use crate::read::meters::{metered_cores, MeteredCore};
use crate::report::table::{Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_kernel::Time;
use hostnet_model::nic::{NcapCounts, Nic};
use hostnet_model::params::PowerParams;
use hostnet_model::power::{CoreMeter, PowerManager};
use hostnet_model::Machine;

const AJ_PER_UJ: f64 = 1e12;
/// Factor from attojoules per picosecond to watts.
pub(super) const W_PER_AJ_PER_PS: f64 = 1e-6;
pub(super) const KHZ_PER_GHZ: f64 = 1e6;

/// Counters of a NIC with NCAP.
struct NcapRow<'a> {
    host: &'a str,
    counts: NcapCounts,
}

/// Rows of the table `ncap`: [`NcapRow`].
struct NcapRows;

impl TableRows for NcapRows {
    type Row<'a> = NcapRow<'a>;
}

const NCAP: &[Column<NcapRows>] = &[
    Column::key(Column::text("host", |row| row.host.into())),
    Column::integer("requests", |row| row.counts.requests.into()),
    Column::integer("at_once", |row| row.counts.at_once.into()),
    Column::integer("high", |row| row.counts.high.into()),
    Column::integer("low", |row| row.counts.low.into()),
];

/// Energy and residency of a core over the window.
struct CoreRow<'a> {
    host: &'a str,
    core: usize,
    params: &'a PowerParams,
    meter: CoreMeter,
    /// Number of times that its sleep ended; `None` if the core serves no network traffic.
    wakes: Option<u64>,
}

/// Rows of the table `power`: [`CoreRow`].
struct CoreRows;

impl TableRows for CoreRows {
    type Row<'a> = CoreRow<'a>;
}

const CORES: &[Column<CoreRows>] = &[
    Column::key(Column::text("host", |row| row.host.into())),
    Column::key(Column::integer("core", |row| (row.core as u64).into())),
    Column::number("energy_uj", |row| (row.meter.attojoules() as f64 / AJ_PER_UJ).into()),
    Column::number("power_w", |row| (row.meter.attojoules() as f64 / row.window_ps() * W_PER_AJ_PER_PS).into()),
    Column::number("ghz_mean", |row| row.ghz_mean().into()),
    Column::number("running_share", |row| row.share(row.meter.residency_ps().running_ps)),
    Column::number("polling_share", |row| row.share(row.meter.residency_ps().polling_ps)),
    Column::number("asleep_share", |row| row.share(row.meter.residency_ps().asleep_ps.iter().sum())),
    Column::number("waking_share", |row| row.share(row.meter.residency_ps().waking_ps)),
    Column::number("halted_share", |row| row.share(row.meter.residency_ps().halted_ps)),
    Column::integer("wakes", |row| row.wakes.into()),
];

impl CoreRow<'_> {
    fn window_ps(&self) -> f64 {
        self.meter.window_ps().max(1) as f64
    }

    fn share(&self, ps: u64) -> crate::report::table::Cell {
        (ps as f64 / self.window_ps()).into()
    }

    /// Returns the mean frequency over time, sleep included, in GHz.
    fn ghz_mean(&self) -> f64 {
        let pstates = self.params.pstates.iter().zip(self.meter.at_frequency_ps());
        let all: f64 = pstates.map(|(pstate, &ps)| f64::from(pstate.khz) * ps as f64).sum();
        all / KHZ_PER_GHZ / self.window_ps()
    }
}

/// Residency of a core in one state.
struct StateRow<'a> {
    host: &'a str,
    core: usize,
    state: &'a str,
    ps: u64,
    share: f64,
    /// Number of times that the state was entered, if it is counted.
    entries: Option<u64>,
}

/// Rows of the table `power_states`: [`StateRow`].
struct StateRows;

impl TableRows for StateRows {
    type Row<'a> = StateRow<'a>;
}

const STATES: &[Column<StateRows>] = &[
    Column::key(Column::text("host", |row| row.host.into())),
    Column::key(Column::integer("core", |row| (row.core as u64).into())),
    Column::key(Column::text("state", |row| row.state.into())),
    Column::number("share", |row| row.share.into()),
    Column::integer("entries", |row| row.entries.into()),
    Column::number("mean_us", |row| {
        row.entries.filter(|&entries| entries > 0).map(|entries| row.ps as f64 / 1e6 / entries as f64).into()
    }),
];

/// Frequency of a domain from some time on.
struct FrequencyRow<'a> {
    host: &'a str,
    domain: usize,
    at_us: f64,
    ghz: f64,
}

/// Rows of the table `frequencies`: [`FrequencyRow`].
struct FrequencyRows;

impl TableRows for FrequencyRows {
    type Row<'a> = FrequencyRow<'a>;
}

const FREQUENCIES: &[Column<FrequencyRows>] = &[
    Column::key(Column::text("host", |row| row.host.into())),
    Column::key(Column::integer("domain", |row| (row.domain as u64).into())),
    Column::number("at_us", |row| row.at_us.into()),
    Column::number("ghz", |row| row.ghz.into()),
];

/// Returns the descriptions of the tables.
pub(super) fn table_info() -> [TableInfo; 4] {
    [
        TableInfo::of("power", CORES),
        TableInfo::of("power_states", STATES),
        TableInfo::of("frequencies", FREQUENCIES),
        TableInfo::of("ncap", NCAP),
    ]
}

/// Builds the tables of power management. The list is empty if no server has power management, and has no table
/// `ncap` if no NIC has NCAP.
pub(crate) fn power_tables(view: &WorldView) -> Vec<Table> {
    let mut cores = Table::of("power", CORES);
    let mut states = Table::of("power_states", STATES);
    let mut frequencies = Table::of("frequencies", FREQUENCIES);
    let mut ncap = Table::of("ncap", NCAP);
    let mut any = false;
    for (number, machine) in view.servers() {
        let Some(manager) = machine.first::<PowerManager>() else { continue };
        any = true;
        let host = view.plan.cluster.hosts[number].name.as_str();
        if let Some(counts) = machine.first::<Nic>().and_then(Nic::ncap) {
            ncap.add(NCAP, &NcapRow { host, counts });
        }
        for MeteredCore { core, meter, slept } in metered_cores(machine, manager, view.now) {
            let row = CoreRow { host, core, params: manager.params(), meter, wakes: slept.map(|(_, wakes)| wakes) };
            add_states(&mut states, &row, slept.map(|(entries, _)| entries));
            cores.add(CORES, &row);
        }
        for (domain, (_, history)) in manager.domains().enumerate() {
            for &(at, pstate) in history {
                let ghz = f64::from(manager.params().pstates[usize::from(pstate)].khz) / KHZ_PER_GHZ;
                // A frequency that was set before the window is listed at its start.
                let at_us = at.since(view.window_start.min(at)) as f64 / 1e6;
                frequencies.add(FREQUENCIES, &FrequencyRow { host, domain, at_us, ghz });
            }
        }
    }
    let told = [cores, states, frequencies, ncap];
    told.into_iter().filter(|table| any && !(table.name == "ncap" && table.rows.is_empty())).collect()
}

/// Returns the energy of all cores of a server in the window, in uJ, or `None` without power management.
pub(super) fn cores_energy_uj(machine: &Machine, now: Time) -> Option<f64> {
    let manager = machine.first::<PowerManager>()?;
    let attojoules: u128 = metered_cores(machine, manager, now).map(|core| core.meter.attojoules()).sum();
    Some(attojoules as f64 / AJ_PER_UJ)
}

/// Adds the rows of the states of a core.
fn add_states(table: &mut Table, row: &CoreRow, entries: Option<&[u64]>) {
    let of = row.meter.residency_ps();
    let awake = [("C0", of.running_ps), ("poll", of.polling_ps), ("wake", of.waking_ps), ("halt", of.halted_ps)];
    let asleep = row.params.cstates.iter().zip(&of.asleep_ps).enumerate();
    let asleep = asleep.map(|(at, (cstate, &ps))| (cstate.name.as_str(), ps, entries.map(|entries| entries[at])));
    for (state, ps, entries) in awake.into_iter().map(|(state, ps)| (state, ps, None)).chain(asleep) {
        let share = ps as f64 / row.window_ps();
        table.add(STATES, &StateRow { host: row.host, core: row.core, state, ps, share, entries });
    }
}
