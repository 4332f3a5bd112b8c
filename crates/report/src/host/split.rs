//! Splits a server of several sockets into one host per socket.

use super::paths::{DomainPath, CROSSING, DRAM};
use super::pools::sum_pools;
use super::view::{FirstParts, HostView, SocketView};
use crate::row::{Fields, Row, ALL};
use crate::run::ServerRun;
use crate::sockets::{server_sockets, ServerSocket};
use serde_json::Value;

/// Returns the sockets of the server of a run as hosts; empty if there is only one.
#[must_use]
pub(crate) fn split_sockets(run: &ServerRun, host: &HostView) -> Vec<HostView> {
    server_sockets(&host.config).into_iter().map(|socket| socket_host(socket, host, run)).collect()
}

/// Returns the UPI links between the sockets.
#[must_use]
pub(crate) fn upi_links(run: &ServerRun) -> Vec<&Row> {
    run.summary.rows("upi")
}

/// Returns the host of one socket.
fn socket_host(socket: ServerSocket, host: &HostView, run: &ServerRun) -> HostView {
    // With a single workload, there are only rows of all workloads.
    let several = run.summary.rows("workloads").len() > 1;
    let here: Vec<&Row> = run.domains.iter().filter(|row| socket.has(row.text("part"))).collect();
    let is_used = |domain: &str| here.iter().any(|row| row.text("domain") == domain && is_in_use(row));
    let own: Vec<&Row> = here.iter().copied().filter(|row| is_used(row.text("domain"))).collect();
    let pools = sum_pools(&own);
    let of_workloads: Vec<&Row> =
        own.into_iter().filter(|row| is_in_use(row) && (row.text("workload") != ALL || !several)).collect();
    let numbers = socket.parts_of("channel");
    let channels: Vec<Row> =
        host.channels.iter().filter(|row| is_within(row.whole("channel"), &numbers)).cloned().collect();
    let is_here = |path: &&DomainPath| pools.iter().any(|pool| pool.name == path.domain);
    HostView {
        channels_all: mean_channels(&channels),
        channels,
        binding: binding_here(host, &of_workloads, several),
        paths: host.paths.iter().filter(is_here).map(|path| path_on_socket(path, &of_workloads)).collect(),
        pools,
        socket: Some(view_socket(&socket, run)),
        config: socket.config,
    }
}

/// Returns what is known only of a socket.
fn view_socket(socket: &ServerSocket, run: &ServerRun) -> SocketView {
    let first = |kind| socket.parts_of(kind).start;
    let own = socket.number..socket.number + 1;
    let links = upi_links(run).into_iter();
    let llc = run.summary.value("llc").and_then(Value::as_object).map(|llc| llc.rows("sockets"));
    SocketView {
        number: socket.number,
        first: FirstParts { core: first("core"), channel: first("channel"), drive: first("ssd") },
        links: links.filter(|row| ["from", "to"].iter().any(|end| is_within(row.whole(end), &own))).cloned().collect(),
        llc: llc.and_then(|rows| rows.get(socket.number).map(|&row| row.clone())),
    }
}

fn is_within(number: Option<i64>, numbers: &std::ops::Range<usize>) -> bool {
    number.and_then(|number| usize::try_from(number).ok()).is_some_and(|number| numbers.contains(&number))
}

fn is_in_use(row: &Row) -> bool {
    row.nonzero("in_use_mean").is_some()
}

/// Returns the limits of the server with those workloads that use the socket.
fn binding_here(host: &HostView, rows: &[&Row], several: bool) -> Vec<(String, Vec<String>)> {
    if rows.is_empty() {
        return Vec::new();
    }
    let is_here = |name: &&String| !several || rows.iter().any(|row| row.text("workload") == name.as_str());
    let bound = |(limit, names): &(String, Vec<String>)| {
        (limit.clone(), names.iter().filter(is_here).cloned().collect::<Vec<_>>())
    };
    host.binding.iter().map(bound).filter(|(_, names)| !names.is_empty()).collect()
}

/// Returns the path of a domain on a socket: through its memory if lines are homed there, and UPI if they cross.
fn path_on_socket(path: &DomainPath, rows: &[&Row]) -> DomainPath {
    let Some(&queue) = path.hops.iter().find(|hop| ["RPQ", "WPQ"].contains(hop)) else { return path.clone() };
    let uses = |domain: &str, workload: &str| {
        rows.iter().any(|row| row.text("domain") == domain && row.text("workload") == workload)
    };
    let passes =
        |pool: &str| rows.iter().any(|row| row.text("domain") == pool && uses(path.domain, row.text("workload")));
    let left_out: &[&str] = if passes(queue) { &[] } else { &[queue, DRAM] };
    path.on_socket(left_out, passes(CROSSING))
}

/// Returns the mean of the shares of all channels of a socket; `None` without channels.
fn mean_channels(rows: &[Row]) -> Option<Row> {
    let mean = |name: &str| {
        let known: Vec<f64> = rows.iter().filter_map(|row| row.number(name)).collect();
        (name.to_owned(), (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64).into())
    };
    (!rows.is_empty()).then(|| ["bus_busy_share", "row_miss_ratio"].into_iter().map(mean).collect())
}
