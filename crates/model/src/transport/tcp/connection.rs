//! One end of a TCP flow.

use super::congestion::echoes_each_mark;
use super::receiver::Receiver;
use super::sender::Sender;
use super::{Counters, Segment};
use crate::met::Limit;
use crate::params::TcpParams;
use hostnet_kernel::Time;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

/// One end of a TCP flow, for both directions of data. Time must not decrease between calls.
///
/// After every [`TcpConnection::on_segment`], [`TcpConnection::write`], [`TcpConnection::read`] and
/// [`TcpConnection::on_timer`], call [`TcpConnection::next`] until it returns nothing or there is no room to send, then
/// query [`TcpConnection::timer`] again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TcpConnection {
    sender: Sender,
    receiver: Receiver,
    counters: Counters,
    capable: bool,
    echoes_each_mark: bool,
}

impl TcpConnection {
    /// Creates an established connection: the handshake is not modelled, and both ends must have the same parameters.
    #[must_use]
    pub fn new(params: &TcpParams) -> Self {
        Self {
            sender: Sender::new(params),
            receiver: Receiver::new(params),
            counters: Counters::default(),
            capable: params.ecn,
            echoes_each_mark: echoes_each_mark(params.control),
        }
    }

    /// Prefetches the data that a segment needs.
    #[inline(always)]
    pub(crate) fn fetch(&self) {
        prefetch_index(std::slice::from_ref(&self.sender), 0);
        prefetch_index(std::slice::from_ref(&self.receiver), 0);
        prefetch_index(std::slice::from_ref(&self.receiver), 1);
        prefetch_index(std::slice::from_ref(&self.counters), 0);
        prefetch_index(std::slice::from_ref(&self.counters), 1);
    }

    /// Disables Nagle's algorithm (TCP_NODELAY): a packet that is not full is sent at once. By default, only one such
    /// packet is in flight at a time, as in Linux (Minshall's variant of Nagle's algorithm).
    pub fn set_no_delay(&mut self) {
        self.sender.no_delay = true;
    }

    /// Writes `bytes` to the stream on behalf of the application.
    ///
    /// # Panics
    /// Panics if `bytes` exceeds [`TcpConnection::room`].
    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
    }

    /// Returns the bytes that the application may write before the send buffer is full.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.sender.room()
    }

    /// Notes that the application waits for room in the send buffer.
    pub(crate) fn wait_for_room(&mut self) {
        self.counters.met.set(Limit::SendBuffer);
    }

    /// Returns the bytes written that have not been acknowledged.
    #[must_use]
    pub fn unacknowledged(&self) -> u64 {
        self.sender.unacknowledged()
    }

    /// Returns the bytes that the application may read.
    #[must_use]
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// Reads `bytes` from the stream on behalf of the application.
    ///
    /// # Panics
    /// Panics if `bytes` exceeds [`TcpConnection::readable`].
    pub fn read(&mut self, _now: Time, bytes: u64) {
        self.receiver.read_bytes(bytes);
    }

    /// Handles a received segment. Segments with invalid acknowledgements or blocks are tolerated.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        // Data first: an acknowledgement sent now covers it.
        if segment.bytes > 0 {
            self.receiver.on_data(now, segment, &mut self.counters);
        } else {
            self.counters.acks_received += 1;
        }
        self.sender.on_ack(now, segment, &mut self.counters);
    }

    /// Returns the next segment to send now: lost data, new data up to the offload size, or an acknowledgement that is
    /// due.
    pub fn next(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.next_into(now, &mut segment).then_some(segment)
    }

    /// Writes the next segment to send now into `segment`. Returns false if there is none.
    pub(crate) fn next_into(&mut self, now: Time, segment: &mut Segment) -> bool {
        // The acknowledgement of data before a change of marks is sent first, so that echoes stay in order.
        if self.receiver.has_earlier() {
            *segment = self.bare_segment(now);
            return self.receiver.acknowledge_earlier(segment);
        }
        if !self.sender.next(now, segment, &mut self.counters) {
            if !self.receiver.is_ack_due() {
                return false;
            }
            *segment = self.bare_segment(now);
        }
        self.receiver.acknowledge(segment);
        true
    }

    /// Returns a segment without data, which is counted as sent.
    fn bare_segment(&mut self, now: Time) -> Segment {
        self.counters.acks_sent += 1;
        Segment { sequence: self.sender.next, sent: now, ..Segment::default() }
    }

    /// Returns true if [`TcpConnection::next`], called again at the same time, returns nothing and changes nothing: all
    /// data is acknowledged, and no acknowledgement waits.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.sender.unacknowledged() == 0 && self.sender.held.is_free() && self.receiver.is_drained()
    }

    /// Returns true if [`TcpConnection::next`], called now, would return nothing because of the congestion window. All
    /// that the call would record is recorded then; otherwise nothing changes.
    pub(crate) fn is_held_by_congestion(&mut self, now: Time) -> bool {
        self.receiver.is_drained() && self.sender.is_held_by_congestion(now, &mut self.counters)
    }

    /// Returns the time at which to call [`TcpConnection::on_timer`]; none if no timer runs.
    #[must_use]
    pub fn timer(&self) -> Option<Time> {
        let at = self.sender.timer().min(self.receiver.timer());
        (at != Time::MAX).then_some(at)
    }

    /// Handles the timers that have expired. An early call has no effect.
    pub fn on_timer(&mut self, now: Time) {
        self.receiver.on_timer(now, &mut self.counters);
        self.sender.on_timer(now, &mut self.counters);
    }

    /// Returns true if the packets of a segment from [`TcpConnection::next`] are ECN-capable: new data (RFC 3168
    /// section 6.1), or with DCTCP all packets.
    #[must_use]
    pub fn ecn_capable(&self, segment: &Segment) -> bool {
        self.capable && (self.echoes_each_mark || (segment.bytes > 0 && !segment.retransmitted))
    }

    /// Returns the counters. A time for which data is being held back is counted when it ends.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the counters up to `now`, including a time for which data is being held back.
    #[must_use]
    pub fn counters_at(&self, now: Time) -> Counters {
        let mut counters = self.counters;
        self.sender.held.count(now, &mut counters);
        counters
    }

    /// Returns the congestion window, in bytes. During a proportional reduction (RFC 6937) it is at least the bytes in
    /// flight plus the bytes that may be sent.
    #[must_use]
    pub fn cwnd_bytes(&self) -> u64 {
        let target = self.sender.congestion.bytes();
        self.sender.reduction.map_or(target, |_| target.max(self.sender.in_flight() + self.sender.allowed()))
    }

    /// Returns the bytes in flight as far as the sender knows: sent, not acknowledged, not considered lost.
    #[must_use]
    pub fn in_flight_bytes(&self) -> u64 {
        self.sender.in_flight()
    }

    /// Returns alpha of DCTCP, in units of 2^-16; 0 with other congestion control.
    #[must_use]
    pub fn alpha(&self) -> u32 {
        self.sender.congestion.alpha()
    }

    /// Returns the smoothed round-trip time, in ps; 0 before the first sample.
    #[must_use]
    pub fn srtt_ps(&self) -> u64 {
        self.sender.rtt.smoothed_ps()
    }

    /// Returns the retransmission timeout that would be set now, in ps.
    #[must_use]
    pub fn rto_ps(&self) -> u64 {
        self.sender.rtt.rto_ps()
    }
}
