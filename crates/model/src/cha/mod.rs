//! Caching and home agents (CHA) of a socket, one per LLC slice.
//!
//! A request needs an entry of the request buffer (TOR) of its slice. A read holds the entry until its data has
//! passed, a write until the memory controller has accepted it. Reads may pass writes that wait for the memory
//! controller while entries are left; when a slice runs out of entries, admission stalls for all requests. Cores, the
//! IIO and remote sockets have separate input queues, which are served round robin. Requests for lines homed on
//! another socket, or behind a link if these have a share of the entries, wait in queues apart from those for local
//! lines.

mod background;
mod cached;
mod config;
mod expander_share;
mod remote;
mod remote_sockets;
mod slice;
mod snoop;
mod wiring;

use crate::line::{Request, RequestId, RequestKind};
use crate::params::{CacheParams, ChaParams, CoreParams, IioParams, RemoteParams};
pub use crate::part::CHA_CLASSES_PER_WORKLOAD;
use crate::part::{self, Context, Part, PartKind, Payload, Pool, PoolGroup};
use background::EVICT_PS;
use config::{ChaConfig, NEXT_PS};
use expander_share::ExpanderEntries;
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
pub use remote_sockets::RemoteSockets;
use remote_sockets::UpiTransfer;
use serde::{Deserialize, Serialize};
use slice::{ChaSlice, InputQueue};
use snoop::SnoopTracker;
pub use wiring::ChaWiring;

/// Returns the class of a request in the domains of the CHA: one class for the cores and one for the devices of each
/// workload.
#[inline]
fn cha_class(kind: RequestKind, class: u8) -> u16 {
    u16::from(class) * CHA_CLASSES_PER_WORKLOAD as u16 + u16::from(kind.is_io())
}

/// CHAs of a socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cha {
    config: ChaConfig,
    /// State of requests to remote sockets, if there are any that are simulated.
    upi_transfer: Option<Box<UpiTransfer>>,
    /// Entries that lines behind a link hold, if these may not take all or are counted.
    expander: Option<Box<ExpanderEntries>>,
    slices: Vec<ChaSlice>,
    /// All entries. Each is also in `read`, in `write` or in the domain of `upi_transfer`, which know the class of the
    /// entry.
    tor: Domain,
    read: Domain,
    write: Domain,
}

impl Cha {
    /// Creates the CHAs of socket `socket`. The delays of answers to cores and devices come from `core` and `iio`,
    /// those of the LLC from `cache`.
    #[must_use]
    pub fn new(
        socket: u8,
        params: ChaParams,
        wiring: ChaWiring,
        core: &CoreParams,
        iio: &IioParams,
        cache: Option<&CacheParams>,
        classes: usize,
    ) -> Self {
        // One domain for all slices: reports show those of a socket together.
        let entries = params.slices * params.tor_entries;
        let domain = || Domain::new(entries, entries, classes * CHA_CLASSES_PER_WORKLOAD);
        let share =
            |entries| ExpanderEntries::default().with_share(entries, params.slices, classes * CHA_CLASSES_PER_WORKLOAD);
        Self {
            upi_transfer: None,
            expander: params.tor_expander_entries.map(share).map(Box::new),
            slices: vec![ChaSlice::default(); params.slices as usize],
            tor: domain(),
            read: domain(),
            write: domain(),
            config: ChaConfig::new(socket, params, wiring, core, iio, cache),
        }
    }

    /// Makes the CHAs also serve cores of remote sockets of which nothing else is simulated.
    #[must_use]
    pub fn with_remote(mut self, remote: &RemoteParams) -> Self {
        self.config.upi_ps = remote.upi.latency_ps;
        self.config.directory = remote.directory;
        self
    }

    /// Connects the CHAs to other sockets that have their own caches and memory.
    #[must_use]
    pub fn with_sockets(mut self, remote_sockets: RemoteSockets) -> Self {
        self.config.upi_ps = remote_sockets.upi_ps;
        self.config.directory = remote_sockets.directory;
        let domain = Domain::new(self.tor.capacity(), self.tor.capacity(), self.read.classes().len());
        self.upi_transfer =
            Some(Box::new(UpiTransfer { remote_sockets, domain, snoop_tracker: SnoopTracker::default() }));
        self
    }

