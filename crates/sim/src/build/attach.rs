//! What a server has because it is on a network: a NIC, and cores that serve it.

use crate::build::{Builder, SocketBuilder};
use hostnet_model::ether::WireParams;
use hostnet_model::line::Rings;
use hostnet_model::nic::{
    FunctionWiring, Nic, NicFlow, QueueMemory, QueueWiring, RdmaEnd, Wiring, RDMA_MTU_MAX, RDMA_REGION_BYTES,
};
use hostnet_model::os::{self, NetFootprint, NetSocketParams, NetStack};
use hostnet_model::params::{
    ClusterParams, CoreParams, FlowParams, NicParams, PcieParams, ServerParams, StackParams, Traffic, Transport,
};
use hostnet_model::transport::roce::RoceConnection;
use hostnet_model::PartKind;

/// A server's place on a network.
pub(crate) struct Attachment<'a> {
    /// The network.
    pub(crate) cluster: &'a ClusterParams,
    /// The server's number among its hosts.
    pub(crate) host: u16,
    /// Its end of the cable.
    pub(crate) wire: WireParams,
}

/// The end of a flow at a host.
struct End<'a> {
    number: u32,
    flow: &'a FlowParams,
    initiator: bool,
    core: u32,
}

impl Attachment<'_> {
    /// The ends of flows at this host.
    fn ends(&self) -> impl Iterator<Item = End<'_>> {
        (0..).zip(&self.cluster.flows).filter_map(|(number, flow)| {
            let initiator = flow.from == self.host;
            let core = if initiator { flow.from_core } else { flow.to_core };
            (initiator || flow.to == self.host).then_some(End { number, flow, initiator, core })
        })
    }

    /// The cores of a server that serve the NIC.
    pub(crate) fn network_cores(&self, params: &ServerParams) -> Vec<u32> {
        params.stack.as_ref().map_or_else(Vec::new, |stack| self.cores(stack))
    }

    /// Those of them that data without requests comes to; all if there is none.
    pub(crate) fn receiving_cores(&self, params: &ServerParams) -> Vec<u32> {
        let receives = |end: &End| !end.initiator && matches!(end.flow.traffic, Traffic::Bulk { .. });
        let all = self.network_cores(params);
        let busy = |core: &u32| self.ends().any(|end| receives(&end) && end.core == *core);
        let some: Vec<u32> = all.iter().copied().filter(busy).collect();
        if some.is_empty() {
            all
        } else {
            some
        }
    }

    /// Bytes of the largest packet that a flow has here; 1500 without flows.
    pub(crate) fn largest_packet(&self) -> u32 {
        self.ends().map(|end| end.flow.mtu_bytes).max().unwrap_or(1500)
    }

    /// The cores that serve the NIC, in the order of its queues: those that the stack names, then others that have
    /// flows.
    fn cores(&self, stack: &StackParams) -> Vec<u32> {
        let mut cores = stack.cores.clone();
        let mut others: Vec<u32> = self
            .ends()
            .filter(|end| matches!(end.flow.transport, Transport::Tcp(_)))
            .map(|end| end.core)
            .filter(|core| !stack.cores.contains(core))
            .collect();
        others.sort_unstable();
        others.dedup();
        cores.extend(others);
        cores
    }
}

/// Bursts that the core of a queue asks for ahead. Lines that do not make whole bursts are spread over the cores.
fn bursts_ahead(stack: &StackParams, queue: u32) -> u32 {
    let ahead = |cores: u32| stack.line_size.shrink(cores * stack.copy_ahead);
    (ahead(queue + 1) - ahead(queue)).max(1)
}

