//! Finds the limit of a job whose ranks run on cores of servers: their instructions, the memory of their hosts, or
//! their communication. If none of these is clear, the limit is not known.

use super::class::TrafficClass;
use super::hosts::{data_words, memory_load};
use super::limit::{not_known, TrafficLimit, BUS_FULL, MOST};
use super::pcie::dropping_nics;
use super::sums::full_resource;
use crate::report::view::WorldView;
use hostnet_model::core::Worker;
use hostnet_model::flow::PhaseStats;
use hostnet_model::params::JobParams;

/// Returns the limit of a class that is a job with all of its ranks on cores of servers, or `None` for another class.
pub(super) fn ranks_on_cores(view: &WorldView, name: &str, class: &TrafficClass) -> Option<TrafficLimit> {
    let number = view.plan.cluster.jobs.iter().position(|job| job.name == name && !job.cores.is_empty())?;
    let job = &view.plan.cluster.jobs[number];
    let workers: Vec<&Worker> = view
        .servers()
        .flat_map(|(_, machine)| machine.engines::<Worker>())
        .filter(|worker| worker.rank().number().0 as usize == number)
        .collect();
    if workers.len() < job.hosts.len() {
        let why = "some of its ranks are at endpoints, which have no cores".to_owned();
        return Some(not_known(None, why));
    }
    if view.window_start.ps() > 0 {
        let why = "its statistics cover the whole run, and those of its hosts only the window; set until = \"jobs\"";
        return Some(not_known(None, why.to_owned()));
    }
    let stats = workers.iter().flat_map(|worker| worker.rank().phases());
    let stats = stats.fold(PhaseStats::default(), |sum, stats| sum.plus(stats));
    let instructions_ps: u64 = workers.iter().map(|worker| worker.instructions_ps()).sum();
    let computes = 1.0 - stats.communication_share()?;
    let instructions = instructions_ps as f64 / stats.time_ps.max(1) as f64;
    Some(work_limit(view, job, class, computes, instructions))
}

/// Returns the limit of ranks from two shares of their time: computing, and executing instructions.
fn work_limit(
    view: &WorldView,
    job: &JobParams,
    class: &TrafficClass,
    computes: f64,
    instructions: f64,
) -> TrafficLimit {
    if let Some((load, place)) = fullest_memory(view, job).filter(|(load, _)| computes >= MOST && *load >= BUS_FULL) {
        let why = data_words(&place, load);
        return TrafficLimit { limit: "memory bandwidth", place, load: Some(load), why };
    }
    if instructions >= MOST {
        let why = format!("instructions take {:.0} % of the time of its ranks", 100.0 * instructions);
        return TrafficLimit { limit: "rank cores", place: String::new(), load: Some(instructions), why };
    }
    if computes >= MOST {
        let why = format!(
            "its ranks compute {:.0} % of the time, {:.0} % for instructions; they wait for lines of caches or of \
             memory, whose channels are not full",
            100.0 * computes,
            100.0 * instructions
        );
        return not_known(Some(computes), why);
    }
    if let Some(full) = dropping_nics(view, class).or_else(|| full_resource(view, class)) {
        return full;
    }
    let why = format!(
        "its ranks compute {:.0} % of the time, {:.0} % for instructions, and copy, send or wait for each other in \
         the rest",
        100.0 * computes,
        100.0 * instructions
    );
    not_known(None, why)
}

/// Returns the host of a job whose channels are busiest, with their mean utilization over the window.
pub(super) fn fullest_memory(view: &WorldView, job: &JobParams) -> Option<(f64, String)> {
    let own = view.servers().filter(|(host, _)| job.hosts.iter().any(|&at| usize::from(at) == *host));
    let loads = own.filter_map(|(host, machine)| {
        Some((memory_load(view, host, machine)?, view.plan.cluster.hosts[host].name.clone()))
    });
    loads.max_by(|one, other| one.0.total_cmp(&other.0))
}
