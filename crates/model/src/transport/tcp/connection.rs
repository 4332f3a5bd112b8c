//! One end of a flow.

use super::receiver::Receiver;
use super::sender::Sender;
use super::{Counters, Segment};
use crate::met::Limit;
use crate::params::{CongestionControl, TcpParams};
use hostnet_kernel::Time;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

/// One end of a TCP flow, both directions of data. Time never runs backwards between calls.
///
/// After every [`Connection::on_segment`], [`Connection::write`], [`Connection::read`] and [`Connection::on_timer`]
/// call [`Connection::next`] until it gives nothing, or until there is no room to send; then look at
/// [`Connection::timer`] anew.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
    counters: Counters,
    capable: bool,
    dctcp: bool,
}

impl Connection {
    /// An end that is connected: the handshake is not modelled, and both ends have the same parameters.
    #[must_use]
    pub fn new(params: &TcpParams) -> Self {
        Self {
            sender: Sender::new(params),
            receiver: Receiver::new(params),
            counters: Counters::default(),
            capable: params.ecn,
            dctcp: matches!(params.control, CongestionControl::Dctcp { .. }),
        }
    }

    /// Has what a segment needs fetched.
    #[inline(always)]
    pub(crate) fn fetch(&self) {
        prefetch_index(std::slice::from_ref(&self.sender), 0);
        prefetch_index(std::slice::from_ref(&self.receiver), 0);
        prefetch_index(std::slice::from_ref(&self.receiver), 1);
        prefetch_index(std::slice::from_ref(&self.counters), 0);
        prefetch_index(std::slice::from_ref(&self.counters), 1);
    }

    /// What is less than a packet goes at once, even while another such packet has not arrived (TCP_NODELAY). Without
    /// it, only one packet that is not full is on its way at a time, as in Linux (Minshall's variant of Nagle's
    /// algorithm).
    pub fn set_no_delay(&mut self) {
        self.sender.no_delay = true;
    }

    /// The application writes `bytes` to the stream.
    ///
    /// # Panics
    /// If that is more than [`Connection::room`].
    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
    }

    /// Bytes that the application may write before the send buffer is full.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.sender.room()
    }

    /// The application waits until the send buffer has room.
    pub(crate) fn wait_for_room(&mut self) {
        self.counters.met.set(Limit::SendBuffer);
    }

    /// Bytes written that have not been acknowledged.
    #[must_use]
    pub fn unacknowledged(&self) -> u64 {
        self.sender.unacknowledged()
    }

    /// Bytes that the application may read.
    #[must_use]
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// The application reads `bytes`.
    ///
    /// # Panics
    /// If that is more than [`Connection::readable`].
    pub fn read(&mut self, _now: Time, bytes: u64) {
        self.receiver.take(bytes);
    }

    /// A segment arrived from the other end. Whatever it says, it does no harm beyond its meaning.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if segment.bytes > 0 {
            self.receiver.on_data(now, segment, &mut self.counters);
        } else {
            self.counters.acks_received += 1;
        }
        self.sender.on_ack(now, segment, &mut self.counters);
    }

    /// The next segment to send now: data that is lost, new data up to the offload size, or an acknowledgement that is
    /// due.
    pub fn next(&mut self, now: Time) -> Option<Segment> {
        let mut ack = Segment { sequence: self.sender.next, sent: now, ..Segment::default() };
        if self.receiver.acknowledge_earlier(&mut ack) {
            self.counters.acks_sent += 1;
            return Some(ack);
        }
        if let Some(mut segment) = self.sender.next(now, &mut self.counters) {
            self.receiver.acknowledge(&mut segment);
            return Some(segment);
        }
        if !self.receiver.owes() {
            return None;
        }
        self.receiver.acknowledge(&mut ack);
        self.counters.acks_sent += 1;
        Some(ack)
    }

    /// When [`Connection::on_timer`] is to be called; none if no timer runs.
    #[must_use]
    pub fn timer(&self) -> Option<Time> {
        let at = self.sender.timer().min(self.receiver.timer());
        (at != Time::MAX).then_some(at)
    }

    /// Lets the timers expire that are due. Nothing happens if it is called early.
    pub fn on_timer(&mut self, now: Time) {
        self.receiver.on_timer(now, &mut self.counters);
        self.sender.on_timer(now, &mut self.counters);
    }

    /// Whether the packets of a segment that [`Connection::next`] gave are ECN-capable: new data (RFC 3168 section
    /// 6.1), or with DCTCP all of them.
    #[must_use]
    pub fn ecn_capable(&self, segment: &Segment) -> bool {
        self.capable && (self.dctcp || (segment.bytes > 0 && !segment.retransmitted))
    }

    /// What was counted. Times for which data was kept back are those that have ended.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What was counted until `now`.
    #[must_use]
    pub fn counters_at(&self, now: Time) -> Counters {
        let mut counters = self.counters;
        self.sender.held.count(now, &mut counters);
        counters
    }

    /// The congestion window, in bytes. While it shrinks in proportion to what is delivered it is what is in flight and
    /// may be sent.
    #[must_use]
    pub fn cwnd_bytes(&self) -> u64 {
        let target = self.sender.congestion.bytes();
        self.sender.reduction.map_or(target, |_| target.max(self.sender.in_flight() + self.sender.allowed()))
    }

    /// Bytes in flight as far as the sender knows: sent, not acknowledged, not taken for lost.
    #[must_use]
    pub fn in_flight_bytes(&self) -> u64 {
        self.sender.in_flight()
    }

    /// Alpha of DCTCP in units of 2^-16; 0 with other congestion control.
    #[must_use]
    pub fn alpha(&self) -> u32 {
        self.sender.congestion.alpha()
    }

    /// Smoothed round-trip time in ps; 0 before the first sample.
    #[must_use]
    pub fn srtt_ps(&self) -> u64 {
        self.sender.rtt.smoothed_ps()
    }

    /// The retransmission timeout that would be set now, in ps.
    #[must_use]
    pub fn rto_ps(&self) -> u64 {
        self.sender.rtt.rto_ps()
    }
}