    /// Returns the request buffers of all slices as one domain, with [`CHA_CLASSES_PER_WORKLOAD`] classes per
    /// workload. Statistics per class are as of the last [`Part::settle`].
    #[must_use]
    pub fn tor(&self) -> &Domain {
        &self.tor
    }

    /// Returns the domain CHA->DRAM read: entries from the admission of a read until its data has passed.
    #[must_use]
    pub fn read(&self) -> &Domain {
        &self.read
    }

    /// Returns the domain CHA->MC write: entries from the admission of a write until the memory controller accepts it.
    #[must_use]
    pub fn write(&self) -> &Domain {
        &self.write
    }

    /// Handles a request that arrives at its slice.
    pub(crate) fn on_arrival(&mut self, id: RequestId, context: &mut Context) {
        if self.upi_transfer.is_some() {
            return self.arrive_multisocket(id, context);
        }
        self.arrive(id, context);
    }

    /// Handles a request that arrives at its slice on a server of several sockets: answers a snoop, and snoops remote
    /// copies of the line first if the request needs that.
    fn arrive_multisocket(&mut self, id: RequestId, context: &mut Context) {
        let Request { kind, line, socket, .. } = *context.requests.get(id);
        match kind {
            RequestKind::Snoop => return self.on_snoop(id, context),
            _ if socket != self.config.socket => {
                // A line homed on another socket has a slice of the home; here it passes a slice of this socket.
                context.requests.get_mut(id).slice = context.homes.slice(self.config.socket, line);
            }
            // Snoops come before admission: the request takes no entry while another socket is asked.
            _ if !context.caches.are_alone() && self.snoops(id, context) => return,
            _ => {}
        }
        self.arrive(id, context);
    }

    /// Admits a request, or queues it if there is no room or an earlier request waits in its queue.
    fn arrive(&mut self, id: RequestId, context: &mut Context) {
        let request = context.requests.get_mut(id);
        // An ownership request only invalidates copies, so it needs no entry.
        if request.kind == RequestKind::IoOwn {
            return self.config.on_ownership(self.remote_sockets(), id, context);
        }
        request.cha_class = cha_class(request.kind, request.class);
        let request = *request;
        let index = usize::from(request.slice);
        let input_queue = self.input_queue(&request) as usize;
        // An earlier request of the same queue goes first, even if this one would have room.
        if self.slices[index].queues[input_queue].is_empty() && self.has_room(index, &request) {
            self.admit(id, context);
            return;
        }
        self.slices[index].waiting += 1;
        self.slices[index].queues[input_queue].push(context.requests, id);
    }

    /// Returns the input queue of a request.
    #[inline]
    fn input_queue(&self, request: &Request) -> InputQueue {
        if self.upi_transfer.is_some() && self.config.wiring.upis.contains(request.owner) {
            return InputQueue::Socket;
        }
        let far = self.is_remote_line(request) || self.expander_share_of(request).is_some();
        match (far, request.kind.is_io()) {
            (false, false) => InputQueue::Core,
            (false, true) => InputQueue::Io,
            (true, false) => InputQueue::CoreRemote,
            (true, true) => InputQueue::IoRemote,
        }
    }

    /// Returns true if slice `index` has an entry for a request. Requests to remote sockets and to memory behind a link
    /// have a cap on the entries that they hold, and so have writes of cores.
    fn has_room(&self, index: usize, request: &Request) -> bool {
        let slice = &self.slices[index];
        if let Some(upi_transfer) = self.upi_transfer.as_ref().filter(|_| self.is_remote_line(request)) {
            return slice.used < self.config.params.tor_entries
                && slice.remote_sockets < upi_transfer.remote_sockets.entries;
        }
        // The cap on write-backs of cores reserves entries for the others (docs/models/cha.md, Backpressure).
        slice.used < self.config.params.tor_entries
            && self.expander_share_of(request).is_none_or(|share| share.has_room(index))
            && (!request.kind.is_core_write() || slice.core_writes < self.config.params.tor_write_entries)
    }

    /// Serves a request from the LLC, or forwards it to memory or to its home socket.
    fn admit(&mut self, id: RequestId, context: &mut Context) {
        if context.caches.are_there() && self.serve_from_llc(id, context) {
            return;
        }
        if self.is_remote_line(context.requests.get(id)) {
            self.pass_to_home(id, context);
        } else {
            self.pass_to_memory(id, context);
        }
    }

