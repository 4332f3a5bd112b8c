//! Device end of a PCIe link: the upstream lane, and the posted and non-posted credits.

use super::Lane;
use crate::params::PcieParams;
use crate::part::{Context, Payload, Pool, PoolGroup, TlpTag};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Size of a register, in bytes (assumed: 64 bits).
pub(crate) const REGISTER_BYTES: u64 = 8;

/// Returns the number of credits in use at or above which another packet of the largest size does not fit.
fn blocked_from(credits: u32, packet_bytes: u32) -> u32 {
    // From here on a TLP of the largest size would exceed the credits, which counts as a full pool.
    (credits + 1).saturating_sub(packet_bytes / 64).max(1)
}

/// Write TLP whose credits have not returned. Credits return in the order of the TLPs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PendingWrite {
    lines: u8,
    class: u8,
    since: Time,
    /// Tag of the TLP at the device.
    tag: TlpTag,
}

/// Device end of a PCIe link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PcieEndpoint {
    iio: ComponentId,
    link: u8,
    pcie: PcieParams,
    up: Lane,
    posted: Domain,
    nonposted: Domain,
    written: VecDeque<PendingWrite>,
    /// Time at which each non-posted credit in use was taken, and its class.
    asked: VecDeque<(Time, u8)>,
    /// Bytes written since the last reset.
    written_bytes: u64,
    /// Lines requested since the last reset.
    asked_lines: u64,
}

impl PcieEndpoint {
    pub(crate) fn new(iio: ComponentId, link: u8, pcie: PcieParams, classes: usize) -> Self {
        Self {
            iio,
            link,
            up: Lane::new(&pcie),
            posted: Domain::new(pcie.posted_lines, blocked_from(pcie.posted_lines, pcie.mps_bytes), classes),
            nonposted: Domain::new(pcie.nonposted_lines, blocked_from(pcie.nonposted_lines, pcie.mrrs_bytes), classes),
            written: VecDeque::with_capacity(pcie.posted_lines as usize),
            asked: VecDeque::with_capacity(pcie.nonposted_lines as usize),
            pcie,
            written_bytes: 0,
            asked_lines: 0,
        }
    }

    /// Returns the parameters of the link.
    pub(crate) fn pcie(&self) -> &PcieParams {
        &self.pcie
    }

    /// Returns the time since the last reset for which the upstream lane was busy, in ps.
    pub(crate) fn busy_ps(&self, now: Time) -> u64 {
        self.up.busy_ps(now)
    }

    /// Returns the number of the link at the IIO.
    pub(crate) fn link(&self) -> u8 {
        self.link
    }

    /// Returns the IIO at the other end.
    pub(crate) fn iio(&self) -> ComponentId {
        self.iio
    }

    /// Returns the time at which the upstream lane can take the next TLP.
    pub(crate) fn free_at(&self) -> Time {
        self.up.free_at()
    }

    /// Returns the bytes written since the last reset.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Returns the bytes of the lines requested since the last reset.
    pub(crate) fn asked_bytes(&self) -> u64 {
        self.asked_lines * 64
    }

    /// Starts a new measurement window for the bytes moved.
    pub(crate) fn reset_moved(&mut self, now: Time) {
        (self.written_bytes, self.asked_lines) = (0, 0);
        self.up.reset(now);
    }

    pub(crate) fn posted(&self) -> &Domain {
        &self.posted
    }

    pub(crate) fn nonposted(&self) -> &Domain {
        &self.nonposted
    }

