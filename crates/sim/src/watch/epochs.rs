//! Hashes the state of a run at the ends of epochs, to find where two runs diverge.

use crate::watch::fingerprint;
use hostnet_kernel::{ComponentId, Event, Scheduler, Simulation, Time};
use hostnet_model::ether::{Fabric, FabricNode};
use hostnet_model::{Machine, Packet, Payload, World};
use serde::{Deserialize, Serialize};

/// End of an epoch, and the hash of the state at that time. The last epoch of a run may be shorter than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// End of the epoch, in ps.
    pub end_ps: u64,
    /// Hash of the state of all parts, their pending events and their random numbers.
    pub hash: u64,
}

/// Digest of the state of some partitions. The sum over all partitions of a world does not depend on how the world is
/// cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StateDigest {
    sum: u64,
    handled: u64,
}

impl StateDigest {
    /// Computes the digest of the partitions that this process simulates. The statistics of the world must have been
    /// settled, so that the time of the last update does not matter.
    pub(crate) fn of(simulation: &Simulation<World>) -> Self {
        let mut digest = Self::default();
        for (number, (world, scheduler)) in (0_u64..).zip(simulation.parts()) {
            match world {
                World::Server(machine) => digest.add_server(number, machine, scheduler),
                World::Fabric(fabric) => digest.add_fabric(fabric, scheduler),
                // The process that simulates the partition adds it; sums of all processes are exchanged.
                World::Remote => {}
            }
        }
        digest
    }

    /// Returns the sum of both digests.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { sum: self.sum.wrapping_add(other.sum), handled: self.handled + other.handled }
    }

    /// Returns the epoch that ends at `end`, from the digest of all partitions.
    pub(crate) fn epoch(self, end: Time) -> Epoch {
        Epoch { end_ps: end.ps(), hash: fingerprint::of(&(self.sum, self.handled)) }
    }

    fn add<T: Serialize>(&mut self, state: &T) {
        // A sum, as it is the same in any order of the parts.
        self.sum = self.sum.wrapping_add(fingerprint::without_slots(state));
    }

    /// Adds a server, and its packets in no particular order. Later events show which part holds which packet.
    fn add_server(&mut self, number: u64, machine: &Machine, scheduler: &Scheduler<Payload>) {
        self.add(&(number, scheduler.state(), machine));
        // The order of slots depends on how the world is cut, so packets are summed one by one.
        machine.packets().iter().for_each(|packet| self.add(&(number, packet)));
    }

    fn add_fabric(&mut self, fabric: &Fabric, scheduler: &Scheduler<Payload>) {
        let (_, handled, pending, sequences) = scheduler.state();
        // Events of the network are summed, as the number of its partitions depends on the threads.
        self.handled += handled;
        for event in pending {
            self.add::<(Event<Payload>, Option<&Packet>)>(&(event, packet_in_flight(fabric, event.payload)));
        }
        for (place, (node, sequence)) in fabric.nodes().iter().zip(sequences).enumerate() {
            let waiting: Vec<&Packet> = fabric.waiting_at(place).collect();
            self.add::<(ComponentId, u64, &FabricNode, Vec<&Packet>)>(&(
                fabric.component(place),
                *sequence,
                node,
                waiting,
            ));
        }
    }
}

fn packet_in_flight(fabric: &Fabric, payload: Payload) -> Option<&Packet> {
    match payload {
        Payload::Packet { id, .. } => Some(fabric.packets().get(id)),
        _ => None,
    }
}
