//! Builds the port of a server to a memory pool.

use super::{all, PartBuilder};
use crate::build::{NumaNode, SocketBuilder};
use hostnet_model::params::{CableEnd, CableParams, ClusterParams, PoolParams};
use hostnet_model::pool::{PoolPath, PoolPort, PoolWiring};
use hostnet_model::PartKind;

pub(super) const POOL: PartBuilder =
    PartBuilder::new(PartKind::Pool, |params| params.pool.is_some().into(), |socket| all(pool(socket)));

/// Returns the latency and bandwidth between a host and its lenders. Returns `None` if one of them does not have
/// exactly one cable, or if the host is not attached to a switch.
fn way(cluster: &ClusterParams, host: u16, params: &PoolParams) -> Option<PoolPath> {
    let cable_of = |host: u16| {
        let mut all = cluster.cables.iter().filter(|cable| cable.ends.contains(&CableEnd::Host(host)));
        all.next().filter(|_| all.next().is_none())
    };
    let own = cable_of(host)?;
    let beside = own.ends.into_iter().find_map(|end| match end {
        CableEnd::Switch(number) => Some(&cluster.switches[usize::from(number)]),
        CableEnd::Host(_) => None,
    })?;
    let bytes = u64::from(params.small_bytes + params.data_bytes);
    // A read takes one small message to the lender and one with data back.
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

/// Builds the port to a memory pool, if the server has one.
///
/// # Panics
/// Panics if the server is on no network, which the configuration rules out.
fn pool(socket: &SocketBuilder) -> Option<PoolPort> {
    let params = socket.params.pool.as_deref()?;
    let attachment = socket.server.attachment.as_ref().expect("a server with a place in a pool is on a network");
    let node = NumaNode { socket: socket.layout.number, cluster: 0 };
    let lent = if params.lent_bytes > 0 { socket.server.spaces.of(node, params.lent_bytes) } else { 0 };
    let cached = params.cache.map_or(0, |cache| socket.server.spaces.of(node, cache.bytes));
    let wiring = PoolWiring {
        host: attachment.host,
        cha: socket.layout.home(),
        nic: socket.server.layout.nic(),
        channels: socket.layout.of(PartKind::Channel),
        to_channel_ps: socket.params.cha.read_to_mc_ps,
        class: (socket.server.params.workloads.len() - attachment.cluster.classes.len() - 1) as u8,
        lent,
        cached,
        way: way(attachment.cluster, attachment.host, params),
    };
    Some(PoolPort::new(params.clone(), wiring, socket.pages.clone(), socket.server.classes))
}
