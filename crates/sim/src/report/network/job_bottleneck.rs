//! Finds the limits of the steps of a job, from the pieces of its critical path and the resources that were busy
//! meanwhile.

use super::critical_path::{trace_path, PathActivity, PathPiece};
use super::flow_paths::FlowPaths;
use super::limit::{not_known, TrafficLimit, NOT_KNOWN};
use super::segment::PathSegment;
use super::segment_bottleneck::JobView;
use crate::report::table::{Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_model::flow::Rank;
use hostnet_model::params::JobParams;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Share of the critical path below which an activity is not the limit of the job.
const LEAST: f64 = 0.2;

/// Largest number of rows of a job: those that take the longest.
const ROWS: usize = 32;

/// A limit at several places: by place, its total time, its longest segment, and the words for that one.
#[derive(Default)]
struct LimitPlaces(BTreeMap<String, (u64, u64, TrafficLimit)>);

impl LimitPlaces {
    fn add(&mut self, limit: &TrafficLimit, ps: u64) {
        let (sum, longest, words) = self.0.entry(limit.place.clone()).or_insert_with(|| (0, 0, limit.clone()));
        *sum += ps;
        // The longest segment shows the limit best, so its words are kept.
        if ps > *longest {
            (*longest, *words) = (ps, limit.clone());
        }
    }

    /// Returns the limit at the place with the most time, in the words for its longest segment.
    fn most(self) -> Option<TrafficLimit> {
        self.0.into_values().max_by_key(|&(sum, ..)| sum).map(|(.., limit)| limit)
    }
}

/// Limit of the steps with one name and activity.
struct StepBottleneck {
    phase: u8,
    activity: PathActivity,
    /// Limit, at the place with the most time.
    limit: TrafficLimit,
    /// Time on the critical path, in ps.
    ps: u64,
}

/// Segment of the path with its limit.
struct BoundSegment {
    segment: PathSegment,
    limit: TrafficLimit,
    /// Rate of the cable that is the limit, in bytes per second; 0 for another limit. Cables of different rates, such
    /// as those of a rail and of a scale-up fabric, are different limits.
    cable_rate: u64,
}

/// Critical path of a job, with its limits.
pub(super) struct JobPath {
    segments: Vec<BoundSegment>,
    /// Limits by step and activity, the longest first.
    bottlenecks: Vec<StepBottleneck>,
    all_ps: u64,
}

impl JobPath {
    fn new(segments: Vec<PathSegment>, view: &JobView) -> Self {
        let all_ps = segments.iter().map(PathSegment::ps).sum();
        let (mut places, mut bound): (BTreeMap<_, (u64, LimitPlaces)>, Vec<_>) = (BTreeMap::new(), Vec::new());
        for segment in segments {
            let limit = view.segment_limit(&segment);
            let cable_rate = view.cable_rate(&segment, &limit);
            let key = (segment.phase, segment.activity, limit.limit, cable_rate);
            let (ps, of) = places.entry(key).or_default();
            *ps += segment.ps();
            of.add(&limit, segment.ps());
            bound.push(BoundSegment { segment, limit, cable_rate });
        }
        let places = places.into_iter();
        let found = places.filter_map(|((phase, activity, ..), (ps, of))| {
            Some(StepBottleneck { phase, activity, limit: of.most()?, ps })
        });
        let mut bottlenecks: Vec<StepBottleneck> = found.collect();
        bottlenecks.sort_by_key(|bound| Reverse(bound.ps));
        Self { segments: bound, bottlenecks, all_ps }
    }

    /// Returns a time as a share of the critical path.
    fn share(&self, ps: u64) -> f64 {
        ps as f64 / self.all_ps.max(1) as f64
    }

    /// Returns the pieces of the path in the order of time, each with its limit.
    pub(super) fn pieces(&self) -> Vec<(&PathPiece, &TrafficLimit)> {
        let bound = self.segments.iter();
        let all = bound.flat_map(|bound| bound.segment.pieces.iter().map(move |one| (one, &bound.limit)));
        let mut pieces: Vec<_> = all.collect();
        pieces.sort_by_key(|(piece, _)| (piece.from, piece.to));
        pieces
    }

    /// Returns the time of the path that a rank computes, copies or sends, in ps.
    pub(super) fn rank_ps(&self, rank: u32) -> u64 {
        let segments = self.segments.iter().map(|bound| &bound.segment);
        segments.filter(|segment| segment.ranks.0 == rank).map(PathSegment::ps).sum()
    }

    /// Returns the host with the largest share of the critical path, and that share; `None` without a path. A segment
    /// between two hosts counts for both, or only for the one that its limit names.
    pub(super) fn host<'a>(&self, job: &JobParams, name: &dyn Fn(u16) -> &'a str) -> Option<(u16, f64)> {
        let mut at: BTreeMap<u16, u64> = BTreeMap::new();
        for BoundSegment { segment, limit, .. } in &self.segments {
            let ends = BTreeSet::from([job.host_of(segment.ranks.0), job.host_of(segment.ranks.1)]);
            // The place of a cable names both ends, as `cable_words` writes them.
            let bound = |host: &&u16| limit.place.split(" to ").any(|end| end == name(**host));
            let any = ends.iter().any(|host| bound(&host));
            for &host in ends.iter().filter(|host| !any || bound(host)) {
                *at.entry(host).or_default() += segment.ps();
            }
        }
        let (host, ps) = at.into_iter().max_by_key(|&(host, ps)| (ps, Reverse(host)))?;
        Some((host, self.share(ps)))
    }

    /// Returns the limit with the largest share of the path. It is not known if that share is small, or if the limit
    /// of these segments is not known.
    pub(super) fn limit(&self) -> Option<TrafficLimit> {
        let mut by_limit: BTreeMap<(&str, u64), (u64, LimitPlaces)> = BTreeMap::new();
        for BoundSegment { segment, limit, cable_rate } in &self.segments {
            let (ps, places) = by_limit.entry((limit.limit, *cable_rate)).or_default();
            *ps += segment.ps();
            places.add(limit, segment.ps());
        }
        let (ps, places) = by_limit.into_values().max_by_key(|&(ps, _)| ps)?;
        let (share, TrafficLimit { limit, place, why, .. }) = (self.share(ps), places.most()?);
        let why = format!("{:.0} % of the time that the job took: {why}", 100.0 * share);
        // The largest of many small shares explains little of the time.
        if share < LEAST || limit == NOT_KNOWN {
            return Some(not_known(None, why));
        }
        Some(TrafficLimit { limit, place, load: Some(share), why })
    }
}

