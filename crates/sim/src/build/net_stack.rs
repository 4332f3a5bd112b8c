//! Builds the network stacks of the cores that serve the NIC.

use crate::build::attach::HostFlowEnd;
use crate::build::nic_functions::{registers, rings, way_to_nic};
use crate::build::parts::{dimm_path, rings_without_nic, with_rings};
use crate::build::power::{inspect_ps, power_wiring};
use crate::build::queues::{elsewhere, queue_of};
use crate::build::services::service_wiring;
use crate::build::{Builder, SocketBuilder};
use hostnet_model::os::{self, DatagramEndParams, NetFootprint, NetSocketParams, NetStack, Region, ThreadMigration};
use hostnet_model::params::{CoreParams, StackParams, Transport, FILE_BYTES, FILE_MEMORY_BYTES, NET_CORE_BYTES};

/// First random stream of the driver of a NIC in a DIMM; the streams of engines lie below.
const DRIVER_STREAM: u32 = 1 << 16;

/// Builds the network stack of each core of this socket that serves the NIC, with the core's number and
/// parameters. `before` has the number of engines that each core runs already.
pub(super) fn stacks(socket: &SocketBuilder, before: &[u32]) -> Vec<(u32, CoreParams, NetStack)> {
    let Some(stack) = &socket.server.params.stack else { return Vec::new() };
    let Some(attachment) = &socket.server.attachment else { return Vec::new() };
    let layout = socket.layout;
    let serving = (0..).zip(attachment.cores(stack));
    let own = serving.filter_map(|(queue, core)| Some((queue, layout.own_core(core)?)));
    own.map(|(queue, core)| net_stack(socket, queue, core, before[core as usize], stack.clone())).collect()
}

fn net_stack(
    socket: &SocketBuilder,
    queue: u16,
    core: u32,
    before: u32,
    mut stack: StackParams,
) -> (u32, CoreParams, NetStack) {
    let sockets = flow_ends(socket.server, socket.number(core));
    let mut footprint = NetFootprint::at(socket.take(core, NET_CORE_BYTES));
    if socket.params.dimm.is_some() {
        // A NIC in a DIMM reads what it sends from the memory of the DIMM.
        footprint.send.base = socket.allocate_near_nic(footprint.send.bytes);
    }
    let rng = socket.engine_rng(core, before);
    let (mut params, pages) = (socket.params.core.clone(), socket.pages.clone());
    if stack.line_size.is_burst() {
        stack.copy_ahead = bursts_ahead(&stack, u32::from(queue));
        params.lfb_entries = stack.copy_ahead;
    }
    let (cha, nic) = (socket.layout.home(), socket.server.layout.nic());
    let (_, away_ps) = way_to_nic(socket.server, socket.number(core));
    let elsewhere = elsewhere(socket.server, socket.number(core));
    let has_nic = socket.server.params.nic().is_some();
    let rings = if has_nic { rings(socket.server, queue) } else { rings_without_nic() };
    stack.prefetch_ahead = prefetch_ahead(socket, &stack);
    let adjacent = socket.params.cache.as_ref().is_some_and(|cache| cache.prefetch.adjacent);
    // The L2 fetches pairs of lines only with an adjacent-line prefetcher.
    stack.prefetch_pairs &= adjacent;
    // NCAP inspects every received packet in the driver (power.md).
    stack.packet_ps += inspect_ps(socket.server);
    let registers = registers(socket.server, socket.number(core));
    let wiring = os::NetCoreWiring { cha, nic, queue: has_nic.then_some(queue), rings, elsewhere, away_ps, registers };
    let datagrams = datagram_ends(socket.server, socket.number(core));
    let classes = socket.server.classes;
    let ahead = stack.copy_ahead;
    let traffic = NetStack::new(core, wiring, params.clone(), stack, pages, rng, sockets, footprint, classes);
    let traffic = with_rings(socket, traffic.with_datagrams(datagrams), core, ahead);
    // Only a stack without other engines on its core reports its activity to the power manager.
    let traffic = match power_wiring(socket.server).filter(|_| before == 0) {
        Some(wiring) => traffic.with_power(wiring),
        None => traffic,
    };
    let traffic = match socket.server.params.moderation {
        Some(moderation) => traffic.with_cause_register(moderation.cause_ps),
        None => traffic,
    };
    let has_jobs = socket.server.attachment.as_ref().is_some_and(|at| !at.cluster.jobs.is_empty());
    // The critical path of a job needs the busy times of its resources.
    let traffic = if has_jobs { traffic.watched() } else { traffic };
    let traffic = match service_wiring(socket.server, queue) {
        Some(wiring) => traffic.with_services(wiring),
        None => traffic,
    };
    let traffic = match dimm_path(socket, queue) {
        Some(way) => traffic.with_dimm(way, socket.engine_rng(core, before + DRIVER_STREAM)),
        None => traffic,
    };
    (core, params, traffic)
}

