//! Attaches a server to a network: builds its NIC and the cores that serve the NIC.

use crate::build::mcn::rings_without_nic;
use crate::build::{Builder, SocketBuilder};
use hostnet_kernel::ComponentId;
use hostnet_model::ether::WireParams;
use hostnet_model::nic::{Nic, NicFlow, NicWiring};
use hostnet_model::os::{
    self, DatagramEndParams, NetFootprint, NetSocketParams, NetStack, Region, ThreadMigration, FILE_BYTES,
    FILE_END_BYTES,
};
use hostnet_model::params::{
    ClusterParams, CoreParams, FlowParams, NicParams, ServerParams, StackParams, Traffic, Transport,
};
use hostnet_model::PartKind;

/// First random stream of the driver of a NIC in a DIMM; the streams of engines lie below.
const DRIVER_STREAM: u32 = 1 << 16;

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
    fn moves(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let own = self.flow.moves.iter().filter(|one| one.initiator == self.initiator);
        own.scan(self.core, |at, one| {
            let before = std::mem::replace(at, one.core);
            Some((before != one.core).then_some((one.at_ps, one.core)))
        })
        .flatten()
    }

    /// Returns every core that the thread of this end ever runs on.
    fn cores(&self) -> impl Iterator<Item = u32> + '_ {
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
            .filter(|end| matches!(end.flow.transport, Transport::Tcp(_) | Transport::Udp(_)))
            .flat_map(|end| end.cores().collect::<Vec<_>>())
            .filter(|core| !stack.cores.contains(core))
            .collect();
        others.sort_unstable();
        others.dedup();
        cores.extend(others);
        cores
    }
}

/// Returns the bursts that the core of a queue keeps in flight in a copy, at least 1. Lines that do not fill whole
/// bursts are spread over the cores.
fn bursts_ahead(stack: &StackParams, queue: u32) -> u32 {
    let ahead = |cores: u32| stack.line_size.shrink(cores * stack.copy_ahead);
    (ahead(queue + 1) - ahead(queue)).max(1)
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

    /// Returns the class of a flow at the server. Classes of flows are numbered after the workloads of the server.
    pub(super) fn class_of(&self, flow: &FlowParams) -> u8 {
        let Some(attachment) = &self.attachment else { return flow.class };
        (self.params.workloads.len() - attachment.cluster.classes.len()) as u8 + flow.class
    }

    /// Returns the first class of flows.
    pub(super) fn first_flow_class(&self) -> u8 {
        let of_flows = self.attachment.as_ref().map_or(0, |attachment| attachment.cluster.classes.len());
        (self.params.workloads.len() - of_flows) as u8
    }

    /// Returns the ends of TCP flows whose applications run on `core` at some time.
    fn flow_ends(&self, core: u32) -> Vec<NetSocketParams> {
        let Some(attachment) = &self.attachment else { return Vec::new() };
        let socket = |end: HostFlowEnd| {
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
                file: self.file(&end, core),
                start_ps: end.flow.start_ps,
                deaf_ps: end.flow.deaf_ps,
                here: end.core == core,
                migrations: end.moves().map(|(at_ps, core)| self.hop(at_ps, core)).collect(),
            })
        };
        attachment.ends().filter(|end| end.cores().any(|own| own == core)).filter_map(socket).collect()
    }

    /// Returns the file that an end of a flow sends, if its thread starts on `core`. The file does not move with the
    /// thread.
    fn file(&self, end: &HostFlowEnd, core: u32) -> Option<Region> {
        let place = end.flow.sendfile.filter(|_| end.initiator && end.core == core)?;
        let base = self.place(place, self.node(core), FILE_BYTES + FILE_END_BYTES);
        Some(Region { base, bytes: FILE_BYTES })
    }

    fn hop(&self, at_ps: u64, core: u32) -> ThreadMigration {
        ThreadMigration { at_ps, core: self.layout.core(core), queue: self.queue_of(core) }
    }

    /// Returns the ends of UDP flows whose applications run on `core`.
    fn datagram_ends(&self, core: u32) -> Vec<DatagramEndParams> {
        let Some(attachment) = &self.attachment else { return Vec::new() };
        let params = |end: HostFlowEnd| {
            let Transport::Udp(udp) = end.flow.transport else { return None };
            Some(DatagramEndParams {
                flow: end.number,
                class: self.class_of(end.flow),
                host: attachment.host,
                peer: if end.initiator { end.flow.to } else { end.flow.from },
                priority: end.flow.priority,
                udp,
                traffic: end.flow.traffic.clone(),
                initiator: end.initiator,
                start_ps: end.flow.start_ps,
            })
        };
        attachment.ends().filter(|end| end.core == core).filter_map(params).collect()
    }
}