/// Rows of the table `path`: a job, its critical path, and one of the limits of its steps.
struct PathRows;

impl TableRows for PathRows {
    type Row<'a> = (&'a JobParams, &'a JobPath, &'a StepBottleneck);
}

const PATHS: &[Column<PathRows>] = &[
    Column::key(Column::text("job", |(job, ..)| job.name.as_str().into())),
    Column::key(Column::text("step", |(job, _, bound)| job.phases[usize::from(bound.phase)].as_str().into())),
    Column::key(Column::text("does", |(.., bound)| bound.activity.name().into())),
    Column::key(Column::text("limit", |(.., bound)| bound.limit.limit.into())),
    Column::key(Column::text("place", |(.., bound)| bound.limit.place.as_str().into())),
    Column::number("time_us", |(.., bound)| (bound.ps as f64 / 1e6).into()),
    Column::number("share", |(_, path, bound)| path.share(bound.ps).into()),
    Column::number("load", |(.., bound)| bound.limit.load.into()),
    Column::text("why", |(.., bound)| bound.limit.why.as_str().into()),
];

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("path", PATHS)
}

/// Returns the critical path of a job with these ranks, and its limits.
fn path_of(view: &WorldView, job: usize, ranks: &[&Rank], flow_paths: Option<&FlowPaths>) -> JobPath {
    let mut found: BTreeMap<_, Vec<PathPiece>> = BTreeMap::new();
    for piece in trace_path(ranks) {
        found.entry((piece.phase, piece.activity, piece.ranks, piece.summed)).or_default().push(piece);
    }
    let segment = |((phase, activity, ranks, summed), pieces)| PathSegment { phase, activity, ranks, summed, pieces };
    let on_path = JobView::new(view, job, ranks, flow_paths);
    JobPath::new(found.into_iter().map(segment).collect(), &on_path)
}

/// Returns the critical paths of all jobs.
pub(super) fn job_paths(view: &WorldView) -> Vec<JobPath> {
    let jobs = 0..view.plan.cluster.jobs.len();
    // Without jobs, the ports of a large network need no listing.
    let flow_paths = if jobs.is_empty() { None } else { FlowPaths::new(view) };
    jobs.map(|job| path_of(view, job, &view.ranks_of(job), flow_paths.as_ref())).collect()
}

/// Builds the table.
pub(super) fn path_table(view: &WorldView, paths: &[JobPath]) -> Table {
    let mut table = Table::of("path", PATHS);
    for (job, path) in view.plan.cluster.jobs.iter().zip(paths) {
        path.bottlenecks.iter().take(ROWS).for_each(|bound| table.add(PATHS, &(job, path, bound)));
    }
    table
}