    /// Takes an entry for a request and sends the request to its channel.
    #[inline]
    fn pass_to_memory(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let request = context.requests.get_mut(id);
        request.admitted = now;
        let Request { kind, slice, owner, cha_class, socket, .. } = *request;
        if let Some(expander) = self.expander.as_deref_mut().filter(|_| socket != self.config.socket) {
            expander.take(usize::from(slice), cha_class, now);
        }
        let slice = &mut self.slices[usize::from(slice)];
        slice.used += 1;
        let pool = if kind.is_read() { &mut self.read } else { &mut self.write };
        // Classes are kept in `read` and `write` alone; `settle` sums them up, which is cheaper per request.
        let taken = self.tor.try_acquire_unattributed(now) && pool.try_acquire(now, cha_class);
        assert!(taken, "a slice with a free entry has room");
        let delay = match kind {
            RequestKind::CoreRead | RequestKind::IoRead | RequestKind::Speculate | RequestKind::CoreFetch => {
                self.config.params.read_to_mc_ps
            }
            RequestKind::IoWrite => self.config.params.io_write_to_mc_ps,
            // A DDIO write that evicts a dirty line waits until the channel has room for that line, not until the line
            // is there.
            RequestKind::IoPut => EVICT_PS,
            _ => self.config.params.core_write_to_mc_ps + self.config.params.evict_ps,
        };
        slice.core_writes += u32::from(kind.is_core_write());
        // C2M-Write ends when the CHA admits the line, not when memory has it (docs/domains.md), unless the LLC has to
        // make room for the line first.
        let ends_here = matches!(kind, RequestKind::CoreWrite | RequestKind::CorePost) || kind.is_flush();
        if ends_here && !self.config.ends_at_memory(kind, owner) {
            context.send(owner, self.config.core_write_ack_ps, Payload::Admitted(id));
        } else if self.config.wiring.upis.contains(owner) {
            // The credit of a read is back with this message, one UPI latency later; for a write the UPI link adds
            // that latency.
            let delay = if kind.is_read() { self.config.upi_ps } else { NEXT_PS };
            context.send(owner, delay, Payload::Admitted(id));
        }
        self.config.to_channel(id, delay, context);
        if self.upi_transfer.is_some() {
            self.snoop_all(id, context);
        }
    }

    /// Passes the data of a read on, after the channel has sent the last beat, and frees the entry.
    pub(crate) fn on_read(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let request = *context.requests.get(id);
        let Request { kind, slice, owner, admitted, cha_class, .. } = request;
        if kind == RequestKind::Speculate {
            return Self::end_without_entry(id, Payload::Data(id), context);
        }
        // With home snoop, a read whose snoops are outstanding ends with the last answer (see `on_snoop_answer`).
        if self.upi_transfer.as_mut().is_some_and(|upi_transfer| upi_transfer.snoop_tracker.data(id)) {
            return;
        }
        // CHA->DRAM read ends when the data passes, not when it reaches the requester.
        self.read.release(now, cha_class, admitted);
        self.tor.release_unattributed(now);
        let mut delay = if kind.is_io() { self.config.io_read_return_ps } else { self.config.from_cha_ps };
        if self.config.wiring.upis.contains(owner) {
            delay = if self.upi_transfer.is_some() { NEXT_PS } else { delay };
            self.config.note_owner(id, context);
        } else if context.caches.are_there() {
            self.fill_inclusive_llc(id, context);
        }
        context.send(owner, delay, Payload::Data(id));
        self.leave_expander(&request, now);
        self.free_entry(usize::from(slice), context);
    }

    /// Frees the entry of a write that the memory controller has accepted, and acknowledges the write to its owner.
    pub(crate) fn on_accepted(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let request = *context.requests.get(id);
        let Request { kind, slice, owner, admitted, cha_class, .. } = request;
        if kind == RequestKind::Directory {
            return Self::end_without_entry(id, Payload::Acknowledged(id), context);
        }
        self.write.release(now, cha_class, admitted);
        self.tor.release_unattributed(now);
        let index = usize::from(slice);
        if kind.is_io() {
            // The request may have carried a victim of another workload (see `carry_victim`); the answer is for its own
            // workload.
            context.requests.get_mut(id).class = (cha_class / CHA_CLASSES_PER_WORKLOAD as u16) as u8;
            let from_socket = self.upi_transfer.is_some() && self.config.wiring.upis.contains(owner);
            let delay = if from_socket { NEXT_PS } else { self.config.io_write_ack_ps };
            context.send(owner, delay, Payload::Acknowledged(id));
        } else {
            self.slices[index].core_writes -= 1;
            if kind.is_flush() {
                context.send(owner, self.config.core_write_ack_ps, Payload::Acknowledged(id));
            } else if self.config.ends_at_memory(kind, owner) {
                context.send(owner, self.config.core_write_ack_ps, Payload::Taken(id));
            // The device that receives a write past the caches ends the request.
            } else if kind != RequestKind::CorePost {
                context.requests.remove(id);
            }
        }
        self.leave_expander(&request, now);
        self.free_entry(index, context);
    }

