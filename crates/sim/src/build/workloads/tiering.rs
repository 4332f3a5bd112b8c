//! Builds the buffers whose pages migrate, and the copies of such pages.

use super::CoreWorkload;
use crate::build::burst_converter::BurstConverter;
use crate::build::SocketBuilder;
use hostnet_kernel::ComponentId;
use hostnet_model::core::{MigratingBuffer, PageCopies, Program, ProgramMemory, Thread};
use hostnet_model::line::{Evictions, Walk};
use hostnet_model::params::{AccessPattern, TieringParams, WorkloadKind};

impl CoreWorkload for TieringParams {
    fn add_programs(&self, socket: &SocketBuilder, class: u8, programs: &mut [Vec<Program>]) {
        let tiering = ComponentId(socket.server.layout.tiering);
        for core in socket.layout.own_cores(&self.cores) {
            let mut rng = socket.stream_rng(core, programs[core as usize].len());
            // Copies have no walk of their own: the migration gives them their lines.
            let walk = Walk::new(0, 64, AccessPattern::Sequential, &mut rng);
            programs[core as usize].push(Program {
                class,
                reads: 0,
                evictions: Evictions::new(walk.clone(), 0, &socket.pages, &mut rng),
                walk,
                prefetched: true,
                gap_ps: 0,
                owed: Some(0),
                lines_per_page: 0,
                memory: ProgramMemory::Copied(Box::new(PageCopies::new(self.page_bytes / 64, tiering))),
            });
        }
    }

    /// Adds nothing: with caches no page migrates.
    fn add_threads(&self, _: &SocketBuilder, _: u8, _: &mut [Vec<Thread>]) {}

    fn in_bursts(&self, _: &BurstConverter) -> WorkloadKind {
        WorkloadKind::Tiering(self.clone())
    }
}

/// Returns the memory of a stream with a buffer at `base`, whose pages migrate if those of its workload do.
pub(super) fn memory(socket: &SocketBuilder, class: u8, base: u64, bytes: u64) -> ProgramMemory {
    let server = socket.server;
    let Some((_, tiering)) = server.params.tiering().filter(|(_, tiering)| tiering.classes.contains(&class)) else {
        return ProgramMemory::Fixed;
    };
    let page = tiering.page_bytes;
    let lines: Vec<u64> =
        (0..bytes.div_ceil(page)).map(|number| socket.pages.physical(base + number * page) / 64).collect();
    let mut all = server.migrating.borrow_mut();
    let first = all.len() as u32;
    all.extend(&lines);
    let part = ComponentId(server.layout.tiering);
    ProgramMemory::Migrating(Box::new(MigratingBuffer::new(base, page, first, lines, part, tiering.sample)))
}
