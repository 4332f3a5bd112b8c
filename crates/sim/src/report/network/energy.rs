//! What was done with the energy of the servers that have a meter: the table of efficiency.

use crate::read::flows::FlowTotals;
use crate::report::energy::{EfficiencyRow, EFFICIENCY};
use crate::report::table::Table;
use crate::report::view::WorldView;

impl WorldView<'_> {
    /// By class: all energy of all meters for a byte that applications read, and for a request that was answered.
    pub(super) fn efficiency(&self, flows: &[FlowTotals], attojoules: u128) -> Table {
        let cluster = &self.plan.cluster;
        let mut table = Table::of("efficiency", EFFICIENCY);
        for (class, name) in cluster.classes.iter().enumerate() {
            let own = cluster.flows.iter().zip(flows).filter(|(flow, _)| usize::from(flow.class) == class);
            let bytes = own.map(|(_, totals)| totals.received_bytes.iter().sum::<u64>()).sum();
            let operations = Some(self.latency_of(class).count()).filter(|&count| count > 0);
            table.add(EFFICIENCY, &EfficiencyRow { name, bytes, operations, attojoules });
        }
        table
    }
}
