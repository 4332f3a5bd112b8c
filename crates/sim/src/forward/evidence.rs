//! Checks that a measurement has seen enough before its state counts as stationary: lines, storage commands, and caches
//! whose content it has replaced.

use crate::build::warm_up::{held_lines, TURNOVERS};
use crate::read::sample::{PoolGroup, Sample};
use hostnet_config::units::{format, Dimension};
use hostnet_config::Plan;
use hostnet_model::params::{FioJob, FioParams, ServerParams, WorkloadKind};

/// Least number of lines of a workload, a thousand of which lie beyond the P99 of their latency.
const LINES_MIN: u64 = 100_000;
/// Least number of times that the open commands of a workload end, if all are alike and of one direction.
const ROUNDS_MIN: u64 = 16;
/// Least number of times that they end if some read and others write, and that all commands in flight end if jobs
/// differ: slow ones wait for long.
const MIXED_ROUNDS_MIN: u64 = 64;

/// Returns what has been seen too seldom until `last`, or `None`.
pub(super) fn find_gap(plan: &Plan, last: &Sample, names: &[&str]) -> Option<String> {
    let server = plan.server()?;
    let name = |class: usize| names.get(class).copied().unwrap_or_default();
    let lines = |class: usize| PoolGroup::ALL.map(|group| last.of(group, class).lines).into_iter().max().unwrap_or(0);
    if let Some(class) = (0..last.app_bytes.len()).find(|&class| lines(class) < LINES_MIN) {
        return Some(format!("{} ended only {} accesses, too few for a P99", name(class), lines(class)));
    }
    missing_commands(server, last, &name).or_else(|| missing_turnovers(server, last))
}

/// Returns the first workload whose storage commands ended too seldom: the state within a command may differ from the
/// one between two of them.
fn missing_commands<'a>(server: &ServerParams, last: &Sample, name: &impl Fn(usize) -> &'a str) -> Option<String> {
    let streams = server.sockets.iter().map(|socket| socket.ssd.streams).max().unwrap_or(0);
    server.workloads.iter().zip(&last.app_bytes).enumerate().find_map(|(class, (workload, &moved))| {
        let WorkloadKind::Fio(fio) = &workload.kind else { return None };
        let wanted = wanted_bytes(fio, streams);
        let shown = |bytes: u64| format(bytes, Dimension::Size);
        (moved < wanted)
            .then(|| format!("{} moved only {} of {}, too few commands", name(class), shown(moved), shown(wanted)))
    })
}

/// Returns the bytes that a workload must move so that each drive has ended enough commands.
fn wanted_bytes(fio: &FioParams, streams: u32) -> u64 {
    let bytes = |most: u32| fio.jobs.iter().map(|job| u64::from(job.io_depth.min(most)) * job.block_bytes).sum::<u64>();
    let of = |job: &FioJob| (job.block_bytes, job.io_depth, job.reads, job.random);
    if fio.jobs.iter().any(|job| of(job) != of(&fio.jobs[0])) {
        return MIXED_ROUNDS_MIN * bytes(u32::MAX);
    }
    let is_mixed = fio.jobs.iter().any(|job| job.reads != 0 && job.reads != 1 << 32);
    bytes(streams) * if is_mixed { MIXED_ROUNDS_MIN } else { ROUNDS_MIN }
}

/// Returns why the caches may hold lines from before the measurement: what a slow core replaces shows late.
fn missing_turnovers(server: &ServerParams, last: &Sample) -> Option<String> {
    let held: u64 = server.sockets.iter().filter_map(held_lines).sum();
    let counts = last.total_cache_counts();
    let seen = counts.l2_lookups + counts.io_reads + counts.ddio_updates + counts.ddio_allocations;
    (seen < TURNOVERS * held).then(|| {
        format!("only {seen} lines were looked up in caches of {held} lines; {TURNOVERS} times as many are wanted")
    })
}
