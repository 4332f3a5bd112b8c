//! Requests: one line each, from the part that makes it to the part that ends it.

use crate::memory::Place;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Names a request in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RequestId(pub u32);

impl RequestId {
    /// No request.
    pub const NONE: Self = Self(u32::MAX);
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
}

impl Kind {
    /// True for reads.
    #[must_use]
    pub fn is_read(self) -> bool {
        matches!(self, Self::CoreRead | Self::IoRead)
    }

    /// True for dirty lines of cores, and for what the CHA writes by itself: what may hold entries only up to a limit.
    #[must_use]
    pub fn is_core_write(self) -> bool {
        matches!(self, Self::CoreWrite | Self::CoreClean | Self::Evict | Self::Directory)
    }

    /// True for what devices do.
    #[must_use]
    pub fn is_io(self) -> bool {
        matches!(self, Self::IoRead | Self::IoWrite | Self::IoPut)
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
    pub book: u8,
    /// For a core's read: whether the line will be dirty there, as it is for a store or was dirty in the LLC.
    pub for_store: bool,
    /// The CHA slice that serves it.
    pub slice: u8,
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

/// The slab of requests of one machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Requests {
    slots: Vec<Request>,
    free: Vec<RequestId>,
}

impl Requests {
    /// A slab with room for `capacity` requests before it has to allocate.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { slots: Vec::with_capacity(capacity), free: Vec::with_capacity(capacity) }
    }

    /// Adds a request.
    // Inlined where requests are made, for the same reason as the push of an event.
    #[inline(always)]
    pub fn insert(&mut self, request: Request) -> RequestId {
        if let Some(id) = self.free.pop() {
            self.slots[id.0 as usize] = request;
            return id;
        }
        self.slots.push(request);
        RequestId(self.slots.len() as u32 - 1)
    }

    /// Ends a request.
    #[inline]
    pub fn remove(&mut self, id: RequestId) {
        self.free.push(id);
    }

    /// The request.
    #[must_use]
    #[inline]
    pub fn get(&self, id: RequestId) -> &Request {
        &self.slots[id.0 as usize]
    }

    /// The request, to change.
    #[inline]
    pub fn get_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.slots[id.0 as usize]
    }

    /// How many requests are on their way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// True when none is on its way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A first-in first-out list of requests, linked through [`Request::next`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fifo {
    head: RequestId,
    tail: RequestId,
    len: u32,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { head: RequestId::NONE, tail: RequestId::NONE, len: 0 }
    }
}

impl Fifo {
    #[inline]
    pub(crate) fn push(&mut self, requests: &mut Requests, id: RequestId) {
        requests.get_mut(id).next = RequestId::NONE;
        if self.len == 0 {
            self.head = id;
        } else {
            requests.get_mut(self.tail).next = id;
        }
        self.tail = id;
        self.len += 1;
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<RequestId> {
        (self.len > 0).then_some(self.head)
    }

    #[inline]
    pub(crate) fn pop(&mut self, requests: &Requests) -> Option<RequestId> {
        let id = self.front()?;
        self.head = requests.get(id).next;
        self.len -= 1;
        Some(id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }
}
