//! Lists the parts of a socket, and builds the parts of a server in the order of their numbers.

use super::{Builder, SocketBuilder};
use hostnet_model::params::SocketParams;
use hostnet_model::{Component, PartKind};

/// Parts of one kind on a socket.
pub(crate) struct PartBuilder {
    pub(crate) kind: PartKind,
    /// Returns the number of parts.
    pub(crate) count: fn(&SocketParams) -> u32,
    /// Builds the parts.
    build: fn(&mut SocketBuilder) -> Vec<Component>,
}

/// Parts of a socket with lines, in the order of their numbers. They also allocate memory in this order.
pub(crate) const WITH_LINES: &[PartBuilder] = &[
    CORES,
    of(PartKind::Cha, |_| 1, |socket| all([socket.cha()])),
    of(
        PartKind::Channel,
        |params| params.memory.map.channels * params.memory.dram.subchannels,
        |socket| all(socket.channels()),
    ),
    of(PartKind::Iio, |_| 1, |socket| all([socket.iio()])),
    of(PartKind::Expander, |params| params.expander.is_some().into(), |socket| all(socket.expander())),
    of(PartKind::Dimm, |params| params.dimm.is_some().into(), |socket| all(socket.dimm())),
    of(PartKind::Pool, |params| params.pool.is_some().into(), |socket| all(socket.pool())),
    of(PartKind::Ssd, |params| params.ssd.count, |socket| all(socket.drives())),
    NIC,
    of(PartKind::Upi, |params| params.remote.as_ref().map_or(0, |remote| remote.sockets), |socket| all(socket.upis())),
    of(
        PartKind::Remote,
        |params| params.remote.as_ref().map_or(0, |remote| remote.cores.len() as u32),
        |socket| all(socket.remote_cores()),
    ),
    of(PartKind::Mcn, |params| params.mcn.is_some().into(), |socket| all(socket.mcn())),
];

/// Parts of a socket with a fluid memory.
pub(crate) const WITH_RATES: &[PartBuilder] = &[CORES, of(PartKind::Iio, |_| 1, |_| vec![Component::fluid()]), NIC];

const CORES: PartBuilder = of(PartKind::Core, |params| params.core.count, |socket| socket.cores());
const NIC: PartBuilder = of(PartKind::Nic, |params| params.nic.is_some().into(), |socket| all(socket.nic()));

const fn of(
    kind: PartKind,
    count: fn(&SocketParams) -> u32,
    build: fn(&mut SocketBuilder) -> Vec<Component>,
) -> PartBuilder {
    PartBuilder { kind, count, build }
}

/// Converts parts of one kind to components.
fn all<T: Into<Component>>(parts: impl IntoIterator<Item = T>) -> Vec<Component> {
    parts.into_iter().map(Into::into).collect()
}

impl Builder<'_> {
    /// Builds all parts: those of one socket after the other, then the UPI links between sockets, then control and
    /// power management.
    pub(super) fn components(&self) -> Vec<Component> {
        let mut parts = self.of_sockets(WITH_LINES);
        parts.extend(all(self.upis()));
        if let Some(control) = &self.params.control {
            parts.push(self.control(control).into());
        }
        parts.extend(self.power(&parts).map(Into::into));
        parts
    }

    /// Builds the listed parts of each socket.
    ///
    /// # Panics
    /// Panics if the number of parts of a kind differs from the layout.
    pub(crate) fn of_sockets(&self, list: &[PartBuilder]) -> Vec<Component> {
        let mut all = Vec::new();
        for mut socket in self.sockets() {
            for PartBuilder { kind, build, .. } in list {
                let parts = build(&mut socket);
                assert_eq!(parts.len() as u32, socket.layout.of(*kind).len(), "there is every {}", kind.name());
                all.extend(parts);
            }
        }
        all
    }
}
