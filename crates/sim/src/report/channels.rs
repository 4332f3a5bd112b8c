//! The table of channels.

use super::{ratio, ratio_ci95};
use crate::table::{Cell, Kind, Table};
use crate::view::View;
use hostnet_measure::Domain;
use hostnet_model::memory::{Controller, Counters};
use hostnet_model::params::WorkloadKind;

pub(crate) const CHANNELS: &[(&str, Kind)] = &[
    ("channel", Kind::Integer),
    ("read_gb_per_s", Kind::Number),
    ("write_gb_per_s", Kind::Number),
    ("c2m_gb_per_s", Kind::Number),
    ("p2m_gb_per_s", Kind::Number),
    ("row_miss_ratio", Kind::Number),
    ("row_miss_ci95", Kind::Number),
    ("row_conflict_ratio", Kind::Number),
    ("write_row_miss_ratio", Kind::Number),
    ("bank_load_1_5_share", Kind::Number),
    ("bank_load_2_share", Kind::Number),
    ("activations", Kind::Integer),
    ("precharges", Kind::Integer),
    ("refreshes", Kind::Integer),
    ("rpq_mean", Kind::Number),
    ("wpq_mean", Kind::Number),
    ("rpq_full_share", Kind::Number),
    ("wpq_full_share", Kind::Number),
    ("write_mode_share", Kind::Number),
    ("mode_switches", Kind::Integer),
    ("bus_busy_share", Kind::Number),
    ("sources", Kind::Text),
];

impl View<'_> {
    pub(crate) fn channels(&self) -> Table {
        let mut table = Table::new("channels", CHANNELS);
        let controllers = self.controllers();
        table.push(self.channel_row(-1, &controllers));
        for (index, controller) in controllers.iter().enumerate() {
            table.push(self.channel_row(index as i64, &[controller]));
        }
        table
    }

    /// The row of some channels together, under the number `name`.
    fn channel_row(&self, name: i64, channels: &[&Controller]) -> Vec<Cell> {
        let counters: Vec<Counters> = channels.iter().map(|channel| channel.counters(self.now)).collect();
        let rpq: Vec<&Domain> = channels.iter().map(|channel| channel.rpq()).collect();
        let wpq: Vec<&Domain> = channels.iter().map(|channel| channel.wpq()).collect();
        let total = |count: &dyn Fn(&Counters) -> u64| counters.iter().map(count).sum::<u64>();
        let reads = total(&|channel| channel.reads.iter().sum());
        let writes = total(&|channel| channel.writes.iter().sum());
        let lines_of = |class: usize| total(&|channel| channel.reads[class] + channel.writes[class]);
        let of_cores = |class: &usize| {
            !matches!(self.plan.server.workloads[*class].kind, WorkloadKind::Fio(_) | WorkloadKind::Network)
        };
        let core_lines: u64 = (0..self.classes()).filter(of_cores).map(lines_of).sum();
        let mean = |parts: &[&Domain]| {
            let area: u64 = parts.iter().map(|domain| domain.area_ps()).sum();
            area as f64 / parts.len() as f64 / self.window_ps()
        };
        let share_of_time = |time_ps: f64| time_ps / channels.len() as f64 / self.window_ps();
        let sources: Vec<String> = (0..self.classes())
            .map(|class| format!("{} {:.2}", self.plan.server.workloads[class].name, self.gb_per_s(lines_of(class))))
            .collect();
        let miss_ci95 =
            ratio_ci95(self.batches, |sample| sample.read_activations as f64, |sample| sample.lines_read as f64);
        vec![
            name.into(),
            self.gb_per_s(reads).into(),
            self.gb_per_s(writes).into(),
            self.gb_per_s(core_lines).into(),
            self.gb_per_s(reads + writes - core_lines).into(),
            ratio(total(&|channel| channel.read_activations), reads),
            if name < 0 { miss_ci95.into() } else { Cell::Empty },
            ratio(total(&|channel| channel.read_conflicts), reads),
            ratio(total(&|channel| channel.write_activations), writes),
            uneven_share(channels, 1.5),
            uneven_share(channels, 2.0),
            total(&|channel| channel.read_activations + channel.write_activations).into(),
            total(&|channel| channel.precharges).into(),
            total(&|channel| channel.refreshes).into(),
            mean(&rpq).into(),
            mean(&wpq).into(),
            self.share(&rpq, Domain::over_threshold_ps),
            self.share(&wpq, Domain::over_threshold_ps),
            share_of_time(total(&|channel| channel.write_mode_ps) as f64).into(),
            total(&|channel| channel.switches).into(),
            share_of_time((reads + writes) as f64 * self.line_ps()).into(),
            sources.join(", ").into(),
        ]
    }

    /// The time that one line takes on the bus of its channel, in ps.
    fn line_ps(&self) -> f64 {
        let dram = &self.plan.server.memory.dram;
        let clocks = f64::from(dram.timing.burst * dram.accesses_per_line);
        clocks * dram.clock_ps_numerator as f64 / dram.clock_ps_denominator as f64
    }
}

/// The share of samples in which one bank has at least `deviation` times the mean load.
fn uneven_share(channels: &[&Controller], deviation: f64) -> Cell {
    let samples = channels.iter().map(|channel| channel.bank_loads().samples_from(deviation));
    let (all, uneven) = samples.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    ratio(uneven, all)
}
