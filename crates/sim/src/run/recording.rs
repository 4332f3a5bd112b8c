//! Records the packets of a host.

use super::processes::Processes;
use hostnet_kernel::{ComponentId, Simulation, Time};
use hostnet_model::line::Packets;
use hostnet_model::{Packet, World};

/// Place of a host: its partition, and the NIC or endpoint at the end of its cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostPort {
    pub(super) partition: usize,
    pub(super) part: ComponentId,
}

/// Host whose packets are recorded, if there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct PacketRecording {
    /// Partition with the host, if this process simulates it.
    partition: Option<usize>,
    /// True if the packets of a host are recorded, in any process.
    on: bool,
}

impl PacketRecording {
    /// Records the packets at `port` from now on; `None` if another process simulates it.
    pub(super) fn start(&mut self, simulation: &mut Simulation<World>, port: Option<HostPort>) {
        self.partition = port.map(|port| {
            if let Some(packets) = simulation.parts_mut()[port.partition].0.packets_mut() {
                packets.record(port.part);
            }
            port.partition
        });
        // Also in processes without the host, as taking the packets is an exchange of all.
        self.on = true;
    }

    /// Returns true if packets are recorded.
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Takes the packets recorded since the last call.
    pub(super) fn take(&self, simulation: &mut Simulation<World>, processes: &Processes) -> Vec<(Time, Packet)> {
        if !self.on {
            return Vec::new();
        }
        let parts = simulation.parts_mut();
        let packets = self.partition.and_then(|partition| parts[partition].0.packets_mut());
        processes.gather_lists(packets.map(Packets::take_recorded).unwrap_or_default())
    }
}
