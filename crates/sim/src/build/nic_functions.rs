//! Assigns NIC functions to cores, and places the memory of the queues.

use super::{Builder, NumaNode};
use hostnet_model::line::QueueRings;
use hostnet_model::nic::{FunctionWiring, QueueMemory, QueueWiring};
use hostnet_model::os::RegisterPath;
use hostnet_model::params::{NicParams, PcieParams};
use hostnet_model::PartKind;

/// Returns the node for the queues of a core: that of the core, or that of the device.
fn queues_at(server: &Builder, params: &NicParams, core: u32) -> NumaNode {
    if params.rings_at_device || server.params.socket().dimm.is_some() {
        let nic = server.layout.nic_socket().number;
        let nic_socket = server.sockets().find(|socket| socket.layout.number == nic);
        nic_socket.expect("a NIC is on a socket").node_of_nic()
    } else {
        server.node(core)
    }
}

/// Returns the memory of the queues of a NIC that is served by the cores `serving`.
pub(super) fn queues<'a>(server: &'a Builder, params: &NicParams, serving: &[u32]) -> &'a [QueueMemory] {
    let place = |&core: &u32| {
        let node = queues_at(server, params, core);
        QueueMemory::at(server.spaces.of(node, params.queue_layout().bytes), params)
    };
    // Cores and NIC both need the queues, but memory is allocated once.
    server.queues.get_or_init(|| serving.iter().map(place).collect())
}

/// Returns the functions of the NIC.
pub(super) fn functions(server: &Builder) -> Vec<FunctionWiring> {
    let wiring = |(number, pcie): (u8, &PcieParams)| {
        let link = server.nic_link(number).expect("every function has a link");
        FunctionWiring { iio: server.at(number).0.iio(), link, pcie: pcie.clone() }
    };
    let dimm = server.params.sockets.iter().position(|socket| socket.dimm.is_some());
    let mut functions: Vec<FunctionWiring> = server.params.nic_links().map(wiring).collect();
    if let (Some(at), Some(function)) = (dimm, functions.first_mut()) {
        // A NIC in a DIMM is reached over the buffer device instead of an IIO.
        (function.iio, function.link) = (server.layout.sockets[at].of(PartKind::Dimm).first(), 0);
    }
    functions
}

/// Returns the function of a NIC in octo mode that serves a socket, if there is one.
fn function_of(server: &Builder, socket: u8) -> Option<usize> {
    let nic = server.params.nic().filter(|nic| nic.octo)?;
    if nic.serves.is_empty() {
        return server.params.nic_links().position(|(at, _)| at == socket);
    }
    nic.serves.iter().position(|&served| served == socket)
}

/// Returns the function that reads data on each node, if descriptors carry such hints.
pub(super) fn hints(server: &Builder, params: &NicParams) -> Vec<Option<usize>> {
    let sockets = if params.scatter { server.params.sockets.len() as u8 } else { 0 };
    (0..sockets).map(|socket| function_of(server, socket)).collect()
}

/// Returns the NIC function that the queues of a core use, and the extra latency of the path to it compared with
/// the same socket, in ps.
pub(super) fn way_to_nic(server: &Builder, core: u32) -> (usize, u64) {
    let socket = server.layout.socket_of_core(core);
    // Without octo mode, every core uses the only function.
    let own = function_of(server, socket).unwrap_or(0);
    let crosses = server.params.nic_links().nth(own).is_some_and(|(at, _)| at != socket);
    let upi_ps = server.params.upi.as_ref().filter(|_| crosses).map_or(0, |upi| upi.upi.latency_ps);
    (own, upi_ps)
}

/// Returns the path of a core to the registers of its NIC function, if register accesses are modelled.
pub(super) fn registers(server: &Builder, core: u32) -> Option<RegisterPath> {
    let attach = server.params.nic()?.attach?;
    let functions = functions(server);
    let FunctionWiring { iio, link, .. } = functions.get(way_to_nic(server, core).0)?;
    Some(RegisterPath { iio: *iio, link: *link, attach })
}

/// Returns the queues of a core at the NIC, with their memory.
pub(super) fn queue(server: &Builder, params: &NicParams, core: u32, memory: &QueueMemory) -> QueueWiring {
    let (function, away_ps) = way_to_nic(server, core);
    let device = server.params.nic_links().nth(function).map(|(socket, _)| socket);
    let far = device.is_some_and(|device| device != queues_at(server, params, core).socket);
    QueueWiring { core: server.layout.core(core), memory: *memory, function, far, away_ps }
}

/// Returns the rings of a queue of the NIC.
pub(super) fn rings(server: &Builder, queue: u16) -> QueueRings {
    let at = usize::from(server.layout.nic_socket().number);
    let (Some(params), Some(stack), Some(attachment)) =
        (&server.params.sockets[at].nic, &server.params.stack, &server.attachment)
    else {
        return QueueRings::NONE;
    };
    queues(server, params, &attachment.cores(stack))[usize::from(queue)].rings()
}
