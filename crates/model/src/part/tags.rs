//! What payloads are made of.

use crate::line::PacketId;
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// What a device knows a TLP by: the packet that it is of, say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag(pub u32);

impl Tag {
    /// Of a TLP that its device does not want to be told of.
    pub const NONE: Self = Self(u32::MAX);
}

impl From<PacketId> for Tag {
    fn from(id: PacketId) -> Self {
        Self(id.0)
    }
}

/// What a core does with a register of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// Rings the doorbell of its send queue.
    Doorbell {
        /// The packet or segment that is to be sent.
        id: PacketId,
        /// The core.
        core: ComponentId,
    },
    /// Writes the tail of a receive queue: descriptors are back in the ring, and perhaps interrupts are wanted again.
    Tail {
        /// The queue.
        queue: u16,
        /// Descriptors.
        count: u16,
        /// Whether the queue may interrupt.
        armed: bool,
    },
    /// Reads the status, and waits for it.
    Status {
        /// The core.
        core: ComponentId,
    },
}

/// What a slot on the channel of a DIMM with a NIC carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Slot {
    /// A command (XRD) and no data.
    Command,
    /// A command (SEND) and a line from the DIMM.
    Send,
    /// A command and a line to the DIMM.
    Write,
}

/// What the IIO counts for ever, as its registers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IioCounter {
    /// Entries of the write buffer in use, added up every clock of the IIO.
    WriteOccupancy,
    /// Lines inserted into the write buffer.
    WriteInsertions,
    /// Entries of the read buffer in use, added up every clock of the IIO.
    ReadOccupancy,
    /// Lines inserted into the read buffer.
    ReadInsertions,
}

/// A pool of credits of a UPI.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum UpiPool {
    /// Requests to memory.
    Request,
    /// Write-backs to memory.
    WriteBack,
    /// Data from memory.
    Data,
    /// Acknowledgements of write-backs, and answers to snoops that found nothing dirty.
    Answer,
    /// Snoops of what the caches of the other socket have.
    Snoop,
}