    /// Visits the pools of the endpoint.
    pub(crate) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(PoolGroup::Posted, &self.posted));
        visit(Pool::new(PoolGroup::NonPosted, &self.nonposted));
    }

    pub(crate) fn domains_mut(&mut self) -> [&mut Domain; 2] {
        [&mut self.posted, &mut self.nonposted]
    }

    /// Returns the bytes of the next write TLP when `left` bytes from `address` on remain. A TLP ends at a multiple of
    /// the maximum payload size (MPS), so that it crosses no page.
    pub(crate) fn write_bytes(&self, address: u64, left: u32) -> u32 {
        // A memory request must not cross a 4 KiB boundary (PCIe Base 3.0, 2.2.7), of which the MPS is a divisor.
        let room = u64::from(self.pcie.mps_bytes) - address % u64::from(self.pcie.mps_bytes);
        left.min(room as u32)
    }

    /// Returns the bytes of the next read request when `left` bytes from `address` on remain. A request ends at a
    /// multiple of the maximum read request size (MRRS), so that it crosses no page.
    pub(crate) fn read_bytes(&self, address: u64, left: u32) -> u32 {
        let room = u64::from(self.pcie.mrrs_bytes) - address % u64::from(self.pcie.mrrs_bytes);
        left.min(room as u32)
    }

    /// Returns the lines of the next read request when `left` lines remain.
    pub(crate) fn read_lines(&self, left: u32) -> u32 {
        left.min(self.pcie.mrrs_bytes / 64)
    }

    /// Returns true if there are posted credits for a write TLP of `bytes` bytes.
    pub(crate) fn may_write(&self, bytes: u32) -> bool {
        // All credits or none: a TLP is not split for lack of credits (PCIe Base 3.0, 2.6.1).
        self.posted.free() >= bytes.div_ceil(64)
    }

    /// Returns true if there are non-posted credits for `lines` lines.
    pub(crate) fn may_read(&self, lines: u32) -> bool {
        self.nonposted.free() >= lines
    }

    /// Sends a write TLP of `bytes` bytes from `line` on. [`PcieEndpoint::credited`] returns `tag` when its credits are
    /// back.
    ///
    /// # Panics
    /// Panics if there are too few posted credits.
    pub(crate) fn write(&mut self, line: u64, bytes: u32, class: u8, tag: TlpTag, context: &mut Context) {
        self.write_tlp(line, bytes, class, [tag, TlpTag::NONE], context);
    }

    /// Sends a write TLP as [`PcieEndpoint::write`] does, but the device receives `tag` when all see the lines.
    pub(crate) fn write_seen(&mut self, line: u64, bytes: u32, class: u8, tag: TlpTag, context: &mut Context) {
        self.write_tlp(line, bytes, class, [TlpTag::NONE, tag], context);
    }

    fn write_tlp(&mut self, line: u64, bytes: u32, class: u8, [tag, seen]: [TlpTag; 2], context: &mut Context) {
        let now = context.now();
        self.written_bytes += u64::from(bytes);
        let lines = bytes.div_ceil(64) as u8;
        for _ in 0..lines {
            let taken = self.posted.try_acquire(now, class);
            assert!(taken, "posted credits were checked");
        }
        self.written.push_back(PendingWrite { lines, class, since: now, tag });
        // Credits cover data in lines; the wire also carries header and framing.
        let delay = self.up.send(now, u64::from(bytes) + u64::from(self.pcie.write_overhead_bytes));
        context.send(self.iio, delay, Payload::WriteTlp { line, lines, class, link: self.link, tag: seen });
    }

    /// Sends a read request for `lines` lines from `line` on.
    ///
    /// # Panics
    /// Panics if there are too few non-posted credits.
    pub(crate) fn read(&mut self, line: u64, lines: u32, class: u8, context: &mut Context) {
        let now = context.now();
        self.asked_lines += u64::from(lines);
        for _ in 0..lines {
            let taken = self.nonposted.try_acquire(now, class);
            assert!(taken, "read credits were checked");
            self.asked.push_back((now, class));
        }
        // A read request has no payload; its data uses the opposite lane.
        let delay = self.up.send(now, u64::from(self.pcie.read_overhead_bytes));
        context.send(self.iio, delay, Payload::ReadTlp { line, lines: lines as u8, class, link: self.link });
    }

    /// Sends the value of a register to the core that reads it, which is `to_core_ps` from the agent at the other end.
    pub(crate) fn answer(&mut self, core: ComponentId, to_core_ps: u64, context: &mut Context) {
        let bytes = u64::from(self.pcie.completion_overhead_bytes) + REGISTER_BYTES;
        let delay = self.up.send(context.now(), bytes);
        context.send(core, delay + to_core_ps, Payload::RegisterValue);
    }

    /// Releases the credits of the oldest write TLP that has any in use. Returns its tag.
    ///
    /// # Panics
    /// Panics if no write TLP has credits in use, or the oldest has not `lines` lines.
    pub(crate) fn credited(&mut self, now: Time, lines: u8) -> TlpTag {
        let written = self.written.pop_front().expect("a write TLP is out");
        assert_eq!(written.lines, lines, "credits come back TLP by TLP");
        for _ in 0..lines {
            self.posted.release(now, written.class, written.since);
        }
        written.tag
    }

    /// Releases the credits of `lines` lines, which have arrived.
    pub(crate) fn completed(&mut self, now: Time, lines: u8) {
        for (since, class) in self.asked.drain(..usize::from(lines)) {
            self.nonposted.release(now, class, since);
        }
    }
}
