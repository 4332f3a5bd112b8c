//! Builds cores and the engines that run on them.

use super::PartBuilder;
use crate::build::burst_converter::BurstConverter;
use crate::build::fluid::copiers;
use crate::build::net_stack::stacks;
use crate::build::ranks::workers;
use crate::build::workloads::{programs, threads};
use crate::build::SocketBuilder;
use hostnet_model::core::{Core, Engine, Executor, Program, Programs, Thread};
use hostnet_model::params::{CacheParams, CoreParams, SocketParams};
use hostnet_model::{Component, PartKind};

pub(super) const CORES: PartBuilder =
    PartBuilder::new(PartKind::Core, |params| params.core.count, cores).in_bursts(coarsen);

/// Builds the cores with everything that runs on them.
fn cores(socket: &SocketBuilder) -> Vec<Component> {
    let mut engines = engines(socket);
    let mut params = limited_params(socket);
    let before: Vec<u32> = engines.iter().map(|engines| engines.len() as u32).collect();
    for (core, of_core, stack) in stacks(socket, &before) {
        engines[core as usize].push(stack.into());
        params[core as usize] = of_core;
    }
    // Ranks come after the stacks, as the number of engines before selects their random stream.
    for (core, worker) in workers(socket, &engines) {
        engines[core as usize].push(worker.into());
    }
    let power = socket.server.params.power.as_deref();
    let core = |(engines, params)| {
        let core = Core::new(PartKind::Core, params, engines, socket.server.classes);
        power.into_iter().fold(core, Core::with_power).into()
    };
    let mut all: Vec<Component> = engines.into_iter().zip(&params).map(core).collect();
    // Copying cores replace network cores only when the rates of a server are measured.
    copiers(socket, &mut all);
    all
}

/// Builds the streams, applications and storage threads of each core. Network stacks and ranks are added later.
fn engines(socket: &SocketBuilder) -> Vec<Vec<Engine>> {
    match &socket.params.cache {
        None => {
            let params = limited_params(socket);
            let each = (0..).zip(programs(socket)).zip(params);
            each.map(|((core, programs), params)| run(socket, core, programs, params)).collect()
        }
        Some(cache) => {
            (0..).zip(threads(socket)).map(|(core, threads)| execute(socket, core, threads, cache)).collect()
        }
    }
}

/// Returns the parameters of each core: those of the socket, or less where the cores of a CCD share its entries.
fn limited_params(socket: &SocketBuilder) -> Vec<CoreParams> {
    let core = &socket.params.core;
    let Some(chiplets) = socket.params.die.as_ref().and_then(|die| die.chiplets.as_ref()) else {
        return vec![core.clone(); core.count as usize];
    };
    let busy: Vec<bool> = (0..core.count).map(|number| runs_streams(socket, number)).collect();
    let each = chiplets.cores_per_ccd as usize;
    let of_ccd = |number: usize| busy[number / each * each..][..each].iter().filter(|busy| **busy).count() as u32;
    (0..busy.len()).map(|number| chiplets.limited(core, of_ccd(number))).collect()
}

fn runs_streams(socket: &SocketBuilder, core: u32) -> bool {
    let number = socket.number(core);
    socket.server.params.workloads.iter().any(|workload| workload.kind.runs_on(number))
}

fn run(socket: &SocketBuilder, core: u32, programs: Vec<Program>, params: CoreParams) -> Vec<Engine> {
    if programs.is_empty() {
        return Vec::new();
    }
    let rng = socket.server.component_rng(socket.layout.cores().get(core));
    let all = Programs::new(params, socket.core_wiring(), socket.pages.clone(), rng, programs, socket.server.classes);
    let shootdown_ps = socket.server.params.tiering().map_or(0, |(_, tiering)| tiering.shootdown_ps);
    vec![all.with_shootdown(shootdown_ps).into()]
}

fn execute(socket: &SocketBuilder, core: u32, threads: Vec<Thread>, cache: &CacheParams) -> Vec<Engine> {
    let executor = |(number, thread): (u32, Thread)| {
        let (params, pages) = (socket.params.core.clone(), socket.pages.clone());
        let rng = socket.engine_rng(core, number);
        Executor::new(core, params, socket.core_wiring(), cache, pages, rng, thread, socket.server.classes).into()
    };
    (0..).zip(threads).map(executor).collect()
}

/// Converts the parameters to bursts.
fn coarsen(grain: &BurstConverter, socket: &mut SocketParams) {
    let core = &mut socket.core;
    core.lfb_entries = grain.count(core.lfb_entries);
    // Bursts count from 1; 0 turns prefetching off.
    core.stream_prefetches = if core.stream_prefetches > 0 { grain.count(core.stream_prefetches) } else { 0 };
    core.issue_ps = grain.time(core.issue_ps);
    core.dirty_pool_lines = grain.size.shrink(core.dirty_pool_lines);
}
