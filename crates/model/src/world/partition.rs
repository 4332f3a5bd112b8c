//! A partition of a world of hosts on a network.

use super::Machine;
use crate::ether::Fabric;
use crate::line::{Packet, Packets};
use crate::part::Payload;
use hostnet_kernel::{Ahead, Event, Partition, Scheduler};
use serde::{Deserialize, Serialize};

/// A server, or what lies between servers, all of it or a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum World {
    /// A server with its host network.
    Server(Box<Machine>),
    /// Switches and endpoints.
    Fabric(Box<Fabric>),
    /// A partition that another process has.
    Remote,
}

impl World {
    /// The packets of this partition, to record some of them; none when it is elsewhere.
    pub fn packets_mut(&mut self) -> Option<&mut Packets> {
        match self {
            Self::Server(machine) => Some(machine.packets_mut()),
            Self::Fabric(fabric) => Some(fabric.packets_mut()),
            Self::Remote => None,
        }
    }

    /// Ends all sources of traffic. What is on its way still arrives.
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
    fn prepare(&self, event: &Event<Payload>, ahead: Ahead) {
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
