//! Ends the measurement of a lone server once its state is certified as stationary.
//!
//! The certificate covers the rate and the latency of every workload in every domain, storage, operations, and the row
//! misses of reads. Each must be known to [`HALF_WIDTH_MAX`] and must not drift, and enough must have been seen
//! (`evidence`). It is tested seldom, because an
//! interval that is tested at every batch is narrow by chance sooner or later.

use super::evidence::find_gap;
use super::{entry, shown};
use crate::build::warm_up::has_filled;
use crate::read::sample::{increases, PoolGroup, Sample};
use crate::read::{ReadingHistory, CONFIDENCE_GROUPS};
use hostnet_config::{Length, Plan};
use hostnet_measure::batch;
use hostnet_model::params::{AccessPattern, App, AppParams, ServerParams, WorkloadKind};
use serde_json::Value;

/// Numbers of batches at which the certificate is tested: the least, and the factor from one to the next.
///
/// Cores that step through memory at equal speeds drift past each other within milliseconds, and what their rows cost
/// changes as slowly: 256 batches are 4 ms of a server with DDR4.
const BATCHES_MIN: usize = 256;
const NEXT: (usize, usize) = (3, 2);
/// Largest half-width of the 95 % confidence interval of a rate or a latency, as a share of its mean.
const HALF_WIDTH_MAX: f64 = 0.005;
/// Largest difference between the means of the two halves of the batches, as a share of the mean.
const HALVES_MAX: f64 = 0.01;
/// Least number of contiguous runs of pages over which what cores side by side cost each other averages out.
const RUNS_MIN: u64 = 256;
/// Share of the requested measurement that is simulated in any case.
const SIMULATED_MIN: f64 = 1.0 / 256.0;

/// Returns true if the measurement of a plan may end early.
pub(crate) fn is_allowed(plan: &Plan) -> bool {
    plan.run.forward && matches!(plan.run.length, Length::Duration { .. }) && refusal(plan).is_none()
}

/// Returns why a plan is simulated in full, if its state may change in ways that its first part does not show.
fn refusal(plan: &Plan) -> Option<String> {
    let Some(server) = plan.server() else {
        return Some("hosts are on a network, and only jobs of ranks repeat there (run.until = \"jobs\")".to_owned());
    };
    if server.power.is_some() {
        return Some("frequencies of the cores change over time".to_owned());
    }
    if server.control.is_some() {
        return Some("a controller changes its actions over time".to_owned());
    }
    changing_workload(server).or_else(|| repeated_pattern(server))
}

/// Returns why cores that step through few pages in order forbid an early end. At nearly equal speeds they keep their
/// places relative to each other for tens of milliseconds, and what their rows cost depends on these places.
fn repeated_pattern(server: &ServerParams) -> Option<String> {
    let run_bytes = server.socket().memory.pages.run_bytes;
    let in_order = || {
        server.workloads.iter().filter_map(|workload| match &workload.kind {
            WorkloadKind::Stream(stream) if stream.pattern != AccessPattern::Random => {
                Some((workload, stream.cores.len(), stream.working_set_bytes))
            }
            WorkloadKind::App(AppParams { cores, app: App::Mlc(mlc), .. }) if !mlc.random => {
                Some((workload, cores.len(), mlc.working_set_bytes))
            }
            _ => None,
        })
    };
    let cores: usize = in_order().map(|(_, cores, _)| cores).sum();
    let (workload, ..) = in_order().find(|&(_, _, bytes)| bytes < RUNS_MIN * run_bytes)?;
    (cores > 1)
        .then(|| format!("cores of workload \"{}\" step through a small working set side by side", workload.name))
}

/// Returns why the first workload with phases of its own forbids an early end.
fn changing_workload(server: &ServerParams) -> Option<String> {
    server.workloads.iter().find_map(|workload| {
        let why = match &workload.kind {
            WorkloadKind::Tiering(_) => "migrates pages",
            WorkloadKind::App(app) => match app.app {
                App::PageRank(_) | App::Betweenness(_) => "goes through the phases of a graph algorithm",
                App::Trace(_) => "replays a trace",
                _ => return None,
            },
            _ => return None,
        };
        Some(format!("workload \"{}\" {why}", workload.name))
    })
}

