//! Functions that raise each limit of a server, together with the parameters that must follow it.

use hostnet_model::params::{
    DieParams, DramParams, ExpanderParams, MemoryControllerParams, ServerParams, SocketParams, TimingParams, UpiParams,
    WorkloadKind,
};

/// A function that raises a limit (a count or a rate) by a factor, together with the parameters that depend on it,
/// and returns the factor reached. Counts are rounded up to whole numbers. A factor of 1 means that nothing was
/// raised.
#[derive(Clone, Copy, Debug)]
pub(super) enum Raise {
    Socket(fn(&mut SocketParams, f64) -> f64),
    Workload(fn(&mut WorkloadKind, f64) -> f64),
    /// A limit of the UPI links between sockets.
    Upi(fn(&mut UpiParams, f64) -> f64),
    Server(fn(&mut ServerParams, f64) -> f64),
}

impl Raise {
    /// Raises the limit by `factor` on every socket and for every workload. Returns the greatest factor reached.
    pub(super) fn apply(self, server: &mut ServerParams, factor: f64) -> f64 {
        match self {
            Raise::Socket(raise) => greatest(server.sockets.iter_mut().map(|socket| raise(socket, factor))),
            Raise::Workload(raise) => {
                greatest(server.workloads.iter_mut().map(|workload| raise(&mut workload.kind, factor)))
            }
            Raise::Upi(raise) => {
                let remote = server.sockets.iter_mut().filter_map(|socket| socket.remote.as_mut());
                let ways = remote.map(|remote| &mut remote.upi);
                let ways = ways.chain(server.upi.as_mut().map(|sockets| &mut sockets.upi));
                greatest(ways.map(|upi| raise(upi, factor)))
            }
            Raise::Server(raise) => raise(server, factor),
        }
    }
}

/// Returns the greatest of the factors, at least 1.
pub(super) fn greatest(factors: impl IntoIterator<Item = f64>) -> f64 {
    factors.into_iter().fold(1.0, f64::max)
}

fn count(number: &mut u32, by: f64) -> f64 {
    // Rounded up, so that every count above 0 grows: 3 LFB entries become 4 (docs/domains.md). 0 is an absent part.
    let before = std::mem::replace(number, (f64::from(*number) * by).ceil() as u32);
    if before == 0 {
        1.0
    } else {
        f64::from(*number) / f64::from(before)
    }
}

fn counts<'a>(numbers: impl IntoIterator<Item = &'a mut u32>, by: f64) {
    numbers.into_iter().for_each(|number| {
        count(number, by);
    });
}

fn rate(bytes_per_s: &mut u64, by: f64) -> f64 {
    // 0 stands for no cap (`rate`), which cannot be raised.
    *bytes_per_s = (*bytes_per_s as f64 * by).round() as u64;
    if *bytes_per_s == 0 {
        1.0
    } else {
        by
    }
}

fn time(ps: &mut u64, by: f64) -> f64 {
    // A time of 0 costs nothing and cannot be lowered.
    *ps = (*ps as f64 / by).round() as u64;
    if *ps == 0 {
        1.0
    } else {
        by
    }
}

pub(super) fn more_lfb_entries(socket: &mut SocketParams, by: f64) -> f64 {
    count(&mut socket.core.lfb_entries, by)
}

pub(super) fn faster_mesh(socket: &mut SocketParams, by: f64) -> f64 {
    faster_clock(socket.die.as_mut().filter(|die| die.chiplets.is_none()), by)
}

pub(super) fn more_ccd_entries(socket: &mut SocketParams, by: f64) -> f64 {
    let chiplets = socket.die.as_mut().and_then(|die| die.chiplets.as_mut());
    chiplets.map_or(1.0, |chiplets| count(&mut chiplets.entries, by))
}

pub(super) fn faster_fabric(socket: &mut SocketParams, by: f64) -> f64 {
    faster_clock(socket.die.as_mut().filter(|die| die.chiplets.is_some()), by)
}

fn faster_clock(die: Option<&mut DieParams>, by: f64) -> f64 {
    let Some(die) = die else { return 1.0 };
    // At least 1 ps: every event lies ahead of the one that causes it (docs/architecture.md, wall 4).
    die.cycle_ps = ((die.cycle_ps as f64 / by).round() as u64).max(1);
    by
}

pub(super) fn more_walks(socket: &mut SocketParams, by: f64) -> f64 {
    socket.iommu.as_mut().map_or(1.0, |iommu| count(&mut iommu.walks, by))
}

