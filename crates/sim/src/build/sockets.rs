//! Builds remote sockets of which only cores are modelled, UPI links, and the host congestion control.

use super::{Builder, NumaNode, SocketBuilder, SocketLayout};
use hostnet_kernel::ComponentId;
use hostnet_model::cha::RemoteSockets;
use hostnet_model::control::{self, Control, Throttled};
use hostnet_model::core::{Core, CoreWiring, Programs};
use hostnet_model::link::Upi;
use hostnet_model::params::{ControlParams, CoreParams, InterSocketParams, RemoteCore, ServerParams, SocketParams};
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
    all.remove(at);
    if all.contains(&true) {
        all
    } else {
        Vec::new()
    }
}

impl SocketBuilder<'_> {
    /// Builds the UPI links to sockets of which only cores are modelled.
    pub(super) fn upis(&self) -> Vec<Upi> {
        let Some(remote) = &self.params.remote else { return Vec::new() };
        (0..remote.sockets).map(|_| Upi::new(&remote.upi, self.layout.home(), self.server.classes)).collect()
    }

    /// Builds the cores of these sockets.
    pub(super) fn remote_cores(&mut self) -> Vec<Core> {
        let Some(remote) = &self.params.remote else { return Vec::new() };
        let params = CoreParams { lfb_entries: remote.lines_in_flight, ..self.params.core.clone() };
        // Numbers their streams after those of the cores of the server.
        let first = self.server.cores() + self.layout.before(PartKind::Remote);
        let core = |(index, core): (u32, &RemoteCore)| {
            let node = NumaNode { socket: self.layout.number, cluster: 0 };
            let program = self.stream(core.class, node, &core.stream, self.server.stream_rng(first + index, 0));
            let rng = self.server.component_rng(self.layout.of(PartKind::Remote).get(index));
            let wiring = CoreWiring { home: self.layout.of(PartKind::Upi).get(core.socket), drives: Vec::new() };
            let programs = Programs::new(params.clone(), wiring, self.pages.clone(), rng, vec![program]);
            Core::new(PartKind::Remote, &params, vec![programs.into()], self.server.classes)
        };
        (0..).zip(&remote.cores).map(core).collect()
    }
}

impl Builder<'_> {
    /// Builds the UPI links between the sockets of the server.
    pub(super) fn upis(&self) -> Vec<Upi> {
        let Some(params) = &self.params.upi else { return Vec::new() };
        let home = |socket: u8| self.layout.sockets[usize::from(socket)].home();
        self.layout.socket_pairs().iter().map(|pair| Upi::between(&params.upi, pair.map(home), self.classes)).collect()
    }

    /// Returns what the CHAs of a socket need to reach remote sockets.
    pub(super) fn remote_sockets(&self, socket: u8, params: &InterSocketParams) -> RemoteSockets {
        let socket_pairs = self.layout.socket_pairs();
        let upi = |other: u8| {
            let between = socket_pairs.iter().position(|pair| pair.contains(&socket) && pair.contains(&other))?;
            (other != socket).then(|| self.layout.upis.get(between as u32))
        };
        RemoteSockets {
            upis: (0..self.layout.sockets.len() as u8).map(upi).collect(),
            upi_ps: params.upi.latency_ps,
            entries: params.tor_entries,
            speculative: params.speculative,
            broadcast: params.broadcast,
            directory: params.directory,
            ddio: params.ddio,
        }
    }

    /// Returns the number of cores of all sockets.
    fn cores(&self) -> u32 {
        self.params.sockets.iter().map(|socket| socket.core.count).sum()
    }

    /// Builds the host congestion control.
    pub(crate) fn control(&self, control: &ControlParams) -> Control {
        self.control_of(control, self.throttled())
    }

    /// Returns the cores that control throttles: those of other sockets or, if nothing runs there, the cores of the
    /// NIC's socket that run streams and applications. Network cores are never throttled.
    pub(crate) fn throttled(&self) -> Throttled {
        let at = self.layout.nic_socket();
        match &self.params.sockets[usize::from(at.number)].remote {
            Some(remote) if remote.sockets > 0 => {
                let cores = |socket| {
                    let all = at.of(PartKind::Remote).iter().zip(&remote.cores);
                    all.filter(|(_, core)| core.socket == socket).map(|(id, _)| id).collect()
                };
                Throttled::Sockets((0..remote.sockets).map(cores).collect())
            }
            _ => {
                let others = self.layout.sockets.iter().filter(|other| other.number != at.number);
                let others: Vec<_> = others.map(|other| self.loading_cores(other)).collect();
                if others.iter().all(Vec::is_empty) {
                    Throttled::Local(self.loading_cores(at))
                } else {
                    Throttled::Sockets(others)
                }
            }
        }
    }

    /// Returns the cores of a socket that run streams and applications and do not serve the network.
    fn loading_cores(&self, socket: &SocketLayout) -> Vec<ComponentId> {
        let network = self.network_cores();
        let all = self.params.workloads.iter().flat_map(|workload| workload.kind.cores());
        let all: BTreeSet<&u32> = all.filter(|core| !network.contains(core)).collect();
        all.into_iter().filter_map(|&core| Some(socket.cores().get(socket.own_core(core)?))).collect()
    }

    /// Builds the host congestion control of the given cores.
    pub(crate) fn control_of(&self, control: &ControlParams, throttled: Throttled) -> Control {
        let layout = &self.layout;
        let marking = self.network_cores().into_iter().map(|core| layout.core(core)).collect();
        let rng = self.component_rng(ComponentId(layout.control));
        Control::new(
            control.clone(),
            control::ControlWiring { throttled, marking, iio: layout.nic_socket().iio() },
            rng,
        )
    }
}
