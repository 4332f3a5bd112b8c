//! Requests: one line each, from the part that creates a request to the part that ends it.

use super::slab::{Slab, SlabEntry, NONE};
use super::DramAddress;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Id of a request in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RequestId(pub u32);

impl RequestId {
    /// No request.
    pub const NONE: Self = Self(NONE);
}

/// Operation of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RequestKind {
    /// A core reads a line (load miss, or read for ownership of a store).
    CoreRead,
    /// A core writes back a dirty line.
    CoreWrite,
    /// A core evicts a clean line, which the LLC takes.
    CoreClean,
    /// A core has dropped a clean line, which the LLC does not take.
    CoreDrop,
    /// A core flushes a line to memory, and receives an acknowledgement when memory has the line.
    Flush,
    /// Like [`RequestKind::Flush`], but for the line of a descriptor; the write acts as a doorbell.
    FlushDoorbell,
    /// Like [`RequestKind::Flush`], but for the line that gives a NIC the tail of a receive ring.
    FlushTail,
    /// The CHA writes a dirty line of the LLC to memory.
    Evict,
    /// The memory side records in memory that another socket owns a line.
    Directory,
    /// A device reads a line.
    IoRead,
    /// A device writes a line to memory.
    IoWrite,
    /// A device writes a line to the LLC (DDIO).
    IoPut,
    /// A device on another socket requests ownership of a line, which it will write.
    IoOwn,
    /// The home of a line snoops the copy of another socket.
    Snoop,
    /// Memory reads a line before it is known if the line is needed.
    Speculate,
    /// A core reads a line that no cache keeps.
    CoreFetch,
    /// A core writes a whole line past the caches.
    CorePost,
}

impl RequestKind {
    /// Returns true for reads.
    #[must_use]
    pub fn is_read(self) -> bool {
        matches!(self, Self::CoreRead | Self::IoRead | Self::Speculate | Self::CoreFetch)
    }

    /// Returns true for core writes and for writes that the CHA makes by itself: the TOR entries of both together are
    /// capped.
    #[must_use]
    pub fn is_core_write(self) -> bool {
        let displaced =
            matches!(self, Self::CoreWrite | Self::CoreClean | Self::CoreDrop | Self::Evict | Self::Directory);
        displaced || self == Self::CorePost || self.is_flush()
    }

    /// Returns true for flushes of cores.
    #[must_use]
    pub fn is_flush(self) -> bool {
        matches!(self, Self::Flush | Self::FlushDoorbell | Self::FlushTail)
    }

    /// Returns true for requests of devices.
    #[must_use]
    pub fn is_io(self) -> bool {
        matches!(self, Self::IoRead | Self::IoWrite | Self::IoPut | Self::IoOwn)
    }
}

/// Request for one line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Request {
    /// Operation of the request.
    pub kind: RequestKind,
    /// Workload that caused the request.
    pub class: u8,
    /// Class in the domains of the CHA that the entry of the request counts for, once it has one.
    pub cha_class: u16,
    /// For a core read: true if the line will be dirty in the core, because a store follows or the LLC has it dirty.
    pub for_store: bool,
    /// Socket whose memory holds the line.
    pub socket: u8,
    /// CHA slice of that socket that serves the line.
    pub slice: u8,
    /// Engine of a core, or link of an IIO, that made the request.
    pub engine: u8,
    /// Physical line (address / 64).
    pub line: u64,
    /// Location of the line in memory.
    pub place: DramAddress,
    /// Part that made the request and receives the answer.
    pub owner: ComponentId,
    /// Identifier chosen by the owner.
    pub tag: u32,
    /// Time at which the credit that the request holds now was taken.
    pub since: Time,
    /// Time at which the entry that the request holds for all of its phases (LFB entry) was taken.
    pub entered: Time,
    /// Time at which the CHA admitted the request.
    pub admitted: Time,
    /// Next request in the list that this one waits in.
    pub next: RequestId,
}

impl SlabEntry for Request {
    type Id = RequestId;

    #[inline]
    fn id(number: u32) -> RequestId {
        RequestId(number)
    }

    #[inline]
    fn number(id: RequestId) -> u32 {
        id.0
    }

    #[inline]
    fn next(&mut self) -> &mut RequestId {
        &mut self.next
    }
}

/// Requests of one machine.
pub type Requests = Slab<Request>;