/// Returns the length of a batch, in ps: the least multiple of the interval between refreshes that lasts `least_ps`.
/// Other batches would have one refresh more or less than the next, which is no noise.
pub(crate) fn batch_ps(plan: &Plan, least_ps: u64) -> u64 {
    let Some(server) = plan.server() else { return least_ps };
    let dram = &server.socket().memory.dram;
    let interval_ps = u64::from(dram.timing.refi) * dram.clock_ps_numerator / dram.clock_ps_denominator;
    least_ps.next_multiple_of(interval_ps.max(1))
}

/// Returns true if `batches` certify that a measurement of `length_ps` is stationary.
pub(crate) fn is_certified(plan: &Plan, batches: &ReadingHistory, length_ps: u64) -> bool {
    let samples = batches.of_server(0);
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return false };
    let batch_ps = last.at.since(first.at) as f64 / (samples.len() - 1).max(1) as f64;
    let measured_ps = batch_ps * samples.len() as f64;
    is_tested_at(samples.len())
        && measured_ps >= length_ps as f64 * SIMULATED_MIN
        && find_gap(plan, last, &[]).is_none()
        && find_change(samples, &[]).is_none()
}

/// Returns true if the certificate is tested at `count` batches.
fn is_tested_at(count: usize) -> bool {
    let mut tested = BATCHES_MIN;
    while tested < count {
        tested = tested * NEXT.0 / NEXT.1;
    }
    tested == count
}

/// Running total of a server.
#[derive(Clone, Copy)]
enum Total {
    Lines(PoolGroup, usize),
    Residence(PoolGroup, usize),
    Bytes(usize),
    Commands(usize),
    CommandTime(usize),
    Operations(usize),
    TimedOperations(usize),
    OperationTime(usize),
    LinesRead,
    Activations,
}

impl Total {
    fn of(self, sample: &Sample) -> f64 {
        match self {
            Total::Lines(group, class) => sample.of(group, class).lines as f64,
            Total::Residence(group, class) => sample.of(group, class).residence_ps as f64,
            Total::Bytes(class) => sample.app_bytes[class] as f64,
            Total::Commands(class) => sample.commands[class][0] as f64,
            Total::CommandTime(class) => sample.commands[class][1] as f64,
            Total::Operations(place) => sample.operations.get(place).copied().unwrap_or(0) as f64,
            Total::TimedOperations(class) => sample.operation_times[class][0] as f64,
            Total::OperationTime(class) => sample.operation_times[class][1] as f64,
            Total::LinesRead => sample.lines_read as f64,
            Total::Activations => sample.read_activations as f64,
        }
    }
}

/// Running total, and the one that it is divided by; `None` divides by the number of batches, which are equally long.
type Ratio = (Total, Option<Total>);

/// Returns what is not stationary, and by how much, or `None` if everything that the samples count is.
fn find_change(samples: &[Sample], names: &[&str]) -> Option<String> {
    let last = samples.last()?;
    let name = |class: usize| names.get(class).copied().unwrap_or_default();
    let classes = (0..last.app_bytes.len()).flat_map(|class| {
        let of_class = move |(what, ratio, weight)| (format!("{what} of {}", name(class)), ratio, weight);
        ratios_of(class, last).into_iter().map(of_class)
    });
    let operations = (0..last.operations.len())
        .map(|place| ("the rate of operations".to_owned(), (Total::Operations(place), None), 1.0));
    // Row misses matter as far as reads are many, and misses many of the reads.
    let [reads, writes] = [PoolGroup::Rpq, PoolGroup::Wpq]
        .map(|group| (0..last.app_bytes.len()).map(|class| last.of(group, class).lines).sum::<u64>() as f64);
    let missing = last.read_activations as f64 / last.lines_read.max(1) as f64;
    let weight = missing.min(1.0) * reads / (reads + writes).max(1.0);
    let rows = ("the share of row misses".to_owned(), (Total::Activations, Some(Total::LinesRead)), weight);
    let mut ratios = classes.chain(operations).chain([rows]);
    let unsteady =
        ratios.find_map(|(what, ratio, weight)| Some(format!("{what} {}", why_unsteady(samples, ratio, weight)?)));
    unsteady.or_else(|| (!has_filled(samples)).then(|| "the content of the caches drifts".to_owned()))
}

