//! The mesh of a socket.

use super::SocketBuilder;
use hostnet_model::mesh::{Mesh, Wiring};
use hostnet_model::PartKind;

impl SocketBuilder<'_> {
    /// The mesh that its parts lie on, if they lie on one.
    pub(super) fn mesh(&self) -> Option<Mesh> {
        let wiring = Wiring {
            socket: self.layout.number,
            cores: self.layout.cores(),
            cha: self.layout.of(PartKind::Cha),
            channels: self.layout.of(PartKind::Channel),
            iio: self.layout.of(PartKind::Iio),
        };
        self.params.die.as_ref().map(|die| Mesh::new(die, wiring, self.server.classes))
    }
}
