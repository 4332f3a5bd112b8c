//! Requests of this socket's cores and devices for lines homed on another socket.
//!
//! Such a request takes an entry on its own socket and is looked up in the LLC there. On a miss a second request
//! crosses UPI: its owner is this CHA, and its tag is the number of the first request, which holds its entry until the
//! answer arrives. A device write crosses twice: for ownership of the line, then with the line. Each slice keeps
//! entries that only lines homed there may take, so that a request which crosses never waits at the other side for one
//! that crosses in the opposite direction: two sockets that request lines of each other do not deadlock.

use super::background::evict;
use super::config::NEXT_PS;
use super::expander_share::{ExpanderEntries, ExpanderShare};
use super::snoop::SnoopTracker;
use super::Cha;
use crate::line::{Home, Request, RequestId, RequestKind};
use crate::params::RemoteDdio;
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Remote sockets of a server, and the protocol to keep lines coherent with them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RemoteSockets {
    /// UPI link to each socket, by socket number; `None` for this socket.
    pub upis: Vec<Option<ComponentId>>,
    /// One-way latency of UPI, in ps.
    pub upi_ps: u64,
    /// Maximum number of entries of a slice that lines homed on other sockets may hold. The other entries are for
    /// lines homed here.
    pub entries: u32,
    /// True if memory is read speculatively for every request from a remote socket, while the caches are looked up.
    pub speculative: bool,
    /// True with home snoop: a read that the memory of this socket serves waits for the answers of all remote sockets.
    /// A home agent beside the memory controller sends these snoops and serves the requests of remote sockets.
    pub broadcast: bool,
    /// True with an in-memory directory: a separate write to memory records that a remote socket owns a line.
    pub directory: bool,
    /// Destination of DDIO writes to lines homed on another socket.
    pub ddio: RemoteDdio,
}

impl RemoteSockets {
    /// Returns the socket at the far end of a UPI link.
    fn socket(&self, upi: ComponentId) -> Option<u8> {
        self.upis.iter().position(|&other| other == Some(upi)).map(|socket| socket as u8)
    }

    /// Returns the numbers of the remote sockets.
    pub(super) fn others(&self) -> impl Iterator<Item = u8> + '_ {
        (0..).zip(&self.upis).filter(|(_, upi)| upi.is_some()).map(|(socket, _)| socket)
    }

    /// Returns the UPI link to a socket.
    fn upi(&self, socket: u8) -> ComponentId {
        self.upis[usize::from(socket)].expect("a line of another socket has a UPI to cross")
    }
}

/// State of a CHA for requests to remote sockets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct UpiTransfer {
    pub(super) remote_sockets: RemoteSockets,
    /// Entries from the admission of a request until the remote socket answers.
    pub(super) domain: Domain,
    /// Reads that wait for snoops, by request number.
    pub(super) snoop_tracker: SnoopTracker,
}

impl Cha {
    /// Makes registers count the entries that lines behind a link hold; occupancy is added up every `clock_ps` ps.
    #[must_use]
    pub fn with_expander_registers(mut self, clock_ps: u64) -> Self {
        let expander = self.expander.take().map_or_else(ExpanderEntries::default, |expander| *expander);
        self.expander = Some(Box::new(expander.with_registers(clock_ps)));
        self
    }

    /// Returns the domain of the entries that lines behind a link may hold, if they have a share.
    pub(super) fn expander_domain(&mut self) -> Option<&mut Domain> {
        Some(self.expander.as_mut()?.share_mut()?.domain_mut())
    }

    /// Returns the share of the entries that a request takes its entry from, if its line lies behind a link and such
    /// lines may not take all entries.
    #[inline]
    pub(super) fn expander_share_of(&self, request: &Request) -> Option<&ExpanderShare> {
        // No server has both remote sockets and memory behind a link.
        self.expander.as_deref().filter(|_| request.socket != self.config.socket)?.share()
    }

    /// Notes that a request leaves its entry, if its line lies behind a link.
    pub(super) fn leave_expander(&mut self, request: &Request, now: Time) {
        let Request { slice, cha_class, socket, admitted, .. } = *request;
        if let Some(expander) = self.expander.as_deref_mut().filter(|_| socket != self.config.socket) {
            expander.give_back(usize::from(slice), cha_class, admitted, now);
        }
    }

    /// Returns true if a request is for memory of another socket.
    #[inline]
    pub(super) fn is_remote_line(&self, request: &Request) -> bool {
        self.upi_transfer.is_some() && request.socket != self.config.socket
    }

    pub(super) fn upi_transfer(&mut self) -> &mut UpiTransfer {
        self.upi_transfer.as_deref_mut().expect("lines of other sockets come to sockets that know them")
    }

    /// Returns the socket that a request comes from, if it is a remote one.
    pub(super) fn requesting_socket(&self, request: &Request) -> Option<u8> {
        self.upi_transfer.as_ref()?.remote_sockets.socket(request.owner)
    }

    /// Returns the remote sockets, if there are any that are simulated.
    pub(super) fn remote_sockets(&self) -> Option<&RemoteSockets> {
        self.upi_transfer.as_ref().map(|upi_transfer| &upi_transfer.remote_sockets)
    }