impl Builder<'_> {
    /// The cores that serve the NIC.
    pub(crate) fn network_cores(&self) -> Vec<u32> {
        match (&self.attachment, &self.load) {
            (Some(attachment), _) => attachment.network_cores(self.params),
            (None, Some(load)) => load.cores.clone(),
            (None, None) => Vec::new(),
        }
    }

    /// The memory of the queues of a NIC with these cores: on the sockets of the cores, or on that of the device.
    fn queues(&self, params: &NicParams, serving: &[u32]) -> &[QueueMemory] {
        let device = params.rings_at_device.then_some(self.layout.at_nic().number);
        let place = |&core: &u32| {
            let socket = device.unwrap_or_else(|| self.layout.at_core(core));
            QueueMemory::at(self.spaces.of(socket, QueueMemory::bytes(params)), params)
        };
        self.queues.get_or_init(|| serving.iter().map(place).collect())
    }

    /// The functions of the NIC.
    fn functions(&self) -> Vec<FunctionWiring> {
        let wiring = |(number, pcie): (u8, &PcieParams)| {
            let link = self.params.drives_at(number).len() as u8;
            FunctionWiring { iio: self.at(number).0.iio(), link, pcie: pcie.clone() }
        };
        self.params.nic_links().map(wiring).collect()
    }

    /// The function of the NIC that the queues of a core go by, and what the way there takes longer than on one socket,
    /// in ps.
    fn way_to_nic(&self, core: u32) -> (usize, u64) {
        let socket = self.layout.at_core(core);
        let at: Vec<u8> = self.params.nic_links().map(|(socket, _)| socket).collect();
        let nic = self.params.nic();
        let serves = nic.map(|nic| &nic.serves).filter(|serves| !serves.is_empty()).unwrap_or(&at);
        let own = serves.iter().position(|&served| nic.is_some_and(|nic| nic.octo) && served == socket).unwrap_or(0);
        let crosses = at.get(own).is_some_and(|&at| at != socket);
        let upi_ps = self.params.upi.as_ref().filter(|_| crosses).map_or(0, |upi| upi.upi.latency_ps);
        (own, upi_ps)
    }

    /// The queues of a core at the NIC, with their memory.
    fn queue(&self, core: u32, memory: &QueueMemory) -> QueueWiring {
        let (function, away_ps) = self.way_to_nic(core);
        QueueWiring { core: self.layout.core(core), memory: *memory, function, away_ps }
    }

    /// The rings of a queue of the NIC.
    fn rings(&self, queue: u16) -> Rings {
        let at = usize::from(self.layout.at_nic().number);
        let (Some(params), Some(stack), Some(attachment)) =
            (&self.params.sockets[at].nic, &self.params.stack, &self.attachment)
        else {
            return Rings::NONE;
        };
        self.queues(params, &attachment.cores(stack))[usize::from(queue)].rings()
    }

    /// The classes of flows come after the workloads of the server.
    fn class_of(&self, flow: &FlowParams) -> u8 {
        let Some(attachment) = &self.attachment else { return flow.class };
        (self.params.workloads.len() - attachment.cluster.classes.len()) as u8 + flow.class
    }

    /// The ends of TCP flows whose applications run on a core.
    fn flow_ends(&self, core: u32) -> Vec<NetSocketParams> {
        let Some(attachment) = &self.attachment else { return Vec::new() };
        let socket = |end: End| {
            let Transport::Tcp(tcp) = &end.flow.transport else { return None };
            Some(NetSocketParams {
                flow: end.number,
                class: self.class_of(end.flow),
                host: attachment.host,
                peer: if end.initiator { end.flow.to } else { end.flow.from },
                priority: end.flow.priority,
                tcp: tcp.clone(),
                traffic: end.flow.traffic.clone(),
                initiator: end.initiator,
                start_ps: end.flow.start_ps,
                deaf_ps: end.flow.deaf_ps,
            })
        };
        attachment.ends().filter(|end| end.core == core).filter_map(socket).collect()
    }
}

