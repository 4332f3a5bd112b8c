//! Turns a server with lines into one with bursts: several consecutive lines that are simulated as one.
//!
//! Every count of lines is divided and every time per line is multiplied, so that all rates and limits keep their
//! values in bytes. A burst costs as many events as a line. The order within a burst is lost, and the sizes of small
//! pools are rounded.
//!
//! The lines of a burst go to one row, so DRAM would be slightly faster than line by line. The difference is measured
//! in two short runs, and the DRAM clock is slowed down by it.

use crate::build::one_server;
use hostnet_kernel::{Simulation, Time};
use hostnet_model::memory::Channel;
use hostnet_model::params::{
    AccessPattern, ChaParams, CoreParams, DramParams, FioParams, IioParams, LineSize, MapParams,
    MemoryControllerParams, MemoryParams, NicParams, PcieParams, RemoteParams, ServerParams, SocketParams, SsdParams,
    StackParams, StreamParams, UpiParams, Workload, WorkloadKind,
};
use hostnet_model::Machine;

/// Lowest address bit that distinguishes lines.
const LINE_BITS: u32 = 6;

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
            dram.clock_ps_numerator *= burst;
            dram.clock_ps_denominator *= line;
        }
    }
    bursts
}

/// Returns the server that saturates its memory. Its streams and the cores of remote sockets run without gaps, and
/// every other core only loads sequentially, as copies do. LFB entries are rounded to whole bursts.
fn saturating_server(server: &ServerParams, size: LineSize) -> ServerParams {
    let runs = |core: &u32, kind: &WorkloadKind| matches!(kind, WorkloadKind::Stream(own) if own.cores.contains(core));
    let busy = |core: &u32| server.workloads.iter().any(|workload| runs(core, &workload.kind));
    let cores = server.sockets.iter().map(|socket| socket.core.count).sum();
    let share = |socket: &SocketParams| socket.memory.pages.memory_bytes / u64::from(socket.core.count);
    let stream = StreamParams {
        cores: (0..cores).filter(|core| !busy(core)).collect(),
        pattern: AccessPattern::Sequential,
        reads: LOADS,
        working_set_bytes: (server.sockets.iter().map(share).min().unwrap_or(0) / 4) & !0xfffff,
        gap_ps: 0,
    };
    let kind = |workload: &Workload| match &workload.kind {
        WorkloadKind::Stream(stream) => WorkloadKind::Stream(StreamParams { gap_ps: 0, ..stream.clone() }),
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

/// As [`bursts`], but without the correction of the DRAM clock.
fn coarse(server: &ServerParams, size: LineSize) -> ServerParams {
    let grain = BurstConverter { size };
    ServerParams {
        sockets: server.sockets.iter().map(|socket| grain.socket(socket)).collect(),
        stack: server.stack.as_ref().map(|stack| grain.stack(stack)),
        workloads: server.workloads.iter().map(|workload| grain.workload(workload)).collect(),
        ..server.clone()
    }
}

struct BurstConverter {
    size: LineSize,
}

impl BurstConverter {
    /// Converts lines to the nearest number of bursts.
    fn round(&self, lines: u32) -> u32 {
        let half = self.size.expand(1) >> 1;
        self.size.shrink(lines + half)
    }

    /// Converts lines to bursts, at least one.
    fn count(&self, lines: u32) -> u32 {
        self.round(lines).max(1)
    }

    fn bytes(&self, bytes: u64) -> u64 {
        self.size.shrink(bytes)
    }

    /// Converts bytes to a whole number of lines, at least one.
    fn lines_of(&self, bytes: u64) -> u64 {
        (self.bytes(bytes) >> LINE_BITS << LINE_BITS).max(1 << LINE_BITS)
    }

    fn time(&self, ps: u64) -> u64 {
        self.size.expand(ps)
    }

    fn socket(&self, socket: &SocketParams) -> SocketParams {
        SocketParams {
            core: self.core(&socket.core),
            cha: self.cha(&socket.cha),
            memory: self.memory(&socket.memory),
            iio: self.iio(&socket.iio),
            pcie: self.pcie(&socket.pcie),
            ssd: self.ssd(&socket.ssd),
            nic: socket.nic.as_ref().map(|nic| self.nic(nic)),
            remote: socket.remote.as_ref().map(|remote| self.remote(remote)),
            ..socket.clone()
        }
    }

    fn remote(&self, remote: &RemoteParams) -> RemoteParams {
        let mut cores = remote.cores.clone();
        cores.iter_mut().for_each(|core| core.stream = self.stream(&core.stream));
        RemoteParams {
            upi: self.upi(&remote.upi),
            lines_in_flight: self.count(remote.lines_in_flight),
            cores,
            ..remote.clone()
        }
    }

    fn core(&self, core: &CoreParams) -> CoreParams {
        CoreParams {
            lfb_entries: self.count(core.lfb_entries),
            issue_ps: self.time(core.issue_ps),
            dirty_pool_lines: self.size.shrink(core.dirty_pool_lines),
            ..core.clone()
        }
    }

    fn cha(&self, cha: &ChaParams) -> ChaParams {
        let slices = self.count(cha.slices);
        let per_slice = |entries: u32| (self.count(cha.slices * entries) + slices / 2) / slices;
        ChaParams {
            slices,
            tor_entries: per_slice(cha.tor_entries).max(1),
            tor_write_entries: per_slice(cha.tor_write_entries).max(1),
            ..cha.clone()
        }
    }

    fn memory(&self, memory: &MemoryParams) -> MemoryParams {
        let map = self.map(&memory.map);
        let mut pages = memory.pages.clone();
        pages.run_bytes = self.bytes(pages.run_bytes);
        pages.memory_bytes = self.bytes(pages.memory_bytes);
        let dram = self.dram(&memory.dram, &map);
        MemoryParams { dram, controller: self.controller(&memory.controller), map, pages }
    }

    /// Removes the address bits below a burst. Selectors keep their remaining bits.
    fn map(&self, map: &MapParams) -> MapParams {
        let within = (1_u64 << LINE_BITS) - 1;
        let masks = |masks: &[u64]| masks.iter().map(|mask| self.size.shrink(*mask) & !within).collect();
        let bits = |bits: &[u8]| {
            bits.iter()
                .filter_map(|&bit| u32::from(bit).checked_sub(self.size.shift()))
                .filter(|&bit| bit >= LINE_BITS)
                .map(|bit| bit as u8)
                .collect()
        };
        MapParams {
            channels: map.channels,
            channel: masks(&map.channel),
            channel_bytes: if map.channel_bytes > 0 { self.lines_of(map.channel_bytes) } else { 0 },
            subchannel: masks(&map.subchannel),
            rank: masks(&map.rank),
            bank_group: masks(&map.bank_group),
            bank: masks(&map.bank),
            column: bits(&map.column),
            row: bits(&map.row),
        }
    }

    /// Extends the timing of a column access to those of a burst, back to back in alternating bank groups.
    fn dram(&self, dram: &DramParams, map: &MapParams) -> DramParams {
        let mut timing = dram.timing;
        timing.burst = self.size.expand(timing.burst);
        timing.ccd_s = self.size.expand(timing.ccd_s);
        timing.ccd_l = timing.ccd_l.max(timing.ccd_s);
        timing.ccd_l_wr = timing.ccd_l_wr.max(timing.ccd_s);
        DramParams { lines_per_row: 1 << map.column.len(), timing, ..dram.clone() }
    }

    fn controller(&self, controller: &MemoryControllerParams) -> MemoryControllerParams {
        let some = |lines: u32| if lines > 0 { self.count(lines) } else { 0 };
        let wpq_entries = self.count(controller.wpq_entries);
        let write_high = self.count(controller.write_high).min(wpq_entries);
        MemoryControllerParams {
            rpq_entries: self.count(controller.rpq_entries),
            wpq_entries,
            wpq_full_threshold: self.count(controller.wpq_full_threshold),
            rpq_full_threshold: self.count(controller.rpq_full_threshold),
            row_hits: some(controller.row_hits),
            write_high,
            // Rounding must keep the low watermark below the high one.
            write_low: self.round(controller.write_low).min(write_high - 1),
            reads_per_mode: some(controller.reads_per_mode),
            reads_few: self.round(controller.reads_few),
            writes_per_mode: some(controller.writes_per_mode),
            idle_writes: self.count(controller.idle_writes),
            idle_reads: self.round(controller.idle_reads),
            idle_hits: self.round(controller.idle_hits),
            spare_writes: self.count(controller.spare_writes),
            spare_clocks: self.size.expand(controller.spare_clocks),
            ..controller.clone()
        }
    }

    fn iio(&self, iio: &IioParams) -> IioParams {
        IioParams {
            write_credits: self.count(iio.write_credits),
            read_credits: self.count(iio.read_credits),
            line_ps: self.time(iio.line_ps),
            line_spread_ps: self.time(iio.line_spread_ps),
            ..iio.clone()
        }
    }

    fn pcie(&self, pcie: &PcieParams) -> PcieParams {
        let whole = |bytes: u32| self.lines_of(u64::from(bytes)) as u32;
        PcieParams {
            bytes_per_s: self.bytes(pcie.bytes_per_s),
            mps_bytes: whole(pcie.mps_bytes),
            mrrs_bytes: whole(pcie.mrrs_bytes),
            write_overhead_bytes: self.size.shrink(pcie.write_overhead_bytes),
            read_overhead_bytes: self.size.shrink(pcie.read_overhead_bytes),
            completion_overhead_bytes: self.size.shrink(pcie.completion_overhead_bytes),
            posted_lines: self.count(pcie.posted_lines),
            nonposted_lines: self.count(pcie.nonposted_lines),
            ..pcie.clone()
        }
    }

    /// Converts the parameters of a NIC. The receive buffer and its packets keep their size in bytes; data in memory
    /// is counted in bursts.
    fn nic(&self, nic: &NicParams) -> NicParams {
        NicParams {
            pcie: self.pcie(&nic.pcie),
            descriptor_bytes: self.bytes(u64::from(nic.descriptor_bytes)) as u32,
            stride_bytes: self.size.shrink(nic.stride_bytes).next_multiple_of(64),
            pool_bytes: self.bytes(nic.pool_bytes),
            line_size: self.size,
            ..nic.clone()
        }
    }

    fn stack(&self, stack: &StackParams) -> StackParams {
        StackParams {
            copy_line_ps: self.time(stack.copy_line_ps),
            extra_lines: self.size.shrink(stack.extra_lines),
            page_lines: self.size.shrink(stack.page_lines),
            line_size: self.size,
            ..stack.clone()
        }
    }

    fn upi(&self, upi: &UpiParams) -> UpiParams {
        UpiParams {
            bytes_per_s: self.bytes(upi.bytes_per_s),
            data_credits: self.count(upi.data_credits),
            request_credits: self.count(upi.request_credits),
            ..upi.clone()
        }
    }

    fn ssd(&self, ssd: &SsdParams) -> SsdParams {
        SsdParams {
            read_bytes_per_s: self.bytes(ssd.read_bytes_per_s),
            write_bytes_per_s: self.bytes(ssd.write_bytes_per_s),
            max_transfer_bytes: self.lines_of(ssd.max_transfer_bytes),
            ..ssd.clone()
        }
    }

    fn workload(&self, workload: &Workload) -> Workload {
        let kind = match &workload.kind {
            WorkloadKind::Stream(stream) => WorkloadKind::Stream(self.stream(stream)),
            WorkloadKind::Fio(fio) => WorkloadKind::Fio(self.fio(fio)),
            kind => kind.clone(),
        };
        Workload { kind, ..workload.clone() }
    }

    fn stream(&self, stream: &StreamParams) -> StreamParams {
        StreamParams {
            working_set_bytes: self.lines_of(stream.working_set_bytes),
            gap_ps: self.time(stream.gap_ps),
            ..stream.clone()
        }
    }

    fn fio(&self, fio: &FioParams) -> FioParams {
        let mut fio = fio.clone();
        fio.rate_bytes_per_s = self.bytes(fio.rate_bytes_per_s);
        for job in &mut fio.jobs {
            job.block_bytes = self.lines_of(job.block_bytes);
            job.size_bytes = self.lines_of(job.size_bytes);
        }
        fio
    }
}
