//! The caching and home agents (CHA) of a socket, one per slice.
//!
//! A request needs an entry of its slice's request buffer (TOR). A read holds it until its data has passed, a write
//! until the memory controller has accepted it. Reads may pass writes that wait for the memory controller until the
//! entries are used up; then admission stalls for everybody. Cores and the IIO come in through queues of their own,
//! served in turn.

mod cached;
mod remote;

use crate::line::{Fifo, Kind, Request, RequestId};
use crate::params::{CacheParams, ChaParams, CoreParams, IioParams, RemoteParams};
pub use crate::part::BOOKS;
use crate::part::{self, Context, Group, Ids, Part, PartKind, Payload, Pool};
use cached::EVICT_PS;
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// The class of a request in the domains of the CHA.
#[inline]
fn book(kind: Kind, class: u8) -> u16 {
    u16::from(class) * BOOKS as u16 + u16::from(kind.is_io())
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Slice {
    used: u32,
    core_writes: u32,
    core: Fifo<Request>,
    io: Fifo<Request>,
    io_turn: bool,
}

/// Whom the CHAs talk to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Wiring {
    /// The cores of their socket.
    pub cores: Ids,
    /// The channels of their memory.
    pub channels: Ids,
    /// The ways to the cores of other sockets.
    pub upis: Ids,
}

/// The CHAs of a socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cha {
    socket: u8,
    params: ChaParams,
    wiring: Wiring,
    from_cha_ps: u64,
    core_write_ack_ps: u64,
    io_write_ack_ps: u64,
    io_read_return_ps: u64,
    /// With caches: a hit of the LLC, and a device's write to it.
    hit_ps: u64,
    put_ps: u64,
    /// For cores of other sockets: the way of a credit back, and whether memory notes whose lines are.
    upi_ps: u64,
    directory: bool,
    slices: Vec<Slice>,
    /// An entry is one of CHA->DRAM read or of CHA->MC write as well, whose books say whose it is.
    tor: Domain,
    read: Domain,
    write: Domain,
}

impl Cha {
    /// The CHAs of socket number `socket`, whose cores and IIO answer after the given times.
    #[must_use]
    pub fn new(
        socket: u8,
        params: ChaParams,
        wiring: Wiring,
        core: &CoreParams,
        iio: &IioParams,
        cache: Option<&CacheParams>,
        classes: usize,
    ) -> Self {
        let entries = params.slices * params.tor_entries;
        let domain = || Domain::new(entries, entries, classes * BOOKS);
        Self {
            from_cha_ps: core.from_cha_ps,
            core_write_ack_ps: core.write_ack_ps,
            io_write_ack_ps: iio.write_ack_ps,
            io_read_return_ps: iio.read_return_ps,
            hit_ps: cache.map_or(0, |cache| cache.llc.hit_ps),
            put_ps: cache.map_or(0, |cache| cache.ddio.write_ps),
            upi_ps: 0,
            directory: false,
            slices: vec![Slice::default(); params.slices as usize],
            tor: domain(),
            read: domain(),
            write: domain(),
            socket,
            wiring,
            params,
        }
    }

    /// Serves cores of other sockets, too.
    #[must_use]
    pub fn with_remote(mut self, remote: &RemoteParams) -> Self {
        self.upi_ps = remote.upi.latency_ps;
        self.directory = remote.directory;
        self
    }

    /// The request buffers of all slices, with [`BOOKS`] classes per workload; by class as of when it was last settled.
    #[must_use]
    pub fn tor(&self) -> &Domain {
        &self.tor
    }

    /// CHA->DRAM read: from admission to the data's passage.
    #[must_use]
    pub fn read(&self) -> &Domain {
        &self.read
    }

    /// CHA->MC write: from admission to the memory controller's acknowledgement.
    #[must_use]
    pub fn write(&self) -> &Domain {
        &self.write
    }

    /// A request arrives at its slice.
    pub(crate) fn on_arrival(&mut self, id: RequestId, context: &mut Context) {
        let request = context.requests.get_mut(id);
        debug_assert_eq!(request.socket, self.socket, "a line comes to the CHAs of its own socket");
        let kind = request.kind;
        request.book = book(kind, request.class);
        let index = usize::from(request.slice);
        let slice = &mut self.slices[index];
        let queue_empty = if kind.is_io() { slice.io.is_empty() } else { slice.core.is_empty() };
        if queue_empty && self.has_room(index, kind) {
            self.admit(id, context);
            return;
        }
        let slice = &mut self.slices[index];
        let queue = if kind.is_io() { &mut slice.io } else { &mut slice.core };
        queue.push(context.requests, id);
    }

    fn has_room(&self, index: usize, kind: Kind) -> bool {
        let slice = &self.slices[index];
        slice.used < self.params.tor_entries
            && (!kind.is_core_write() || slice.core_writes < self.params.tor_write_entries)
    }

