//! What a NIC counts.

use crate::ether::Level;
use crate::met::Met;
use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};

/// Packets and their bytes, headers of IP and above included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Packets.
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

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DropReason {
    /// The receive buffer is full because PCIe or what lies behind it is slower than the cable.
    BufferFull,
    /// The receive buffer is full because the packet at its head finds no descriptor.
    NoDescriptor,
    /// It was damaged on the way.
    Corrupt,
    /// It does not fit a descriptor's memory.
    TooLong,
    /// It is not RDMA, and no core of the server takes anything else.
    NoQueue,
}

/// How many reasons there are.
const REASONS: usize = 5;

/// What became of packets: `received = dropped + joined + delivered + in the NIC`, at every moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounters {
    /// Came in by the cable.
    pub received: Tally,
    /// Came in by the cable and are for another host: nothing else counts them.
    pub strays: Tally,
    /// Dropped, by [`DropReason`].
    dropped: [Tally; REASONS],
    /// Became part of the packet before them (LRO); the bytes are those of their headers, the data is that packet's.
    pub joined: Tally,
    /// Handed to memory and, but for RDMA, to a core.
    pub delivered: Tally,
    /// Put on the cable.
    pub sent: Tally,
    /// Of those, lost because the cable was down.
    pub lost: Tally,
}

impl FlowCounters {
    pub(super) fn drop(&mut self, reason: DropReason, bytes: u32) {
        self.dropped[reason as usize].add(bytes);
    }

    /// Dropped for a reason.
    #[must_use]
    pub fn dropped(&self, reason: DropReason) -> Tally {
        self.dropped[reason as usize]
    }

    /// Dropped for any reason.
    #[must_use]
    pub fn dropped_in_all(&self) -> Tally {
        let sum = |field: fn(&Tally) -> u64| self.dropped.iter().map(field).sum();
        Tally { packets: sum(|tally| tally.packets), bytes: sum(|tally| tally.bytes) }
    }

    /// Packets that are in the NIC: in its receive buffer, or written and their completion not yet seen.
    ///
    /// # Panics
    /// If more packets left the NIC than came in.
    #[must_use]
    pub fn inside(&self) -> u64 {
        let gone = self.dropped_in_all().packets + self.joined.packets + self.delivered.packets;
        self.received.packets.checked_sub(gone).expect("no packet leaves a NIC that did not come in")
    }
}

/// What the packet at the head of the receive buffer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wait {
    /// Nothing, or for its turn on the PCIe lane.
    None,
    /// Posted credits.
    Credits,
    /// A descriptor of its queue: the ring has none.
    Descriptor,
    /// A descriptor that is in memory and that the card has not read yet.
    Fetch,
}

/// What a NIC as a whole counts since the last reset.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NicCounters {
    /// Bytes of frames in the receive buffer.
    pub buffer: Level,
    /// Time of every packet that was not dropped in the receive buffer, in ps.
    pub buffered_ps: Histogram,
    /// 1 while the packet at the head of the buffer waits for posted credits.
    pub credit_wait: Level,
    /// 1 while the packet at the head of the buffer waits for a descriptor.
    pub descriptor_wait: Level,
    /// 1 while it waits for the card to read one.
    pub fetch_wait: Level,
    /// 1 while there is data to be sent and the send window has no room for it.
    pub window_wait: Level,
    /// Bytes of frames written to memory.
    pub written_bytes: u64,
    /// Bytes of data read from memory to be sent.
    pub read_bytes: u64,
    /// Completions written.
    pub completions: u64,
    /// Interrupts raised.
    pub interrupts: u64,
    /// Flows whose queue was forgotten because nothing came for long.
    pub expired: u64,
    /// Pauses (PFC) that it asked of its peer.
    pub pauses_sent: u64,
    /// Messages of a pool of memory that nobody waits for and that found too many packets at the port.
    pub pool_dropped: u64,
    /// Pauses that its peer asked of it.
    pub pauses_received: u64,
    /// Priorities that its peer is asked to pause.
    pub pausing: Level,
    /// Limits that have come into play since the start of the run.
    pub met: Met,
}

impl NicCounters {
    fn levels(&mut self) -> [&mut Level; 6] {
        let Self { buffer, credit_wait, descriptor_wait, fetch_wait, window_wait, pausing, .. } = self;
        [buffer, credit_wait, descriptor_wait, fetch_wait, window_wait, pausing]
    }

    pub(super) fn settle(&mut self, time: Time) {
        self.levels().into_iter().for_each(|level| level.settle(time));
    }

    pub(super) fn reset(&mut self, time: Time) {
        let mut kept = std::mem::take(self);
        kept.levels().into_iter().for_each(|level| level.reset(time));
        let Self { buffer, credit_wait, descriptor_wait, fetch_wait, window_wait, pausing, met, .. } = kept;
        let others = Self::default();
        *self = Self { buffer, credit_wait, descriptor_wait, fetch_wait, window_wait, pausing, met, ..others };
    }

    pub(super) fn wait(&mut self, time: Time, wait: Wait) {
        self.credit_wait.set(time, u64::from(wait == Wait::Credits));
        self.descriptor_wait.set(time, u64::from(wait == Wait::Descriptor));
        self.fetch_wait.set(time, u64::from(wait == Wait::Fetch));
    }
}
