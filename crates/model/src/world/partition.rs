//! Partitions of a world of hosts on a network.

use super::Machine;
use crate::ether::Fabric;
use crate::line::{Packet, Packets};
use crate::part::Payload;
use hostnet_kernel::{Event, Partition, PrefetchStage, Scheduler};
use serde::{Deserialize, Serialize};

/// Partition: a server, or all or some of the switches and endpoints between servers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum World {
    /// Server with its host network.
    Server(Box<Machine>),
    /// Switches and endpoints.
    Fabric(Box<Fabric>),
    /// Partition that another process simulates.
    Remote,
}

impl World {
    /// Returns the packets of this partition, to record some of them, or nothing if another process has it.
    pub fn packets_mut(&mut self) -> Option<&mut Packets> {
        match self {
            Self::Server(machine) => Some(machine.packets_mut()),
            Self::Fabric(fabric) => Some(fabric.packets_mut()),
            Self::Remote => None,
        }
    }

    /// Ends all sources of traffic. What is in flight still arrives.
    pub fn stop_sources(&mut self) {
        match self {
            Self::Server(machine) => machine.stop_sources(),
            Self::Fabric(fabric) => fabric.stop_sources(),
            Self::Remote => {}
        }
    }
}

impl Partition for World {
    type Payload = Payload;
    type Cargo = Option<Packet>;

    #[inline]
    fn on_event(&mut self, event: Event<Payload>, scheduler: &mut Scheduler<Payload>) {
        match self {
            Self::Server(machine) => machine.on_event(event, scheduler),
            Self::Fabric(fabric) => fabric.on_event(event, scheduler),
            Self::Remote => unreachable!("what happens in a partition elsewhere is handled there"),
        }
    }

    #[inline(always)]
    fn prepare(&self, event: &Event<Payload>, ahead: PrefetchStage) {
        // Speed only: with many pending events of a fabric, the state of the next one is in no cache of the processor.
        if let Self::Fabric(fabric) = self {
            fabric.prepare(event, ahead);
        }
    }

    fn unload(&mut self, payload: &Payload) -> Option<Packet> {
        match self {
            Self::Server(machine) => machine.unload(payload),
            Self::Fabric(fabric) => fabric.unload(payload),
            Self::Remote => unreachable!("a partition elsewhere sends nothing from here"),
        }
    }

    fn load(&mut self, payload: &mut Payload, cargo: Option<Packet>) {
        match self {
            Self::Server(machine) => machine.load(payload, cargo),
            Self::Fabric(fabric) => fabric.load(payload, cargo),
            Self::Remote => unreachable!("mail for a partition elsewhere goes there"),
        }
    }
}
