//! Lists the properties of a server that predictions do not cover.

use hostnet_model::params::{
    AccessPattern, EntryRelease, GovernorParams, IdleDrain, PagePolicy, Placement, RowProtection, SchedulingPolicy,
    ServerParams, SocketParams, Workload, WorkloadKind,
};

/// Returns true if cores may run at another frequency than the one that predictions assume.
fn changes_clock(server: &ServerParams) -> bool {
    server.power.as_ref().is_some_and(|power| {
        // The performance governor stays in the last P-state, the fastest; others may use any.
        let fastest_alone = power.governor == GovernorParams::Performance;
        let had = &power.pstates[if fastest_alone { power.pstates.len() - 1 } else { 0 }..];
        had.iter().any(|pstate| pstate.khz != power.reference_khz)
    })
}

/// Number of read queue entries at or above which a saturated channel reaches its largest throughput. The scheduler
/// keeps as many banks busy as it has reads for: with fewer entries each is held while a row opens, and the channel
/// moves entries x 64 B in that time. Predictions do not model this (2 to 5 times too much with 2 entries, 11 % with
/// 24).
const READ_ENTRIES_MIN: u32 = 24;

/// Returns true if predictions cover the parts of the server and its workloads.
#[must_use]
pub(crate) fn are_known(server: &ServerParams) -> bool {
    let streams_and_storage = |kind: &WorkloadKind| matches!(kind, WorkloadKind::Stream(_) | WorkloadKind::Fio(_));
    let kinds = server.workloads.iter().all(|workload| streams_and_storage(&workload.kind));
    let chiplets = |socket: &SocketParams| socket.die.as_ref().is_some_and(|die| die.chiplets.is_some());
    let plain = |socket: &SocketParams| {
        let alone = socket.cache.is_none() && socket.nic.is_none() && socket.remote.is_none();
        alone && socket.iommu.is_none() && !chiplets(socket)
    };
    kinds && matches!(&server.sockets[..], [socket] if plain(socket))
}

/// Lists the properties of a server that predictions were not checked against, one clause each.
pub(crate) fn outside(server: &ServerParams) -> Vec<String> {
    let socket = server.socket();
    let controller = &socket.memory.controller;
    let mut notes = Vec::new();
    let mut note = |holds: bool, text: &str| {
        if holds {
            notes.push(text.to_owned());
        }
    };
    note(controller.scheduler == SchedulingPolicy::Fcfs, "memory.controller.scheduler = \"fcfs\"");
    note(controller.scheduler == SchedulingPolicy::OldestReady, "memory.controller.scheduler = \"oldest-ready\"");
    note(controller.protect == RowProtection::Nothing, "rows that are not protected");
    note(controller.page == PagePolicy::Closed, "memory.controller.page = \"closed\"");
    note(controller.rpq_entries < READ_ENTRIES_MIN, "fewer than 24 read queue entries (memory.controller.rpq.entries)");
    note(controller.shared_queue, "a queue that reads and writes share");
    note(controller.entry_until == EntryRelease::Activation, "queue entries that end with the activation");
    note(controller.idle_drain != IdleDrain::Yield, "writes that do not yield to reads");
    // `State::lean` compares backlogs by the quotas of both modes, so predictions need both.
    note(controller.reads_per_mode == 0, "write modes without quotas");
    note(socket.memory.dram.accesses_per_line > 1, "lines of several column accesses (HBM)");
    note(socket.cha.tor_write_entries < socket.cha.tor_entries, "a limit of TOR entries for writes");
    note(
        socket.memory.pages.run_bytes < 4096 || socket.memory.pages.run_bytes > 1 << 20,
        "runs of pages beyond 4 KiB to 1 MiB",
    );
    let far = |workload: &Workload| workload.memory != Placement::Local && socket.expander.is_some();
    note(server.workloads.iter().any(far), "buffers in memory behind a link ([expander])");
    let storage = server.workloads.iter().any(|workload| workload.kind.fio().is_some());
    note(storage && socket.ssd.streams > 1, "drives that serve several commands at a time");
    note(changes_clock(server), "cores at other frequencies than core.frequency ([power])");
    for workload in &server.workloads {
        if let WorkloadKind::Stream(stream) = &workload.kind {
            if let AccessPattern::Strided { .. } = stream.pattern {
                notes.push(format!("workload.{}.pattern = \"strided\"", workload.name));
            }
        }
    }
    notes
}
