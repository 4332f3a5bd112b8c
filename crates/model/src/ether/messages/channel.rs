//! Channels: the messages that one end of a flow sends to the other, one after the other.

use super::packets::MessageTransport;
use super::window::StartWindow;
use super::UNIT_BITS;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// Facts about a channel that do not change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ChannelParams {
    pub(super) flow: u32,
    /// Endpoints that send and receive.
    pub(super) ends: [ComponentId; 2],
    /// First hop of the path, and the number of hops.
    pub(super) first_hop: u32,
    pub(super) hops: u32,
    /// Index of the transport.
    pub(super) transport: u32,
    /// Sum of the delays of the path, and of the path back, in ps.
    pub(super) latency_ps: u64,
    pub(super) return_ps: u64,
    /// Time from the first bit of a window of data until its first acknowledgement is back, in ps.
    pub(super) round_ps: u64,
    /// Data that may be written and not acknowledged, in bytes.
    pub(super) buffer_bytes: u64,
    /// Largest rate, in units per ps, and the rate of the slowest link.
    pub(super) rate_max: u64,
    pub(super) slowest: u64,
    /// Rate of the first link, in units per ps, and the time that its port takes to send a full queue, in ps.
    pub(super) first_rate: u64,
    pub(super) port_queue_ps: u64,
}

/// Messages from one end of a flow to the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MessageChannel {
    pub(super) params: ChannelParams,
    pub(super) window: StartWindow,
    /// True while the first message waits behind others in the queue of the port.
    pub(super) is_queued: bool,
    /// True if the first message fits the queue of the port, and so leaves it at full rate, whatever is ahead.
    pub(super) fits_queue: bool,
    /// Time at which the first message began.
    pub(super) begun: Time,
    /// Bytes of the messages that wait or are being sent, in order.
    queue: VecDeque<u64>,
    /// Bytes of all messages so far, and of those that have been sent.
    posted: u64,
    sent: u64,
    /// Numbers of bytes at which the sender is told that they are acknowledged, in order.
    marks: VecDeque<u64>,
    /// Units of the first message on the slowest link: all, those left until the next stop, and those after that.
    whole: u128,
    left: u128,
    after: u128,
    /// Current rate, in units per ps, and the time up to which `left` counts.
    pub(super) rate: u64,
    since: Time,
    /// Number of the current stop, to tell it from outdated ones.
    pub(super) stop: u32,
    /// Time at which the sender is done with all messages: later than on the links if it waits for acknowledgements.
    busy_until: Time,
    /// Earliest time at which the next message may arrive: messages arrive in order.
    pub(super) in_order_at: Time,
    /// Number of the last computation of shares that visited the channel, and the rate that it gave; 0 while none.
    pub(super) visit: u32,
    pub(super) share: u64,
}

/// Event at which a channel does not just go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelStop {
    /// So many bytes of all messages have passed, which the sender waits for.
    Mark(u64),
    /// A message of so many bytes has passed; with it so many bytes of all messages have.
    Message(u64, u64),
}

impl MessageChannel {
    pub(super) fn new(params: ChannelParams, transport: &MessageTransport) -> Self {
        Self {
            window: StartWindow::new(transport),
            is_queued: false,
            fits_queue: false,
            params,
            queue: VecDeque::new(),
            posted: 0,
            sent: 0,
            marks: VecDeque::new(),
            whole: 0,
            left: 0,
            after: 0,
            rate: 0,
            since: Time::ZERO,
            stop: 0,
            begun: Time::ZERO,
            busy_until: Time::ZERO,
            in_order_at: Time::ZERO,
            visit: 0,
            share: 0,
        }
    }

    /// Returns the numbers of the hops whose links it shares: not the first one if messages pass that one by one.
    pub(super) fn shared_hops(&self) -> Range<u32> {
        let ChannelParams { first_hop, hops, .. } = self.params;
        first_hop + u32::from(self.fits_queue)..first_hop + hops
    }

    /// Returns its largest rate, in units per ps.
    pub(super) fn rate_max(&self) -> u64 {
        let first = if self.fits_queue { self.params.first_rate } else { u64::MAX };
        self.params.rate_max.min(first)
    }

    /// Returns true if a message is being sent.
    pub(super) fn is_active(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Returns the bytes of the first message.
    pub(super) fn first(&self) -> Option<u64> {
        self.queue.front().copied()
    }

    /// Adds a message. If the sender `waits` for room, it is told when it has some. Returns true if the channel was
    /// idle.
    pub(super) fn post(&mut self, bytes: u64, waits: bool) -> bool {
        self.queue.push_back(bytes);
        self.posted += bytes;
        if waits {
            self.marks.push_back(self.posted.saturating_sub(self.params.buffer_bytes));
        }
        self.queue.len() == 1
    }

    /// Begins to send the first message, whose bytes on the wire are `wire_bytes`.
    pub(super) fn begin(&mut self, wire_bytes: u64, now: Time) {
        self.whole = u128::from(wire_bytes) << UNIT_BITS;
        (self.left, self.after) = (self.whole, 0);
        (self.since, self.begun) = (now, now);
    }

    /// Counts what has been sent by `now`.
    pub(super) fn settle(&mut self, now: Time) {
        let sent = u128::from(self.rate) * u128::from(now.since(self.since));
        self.left = self.left.saturating_sub(sent);
        self.since = now;
    }

    /// Finds the next stop of the first message, after `settle`. `wire_bytes` returns the bytes on the wire of its
    /// first bytes. Returns the mark that has been passed already, if any; it is to be called again then.
    pub(super) fn find_stop(&mut self, wire_bytes: impl Fn(u64) -> u64) -> Option<u64> {
        let all_left = self.left + self.after;
        (self.left, self.after) = (all_left, 0);
        let (mark, bytes) = (*self.marks.front()?, self.queue.front().copied()?);
        let within = mark.saturating_sub(self.sent);
        if within >= bytes {
            return None;
        }
        let units = u128::from(if within == 0 { 0 } else { wire_bytes(within) }) << UNIT_BITS;
        let after = self.whole.saturating_sub(units);
        if after >= all_left {
            return self.marks.pop_front();
        }
        (self.left, self.after) = (all_left - after, after);
        None
    }

    /// Ends the stretch to the current stop. After a message the next one is the first, if there is one.
    pub(super) fn end_stop(&mut self, now: Time) -> Option<ChannelStop> {
        (self.left, self.since) = (0, now);
        if self.after > 0 {
            return self.marks.pop_front().map(ChannelStop::Mark);
        }
        let bytes = self.queue.pop_front()?;
        self.sent += bytes;
        while self.marks.front().is_some_and(|&mark| mark <= self.sent) {
            self.marks.pop_front();
        }
        Some(ChannelStop::Message(bytes, self.sent))
    }

    /// Returns the time at which the sender is done with the message that has passed the links at `at`, if it waited
    /// `waits_ps` for acknowledgements.
    pub(super) fn end_at(&mut self, at: Time, waits_ps: u64) -> Time {
        // What delayed the messages before delays this one, too.
        let behind_ps = self.busy_until.ps().saturating_sub(self.begun.ps());
        self.busy_until = at + behind_ps + waits_ps;
        self.busy_until
    }

    /// Returns the time of the next stop at the current rate.
    pub(super) fn stops_at(&self) -> Time {
        let ps = self.left.div_ceil(u128::from(self.rate.max(1)));
        self.since.saturating_add(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}
