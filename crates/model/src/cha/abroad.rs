//! Lines of this socket's cores and devices that are at home in another socket.
//!
//! Such a request takes an entry of its own socket and looks into the LLC there. What the LLC has not crosses UPI as a
//! request of its own, whose owner is this CHA and whose tag is the number of the first; that holds its entry until the
//! answer is there. A device's write crosses twice: it asks for the line, then sends it. An entry for what crosses
//! never waits for one of its own kind at the other side, because each side keeps entries that only what is at home
//! there may take: two sockets that ask each other do not lock up.

use super::snoop::Asked;
use super::Cha;
use crate::line::{Home, Kind, Request, RequestId};
use crate::params::RemoteDdio;
use crate::part::{Context, Payload};
use hostnet_kernel::ComponentId;
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// From one part of a CHA to the next, or to UPI, whose latency covers the way there, in ps.
pub(super) const NEXT_PS: u64 = 1;

/// The other sockets of a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Abroad {
    /// The UPI to each socket, by their numbers; none to its own.
    pub upis: Vec<Option<ComponentId>>,
    /// Latency of UPI in one direction, in ps.
    pub upi_ps: u64,
    /// Entries of a slice that lines of other sockets may hold at most; the others are for lines that are at home here.
    pub entries: u32,
    /// Whether memory reads ahead for every request of another socket, while the caches are looked up.
    pub speculative: bool,
    /// Whether a read of this socket that memory answers waits until all others have said that they have nothing. They
    /// are asked, and what they ask is answered, by a home agent beside the memory controller.
    pub broadcast: bool,
    /// Whether memory notes by a write of its own that another socket owns a line.
    pub directory: bool,
    /// What DDIO does with lines of another socket.
    pub ddio: RemoteDdio,
}

impl Abroad {
    /// The socket at the other end of a UPI.
    fn socket(&self, upi: ComponentId) -> Option<u8> {
        self.upis.iter().position(|&other| other == Some(upi)).map(|socket| socket as u8)
    }

    /// The other sockets.
    pub(super) fn others(&self) -> impl Iterator<Item = u8> + '_ {
        (0..).zip(&self.upis).filter(|(_, upi)| upi.is_some()).map(|(socket, _)| socket)
    }

    /// The UPI to a socket.
    fn upi(&self, socket: u8) -> ComponentId {
        self.upis[usize::from(socket)].expect("a line of another socket has a UPI to cross")
    }
}

/// What a CHA keeps for lines of other sockets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Crossing {
    pub(super) abroad: Abroad,
    /// From admission until the other socket has answered.
    pub(super) domain: Domain,
    /// Reads that wait for snoops, by the number of the request.
    pub(super) asked: Asked,
}

impl Cha {
    /// Whether a request is for memory of another socket.
    #[inline]
    pub(super) fn is_abroad(&self, request: &Request) -> bool {
        self.crossing.is_some() && request.socket != self.socket
    }

    pub(super) fn crossing(&mut self) -> &mut Crossing {
        self.crossing.as_deref_mut().expect("lines of other sockets come to sockets that know them")
    }

    /// The socket that a request comes from, if that is another one.
    pub(super) fn comes_from(&self, request: &Request) -> Option<u8> {
        self.crossing.as_ref()?.abroad.socket(request.owner)
    }

    /// Between a slice of the CHA and the home agent, there and back, in ps: it is as far as the memory controller. 0
    /// without one: the CHA itself is the home.
    pub(super) fn agent_ps(&self) -> [u64; 2] {
        match &self.crossing {
            Some(crossing) if crossing.abroad.broadcast => [self.params.read_to_mc_ps, self.params.from_mc_ps],
            _ => [0, 0],
        }
    }

