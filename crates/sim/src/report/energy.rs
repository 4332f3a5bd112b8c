//! The tables `energy`, of the energy that each part of a server consumed, and `efficiency`, of the energy per byte
//! and per operation.

use super::rows;
use crate::read::sample::{PoolGroup, Sample};
use crate::report::table::{Cell, Column, Table, TableRows};
use crate::report::view::ServerView;
use crate::report::workloads::commands_completed;
use hostnet_analysis::energy::{meter, total_attojoules, Activity, PartEnergy};
use hostnet_kernel::Time;
use hostnet_model::core::{Core, Engine};
use hostnet_model::dimm::Dimm;
use hostnet_model::expander::Expander;
use hostnet_model::memory::{Channel, Controller, Counters};
use hostnet_model::nic::Nic;
use hostnet_model::os::CoreTimeKind;
use hostnet_model::params::{MemoryParams, ServerParams, SocketParams};
use serde_json::Value;

const AJ_PER_UJ: f64 = 1e12;
const AJ_PER_NJ: f64 = 1e9;
const AJ_PER_PJ: f64 = 1e6;
/// Factor from attojoules per picosecond to watts.
const W_PER_AJ_PER_PS: f64 = 1e-6;

/// Energy of one part, or of all.
pub(crate) struct EnergyRow {
    consumed: PartEnergy,
    /// Energy of all parts, in aJ.
    all: u128,
    window_ps: f64,
    /// Relative uncertainty of the energy, 0 to 1.
    band: f64,
}

/// Rows of the table `energy`: [`EnergyRow`].
pub(crate) struct EnergyRows;

impl TableRows for EnergyRows {
    type Row<'a> = EnergyRow;
}

pub(crate) const ENERGY: &[Column<EnergyRows>] = &[
    Column::key(Column::text("part", |row| row.consumed.part.into())),
    Column::integer("events", |row| row.consumed.events.into()),
    Column::number("energy_uj", |row| (row.consumed.attojoules as f64 / AJ_PER_UJ).into()),
    Column::number("power_w", |row| row.power().into()),
    Column::number("power_low_w", |row| (row.power() * (1.0 - row.band)).into()),
    Column::number("power_high_w", |row| (row.power() * (1.0 + row.band)).into()),
    Column::number("share", |row| (row.consumed.attojoules as f64 / row.all as f64).into()),
];

impl EnergyRow {
    /// Returns the mean power over the window, in W.
    fn power(&self) -> f64 {
        self.consumed.attojoules as f64 / self.window_ps * W_PER_AJ_PER_PS
    }
}

/// Work of a workload or of a traffic class, and the energy of everything that has a meter.
pub(crate) struct EfficiencyRow<'a> {
    pub(crate) name: &'a str,
    pub(crate) bytes: u64,
    /// Commands, operations or answered requests; `None` if there are none.
    pub(crate) operations: Option<u64>,
    pub(crate) attojoules: u128,
}

/// Rows of the table `efficiency`: [`EfficiencyRow`].
pub(crate) struct EfficiencyRows;

impl TableRows for EfficiencyRows {
    type Row<'a> = EfficiencyRow<'a>;
}

pub(crate) const EFFICIENCY: &[Column<EfficiencyRows>] = &[
    Column::key(Column::text("name", |row| row.name.into())),
    Column::integer("bytes", |row| row.bytes.into()),
    Column::number("pj_per_byte", |row| row.per(Some(row.bytes), AJ_PER_PJ)),
    Column::integer("operations", |row| row.operations.into()),
    Column::number("nj_per_operation", |row| row.per(row.operations, AJ_PER_NJ)),
];

impl EfficiencyRow<'_> {
    /// Returns the energy per unit of `count`, or an empty cell without any.
    fn per(&self, count: Option<u64>, unit: f64) -> Cell {
        count.filter(|&count| count > 0).map(|count| self.attojoules as f64 / unit / count as f64).into()
    }
}

/// Tables of the energy meter of a server.
pub(crate) struct EnergyTables {
    pub(crate) energy: Table,
    pub(crate) efficiency: Table,
    /// Energy of all parts, in aJ.
    pub(crate) all: u128,
}

