//! One end of a RoCE flow.

use super::dcqcn::{NotificationPoint, ReactionPoint};
use super::plan::MessagePlan;
use super::posted::PostedMessages;
use super::requester::Requester;
use super::responder::{control, Responder};
use super::{Roce, RoceCounters, RoceOperation, DATA_HEADER_BYTES};
use crate::params::{DcqcnParams, RoceParams, Traffic};
use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};

/// Received data that must be placed in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlacedData {
    /// Offset in the memory region of the flow, in bytes.
    pub offset: u64,
    /// Length, in bytes.
    pub bytes: u32,
}

/// One end of a reliable connection of RoCE v2. Its initiator writes ([`Traffic::Bulk`]) or reads ([`Traffic::Read`])
/// one region of memory, message by message, or both ends write the messages that ranks post ([`Traffic::Messages`]).
/// Time must not decrease between calls.
///
/// After every [`RoceConnection::on_packet`] and [`RoceConnection::on_timer`], call [`RoceConnection::next`] until it
/// returns nothing or there is no room to send, then query [`RoceConnection::timer`] again. A returned
/// [`RoceOperation::Write`] or [`RoceOperation::ReadResponse`] carries `bytes` from `offset` of this end's memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RoceConnection {
    plan: MessagePlan,
    /// Requester and responder; an end has both if both ends write.
    requester: Option<Requester>,
    responder: Option<Responder>,
    dcqcn: Option<DcqcnParams>,
    reaction: Option<ReactionPoint>,
    notifier: NotificationPoint,
    /// Time at which the next packet with payload may be sent.
    next_at: Time,
    counters: RoceCounters,
}

impl RoceConnection {
    /// Creates an established connection. The `initiator` sends requests, the other end responds. DCQCN starts with
    /// `port_bytes_per_s` and never exceeds it.
    #[must_use]
    pub fn new(params: &RoceParams, traffic: &Traffic, initiator: bool, port_bytes_per_s: u64) -> Self {
        let reads = matches!(traffic, Traffic::Read { .. });
        let both = matches!(traffic, Traffic::Messages(_));
        Self {
            plan: MessagePlan::new(params, traffic),
            requester: (initiator || both).then(|| Requester::new(reads, params.in_flight, params.timeout_ps)),
            responder: (!initiator || both).then(|| Responder::new(reads, params.ack_packets)),
            dcqcn: params.dcqcn,
            reaction: params.dcqcn.map(|dcqcn| ReactionPoint::new(dcqcn, port_bytes_per_s)),
            notifier: NotificationPoint::default(),
            next_at: Time::ZERO,
            counters: RoceCounters::default(),
        }
    }

    /// Returns the next packet to send now: notifications and acknowledgements first, then data as the rate allows.
    pub fn next(&mut self, now: Time) -> Option<Roce> {
        if std::mem::take(&mut self.notifier.notification_due) {
            self.counters.notifications_sent += 1;
            return Some(control(RoceOperation::Congestion, 0));
        }
        if let Some(packet) = self.responder.as_mut().and_then(|own| own.acknowledge(&mut self.counters)) {
            return Some(packet);
        }
        // DCQCN paces data alone: notifications and acknowledgements do not wait.
        if now < self.next_at {
            return None;
        }
        let packet = match (&mut self.requester, &mut self.responder) {
            (Some(requester), _) if requester.ready(&self.plan) => requester.send(now, &self.plan, &mut self.counters),
            (_, Some(responder)) if responder.ready() => responder.send(&self.plan, &mut self.counters),
            _ => return None,
        };
        // A read request has no payload; its data is paced at the responder.
        if packet.operation != RoceOperation::ReadRequest {
            self.pace(now, u64::from(packet.bytes + DATA_HEADER_BYTES));
        }
        Some(packet)
    }

    fn ready(&self) -> bool {
        let asks = self.requester.as_ref().is_some_and(|requester| requester.ready(&self.plan));
        asks || self.responder.as_ref().is_some_and(Responder::ready)
    }

