//! The network of messages: its events, and the messages that begin and end at the same time.

use super::channel::ChannelStop;
use super::fill::{ConnectedLinks, SharedLinks};
use super::link::{CarriedSpan, MessageLink, MessagePorts};
use super::packets::MessageTransport;
use super::{STEPS_PS, UNIT_BITS};
use crate::part::{MessageEvent, NetContext, Payload};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Outdated stops that are kept before they are removed, beside as many as there are channels.
const OUTDATED_MAX: usize = 1024;

/// A message that has been posted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PostedMessage {
    at: Time,
    channel: u32,
    bytes: u64,
    /// True if its sender waits for room.
    waits: bool,
}

/// Network of messages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MessageNetwork {
    shared: SharedLinks,
    transports: Vec<MessageTransport>,
    posted: Vec<PostedMessage>,
    /// Time of the next stop of each active channel, with its number there.
    stops: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// Time of the next event of the network for itself.
    set: Option<Time>,
    /// Links whose messages have changed.
    #[serde(skip)]
    changed: Vec<u32>,
    #[serde(skip)]
    connected: ConnectedLinks,
}

impl MessageNetwork {
    /// Creates a network in which nothing is being sent.
    pub(super) fn new(shared: SharedLinks, transports: Vec<MessageTransport>) -> Self {
        Self {
            shared,
            transports,
            posted: Vec::new(),
            stops: BinaryHeap::new(),
            set: None,
            changed: Vec::new(),
            connected: ConnectedLinks::default(),
        }
    }

    /// Handles an event: a message that an endpoint has posted, or that messages begin or end.
    pub(in super::super) fn on_event<P: MessagePorts + ?Sized>(
        &mut self,
        event: MessageEvent,
        (channel, bytes): (u32, u64),
        ports: &mut P,
        context: &mut NetContext,
    ) {
        match event {
            MessageEvent::Posted { waits } => self.on_posted(channel, bytes, waits, context),
            MessageEvent::Shares => self.on_shares(ports, context),
            MessageEvent::Arrived | MessageEvent::Acknowledged => {}
        }
    }

    /// Handles a message that was posted 1 ps ago. `channel` is twice the number of its flow, and one more for a
    /// message to the host that the flow is from.
    fn on_posted(&mut self, channel: u32, bytes: u64, waits: bool, context: &mut NetContext) {
        let at = Time::from_ps(context.now().ps() - 1);
        self.posted.push(PostedMessage { at, channel, bytes, waits });
        self.wake_at(at, context);
    }

    /// Handles everything that happens at a time: the end of messages, and the beginning of others.
    fn on_shares<P: MessagePorts + ?Sized>(&mut self, ports: &mut P, context: &mut NetContext) {
        self.set = self.set.filter(|&set| set > context.now());
        let now = Time::from_ps(context.now().ps() - STEPS_PS);
        while let Some(&Reverse((at, channel, stop))) = self.stops.peek().filter(|stop| stop.0 .0 <= now) {
            self.stops.pop();
            if self.shared.channels[channel as usize].stop == stop {
                self.end_stop(channel, at, ports, context);
            }
        }
        let due = self.posted.iter().take_while(|posted| posted.at <= now).count();
        for at in 0..due {
            let PostedMessage { channel, bytes, waits, .. } = self.posted[at];
            self.begin_message(channel, bytes, waits, now, context);
        }
        self.posted.drain(..due);
        self.share(now, ports);
        self.forget_outdated();
        let next = self.stops.peek().map(|stop| stop.0 .0).into_iter().chain(self.posted.first().map(|next| next.at));
        if let Some(next) = next.min() {
            self.wake_at(next, context);
        }
    }

    /// Sets the event at which what happens at `time` is handled, unless one is pending that is due no later.
    fn wake_at(&mut self, time: Time, context: &mut NetContext) {
        let at = time.saturating_add(STEPS_PS);
        if self.set.is_none_or(|set| set > at) {
            self.set = Some(at);
            let delay_ps = at.ps().saturating_sub(context.now().ps()).max(1);
            context.send(context.id, delay_ps, Payload::Whole(MessageEvent::Shares, 0, 0));
        }
    }

