//! The state of a run at the ends of epochs, as a hash: enough to tell where two runs part.

use crate::watch::fingerprint;
use hostnet_kernel::{Event, Simulation};
use hostnet_model::ether::{Fabric, Node};
use hostnet_model::{Packet, Payload, World};
use serde::{Deserialize, Serialize};

/// The end of an epoch, and the hash of the state then. The last epoch of a run may be shorter than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// When it ended, in ps.
    pub end_ps: u64,
    /// Hash of the state of all parts, their pending events and their random numbers.
    pub hash: u64,
}

/// The epoch that ends now. The books of the world are settled, so that it does not matter when they last were.
pub(crate) fn end(simulation: &Simulation<World>) -> Epoch {
    let servers = simulation.parts().iter().filter(|(world, _)| matches!(world, World::Server(_)));
    let mut hashes: Vec<u64> = servers.map(|(world, scheduler)| fingerprint::of(&(scheduler.state(), world))).collect();
    if simulation.worlds().any(|world| matches!(world, World::Fabric(_))) {
        hashes.push(fingerprint::without_slots(&Between::of(simulation)));
    }
    Epoch { end_ps: simulation.progress().time.ps(), hash: fingerprint::of(&hashes) }
}

/// The state of what is between servers, however it is cut into partitions.
#[derive(Serialize)]
struct Between<'a> {
    handled: u64,
    /// Events pending, in their order, and the packets that are on their way with them.
    pending: Vec<(Event<Payload>, Option<&'a Packet>)>,
    /// Events sent per component.
    sequences: Vec<u64>,
    nodes: Vec<&'a Node>,
    /// Packets that wait, in the order of the queues.
    waiting: Vec<&'a Packet>,
}

impl<'a> Between<'a> {
    fn of(simulation: &'a Simulation<World>) -> Self {
        let mut state =
            Self { handled: 0, pending: Vec::new(), sequences: Vec::new(), nodes: Vec::new(), waiting: Vec::new() };
        for (world, scheduler) in simulation.parts() {
            let World::Fabric(fabric) = world else { continue };
            let (_, handled, pending, sequences) = scheduler.state();
            state.handled += handled;
            state.pending.extend(pending.into_iter().map(|event| (event, on_the_way(fabric, event.payload))));
            state.sequences.extend(sequences);
            state.nodes.extend(fabric.nodes());
            state.waiting.extend(fabric.waiting());
        }
        state.pending.sort_unstable_by_key(|(event, _)| event.key());
        state
    }
}

fn on_the_way(fabric: &Fabric, payload: Payload) -> Option<&Packet> {
    match payload {
        Payload::Packet { id, .. } => Some(fabric.packets().get(id)),
        _ => None,
    }
}
