//! Resolves a socket, and checks that the workloads of a server fit it.

use super::context::Context;
use super::workload::needs;
use super::{expander, io, iommu, memory, pool};
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{
    rdma_memory_bytes, App, AppParams, CacheParams, ChaParams, CoreParams, NicParams, Placement, ServerParams,
    SocketParams, Spec, Workload, WorkloadKind, WriteBackEnd, BUFFER_ALIGNMENT, FILE_MEMORY_BYTES, NET_CORE_BYTES,
    RDMA_REGION_BYTES,
};

/// Resolves the parts of a socket.
pub(super) fn socket(spec: &Spec, context: &Context, cache: Option<CacheParams>) -> Result<SocketParams, Issue> {
    check_write_path(spec)?;
    // Without caches, a write-back that waits for the LLC takes the time of a hit there.
    let waits = cache.is_none() && spec.core.write_until == WriteBackEnd::Acceptance;
    let evict_ps = if waits { spec.cache.llc.hit.0 } else { 0 };
    // With caches, the streamer and its credits are those of the L2.
    let stream_prefetches = if cache.is_none() { spec.prefetch.stream_credits } else { 0 };
    let memory = memory::resolve(&spec.memory, context)?;
    Ok(SocketParams {
        core: CoreParams { stream_prefetches, ..spec.core.params() },
        cha: ChaParams { evict_ps, ..spec.cha.params() },
        cache,
        iio: spec.iio.params(),
        iommu: iommu::resolve(spec, &memory)?,
        memory,
        pcie: io::resolve_pcie(spec)?,
        ssd: io::resolve_ssd(&spec.ssd)?,
        dma: None,
        nic: None,
        remote: None,
        expander: expander::resolve(spec)?,
        mcn: None,
        dimm: None,
        pool: pool::resolve(spec)?,
        die: None,
    })
}

/// Checks that a write-back leaves its core before it leaves the CHA, because the domain of the core ends at the CHA.
fn check_write_path(spec: &Spec) -> Result<(), Issue> {
    let ack_ps = spec.core.write_ack.0;
    let path_ps = spec.cha.core_write_to_mc.0 + spec.cha.write_ack.0;
    if ack_ps < path_ps {
        return Ok(());
    }
    let shown = |ps: u64| format(ps, Dimension::Time);
    let rule = "must be below cha.core_write_to_mc + cha.write_ack";
    let message = format!("core.write_ack = {} {rule} = {}", shown(ack_ps), shown(path_ps));
    Err(Issue::between(Code::WrongOrder, &["core.write_ack", "cha.core_write_to_mc", "cha.write_ack"], message))
}

/// Gives traces, whose footprint is known only after a replay, equal shares of the memory that other buffers and
/// flows leave.
pub(super) fn share_memory(server: &mut ServerParams, flows: OfFlows) -> Result<(), Issue> {
    let memory = u128::from(least_memory(server));
    let is_trace =
        |workload: &&Workload| matches!(&workload.kind, WorkloadKind::App(AppParams { app: App::Trace(_), .. }));
    // A trace takes what is left, so its earlier share does not count as taken.
    let of_traces: u128 = server.workloads.iter().filter(is_trace).map(|workload| needs(workload).0).sum();
    let taken: u128 = all_needs(server).map(|(bytes, _)| bytes).sum::<u128>() + flows.bytes(server) - of_traces;
    let threads = |workload: &Workload| match &workload.kind {
        WorkloadKind::App(AppParams { app: App::Trace(_), cores, .. }) => cores.len(),
        _ => 0,
    };
    let threads: usize = server.workloads.iter().map(threads).sum();
    // Whole units, so that the shares of all threads stay aligned.
    let units = memory.saturating_sub(taken) / u128::from(BUFFER_ALIGNMENT) / threads.max(1) as u128;
    for workload in &mut server.workloads {
        let WorkloadKind::App(AppParams { app: App::Trace(trace), .. }) = &mut workload.kind else { continue };
        if units == 0 {
            let message = "the buffers of the other workloads leave no memory for a trace";
            return Err(Issue::between(
                Code::OutOfMemorySpace,
                &["memory.size", &format!("workload.{}.file", workload.name)],
                message,
            ));
        }
        trace.memory_bytes = units as u64 * BUFFER_ALIGNMENT;
    }
    Ok(())
}

/// Returns the memory of the smallest socket or cluster, in bytes, as any of them may have to hold all buffers.
fn least_memory(server: &ServerParams) -> u64 {
    let of_cluster = |socket: &SocketParams| {
        // Each cluster allocates from its own part of the memory, so the smallest part is the limit.
        socket.memory.pages.memory_bytes / socket.die.as_ref().map_or(1, |die| die.clusters.into())
    };
    server
        .sockets
        .iter()
        .map(of_cluster)
        .chain(expander::least_of(server))
        .chain(pool::least_of(server))
        .min()
        .unwrap_or(0)
}

