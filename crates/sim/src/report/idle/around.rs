//! What a cluster has its servers do.

use hostnet_model::params::{ClusterParams, FlowParams, HostKind, Traffic, Transport};

/// A cluster's use of a server, beside its workloads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around {
    /// The server takes part in anything.
    pub(super) takes_part: bool,
    /// Cores work for jobs, services or DIMMs, for as long as their frequency says.
    pub(super) works: bool,
    /// Threads of flows go to other cores.
    pub(super) moves: bool,
    /// The kernel generates packets, or replays some.
    pub(super) generates: bool,
    /// The server takes part in flows that its kernel carries, and not only its NIC.
    pub(super) has_kernel: bool,
    /// Its kernel sends data, and is sent some.
    pub(super) sends: bool,
    pub(super) receives: bool,
    /// It takes part in flows of TCP, and is sent data over those: it comes in segments.
    pub(super) has_tcp: bool,
    pub(super) receives_tcp: bool,
    /// It sends packets that acknowledge others, if nothing else.
    pub(super) answers: bool,
    /// Its NIC reads data from memory, to send it.
    pub(super) reads: bool,
}

impl Around {
    /// Looks at everything that a cluster has one of its hosts do. A server alone is a cluster that does nothing.
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
        let works = on_dimms || !cluster.jobs.is_empty() || any(|traffic| matches!(traffic, Traffic::Service(_)));
        let own = cluster.flows.iter().filter(|flow| [flow.from, flow.to].map(usize::from).contains(&host));
        let own: Vec<(&FlowParams, bool)> = own.map(|flow| (flow, usize::from(flow.from) == host)).collect();
        let has = |holds: fn(&FlowParams, bool) -> bool| own.iter().any(|(flow, begins)| holds(flow, *begins));
        Around {
            takes_part: works || pools || !own.is_empty(),
            works,
            moves: cluster.flows.iter().any(|flow| !flow.moves.is_empty()),
            generates: any(|traffic| matches!(traffic, Traffic::Packets(_) | Traffic::Replay { .. })),
            has_kernel: works || has(|flow, _| is_of_kernel(flow)),
            sends: works || has(|flow, begins| is_of_kernel(flow) && sends(flow, begins)),
            receives: works || has(|flow, begins| is_of_kernel(flow) && sends(flow, !begins)),
            has_tcp: works || has(|flow, _| is_of_tcp(flow)),
            receives_tcp: has(|flow, begins| is_of_tcp(flow) && sends(flow, !begins)),
            answers: has(|flow, _| matches!(flow.transport, Transport::Tcp(_) | Transport::Roce(_))),
            reads: works || pools || has(sends),
        }
    }
}

/// Returns true if the kernels of servers carry a flow.
fn is_of_kernel(flow: &FlowParams) -> bool {
    !matches!(flow.transport, Transport::Roce(_))
}

fn is_of_tcp(flow: &FlowParams) -> bool {
    matches!(flow.transport, Transport::Tcp(_))
}

/// Returns true if the host that begins a flow, or the other one, sends data.
fn sends(flow: &FlowParams, begins: bool) -> bool {
    match &flow.traffic {
        Traffic::Bulk { .. } | Traffic::Replay { .. } | Traffic::Datagrams { .. } | Traffic::Generate { .. } => begins,
        Traffic::Packets(_) => begins,
        Traffic::Read { .. } => !begins,
        Traffic::Rpc { .. } | Traffic::Service(_) | Traffic::Messages(_) | Traffic::Ping { .. } => true,
        // What is sent on has come in first.
        Traffic::Forward(_) => true,
    }
}
