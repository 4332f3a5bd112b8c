//! Builds the NIC of a server.

use super::links::DeviceLink;
use super::{all, PartBuilder};
use crate::build::burst_converter::BurstConverter;
use crate::build::fluid::loaded_nic;
use crate::build::nic_functions::{functions, hints, queue, queues};
use crate::build::power::with_interrupts;
use crate::build::queues::receive_queue;
use crate::build::rdma::rdma_ends;
use crate::build::SocketBuilder;
use hostnet_model::nic::{Nic, NicFlow, NicWiring};
use hostnet_model::params::{NicParams, PcieParams, ServerParams, SocketParams, Transport};
use hostnet_model::PartKind;

pub(super) const NIC: PartBuilder =
    PartBuilder::new(PartKind::Nic, |params| params.nic.is_some().into(), |socket| all(nic(socket)))
        .in_bursts(coarsen)
        .with_links(links);

/// Builds the NIC, if there is one.
fn nic(socket: &SocketBuilder) -> Option<Nic> {
    let params = socket.params.nic.as_ref()?;
    attached_nic(socket, params).or_else(|| loaded_nic(socket, params))
}

fn attached_nic(socket: &SocketBuilder, params: &NicParams) -> Option<Nic> {
    let stack = socket.server.params.stack.as_ref()?;
    let attachment = socket.server.attachment.as_ref()?;
    let serving = attachment.cores(stack);
    // One queue per serving core, as the queues of the NIC are those of its stack.
    let params = NicParams { queues: serving.len() as u32, ..params.clone() };
    let memory = queues(socket.server, &params, &serving);
    let rdma = rdma_ends(socket);
    let core = |number: u32| socket.server.layout.core(number);
    let flows = attachment.cluster.flows.iter().map(|flow| {
        let at = if flow.from == attachment.host { flow.from_core } else { flow.to_core };
        let place = serving.iter().position(|&serving| serving == at).map(|place| place as u16);
        let queue = place.map(|place| receive_queue(socket.server, place));
        let mss_bytes = match &flow.transport {
            Transport::Tcp(tcp) => tcp.mss_bytes,
            Transport::Roce(roce) => roce.mtu_bytes,
            Transport::Udp(_) | Transport::Raw => flow.mtu_bytes,
        };
        let core = core(place.map_or(0, |_| at));
        NicFlow { class: socket.server.class_of(flow), queue, core, mss_bytes }
    });
    let wiring = NicWiring {
        functions: functions(socket.server),
        hints: hints(socket.server, &params),
        queues: serving
            .iter()
            .zip(memory)
            .map(|(&number, memory)| queue(socket.server, &params, number, memory))
            .collect(),
        armed: !stack.poll,
        // Without a migration or an expiry, packets always go to the queue of their flow.
        steers: params.steer_expiry_ps > 0 || attachment.ends().any(|end| end.moves().next().is_some()),
        flows: flows.collect(),
        rdma,
        wire: attachment.wire.clone()?,
        classes: socket.server.classes,
    };
    let rng = socket.server.component_rng(socket.layout.of(PartKind::Nic).first());
    let nic = with_interrupts(socket.server, Nic::new(params, wiring, socket.pages.clone(), rng));
    let nic = match &attachment.cluster.hosts[usize::from(attachment.host)].compress {
        Some(params) => {
            let (out, into) = attachment.cluster.compressed(attachment.host);
            nic.with_engines(params.clone(), out, into)
        }
        None => nic,
    };
    Some(match &socket.params.pool {
        Some(pool) => nic.with_pool(socket.layout.of(PartKind::Pool).first(), pool.port_packets),
        None => nic,
    })
}

/// Returns the link of the NIC function on a socket to its IIO, if there is one.
fn links(server: &ServerParams, socket: u8) -> Vec<DeviceLink> {
    let at = server.sockets.iter().position(|socket| socket.nic.is_some()).unwrap_or(0) as u8;
    let function = server.nic_links().find(|&(number, _)| number == socket);
    let link = |(nic, (_, pcie)): (&NicParams, (u8, &PcieParams))| DeviceLink {
        kind: PartKind::Nic,
        device: (at, 0),
        pcie: pcie.clone(),
        ddio: nic.ddio,
        // Without relaxed ordering, the writes of the NIC leave the IIO in order.
        in_order: !nic.relaxed_ordering,
    };
    server.nic().zip(function).map(link).into_iter().collect()
}

/// Converts the parameters to bursts. The receive buffer and its packets keep their size in bytes; data in memory is
/// counted in bursts.
fn coarsen(grain: &BurstConverter, socket: &mut SocketParams) {
    let Some(nic) = &mut socket.nic else { return };
    nic.pcie = grain.pcie(&nic.pcie);
    nic.descriptor_bytes = grain.bytes(u64::from(nic.descriptor_bytes)) as u32;
    nic.stride_bytes = grain.size.shrink(nic.stride_bytes).next_multiple_of(64);
    nic.pool_bytes = grain.bytes(nic.pool_bytes);
    nic.line_size = grain.size;
}
