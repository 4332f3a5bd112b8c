//! Builds the interfaces of a memory channel network, and its driver on cores.

use super::{all, PartBuilder};

use crate::build::memory::homes_of;
use crate::build::{Builder, SocketBuilder};
use hostnet_kernel::ComponentId;
use hostnet_model::line::{memory_of, LineRing, QueueRings};
use hostnet_model::mcn::{CopyEngineConfig, Mcn, McnWiring, SramWindow};
use hostnet_model::os::{NetStack, Region, RingWiring, RING_PACKET_BYTES};
use hostnet_model::params::{
    ClusterParams, FlowParams, HostKind, HostParams, McnParams, ServerParams, RING_LINE_BYTES,
};
use hostnet_model::PartKind;

pub(super) const MCN: PartBuilder =
    PartBuilder::new(PartKind::Mcn, |params| params.mcn.is_some().into(), |socket| all(mcn(socket)));

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

/// Returns the physical lines of the buffer devices of this machine. On a host, the lines of a device lie beyond
/// the memory, all in the channel of the device. On a DIMM, they are a separate memory.
fn windows(server: &Builder, mcn: &McnParams) -> Vec<SramWindow> {
    let count = SramWindow::lines(mcn.ring_bytes);
    if mcn.on_dimm {
        let first = memory_of(1) / u64::from(RING_LINE_BYTES);
        return vec![SramWindow::new((first..first + u64::from(count)).collect(), mcn.ring_bytes, true)];
    }
    let socket = server.params.socket();
    let (memory, decoder) = (&socket.memory, homes_of(socket).decoder);
    let channel = |line| u32::from(decoder.place(line).channel) / memory.dram.subchannels;
    // Devices lie beyond the memory, and several in one channel follow each other.
    let mut next = vec![memory.pages.memory_bytes / u64::from(RING_LINE_BYTES); memory.map.channels as usize];
    let window = |at: u32| {
        let next = &mut next[at as usize];
        let lines: Vec<u64> = (*next..).filter(|&line| channel(line) == at).take(count as usize).collect();
        *next = lines.last().map_or(*next, |last| last + 1);
        SramWindow::new(lines, mcn.ring_bytes, false)
    };
    mcn.interfaces.iter().map(|interface| interface.channel).map(window).collect()
}

fn interfaces(server: &Builder) -> ComponentId {
    server.layout.sockets[0].of(PartKind::Mcn).first()
}

/// Builds the interfaces, if there are any.
fn mcn(socket: &SocketBuilder) -> Option<Mcn> {
    let params = socket.params.mcn.as_deref()?;
    let attachment = socket.server.attachment.as_ref()?;
    let wiring = McnWiring {
        cha: socket.layout.home(),
        to_cha_ps: socket.params.core.to_cha_ps,
        core: socket.server.layout.core(params.core),
        peers: attachment.peers.clone(),
        windows: windows(socket.server, params),
        class: socket.server.first_flow_class(),
        engine_config: params.dma_lines.is_some().then(|| CopyEngineConfig {
            base: socket.take(params.core, RING_PACKET_BYTES),
            bytes: RING_PACKET_BYTES,
            pages: socket.pages.clone(),
            classes: attachment.cluster.flows.iter().map(|flow| socket.server.class_of(flow)).collect(),
        }),
    };
    Some(Mcn::new(params.clone(), wiring))
}

/// Adds the driver of the interfaces, if there are any, to the network stack of a core.
pub(crate) fn with_rings(socket: &SocketBuilder, stack: NetStack, core: u32, ahead: u32) -> NetStack {
    let (Some(params), Some(attachment)) = (socket.params.mcn.as_deref(), &socket.server.attachment) else {
        return stack;
    };
    let flow = |flow: &FlowParams| {
        let at = [(flow.from, flow.from_core), (flow.to, flow.to_core)];
        let here = at.into_iter().find(|&(host, _)| host == attachment.host);
        (socket.server.class_of(flow), here.map(|(_, core)| socket.server.layout.core(core)))
    };
    let wiring = RingWiring {
        part: interfaces(socket.server),
        cha: socket.layout.home(),
        to_cha_ps: socket.params.core.to_cha_ps,
        windows: windows(socket.server, params),
        params: params.clone(),
        host: attachment.host,
        flows: attachment.cluster.flows.iter().map(flow).collect(),
        packets: Region { base: socket.take(core, RING_PACKET_BYTES), bytes: RING_PACKET_BYTES },
        rng: socket.server.rng(5 << 32 | u64::from(socket.number(core))),
    };
    stack.with_rings(wiring, ahead)
}

/// Returns the rings of a core of a machine without a NIC, with a send ring of [`SEND_ENTRIES`] descriptors.
pub(crate) fn rings_without_nic() -> QueueRings {
    QueueRings { segments: LineRing::new(0, SEND_ENTRIES * 64), ..QueueRings::NONE }
}
