//! How the limits of a server are raised, each with what depends on it as well.

use hostnet_model::params::{
    ControllerParams, DramParams, ExpanderParams, ServerParams, SocketParams, TimingParams, UpiParams, WorkloadKind,
};

/// Raises something by a factor, of whatever is counted or of the rate, and what depends on it as well.
#[derive(Clone, Copy, Debug)]
pub(super) enum Raise {
    Socket(fn(&mut SocketParams, f64)),
    Workload(fn(&mut WorkloadKind, f64)),
    /// The ways between sockets.
    Upi(fn(&mut UpiParams, f64)),
    Server(fn(&mut ServerParams, f64)),
}

impl Raise {
    /// Raises it by a factor of more than 1: on every socket, for every workload.
    pub(super) fn apply(self, server: &mut ServerParams, factor: f64) {
        match self {
            Raise::Socket(raise) => server.sockets.iter_mut().for_each(|socket| raise(socket, factor)),
            Raise::Workload(raise) => {
                server.workloads.iter_mut().for_each(|workload| raise(&mut workload.kind, factor));
            }
            Raise::Upi(raise) => {
                let remote = server.sockets.iter_mut().filter_map(|socket| socket.remote.as_mut());
                let ways = remote.map(|remote| &mut remote.upi);
                ways.chain(server.upi.as_mut().map(|sockets| &mut sockets.upi)).for_each(|upi| raise(upi, factor));
            }
            Raise::Server(raise) => raise(server, factor),
        }
    }
}

fn count(number: &mut u32, by: f64) {
    *number = (f64::from(*number) * by).ceil() as u32;
}

fn rate(bytes_per_s: &mut u64, by: f64) {
    *bytes_per_s = (*bytes_per_s as f64 * by).round() as u64;
}

fn time(ps: &mut u64, by: f64) {
    *ps = (*ps as f64 / by).round() as u64;
}

pub(super) fn more_lfb_entries(socket: &mut SocketParams, by: f64) {
    count(&mut socket.core.lfb_entries, by);
}

pub(super) fn faster_mesh(socket: &mut SocketParams, by: f64) {
    if let Some(die) = &mut socket.die {
        die.cycle_ps = ((die.cycle_ps as f64 / by).round() as u64).max(1);
    }
}

pub(super) fn more_write_credits(socket: &mut SocketParams, by: f64) {
    count(&mut socket.iio.write_credits, by);
}

pub(super) fn more_read_credits(socket: &mut SocketParams, by: f64) {
    count(&mut socket.iio.read_credits, by);
}

pub(super) fn faster_cores(socket: &mut SocketParams, by: f64) {
    let core = &mut socket.core;
    [&mut core.refill_ps, &mut core.refill_spread_ps, &mut core.issue_ps].into_iter().for_each(|ps| time(ps, by));
}

pub(super) fn less_kernel_work(kind: &mut WorkloadKind, by: f64) {
    if let WorkloadKind::Fio(fio) = kind {
        time(&mut fio.kernel_lines_per_page, by);
    }
}

pub(super) fn shorter_gap(kind: &mut WorkloadKind, by: f64) {
    if let WorkloadKind::Stream(stream) = kind {
        time(&mut stream.gap_ps, by);
    }
}

pub(super) fn faster_drives(socket: &mut SocketParams, by: f64) {
    let ssd = &mut socket.ssd;
    [&mut ssd.read_bytes_per_s, &mut ssd.write_bytes_per_s].into_iter().for_each(|bytes| rate(bytes, by));
}

pub(super) fn higher_cap(kind: &mut WorkloadKind, by: f64) {
    if let WorkloadKind::Fio(fio) = kind {
        rate(&mut fio.rate_bytes_per_s, by);
    }
}

pub(super) fn longer_queues(socket: &mut SocketParams, by: f64) {
    count(&mut socket.ssd.queue_depth, by);
}

pub(super) fn deeper_jobs(kind: &mut WorkloadKind, by: f64) {
    if let WorkloadKind::Fio(fio) = kind {
        fio.jobs.iter_mut().for_each(|job| count(&mut job.io_depth, by));
    }
}

pub(super) fn wider_links(socket: &mut SocketParams, by: f64) {
    rate(&mut socket.pcie.bytes_per_s, by);
}

pub(super) fn faster_iio(socket: &mut SocketParams, by: f64) {
    [&mut socket.iio.line_ps, &mut socket.iio.line_spread_ps].into_iter().for_each(|ps| time(ps, by));
}

