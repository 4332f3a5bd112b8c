//! Computes the load that storage offers: the throughput of its drives if nothing in the host held them back.

use crate::explain::unloaded;
use hostnet_model::params::{FioJob, FioParams, PcieParams, ServerParams, SocketParams};

const LINES_PER_PAGE: f64 = 64.0;

/// Returns the data rate in GB/s that storage workload `class` offers: the most that the bandwidth, rate cap and
/// queue of its drives and their PCIe links allow. Returns `None` for other kinds of workload.
///
/// A drive serves its commands one after the other, so workloads that share a drive share its time in proportion to
/// the bytes that they keep in flight.
#[must_use]
pub fn offered_gb_per_s(server: &ServerParams, class: usize) -> Option<f64> {
    server.workloads.get(class)?.kind.fio()?;
    Some(drive_offers(server, class).iter().map(DriveOffer::gb_per_s).sum())
}

/// Name of the PCIe links in answers, where they bound the offered load.
pub const LINKS: &str = "its PCIe links";

/// Load that one drive offers to one workload, in GB/s of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DriveOffer {
    /// Share of the data that is storage reads, which the device writes to memory; 0 to 1.
    pub(crate) reads: f64,
    /// Data rate while the drive is read, in GB/s.
    pub(crate) reading: f64,
    /// Data rate while the drive is written, in GB/s.
    pub(crate) writing: f64,
    /// Data rate that the commands in flight allow, in GB/s.
    pub(crate) queue: f64,
}

impl DriveOffer {
    fn gb_per_s(&self) -> f64 {
        // A drive reads and writes one after the other, so times per byte add up (harmonic mean).
        self.queue.min(1.0 / (self.reads / self.reading + (1.0 - self.reads) / self.writing))
    }
}

/// Returns the load that each drive offers to storage workload `class`.
pub(crate) fn drive_offers(server: &ServerParams, class: usize) -> Vec<DriveOffer> {
    let at = server.sockets.iter().flat_map(|socket| (0..socket.ssd.count).map(move |_| socket));
    (0..).zip(at).filter_map(|(drive, socket)| drive_offer(server, socket, class, drive)).collect()
}

/// One job on a drive and the workload that it belongs to.
struct Share<'a> {
    class: usize,
    job: &'a FioJob,
    fio: &'a FioParams,
}

/// Returns the load that a drive on `socket` offers to `class`, or `None` if `class` has no job on the drive.
fn drive_offer(server: &ServerParams, socket: &SocketParams, class: usize, drive: u32) -> Option<DriveOffer> {
    let shares: Vec<Share> = shares(server).filter(|share| share.job.ssd == drive).collect();
    let bytes = |share: &Share| share.job.block_bytes as f64 * f64::from(share.job.io_depth);
    let own = || shares.iter().filter(|share| share.class == class);
    let all: f64 = shares.iter().map(bytes).sum();
    let mine: f64 = own().map(bytes).sum();
    if mine == 0.0 {
        return None;
    }
    let cap = cap_gb_per_s(server, drive);
    let time = |share: &Share| bytes(share) * ns_per_byte(socket, share, cap);
    let ns_per_byte = shares.iter().map(time).sum::<f64>() / all;
    // Jobs may keep more commands outstanding than the drive queue holds: scale the bytes in flight down to the
    // queue.
    let held: f64 = shares.iter().map(|share| f64::from(share.job.io_depth)).sum();
    let in_flight = all * (f64::from(socket.ssd.queue_depth) / held).min(1.0);
    // Waits are a matter of commands, so they are weighted by depth and not by bytes.
    let wait_ns: f64 =
        shares.iter().map(|share| f64::from(share.job.io_depth) / held * wait_ns(socket, share.job)).sum();
    let part = mine / all;
    // Share of the drive's time that the workload gets: the time of its bytes over that of all bytes in flight.
    let turn = part * own().map(time).sum::<f64>() / mine / ns_per_byte;
    let mean_ns = |pick: fn((f64, f64)) -> f64| {
        own().map(|share| bytes(share) * pick(phases_ns_per_byte(socket, share, cap))).sum::<f64>() / mine
    };
    Some(DriveOffer {
        reads: own().map(|share| bytes(share) * storage_reads(share.job)).sum::<f64>() / mine,
        reading: turn / mean_ns(|phases| phases.0),
        writing: turn / mean_ns(|phases| phases.1),
        // Little's law: bytes in flight over the wait and the transfer of one command of mean size.
        queue: part * in_flight / (wait_ns + all / held * ns_per_byte),
    })
}

