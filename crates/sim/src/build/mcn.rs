//! Builds the interfaces of a memory channel network, and its driver on cores.

use super::{homes_of, Builder, SocketBuilder};
use hostnet_kernel::ComponentId;
use hostnet_model::line::{memory_of, LineRing, QueueRings};
use hostnet_model::mcn::{CopyEngineConfig, Mcn, McnWiring, SramWindow};
use hostnet_model::os::{NetStack, Region, RingWiring, RING_PACKET_BYTES};
use hostnet_model::params::RING_LINE_BYTES;
use hostnet_model::params::{ClusterParams, FlowParams, HostKind, HostParams, McnParams, ServerParams};
use hostnet_model::PartKind;

/// Send descriptors of the driver of a machine without a NIC.
const SEND_ENTRIES: u64 = 1024;

/// Returns the memory channel network of a host, if it has one.
pub(crate) fn params_of(server: &ServerParams) -> Option<&McnParams> {
    server.sockets.first()?.mcn.as_deref()
}

/// Returns the minimum latency between two machines of a memory channel network, in ps.
pub(crate) fn window_ps(cluster: &ClusterParams) -> Option<u64> {
    let of = |host: &HostParams| match &host.kind {
        HostKind::Server(server) => params_of(server).map(|mcn| mcn.cross_ps),
        HostKind::Endpoint(_) => None,
    };
    cluster.hosts.iter().filter_map(of).min()
}

impl Builder<'_> {
    /// Returns the physical lines of the buffer devices of this machine. On a host, the lines of a device lie beyond
    /// the memory, all in the channel of the device. On a DIMM, they are a separate memory.
    fn windows(&self, mcn: &McnParams) -> Vec<SramWindow> {
        let count = SramWindow::lines(mcn.ring_bytes);
        if mcn.on_dimm {
            let first = memory_of(1) / u64::from(RING_LINE_BYTES);
            return vec![SramWindow::new((first..first + u64::from(count)).collect(), mcn.ring_bytes, true)];
        }
        let socket = self.params.socket();
        let (memory, decoder) = (&socket.memory, homes_of(socket).decoder);
        let channel = |line| u32::from(decoder.place(line).channel) / memory.dram.subchannels;
        let mut next = vec![memory.pages.memory_bytes / u64::from(RING_LINE_BYTES); memory.map.channels as usize];
        let window = |at: u32| {
            let next = &mut next[at as usize];
            let lines: Vec<u64> = (*next..).filter(|&line| channel(line) == at).take(count as usize).collect();
            *next = lines.last().map_or(*next, |last| last + 1);
            SramWindow::new(lines, mcn.ring_bytes, false)
        };
        mcn.interfaces.iter().map(|interface| interface.channel).map(window).collect()
    }

    fn interfaces(&self) -> ComponentId {
        self.layout.sockets[0].of(PartKind::Mcn).first()
    }
}

impl SocketBuilder<'_> {
    /// Builds the interfaces, if there are any.
    pub(super) fn mcn(&self) -> Option<Mcn> {
        let params = self.params.mcn.as_deref()?;
        let attachment = self.server.attachment.as_ref()?;
        let wiring = McnWiring {
            cha: self.layout.home(),
            to_cha_ps: self.params.core.to_cha_ps,
            core: self.server.layout.core(params.core),
            peers: attachment.peers.clone(),
            windows: self.server.windows(params),
            class: self.server.first_flow_class(),
            engine_config: params.dma_lines.is_some().then(|| CopyEngineConfig {
                base: self.take(params.core, RING_PACKET_BYTES),
                bytes: RING_PACKET_BYTES,
                pages: self.pages.clone(),
                classes: attachment.cluster.flows.iter().map(|flow| self.server.class_of(flow)).collect(),
            }),
        };
        Some(Mcn::new(params.clone(), wiring))
    }

    /// Adds the driver of the interfaces, if there are any, to the network stack of a core.
    pub(super) fn with_rings(&self, stack: NetStack, core: u32, ahead: u32) -> NetStack {
        let (Some(params), Some(attachment)) = (self.params.mcn.as_deref(), &self.server.attachment) else {
            return stack;
        };
        let flow = |flow: &FlowParams| {
            let at = [(flow.from, flow.from_core), (flow.to, flow.to_core)];
            let here = at.into_iter().find(|&(host, _)| host == attachment.host);
            (self.server.class_of(flow), here.map(|(_, core)| self.server.layout.core(core)))
        };
        let wiring = RingWiring {
            part: self.server.interfaces(),
            cha: self.layout.home(),
            to_cha_ps: self.params.core.to_cha_ps,
            windows: self.server.windows(params),
            params: params.clone(),
            host: attachment.host,
            flows: attachment.cluster.flows.iter().map(flow).collect(),
            packets: Region { base: self.take(core, RING_PACKET_BYTES), bytes: RING_PACKET_BYTES },
            rng: self.server.rng(5 << 32 | u64::from(self.number(core))),
        };
        stack.with_rings(wiring, ahead)
    }
}

/// Returns the rings of a core of a machine without a NIC, with a send ring of [`SEND_ENTRIES`] descriptors.
pub(super) fn rings_without_nic() -> QueueRings {
    QueueRings { segments: LineRing::new(0, SEND_ENTRIES * 64), ..QueueRings::NONE }
}
