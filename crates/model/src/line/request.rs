//! Requests: one line each, from the part that makes it to the part that ends it.

use super::slab::{Entry, Slab, NONE};
use super::Place;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Names a request in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RequestId(pub u32);

impl RequestId {
    /// No request.
    pub const NONE: Self = Self(NONE);
}

/// What a request does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// A core reads a line (load miss, or read for ownership of a store).
    CoreRead,
    /// A core writes back a dirty line.
    CoreWrite,
    /// A core gives up a clean line, which the LLC takes.
    CoreClean,
    /// A core has dropped a clean line, which the LLC does not take.
    CoreDrop,
    /// A core flushes a line to memory, and is told when memory has it.
    Flush,
    /// The same of the line of a descriptor, which is a doorbell.
    FlushDoorbell,
    /// The same of the line that tells a NIC of the tail of a receive ring.
    FlushTail,
    /// The CHA writes a dirty line of the LLC to memory.
    Evict,
    /// The memory side notes in memory that another socket owns a line from now on.
    Directory,
    /// A device reads a line.
    IoRead,
    /// A device writes a line to memory.
    IoWrite,
    /// A device writes a line to the LLC (DDIO).
    IoPut,
    /// A device on another socket asks for a line, which it will write.
    IoOwn,
    /// The home of a line asks another socket for its copy.
    Snoop,
    /// Memory reads a line before it is known whether anybody needs that.
    Speculate,
    /// A core reads a line that no cache keeps.
    CoreFetch,
    /// A core writes a whole line past the caches.
    CorePost,
}

impl Kind {
    /// True for reads.
    #[must_use]
    pub fn is_read(self) -> bool {
        matches!(self, Self::CoreRead | Self::IoRead | Self::Speculate | Self::CoreFetch)
    }

    /// True for dirty lines of cores, and for what the CHA writes by itself: what may hold entries only up to a limit.
    #[must_use]
    pub fn is_core_write(self) -> bool {
        let displaced =
            matches!(self, Self::CoreWrite | Self::CoreClean | Self::CoreDrop | Self::Evict | Self::Directory);
        displaced || self == Self::CorePost || self.is_flush()
    }

    /// True for lines that cores flush.
    #[must_use]
    pub fn is_flush(self) -> bool {
        matches!(self, Self::Flush | Self::FlushDoorbell | Self::FlushTail)
    }

    /// True for what devices do.
    #[must_use]
    pub fn is_io(self) -> bool {
        matches!(self, Self::IoRead | Self::IoWrite | Self::IoPut | Self::IoOwn)
    }
}

/// One line on its way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Request {
    /// What it does.
    pub kind: Kind,
    /// The workload that caused it.
    pub class: u8,
    /// The class of the CHA's domains that its entry stands in, once it has one.
    pub book: u16,
    /// For a core's read: whether the line will be dirty there, as it is for a store or was dirty in the LLC.
    pub for_store: bool,
    /// The socket whose memory it lies in.
    pub socket: u8,
    /// The CHA slice there that serves it.
    pub slice: u8,
    /// Which of the engines of a core, or of the links of an IIO, made it.
    pub engine: u8,
    /// The physical line.
    pub line: u64,
    /// Where it lies.
    pub place: Place,
    /// Who made it and wants the answer.
    pub owner: ComponentId,
    /// The owner's own name for what it belongs to.
    pub tag: u32,
    /// When the credit that it holds now was taken.
    pub since: Time,
    /// When the pool that it belongs to as a whole (LFB entry) gave its credit.
    pub entered: Time,
    /// When the CHA admitted it.
    pub admitted: Time,
    /// The next request in the list that it waits in.
    pub next: RequestId,
}

impl Entry for Request {
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

/// The requests of one machine.
pub type Requests = Slab<Request>;
