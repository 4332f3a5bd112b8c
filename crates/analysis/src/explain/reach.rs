//! Computes how many of a workload's lines the LLC serves and how many go on to memory.

use super::facts::{Kind, WorkloadFacts};
use super::unloaded;
use crate::counters::{Counters, Flow};
use hostnet_model::params::{CacheParams, SocketParams};

fn ns(ps: u64) -> f64 {
    ps as f64 / 1000.0
}

/// Shares and unloaded latencies of a workload's lines in the LLC and in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CacheReach {
    /// Share of the lines that wait for memory, 0 to 1.
    pub(super) memory: f64,
    /// Unloaded latency of these lines between CHA and memory, in ns.
    pub(super) memory_ns: f64,
    /// Latency in the LLC averaged over all lines, in ns.
    pub(super) llc_ns: f64,
}

impl CacheReach {
    /// Computes the reach of a workload's lines in `domain`. Returns `None` without caches.
    pub(super) fn of(socket: &SocketParams, counters: &Counters, facts: &WorkloadFacts, domain: &str) -> Option<Self> {
        let cache = socket.cache.as_ref()?;
        let cached = facts.cached?;
        Some(match (facts.kind, domain) {
            // Without LLC reads all lines count as misses: the unloaded latency is then that of memory.
            (Kind::Stream, _) => Self::of_reads(socket, cache, cached.llc_miss_ratio.unwrap_or(1.0)),
            (Kind::Fio, "P2M-Read") => Self::of_reads(socket, cache, passed(counters.io_read, counters.iio_read)),
            (Kind::Fio, _) => Self::of_writes(socket, cache, passed(counters.io_write, counters.iio_write)),
        })
    }

    fn of_reads(socket: &SocketParams, cache: &CacheParams, memory: f64) -> Self {
        let llc_ns = (1.0 - memory) * ns(cache.llc.hit_ps);
        Self { memory, memory_ns: unloaded::cha_read_ns(socket), llc_ns }
    }

    /// Computes the reach of device writes. A write waits for memory if it goes there, or if a dirty line must leave
    /// the LLC for it. In the latter case it waits for room in the channel but not for the path of the victim,
    /// because the LLC takes the write meanwhile.
    fn of_writes(socket: &SocketParams, cache: &CacheParams, memory: f64) -> Self {
        let drives = &cache.ddio.drives;
        let put = drives.iter().filter(|on| **on).count() as f64 / drives.len().max(1) as f64;
        // Drives without DDIO write to memory; any other write that waits for memory has evicted a dirty line.
        let direct = memory.min(1.0 - put);
        let evicted = memory - direct;
        let sum_ns = direct * unloaded::cha_io_write_ns(socket) + evicted * ns(socket.cha.write_ack_ps);
        let memory_ns = if memory > 0.0 { sum_ns / memory } else { 0.0 };
        Self { memory, memory_ns, llc_ns: (1.0 - memory) * ns(cache.ddio.write_ps) }
    }

    /// Mean unloaded latency from the admission of a line until the answer of the CHA, in ns.
    pub(super) fn unloaded_ns(&self) -> f64 {
        self.memory * self.memory_ns + self.llc_ns
    }
}

/// Share of the lines of a buffer that entered a domain of the CHA, 0 to 1.
fn passed(inside: Flow, held: Flow) -> f64 {
    match (inside.lines, held.lines) {
        // Lines count when they leave, so at the edges of a window more of them may leave the CHA than the IIO.
        (Some(inside), Some(held)) if held > 0.0 => (inside / held).min(1.0),
        _ => 1.0,
    }
}
