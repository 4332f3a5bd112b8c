//! What watched the hosts, as a table.

use super::report::View;
use super::tables::CONTROL;
use crate::table::{Cell, Table};
use hostnet_model::control::{Control, Signals};
use hostnet_model::params::ControlRule;

/// Parts of a line in which controllers count occupancy.
const LINE_PARTS: f64 = 1024.0;

/// Occupancy in lines and bandwidth in Gbit/s, of smoothed signals.
pub(super) fn smoothed(signals: &Signals) -> [f64; 2] {
    let Signals { occupancy_smoothed, bandwidth_smoothed, .. } = *signals;
    [occupancy_smoothed as f64 / LINE_PARTS, bandwidth_smoothed as f64 * 8e-9]
}

impl View<'_> {
    /// A row for every host that is watched.
    pub(super) fn control(&self) -> Table {
        let mut table = Table::new("control", CONTROL);
        for (host, machine) in self.servers() {
            let Some(control) = machine.control() else { continue };
            let name = self.plan.cluster.hosts[host].name.as_str();
            table.push(self.control_row(name, control));
        }
        table
    }

    fn control_row(&self, host: &str, control: &Control) -> Vec<Cell> {
        let counts = control.counts();
        let share = |ps: u64| Cell::from(ps as f64 / self.window_ps());
        let [occupancy, bandwidth] = counts.smoothed_area.map(|area| area as f64 / self.window_ps());
        let mut row = vec![
            host.into(),
            rule_name(control.rule()).into(),
            (occupancy / LINE_PARTS).into(),
            (bandwidth * 8e-9).into(),
            u64::from(control.level()).into(),
        ];
        row.extend(counts.levels_ps.map(share));
        row.extend(counts.regimes_ps.map(share));
        row.push(share(counts.echo_ps));
        row.extend([counts.changes, counts.stops, counts.writes].map(Cell::from));
        row.extend(
            [0, 1].into_iter().flat_map(|loop_of| [counts.samples[loop_of].into(), counts.discarded[loop_of].into()]),
        );
        row
    }
}

/// The rule as configurations call it.
fn rule_name(rule: &ControlRule) -> &str {
    match rule {
        ControlRule::Watch => "watch",
        ControlRule::HostCc(params) => match (params.echo, params.local) {
            (true, false) => "echo-only",
            (false, true) => "local-only",
            _ => "hostcc",
        },
        ControlRule::Fixed(_) => "fixed",
        ControlRule::User(_) => "user",
    }
}
