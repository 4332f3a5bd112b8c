//! Small types that payloads are made of.

use crate::line::PacketId;
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// Identifier that a device gives a TLP, for example the id of its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlpTag(pub u32);

impl TlpTag {
    /// Tag of a TLP that its device needs no notice of.
    pub const NONE: Self = Self(u32::MAX);
}

impl From<PacketId> for TlpTag {
    fn from(id: PacketId) -> Self {
        Self(id.0)
    }
}

/// Operation of a core on a register of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RegisterAccess {
    /// Rings the doorbell of the send queue of the core.
    Doorbell {
        /// Packet or segment to send.
        id: PacketId,
        /// Core that rings the doorbell.
        core: ComponentId,
    },
    /// Writes the tail of a receive queue: descriptors have been returned to the ring.
    Tail {
        /// Receive queue.
        queue: u16,
        /// Number of descriptors.
        count: u16,
        /// True if the queue may interrupt again.
        armed: bool,
    },
    /// Reads the status register, and waits for its value.
    Status {
        /// Core that reads.
        core: ComponentId,
    },
}

/// Content of a slot on the channel of a DIMM that contains a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Slot {
    /// A command (XRD) without data.
    Command,
    /// A command (SEND) and a line from the DIMM.
    Send,
    /// A command and a line to the DIMM.
    Write,
}

/// Counter of the IIO or of the CHA, which runs from the start of the run as hardware registers do.
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
    /// Entries of the request buffers of the CHA that lines behind a link hold, added up every clock of the IIO.
    ExpanderOccupancy,
    /// Lines behind a link inserted into the request buffers of the CHA.
    ExpanderInsertions,
}

/// Pool of credits of a UPI link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum UpiPool {
    /// Reads of memory.
    Request,
    /// Write-backs to memory.
    WriteBack,
    /// Data from memory.
    Data,
    /// Acknowledgements of write-backs, and answers to snoops that found nothing dirty.
    Answer,
    /// Snoops of the caches of the other socket.
    Snoop,
}