/// Returns the memory that each workload, each core of another socket and the NIC need.
fn all_needs(server: &ServerParams) -> impl Iterator<Item = (u128, String)> + '_ {
    let remote = server.sockets.iter().flat_map(|socket| &socket.remote).flat_map(|remote| &remote.cores).map(|core| {
        let bytes = core.stream.working_set_bytes.next_multiple_of(BUFFER_ALIGNMENT);
        let name = &server.workloads[usize::from(core.class)].name;
        (bytes.into(), format!("workload.{name}.working_set"))
    });
    let nic = server.nic().into_iter().map(|nic| (nic_bytes(nic), "nic.pool".to_string()));
    let own = server.workloads.iter().map(needs).chain(interleaved(server)).chain(remote).chain(nic);
    own.chain(pool::lent(server)).chain(iommu::needs(server))
}

/// Returns the extra memory of interleaved buffers beyond their size, as they begin and end at a run of pages: up to
/// two runs for each buffer of a core, and for the shared buffers.
fn interleaved(server: &ServerParams) -> impl Iterator<Item = (u128, String)> + '_ {
    let run_bytes = u128::from(server.socket().memory.pages.run_bytes.next_multiple_of(BUFFER_ALIGNMENT));
    let all = server.workloads.iter().filter(|workload| workload.memory == Placement::Interleaved);
    all.map(move |workload| {
        let buffers = 2 * workload.kind.cores().len() + 1;
        (2 * run_bytes * buffers as u128, format!("workload.{}.memory", workload.name))
    })
}

/// Returns the bytes of the rings and buffers of a NIC, and of the cores that serve them.
pub(super) fn nic_bytes(nic: &NicParams) -> u128 {
    let queue = nic.queue_layout().bytes.next_multiple_of(BUFFER_ALIGNMENT);
    let core = NET_CORE_BYTES.next_multiple_of(BUFFER_ALIGNMENT);
    u128::from(queue + core) * u128::from(nic.queues)
}

/// Checks that the buffers of all workloads and the needs of flows fit the memory.
pub(super) fn check_footprint(server: &ServerParams, flows: OfFlows) -> Result<(), Issue> {
    let mut needs: Vec<(u128, String)> =
        all_needs(server).chain([(flows.bytes(server), "memory.size".to_string())]).collect();
    check_fit(server, flows, &needs, least_memory(server))?;
    let Some(cached) = pool::cached(server) else { return Ok(()) };
    // The cache of the pool takes local memory, so it counts against the socket and not against the smallest node.
    needs.push(cached);
    check_fit(server, flows, &needs, server.socket().memory.pages.memory_bytes)
}

/// Checks that `memory` bytes of memory are enough for `needs`.
fn check_fit(server: &ServerParams, flows: OfFlows, needs: &[(u128, String)], memory: u64) -> Result<(), Issue> {
    let total: u128 = needs.iter().map(|(bytes, _)| bytes).sum();
    if total <= u128::from(memory) {
        return Ok(());
    }
    let largest = needs.iter().max_by_key(|(bytes, _)| bytes).map_or("workload", |(_, path)| path);
    let shown = |bytes: u128| format(u64::try_from(bytes).unwrap_or(u64::MAX), Dimension::Size);
    let lends = needs.iter().any(|(bytes, path)| *bytes > 0 && path == "pool.lent");
    let of_flows = flows.told() + if lends { " and what is lent" } else { "" };
    let least = if pool::least_of(server) == Some(memory) {
        "pool.borrow"
    } else if expander::least_of(server) == Some(memory) {
        "expander.size"
    } else {
        "memory.size"
    };
    let message = format!(
        "the buffers of the workloads{of_flows} need {} of {} of memory; raise {least}, or lower what needs most \
         ({largest})",
        shown(total),
        shown(memory.into())
    );
    Err(Issue::between(Code::OutOfMemorySpace, &[least, largest, "workload"], message))
}

/// Memory of a server that flows need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfFlows {
    /// Number of ends of RDMA flows, each with a region.
    pub(super) rdma_ends: usize,
    /// Number of files that flows send.
    pub(super) files: usize,
    /// Bytes of the ranks of jobs.
    pub(super) ranks: u128,
}

impl OfFlows {
    /// Returns true if the flows need any memory.
    pub(super) fn any(self) -> bool {
        self.rdma_ends + self.files > 0 || self.ranks > 0
    }

    /// Returns the bytes of regions, files and ranks. A file may begin and end with a run of pages.
    fn bytes(self, server: &ServerParams) -> u128 {
        let region = rdma_memory_bytes(RDMA_REGION_BYTES).next_multiple_of(BUFFER_ALIGNMENT);
        let run_bytes = server.socket().memory.pages.run_bytes.next_multiple_of(BUFFER_ALIGNMENT);
        let file = FILE_MEMORY_BYTES.next_multiple_of(BUFFER_ALIGNMENT) + 2 * run_bytes;
        u128::from(region) * self.rdma_ends as u128 + u128::from(file) * self.files as u128 + self.ranks
    }

    fn told(self) -> String {
        let rdma = (self.rdma_ends > 0).then(|| format!(" and the {} regions of RDMA flows", self.rdma_ends));
        let files = (self.files > 0).then(|| format!(" and the {} files that are sent", self.files));
        let ranks = (self.ranks > 0).then(|| " and the memory of the ranks of jobs".to_owned());
        rdma.into_iter().chain(files).chain(ranks).collect()
    }
}
