//! The tables of jobs: `jobs`, `steps` (by name) and `path` (limits on the critical path), and rules for their
//! limits.

use super::class::TrafficClass;
use super::engines::busiest_engine;
use super::hosts::memory_bytes;
use super::job_bottleneck::{path_table, JobPath};
use super::limit::{not_known, TrafficLimit, MOST, NOT_KNOWN};
use super::sums::busy_sums;
use crate::report::table::{Cell, Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_kernel::Time;
use hostnet_model::flow::{PhaseStats, Rank};
use hostnet_model::params::{JobParams, Traffic};

/// Share of time at or above which an engine that is not full may still delay a job.
const SOME: f64 = 0.5;

/// Limits for which the critical path is better evidence than means over the window.
const CLOSER: [&str; 6] = ["cable", "compression", "switch sums", "rank cores", "ranks", NOT_KNOWN];

/// One job and its ranks.
struct JobRow<'a> {
    params: &'a JobParams,
    /// Ranks of the job, in order.
    ranks: Vec<&'a Rank>,
    /// Function that returns the name of a host.
    host: &'a dyn Fn(u16) -> &'a str,
    /// Memory traffic of all servers with ranks of the job, in GB/s; `None` if all ranks are at endpoints.
    memory_gb_per_s: Option<f64>,
    path: &'a JobPath,
    now: Time,
}

impl<'a> JobRow<'a> {
    /// Sums the statistics of all ranks, for the steps with one name or, with `None`, for all.
    fn stats(&self, phase: Option<usize>) -> PhaseStats {
        let own = |rank: &&'a Rank| match phase {
            Some(phase) => rank.phases().get(phase..=phase),
            None => Some(rank.phases()),
        };
        let all = self.ranks.iter().filter_map(own).flatten();
        all.fold(PhaseStats::default(), |sum, stats| sum.plus(stats))
    }

    /// Returns the share of the time of all ranks in which they did not compute, 0 to 1.
    fn communication_share(&self) -> Option<f64> {
        let times = self.ranks.iter().map(|rank| rank.communication_ps(self.now));
        let (all, rest) = times.fold((0, 0), |(all, rest), (more, other)| (all + more, rest + other));
        (all > 0).then(|| rest as f64 / all as f64)
    }

    /// Returns the number of ranks that are not done.
    fn unfinished(&self) -> u64 {
        self.ranks.iter().filter(|rank| rank.done_at().is_none()).count() as u64
    }

    fn began_ps(&self) -> u64 {
        self.params.start_ps
    }

    /// Returns the time when the last rank was done, in ps, if all are. Skipped repetitions count.
    fn done_ps(&self) -> Option<u64> {
        let done_ps = |rank: &&Rank| rank.done_at().map(|at| at.ps() + rank.skipped_ps());
        let done: Option<Vec<u64>> = self.ranks.iter().map(done_ps).collect();
        done?.into_iter().max()
    }

    /// Returns the mean time of an iteration, in ps, if the job is done.
    fn iteration_ps(&self) -> Option<f64> {
        let ps = self.done_ps()?.saturating_sub(self.began_ps());
        Some(ps as f64 / f64::from(self.params.iterations))
    }

    /// Returns the rank that was done last, or an unfinished one; the first of several.
    fn slowest(&self) -> Option<&'a Rank> {
        let late = |rank: &&Rank| (rank.done_at().map_or(u64::MAX, |at| at.ps()), std::cmp::Reverse(rank.number()));
        self.ranks.iter().copied().max_by_key(late)
    }

    /// Returns the number of hosts that have ranks.
    fn hosts(&self) -> u64 {
        let mut hosts = self.params.hosts.clone();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.len() as u64
    }

    /// Returns the name of the host of a rank.
    fn rank_host(&self, rank: &Rank) -> &'a str {
        (self.host)(self.params.hosts[rank.number().1 as usize])
    }
}

/// Rows of the table `jobs`: [`JobRow`].
struct JobRows;

impl TableRows for JobRows {
    type Row<'a> = JobRow<'a>;
}