pub(super) fn more_write_credits(socket: &mut SocketParams, by: f64) -> f64 {
    count(&mut socket.iio.write_credits, by)
}

pub(super) fn more_read_credits(socket: &mut SocketParams, by: f64) -> f64 {
    count(&mut socket.iio.read_credits, by)
}

pub(super) fn faster_cores(socket: &mut SocketParams, by: f64) -> f64 {
    let core = &mut socket.core;
    greatest([&mut core.refill_ps, &mut core.refill_spread_ps, &mut core.issue_ps].map(|ps| time(ps, by)))
}

pub(super) fn less_kernel_work(kind: &mut WorkloadKind, by: f64) -> f64 {
    let WorkloadKind::Fio(fio) = kind else { return 1.0 };
    // Work per page is a cost, so it is divided like a time.
    time(&mut fio.kernel_lines_per_page, by)
}

pub(super) fn shorter_gap(kind: &mut WorkloadKind, by: f64) -> f64 {
    let WorkloadKind::Stream(stream) = kind else { return 1.0 };
    time(&mut stream.gap_ps, by)
}

pub(super) fn faster_drives(socket: &mut SocketParams, by: f64) -> f64 {
    let ssd = &mut socket.ssd;
    greatest([&mut ssd.read_bytes_per_s, &mut ssd.write_bytes_per_s].map(|bytes| rate(bytes, by)))
}

pub(super) fn higher_cap(kind: &mut WorkloadKind, by: f64) -> f64 {
    let WorkloadKind::Fio(fio) = kind else { return 1.0 };
    rate(&mut fio.rate_bytes_per_s, by)
}

pub(super) fn longer_queues(socket: &mut SocketParams, by: f64) -> f64 {
    count(&mut socket.ssd.queue_depth, by)
}

pub(super) fn deeper_jobs(kind: &mut WorkloadKind, by: f64) -> f64 {
    let WorkloadKind::Fio(fio) = kind else { return 1.0 };
    greatest(fio.jobs.iter_mut().map(|job| count(&mut job.io_depth, by)))
}

pub(super) fn wider_links(socket: &mut SocketParams, by: f64) -> f64 {
    rate(&mut socket.pcie.bytes_per_s, by)
}

pub(super) fn faster_iio(socket: &mut SocketParams, by: f64) -> f64 {
    greatest([&mut socket.iio.line_ps, &mut socket.iio.line_spread_ps].map(|ps| time(ps, by)))
}

/// Raises credits, counted in lines, to whole packets of `bytes`. The factor returned is that of the number of
/// packets.
fn packets(lines: &mut u32, bytes: u32, by: f64) -> f64 {
    // A packet is sent only with credits for all of it, so a part of a packet's credits would have no effect.
    let packet = (bytes / 64).max(1);
    let mut whole = (*lines / packet).max(1);
    let factor = count(&mut whole, by);
    *lines = whole * packet;
    factor
}

pub(super) fn more_posted(socket: &mut SocketParams, by: f64) -> f64 {
    packets(&mut socket.pcie.posted_lines, socket.pcie.mps_bytes, by)
}

pub(super) fn more_nonposted(socket: &mut SocketParams, by: f64) -> f64 {
    packets(&mut socket.pcie.nonposted_lines, socket.pcie.mrrs_bytes, by)
}

pub(super) fn more_prefetches(socket: &mut SocketParams, by: f64) -> f64 {
    let Some(cache) = &mut socket.cache else { return 1.0 };
    count(&mut cache.prefetch.credits, by)
}

pub(super) fn more_stream_prefetches(socket: &mut SocketParams, by: f64) -> f64 {
    count(&mut socket.core.stream_prefetches, by)
}

pub(super) fn more_remote_tor_entries(server: &mut ServerParams, by: f64) -> f64 {
    let Some(sockets) = &mut server.upi else { return 1.0 };
    let before = sockets.tor_entries;
    count(&mut sockets.tor_entries, by);
    // Each slice keeps at least one entry for lines homed on its own socket.
    let least = server.sockets.iter().map(|socket| socket.cha.tor_entries).min().unwrap_or(1);
    // max(before): a configuration at that bound keeps its value and counts as not raised.
    sockets.tor_entries = sockets.tor_entries.min(least.saturating_sub(1)).max(before);
    f64::from(sockets.tor_entries) / f64::from(before.max(1))
}

