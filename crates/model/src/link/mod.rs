//! A plain link between two servers: the seed of clusters.
//!
//! The [`Sender`] is a device of the first server: it reads lines of memory by P2M-Read and sends every completion over the
//! link. The [`Receiver`] is a device of the second: it writes what arrives by P2M-Write. A window bounds the lines on their
//! way; its credits come back over the link as events, with the link's latency (a cut between two partitions is crossed by
//! events alone).

mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::context::{Context, Payload};
use crate::pages::Pages;
use crate::params::PcieParams;
use crate::pcie::Lane;
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A link from one server to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkParams {
    /// Latency in either direction, in ps; at least 1. It is the window in which both servers run side by side.
    pub latency_ps: u64,
    /// Bytes per second.
    pub bytes_per_s: u64,
    /// Lines asked of the first server's memory, on the link, or at the second server and not yet taken by its IIO; at least
    /// a read request of PCIe.
    pub window_lines: u32,
    /// Bytes of memory at each end, a multiple of 4 KiB; both ends go through theirs line after line, over and over.
    pub buffer_bytes: u64,
}

/// Where an end of a link sits in its server.
#[derive(Clone, Debug)]
pub struct Socket {
    /// Number of its PCIe link at the IIO: as many as there are drives, plus the ends before it.
    pub link: u8,
    /// The class that its lines count as.
    pub class: u8,
    /// The other end.
    pub peer: ComponentId,
    /// Virtual address of its buffer.
    pub base: u64,
}

/// Credits of one line each that come back in the order in which they were taken.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pool {
    class: u8,
    domain: Domain,
    since: VecDeque<Time>,
}

impl Pool {
    fn new(capacity: u32, class: u8) -> Self {
        let domain = Domain::new(capacity, capacity, usize::from(class) + 1);
        Self { class, domain, since: VecDeque::with_capacity(capacity as usize) }
    }

    fn take(&mut self, now: Time, lines: u32) {
        for _ in 0..lines {
            let taken = self.domain.try_acquire(now, self.class);
            assert!(taken, "free credits were counted");
            self.since.push_back(now);
        }
    }

    /// # Panics
    /// If fewer lines hold a credit.
    fn give_back(&mut self, now: Time, lines: u32) {
        for since in self.since.drain(..lines as usize) {
            self.domain.release(now, self.class, since);
        }
    }
}

/// What both ends have in common: a buffer in memory, and a PCIe link to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Port {
    link: u8,
    class: u8,
    peer: ComponentId,
    pages: Pages,
    base: u64,
    buffer_bytes: u64,
    /// Where in the buffer the next line lies.
    offset_bytes: u64,
    pcie: PcieParams,
    up: Lane,
    send_pending: bool,
}

impl Port {
    fn new(socket: &Socket, link: &LinkParams, pcie: PcieParams, pages: Pages) -> Self {
        assert!(link.buffer_bytes > 0 && link.buffer_bytes % 4096 == 0, "the buffer of a link is made of pages");
        Self {
            link: socket.link,
            class: socket.class,
            peer: socket.peer,
            pages,
            base: socket.base,
            buffer_bytes: link.buffer_bytes,
            offset_bytes: 0,
            up: Lane::new(&pcie),
            pcie,
            send_pending: false,
        }
    }

    /// Lines of a TLP of at most `bytes` bytes that stays within the buffer.
    fn lines_of(&self, bytes: u32) -> u32 {
        u64::from(bytes).min(self.buffer_bytes - self.offset_bytes) as u32 / 64
    }

    /// The physical line of the next `lines` lines of the buffer.
    fn advance(&mut self, lines: u32) -> u64 {
        let line = self.pages.physical(self.base + self.offset_bytes) / 64;
        self.offset_bytes = (self.offset_bytes + u64::from(lines) * 64) % self.buffer_bytes;
        line
    }

    /// Sees to it that a `Send` is pending.
    fn kick(&mut self, context: &mut Context) {
        if !self.send_pending {
            self.send_pending = true;
            let delay = self.up.free_at().ps().saturating_sub(context.now().ps()).max(1);
            context.send(context.id, delay, Payload::Send);
        }
    }
}
