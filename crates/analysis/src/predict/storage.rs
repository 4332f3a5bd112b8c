//! What drives offer, if the host takes it.

use hostnet_model::params::{FioJob, FioParams, PcieParams, ServerParams};

const SHARE: f64 = (1_u64 << 32) as f64;

/// One drive under the jobs of one workload. It serves one command at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drive {
    /// Share of its lines that it writes to memory (storage reads); it reads the others (storage writes).
    pub(super) share: f64,
    /// Lines per ns while it writes to memory.
    pub(super) writing: f64,
    /// Lines per ns while it reads from memory.
    pub(super) reading: f64,
    /// Lines per ns that the commands in flight allow.
    pub(super) depth: f64,
}

impl Drive {
    /// Lines per ns of both directions together when the host takes `write` and gives `read` lines per ns at most.
    #[must_use]
    pub(super) fn rate(&self, write: f64, read: f64) -> f64 {
        let phase = |share: f64, own: f64, host: f64| if share > 0.0 { share / least(own, host) } else { 0.0 };
        let moving = 1.0 / (phase(self.share, self.writing, write) + phase(1.0 - self.share, self.reading, read));
        least(moving, self.depth)
    }

    /// Lines per ns that it offers to a host that takes everything.
    pub(super) fn offered(&self) -> f64 {
        self.rate(f64::MAX, f64::MAX)
    }
}

/// How sharply a flow turns from its own pace to what it is let.
const SHARPNESS: f64 = 8.0;

/// The lesser of two rates, rounded where they meet.
pub(super) fn least(first: f64, second: f64) -> f64 {
    let ratio = (first / second).powf(SHARPNESS);
    first / (1.0 + ratio).powf(1.0 / SHARPNESS)
}

/// The drives of a workload, each with what it offers as far as drive, link, rate cap and queue depth allow.
pub(super) fn drives(server: &ServerParams, fio: &FioParams) -> Vec<Drive> {
    let mut used: Vec<u32> = fio.jobs.iter().map(|job| job.ssd).collect();
    used.sort_unstable();
    used.dedup();
    let cap = match fio.rate_bytes_per_s {
        0 => f64::INFINITY,
        bytes => bytes as f64 / used.len() as f64,
    };
    used.iter().map(|&ssd| drive(server, fio.jobs.iter().filter(|job| job.ssd == ssd), cap)).collect()
}

fn drive<'a>(server: &ServerParams, jobs: impl Iterator<Item = &'a FioJob>, cap: f64) -> Drive {
    let jobs: Vec<&FioJob> = jobs.collect();
    let ssd = &server.ssd;
    let (to_memory, from_memory) = link_bytes_per_s(&server.pcie);
    let reading = (ssd.read_bytes_per_s as f64).min(cap).min(to_memory);
    let writing = (ssd.write_bytes_per_s as f64).min(cap).min(from_memory);
    let bytes: f64 = jobs.iter().map(|job| f64::from(job.io_depth) * job.block_bytes as f64).sum();
    let share: f64 = jobs
        .iter()
        .map(|job| f64::from(job.io_depth) * job.block_bytes as f64 * (job.reads as f64 / SHARE))
        .sum::<f64>()
        / bytes.max(1.0);
    let moving = 1.0 / (share / reading + (1.0 - share) / writing);
    let lines = |bytes_per_s: f64| bytes_per_s / 64.0 / 1e9;
    let depth = lines(depth_bytes_per_s(server, &jobs, moving, share));
    Drive { share, writing: lines(reading), reading: lines(writing), depth }
}

/// What the commands in flight allow: each moves its data in turn, and comes back after the latency of drive and link.
fn depth_bytes_per_s(server: &ServerParams, jobs: &[&FioJob], moving: f64, share: f64) -> f64 {
    let held: f64 = f64::from(server.ssd.queue_depth);
    let commands: f64 = jobs.iter().map(|job| f64::from(job.io_depth)).sum();
    let bytes: f64 = jobs.iter().map(|job| f64::from(job.io_depth) * job.block_bytes as f64).sum::<f64>() / commands;
    let way_s = |ps: u64| ps as f64 / 1e12;
    let read_back = 2.0 * way_s(server.pcie.latency_ps)
        + way_s(
            server.iio.read_to_cha_ps + server.cha.read_to_mc_ps + server.cha.from_mc_ps + server.iio.read_return_ps,
        );
    let away_s = way_s(server.pcie.latency_ps + server.ssd.latency_ps) + (1.0 - share) * read_back;
    commands.min(held) * bytes / (bytes / moving + away_s)
}

/// Bytes of data per second that one link carries to memory and from memory.
pub(super) fn link_bytes_per_s(pcie: &PcieParams) -> (f64, f64) {
    let raw = pcie.bytes_per_s as f64 * (1.0 - f64::from(pcie.dllp_share) / 65536.0);
    let share = |payload: u32, overhead: u32| f64::from(payload) / f64::from(payload + overhead);
    let up = raw * share(pcie.mps_bytes, pcie.write_overhead_bytes);
    let payload = pcie.mps_bytes.min(pcie.mrrs_bytes);
    let requests = raw * f64::from(pcie.mrrs_bytes) / f64::from(pcie.read_overhead_bytes.max(1));
    (up, (raw * share(payload, pcie.completion_overhead_bytes)).min(requests))
}
