//! Builds what the cores of a socket do for the workloads of a server, a file for each kind of workload.

mod app;
mod fio;
mod stream;
mod tiering;

pub(super) use stream::{in_bursts as stream_in_bursts, program as stream_program};

use super::burst_converter::BurstConverter;
use super::SocketBuilder;
use hostnet_model::core::{Program, Thread};
use hostnet_model::params::WorkloadKind;

/// Kind of workload with work for cores.
pub(super) trait CoreWorkload {
    /// Adds the programs of the workload `class` to those of each core of a socket without caches.
    fn add_programs(&self, socket: &SocketBuilder, class: u8, programs: &mut [Vec<Program>]);

    /// Adds the threads of the workload `class` to those of each core of a socket with caches.
    fn add_threads(&self, socket: &SocketBuilder, class: u8, threads: &mut [Vec<Thread>]);

    /// Returns the workload in bursts instead of lines.
    fn in_bursts(&self, grain: &BurstConverter) -> WorkloadKind;
}

/// Returns the work for cores of a workload, if it has any of its own.
pub(super) fn core_workload(kind: &WorkloadKind) -> Option<&dyn CoreWorkload> {
    match kind {
        WorkloadKind::Stream(stream) => Some(stream),
        WorkloadKind::Fio(fio) => Some(fio),
        WorkloadKind::App(app) => Some(app),
        WorkloadKind::Tiering(tiering) => Some(tiering),
        WorkloadKind::Dma(_) | WorkloadKind::Network => None,
    }
}

/// Returns the programs of each core of a socket without caches.
pub(super) fn programs(socket: &SocketBuilder) -> Vec<Vec<Program>> {
    let mut programs = (0..socket.params.core.count).map(|_| Vec::new()).collect::<Vec<_>>();
    each(socket, |workload, class| workload.add_programs(socket, class, &mut programs));
    programs
}

/// Returns the threads of each core of a socket with caches.
pub(super) fn threads(socket: &SocketBuilder) -> Vec<Vec<Thread>> {
    let mut threads = (0..socket.params.core.count).map(|_| Vec::new()).collect::<Vec<_>>();
    each(socket, |workload, class| workload.add_threads(socket, class, &mut threads));
    threads
}

/// Visits the workloads that have work for cores, each with its class.
fn each(socket: &SocketBuilder, mut visit: impl FnMut(&dyn CoreWorkload, u8)) {
    for (class, workload) in (0..).zip(&socket.server.params.workloads) {
        core_workload(&workload.kind).into_iter().for_each(|workload| visit(workload, class));
    }
}