impl SocketBuilder<'_> {
    /// The network traffic of the cores here that serve the NIC, and what these cores are like. So many engines run on
    /// each core beside it.
    pub(super) fn stacks(&mut self, before: &[u32]) -> Vec<(u32, CoreParams, NetStack)> {
        let Some(stack) = &self.server.params.stack else { return Vec::new() };
        let Some(attachment) = &self.server.attachment else { return Vec::new() };
        let layout = self.layout;
        let serving = (0..).zip(attachment.cores(stack));
        let own = serving.filter_map(|(queue, core)| Some((queue, layout.own_core(core)?)));
        own.map(|(queue, core)| self.stack(queue, core, before[core as usize], stack.clone())).collect()
    }

    fn stack(&mut self, queue: u16, core: u32, before: u32, mut stack: StackParams) -> (u32, CoreParams, NetStack) {
        let sockets = self.server.flow_ends(self.number(core));
        let footprint = NetFootprint::at(self.take(NetFootprint::BYTES));
        let rng = self.engine_rng(core, before);
        let (mut params, pages) = (self.params.core.clone(), self.pages.clone());
        if stack.line_size.is_burst() {
            stack.copy_ahead = bursts_ahead(&stack, u32::from(queue));
            params.lfb_entries = stack.copy_ahead;
        }
        let (cha, nic) = (self.layout.home(), self.server.layout.nic());
        let (_, away_ps) = self.server.way_to_nic(self.number(core));
        let wiring = os::Wiring { cha, nic, queue: Some(queue), rings: self.server.rings(queue), away_ps };
        let traffic = NetStack::new(core, wiring, params.clone(), stack, pages, rng, sockets, footprint);
        (core, params, traffic)
    }

    /// The ends of RDMA flows here, each with a memory region of its own.
    fn rdma_ends(&mut self) -> Vec<RdmaEnd> {
        let Some(attachment) = &self.server.attachment else { return Vec::new() };
        let port = attachment.wire.bytes_per_s;
        let end = |end: End| {
            let Transport::Roce(roce) = &end.flow.transport else { return None };
            let peer = if end.initiator { end.flow.to } else { end.flow.from };
            Some(RdmaEnd {
                flow: end.number,
                hosts: [attachment.host, peer],
                priority: end.flow.priority,
                base: self.take(RDMA_REGION_BYTES + u64::from(RDMA_MTU_MAX)),
                region_bytes: RDMA_REGION_BYTES,
                start_ps: end.flow.start_ps,
                initiator: end.initiator,
                connection: RoceConnection::new(roce, &end.flow.traffic, end.initiator, port),
            })
        };
        attachment.ends().filter_map(end).collect()
    }

    /// The NIC, if there is one.
    pub(crate) fn nic(&mut self) -> Option<Nic> {
        let params = self.params.nic.as_ref()?;
        self.attached_nic(params).or_else(|| self.loaded_nic(params))
    }

    fn attached_nic(&mut self, params: &NicParams) -> Option<Nic> {
        let stack = self.server.params.stack.as_ref()?;
        let attachment = self.server.attachment.as_ref()?;
        let serving = attachment.cores(stack);
        let params = NicParams { queues: serving.len() as u32, ..params.clone() };
        let memory = self.server.queues(&params, &serving);
        let rdma = self.rdma_ends();
        let core = |number: u32| self.server.layout.core(number);
        let flows = attachment.cluster.flows.iter().map(|flow| {
            let at = if flow.from == attachment.host { flow.from_core } else { flow.to_core };
            let queue = serving.iter().position(|&serving| serving == at).map(|queue| queue as u16);
            let mss_bytes = match &flow.transport {
                Transport::Tcp(tcp) => tcp.mss_bytes,
                Transport::Roce(roce) => roce.mtu_bytes,
                Transport::Raw => flow.mtu_bytes,
            };
            let core = core(queue.map_or(0, |_| at));
            NicFlow { class: self.server.class_of(flow), queue, core, mss_bytes }
        });
        let wiring = Wiring {
            functions: self.server.functions(),
            queues: serving.iter().zip(memory).map(|(&number, memory)| self.server.queue(number, memory)).collect(),
            armed: !stack.poll,
            flows: flows.collect(),
            rdma,
            wire: attachment.wire.clone(),
            classes: self.server.classes,
        };
        let rng = self.server.component_rng(self.layout.of(PartKind::Nic).first());
        Some(Nic::new(params, wiring, self.pages.clone(), rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostnet_model::params::LineSize;

    #[test]
    fn bursts_ahead_are_spread_over_cores() {
        let stack = |copy_ahead, line_size| StackParams {
            cores: Vec::new(),
            packet_ps: 0,
            segment_ps: 0,
            ack_ps: 0,
            send_ps: 0,
            copy_line_ps: 0,
            wake_ps: 0,
            call_ps: 0,
            call_bytes: 1,
            budget: 1,
            gro_bytes: 0,
            poll: false,
            extra_lines: 0,
            page_lines: 0,
            prefetched: true,
            copy_ahead,
            cached_user: true,
            line_size,
        };
        let all = |copy_ahead| -> Vec<u32> {
            (0..4).map(|queue| bursts_ahead(&stack(copy_ahead, LineSize::burst(2)), queue)).collect()
        };
        assert_eq!(all(10), [2, 3, 2, 3]);
        assert_eq!(all(9), [2, 2, 2, 3]);
        assert_eq!(all(1), [1, 1, 1, 1]);
    }
}
