//! Energy of switches, and the table `efficiency` of a network.

use super::latencies::latency_of;
use crate::read::flows::FlowTotals;
use crate::report::energy::{table, EfficiencyRow, EFFICIENCY};
use crate::report::table::Table;
use crate::report::view::WorldView;
use hostnet_analysis::energy::measure_switch_energy;
use hostnet_model::ether::BYTE_PARTS;
use hostnet_model::params::CableEnd;

/// Returns each switch that has an energy meter: its name, its table `energy`, and its total energy, in aJ.
pub(super) fn metered_switches<'a>(view: &'a WorldView<'a>) -> impl Iterator<Item = (&'a str, Table, u128)> {
    let switches = view.plan.cluster.switches.iter().zip(0_u16..);
    switches.filter_map(|(switch, number)| {
        let params = switch.energy.as_ref()?;
        let own = view.ports().filter(|(port, _)| port.end == CableEnd::Switch(number));
        // Counts the part of each packet that was sent in the window, as `queues.sent_gbps` does.
        let parts: Vec<_> = own.map(|(port, before)| port.totals.carried_parts - before.carried_parts).collect();
        let bytes = parts.iter().sum::<u64>() / BYTE_PARTS;
        let consumed = measure_switch_energy(params, view.now.since(view.window_start), parts.len() as u64, bytes);
        let (energy, all) = table(consumed, view.window_ps(), 0.0);
        Some((switch.name.as_str(), energy, all))
    })
}

/// Builds the table, with the energy of all meters per byte that applications of each class read, and per answered
/// request.
pub(super) fn efficiency_table(view: &WorldView, flows: &[FlowTotals], attojoules: u128) -> Table {
    let cluster = &view.plan.cluster;
    let mut table = Table::of("efficiency", EFFICIENCY);
    for (class, name) in cluster.classes.iter().enumerate() {
        let own = cluster.flows.iter().zip(flows).filter(|(flow, _)| usize::from(flow.class) == class);
        let bytes = own.map(|(_, totals)| totals.received_bytes.iter().sum::<u64>()).sum();
        let operations = Some(latency_of(view, class).count()).filter(|&count| count > 0);
        table.add(EFFICIENCY, &EfficiencyRow { name, bytes, operations, attojoules });
    }
    table
}
