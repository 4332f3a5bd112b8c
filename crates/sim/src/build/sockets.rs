//! Builds the UPI links between sockets, and the host congestion control.

use super::{Builder, SocketLayout};
use hostnet_kernel::ComponentId;
use hostnet_model::cha::RemoteSockets;
use hostnet_model::control::{self, Control, Throttled};
use hostnet_model::link::Upi;
use hostnet_model::params::{ControlParams, InterSocketParams, ServerParams, SocketParams, Workload};
use hostnet_model::PartKind;
use std::collections::BTreeSet;

/// Returns, for each other socket that control throttles, true if anything runs on it. Returns an empty list if the
/// sockets are described and nothing runs on any of them.
pub(crate) fn throttled_sockets(params: &ServerParams) -> Vec<bool> {
    let has_nic = |socket: &SocketParams| socket.nic.is_some();
    let at = params.sockets.iter().position(has_nic).unwrap_or(0);
    if let Some(remote) = &params.sockets[at].remote {
        let runs = |socket| remote.cores.iter().any(|core| core.socket == socket);
        return (0..remote.sockets).map(runs).collect();
    }
    let running: BTreeSet<u32> = params.workloads.iter().flat_map(|workload| workload.kind.cores()).copied().collect();
    let mut first = 0;
    let runs = |socket: &SocketParams| {
        let cores = first..first + socket.core.count;
        first = cores.end;
        running.range(cores).next().is_some()
    };
    let mut all: Vec<bool> = params.sockets.iter().map(runs).collect();
    // Control never throttles the socket of the NIC as a whole.
    all.remove(at);
    if all.contains(&true) {
        all
    } else {
        Vec::new()
    }
}

/// Builds the UPI links between the sockets of the server.
pub(crate) fn upis(server: &Builder) -> Vec<Upi> {
    let Some(params) = &server.params.upi else { return Vec::new() };
    let home = |socket: u8| server.layout.sockets[usize::from(socket)].home();
    server.layout.socket_pairs().iter().map(|pair| Upi::between(&params.upi, pair.map(home), server.classes)).collect()
}

/// Returns what the CHAs of a socket need to reach remote sockets.
pub(crate) fn remote_sockets(server: &Builder, socket: u8, params: &InterSocketParams) -> RemoteSockets {
    let socket_pairs = server.layout.socket_pairs();
    let upi = |other: u8| {
        let between = socket_pairs.iter().position(|pair| pair.contains(&socket) && pair.contains(&other))?;
        (other != socket).then(|| server.layout.upis.get(between as u32))
    };
    RemoteSockets {
        upis: (0..server.layout.sockets.len() as u8).map(upi).collect(),
        upi_ps: params.upi.latency_ps,
        entries: params.tor_entries,
        speculative: params.speculative,
        broadcast: params.broadcast,
        directory: params.directory,
        ddio: params.ddio,
    }
}

/// Builds the host congestion control.
pub(crate) fn control(server: &Builder, control: &ControlParams) -> Control {
    control_of(server, control, throttled(server))
}

/// Returns the cores that control throttles: those of other sockets or, if nothing runs there, the cores of the
/// NIC's socket that run streams and applications. Network cores are never throttled.
pub(crate) fn throttled(server: &Builder) -> Throttled {
    let at = server.layout.nic_socket();
    if let Some(classes) = server.params.control.as_ref().and_then(|control| control.expander.as_ref()) {
        let of = |class: &u8| &server.params.workloads[usize::from(*class)];
        return Throttled::Local(cores_of(server, at, classes.iter().map(of)));
    }
    match &server.params.sockets[usize::from(at.number)].remote {
        // Sockets of which only cores are modelled run nothing but load, so all of them are throttled.
        Some(remote) if remote.sockets > 0 => {
            let cores = |socket| {
                let all = at.of(PartKind::Remote).iter().zip(&remote.cores);
                all.filter(|(_, core)| core.socket == socket).map(|(id, _)| id).collect()
            };
            Throttled::Sockets((0..remote.sockets).map(cores).collect())
        }
        _ => {
            let others = server.layout.sockets.iter().filter(|other| other.number != at.number);
            let others: Vec<_> = others.map(|other| loading_cores(server, other)).collect();
            if others.iter().all(Vec::is_empty) {
                Throttled::Local(loading_cores(server, at))
            } else {
                Throttled::Sockets(others)
            }
        }
    }
}

/// Returns the cores of a socket that run streams and applications and do not serve the network.
fn loading_cores(server: &Builder, socket: &SocketLayout) -> Vec<ComponentId> {
    cores_of(server, socket, server.params.workloads.iter())
}

/// Returns the cores of a socket that run workloads and do not serve the network.
fn cores_of<'a>(
    server: &Builder,
    socket: &SocketLayout,
    workloads: impl Iterator<Item = &'a Workload>,
) -> Vec<ComponentId> {
    let network = server.network_cores();
    let all = workloads.flat_map(|workload| workload.kind.cores());
    let all: BTreeSet<&u32> = all.filter(|core| !network.contains(core)).collect();
    all.into_iter().filter_map(|&core| Some(socket.cores().get(socket.own_core(core)?))).collect()
}

/// Builds the host congestion control of the given cores.
pub(crate) fn control_of(server: &Builder, control: &ControlParams, throttled: Throttled) -> Control {
    let layout = &server.layout;
    let marking = server.network_cores().into_iter().map(|core| layout.core(core)).collect();
    let rng = server.component_rng(ComponentId(layout.control));
    let at = layout.nic_socket();
    let counting = if control.expander.is_some() { at.of(PartKind::Cha).first() } else { at.iio() };
    Control::new(control.clone(), control::ControlWiring { throttled, marking, counting }, rng)
}
