//! Fills the caches of a loaded server, if its NIC writes to the LLC.
//!
//! The buffers of a NIC may take longer to wrap around than the measurement of a rate. So the NIC writes them, and
//! the cores read them soon after, without events, until nothing of the former content of the caches is left.

use super::server_load::ServerLoad;
use crate::build::warm_up::TURNOVERS;
use hostnet_model::cache::Caches;
use hostnet_model::fluid::{lines_of, Copier, Probe};
use hostnet_model::nic::Nic;
use hostnet_model::params::{NicParams, ServerParams, SocketParams};
use hostnet_model::{Component, Machine, Pages};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Content of the caches, by the seed of the server. It does not depend on the load, so it is computed once.
#[derive(Debug, Default)]
pub(crate) struct FilledCaches(BTreeMap<u64, OnceLock<Caches>>);

/// Returns true if the NIC of a socket writes to its LLC.
pub(super) fn has_ddio(params: &SocketParams) -> bool {
    params.cache.is_some() && params.nic.as_ref().is_some_and(|nic| nic.ddio)
}

impl FilledCaches {
    /// Makes room for the content of servers with the given seeds.
    pub(super) fn of(seeds: impl Iterator<Item = u64>) -> Self {
        Self(seeds.map(|seed| (seed, OnceLock::new())).collect())
    }

    /// Fills the caches of a machine, whose seed is one of those given, with packets that its NIC writes and its cores
    /// read.
    pub(crate) fn fill(&self, machine: &mut Machine, params: &ServerParams, load: &ServerLoad) {
        let socket = params.socket();
        let (Some(nic), true) = (&socket.nic, has_ddio(socket) && !load.cores.is_empty()) else { return };
        let (caches_of, components) = machine.warm_up_parts();
        let Some(caches) = &mut caches_of[0] else { return };
        // Threads that need the same content wait for the first of them.
        let filled = self.0[&params.seed].get_or_init(|| filled(components, caches.clone(), params, (nic, load)));
        caches.clone_from(filled);
    }
}

/// Returns the content of the caches of a server after its buffers were written and read.
fn filled(
    components: &[Component],
    mut caches: Caches,
    params: &ServerParams,
    (nic, load): (&NicParams, &ServerLoad),
) -> Caches {
    let socket = params.socket();
    let pages = Pages::new(&socket.memory.pages, params.seed);
    // The network is the last workload of a loaded server.
    let class = (params.workloads.len() - 1) as u8;
    let call_bytes = params.stack.as_ref().map_or(0, |stack| stack.call_bytes);
    // A system call reads as many packets as fit into `call_bytes`.
    let run = u64::from((call_bytes / load.ip_bytes.max(1)).max(1));
    let packets = FillPackets { nic, pages, load, class, run, passes: passes(socket, load) };
    write_and_read(components, &mut caches, &packets);
    // The accesses of the filling are not those of the measurement.
    caches.reset_counts();
    caches
}

/// Returns the number of times that the buffers of all queues are written. The LLC then turns over as often as in the
/// warm-up of other servers.
fn passes(socket: &SocketParams, load: &ServerLoad) -> u64 {
    let pools = load.cores.len() as u64 * socket.nic.as_ref().map_or(1, |nic| nic.pool_bytes);
    let held = |llc: &hostnet_model::params::LlcParams| {
        u64::from(llc.sets) * u64::from(llc.ways) * u64::from(socket.cha.slices) * 64
    };
    let bytes = TURNOVERS * socket.cache.as_ref().map_or(0, |cache| held(&cache.llc));
    bytes.div_ceil(pools.max(1))
}

/// Packets that fill the caches.
struct FillPackets<'a> {
    nic: &'a NicParams,
    pages: Pages,
    load: &'a ServerLoad,
    class: u8,
    /// Packets that an application reads at a time.
    run: u64,
    passes: u64,
}

/// Writes the packets of all queues round robin, a run of packets each. The core of a queue reads a run before the
/// next one is written. After whole passes the position is that at which the NIC begins.
fn write_and_read(components: &[Component], caches: &mut Caches, frames: &FillPackets) {
    let part = |component: &Component| component.get::<Probe>().cloned();
    let copier = |probe| match probe {
        Probe::Copier(copier) => Some(*copier),
        Probe::Feeder(_) => None,
    };
    let mut copiers: Vec<Copier> = components.iter().filter_map(part).filter_map(copier).collect();
    let Some(nic) = components.iter().find_map(|component| component.get::<Nic>()) else { return };
    let lines = lines_of(frames.load.ip_bytes);
    let step_bytes = u64::from(frames.nic.step_bytes(lines * 64));
    let places = (frames.nic.pool_bytes / step_bytes).max(1);
    let run = frames.run.min(places);
    for number in 0..frames.passes * places / run {
        for (queue, copier) in (0..).zip(&mut copiers) {
            let base = nic.frames_from(queue);
            let firsts =
                |number| (number * run..(number + 1) * run).map(|packet| (base + packet % places * step_bytes) / 64);
            if number > 0 {
                firsts(number - 1).for_each(|first| copier.warm_up(first, lines, caches));
            }
            for line in firsts(number).flat_map(|first| first..first + u64::from(lines)) {
                let _ = caches.io_write(frames.pages.physical(line * 64) / 64, frames.class);
            }
        }
    }
}