    /// Returns the bytes that a rank may post now: as many messages as may be in flight are kept until they are
    /// complete.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.plan.posted().map_or(0, PostedMessages::room)
    }

    /// Posts `bytes` bytes of a rank, for which there must be room.
    pub fn post(&mut self, now: Time, bytes: u64) {
        if let (Some(posted), Some(_)) = (self.plan.posted_mut(), &self.requester) {
            posted.post(bytes);
        }
        if let Some(requester) = &mut self.requester {
            requester.post(now, &self.plan);
        }
    }

    /// Sets the time of the next data packet after one of `bytes` bytes.
    fn pace(&mut self, now: Time, bytes: u64) {
        if let Some(reaction) = &mut self.reaction {
            // The rate may have risen since the last packet.
            reaction.catch_up(now);
            let span_ps = reaction.span_ps(bytes);
            self.next_at = now.saturating_add(span_ps);
            self.counters.paced_ps += span_ps;
            self.counters.at_line_ps += reaction.at_line_ps(bytes);
            // After the span was computed: the byte counter changes the rate of later packets.
            reaction.on_sent(bytes);
        }
    }

    /// Handles a received packet; `marked` is true if it carries an ECN mark. Returns the data to place in memory, if
    /// any.
    pub fn on_packet(&mut self, now: Time, packet: &Roce, marked: bool) -> Option<PlacedData> {
        let data = matches!(packet.operation, RoceOperation::Write | RoceOperation::ReadResponse);
        // Only data counts for the rate of its sender.
        if data && marked {
            self.counters.packets_marked += 1;
            if let Some(dcqcn) = &self.dcqcn {
                self.notifier.on_mark(now, dcqcn);
            }
        }
        if packet.operation == RoceOperation::Congestion {
            self.counters.notifications_received += 1;
            if let Some(reaction) = &mut self.reaction {
                reaction.on_notification(now);
            }
            return None;
        }
        let placed = self.take(now, packet);
        if let (Some(posted), Some(requester)) = (self.plan.posted_mut(), &self.requester) {
            posted.complete(requester.completed());
        }
        placed.then_some(PlacedData { offset: packet.offset, bytes: packet.bytes })
    }

    /// Handles a packet that is not a notification. Returns true if its data must be placed in memory.
    fn take(&mut self, now: Time, packet: &Roce) -> bool {
        let (plan, counters) = (&self.plan, &mut self.counters);
        match (&mut self.requester, &mut self.responder, packet.operation) {
            (Some(requester), _, RoceOperation::Acknowledge) => {
                // An acknowledgement names the last packet that it covers.
                requester.on_ack(now, plan, packet.sequence.saturating_add(1));
                false
            }
            (Some(requester), _, RoceOperation::OutOfOrder) => {
                requester.on_nak(now, plan, packet.sequence, counters);
                false
            }
            (Some(requester), _, RoceOperation::ReadResponse) => requester.on_data(now, plan, packet, counters),
            (_, Some(responder), RoceOperation::Write) => responder.on_write(packet, counters),
            (_, Some(responder), RoceOperation::ReadRequest) => {
                responder.on_request(plan, packet);
                false
            }
            _ => false,
        }
    }

    /// Returns the time at which to call [`RoceConnection::on_timer`] and [`RoceConnection::next`]: the timeout, or
    /// the time of the next packet that the rate allows. None if neither is pending; a packet that may be sent at once
    /// has no timer.
    #[must_use]
    pub fn timer(&self, now: Time) -> Option<Time> {
        let timeout_at = self.requester.as_ref().map_or(Time::MAX, Requester::timer);
        // A packet that may go at once needs no timer: `next` is called until it returns nothing.
        let send_at = if self.ready() && self.next_at > now { self.next_at } else { Time::MAX };
        let at = timeout_at.min(send_at);
        (at != Time::MAX).then_some(at)
    }

    /// Handles the timeout if it is due. An early call has no effect.
    pub fn on_timer(&mut self, now: Time) {
        if let Some(requester) = &mut self.requester {
            requester.on_timer(now, &mut self.counters);
        }
    }

    /// Returns the latencies of messages, in ps, from the time at which the window admits a message until it is
    /// complete. None at an end that only responds.
    #[must_use]
    pub fn latency(&self) -> Option<&Histogram> {
        self.requester.as_ref().map(|requester| &requester.latency)
    }

    /// Returns the number of completed messages; 0 at an end that only responds.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.requester.as_ref().map_or(0, Requester::completed)
    }

    /// Returns true if all messages so far are complete, as a requester knows; false at an end that only responds.
    #[must_use]
    pub fn done(&self) -> bool {
        self.requester.as_ref().is_some_and(|requester| requester.done(&self.plan))
    }

    /// Returns the completion time of the last message, as the initiator knows. None before, at the other end, and
    /// between ranks, which may post more.
    #[must_use]
    pub fn completed_at(&self) -> Option<Time> {
        self.requester.as_ref().filter(|_| self.plan.posted().is_none())?.done_at
    }

    /// Begins a new measurement window: resets the latencies. Counters continue.
    pub fn reset(&mut self) {
        if let Some(requester) = &mut self.requester {
            requester.latency = Histogram::default();
        }
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &RoceCounters {
        &self.counters
    }

    /// Returns the time up to `now` for which as many messages as may be in flight were sent, in ps; 0 at an end that
    /// only responds.
    #[must_use]
    pub fn window_limited_ps(&self, now: Time) -> u64 {
        self.requester.as_ref().map_or(0, |requester| requester.window_full_ps(now))
    }

    /// Returns the rate of DCQCN as of the last packet or notification, in bytes per second; none without DCQCN.
    #[must_use]
    pub fn rate_bytes_per_s(&self) -> Option<u64> {
        self.reaction.as_ref().map(ReactionPoint::rate)
    }

    /// Returns alpha of DCQCN as of the last notification, in units of 2^-16; none without DCQCN.
    #[must_use]
    pub fn alpha(&self) -> Option<u32> {
        self.reaction.as_ref().map(ReactionPoint::alpha)
    }
}
