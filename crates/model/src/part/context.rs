//! Parts of the world that a part can access while it handles an event.

use super::{CopyRates, Payload};
use crate::cache::{Caches, SocketCaches};
use crate::line::{Home, Homes, Packets, Request, RequestId, RequestKind, Requests};
use crate::mesh::Mesh;
use hostnet_kernel::{ComponentId, Scheduler, Time};

/// Advance notice: a request or operation that reaches another part later, and whose effect that part can already
/// plan. It is delivered while the event of the sender is handled, and needs no event.
#[derive(Clone, Copy, Debug)]
pub struct Notice {
    /// Part that receives the notice.
    pub target: ComponentId,
    /// Time at which the request or operation reaches that part.
    pub at: Time,
    /// Request or operation.
    pub payload: Payload,
}

/// Access of a part to the world while it handles an event.
pub struct Context<'a> {
    /// Id of the part itself.
    pub id: ComponentId,
    /// Homes of all lines.
    pub homes: &'a Homes,
    /// Requests in flight.
    pub requests: &'a mut Requests,
    /// Packets in this partition.
    pub packets: &'a mut Packets,
    /// Caches of the sockets, if any. Parts that exist only with caches use [`Context::caches`].
    pub(crate) caches: SocketCaches<'a>,
    /// Fluid memory of the socket of the part, if the socket has one (rates instead of lines).
    pub(crate) fluid: Option<&'a mut dyn CopyRates>,
    /// Mesh of the socket of the part, if the parts of the socket are on a mesh.
    pub(crate) mesh: Option<&'a mut Mesh>,
    /// Notices sent while the event is handled; parts use [`Context::notify`].
    pub(crate) notices: &'a mut Vec<Notice>,
    /// Clock and event queue; parts use [`Context::now`] and [`Context::send`].
    pub(crate) scheduler: &'a mut Scheduler<Payload>,
}

impl<'a> Context<'a> {
    /// Creates the context of a part that uses neither caches nor the fluid memory or mesh of its socket.
    pub(crate) fn detached(
        id: ComponentId,
        homes: &'a Homes,
        requests: &'a mut Requests,
        packets: &'a mut Packets,
        notices: &'a mut Vec<Notice>,
        scheduler: &'a mut Scheduler<Payload>,
    ) -> Self {
        Self { id, homes, requests, packets, caches: SocketCaches::none(), fluid: None, mesh: None, notices, scheduler }
    }
}

impl Context<'_> {
    /// Returns the current time.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Time {
        self.scheduler.now()
    }

    /// Creates a request of this part for a line. All credits that the request holds count as taken now.
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

    /// Schedules `payload` at `target`. The delay is `delay_ps` if both parts are at the mean distance of their kinds;
    /// a mesh makes it longer or shorter.
    #[inline(always)]
    pub fn send(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) {
        let delay_ps = if self.mesh.is_some() { self.mesh_delay_ps(target, delay_ps, payload) } else { delay_ps };
        self.scheduler.send(self.id, target, delay_ps, payload);
    }

    /// Notifies `target` now of `payload`, which arrives `delay_ps` from now if both parts are at the mean distance of
    /// their kinds. The notice takes no event.
    #[inline]
    pub(crate) fn notify(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) {
        let delay_ps = if self.mesh.is_some() { self.mesh_delay_ps(target, delay_ps, payload) } else { delay_ps };
        self.notices.push(Notice { target, at: self.now() + delay_ps, payload });
    }

    /// Returns the delay of `payload` over the mesh from this part to `target`, in ps, where `delay_ps` is the delay
    /// at the mean distance. Payloads that are about no line take `delay_ps`.
    #[cold]
    #[inline(never)]
    fn mesh_delay_ps(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) -> u64 {
        let now = self.now();
        let (Some(mesh), Some((id, message))) = (&mut self.mesh, payload.line_message()) else { return delay_ps };
        mesh.delay_ps([self.id, target], message, self.requests.get(id), now, delay_ps)
    }

    /// Returns the caches of its socket.
    ///
    /// # Panics
    /// Panics if the machine has no caches.
    #[inline]
    pub(crate) fn caches(&mut self) -> &mut Caches {
        self.caches.own().expect("the machine has caches")
    }

    /// Returns the context for a part of a network.
    #[inline]
    pub fn net(&mut self) -> NetContext<'_> {
        NetContext { id: self.id, packets: self.packets, scheduler: self.scheduler }
    }
}

/// Access of a part of a network to the world while it handles an event.
pub struct NetContext<'a> {
    /// Id of the part itself.
    pub id: ComponentId,
    /// Packets in this partition.
    pub packets: &'a mut Packets,
    /// Clock and event queue.
    pub(crate) scheduler: &'a mut Scheduler<Payload>,
}

impl NetContext<'_> {
    /// Returns the current time.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Time {
        self.scheduler.now()
    }

    /// Schedules `payload` at `target`, `delay_ps` from now.
    #[inline]
    pub fn send(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) {
        self.scheduler.send(self.id, target, delay_ps, payload);
    }
}