pub(super) fn more_upi_requests(upi: &mut UpiParams, by: f64) -> f64 {
    count(&mut upi.request_credits, by)
}

pub(super) fn more_upi_data(upi: &mut UpiParams, by: f64) -> f64 {
    count(&mut upi.data_credits, by)
}

pub(super) fn faster_upi(upi: &mut UpiParams, by: f64) -> f64 {
    rate(&mut upi.bytes_per_s, by)
}

/// Applies `raise` to the memory behind a CXL link, if the socket has any.
fn raise_expander(socket: &mut SocketParams, raise: impl FnOnce(&mut ExpanderParams) -> f64) -> f64 {
    socket.expander.as_deref_mut().map_or(1.0, raise)
}

pub(super) fn more_expander_reads(socket: &mut SocketParams, by: f64) -> f64 {
    raise_expander(socket, |expander| count(&mut expander.read_credits, by))
}

pub(super) fn more_expander_writes(socket: &mut SocketParams, by: f64) -> f64 {
    raise_expander(socket, |expander| count(&mut expander.write_credits, by))
}

pub(super) fn faster_expander_link(socket: &mut SocketParams, by: f64) -> f64 {
    raise_expander(socket, |expander| rate(&mut expander.bytes_per_s, by))
}

pub(super) fn faster_expander_bus(socket: &mut SocketParams, by: f64) -> f64 {
    raise_expander(socket, |expander| faster_dram(&mut expander.memory.dram, by))
}

pub(super) fn more_tor_entries(socket: &mut SocketParams, by: f64) -> f64 {
    // The limit of writes grows along, or it would bind in place of the entries.
    count(&mut socket.cha.tor_write_entries, by);
    count(&mut socket.cha.tor_entries, by)
}

pub(super) fn more_expander_tor_entries(socket: &mut SocketParams, by: f64) -> f64 {
    let most = socket.cha.tor_entries;
    let Some(entries) = &mut socket.cha.tor_expander_entries else { return 1.0 };
    let before = *entries;
    count(entries, by);
    // A share of all entries cannot grow.
    *entries = (*entries).min(most).max(before);
    f64::from(*entries) / f64::from(before)
}

pub(super) fn longer_rpq(socket: &mut SocketParams, by: f64) -> f64 {
    let MemoryControllerParams { rpq_entries, rpq_full_threshold, .. } = &mut socket.memory.controller;
    // The threshold of the counter keeps its share of the queue.
    counts([rpq_full_threshold], by);
    count(rpq_entries, by)
}

pub(super) fn longer_wpq(socket: &mut SocketParams, by: f64) -> f64 {
    let MemoryControllerParams { wpq_entries, wpq_full_threshold, write_high, write_low, .. } =
        &mut socket.memory.controller;
    // Watermarks keep their share of the queue: with the old ones, write modes would begin at the old depth.
    counts([wpq_full_threshold, write_high, write_low], by);
    count(wpq_entries, by)
}

/// Speeds up the bus: shorter clocks, and more of them for the timings that are fixed by the DRAM itself.
pub(super) fn faster_bus(socket: &mut SocketParams, by: f64) -> f64 {
    faster_dram(&mut socket.memory.dram, by)
}

fn faster_dram(dram: &mut DramParams, by: f64) -> f64 {
    // The fraction is extended by 1000, so that a small denominator is not rounded away from 1.25 times its value.
    dram.clock_ps_denominator = (dram.clock_ps_denominator as f64 * by * 1e3).round() as u64;
    dram.clock_ps_numerator *= 1000;
    // Times of the DRAM array stay the same in ns, so they take more of the shorter clocks; bursts and gaps do not.
    let TimingParams { cl, cwl, rcd, rp, ras, rc, wr, rtp, rrd_s, rrd_l, .. } = &mut dram.timing;
    counts([cl, cwl, rcd, rp, ras, rc, wr, rtp, rrd_s, rrd_l], by);
    // Each count is rounded up on its own, so ras + rp may exceed the rounded rc by one clock.
    dram.timing.rc = dram.timing.rc.max(dram.timing.ras + dram.timing.rp);
    let TimingParams { wtr_s, wtr_l, faw, rfc, refi, rfc_sb, refi_sb, refsb_act, refsb_refsb, .. } = &mut dram.timing;
    counts([wtr_s, wtr_l, faw, rfc, refi, rfc_sb, refi_sb, refsb_act, refsb_refsb], by);
    by
}
