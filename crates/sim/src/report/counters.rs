//! The counters of a simulated server.

use crate::read::sample::{domains, Group, Totals};
use crate::report::view::ServerView;
use hostnet_analysis::{Counters, Flow};
use hostnet_measure::{Domain, Usage};
use hostnet_model::cha;
use hostnet_model::memory;

impl ServerView<'_> {
    /// What the server's counters tell about the window.
    pub(crate) fn counters(&self) -> Counters {
        let controllers = self.controllers();
        let counts: Vec<memory::Counters> = controllers.iter().map(|channel| channel.counters(self.now)).collect();
        let sum = |pick: &dyn Fn(&memory::Counters) -> u64| Some(counts.iter().map(pick).sum::<u64>() as f64);
        let share = |group: Group| self.per_channel(group, Domain::over_threshold_ps);
        let queue = |group: Group| self.per_channel(group, Domain::area_ps);
        Counters {
            window_ns: self.window_ps() / 1000.0,
            channels: controllers.len() as f64,
            lines_read: sum(&|count| count.reads.iter().sum()),
            lines_written: sum(&|count| count.writes.iter().sum()),
            read_activations: sum(&|count| count.read_activations),
            write_activations: sum(&|count| count.write_activations),
            read_conflicts: sum(&|count| count.read_conflicts),
            write_conflicts: sum(&|count| count.write_conflicts),
            mode_switches: sum(&|count| count.write_modes),
            rpq_occupancy: Some(queue(Group::Rpq)),
            wpq_occupancy: Some(queue(Group::Wpq)),
            rpq_full_share: Some(share(Group::Rpq)),
            wpq_full_share: Some(share(Group::Wpq)),
            lfb: self.flow(Group::Lfb, |_| true),
            lfb_full_cores: None,
            core_read: self.flow(Group::ChaRead, |book| book % cha::BOOKS == 0),
            core_write: self.flow(Group::ChaWrite, |book| book % cha::BOOKS == 0),
            io_read: self.flow(Group::ChaRead, |book| book % cha::BOOKS == 1),
            io_write: self.flow(Group::ChaWrite, |book| book % cha::BOOKS == 1),
            iio_write: self.flow(Group::P2mWrite, |_| true),
            iio_read: self.flow(Group::P2mRead, |_| true),
        }
    }

    /// A time of the domains of a group, as a share of the window and mean over the domains.
    fn per_channel(&self, group: Group, time_ps: impl Fn(&Domain) -> u64) -> f64 {
        let parts = domains(self.machine, group);
        let sum: u64 = parts.iter().map(|(_, domain)| time_ps(domain)).sum();
        sum as f64 / parts.len() as f64 / self.window_ps()
    }

    /// Occupancy and lines of the books of a group that `wanted` picks by their number.
    fn flow(&self, group: Group, wanted: impl Fn(usize) -> bool) -> Flow {
        let parts = domains(self.machine, group);
        let usages = parts.iter().flat_map(|(_, domain)| domain.classes().iter().enumerate());
        let usages: Vec<&Usage> = usages.filter(|(book, _)| wanted(*book)).map(|(_, usage)| usage).collect();
        let mut totals = Totals::default();
        usages.into_iter().for_each(|usage| totals.add(usage));
        Flow { occupancy: Some(totals.area_ps as f64 / self.window_ps()), lines: Some(totals.lines as f64) }
    }
}
