//! Builds the mesh of a socket.

use super::parts::device_links;
use super::SocketBuilder;
use hostnet_model::mesh::{Mesh, MeshWiring};
use hostnet_model::params::DieParams;
use hostnet_model::{PartIds, PartKind};

/// Builds the mesh that connects the parts of the socket, if its die has one.
pub(super) fn mesh(socket: &SocketBuilder) -> Option<Mesh> {
    let mut die = socket.params.die.clone()?;
    let links = device_links(socket.server.params, socket.layout.number).len();
    // The die places drives and NIC; any other device is at the first stop of the IIO.
    die.links.resize(links.max(die.links.len()), die.io[0]);
    let range = |ids: PartIds| ids.first().0..ids.end().0;
    let wiring = MeshWiring {
        socket: socket.layout.number,
        hash: socket.params.cha.hash,
        cores: range(socket.layout.cores()),
        cha: range(socket.layout.of(PartKind::Cha)),
        channels: range(socket.layout.of(PartKind::Channel)),
        iio: range(socket.layout.of(PartKind::Iio)),
        admitted_ps: admitted_ps(socket, &die),
    };
    Some(Mesh::new(&die, wiring, socket.server.classes))
}

/// Returns 1 ps less than the minimum time from the admission of a write-back to the end of its request. The
/// request ends when memory accepts the line or, for a remote line, when the other socket answers.
fn admitted_ps(socket: &SocketBuilder, die: &DieParams) -> u64 {
    let cha = &socket.params.cha;
    let nearer_ps = die.nearer_ps(&die.channels, &die.slices);
    let here_ps = cha.core_write_to_mc_ps.saturating_sub(nearer_ps).max(1) + cha.write_ack_ps - nearer_ps;
    let there_ps = socket.server.params.upi.as_ref().map_or(u64::MAX, |sockets| 2 * sockets.upi.latency_ps);
    here_ps.min(there_ps) - 1
}
