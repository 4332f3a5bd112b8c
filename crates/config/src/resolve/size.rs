//! Estimates the memory that a world takes on the simulating machine. A world that needs more than is available would
//! end the run midway.

use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{ClusterParams, HostKind, RunSpec, ServerParams, Size, SocketParams, StepBlockParams, Traffic};

/// Memory that a run may take unless `run.memory` is given, in bytes; a 32-bit target such as WebAssembly addresses
/// 4 GiB in all.
const MEMORY_BYTES: u64 = if cfg!(target_pointer_width = "32") { 3 << 30 } else { 8 << 30 };
/// Size of a run, in bytes, above which the user gets a note.
const TOLD_BYTES: u64 = 1 << 30;

/// Bytes of a flow (both ends, counters, its row of the results), of a flow in a NIC, including absent flows, and of
/// a request in flight.
const FLOW_BYTES: u64 = 8 << 10;
const NIC_FLOW_BYTES: u64 = 512;
const REQUEST_BYTES: u64 = 64;
/// Bytes of the latency histogram of a traffic class in one domain, and number of domains of a core and of the other
/// parts.
const HISTOGRAM_BYTES: u64 = 10 << 10;
const CORE_DOMAINS: u64 = 4;
const OTHER_DOMAINS: u64 = 64;
/// Bytes of a listed step of a rank: in the plan, which ranks share, and in checkpoints.
const STEP_BYTES: u64 = 256;
/// Bytes of an operation of a rank, and of its progress.
const OPERATION_BYTES: u64 = 256;
/// Bytes of a line of a cache.
const LINE_BYTES: u64 = 12;

/// Returns the bytes that a server with `classes` classes of traffic takes.
fn server_bytes(server: &ServerParams, classes: u64) -> u64 {
    server.sockets.iter().map(|socket| socket_bytes(socket, classes)).sum()
}

fn socket_bytes(socket: &SocketParams, classes: u64) -> u64 {
    let cores = u64::from(socket.core.count);
    let domains = (cores * CORE_DOMAINS + OTHER_DOMAINS) * classes.max(1) * HISTOGRAM_BYTES;
    let lines = |sets: u32, ways: u32| u64::from(sets) * u64::from(ways);
    let held = socket.cache.as_ref().map_or(0, |cache| {
        let llc = lines(cache.llc.sets, cache.llc.ways) + lines(cache.llc.filter_sets, cache.llc.filter_ways);
        cores * lines(cache.l2.sets, cache.l2.ways) + u64::from(socket.cha.slices) * llc
    });
    domains + held * LINE_BYTES
}

/// Returns the bytes that a run of one server takes.
pub(super) fn of_server(server: &ServerParams) -> u64 {
    server_bytes(server, server.workloads.len() as u64)
}

/// Returns the bytes that a run of a cluster takes.
pub(super) fn of_cluster(cluster: &ClusterParams) -> u64 {
    let servers: Vec<&ServerParams> = cluster
        .hosts
        .iter()
        .filter_map(|host| match &host.kind {
            HostKind::Server(server) => Some(&**server),
            HostKind::Endpoint(_) => None,
        })
        .collect();
    // Every flow class of the cluster has its own statistics at each server.
    let classes = |server: &ServerParams| (server.workloads.len() + cluster.classes.len()) as u64;
    let held: u64 = servers.iter().map(|server| server_bytes(server, classes(server))).sum();
    let of_flow = |traffic: &Traffic| match traffic {
        Traffic::Rpc { in_flight, .. } => HISTOGRAM_BYTES + u64::from(*in_flight) * REQUEST_BYTES,
        Traffic::Service(service) => HISTOGRAM_BYTES + u64::from(service.in_flight) * REQUEST_BYTES,
        Traffic::Ping { .. } => HISTOGRAM_BYTES,
        _ => 0,
    };
    let each = FLOW_BYTES + servers.len() as u64 * NIC_FLOW_BYTES;
    let steps = cluster.jobs.iter().flat_map(|job| &job.blocks).map(StepBlockParams::listed_steps);
    let operations = cluster.jobs.iter().flat_map(|job| &job.blocks).flat_map(|block| &block.operations);
    let operations = operations.map(|operations| operations.len() as u64).sum::<u64>() * OPERATION_BYTES;
    let held = held + steps.sum::<u64>() * STEP_BYTES + operations;
    held + cluster.flows.iter().map(|flow| each + of_flow(&flow.traffic)).sum::<u64>()
}

/// Checks that a run stays within its memory limit. Returns a note if the run takes much memory.
pub(super) fn check(run: &RunSpec, bytes: u64, paths: &[&str]) -> Result<Option<String>, Issue> {
    let Size(most) = run.memory.unwrap_or(Size(MEMORY_BYTES));
    let rounded = |bytes: u64| format((bytes >> 20).max(1) << 20, Dimension::Size);
    if bytes > most {
        let message = format!(
            "the simulation would take about {} of memory; run.memory allows {}: raise it where there is more, or \
             describe less",
            rounded(bytes),
            format(most, Dimension::Size)
        );
        let paths: Vec<&str> = paths.iter().copied().chain(["run.memory"]).collect();
        return Err(Issue::between(Code::TooLarge, &paths, message));
    }
    Ok((bytes > TOLD_BYTES).then(|| format!("the simulation takes about {} of memory", rounded(bytes))))
}
