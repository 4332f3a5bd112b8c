//! Attaches a server to a network.

use crate::build::Builder;
use hostnet_kernel::ComponentId;
use hostnet_model::ether::WireParams;
use hostnet_model::params::{ClusterParams, FlowParams, ServerParams, StackParams, Traffic, Transport};

/// Place of a server on a network.
pub(crate) struct NetworkAttachment<'a> {
    /// Parameters of the network.
    pub(crate) cluster: &'a ClusterParams,
    /// Number of the server among the hosts of the network.
    pub(crate) host: u16,
    /// End of the cable at the server, if it has a cable.
    pub(crate) wire: Option<WireParams>,
    /// Opposite ends of the server's interfaces on a memory channel network.
    pub(crate) peers: Vec<ComponentId>,
}

/// End of a flow at a host.
pub(super) struct HostFlowEnd<'a> {
    pub(super) number: u32,
    pub(super) flow: &'a FlowParams,
    pub(super) initiator: bool,
    pub(super) core: u32,
}

impl HostFlowEnd<'_> {
    /// Returns the migrations of the thread of this end: time and destination core. Migrations to the same core are
    /// skipped.
    pub(super) fn moves(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let own = self.flow.moves.iter().filter(|one| one.initiator == self.initiator);
        own.scan(self.core, |at, one| {
            let before = std::mem::replace(at, one.core);
            Some((before != one.core).then_some((one.at_ps, one.core)))
        })
        .flatten()
    }

    /// Returns every core that the thread of this end ever runs on.
    pub(super) fn cores(&self) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(self.core).chain(self.moves().map(|(_, core)| core))
    }
}

impl NetworkAttachment<'_> {
    /// Returns the number of the host.
    pub(super) fn host(&self) -> u16 {
        self.host
    }

    /// Returns all flows of the cluster.
    pub(super) fn flows(&self) -> &[FlowParams] {
        &self.cluster.flows
    }

    /// Returns the ends of flows at this host.
    pub(super) fn ends(&self) -> impl Iterator<Item = HostFlowEnd<'_>> {
        (0..).zip(&self.cluster.flows).filter_map(|(number, flow)| {
            let initiator = flow.from == self.host;
            let core = if initiator { flow.from_core } else { flow.to_core };
            (initiator || flow.to == self.host).then_some(HostFlowEnd { number, flow, initiator, core })
        })
    }

    /// Returns the cores of a server that serve the NIC.
    pub(crate) fn network_cores(&self, params: &ServerParams) -> Vec<u32> {
        params.stack.as_ref().map_or_else(Vec::new, |stack| self.cores(stack))
    }

    /// Returns the network cores that receive data which their host has not requested. Returns all network cores if
    /// there is no such traffic.
    pub(crate) fn receiving_cores(&self, params: &ServerParams) -> Vec<u32> {
        let pours = |traffic: &Traffic| {
            matches!(
                traffic,
                Traffic::Bulk { .. }
                    | Traffic::Datagrams { .. }
                    | Traffic::Generate { .. }
                    | Traffic::Packets(_)
                    | Traffic::Forward(_)
            )
        };
        let receives = |end: &HostFlowEnd| !end.initiator && pours(&end.flow.traffic);
        let all = self.network_cores(params);
        let busy = |core: &u32| self.ends().any(|end| receives(&end) && end.cores().any(|own| own == *core));
        let some: Vec<u32> = all.iter().copied().filter(busy).collect();
        if some.is_empty() {
            all
        } else {
            some
        }
    }

    /// Returns the size of the largest packet that a flow has at this host, in bytes; 1500 without flows.
    pub(crate) fn largest_packet(&self) -> u32 {
        self.ends().map(|end| end.flow.mtu_bytes).max().unwrap_or(1500)
    }

    /// Returns the cores that serve the NIC, in the order of its queues: first those that the stack names, then
    /// others that have flows.
    pub(super) fn cores(&self, stack: &StackParams) -> Vec<u32> {
        let mut cores = stack.cores.clone();
        let mut others: Vec<u32> = self
            .ends()
            // RoCE ends in the NIC, and raw packets in no stack, so they need no queue of a core.
            .filter(|end| matches!(end.flow.transport, Transport::Tcp(_) | Transport::Udp(_)))
            .flat_map(|end| end.cores().collect::<Vec<_>>())
            .filter(|core| !stack.cores.contains(core))
            .collect();
        // In the order of cores, so that queue numbers do not depend on the order of flows.
        others.sort_unstable();
        others.dedup();
        cores.extend(others);
        cores
    }
}

impl Builder<'_> {
    /// Returns the cores that serve the NIC.
    pub(crate) fn network_cores(&self) -> Vec<u32> {
        match (&self.attachment, &self.load) {
            (Some(attachment), _) => attachment.network_cores(self.params),
            (None, Some(load)) => load.cores.clone(),
            (None, None) => Vec::new(),
        }
    }

    /// Returns the class of a flow at the self. Classes of flows are numbered after the workloads of the self.
    pub(crate) fn class_of(&self, flow: &FlowParams) -> u8 {
        let Some(attachment) = &self.attachment else { return flow.class };
        // `with_network` appends the classes of the cluster to the workloads of the server.
        (self.params.workloads.len() - attachment.cluster.classes.len()) as u8 + flow.class
    }

    /// Returns the first class of flows.
    pub(crate) fn first_flow_class(&self) -> u8 {
        let of_flows = self.attachment.as_ref().map_or(0, |attachment| attachment.cluster.classes.len());
        (self.params.workloads.len() - of_flows) as u8
    }
}