/// Returns the bursts that the core of a queue keeps in flight in a copy, at least 1. Lines that do not fill whole
/// bursts are spread over the cores.
fn bursts_ahead(stack: &StackParams, queue: u32) -> u32 {
    let ahead = |cores: u32| stack.line_size.shrink(cores * stack.copy_ahead);
    (ahead(queue + 1) - ahead(queue)).max(1)
}

/// Returns the maximum number of lines of a copy in flight with the help of the stream prefetcher.
fn prefetch_ahead(socket: &SocketBuilder, stack: &StackParams) -> u32 {
    let prefetch = socket.params.cache.as_ref().map(|cache| &cache.prefetch);
    let streams = prefetch.filter(|prefetch| prefetch.stream && !stack.line_size.is_burst());
    streams.map_or(0, |prefetch| stack.prefetch_ahead.min(stack.copy_ahead + prefetch.credits))
}

/// Returns the ends of TCP flows whose applications run on `core` at some time.
fn flow_ends(server: &Builder, core: u32) -> Vec<NetSocketParams> {
    let Some(attachment) = &server.attachment else { return Vec::new() };
    let socket = |end: HostFlowEnd| {
        let Transport::Tcp(tcp) = &end.flow.transport else { return None };
        Some(NetSocketParams {
            flow: end.number,
            class: server.class_of(end.flow),
            host: attachment.host,
            peer: if end.initiator { end.flow.to } else { end.flow.from },
            priority: end.flow.priority,
            tcp: tcp.clone(),
            traffic: end.flow.traffic.clone(),
            initiator: end.initiator,
            file: file(server, &end, core),
            start_ps: end.flow.start_ps,
            deaf_ps: end.flow.deaf_ps,
            // A thread that migrates has an end on each of its cores, of which one is active at the start.
            here: end.core == core,
            migrations: end.moves().map(|(at_ps, core)| hop(server, at_ps, core)).collect(),
        })
    };
    attachment.ends().filter(|end| end.cores().any(|own| own == core)).filter_map(socket).collect()
}

/// Returns the file that an end of a flow sends, if its thread starts on `core`. The file does not move with the
/// thread.
fn file(server: &Builder, end: &HostFlowEnd, core: u32) -> Option<Region> {
    let place = end.flow.sendfile.filter(|_| end.initiator && end.core == core)?;
    let base = server.place(place, server.node(core), FILE_MEMORY_BYTES);
    Some(Region { base, bytes: FILE_BYTES })
}

fn hop(server: &Builder, at_ps: u64, core: u32) -> ThreadMigration {
    ThreadMigration { at_ps, core: server.layout.core(core), queue: queue_of(server, core) }
}

/// Returns the ends of UDP flows whose applications run on `core`.
fn datagram_ends(server: &Builder, core: u32) -> Vec<DatagramEndParams> {
    let Some(attachment) = &server.attachment else { return Vec::new() };
    let params = |end: HostFlowEnd| {
        let Transport::Udp(udp) = end.flow.transport else { return None };
        Some(DatagramEndParams {
            flow: end.number,
            class: server.class_of(end.flow),
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
