//! Assigns NIC functions to cores, and places the memory of the queues.

use super::{Builder, NumaNode};
use hostnet_model::line::QueueRings;
use hostnet_model::nic::{FunctionWiring, QueueMemory, QueueWiring};
use hostnet_model::os::RegisterPath;
use hostnet_model::params::{NicParams, PcieParams};
use hostnet_model::PartKind;

impl Builder<'_> {
    /// Returns the node for the queues of a core: that of the core, or that of the device.
    fn queues_at(&self, params: &NicParams, core: u32) -> NumaNode {
        if params.rings_at_device || self.params.socket().dimm.is_some() {
            let nic = self.layout.nic_socket().number;
            let nic_socket = self.sockets().find(|socket| socket.layout.number == nic);
            nic_socket.expect("a NIC is on a socket").node_of_nic()
        } else {
            self.node(core)
        }
    }

    /// Returns the memory of the queues of a NIC that is served by the cores `serving`.
    pub(super) fn queues(&self, params: &NicParams, serving: &[u32]) -> &[QueueMemory] {
        let place = |&core: &u32| {
            let node = self.queues_at(params, core);
            QueueMemory::at(self.spaces.of(node, QueueMemory::bytes(params)), params)
        };
        self.queues.get_or_init(|| serving.iter().map(place).collect())
    }

    /// Returns the functions of the NIC.
    pub(super) fn functions(&self) -> Vec<FunctionWiring> {
        let wiring = |(number, pcie): (u8, &PcieParams)| {
            let link = self.params.drives_at(number).len() as u8;
            FunctionWiring { iio: self.at(number).0.iio(), link, pcie: pcie.clone() }
        };
        let dimm = self.params.sockets.iter().position(|socket| socket.dimm.is_some());
        let mut functions: Vec<FunctionWiring> = self.params.nic_links().map(wiring).collect();
        if let (Some(at), Some(function)) = (dimm, functions.first_mut()) {
            (function.iio, function.link) = (self.layout.sockets[at].of(PartKind::Dimm).first(), 0);
        }
        functions
    }

    /// Returns the function of a NIC in octo mode that serves a socket, if there is one.
    fn function_of(&self, socket: u8) -> Option<usize> {
        let nic = self.params.nic().filter(|nic| nic.octo)?;
        if nic.serves.is_empty() {
            return self.params.nic_links().position(|(at, _)| at == socket);
        }
        nic.serves.iter().position(|&served| served == socket)
    }

    /// Returns the function that reads data on each node, if descriptors carry such hints.
    pub(super) fn hints(&self, params: &NicParams) -> Vec<Option<usize>> {
        let sockets = if params.scatter { self.params.sockets.len() as u8 } else { 0 };
        (0..sockets).map(|socket| self.function_of(socket)).collect()
    }

    /// Returns the NIC function that the queues of a core use, and the extra latency of the path to it compared with
    /// the same socket, in ps.
    pub(super) fn way_to_nic(&self, core: u32) -> (usize, u64) {
        let socket = self.layout.socket_of_core(core);
        let own = self.function_of(socket).unwrap_or(0);
        let crosses = self.params.nic_links().nth(own).is_some_and(|(at, _)| at != socket);
        let upi_ps = self.params.upi.as_ref().filter(|_| crosses).map_or(0, |upi| upi.upi.latency_ps);
        (own, upi_ps)
    }

    /// Returns the path of a core to the registers of its NIC function, if register accesses are modelled.
    pub(super) fn registers(&self, core: u32) -> Option<RegisterPath> {
        let attach = self.params.nic()?.attach?;
        let functions = self.functions();
        let FunctionWiring { iio, link, .. } = functions.get(self.way_to_nic(core).0)?;
        Some(RegisterPath { iio: *iio, link: *link, attach })
    }

    /// Returns the queues of a core at the NIC, with their memory.
    pub(super) fn queue(&self, params: &NicParams, core: u32, memory: &QueueMemory) -> QueueWiring {
        let (function, away_ps) = self.way_to_nic(core);
        let device = self.params.nic_links().nth(function).map(|(socket, _)| socket);
        let far = device.is_some_and(|device| device != self.queues_at(params, core).socket);
        QueueWiring { core: self.layout.core(core), memory: *memory, function, far, away_ps }
    }

    /// Returns the rings of a queue of the NIC.
    pub(super) fn rings(&self, queue: u16) -> QueueRings {
        let at = usize::from(self.layout.nic_socket().number);
        let (Some(params), Some(stack), Some(attachment)) =
            (&self.params.sockets[at].nic, &self.params.stack, &self.attachment)
        else {
            return QueueRings::NONE;
        };
        self.queues(params, &attachment.cores(stack))[usize::from(queue)].rings()
    }
}