    /// Adds a message to its channel. If the channel is idle, the message begins, or waits in the queue of the port.
    fn begin_message(&mut self, channel: u32, bytes: u64, waits: bool, now: Time, context: &mut NetContext) {
        let wire_bytes = self.wire_bytes(channel, bytes);
        let first = self.shared.path(channel)[0].link;
        let (before_ps, own_ps) = self.shared.links[first as usize].queue(wire_bytes, now);
        let own = &mut self.shared.channels[channel as usize];
        if own.post(bytes, waits) {
            let queue_ps = own.params.port_queue_ps;
            own.fits_queue = own.params.hops > 1 && before_ps + own_ps <= queue_ps;
            // Ports take turns between messages that do not fit their queues.
            let wait_ps = before_ps.min(queue_ps);
            own.is_queued = wait_ps > 0;
            match own.is_queued {
                true => self.set_stop_at(channel, now + wait_ps),
                false => self.start(channel, now, context),
            }
        } else if waits && !own.is_queued {
            own.settle(now);
            self.find_stop(channel, now, context);
        }
    }

    /// Starts the first message of a channel that was idle.
    fn start(&mut self, channel: u32, now: Time, context: &mut NetContext) {
        self.start_first(channel, now, context);
        self.shared.join(channel, &mut self.changed);
    }

    /// Starts the first message of a channel.
    fn start_first(&mut self, channel: u32, now: Time, context: &mut NetContext) {
        let wire_bytes = self.wire_bytes(channel, self.shared.channels[channel as usize].first().unwrap_or(0));
        self.shared.channels[channel as usize].begin(wire_bytes, now);
        self.find_stop(channel, now, context);
    }

    /// Returns the bytes on the wire of the first `bytes` bytes of a message.
    fn wire_bytes(&self, channel: u32, bytes: u64) -> u64 {
        let own = &self.shared.channels[channel as usize];
        let first = self.shared.path(channel)[0].link;
        self.transports[own.params.transport as usize].sizes.wire_bytes(bytes, &self.shared.links[first as usize].wire)
    }

    /// Finds the next stop of a channel that has been settled at `now`.
    fn find_stop(&mut self, channel: u32, now: Time, context: &mut NetContext) {
        let Self { shared, transports, .. } = self;
        let first = shared.path(channel)[0].link;
        let own = &mut shared.channels[channel as usize];
        let sizes = &transports[own.params.transport as usize].sizes;
        let wire = &shared.links[first as usize].wire;
        while let Some(mark) = own.find_stop(|bytes| sizes.wire_bytes(bytes, wire)) {
            let delay_ps = own.params.latency_ps + own.params.return_ps;
            acknowledge(own.params.flow, own.params.ends[0], mark, now + delay_ps, context);
        }
        if own.rate > 0 {
            self.set_stop(channel);
        }
    }

    fn set_stop(&mut self, channel: u32) {
        self.set_stop_at(channel, self.shared.channels[channel as usize].stops_at());
    }

    fn set_stop_at(&mut self, channel: u32, at: Time) {
        let own = &mut self.shared.channels[channel as usize];
        own.stop = own.stop.wrapping_add(1);
        self.stops.push(Reverse((at, channel, own.stop)));
    }

    /// Handles a channel that has come to its stop at `at`.
    fn end_stop<P: MessagePorts + ?Sized>(&mut self, channel: u32, at: Time, ports: &mut P, context: &mut NetContext) {
        let own = &mut self.shared.channels[channel as usize];
        own.stop = own.stop.wrapping_add(1);
        if std::mem::take(&mut own.is_queued) {
            return self.start(channel, at, context);
        }
        match own.end_stop(at) {
            Some(ChannelStop::Mark(mark)) => {
                let delay_ps = own.params.latency_ps + own.params.return_ps;
                acknowledge(own.params.flow, own.params.ends[0], mark, at + delay_ps, context);
                self.find_stop(channel, at, context);
            }
            Some(ChannelStop::Message(bytes, sent)) => {
                self.deliver(channel, bytes, sent, at, ports, context);
                if self.shared.channels[channel as usize].is_active() {
                    self.start_first(channel, at, context);
                } else {
                    self.shared.channels[channel as usize].rate = 0;
                    self.shared.leave(channel, &mut self.changed);
                }
            }
            None => {}
        }
    }

