//! The limits of a server: how each is called, which key says it, and how to raise it.

pub use crate::binding::{CORE, OFFERED_LOAD};

use hostnet_model::params::{ControllerParams, DramParams, ServerParams, SocketParams, TimingParams, WorkloadKind};

/// A limit of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// What answers call it.
    pub name: &'static str,
    /// The key that says how high it is.
    pub key: &'static str,
    /// What there is more of when it is raised by a quarter, in words.
    pub raised_by_a_quarter: &'static str,
    raises: &'static [Raise],
}

/// Raises something by a factor, of whatever is counted or of the rate, and what depends on it as well.
#[derive(Clone, Copy, Debug)]
enum Raise {
    Socket(fn(&mut SocketParams, f64)),
    Workload(fn(&mut WorkloadKind, f64)),
}

impl Limit {
    const fn of(name: &'static str, key: &'static str, words: &'static str, raises: &'static [Raise]) -> Self {
        Self { name, key, raised_by_a_quarter: words, raises }
    }

    /// The server with this limit raised by a factor of more than 1: on every socket, for every workload.
    #[must_use]
    pub fn raised(&self, server: &ServerParams, factor: f64) -> ServerParams {
        let mut raised = server.clone();
        for raise in self.raises {
            match raise {
                Raise::Socket(raise) => raised.sockets.iter_mut().for_each(|socket| raise(socket, factor)),
                Raise::Workload(raise) => {
                    raised.workloads.iter_mut().for_each(|workload| raise(&mut workload.kind, factor));
                }
            }
        }
        raised
    }
}

/// The entries that cores miss in.
pub const LFB: &str = "LFB";
/// The bus of the memory channels.
pub const CHANNEL: &str = "DRAM channel";

/// Every limit that a server has.
pub const LIMITS: [Limit; 17] = [
    Limit::of(
        LFB,
        "core.lfb.entries",
        "a quarter more LFB entries",
        &[Raise::Socket(|socket, by| count(&mut socket.core.lfb_entries, by))],
    ),
    Limit::of(CORE, "core.lfb.refill", "cores a quarter faster", &[Raise::Socket(faster_cores)]),
    Limit::of(CORE, "fio.kernel_lines_per_page", "kernel work a quarter faster", &[Raise::Workload(less_kernel_work)]),
    Limit::of(OFFERED_LOAD, "gap", "a pace a quarter faster", &[Raise::Workload(shorter_gap)]),
    Limit::of(OFFERED_LOAD, "ssd.bandwidth", "drives a quarter faster", &[Raise::Socket(faster_drives)]),
    Limit::of(OFFERED_LOAD, "rate", "a rate cap a quarter higher", &[Raise::Workload(higher_cap)]),
    Limit::of(
        OFFERED_LOAD,
        "iodepth",
        "a quarter more commands in flight",
        &[Raise::Socket(longer_queues), Raise::Workload(deeper_jobs)],
    ),
    Limit::of("PCIe link", "pcie.lanes", "PCIe links a quarter faster", &[Raise::Socket(wider_links)]),
    Limit::of(
        "P2M-Write",
        "iio.write_credits",
        "a quarter more IIO write credits",
        &[Raise::Socket(|socket, by| count(&mut socket.iio.write_credits, by))],
    ),
    Limit::of(
        "P2M-Read",
        "iio.read_credits",
        "a quarter more IIO read credits",
        &[Raise::Socket(|socket, by| count(&mut socket.iio.read_credits, by))],
    ),
    Limit::of("IIO line", "iio.line", "an IIO a quarter faster", &[Raise::Socket(faster_iio)]),
    Limit::of("PCIe posted", "pcie.posted_lines", "a quarter more posted credits", &[Raise::Socket(more_posted)]),
    Limit::of(
        "PCIe non-posted",
        "pcie.nonposted_lines",
        "a quarter more non-posted credits",
        &[Raise::Socket(more_nonposted)],
    ),
    Limit::of("CHA TOR", "cha.tor.entries", "a quarter more TOR entries", &[Raise::Socket(more_tor_entries)]),
    Limit::of("RPQ", "memory.controller.rpq.entries", "a quarter more RPQ entries", &[Raise::Socket(longer_rpq)]),
    Limit::of("WPQ", "memory.controller.wpq.entries", "a quarter more WPQ entries", &[Raise::Socket(longer_wpq)]),
    Limit::of(
        CHANNEL,
        "memory.channels",
        "memory channels a quarter faster",
        &[Raise::Socket(|socket, by| faster_bus(&mut socket.memory.dram, by))],
    ),
];

/// Limits that are as high as each other, so that raising one alone says nothing.
pub const TOGETHER: [Limit; 1] = [Limit::of(
    OFFERED_LOAD,
    "ssd.bandwidth, pcie.lanes, rate and iodepth",
    "drives, links, caps and queues all a quarter higher",
    &[
        Raise::Socket(faster_drives),
        Raise::Socket(wider_links),
        Raise::Socket(longer_queues),
        Raise::Workload(higher_cap),
        Raise::Workload(deeper_jobs),
    ],
)];