    /// Takes an entry for a request and sends it, as one of this CHA, to the socket where it is at home.
    pub(super) fn pass_abroad(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let request = context.requests.get_mut(id);
        request.admitted = now;
        let Request { kind, slice, line, owner, book, .. } = *request;
        let slice = &mut self.slices[usize::from(slice)];
        slice.used += 1;
        slice.abroad += 1;
        let taken = self.tor.try_acquire_unnamed(now) && self.crossing().domain.try_acquire(now, book);
        assert!(taken, "a slice with a free entry has room");
        if kind == Kind::CoreWrite {
            context.send(owner, self.core_write_ack_ps, Payload::Admitted(id));
        }
        let kind = match kind {
            Kind::CoreRead | Kind::IoRead => kind,
            Kind::IoWrite | Kind::IoPut => Kind::IoOwn,
            _ => Kind::CoreWrite,
        };
        self.cross(kind, line, id, context);
    }

    /// Sends a request of this CHA for a line, on behalf of another request, to where the line is at home.
    fn cross(&mut self, kind: Kind, line: u64, parent: RequestId, context: &mut Context) {
        let home = context.homes.of(line);
        self.send_to(home.socket, kind, home, parent, context);
    }

    /// Sends a request of this CHA, on behalf of another one, to a socket.
    pub(super) fn send_to(
        &mut self,
        socket: u8,
        kind: Kind,
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
        let upi = self.crossing().abroad.upi(socket);
        let id = context.requests.insert(request);
        let [to_agent, _] = if kind == Kind::Snoop { self.agent_ps() } else { [0, 0] };
        context.send(upi, to_agent.max(NEXT_PS), Payload::Arrive(id));
        id
    }

    /// The data of a line are there that is at home in another socket, or with a snoop those of a dirty copy.
    pub(super) fn on_abroad_data(&mut self, id: RequestId, context: &mut Context) {
        let Request { kind, tag, for_store, .. } = *context.requests.get(id);
        let parent = RequestId(tag);
        context.requests.remove(id);
        if kind == Kind::Snoop {
            return self.on_snooped(parent, true, context);
        }
        context.requests.get_mut(parent).for_store |= for_store;
        if context.caches.are_there() {
            self.keep_in_llc(parent, context);
        }
        let Request { kind, owner, .. } = *context.requests.get(parent);
        let delay = if kind.is_io() { self.io_read_return_ps } else { self.from_cha_ps };
        context.send(owner, delay, Payload::Data(parent));
        self.leave_abroad(parent, context);
    }

    /// The other socket has done what it was asked for.
    pub(super) fn on_abroad_done(&mut self, id: RequestId, context: &mut Context) {
        let Request { kind, tag, .. } = *context.requests.get(id);
        let parent = RequestId(tag);
        if kind == Kind::IoOwn && self.goes_on(id, parent, context) {
            return;
        }
        context.requests.remove(id);
        match kind {
            Kind::Snoop => self.on_snooped(parent, false, context),
            Kind::CoreWrite => {
                self.leave_abroad(parent, context);
                context.requests.remove(parent);
            }
            _ => {
                let owner = context.requests.get(parent).owner;
                context.send(owner, self.io_write_ack_ps, Payload::Acknowledged(parent));
                self.leave_abroad(parent, context);
            }
        }
    }

    /// A device may write a line: whether that has to cross to its home.
    fn goes_on(&mut self, id: RequestId, parent: RequestId, context: &mut Context) -> bool {
        let Request { kind, line, class, .. } = *context.requests.get(parent);
        let ddio = if kind == Kind::IoPut { self.crossing().abroad.ddio } else { RemoteDdio::Memory };
        if ddio == RemoteDdio::Device {
            context.caches.claim(line);
            if let Some(evicted) = context.caches().io_write(line, class).evicted {
                self.evict(evicted, context);
            }
            return false;
        }
        let request = context.requests.get_mut(id);
        request.kind = if ddio == RemoteDdio::Home { Kind::IoPut } else { Kind::IoWrite };
        let socket = request.socket;
        let upi = self.crossing().abroad.upi(socket);
        context.send(upi, NEXT_PS, Payload::Arrive(id));
        true
    }

    /// The entry of a request that went abroad is free.
    fn leave_abroad(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let Request { slice, admitted, book, .. } = *context.requests.get(id);
        self.crossing().domain.release(now, book, admitted);
        self.tor.release_unnamed(now);
        let index = usize::from(slice);
        self.slices[index].abroad -= 1;
        self.free_entry(index, context);
    }
}