    /// Has a message arrive whose last byte has passed the slowest link at `at`, and counts its packets.
    fn deliver<P: MessagePorts + ?Sized>(
        &mut self,
        channel: u32,
        bytes: u64,
        sent: u64,
        at: Time,
        ports: &mut P,
        context: &mut NetContext,
    ) {
        let tail_ps = self.tail_ps(channel, bytes);
        let wire_bytes = self.wire_bytes(channel, bytes);
        let SharedLinks { links, channels, hops, .. } = &mut self.shared;
        let own = &mut channels[channel as usize];
        let transport = &self.transports[own.params.transport as usize];
        let waits_ps = own.window.send(bytes, [own.begun, at], own.params.round_ps, transport);
        let ended = own.end_at(at, waits_ps);
        let arrives = (ended + own.params.latency_ps + tail_ps).max(own.in_order_at);
        own.in_order_at = arrives;
        let flow = own.params.flow;
        let delay_ps = arrives.ps().saturating_sub(context.now().ps()).max(1);
        context.send(own.params.ends[1], delay_ps, Payload::Whole(MessageEvent::Arrived, flow, bytes));
        acknowledge(flow, own.params.ends[0], sent, arrives + own.params.return_ps, context);
        if own.fits_queue {
            let first = &mut links[hops[own.params.first_hop as usize].link as usize];
            record(first.place, first.pass(wire_bytes, own.begun), ports);
        }
        let count = self.transports[own.params.transport as usize].sizes.count(bytes);
        for hop in &hops[own.params.first_hop as usize..(own.params.first_hop + own.params.hops) as usize] {
            let place = links[hop.link as usize].place;
            if let Some(port) = ports.port_mut(place) {
                port.count_message(count.packets, count.ip_bytes);
            }
        }
    }

    /// Returns the time from when a message that is alone has passed the slowest link, as a flow of bytes that begins
    /// there at once, until its last packet has passed all links, without their delays, in ps.
    fn tail_ps(&self, channel: u32, bytes: u64) -> u64 {
        let own = &self.shared.channels[channel as usize];
        let wires = self.shared.path(channel).iter().map(|hop| &self.shared.links[hop.link as usize].wire);
        let train_ps = self.transports[own.params.transport as usize].sizes.train_ps(bytes, wires);
        let units = u128::from(self.wire_bytes(channel, bytes)) << UNIT_BITS;
        let flow_ps = units.div_ceil(u128::from(own.params.slowest.max(1)));
        train_ps.saturating_sub(u64::try_from(flow_ps).unwrap_or(u64::MAX))
    }

    /// Computes the shares of all messages that share links with those that have begun or ended.
    fn share<P: MessagePorts + ?Sized>(&mut self, now: Time, ports: &mut P) {
        let (mut changed, mut connected) = (std::mem::take(&mut self.changed), std::mem::take(&mut self.connected));
        self.shared.begin();
        for link in changed.drain(..) {
            if !self.shared.find(link, &mut connected) {
                continue;
            }
            self.shared.fill(&mut connected);
            for &channel in &connected.channels {
                let own = &mut self.shared.channels[channel as usize];
                if own.share != own.rate {
                    own.settle(now);
                    own.rate = own.share;
                    self.set_stop(channel);
                }
            }
            for &link in &connected.links {
                let total = self.shared.total(link);
                carry(&mut self.shared.links[link as usize], total, now, ports);
            }
        }
        (self.changed, self.connected) = (changed, connected);
    }

    /// Removes outdated stops once they are many.
    fn forget_outdated(&mut self) {
        if self.stops.len() > OUTDATED_MAX + 2 * self.shared.channels.len() {
            let channels = &self.shared.channels;
            self.stops.retain(|&Reverse((_, channel, stop))| channels[channel as usize].stop == stop);
        }
    }

    /// Brings the counters of ports up to `now`.
    pub(in super::super) fn settle<P: MessagePorts + ?Sized>(&self, ports: &mut P, now: Time) {
        for link in &self.shared.links {
            if let Some(port) = ports.port_mut(link.place) {
                port.set_carried(link.carried_bytes(now));
            }
        }
    }
}

impl SharedLinks {
    /// Returns the sum of the rates of the messages on a link, at most its capacity.
    fn total(&self, link: u32) -> u64 {
        let own = &self.links[link as usize];
        let rates = own.passages.iter().map(|passage| self.channels[passage.channel as usize].rate);
        rates.fold(0, u64::saturating_add).min(own.capacity)
    }
}

/// Sets what a link carries from `now` on, and records for its port how busy it was until then.
fn carry<P: MessagePorts + ?Sized>(link: &mut MessageLink, total: u64, now: Time, ports: &mut P) {
    if let Some(span) = link.set_total(total, now) {
        record(link.place, span, ports);
    }
}

/// Records for a port how busy its link was.
fn record<P: MessagePorts + ?Sized>(place: (u32, u16), span: CarriedSpan, ports: &mut P) {
    if let Some(port) = ports.port_mut(place) {
        port.record_busy(span.from, span.to, (span.rate, span.capacity));
    }
}

/// Tells the sender of a flow at `at` that its first `bytes` bytes are acknowledged.
fn acknowledge(flow: u32, sender: ComponentId, bytes: u64, at: Time, context: &mut NetContext) {
    let delay_ps = at.ps().saturating_sub(context.now().ps()).max(1);
    context.send(sender, delay_ps, Payload::Whole(MessageEvent::Acknowledged, flow, bytes));
}
