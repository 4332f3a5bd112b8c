//! Packets that events take along when they leave their partition.

use super::payload::Payload;
use crate::line::{Packet, Packets};

/// Takes out of the store of this partition the packet of an event that leaves for another partition.
pub(crate) fn unload(packets: &mut Packets, payload: &Payload) -> Option<Packet> {
    match *payload {
        Payload::Packet { id, .. } => Some(packets.remove(id)),
        _ => None,
    }
}

/// Puts the packet that an event has brought into the store of this partition.
pub(crate) fn load(packets: &mut Packets, payload: &mut Payload, cargo: Option<Packet>) {
    if let (Payload::Packet { id, .. }, Some(packet)) = (payload, cargo) {
        *id = packets.insert(packet);
    }
}
