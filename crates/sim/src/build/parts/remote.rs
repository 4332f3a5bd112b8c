//! Builds the cores of sockets of which only cores are modelled.

use super::{all, PartBuilder};
use crate::build::burst_converter::BurstConverter;
use crate::build::workloads::{stream_in_bursts, stream_program};
use crate::build::{NumaNode, SocketBuilder};
use hostnet_model::core::{Core, CoreWiring, Programs};
use hostnet_model::params::{CoreParams, RemoteCore, SocketParams};
use hostnet_model::PartKind;

pub(super) const REMOTE: PartBuilder = PartBuilder::new(
    PartKind::Remote,
    |params| params.remote.as_ref().map_or(0, |remote| remote.cores.len() as u32),
    |socket| all(cores(socket)),
)
.in_bursts(coarsen);

/// Builds the cores of these sockets.
fn cores(socket: &SocketBuilder) -> Vec<Core> {
    let Some(remote) = &socket.params.remote else { return Vec::new() };
    let params = CoreParams { lfb_entries: remote.lines_in_flight, stream_prefetches: 0, ..socket.params.core.clone() };
    // Numbers their streams after those of the cores of the server.
    let first = socket.server.cores() + socket.layout.before(PartKind::Remote);
    let core = |(index, core): (u32, &RemoteCore)| {
        let node = NumaNode { socket: socket.layout.number, cluster: 0 };
        let program =
            stream_program(socket, core.class, node, &core.stream, socket.server.stream_rng(first + index, 0));
        let rng = socket.server.component_rng(socket.layout.of(PartKind::Remote).get(index));
        let wiring = CoreWiring { home: socket.layout.of(PartKind::Upi).get(core.socket), drives: Vec::new() };
        let (pages, classes) = (socket.pages.clone(), socket.server.classes);
        let programs = Programs::new(params.clone(), wiring, pages, rng, vec![program], classes);
        Core::new(PartKind::Remote, &params, vec![programs.into()], classes)
    };
    (0..).zip(&remote.cores).map(core).collect()
}

/// Converts the parameters to bursts.
fn coarsen(grain: &BurstConverter, socket: &mut SocketParams) {
    let Some(remote) = &mut socket.remote else { return };
    remote.lines_in_flight = grain.count(remote.lines_in_flight);
    remote.cores.iter_mut().for_each(|core| core.stream = stream_in_bursts(&core.stream, grain));
}
