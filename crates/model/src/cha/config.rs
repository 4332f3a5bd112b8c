//! Configuration of the CHAs of a socket: delays, and the parts that they send to.

use super::wiring::ChaWiring;
use crate::line::{Request, RequestId, RequestKind};
use crate::params::{CacheParams, ChaParams, CoreParams, IioParams, WriteBackEnd};
use crate::part::{Context, Payload};
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// Delay between components of a CHA, or from the CHA to a UPI link, whose latency covers that path, in ps.
pub(super) const NEXT_PS: u64 = 1;

/// Delays of the CHAs of a socket, and the parts that they send to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ChaConfig {
    pub(super) socket: u8,
    pub(super) params: ChaParams,
    pub(super) wiring: ChaWiring,
    pub(super) from_cha_ps: u64,
    pub(super) core_write_ack_ps: u64,
    /// Event that ends a write-back of a core.
    pub(super) write_until: WriteBackEnd,
    pub(super) io_write_ack_ps: u64,
    pub(super) io_read_return_ps: u64,
    /// Latency of an LLC hit, in ps; 0 without caches.
    pub(super) hit_ps: u64,
    /// Latency of a device write to the LLC (DDIO), in ps; 0 without caches.
    pub(super) put_ps: u64,
    /// One-way latency of UPI, in ps, which a returned credit takes; 0 without remote sockets.
    pub(super) upi_ps: u64,
    /// True if memory keeps a directory of the sockets that own its lines.
    pub(super) directory: bool,
}

impl ChaConfig {
    /// Creates the configuration of a single socket. The delays of answers to cores and devices come from `core` and
    /// `iio`, those of the LLC from `cache`.
    pub(super) fn new(
        socket: u8,
        params: ChaParams,
        wiring: ChaWiring,
        core: &CoreParams,
        iio: &IioParams,
        cache: Option<&CacheParams>,
    ) -> Self {
        Self {
            socket,
            params,
            wiring,
            from_cha_ps: core.from_cha_ps,
            core_write_ack_ps: core.write_ack_ps,
            write_until: core.write_until,
            io_write_ack_ps: iio.write_ack_ps,
            io_read_return_ps: iio.read_return_ps,
            hit_ps: cache.map_or(0, |cache| cache.llc.hit_ps),
            put_ps: cache.map_or(0, |cache| cache.ddio.write_ps),
            upi_ps: 0,
            directory: false,
        }
    }

    /// Returns true if a write of `owner` ends when the memory controller accepts it: a write-back of a core of this
    /// socket, if the server says so.
    #[inline]
    pub(super) fn ends_at_memory(&self, kind: RequestKind, owner: ComponentId) -> bool {
        kind == RequestKind::CoreWrite
            && self.write_until == WriteBackEnd::Acceptance
            && !self.wiring.upis.contains(owner)
    }

    /// Announces a request to the channel at which it will arrive in `delay` ps. A request for the expander is sent to
    /// the expander.
    #[inline]
    pub(super) fn to_channel(&self, id: RequestId, delay: u64, context: &mut Context) {
        let Request { socket, place, .. } = *context.requests.get(id);
        if let Some(expander) = self.wiring.expander.filter(|_| socket != self.socket) {
            return context.send(expander, delay, Payload::Arrive(id));
        }
        let channel = self.wiring.channels.get(u32::from(place.channel));
        // No event: the channel handles arrivals in batches (docs/architecture.md, Path of a line).
        context.notify(channel, delay, Payload::Arrive(id));
    }
}