impl SocketBuilder<'_> {
    /// Builds the network stack of each core of this socket that serves the NIC, with the core's number and
    /// parameters. `before` has the number of engines that each core runs already.
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
        let mut footprint = NetFootprint::at(self.take(core, NetFootprint::BYTES));
        if self.params.dimm.is_some() {
            // A NIC in a DIMM reads what it sends from the memory of the DIMM.
            footprint.send.base = self.allocate_near_nic(footprint.send.bytes);
        }
        let rng = self.engine_rng(core, before);
        let (mut params, pages) = (self.params.core.clone(), self.pages.clone());
        if stack.line_size.is_burst() {
            stack.copy_ahead = bursts_ahead(&stack, u32::from(queue));
            params.lfb_entries = stack.copy_ahead;
        }
        let (cha, nic) = (self.layout.home(), self.server.layout.nic());
        let (_, away_ps) = self.server.way_to_nic(self.number(core));
        let elsewhere = self.server.elsewhere(self.number(core));
        let has_nic = self.server.params.nic().is_some();
        let rings = if has_nic { self.server.rings(queue) } else { rings_without_nic() };
        stack.prefetch_ahead = self.prefetch_ahead(&stack);
        let adjacent = self.params.cache.as_ref().is_some_and(|cache| cache.prefetch.adjacent);
        // The L2 fetches pairs of lines only with an adjacent-line prefetcher.
        stack.prefetch_pairs &= adjacent;
        stack.packet_ps += self.server.inspect_ps();
        let registers = self.server.registers(self.number(core));
        let wiring =
            os::NetCoreWiring { cha, nic, queue: has_nic.then_some(queue), rings, elsewhere, away_ps, registers };
        let datagrams = self.server.datagram_ends(self.number(core));
        let classes = self.server.classes;
        let ahead = stack.copy_ahead;
        let traffic = NetStack::new(core, wiring, params.clone(), stack, pages, rng, sockets, footprint, classes);
        let traffic = self.with_rings(traffic.with_datagrams(datagrams), core, ahead);
        // Only a stack without other engines on its core reports its activity to the power manager.
        let traffic = match self.server.power_wiring().filter(|_| before == 0) {
            Some(wiring) => traffic.with_power(wiring),
            None => traffic,
        };
        let traffic = match self.server.params.moderation {
            Some(moderation) => traffic.with_cause_register(moderation.cause_ps),
            None => traffic,
        };
        let has_jobs = self.server.attachment.as_ref().is_some_and(|at| !at.cluster.jobs.is_empty());
        // The critical path of a job needs the busy times of its resources.
        let traffic = if has_jobs { traffic.watched() } else { traffic };
        let traffic = match self.server.service_wiring(queue) {
            Some(wiring) => traffic.with_services(wiring),
            None => traffic,
        };
        let traffic = match self.dimm_way(queue) {
            Some(way) => traffic.with_dimm(way, self.engine_rng(core, before + DRIVER_STREAM)),
            None => traffic,
        };
        (core, params, traffic)
    }

    /// Returns the maximum number of lines of a copy in flight with the help of the stream prefetcher.
    fn prefetch_ahead(&self, stack: &StackParams) -> u32 {
        let prefetch = self.params.cache.as_ref().map(|cache| &cache.prefetch);
        let streams = prefetch.filter(|prefetch| prefetch.stream && !stack.line_size.is_burst());
        streams.map_or(0, |prefetch| stack.prefetch_ahead.min(stack.copy_ahead + prefetch.credits))
    }

    /// Builds the NIC, if there is one.
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
            let place = serving.iter().position(|&serving| serving == at).map(|place| place as u16);
            let queue = place.map(|place| self.server.receive_queue(place));
            let mss_bytes = match &flow.transport {
                Transport::Tcp(tcp) => tcp.mss_bytes,
                Transport::Roce(roce) => roce.mtu_bytes,
                Transport::Udp(_) | Transport::Raw => flow.mtu_bytes,
            };
            let core = core(place.map_or(0, |_| at));
            NicFlow { class: self.server.class_of(flow), queue, core, mss_bytes }
        });
        let wiring = NicWiring {
            functions: self.server.functions(),
            hints: self.server.hints(&params),
            queues: serving
                .iter()
                .zip(memory)
                .map(|(&number, memory)| self.server.queue(&params, number, memory))
                .collect(),
            armed: !stack.poll,
            steers: params.steer_expiry_ps > 0 || attachment.ends().any(|end| end.moves().next().is_some()),
            flows: flows.collect(),
            rdma,
            wire: attachment.wire.clone()?,
            classes: self.server.classes,
        };
        let rng = self.server.component_rng(self.layout.of(PartKind::Nic).first());
        let nic = self.server.with_interrupts(Nic::new(params, wiring, self.pages.clone(), rng));
        let nic = match &attachment.cluster.hosts[usize::from(attachment.host)].compress {
            Some(params) => {
                let (out, into) = attachment.cluster.compressed(attachment.host);
                nic.with_engines(params.clone(), out, into)
            }
            None => nic,
        };
        Some(match &self.params.pool {
            Some(pool) => nic.with_pool(self.layout.of(PartKind::Pool).first(), pool.port_packets),
            None => nic,
        })
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
            allocate_ps: 0,
            generate_ps: 0,
            copy_line_ps: 0,
            wake_ps: 0,
            call_ps: 0,
            call_bytes: 1,
            budget: 1,
            gro_bytes: 0,
            zero_copy: false,
            poll: false,
            extra_lines: 0,
            page_lines: 0,
            prefetched: true,
            prefetch_ahead: 0,
            prefetch_pairs: false,
            copy_ahead,
            cached_user: true,
            receive_queues: None,
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
