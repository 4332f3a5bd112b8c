//! Hardware counters that a simulated server would have.

use crate::read::sample::{domains, DomainTotals, PoolGroup};
use crate::report::view::ServerView;
use hostnet_analysis::{Counters, Flow};
use hostnet_measure::{Domain, Usage};
use hostnet_model::cha;
use hostnet_model::memory::{self, Controller};

/// Returns the hardware counters over the window.
pub(crate) fn read_counters(view: &ServerView) -> Counters {
    let controllers = used_controllers(view);
    let counts: Vec<memory::Counters> = controllers.iter().map(|channel| channel.counters(view.now)).collect();
    let sum = |pick: &dyn Fn(&memory::Counters) -> u64| Some(counts.iter().map(pick).sum::<u64>() as f64);
    let in_lines = |count: Option<f64>| count.map(|count| count * view.lines_each() as f64);
    let mean = |queue: fn(&Controller) -> &Domain, time_ps: fn(&Domain) -> u64| {
        let sum: u64 = controllers.iter().map(|controller| time_ps(queue(controller))).sum();
        Some(sum as f64 / controllers.len() as f64 / view.window_ps())
    };
    Counters {
        window_ns: view.window_ps() / 1000.0,
        channels: controllers.len() as f64,
        lines_read: in_lines(sum(&|count| count.reads.iter().sum())),
        lines_written: in_lines(sum(&|count| count.writes.iter().sum())),
        read_activations: sum(&|count| count.read_activations),
        write_activations: sum(&|count| count.write_activations),
        read_conflicts: sum(&|count| count.read_conflicts),
        write_conflicts: sum(&|count| count.write_conflicts),
        mode_switches: sum(&|count| count.write_modes),
        rpq_occupancy: in_lines(mean(Controller::rpq, Domain::area_ps)),
        wpq_occupancy: in_lines(mean(Controller::wpq, Domain::area_ps)),
        rpq_full_share: mean(Controller::rpq, Domain::over_threshold_ps),
        wpq_full_share: mean(Controller::wpq, Domain::over_threshold_ps),
        lfb: flow(view, PoolGroup::Lfb, |_| true),
        lfb_full_cores: None,
        core_read: flow(view, PoolGroup::ChaRead, |book| book % cha::CHA_CLASSES_PER_WORKLOAD == 0),
        core_write: flow(view, PoolGroup::ChaWrite, |book| book % cha::CHA_CLASSES_PER_WORKLOAD == 0),
        io_read: flow(view, PoolGroup::ChaRead, |book| book % cha::CHA_CLASSES_PER_WORKLOAD == 1),
        io_write: flow(view, PoolGroup::ChaWrite, |book| book % cha::CHA_CLASSES_PER_WORKLOAD == 1),
        iio_write: flow(view, PoolGroup::P2mWrite, |_| true),
        iio_read: flow(view, PoolGroup::P2mRead, |_| true),
    }
}

/// Returns the controllers of the sockets whose memory was used, or all if none was. The queues of unused memory
/// stay empty and are left out of the means.
fn used_controllers<'a>(view: &'a ServerView) -> Vec<&'a Controller> {
    let all = view.controllers();
    let moved = |controller: &Controller| {
        let counts = controller.counters(view.now);
        counts.reads.iter().chain(&counts.writes).sum::<u64>()
    };
    // A host with a fluid memory has no channels.
    let sockets = view.memories().filter_map(|(_, channels)| all.get(channels));
    let used = sockets.filter(|own| own.iter().any(|controller| moved(controller) > 0));
    let used: Vec<&Controller> = used.flatten().copied().collect();
    if used.is_empty() {
        all
    } else {
        used
    }
}

/// Returns the occupancy and the lines of the domain classes of a group that `wanted` picks by index.
fn flow(view: &ServerView, group: PoolGroup, wanted: impl Fn(usize) -> bool) -> Flow {
    let parts = domains(view.machine, group);
    let usages = parts.iter().flat_map(|(_, domain)| domain.classes().iter().enumerate());
    let usages: Vec<&Usage> = usages.filter(|(book, _)| wanted(*book)).map(|(_, usage)| usage).collect();
    let mut totals = DomainTotals::default();
    usages.into_iter().for_each(|usage| totals.add(usage));
    let each = view.lines_each() as f64;
    let (occupancy, lines) = (totals.area_ps as f64 / view.window_ps(), totals.lines as f64);
    Flow { occupancy: Some(each * occupancy), lines: Some(each * lines) }
}
