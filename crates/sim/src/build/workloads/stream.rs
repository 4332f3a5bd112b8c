//! Builds the loads and stores of streams.

use super::tiering::memory;
use super::CoreWorkload;
use crate::build::burst_converter::BurstConverter;
use crate::build::{NumaNode, SocketBuilder};
use hostnet_kernel::Rng;
use hostnet_model::core::{Program, Source, Stream, Thread};
use hostnet_model::line::{Evictions, Walk};
use hostnet_model::params::{AccessPattern, StreamParams, WorkloadKind};

impl CoreWorkload for StreamParams {
    fn add_programs(&self, socket: &SocketBuilder, class: u8, programs: &mut [Vec<Program>]) {
        for core in socket.layout.own_cores(&self.cores) {
            // The number of streams before selects the random stream, so that streams on one core differ.
            let rng = socket.stream_rng(core, programs[core as usize].len());
            programs[core as usize].push(program(socket, class, socket.node(core), self, rng));
        }
    }

    fn add_threads(&self, socket: &SocketBuilder, class: u8, threads: &mut [Vec<Thread>]) {
        for core in socket.layout.own_cores(&self.cores) {
            let rng = socket.stream_rng(core, threads[core as usize].len());
            threads[core as usize].push(thread(socket, class, core, self, rng));
        }
    }

    fn in_bursts(&self, grain: &BurstConverter) -> WorkloadKind {
        WorkloadKind::Stream(in_bursts(self, grain))
    }
}

/// Returns the program of a stream whose buffer is on `node` if it is local.
pub(crate) fn program(
    socket: &SocketBuilder,
    class: u8,
    node: NumaNode,
    stream: &StreamParams,
    mut rng: Rng,
) -> Program {
    let base = socket.allocate_for(class, node, stream.working_set_bytes);
    let walk = Walk::new(base, stream.working_set_bytes, stream.pattern, &mut rng);
    let dirty = socket.params.core.dirty_pool_lines;
    Program {
        class,
        reads: stream.reads,
        evictions: Evictions::new(walk.opposite(), dirty, &socket.pages, &mut rng),
        walk,
        prefetched: stream.pattern == AccessPattern::Sequential,
        gap_ps: stream.gap_ps,
        owed: None,
        lines_per_page: 0,
        memory: memory(socket, class, base, stream.working_set_bytes),
    }
}

fn thread(socket: &SocketBuilder, class: u8, core: u32, stream: &StreamParams, mut rng: Rng) -> Thread {
    let base = socket.allocate_for(class, socket.node(core), stream.working_set_bytes);
    let walk = Walk::new(base, stream.working_set_bytes, stream.pattern, &mut rng);
    Thread {
        class,
        source: Source::Stream(Stream { walk, reads: stream.reads }),
        // A stream cannot issue faster than its core, whatever its gap.
        instruction_fs: socket.params.core.issue_ps.max(stream.gap_ps) * 1000,
        in_flight: 0,
        think_ps: 0,
        partner: None,
    }
}

/// Returns the stream in bursts instead of lines.
pub(crate) fn in_bursts(stream: &StreamParams, grain: &BurstConverter) -> StreamParams {
    StreamParams {
        working_set_bytes: grain.lines_of(stream.working_set_bytes),
        gap_ps: grain.time(stream.gap_ps),
        ..stream.clone()
    }
}
