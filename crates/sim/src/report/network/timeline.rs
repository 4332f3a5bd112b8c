//! The tables `ranks`, `timeline` (steps of ranks over time) and `path_pieces` (the critical path over time).

use super::critical_path::PathPiece;
use super::job_bottleneck::JobPath;
use super::limit::TrafficLimit;
use crate::report::table::{Column, Table, TableContent, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_kernel::Time;
use hostnet_model::flow::{CompletedStep, PhaseStats, Rank};
use hostnet_model::params::JobParams;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Largest number of ranks of a job in the timeline.
const RANKS: usize = 64;
/// Approximate number of rows of the timeline, and the smallest number of steps of each rank in it.
const STEPS: usize = 1 << 16;
/// See [`STEPS`].
const STEPS_OF_RANK: usize = 16;

/// A rank of a job, with its time on the critical path.
struct RankRow<'a> {
    view: &'a WorldView<'a>,
    job: &'a JobParams,
    rank: &'a Rank,
    /// Time on the critical path, in ps.
    path_ps: u64,
}

impl<'a> RankRow<'a> {
    fn number(&self) -> u32 {
        self.rank.number().1
    }

    fn host(&self) -> &'a str {
        &self.view.plan.cluster.hosts[usize::from(self.job.host_of(self.number()))].name
    }

    fn stats(&self) -> PhaseStats {
        self.rank.phases().iter().fold(PhaseStats::default(), |sum, stats| sum.plus(stats))
    }
}

/// Rows of the table `ranks`: [`RankRow`].
struct RankRows;

impl TableRows for RankRows {
    type Row<'a> = RankRow<'a>;
}

const RANKS_TABLE: &[Column<RankRows>] = &[
    Column::key(Column::text("job", |row| row.job.name.as_str().into())),
    Column::key(Column::integer("rank", |row| row.number().into())),
    Column::given(Column::text("host", |row| row.host().into())),
    Column::number("done_us", |row| row.rank.done_at().map(|at| us(at + row.rank.skipped_ps())).into()),
    Column::integer("steps", |row| row.stats().steps.into()),
    Column::number("compute_us", |row| (row.stats().compute_ps as f64 / 1e6).into()),
    Column::number("communication_us", |row| (row.rank.communication_ps(row.view.now).1 as f64 / 1e6).into()),
    Column::number("path_us", |row| (row.path_ps as f64 / 1e6).into()),
];

/// Rows of the table `timeline`: a rank and one of its steps.
struct StepRows;

impl TableRows for StepRows {
    type Row<'a> = (&'a RankRow<'a>, CompletedStep);
}

const TIMELINE: &[Column<StepRows>] = &[
    Column::text("job", |(row, _)| row.job.name.as_str().into()),
    Column::integer("rank", |(row, _)| row.number().into()),
    Column::text("host", |(row, _)| row.host().into()),
    Column::text("step", |(row, step)| row.job.phases[usize::from(step.phase)].as_str().into()),
    Column::number("began_us", |(_, step)| us(step.began).into()),
    Column::number("computed_us", |(_, step)| us(step.computed).into()),
    Column::number("written_us", |(_, step)| us(step.written).into()),
    // A step that waited for no message has received everything when it has written.
    Column::number("received_us", |(_, step)| us(step.received.max(step.written)).into()),
    Column::number("ended_us", |(_, step)| us(step.ended).into()),
];

/// Rows of the table `path_pieces`: a job, a piece of its critical path, and its limit.
struct PieceRows;

impl TableRows for PieceRows {
    type Row<'a> = (&'a JobParams, &'a PathPiece, &'a TrafficLimit);
}

const PIECES: &[Column<PieceRows>] = &[
    Column::text("job", |(job, ..)| job.name.as_str().into()),
    Column::text("step", |(job, piece, _)| job.phases[usize::from(piece.phase)].as_str().into()),
    Column::text("does", |(_, piece, _)| piece.activity.name().into()),
    Column::integer("from_rank", |(_, piece, _)| piece.ranks.0.into()),
    Column::integer("to_rank", |(_, piece, _)| piece.ranks.1.into()),
    Column::number("from_us", |(_, piece, _)| us(piece.from).into()),
    Column::number("to_us", |(_, piece, _)| us(piece.to).into()),
    Column::text("limit", |(.., limit)| limit.limit.into()),
    Column::text("place", |(.., limit)| limit.place.as_str().into()),
];

fn us(at: Time) -> f64 {
    at.ps() as f64 / 1e6
}

/// Returns the descriptions of the tables.
pub(super) fn table_info() -> [TableInfo; 3] {
    [
        TableInfo::of("ranks", RANKS_TABLE).with_content(TableContent::Derived),
        TableInfo::of("timeline", TIMELINE).with_content(TableContent::Series),
        TableInfo::of("path_pieces", PIECES).with_content(TableContent::Series),
    ]
}

/// Builds the tables. The list is empty without jobs.
pub(super) fn timeline_tables(view: &WorldView, paths: &[JobPath]) -> Vec<Table> {
    let jobs = &view.plan.cluster.jobs;
    if jobs.is_empty() {
        return Vec::new();
    }
    let mut ranks = Table::of("ranks", RANKS_TABLE);
    let mut timeline = Table::of("timeline", TIMELINE);
    let mut pieces = Table::of("path_pieces", PIECES);
    let shown: usize = jobs.iter().map(|job| job.hosts.len().min(RANKS)).sum();
    let most = (STEPS / shown.max(1)).max(STEPS_OF_RANK);
    for (number, (job, path)) in jobs.iter().zip(paths).enumerate() {
        let rank_row = |rank| RankRow { view, job, rank, path_ps: path.rank_ps(rank.number().1) };
        let rows: Vec<RankRow> = view.ranks_of(number).into_iter().map(rank_row).collect();
        rows.iter().for_each(|row| ranks.add(RANKS_TABLE, row));
        let drawn = drawn_ranks(&rows);
        for row in rows.iter().filter(|row| drawn.contains(&row.number())) {
            let early = row.rank.completed_steps().count().saturating_sub(most);
            row.rank.completed_steps().skip(early).for_each(|&step| timeline.add(TIMELINE, &(row, step)));
        }
        path.pieces().into_iter().for_each(|(piece, limit)| pieces.add(PIECES, &(job, piece, limit)));
    }
    vec![ranks, timeline, pieces]
}

/// Returns the ranks in the timeline: all, or half of [`RANKS`] with the most time on the critical path, the slowest
/// one, and others at equal distances.
fn drawn_ranks(rows: &[RankRow]) -> BTreeSet<u32> {
    if rows.len() <= RANKS {
        return rows.iter().map(RankRow::number).collect();
    }
    let mut by_path: Vec<&RankRow> = rows.iter().collect();
    by_path.sort_by_key(|row| Reverse(row.path_ps));
    let late = |row: &&RankRow| (row.rank.done_at().map_or(u64::MAX, |at| at.ps()), Reverse(row.number()));
    let slowest = rows.iter().max_by_key(late);
    let spread = rows.iter().step_by(rows.len().div_ceil(RANKS / 2));
    by_path.into_iter().take(RANKS / 2).chain(slowest).chain(spread).map(RankRow::number).collect()
}