fn count(number: &mut u32, by: f64) {
    *number = (f64::from(*number) * by).ceil() as u32;
}

fn rate(bytes_per_s: &mut u64, by: f64) {
    *bytes_per_s = (*bytes_per_s as f64 * by).round() as u64;
}

fn time(ps: &mut u64, by: f64) {
    *ps = (*ps as f64 / by).round() as u64;
}

fn faster_cores(socket: &mut SocketParams, by: f64) {
    let core = &mut socket.core;
    [&mut core.refill_ps, &mut core.refill_spread_ps, &mut core.issue_ps].into_iter().for_each(|ps| time(ps, by));
}

fn less_kernel_work(kind: &mut WorkloadKind, by: f64) {
    if let WorkloadKind::Fio(fio) = kind {
        time(&mut fio.kernel_lines_per_page, by);
    }
}

fn shorter_gap(kind: &mut WorkloadKind, by: f64) {
    if let WorkloadKind::Stream(stream) = kind {
        time(&mut stream.gap_ps, by);
    }
}

fn faster_drives(socket: &mut SocketParams, by: f64) {
    let ssd = &mut socket.ssd;
    [&mut ssd.read_bytes_per_s, &mut ssd.write_bytes_per_s].into_iter().for_each(|bytes| rate(bytes, by));
}

fn higher_cap(kind: &mut WorkloadKind, by: f64) {
    if let WorkloadKind::Fio(fio) = kind {
        rate(&mut fio.rate_bytes_per_s, by);
    }
}

fn longer_queues(socket: &mut SocketParams, by: f64) {
    count(&mut socket.ssd.queue_depth, by);
}

fn deeper_jobs(kind: &mut WorkloadKind, by: f64) {
    if let WorkloadKind::Fio(fio) = kind {
        fio.jobs.iter_mut().for_each(|job| count(&mut job.io_depth, by));
    }
}

fn wider_links(socket: &mut SocketParams, by: f64) {
    rate(&mut socket.pcie.bytes_per_s, by);
}

fn faster_iio(socket: &mut SocketParams, by: f64) {
    [&mut socket.iio.line_ps, &mut socket.iio.line_spread_ps].into_iter().for_each(|ps| time(ps, by));
}

/// Raises credits in lines to those of one more packet of `bytes`, at least.
fn packets(lines: &mut u32, bytes: u32, by: f64) {
    let packet = (bytes / 64).max(1);
    *lines = ((f64::from(*lines) * by / f64::from(packet)).ceil() as u32).max(*lines / packet + 1) * packet;
}

fn more_posted(socket: &mut SocketParams, by: f64) {
    packets(&mut socket.pcie.posted_lines, socket.pcie.mps_bytes, by);
}

fn more_nonposted(socket: &mut SocketParams, by: f64) {
    packets(&mut socket.pcie.nonposted_lines, socket.pcie.mrrs_bytes, by);
}

fn more_tor_entries(socket: &mut SocketParams, by: f64) {
    count(&mut socket.cha.tor_entries, by);
    count(&mut socket.cha.tor_write_entries, by);
}

fn longer_rpq(socket: &mut SocketParams, by: f64) {
    let ControllerParams { rpq_entries, rpq_full_threshold, .. } = &mut socket.memory.controller;
    [rpq_entries, rpq_full_threshold].into_iter().for_each(|number| count(number, by));
}

fn longer_wpq(socket: &mut SocketParams, by: f64) {
    let ControllerParams { wpq_entries, wpq_full_threshold, write_high, write_low, .. } = &mut socket.memory.controller;
    [wpq_entries, wpq_full_threshold, write_high, write_low].into_iter().for_each(|number| count(number, by));
}

/// A bus of shorter clocks, with more of them wherever the DRAM itself needs its time.
fn faster_bus(dram: &mut DramParams, by: f64) {
    dram.clock_ps_denominator = (dram.clock_ps_denominator as f64 * by * 1e3).round() as u64;
    dram.clock_ps_numerator *= 1000;
    let TimingParams { cl, cwl, rcd, rp, ras, rc, wr, rtp, rrd_s, rrd_l, .. } = &mut dram.timing;
    [cl, cwl, rcd, rp, ras, rc, wr, rtp, rrd_s, rrd_l].into_iter().for_each(|clocks| count(clocks, by));
    let TimingParams { wtr_s, wtr_l, faw, rfc, refi, rfc_sb, refi_sb, refsb_act, refsb_refsb, .. } = &mut dram.timing;
    let times = [wtr_s, wtr_l, faw, rfc, refi, rfc_sb, refi_sb, refsb_act, refsb_refsb];
    times.into_iter().for_each(|clocks| count(clocks, by));
}