    fn admit(&mut self, id: RequestId, context: &mut Context) {
        if context.caches.is_some() && self.serve_from_llc(id, context) {
            return;
        }
        self.pass_to_memory(id, context);
    }

    /// Takes an entry for a request and sends it to its channel.
    #[inline]
    fn pass_to_memory(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let request = context.requests.get_mut(id);
        request.admitted = now;
        let Request { kind, slice, place, owner, book, .. } = *request;
        let slice = &mut self.slices[usize::from(slice)];
        slice.used += 1;
        let pool = if kind.is_read() { &mut self.read } else { &mut self.write };
        let taken = self.tor.try_acquire_unnamed(now) && pool.try_acquire(now, book);
        assert!(taken, "a slice with a free entry has room");
        let channel = self.wiring.channels.get(u32::from(place.channel));
        let delay = match kind {
            Kind::CoreRead | Kind::IoRead => self.params.read_to_mc_ps,
            Kind::IoWrite => self.params.io_write_to_mc_ps,
            // What a device writes to the LLC waits until the channel has room for the line that leaves, not for its
            // way there.
            Kind::IoPut => EVICT_PS,
            Kind::CoreWrite | Kind::CoreClean | Kind::Evict | Kind::Directory => self.params.core_write_to_mc_ps,
        };
        slice.core_writes += u32::from(kind.is_core_write());
        if kind == Kind::CoreWrite {
            context.send(owner, self.core_write_ack_ps, Payload::Admitted(id));
        } else if kind == Kind::CoreRead && self.wiring.upis.contains(owner) {
            context.send(owner, self.upi_ps, Payload::Admitted(id));
        }
        context.tell(channel, delay, Payload::Arrive(id));
    }

    /// The channel has sent the last beat of a read.
    pub(crate) fn on_read(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let Request { kind, slice, owner, admitted, book, .. } = *context.requests.get(id);
        self.read.release(now, book, admitted);
        self.tor.release_unnamed(now);
        let delay = if kind.is_io() { self.io_read_return_ps } else { self.from_cha_ps };
        if kind == Kind::CoreRead && self.wiring.upis.contains(owner) {
            self.note_owner(id, context);
        } else if context.caches.is_some() {
            self.keep_in_llc(id, context);
        }
        context.send(owner, delay, Payload::Data(id));
        self.free_entry(usize::from(slice), context);
    }

    /// The memory controller has accepted a write.
    pub(crate) fn on_accepted(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let Request { kind, slice, owner, admitted, book, .. } = *context.requests.get(id);
        if kind == Kind::Directory {
            context.requests.remove(id);
            return;
        }
        self.write.release(now, book, admitted);
        self.tor.release_unnamed(now);
        let index = usize::from(slice);
        if kind.is_io() {
            context.requests.get_mut(id).class = (book / BOOKS as u16) as u8;
            context.send(owner, self.io_write_ack_ps, Payload::Acknowledged(id));
        } else {
            self.slices[index].core_writes -= 1;
            context.requests.remove(id);
        }
        self.free_entry(index, context);
    }

    /// Frees an entry.
    #[inline]
    fn free_entry(&mut self, index: usize, context: &mut Context) {
        let slice = &mut self.slices[index];
        slice.used -= 1;
        if !(slice.core.is_empty() && slice.io.is_empty()) {
            self.admit_waiting(index, context);
        }
    }

    /// Gives free entries to whoever waits, cores and IIO in turn.
    fn admit_waiting(&mut self, index: usize, context: &mut Context) {
        while let Some(io) = self.next_waiting(index, context) {
            let slice = &mut self.slices[index];
            slice.io_turn = !io;
            let queue = if io { &mut slice.io } else { &mut slice.core };
            if let Some(id) = queue.pop(context.requests) {
                self.admit(id, context);
            }
        }
    }

    /// Which queue's first request may enter now: the IIO's (true) or the cores' (false).
    fn next_waiting(&self, index: usize, context: &Context) -> Option<bool> {
        let slice = &self.slices[index];
        [slice.io_turn, !slice.io_turn].into_iter().find(|&io| {
            let first = if io { slice.io.front() } else { slice.core.front() };
            first.is_some_and(|id| self.has_room(index, context.requests.get(id).kind))
        })
    }
}

impl Part for Cha {
    fn kind(&self) -> PartKind {
        PartKind::Cha
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(Group::Tor, &self.tor));
        visit(Pool::new(Group::ChaRead, &self.read));
        visit(Pool::new(Group::ChaWrite, &self.write));
    }

    fn settle(&mut self, now: Time) {
        part::settle([&mut self.tor, &mut self.read, &mut self.write], now);
        self.tor.take_over([&self.read, &self.write]);
    }

    fn reset(&mut self, now: Time) {
        part::reset([&mut self.tor, &mut self.read, &mut self.write], now);
    }
}