fn shares(server: &ServerParams) -> impl Iterator<Item = Share<'_>> {
    server.workloads.iter().enumerate().flat_map(|(class, workload)| {
        let fio = workload.kind.fio();
        fio.into_iter().flat_map(move |fio| fio.jobs.iter().map(move |job| Share { class, job, fio }))
    })
}

/// Time from the end of a command until the first data of the next command in its queue slot, in ns: latencies of
/// link and drive and, for storage writes, the round trip of a memory read.
fn wait_ns(socket: &SocketParams, job: &FioJob) -> f64 {
    let storage_reads = storage_reads(job);
    let there_ns = (socket.pcie.latency_ps + socket.ssd.latency_ps) as f64 / 1000.0;
    // A storage write begins with reads of memory: over the link and back before the first data.
    let memory_ns = unloaded::p2m_read_ns(socket) + 2.0 * socket.pcie.latency_ps as f64 / 1000.0;
    there_ns + (1.0 - storage_reads) * memory_ns
}

/// Drive time per byte of data in ns, under a rate cap of `cap` GB/s, averaged over reads and writes.
fn ns_per_byte(socket: &SocketParams, share: &Share, cap: f64) -> f64 {
    let (reading, writing) = phases_ns_per_byte(socket, share, cap);
    let reads = storage_reads(share.job);
    reads * reading + (1.0 - reads) * writing
}

/// Returns the drive time per byte in ns while the drive is read and while it is written, under a cap of `cap` GB/s.
fn phases_ns_per_byte(socket: &SocketParams, share: &Share, cap: f64) -> (f64, f64) {
    let SocketParams { ssd, pcie, .. } = socket;
    let paced = |bytes_per_s: u64| 1.0 / cap.min(bytes_per_s as f64 / 1e9);
    let wire = 1.0 / wire_gb_per_s(pcie);
    // Lines per page are stored in units of 1/65536.
    let beyond = share.fio.dma_lines_per_page as f64 / 65_536.0 / LINES_PER_PAGE;
    let tlp = |payload: u32, overhead: u32| wire * f64::from(payload + overhead) / f64::from(payload);
    let posted = tlp(pcie.mps_bytes, pcie.write_overhead_bytes);
    // A read request has no payload; one asks for up to MRRS bytes (PCIe Base Specification, Max_Read_Request_Size).
    let asked = wire * f64::from(pcie.read_overhead_bytes) / f64::from(pcie.mrrs_bytes);
    // A completion carries at most MPS bytes, and no more than its request asked for.
    let completed = tlp(pcie.mps_bytes.min(pcie.mrrs_bytes), pcie.completion_overhead_bytes);
    // The slower of drive and link sets the pace. Additional DMA crosses the link but not the drive.
    let reading = paced(ssd.read_bytes_per_s).max(posted) + beyond * posted;
    // Requests and completions use opposite directions of the link, so their times overlap.
    let writing = paced(ssd.write_bytes_per_s).max(asked).max(completed);
    (reading, writing)
}

/// Share of storage reads in `job`, 0 to 1.
fn storage_reads(job: &FioJob) -> f64 {
    // Shares are stored in units of 2^-32.
    job.reads as f64 / 4_294_967_296.0
}

/// Returns the smallest rate cap among the workloads on a drive, in GB/s per drive; infinite without a cap.
fn cap_gb_per_s(server: &ServerParams, drive: u32) -> f64 {
    let of = |share: &Share| {
        let mut drives: Vec<u32> = share.fio.jobs.iter().map(|job| job.ssd).collect();
        // A rate cap is that of the workload and is shared evenly by its drives; several jobs may use one drive.
        drives.sort_unstable();
        drives.dedup();
        share.fio.rate_bytes_per_s as f64 / 1e9 / drives.len() as f64
    };
    let capped = shares(server).filter(|share| share.job.ssd == drive && share.fio.rate_bytes_per_s > 0);
    capped.map(|share| of(&share)).fold(f64::INFINITY, f64::min)
}

/// Bandwidth of one direction of a link in GB/s, less the share of its data link layer packets (DLLPs).
fn wire_gb_per_s(pcie: &PcieParams) -> f64 {
    pcie.bytes_per_s as f64 / 1e9 * (1.0 - f64::from(pcie.dllp_share) / 65_536.0)
}