const JOBS: &[Column<JobRows>] = &[
    Column::key(Column::text("job", |row| row.params.name.as_str().into())),
    Column::given(Column::text("kind", |row| row.params.kind.as_str().into())),
    Column::given(Column::integer("ranks", |row| (row.ranks.len() as u64).into())),
    Column::given(Column::integer("hosts", |row| row.hosts().into())),
    Column::given(Column::number("launched_us", |row| us(row.params.launch_ps as f64))),
    Column::number("began_us", |row| us(row.began_ps() as f64)),
    Column::number("done_us", |row| row.done_ps().map_or(Cell::from(None::<f64>), |ps| us(ps as f64))),
    Column::integer("unfinished_ranks", |row| row.unfinished().into()),
    Column::given(Column::integer("iterations", |row| u64::from(row.params.iterations).into())),
    Column::number("iteration_us", |row| row.iteration_ps().map(|ps| ps / 1e6).into()),
    Column::number("communication_share", |row| row.communication_share().into()),
    Column::integer("messages", |row| row.stats(None).messages.into()),
    Column::integer("bytes", |row| row.stats(None).bytes.into()),
    Column::integer("slowest_rank", |row| row.slowest().map(|rank| u64::from(rank.number().1)).into()),
    Column::text("slowest_host", |row| row.slowest().map_or("", |rank| row.rank_host(rank)).into()),
    Column::number("memory_gb_per_s", |row| row.memory_gb_per_s.into()),
    Column::text("path_host", |row| {
        row.path.host(row.params, row.host).map_or("", |(host, _)| (row.host)(host)).into()
    }),
    Column::number("path_share", |row| row.path.host(row.params, row.host).map(|(_, share)| share).into()),
];

/// All steps of a job with one name.
struct StepRow<'a> {
    job: &'a str,
    name: &'a str,
    stats: PhaseStats,
    /// Time of all steps of the job, summed over the ranks, in ps.
    all_ps: u64,
}

impl StepRow<'_> {
    /// Returns the mean per step of a time in ps, in us.
    fn each(&self, ps: u64) -> Option<f64> {
        (self.stats.steps > 0).then(|| ps as f64 / 1e6 / self.stats.steps as f64)
    }

    /// Returns the rate at which a rank sends while it does not compute, in Gbit/s.
    fn rate_gbps(&self) -> Option<f64> {
        let ps = self.stats.time_ps - self.stats.compute_ps;
        (ps > 0 && self.stats.bytes > 0).then(|| self.stats.bytes as f64 * 8000.0 / ps as f64)
    }
}

/// Rows of the table `steps`: [`StepRow`].
struct StepRows;

impl TableRows for StepRows {
    type Row<'a> = StepRow<'a>;
}

const STEPS: &[Column<StepRows>] = &[
    Column::key(Column::text("job", |row| row.job.into())),
    Column::key(Column::text("step", |row| row.name.into())),
    Column::integer("count", |row| row.stats.steps.into()),
    Column::number("mean_us", |row| row.each(row.stats.time_ps).into()),
    Column::number("max_us", |row| (row.stats.steps > 0).then(|| row.stats.most_ps as f64 / 1e6).into()),
    Column::number("compute_us", |row| row.each(row.stats.compute_ps).into()),
    Column::number("share", |row| (row.all_ps > 0).then(|| row.stats.time_ps as f64 / row.all_ps as f64).into()),
    Column::integer("messages", |row| row.stats.messages.into()),
    Column::integer("bytes", |row| row.stats.bytes.into()),
    Column::number("rate_gbps", |row| row.rate_gbps().into()),
];

fn us(ps: f64) -> Cell {
    (ps / 1e6).into()
}

/// Returns the descriptions of the tables.
pub(super) fn table_info() -> [TableInfo; 2] {
    [TableInfo::of("jobs", JOBS), TableInfo::of("steps", STEPS)]
}