    /// Takes an entry for a request and sends a request of this CHA to the home socket in its place.
    pub(super) fn pass_to_home(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let request = context.requests.get_mut(id);
        request.admitted = now;
        let Request { kind, slice, line, owner, cha_class, .. } = *request;
        let slice = &mut self.slices[usize::from(slice)];
        slice.used += 1;
        // Counted apart, so that lines homed here always find an entry: two sockets cannot deadlock.
        slice.remote_sockets += 1;
        let taken = self.tor.try_acquire_unattributed(now) && self.upi_transfer().domain.try_acquire(now, cha_class);
        assert!(taken, "a slice with a free entry has room");
        // A write-back is over for its core once the CHA of its own socket has taken the line.
        if kind == RequestKind::CoreWrite {
            context.send(owner, self.config.core_write_ack_ps, Payload::Admitted(id));
        }
        let kind = match kind {
            RequestKind::CoreRead | RequestKind::IoRead => kind,
            // A device write first gets ownership, then sends the line: two crossings (docs/models/upi.md).
            RequestKind::IoWrite | RequestKind::IoPut => RequestKind::IoOwn,
            _ => RequestKind::CoreWrite,
        };
        self.cross(kind, line, id, context);
    }

    /// Sends a request of this CHA, on behalf of `parent`, to the home socket of a line.
    fn cross(&mut self, kind: RequestKind, line: u64, parent: RequestId, context: &mut Context) {
        let home = context.homes.of(line);
        self.send_to(home.socket, kind, home, parent, context);
    }

    /// Sends a request of this CHA, on behalf of `parent`, to a socket. Returns its id.
    pub(super) fn send_to(
        &mut self,
        socket: u8,
        kind: RequestKind,
        home: Home,
        parent: RequestId,
        context: &mut Context,
    ) -> RequestId {
        let now = context.now();
        let request = Request {
            kind,
            socket: home.socket,
            slice: home.slice,
            place: home.place,
            owner: context.id,
            tag: parent.0,
            since: now,
            entered: now,
            admitted: now,
            next: RequestId::NONE,
            ..*context.requests.get(parent)
        };
        let upi = self.upi_transfer().remote_sockets.upi(socket);
        let id = context.requests.insert(request);
        // Snoops leave the home agent beside the memory controller, other requests the CHA itself.
        let [to_agent, _] =
            if kind == RequestKind::Snoop { self.config.agent_ps(self.remote_sockets()) } else { [0, 0] };
        context.send(upi, to_agent.max(NEXT_PS), Payload::Arrive(id));
        id
    }

    /// Handles data from a remote socket: a line homed on that socket, or the dirty copy that a snoop found.
    pub(super) fn on_remote_data(&mut self, id: RequestId, context: &mut Context) {
        let Request { kind, tag, for_store, .. } = *context.requests.get(id);
        let parent = RequestId(tag);
        context.requests.remove(id);
        if kind == RequestKind::Snoop {
            return self.on_snoop_answer(parent, true, context);
        }
        context.requests.get_mut(parent).for_store |= for_store;
        if context.caches.are_there() {
            self.fill_inclusive_llc(parent, context);
        }
        let Request { kind, owner, .. } = *context.requests.get(parent);
        let delay = if kind.is_io() { self.config.io_read_return_ps } else { self.config.from_cha_ps };
        context.send(owner, delay, Payload::Data(parent));
        self.free_remote_entry(parent, context);
    }

    /// Handles the completion of a write, an ownership request or a snoop by a remote socket.
    pub(super) fn on_remote_done(&mut self, id: RequestId, context: &mut Context) {
        let Request { kind, tag, .. } = *context.requests.get(id);
        let parent = RequestId(tag);
        if kind == RequestKind::IoOwn && self.continue_device_write(id, parent, context) {
            return;
        }
        context.requests.remove(id);
        match kind {
            RequestKind::Snoop => self.on_snoop_answer(parent, false, context),
            RequestKind::CoreWrite => {
                self.free_remote_entry(parent, context);
                context.requests.remove(parent);
            }
            _ => {
                let owner = context.requests.get(parent).owner;
                context.send(owner, self.config.io_write_ack_ps, Payload::Acknowledged(parent));
                self.free_remote_entry(parent, context);
            }
        }
    }

    /// Continues a device write that has ownership of its line. Returns true if the line crosses to its home socket,
    /// false if the LLC of this socket has taken it.
    fn continue_device_write(&mut self, id: RequestId, parent: RequestId, context: &mut Context) -> bool {
        let Request { kind, line, class, .. } = *context.requests.get(parent);
        let ddio =
            if kind == RequestKind::IoPut { self.upi_transfer().remote_sockets.ddio } else { RemoteDdio::Memory };
        if ddio == RemoteDdio::Device {
            // Ownership ends all other copies before the line becomes dirty here.
            context.caches.claim(line);
            if let Some(evicted) = context.caches().io_write(line, class).evicted {
                evict(evicted, context);
            }
            return false;
        }
        let request = context.requests.get_mut(id);
        request.kind = if ddio == RemoteDdio::Home { RequestKind::IoPut } else { RequestKind::IoWrite };
        let socket = request.socket;
        let upi = self.upi_transfer().remote_sockets.upi(socket);
        context.send(upi, NEXT_PS, Payload::Arrive(id));
        true
    }

    /// Frees the entry of a request to a remote socket.
    fn free_remote_entry(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let Request { slice, admitted, cha_class, .. } = *context.requests.get(id);
        self.upi_transfer().domain.release(now, cha_class, admitted);
        self.tor.release_unattributed(now);
        let index = usize::from(slice);
        // Before `free_entry`, which admits waiting requests by this count.
        self.slices[index].remote_sockets -= 1;
        self.free_entry(index, context);
    }
}
