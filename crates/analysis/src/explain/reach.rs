//! How far a workload's lines come where there are caches: some are served by the LLC, others go on to memory.

use super::facts::{Kind, WorkloadFacts};
use super::unloaded;
use crate::counters::{Counters, Flow};
use hostnet_model::params::{CacheParams, SocketParams};

fn ns(ps: u64) -> f64 {
    ps as f64 / 1000.0
}

/// How far the lines of a workload come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reach {
    /// Share of them that wait for memory.
    pub(super) memory: f64,
    /// What those take between CHA and memory without load, in ns.
    pub(super) memory_ns: f64,
    /// What all of them take in the LLC, mean in ns.
    pub(super) llc_ns: f64,
}

impl Reach {
    /// The lines of a workload in a domain. Nothing without caches.
    pub(super) fn of(socket: &SocketParams, counters: &Counters, facts: &WorkloadFacts, domain: &str) -> Option<Self> {
        let cache = socket.cache.as_ref()?;
        let cached = facts.cached?;
        Some(match (facts.kind, domain) {
            (Kind::Stream, _) => Self::of_reads(socket, cache, cached.llc_miss_ratio.unwrap_or(1.0)),
            (Kind::Fio, "P2M-Read") => Self::of_reads(socket, cache, passed(counters.io_read, counters.iio_read)),
            (Kind::Fio, _) => Self::of_writes(socket, cache, passed(counters.io_write, counters.iio_write)),
        })
    }

    fn of_reads(socket: &SocketParams, cache: &CacheParams, memory: f64) -> Self {
        let llc_ns = (1.0 - memory) * ns(cache.llc.hit_ps);
        Self { memory, memory_ns: unloaded::cha_read_ns(socket), llc_ns }
    }

    /// A device's write waits for memory if it goes there, or if a dirty line has to leave the LLC for it: then for
    /// room in the channel, not for the way of that line, and the LLC takes it meanwhile.
    fn of_writes(socket: &SocketParams, cache: &CacheParams, memory: f64) -> Self {
        let drives = &cache.ddio.drives;
        let put = drives.iter().filter(|on| **on).count() as f64 / drives.len().max(1) as f64;
        let direct = memory.min(1.0 - put);
        let evicted = memory - direct;
        let sum_ns = direct * unloaded::cha_io_write_ns(socket) + evicted * ns(socket.cha.write_ack_ps);
        let memory_ns = if memory > 0.0 { sum_ns / memory } else { 0.0 };
        Self { memory, memory_ns, llc_ns: (1.0 - memory) * ns(cache.ddio.write_ps) }
    }

    /// What the lines take between their admission and the answer of the CHA without load, mean in ns.
    pub(super) fn unloaded_ns(&self) -> f64 {
        self.memory * self.memory_ns + self.llc_ns
    }
}

/// The share of lines of a buffer that came on into a domain of the CHA.
fn passed(inside: Flow, held: Flow) -> f64 {
    match (inside.lines, held.lines) {
        (Some(inside), Some(held)) if held > 0.0 => (inside / held).min(1.0),
        _ => 1.0,
    }
}
