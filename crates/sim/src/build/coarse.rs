//! Turns a server with lines into one with bursts: several consecutive lines that are simulated as one.
//!
//! Every count of lines is divided and every time per line is multiplied, so that all rates and limits keep their
//! values in bytes. A burst costs as many events as a line. The order within a burst is lost, and the sizes of small
//! pools are rounded.
//!
//! The lines of a burst go to one row, so DRAM would be slightly faster than line by line. The difference is measured
//! in two short runs, and the DRAM clock is slowed down by it.

use crate::build::burst_converter::BurstConverter;
use crate::build::one_server;
use crate::build::parts::WITH_LINES;
use crate::build::workloads::core_workload;
use hostnet_kernel::{Simulation, Time};
use hostnet_model::memory::Channel;
use hostnet_model::params::{
    AccessPattern, CoreParams, LineSize, ServerParams, SocketParams, StackParams, StreamParams, Workload, WorkloadKind,
};
use hostnet_model::Machine;

/// Duration before and during the measurement of the saturated memory, in ps. It is long because the interleaving of
/// lines of different sources in the banks changes slowly.
const PROBE_PS: [u64; 2] = [40_000_000, 360_000_000];

/// Share of loads of a stream, in units of 2^-32: every access is a load.
const LOADS: u64 = 1 << 32;

/// Returns the server with lines of `size` and the memory bandwidth that it has line by line.
#[must_use]
pub fn bursts(server: &ServerParams, size: LineSize) -> ServerParams {
    let mut bursts = coarse(server, size);
    let saturated = saturating_server(server, size);
    let (line, burst) = (measure_lines(&saturated), size.expand(measure_lines(&coarse(&saturated, size))));
    // The clock is only ever slowed down: bursts gain bandwidth, as their lines go to one row.
    if burst > line {
        for socket in &mut bursts.sockets {
            let dram = &mut socket.memory.dram;
            // As a fraction of the measured lines, which keeps the clock exact.
            dram.clock_ps_numerator *= burst;
            dram.clock_ps_denominator *= line;
        }
    }
    bursts
}

/// Returns the server that saturates its memory. Its streams and the cores of remote sockets run without gaps, and its
/// drives as they are. On a network every other core only loads sequentially, as copies do. LFB entries are rounded to
/// whole bursts.
fn saturating_server(server: &ServerParams, size: LineSize) -> ServerParams {
    let runs = |core: &u32, kind: &WorkloadKind| {
        matches!(kind, WorkloadKind::Stream(_) | WorkloadKind::Fio(_)) && kind.cores().contains(core)
    };
    let busy = |core: &u32| server.workloads.iter().any(|workload| runs(core, &workload.kind));
    let cores = server.sockets.iter().map(|socket| socket.core.count).sum();
    let share = |socket: &SocketParams| socket.memory.pages.memory_bytes / u64::from(socket.core.count);
    let stream = StreamParams {
        // Without a network, all other cores are idle.
        cores: (0..cores).filter(|core| server.nic().is_some() && !busy(core)).collect(),
        pattern: AccessPattern::Sequential,
        reads: LOADS,
        // A quarter of a core's share, in whole MiB, so that all streams fit into the memory.
        working_set_bytes: (server.sockets.iter().map(share).min().unwrap_or(0) / 4) & !0xfffff,
        gap_ps: 0,
    };
    let kind = |workload: &Workload| match &workload.kind {
        WorkloadKind::Stream(stream) => WorkloadKind::Stream(StreamParams { gap_ps: 0, ..stream.clone() }),
        WorkloadKind::Fio(fio) => WorkloadKind::Fio(fio.clone()),
        _ => WorkloadKind::Network,
    };
    let kept = server.workloads.iter().map(|workload| Workload { kind: kind(workload), ..workload.clone() });
    let mut workloads: Vec<Workload> = kept.collect();
    if !stream.cores.is_empty() {
        workloads.push(Workload::new("", WorkloadKind::Stream(stream)));
    }
    let bare = |socket: &SocketParams| {
        let lfb_entries = size.expand(BurstConverter { size }.count(socket.core.lfb_entries));
        let core = CoreParams { lfb_entries, ..socket.core.clone() };
        // Caches and NIC are left out, as only the bandwidth of DRAM is compared.
        SocketParams { core, cache: None, nic: None, ..socket.clone() }
    };
    let sockets = server.sockets.iter().map(bare).collect();
    ServerParams { sockets, workloads, stack: None, control: None, power: None, ..server.clone() }
}

/// Returns the number of lines that the memory of a server transfers during the measurement.
fn measure_lines(server: &ServerParams) -> u64 {
    let mut simulation = one_server(server);
    let lines = |simulation: &mut Simulation<Machine>, now: Time| -> u64 {
        crate::read::sample::settle(&mut simulation.parts_mut()[0].0, now);
        let channels = simulation.parts()[0].0.each().map(|channel: &Channel| channel.controller().counters(now));
        channels.map(|counters| counters.reads.iter().chain(&counters.writes).sum::<u64>()).sum()
    };
    let [start, end] = [PROBE_PS[0], PROBE_PS[0] + PROBE_PS[1]].map(Time::from_ps);
    simulation.run_until(start, |_| true);
    let before = lines(&mut simulation, start);
    simulation.run_until(end, |_| true);
    lines(&mut simulation, end) - before
}

/// Like [`bursts`], but without the correction of the DRAM clock.
fn coarse(server: &ServerParams, size: LineSize) -> ServerParams {
    let grain = &BurstConverter { size };
    ServerParams {
        sockets: server.sockets.iter().map(|socket| coarse_socket(grain, socket)).collect(),
        stack: server.stack.as_ref().map(|stack| coarse_stack(grain, stack)),
        workloads: server.workloads.iter().map(|workload| coarse_workload(grain, workload)).collect(),
        ..server.clone()
    }
}

fn coarse_socket(grain: &BurstConverter, socket: &SocketParams) -> SocketParams {
    let mut socket = socket.clone();
    WITH_LINES.iter().for_each(|part| (part.coarsen)(grain, &mut socket));
    socket
}

fn coarse_stack(grain: &BurstConverter, stack: &StackParams) -> StackParams {
    StackParams {
        copy_line_ps: grain.time(stack.copy_line_ps),
        extra_lines: grain.size.shrink(stack.extra_lines),
        page_lines: grain.size.shrink(stack.page_lines),
        line_size: grain.size,
        ..stack.clone()
    }
}

fn coarse_workload(grain: &BurstConverter, workload: &Workload) -> Workload {
    let kind = core_workload(&workload.kind).map_or_else(|| workload.kind.clone(), |work| work.in_bursts(grain));
    Workload { kind, ..workload.clone() }
}