    /// Ends a request that took no entry, such as a speculative read, or sends `answer` if another part owns it.
    fn end_without_entry(id: RequestId, answer: Payload, context: &mut Context) {
        let owner = context.requests.get(id).owner;
        if owner == context.id {
            context.requests.remove(id);
        } else {
            context.send(owner, NEXT_PS, answer);
        }
    }

    /// Frees an entry of slice `index` and admits waiting requests.
    #[inline]
    fn free_entry(&mut self, index: usize, context: &mut Context) {
        let slice = &mut self.slices[index];
        slice.used -= 1;
        if !slice.is_idle() {
            self.admit_waiting(index, context);
        }
    }

    /// Gives free entries to waiting requests, taking the queues round robin.
    fn admit_waiting(&mut self, index: usize, context: &mut Context) {
        while let Some(input_queue) = self.next_waiting(index, context) {
            let slice = &mut self.slices[index];
            // The queue after this one comes first next time: round robin between cores and devices.
            slice.turn = (input_queue + 1) as u8;
            if let Some(id) = slice.queues[input_queue].pop(context.requests) {
                slice.waiting -= 1;
                self.admit(id, context);
            }
        }
    }

    /// Returns the next queue, round robin, whose first request may enter now.
    fn next_waiting(&self, index: usize, context: &Context) -> Option<usize> {
        let slice = &self.slices[index];
        let count = slice.queues.len();
        // A queue whose first request may not enter does not block the others.
        (0..count).map(|step| (usize::from(slice.turn) + step) % count).find(|&input_queue| {
            let first = slice.queues[input_queue].front();
            first.is_some_and(|id| self.has_room(index, context.requests.get(id)))
        })
    }
}

impl Part for Cha {
    fn kind(&self) -> PartKind {
        PartKind::Cha
    }

    fn on_event(&mut self, payload: Payload, source: ComponentId, context: &mut Context) {
        match payload {
            Payload::ReadCounter { counter } => {
                let expander = self.expander.as_ref().expect("who reads the registers has them count");
                let value = expander.counter(counter, context.now());
                // The controller that reads the register models the time of the read itself.
                context.send(source, 1, Payload::Counter { counter, value });
            }
            Payload::Data(id) => self.on_remote_data(id, context),
            Payload::Taken(id) => self.on_remote_done(id, context),
            other => unreachable!("the CHA was sent {other:?}"),
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(PoolGroup::Tor, &self.tor));
        visit(Pool::new(PoolGroup::ChaRead, &self.read));
        visit(Pool::new(PoolGroup::ChaWrite, &self.write));
        if let Some(share) = self.expander.as_ref().and_then(|expander| expander.share()) {
            visit(Pool::new(PoolGroup::ChaExpander, share.domain()));
        }
        if let Some(upi_transfer) = &self.upi_transfer {
            visit(Pool::new(PoolGroup::ChaUpi, &upi_transfer.domain));
        }
    }

    fn settle(&mut self, now: Time) {
        part::settle([&mut self.tor, &mut self.read, &mut self.write], now);
        part::settle(self.expander_domain(), now);
        let Some(upi_transfer) = &mut self.upi_transfer else {
            return self.tor.sum_classes_of(&[&self.read, &self.write]);
        };
        upi_transfer.domain.settle_all(now);
        self.tor.sum_classes_of(&[&self.read, &self.write, &upi_transfer.domain]);
    }

    fn reset(&mut self, now: Time) {
        part::reset([&mut self.tor, &mut self.read, &mut self.write], now);
        part::reset(self.expander_domain(), now);
        if let Some(upi_transfer) = &mut self.upi_transfer {
            upi_transfer.domain.reset(now);
        }
    }
}