/// Raises credits in lines to those of one more packet of `bytes`, at least.
fn packets(lines: &mut u32, bytes: u32, by: f64) {
    let packet = (bytes / 64).max(1);
    *lines = ((f64::from(*lines) * by / f64::from(packet)).ceil() as u32).max(*lines / packet + 1) * packet;
}

pub(super) fn more_posted(socket: &mut SocketParams, by: f64) {
    packets(&mut socket.pcie.posted_lines, socket.pcie.mps_bytes, by);
}

pub(super) fn more_nonposted(socket: &mut SocketParams, by: f64) {
    packets(&mut socket.pcie.nonposted_lines, socket.pcie.mrrs_bytes, by);
}

pub(super) fn more_prefetches(socket: &mut SocketParams, by: f64) {
    if let Some(cache) = &mut socket.cache {
        count(&mut cache.prefetch.credits, by);
    }
}

pub(super) fn more_entries_for_others(server: &mut ServerParams, by: f64) {
    if let Some(sockets) = &mut server.upi {
        count(&mut sockets.tor_entries, by);
    }
}

pub(super) fn more_upi_requests(upi: &mut UpiParams, by: f64) {
    count(&mut upi.request_credits, by);
}

pub(super) fn more_upi_data(upi: &mut UpiParams, by: f64) {
    count(&mut upi.data_credits, by);
}

pub(super) fn faster_upi(upi: &mut UpiParams, by: f64) {
    rate(&mut upi.bytes_per_s, by);
}

/// Raises something of the memory behind a link, if there is one.
fn of_expander(socket: &mut SocketParams, raise: impl FnOnce(&mut ExpanderParams)) {
    if let Some(expander) = &mut socket.expander {
        raise(expander);
    }
}

pub(super) fn more_far_reads(socket: &mut SocketParams, by: f64) {
    of_expander(socket, |expander| count(&mut expander.read_credits, by));
}

pub(super) fn more_far_writes(socket: &mut SocketParams, by: f64) {
    of_expander(socket, |expander| count(&mut expander.write_credits, by));
}

pub(super) fn faster_far_link(socket: &mut SocketParams, by: f64) {
    of_expander(socket, |expander| rate(&mut expander.bytes_per_s, by));
}

pub(super) fn faster_far_bus(socket: &mut SocketParams, by: f64) {
    of_expander(socket, |expander| faster_dram(&mut expander.memory.dram, by));
}

pub(super) fn more_tor_entries(socket: &mut SocketParams, by: f64) {
    count(&mut socket.cha.tor_entries, by);
    count(&mut socket.cha.tor_write_entries, by);
}

pub(super) fn longer_rpq(socket: &mut SocketParams, by: f64) {
    let ControllerParams { rpq_entries, rpq_full_threshold, .. } = &mut socket.memory.controller;
    [rpq_entries, rpq_full_threshold].into_iter().for_each(|number| count(number, by));
}

pub(super) fn longer_wpq(socket: &mut SocketParams, by: f64) {
    let ControllerParams { wpq_entries, wpq_full_threshold, write_high, write_low, .. } = &mut socket.memory.controller;
    [wpq_entries, wpq_full_threshold, write_high, write_low].into_iter().for_each(|number| count(number, by));
}

/// A bus of shorter clocks, with more of them wherever the DRAM itself needs its time.
pub(super) fn faster_bus(socket: &mut SocketParams, by: f64) {
    faster_dram(&mut socket.memory.dram, by);
}

fn faster_dram(dram: &mut DramParams, by: f64) {
    dram.clock_ps_denominator = (dram.clock_ps_denominator as f64 * by * 1e3).round() as u64;
    dram.clock_ps_numerator *= 1000;
    let TimingParams { cl, cwl, rcd, rp, ras, rc, wr, rtp, rrd_s, rrd_l, .. } = &mut dram.timing;
    [cl, cwl, rcd, rp, ras, rc, wr, rtp, rrd_s, rrd_l].into_iter().for_each(|clocks| count(clocks, by));
    let TimingParams { wtr_s, wtr_l, faw, rfc, refi, rfc_sb, refi_sb, refsb_act, refsb_refsb, .. } = &mut dram.timing;
    let times = [wtr_s, wtr_l, faw, rfc, refi, rfc_sb, refi_sb, refsb_act, refsb_refsb];
    times.into_iter().for_each(|clocks| count(clocks, by));
}
