//! The servers of a cluster that take part in a pool.

use hostnet_params::{HostKind, HostParams, PoolParams, PoolSpec};

/// Role of a server of a cluster in a pool.
pub(in crate::resolve) struct Member<'a> {
    pub(in crate::resolve) host: usize,
    /// Path of the server's table.
    pub(in crate::resolve) table: String,
    pub(in crate::resolve) spec: &'a PoolSpec,
}

/// Returns the pool parameters of a host that takes part in the pool.
pub(super) fn pool_of(hosts: &mut [HostParams], host: usize) -> &mut PoolParams {
    let HostKind::Server(server) = &mut hosts[host].kind else { unreachable!("a member of a pool is a server") };
    server.socket_mut().pool.as_deref_mut().expect("a member of a pool has a place in it")
}
