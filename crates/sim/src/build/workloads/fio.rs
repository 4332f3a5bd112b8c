//! Builds the work of the kernel for storage IO.

use super::CoreWorkload;
use crate::build::burst_converter::BurstConverter;
use crate::build::SocketBuilder;
use hostnet_model::core::{Program, ProgramMemory, Source, Storage, Thread};
use hostnet_model::line::{Evictions, Walk};
use hostnet_model::params::{AccessPattern, FioParams, WorkloadKind, KERNEL_BYTES};
use std::collections::VecDeque;

impl CoreWorkload for FioParams {
    fn add_programs(&self, socket: &SocketBuilder, class: u8, programs: &mut [Vec<Program>]) {
        for core in socket.layout.own_cores(&cores_of(self)) {
            programs[core as usize].push(program(socket, class, core, self));
        }
    }

    fn add_threads(&self, socket: &SocketBuilder, class: u8, threads: &mut [Vec<Thread>]) {
        for core in socket.layout.own_cores(&cores_of(self)) {
            threads[core as usize].push(thread(socket, class, core, self));
        }
    }

    fn in_bursts(&self, grain: &BurstConverter) -> WorkloadKind {
        let mut fio = self.clone();
        fio.rate_bytes_per_s = grain.bytes(fio.rate_bytes_per_s);
        for job in &mut fio.jobs {
            job.block_bytes = grain.lines_of(job.block_bytes);
            job.size_bytes = grain.lines_of(job.size_bytes);
        }
        WorkloadKind::Fio(fio)
    }
}

fn program(socket: &SocketBuilder, class: u8, core: u32, fio: &FioParams) -> Program {
    let base = socket.take(core, KERNEL_BYTES);
    let mut rng = socket.server.rng(2 << 32 | u64::from(socket.number(core)) << 8 | u64::from(class));
    let walk = Walk::new(base, KERNEL_BYTES, AccessPattern::Sequential, &mut rng);
    Program {
        class,
        reads: fio.kernel_loads,
        evictions: Evictions::new(walk.clone(), socket.params.core.dirty_pool_lines, &socket.pages, &mut rng),
        walk,
        // The kernel follows pointers from page to page.
        prefetched: false,
        gap_ps: 0,
        owed: Some(0),
        lines_per_page: fio.kernel_lines_per_page,
        memory: ProgramMemory::Fixed,
    }
}

fn thread(socket: &SocketBuilder, class: u8, core: u32, fio: &FioParams) -> Thread {
    let base = socket.take(core, KERNEL_BYTES);
    let mut rng = socket.server.rng(2 << 32 | u64::from(socket.number(core)) << 8 | u64::from(class));
    let walk = Walk::new(base, KERNEL_BYTES, AccessPattern::Sequential, &mut rng);
    let storage = Storage {
        walk,
        loads: fio.kernel_loads,
        lines_per_page: fio.kernel_lines_per_page,
        owed: 0,
        request: 0,
        blocks: VecDeque::new(),
    };
    Thread {
        class,
        source: Source::Storage(storage),
        // The kernel issues accesses at the rate of a core without gaps.
        instruction_fs: socket.params.core.issue_ps * 1000,
        in_flight: 0,
        think_ps: 0,
        partner: None,
    }
}

/// Returns the cores that serve the jobs of a storage workload.
fn cores_of(fio: &FioParams) -> Vec<u32> {
    let mut cores: Vec<u32> = fio.jobs.iter().map(|job| job.core).collect();
    cores.sort_unstable();
    cores.dedup();
    cores
}
