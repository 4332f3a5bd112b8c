//! What parts see of the world while they handle an event.

use super::{Payload, Rates};
use crate::cache::{Caches, SocketCaches};
use crate::line::{Home, Homes, Packets, Request, RequestId, RequestKind, Requests};
use crate::mesh::Mesh;
use hostnet_kernel::{ComponentId, Scheduler, Time};

/// What one part lets another know as soon as it sets out, because that part can tell by then what it will do with it.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Who is told.
    pub target: ComponentId,
    /// When it will be there.
    pub at: Time,
    /// What will be there.
    pub payload: Payload,
}

/// What a part sees of the world while it handles an event.
pub struct Context<'a> {
    /// The part itself.
    pub id: ComponentId,
    /// Where lines are at home.
    pub homes: &'a Homes,
    /// The requests on their way.
    pub requests: &'a mut Requests,
    /// The packets in this partition.
    pub packets: &'a mut Packets,
    /// The caches, if there are any; parts that are there only with caches use [`Context::caches`].
    pub(crate) caches: SocketCaches<'a>,
    /// The memory of its socket, if it has rates instead of lines.
    pub(crate) fluid: Option<&'a mut dyn Rates>,
    /// The mesh of its socket, if its parts lie on one.
    pub(crate) mesh: Option<&'a mut Mesh>,
    /// What was told while the event was handled; parts use [`Context::tell`].
    pub(crate) told: &'a mut Vec<Told>,
    /// The clock and the way to send; parts use [`Context::now`] and [`Context::send`].
    pub(crate) scheduler: &'a mut Scheduler<Payload>,
}

impl<'a> Context<'a> {
    /// What a part sees that has nothing to do with the caches, the rates and the mesh of its socket.
    pub(crate) fn apart(
        id: ComponentId,
        homes: &'a Homes,
        requests: &'a mut Requests,
        packets: &'a mut Packets,
        told: &'a mut Vec<Told>,
        scheduler: &'a mut Scheduler<Payload>,
    ) -> Self {
        Self { id, homes, requests, packets, caches: SocketCaches::none(), fluid: None, mesh: None, told, scheduler }
    }
}

impl Context<'_> {
    /// The time.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Time {
        self.scheduler.now()
    }

    /// A request of this part for a line, which has all its credits from now on.
    #[must_use]
    #[inline(always)]
    pub(crate) fn request(&self, kind: RequestKind, line: u64, class: u8, tag: u32) -> Request {
        let Home { socket, slice, place } = self.homes.of(line);
        let now = self.now();
        Request {
            kind,
            class,
            cha_class: 0,
            for_store: false,
            socket,
            slice,
            engine: 0,
            line,
            place,
            owner: self.id,
            tag,
            since: now,
            entered: now,
            admitted: now,
            next: RequestId::NONE,
        }
    }

    /// Sends `payload` to `target`, `delay_ps` from now if both are at a mean distance.
    #[inline(always)]
    pub fn send(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) {
        let delay_ps = if self.mesh.is_some() { self.over_mesh(target, delay_ps, payload) } else { delay_ps };
        self.scheduler.send(self.id, target, delay_ps, payload);
    }

    /// Tells `target` now what will be there `delay_ps` from now if both are at a mean distance.
    #[inline]
    pub(crate) fn tell(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) {
        let delay_ps = if self.mesh.is_some() { self.over_mesh(target, delay_ps, payload) } else { delay_ps };
        self.told.push(Told { target, at: self.now() + delay_ps, payload });
    }

    /// How long `payload` takes to `target` from where this part lies.
    #[cold]
    #[inline(never)]
    fn over_mesh(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) -> u64 {
        let now = self.now();
        let (Some(mesh), Some((id, message))) = (&mut self.mesh, payload.of_line()) else { return delay_ps };
        mesh.delay_ps([self.id, target], message, self.requests.get(id), now, delay_ps)
    }

    /// The caches of its socket, for a part that cannot be without.
    #[inline]
    pub(crate) fn caches(&mut self) -> &mut Caches {
        self.caches.own().expect("the machine has caches")
    }

    /// What parts of a network see of the world.
    #[inline]
    pub fn net(&mut self) -> NetContext<'_> {
        NetContext { id: self.id, packets: self.packets, scheduler: self.scheduler }
    }
}

/// What a part of a network sees of the world while it handles an event.
pub struct NetContext<'a> {
    /// The part itself.
    pub id: ComponentId,
    /// The packets in this partition.
    pub packets: &'a mut Packets,
    /// The clock and the way to send.
    pub(crate) scheduler: &'a mut Scheduler<Payload>,
}

impl NetContext<'_> {
    /// The time.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Time {
        self.scheduler.now()
    }

    /// Sends `payload` to `target`, `delay_ps` from now.
    #[inline]
    pub fn send(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) {
        self.scheduler.send(self.id, target, delay_ps, payload);
    }
}