/// Builds the tables of jobs, of their steps and of their paths. The list is empty without jobs.
pub(super) fn job_tables(view: &WorldView, paths: &[JobPath]) -> Vec<Table> {
    let cluster = &view.plan.cluster;
    if cluster.jobs.is_empty() {
        return Vec::new();
    }
    let host = |host: u16| cluster.hosts[usize::from(host)].name.as_str();
    let (mut jobs, mut steps) = (Table::of("jobs", JOBS), Table::of("steps", STEPS));
    for (number, (params, path)) in cluster.jobs.iter().zip(paths).enumerate() {
        let (ranks, memory_gb_per_s) = (view.ranks_of(number), memory_of(view, params));
        let job = JobRow { params, ranks, host: &host, memory_gb_per_s, path, now: view.now };
        jobs.add(JOBS, &job);
        let all_ps = job.stats(None).time_ps;
        for (phase, name) in params.phases.iter().enumerate() {
            steps.add(STEPS, &StepRow { job: &params.name, name, stats: job.stats(Some(phase)), all_ps });
        }
    }
    vec![jobs, steps, path_table(view, paths)]
}

/// Returns the memory traffic of all servers with ranks of a job, in GB/s.
fn memory_of(view: &WorldView, job: &JobParams) -> Option<f64> {
    let own = view.servers().filter(|(host, _)| job.hosts.iter().any(|&at| usize::from(at) == *host));
    let bytes: Vec<u64> = own.map(|(host, machine)| memory_bytes(view, host, machine)).collect();
    (!bytes.is_empty()).then(|| view.gb_per_s(bytes.iter().sum()))
}

/// Names the activity of the ranks of a job, for a class of its messages with nothing full on their path.
pub(super) fn waiting_ranks(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let job = class.flows.iter().find_map(|flow| match flow.traffic {
        Traffic::Messages(channel) => Some(channel.job as usize),
        _ => None,
    })?;
    // Checked first, as an engine that is not full gives no certain limit.
    if let Some(limit) = busy_rank(view, job) {
        return Some(limit);
    }
    // A faster engine would help, but so might other changes.
    let engine = busiest_engine(view, class).filter(|engine| engine.load >= Some(SOME));
    if let Some(engine) = engine.or_else(|| busy_sums(view, class, SOME)) {
        return Some(not_known(None, format!("{}, and nothing on its way is full", engine.why)));
    }
    let stats = view.ranks_of(job).into_iter().flat_map(Rank::phases);
    let share = stats.fold(PhaseStats::default(), |sum, stats| sum.plus(stats)).communication_share()?;
    let why = format!(
        "nothing on its way is full: its ranks compute {:.0} % of the time, and send or wait for each other in the \
         rest",
        100.0 * (1.0 - share)
    );
    Some(TrafficLimit { limit: "ranks", place: String::new(), load: Some(share), why })
}

/// Returns the limit that takes most of the critical path, if the class is a job. Falls back to `rules` if that limit
/// is not known or the class is no job.
pub(super) fn limit_on_path(
    view: &WorldView,
    name: &str,
    paths: &[JobPath],
    rules: impl FnOnce() -> TrafficLimit,
) -> TrafficLimit {
    let job = view.plan.cluster.jobs.iter().position(|job| job.name == name);
    // The critical path covers the whole run, so it applies only without a warm-up. After a skip the measurement covers
    // repetitions like those before.
    let is_whole = view.window_start.ps() == 0 || !view.skips.skips.is_empty();
    let job = job.filter(|_| is_whole && view.now > view.window_start);
    let path = job.and_then(|job| paths.get(job));
    match path.and_then(|path| path.limit()) {
        None => rules(),
        Some(known) if known.limit != NOT_KNOWN => known,
        Some(unknown) => Some(rules()).filter(|limit| !CLOSER.contains(&limit.limit)).unwrap_or(unknown),
    }
}

/// Names the rank of a job whose core at an endpoint is the busiest, if that core is busy nearly all of the time.
fn busy_rank(view: &WorldView, job: usize) -> Option<TrafficLimit> {
    let loads = view.ranks_of(job).into_iter().filter_map(|rank| {
        // A rank that is done idles until the others are, which must not lower its load.
        let now = rank.done_at().unwrap_or(view.now);
        Some((rank.core_busy_ps(now)? as f64 / now.ps().max(1) as f64, rank.number().1))
    });
    let (load, rank) = loads.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(load, _)| *load >= MOST)?;
    let place = view.plan.cluster.hosts[usize::from(view.plan.cluster.jobs[job].hosts[rank as usize])].name.clone();
    let why = format!("the core of rank {rank} copies and computes {:.0} % of the time", 100.0 * load);
    Some(TrafficLimit { limit: "rank cores", place, load: Some(load), why })
}
