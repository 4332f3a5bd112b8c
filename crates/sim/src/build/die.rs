//! Builds the mesh of a socket.

use super::SocketBuilder;
use hostnet_model::mesh::{Mesh, MeshWiring};
use hostnet_model::params::DieParams;
use hostnet_model::{PartIds, PartKind};

impl SocketBuilder<'_> {
    /// Builds the mesh that connects the parts of the socket, if its die has one.
    pub(super) fn mesh(&self) -> Option<Mesh> {
        let die = self.params.die.as_ref()?;
        let range = |ids: PartIds| ids.first().0..ids.end().0;
        let wiring = MeshWiring {
            socket: self.layout.number,
            cores: range(self.layout.cores()),
            cha: range(self.layout.of(PartKind::Cha)),
            channels: range(self.layout.of(PartKind::Channel)),
            iio: range(self.layout.of(PartKind::Iio)),
            admitted_ps: self.admitted_ps(die),
        };
        Some(Mesh::new(die, wiring, self.server.classes))
    }

    /// Returns 1 ps less than the minimum time from the admission of a write-back to the end of its request. The
    /// request ends when memory accepts the line or, for a remote line, when the other socket answers.
    fn admitted_ps(&self, die: &DieParams) -> u64 {
        let cha = &self.params.cha;
        let nearer_ps = die.nearer_ps(&die.channels, &die.slices);
        let here_ps = cha.core_write_to_mc_ps.saturating_sub(nearer_ps).max(1) + cha.write_ack_ps - nearer_ps;
        let there_ps = self.server.params.upi.as_ref().map_or(u64::MAX, |sockets| 2 * sockets.upi.latency_ps);
        here_ps.min(there_ps) - 1
    }
}
