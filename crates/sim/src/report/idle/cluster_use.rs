//! Use that a cluster makes of its servers.

use hostnet_model::params::{ClusterParams, FlowParams, HostKind, Traffic, Transport};

/// Use that a cluster makes of one server, beside the server's own workloads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClusterUse {
    /// True if the server takes part in any traffic, job, service or memory pool.
    pub(super) takes_part: bool,
    /// True if cores work for jobs, services or DIMMs with processors, at a speed that depends on their frequency.
    pub(super) runs_cluster_work: bool,
    /// True if threads of flows move to other cores.
    pub(super) moves: bool,
    /// True if the kernel generates packets or replays captures.
    pub(super) generates_packets: bool,
    /// True if the kernel carries flows of the server, rather than its NIC alone.
    pub(super) has_kernel: bool,
    /// True if the kernel sends data.
    pub(super) sends: bool,
    /// True if the kernel receives data.
    pub(super) receives: bool,
    /// True if the server has TCP flows.
    pub(super) has_tcp: bool,
    /// True if the server receives data over TCP, which arrives in segments.
    pub(super) receives_tcp: bool,
    /// True if the server sends at least acknowledgements.
    pub(super) sends_acks: bool,
    /// True if the NIC reads data from memory to send it.
    pub(super) reads: bool,
}

impl ClusterUse {
    /// Collects the use that a cluster makes of one of its hosts. A server without a network is a cluster without
    /// traffic.
    pub(crate) fn of(cluster: &ClusterParams, host: usize) -> Self {
        let any = |holds: fn(&Traffic) -> bool| cluster.flows.iter().any(|flow| holds(&flow.traffic));
        let pools = cluster.hosts.iter().any(|host| match &host.kind {
            HostKind::Server(server) => server.sockets.iter().any(|socket| socket.pool.is_some()),
            HostKind::Endpoint(_) => false,
        });
        let on_dimms = cluster.hosts.iter().any(|host| match &host.kind {
            HostKind::Server(server) => server.sockets.iter().any(|socket| socket.mcn.is_some()),
            HostKind::Endpoint(_) => false,
        });
        let runs_cluster_work =
            on_dimms || !cluster.jobs.is_empty() || any(|traffic| matches!(traffic, Traffic::Service(_)));
        let own = cluster.flows.iter().filter(|flow| [flow.from, flow.to].map(usize::from).contains(&host));
        let own: Vec<(&FlowParams, bool)> = own.map(|flow| (flow, usize::from(flow.from) == host)).collect();
        let has = |holds: fn(&FlowParams, bool) -> bool| own.iter().any(|(flow, begins)| holds(flow, *begins));
        ClusterUse {
            takes_part: runs_cluster_work || pools || !own.is_empty(),
            runs_cluster_work,
            moves: cluster.flows.iter().any(|flow| !flow.moves.is_empty()),
            generates_packets: any(|traffic| matches!(traffic, Traffic::Packets(_) | Traffic::Replay { .. })),
            has_kernel: runs_cluster_work || has(|flow, _| is_of_kernel(flow)),
            sends: runs_cluster_work || has(|flow, begins| is_of_kernel(flow) && sends(flow, begins)),
            receives: runs_cluster_work || has(|flow, begins| is_of_kernel(flow) && sends(flow, !begins)),
            has_tcp: runs_cluster_work || has(|flow, _| is_of_tcp(flow)),
            receives_tcp: has(|flow, begins| is_of_tcp(flow) && sends(flow, !begins)),
            sends_acks: has(|flow, _| matches!(flow.transport, Transport::Tcp(_) | Transport::Roce(_))),
            reads: runs_cluster_work || pools || has(sends),
        }
    }
}

/// Returns true if the kernels of servers carry the packets of a flow.
fn is_of_kernel(flow: &FlowParams) -> bool {
    !matches!(flow.transport, Transport::Roce(_))
}

fn is_of_tcp(flow: &FlowParams) -> bool {
    matches!(flow.transport, Transport::Tcp(_))
}

/// Returns true if data of a flow is sent by the host that begins the flow (`begins`), or by the other host.
fn sends(flow: &FlowParams, begins: bool) -> bool {
    match &flow.traffic {
        Traffic::Bulk { .. } | Traffic::Replay { .. } | Traffic::Datagrams { .. } | Traffic::Generate { .. } => begins,
        Traffic::Packets(_) => begins,
        Traffic::Read { .. } => !begins,
        Traffic::Rpc { .. } | Traffic::Service(_) | Traffic::Messages(_) | Traffic::Ping { .. } => true,
        // A host that forwards packets has received them first.
        Traffic::Forward(_) => true,
    }
}
