//! A server's place in a pool of memory.

use super::{Node, SocketBuilder};
use hostnet_model::params::{CableParams, ClusterParams, End, PageParams, PoolParams, SocketParams};
use hostnet_model::pool::{PoolPath, PoolPort, PoolWiring};
use hostnet_model::PartKind;

/// The pages of what a server borrows; nothing if it borrows nothing. Those of its own are permuted as its memory is,
/// those that it shares are not, so that all see the same.
pub(super) fn borrowed(socket: &SocketParams, pool: &PoolParams) -> Option<PageParams> {
    let run_bytes = socket.memory.pages.run_bytes;
    (pool.borrowed_bytes > 0).then_some(PageParams { run_bytes, memory_bytes: pool.borrowed_bytes })
}

/// What lines cross to lenders; nothing if they have no cable or several, or a cable of their own to each other.
fn way(cluster: &ClusterParams, host: u16, params: &PoolParams) -> Option<PoolPath> {
    let cable_of = |host: u16| {
        let mut all = cluster.cables.iter().filter(|cable| cable.ends.contains(&End::Host(host)));
        all.next().filter(|_| all.next().is_none())
    };
    let own = cable_of(host)?;
    let beside = own.ends.into_iter().find_map(|end| match end {
        End::Switch(number) => Some(&cluster.switches[usize::from(number)]),
        End::Host(_) => None,
    })?;
    let bytes = u64::from(params.small_bytes + params.data_bytes);
    let wire_ps = |cable: &CableParams| 2 * cable.latency_ps + bytes * 1_000_000_000_000 / cable.bytes_per_s;
    let cables = params.lenders.iter().map(|lender| cable_of(lender.host)).collect::<Option<Vec<_>>>()?;
    let nearest = cables.iter().map(|cable| wire_ps(cable)).min()?;
    let slowest = cables.iter().map(|cable| cable.bytes_per_s).min()?;
    Some(PoolPath {
        read_ps: wire_ps(own) + 2 * beside.latency_ps + nearest,
        bytes_per_s: own.bytes_per_s,
        lenders_bytes_per_s: slowest * cables.len() as u64,
    })
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
        let wiring = PoolWiring {
            host: attachment.host,
            cha: self.layout.home(),
            nic: self.server.layout.nic(),
            channels: self.layout.of(PartKind::Channel),
            to_channel_ps: self.params.cha.read_to_mc_ps,
            class: (self.server.params.workloads.len() - attachment.cluster.classes.len() - 1) as u8,
            lent,
            cached,
            way: way(attachment.cluster, attachment.host, params),
        };
        Some(PoolPort::new(params.clone(), wiring, self.pages.clone(), self.server.classes))
    }
}