/// Returns the ratios of totals that must be stationary for a workload, each with its name and the weight of its error:
/// a domain with a tenth of the lines, or of the latency, of another may be known ten times less well.
fn ratios_of(class: usize, last: &Sample) -> Vec<(String, Ratio, f64)> {
    let count = |group: PoolGroup| last.of(group, class).lines as f64;
    let latency = |group: PoolGroup| last.of(group, class).residence_ps as f64 / count(group).max(1.0);
    let most = PoolGroup::ALL.into_iter().map(count).fold(1.0, f64::max);
    let longest = PoolGroup::ALL.into_iter().map(latency).fold(1.0, f64::max);
    let of_domain = |group: PoolGroup| {
        let (lines, residence) = (Total::Lines(group, class), Total::Residence(group, class));
        let name = group.name();
        [
            (format!("the rate of {name}"), (lines, None), count(group) / most),
            (
                format!("the latency of {name}"),
                (residence, Some(lines)),
                latency(group) / longest * count(group) / most,
            ),
        ]
    };
    let of_storage = [
        ("the storage rate".to_owned(), (Total::Bytes(class), None), 1.0),
        ("the latency of commands".to_owned(), (Total::CommandTime(class), Some(Total::Commands(class))), 1.0),
    ];
    // The rate of clients that think for long says little about what their operations take.
    let time = (Total::OperationTime(class), Some(Total::TimedOperations(class)));
    let of_operations = [("the latency of operations".to_owned(), time, 1.0)];
    PoolGroup::ALL.into_iter().flat_map(of_domain).chain(of_storage).chain(of_operations).collect()
}

/// Returns why the ratio of two running totals is not stationary over the samples: a drift, a difference between both
/// halves, or a wide interval. Errors are multiplied by `weight`. A total that never grows is stationary.
fn why_unsteady(samples: &[Sample], (total, per): Ratio, weight: f64) -> Option<String> {
    let over = increases(samples, |sample| total.of(sample));
    let under = per.map_or_else(|| vec![1.0; samples.len()], |per| increases(samples, |sample| per.of(sample)));
    let sum: f64 = over.iter().sum();
    if sum == 0.0 {
        return None;
    }
    // A batch weighs as much as what the ratio is per, so that the mean of the values is 1.
    let (mean, unit) = (sum / under.iter().sum::<f64>(), sum / over.len() as f64);
    let values: Vec<f64> =
        over.iter().zip(&under).map(|(over, under)| 1.0 + weight * (over - mean * under) / unit).collect();
    let found = batch::estimate(&values, CONFIDENCE_GROUPS);
    let (first, second) = values.split_at(values.len() / 2);
    let mean_of = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let differs = (mean_of(first) - mean_of(second)).abs();
    let percent = |share: f64| share * 100.0;
    match found.drift {
        Some(drift) => Some(format!("drifts by {:.2} %", percent(drift.abs()))),
        None if found.half_width > HALF_WIDTH_MAX => {
            Some(format!("is known only to {:.2} %", percent(found.half_width)))
        }
        None if differs > HALVES_MAX => Some(format!("differs by {:.2} % between the two halves", percent(differs))),
        None => None,
    }
}

/// Returns the entry `forward` of the summary for a measurement of `ps`.
pub(super) fn outcome(plan: &Plan, batches: &ReadingHistory, ps: u64, simulated_ps: f64) -> Value {
    let requested_ps = ps as f64;
    let skipped = (1.0 - simulated_ps / requested_ps).max(0.0);
    let note = if skipped > 0.0 {
        format!(
            "run.forward: {:.1} % of the measurement was skipped ({} of {} simulated), because rates and latencies \
             do not drift and are known to {} %, those of domains as far as they matter; counts cover the simulated \
             part only",
            skipped * 100.0,
            // Whole microseconds, as batches have no round length.
            shown((simulated_ps / 1e6).round() as u64 * 1_000_000),
            shown(ps),
            HALF_WIDTH_MAX * 100.0,
        )
    } else {
        let (samples, names) = (batches.of_server(0), workload_names(plan));
        let gap = || find_gap(plan, samples.last()?, &names);
        let why = refusal(plan).or_else(gap).or_else(|| find_change(samples, &names));
        let why = why.unwrap_or_else(|| "it was too short to be certified as stationary".to_owned());
        format!("run.forward: nothing was skipped, because {why}")
    };
    entry(requested_ps, simulated_ps, &note)
}

/// Returns the names of the workloads of a lone server, by class.
fn workload_names(plan: &Plan) -> Vec<&str> {
    plan.server()
        .map_or_else(Vec::new, |server| server.workloads.iter().map(|workload| workload.name.as_str()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_certificate_is_tested_seldom() {
        let tested: Vec<usize> = (0..1000).filter(|&count| is_tested_at(count)).collect();
        assert_eq!(tested, [256, 384, 576, 864]);
    }
}
