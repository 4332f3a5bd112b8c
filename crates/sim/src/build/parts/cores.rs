//! Builds cores and the engines that run on them.

use super::PartBuilder;
use crate::build::burst_converter::BurstConverter;
use crate::build::fluid::copiers;
use crate::build::net_stack::stacks;
use crate::build::ranks::workers;
use crate::build::workloads::{programs, threads};
use crate::build::SocketBuilder;
use hostnet_model::core::{Core, Engine, Executor, Program, Programs, Thread};
use hostnet_model::params::{CacheParams, SocketParams};
use hostnet_model::{Component, PartKind};

pub(super) const CORES: PartBuilder =
    PartBuilder::new(PartKind::Core, |params| params.core.count, cores).in_bursts(coarsen);

/// Builds the cores with everything that runs on them.
fn cores(socket: &SocketBuilder) -> Vec<Component> {
    let mut engines = engines(socket);
    let mut params = vec![socket.params.core.clone(); engines.len()];
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
        None => (0..).zip(programs(socket)).map(|(core, programs)| run(socket, core, programs)).collect(),
        Some(cache) => {
            (0..).zip(threads(socket)).map(|(core, threads)| execute(socket, core, threads, cache)).collect()
        }
    }
}

fn run(socket: &SocketBuilder, core: u32, programs: Vec<Program>) -> Vec<Engine> {
    if programs.is_empty() {
        return Vec::new();
    }
    let rng = socket.server.component_rng(socket.layout.cores().get(core));
    vec![Programs::new(socket.params.core.clone(), socket.core_wiring(), socket.pages.clone(), rng, programs).into()]
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
    core.issue_ps = grain.time(core.issue_ps);
    core.dirty_pool_lines = grain.size.shrink(core.dirty_pool_lines);
}
