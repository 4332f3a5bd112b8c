//! Counters of the NIC.

use crate::ether::OccupancyStats;
use crate::met::ReachedLimits;
use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};

/// Number of packets and their bytes, IP headers and above included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Number of packets.
    pub packets: u64,
    /// Bytes of the IP packets.
    pub bytes: u64,
}

impl Tally {
    pub(super) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

/// Reason why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DropReason {
    /// The receive buffer was full because PCIe, or the path behind it, was slower than the cable.
    BufferFull,
    /// The receive buffer was full because the packet at its head found no descriptor.
    NoDescriptor,
    /// The packet was damaged on the cable.
    Corrupt,
    /// The packet was longer than the memory of a descriptor.
    TooLong,
    /// The packet was not RDMA, and the NIC has no queue for other packets.
    NoQueue,
}

/// Number of drop reasons.
const REASONS: usize = 5;

/// Packet counters of a flow. At any time `received = dropped + joined + delivered + in the NIC`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounters {
    /// Packets received from the cable.
    pub received: Tally,
    /// Packets received from the cable that are addressed to another host. No other counter includes them.
    pub strays: Tally,
    /// Packets dropped, by [`DropReason`].
    dropped: [Tally; REASONS],
    /// Packets merged into the packet before them (LRO). Only header bytes count here; the data counts as that
    /// packet's.
    pub joined: Tally,
    /// Packets written to memory and, except for RDMA, passed to a core.
    pub delivered: Tally,
    /// Packets put on the cable.
    pub sent: Tally,
    /// Packets of `sent` that were lost because the cable was down.
    pub lost: Tally,
}

impl FlowCounters {
    pub(super) fn drop(&mut self, reason: DropReason, bytes: u32) {
        self.dropped[reason as usize].add(bytes);
    }

    /// Returns the packets dropped for a reason.
    #[must_use]
    pub fn dropped(&self, reason: DropReason) -> Tally {
        self.dropped[reason as usize]
    }

    /// Returns the packets dropped for any reason.
    #[must_use]
    pub fn dropped_in_all(&self) -> Tally {
        // A damaged packet counts under one reason only, so the sum counts each packet once.
        let sum = |field: fn(&Tally) -> u64| self.dropped.iter().map(field).sum();
        Tally { packets: sum(|tally| tally.packets), bytes: sum(|tally| tally.bytes) }
    }

    /// Returns the number of packets in the NIC: in the receive buffer, or written with a completion that is not yet
    /// visible.
    ///
    /// # Panics
    /// Panics if more packets left the NIC than were received.
    #[must_use]
    pub fn inside(&self) -> u64 {
        let gone = self.dropped_in_all().packets + self.joined.packets + self.delivered.packets;
        self.received.packets.checked_sub(gone).expect("no packet leaves a NIC that did not come in")
    }
}

/// Resource that the packet at the head of the receive buffer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeadWait {
    /// No resource, or only the next slot on the PCIe lane.
    None,
    /// Posted credits.
    Credits,
    /// A descriptor: the ring of the queue is empty.
    Descriptor,
    /// A descriptor that is in memory and that the NIC has not fetched yet.
    Fetch,
}

/// Counters of one NIC since the last reset.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NicCounters {
    /// Bytes of frames in the receive buffer.
    pub buffer: OccupancyStats,
    /// Time in the receive buffer of every packet that was not dropped, in ps.
    pub buffered_ps: Histogram,
    /// 1 while the packet at the head of the buffer waits for posted credits, else 0.
    pub credit_wait: OccupancyStats,
    /// 1 while the packet at the head of the buffer waits because its ring is empty, else 0.
    pub descriptor_wait: OccupancyStats,
    /// 1 while the packet at the head of the buffer waits for the NIC to fetch a descriptor, else 0.
    pub fetch_wait: OccupancyStats,
    /// 1 while data is ready to be sent and the send window has no room for it, else 0.
    pub window_wait: OccupancyStats,
    /// Bytes of frames written to memory.
    pub written_bytes: u64,
    /// Bytes of data read from memory for sending.
    pub read_bytes: u64,
    /// Completions written.
    pub completions: u64,
    /// Interrupts raised.
    pub interrupts: u64,
    /// Steering rules that expired because their flow received no packet.
    pub expired: u64,
    /// PFC pauses sent to the peer.
    pub pauses_sent: u64,
    /// Prefetch messages of a memory pool that were dropped because too many packets waited at the port.
    pub pool_dropped: u64,
    /// PFC pauses received from the peer.
    pub pauses_received: u64,
    /// Number of priorities that the peer is asked to pause.
    pub pausing: OccupancyStats,
    /// Limits that have been reached since the start of the run.
    pub met: ReachedLimits,
}

impl NicCounters {
    fn levels(&mut self) -> [&mut OccupancyStats; 6] {
        let Self { buffer, credit_wait, descriptor_wait, fetch_wait, window_wait, pausing, .. } = self;
        [buffer, credit_wait, descriptor_wait, fetch_wait, window_wait, pausing]
    }

    pub(super) fn settle(&mut self, time: Time) {
        self.levels().into_iter().for_each(|level| level.settle(time));
    }

    pub(super) fn reset(&mut self, time: Time) {
        let mut kept = std::mem::take(self);
        kept.levels().into_iter().for_each(|level| level.reset(time));
        // Levels go on across the reset, because packets in the buffer stay there; so do the limits reached.
        let Self { buffer, credit_wait, descriptor_wait, fetch_wait, window_wait, pausing, met, .. } = kept;
        let others = Self::default();
        *self = Self { buffer, credit_wait, descriptor_wait, fetch_wait, window_wait, pausing, met, ..others };
    }

    pub(super) fn wait(&mut self, time: Time, wait: HeadWait) {
        self.credit_wait.set(time, u64::from(wait == HeadWait::Credits));
        self.descriptor_wait.set(time, u64::from(wait == HeadWait::Descriptor));
        self.fetch_wait.set(time, u64::from(wait == HeadWait::Fetch));
    }
}