impl EnergyTables {
    /// Returns the entries of the summary.
    pub(crate) fn summary(&self) -> [(&'static str, Value); 2] {
        [("energy", rows(&self.energy)), ("efficiency", rows(&self.efficiency))]
    }
}

/// Reads the energy meter, if the server has one.
pub(crate) fn build_energy(view: &ServerView) -> Option<EnergyTables> {
    let params = view.server.energy.as_deref()?;
    let (energy, all) =
        table(meter(params, &collect_activity(view)), view.window_ps(), f64::from(params.band_ppm) / 1e6);
    let mut efficiency = Table::of("efficiency", EFFICIENCY);
    for (class, workload) in view.server.workloads.iter().enumerate() {
        let bytes = view.total.moved(view.throughput_groups(class), class) * view.line_bytes;
        let operations = ended_operations(view, class);
        efficiency.add(EFFICIENCY, &EfficiencyRow { name: &workload.name, bytes, operations, attojoules: all });
    }
    Some(EnergyTables { energy, efficiency, all })
}

/// Returns the completed commands or operations of a workload, if its kind has any.
fn ended_operations(view: &ServerView, class: usize) -> Option<u64> {
    let kind = &view.server.workloads[class].kind;
    let commands = kind.fio().map(|_| commands_completed(view, class));
    commands.or_else(|| Some(view.total.operations(class, &kind.app()?.cores)))
}

/// Collects the counts that the energy meter multiplies by the energy of each event.
fn collect_activity(view: &ServerView) -> Activity {
    let window_ps = view.now.since(view.window_start);
    let cached = view.total.total_cache_counts();
    // Devices look the LLC up as cores do, and with the same energy.
    let of_devices = cached.ddio_updates + cached.ddio_allocations + cached.io_reads;
    let expanders = view.machine.each::<Expander>().flat_map(Expander::channels);
    let dimms = view.machine.each::<Dimm>().flat_map(Dimm::channels);
    let channels = view.machine.each::<Channel>().chain(expanders).chain(dimms).map(Channel::controller);
    let dram: Vec<Counters> = channels.map(|controller: &Controller| controller.counters(view.now)).collect();
    let sum = |count: fn(&Counters) -> u64| dram.iter().map(count).sum();
    let cores: Vec<&Core> = view.machine.each().collect();
    let nics: Vec<_> = view.machine.each::<Nic>().map(Nic::counters).collect();
    let active = |core: &&Core| active_ps(core, view.server, view.now, window_ps);
    Activity {
        window_ps,
        cores: cores.len() as u64,
        active_ps: cores.iter().map(active).sum(),
        sockets: view.server.sockets.len() as u64,
        llc_lookups: cached.llc_lookups + of_devices,
        ranks: ranks(view.server),
        activations: sum(|counts| counts.read_activations + counts.write_activations),
        // Forwarded reads and merged writes never reach DRAM.
        reads: sum(|counts| counts.reads.iter().sum::<u64>() - counts.forwarded),
        writes: sum(|counts| counts.writes.iter().sum::<u64>() - counts.merged),
        refreshes: sum(|counts| counts.refreshes),
        io_bytes: io_lines(view.total) * view.line_bytes,
        nics: nics.len() as u64,
        nic_bytes: nics.iter().map(|counts| counts.written_bytes + counts.read_bytes).sum(),
    }
}

/// Builds the table `energy`: a row for all parts, and one for each. Also returns the total, in aJ.
pub(super) fn table(consumed: Vec<PartEnergy>, window_ps: f64, band: f64) -> (Table, u128) {
    let all = total_attojoules(&consumed);
    let mut energy = Table::of("energy", ENERGY);
    for consumed in [PartEnergy { part: "all", events: None, attojoules: all }].into_iter().chain(consumed) {
        energy.add(ENERGY, &EnergyRow { consumed, all, window_ps, band });
    }
    (energy, all)
}

/// Returns the lines that crossed between devices and the processor, and over CXL links.
fn io_lines(total: &Sample) -> u64 {
    let groups = [PoolGroup::P2mWrite, PoolGroup::P2mRead, PoolGroup::ExpanderRead, PoolGroup::ExpanderWrite];
    groups.iter().flat_map(|&group| &total.totals[group as usize]).map(|totals| totals.lines).sum()
}

/// Returns the DRAM ranks of all channels, with those behind CXL links.
fn ranks(server: &ServerParams) -> u64 {
    let of = |memory: &MemoryParams| u64::from(memory.map.channels * memory.dram.subchannels * memory.dram.ranks);
    let own: u64 = server.sockets.iter().map(|socket| of(&socket.memory)).sum();
    own + server.sockets.iter().filter_map(SocketParams::far_memory).map(of).sum::<u64>()
}

/// Returns how long a core was active, in ps: the time that it was not idle if it only serves the network and does
/// not poll, and else the whole window. A core without work is never active.
fn active_ps(core: &Core, server: &ServerParams, now: Time, window_ps: u64) -> u64 {
    let polls = server.stack.as_ref().is_some_and(|stack| stack.poll);
    match core.engines() {
        [] => 0,
        // A polling core never halts, so its idle time is active time.
        [Engine::NetStack(stack)] if !polls => window_ps - stack.times().spent_ps(CoreTimeKind::Idle, now),
        _ => window_ps,
    }
}
