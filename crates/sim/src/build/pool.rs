//! A server's place in a pool of memory.

use super::{Node, SocketBuilder};
use hostnet_model::params::{PageParams, PoolParams, SocketParams};
use hostnet_model::pool::{PoolPort, Wiring};
use hostnet_model::PartKind;

/// The pages of what a server borrows, which are permuted as those of its own memory; nothing if it borrows nothing.
pub(super) fn borrowed(socket: &SocketParams, pool: &PoolParams) -> Option<PageParams> {
    let run_bytes = socket.memory.pages.run_bytes;
    (pool.borrowed_bytes > 0).then_some(PageParams { run_bytes, memory_bytes: pool.borrowed_bytes })
}

impl SocketBuilder<'_> {
    /// The place in a pool, if there is one and the server is on a network.
    ///
    /// # Panics
    /// If it is on none; the configuration has seen to that.
    pub(super) fn pool(&self) -> Option<PoolPort> {
        let params = self.params.pool.as_deref()?;
        let attachment = self.server.attachment.as_ref().expect("a server with a place in a pool is on a network");
        let node = Node { socket: self.layout.number, cluster: 0 };
        let lent = if params.lent_bytes > 0 { self.server.spaces.of(node, params.lent_bytes) } else { 0 };
        let cached = params.cache.map_or(0, |cache| self.server.spaces.of(node, cache.bytes));
        let wiring = Wiring {
            host: attachment.host,
            cha: self.layout.home(),
            nic: self.server.layout.nic(),
            channels: self.layout.of(PartKind::Channel),
            to_channel_ps: self.params.cha.read_to_mc_ps,
            class: (self.server.params.workloads.len() - attachment.cluster.classes.len() - 1) as u8,
            lent,
            cached,
        };
        Some(PoolPort::new(params.clone(), wiring, self.pages.clone(), self.server.classes))
    }
}
