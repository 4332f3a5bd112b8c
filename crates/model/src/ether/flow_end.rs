//! One end of a flow at an endpoint: its transport, its application and its counters.

mod build;
mod counts;
mod message;
mod replay;

use super::message_end::MessageFlowEnd;
use super::stream::{RdmaFlowEnd, TcpFlowEnd, TransportTimer};
use super::wire::TCP_HEADER_BYTES;
use crate::flow::{Application, Datagrams};
use crate::line::{Content, Ecn, Packet, PacketId, Packets};
use crate::transport::roce::RoceConnection;
use crate::transport::stage_times::Stage;
use crate::transport::tcp::Segment;
use hostnet_kernel::Time;
use prefetch_index::prefetch_index;
use replay::replay;
use serde::{Deserialize, Serialize};

/// Transport and application of an end. TCP is not boxed because most ends are TCP and a pointer would cost a cache
/// miss.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, Serialize, Deserialize)]
enum FlowEndKind {
    /// A TCP connection.
    TcpFlowEnd(TcpFlowEnd),
    /// Memory of RoCE.
    RdmaFlowEnd(Box<RdmaFlowEnd>),
    /// Messages that a network carries whole.
    Messages(Box<MessageFlowEnd>),
    /// Datagrams over UDP.
    Datagrams(Box<Datagrams>),
    /// Packets to replay from a capture (offset from the start in ps, IP bytes), in reverse order.
    Replay(Vec<(u64, u32)>),
    /// A receiver of replayed packets, which sends nothing.
    Sink,
}

/// One end of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowEnd {
    flow: u32,
    host: u16,
    peer: u16,
    port: u16,
    priority: u8,
    blocked: bool,
    start_ps: u64,
    /// Number of the service whose workers answer at this end, and their count; none at other ends.
    service: Option<(u32, u32)>,
    kind: FlowEndKind,
    timer: TransportTimer,
    /// Time at which to wake the application, and time of the pending event for it.
    wake_at: Option<Time>,
    wake_set: Option<Time>,
    sent_packets: u64,
    sent_bytes: u64,
    received_packets: u64,
    received_bytes: u64,
}

impl FlowEnd {
    /// Prefetches the data that a packet needs.
    #[inline(always)]
    pub(super) fn fetch(&self) {
        prefetch_index(std::slice::from_ref(&self.received_packets), 0);
        if let FlowEndKind::TcpFlowEnd(stream) = &self.kind {
            stream.connection().fetch();
        }
    }

    /// Returns the host of this end.
    #[must_use]
    pub fn host(&self) -> u16 {
        self.host
    }

    /// Handles a received packet.
    #[inline]
    pub(super) fn on_packet(&mut self, packet: &Packet, now: Time) {
        self.received_packets += 1;
        self.received_bytes += u64::from(packet.ip_bytes);
        let marked = packet.ecn == Ecn::Marked;
        match (&mut self.kind, &packet.content) {
            (FlowEndKind::TcpFlowEnd(stream), Content::Tcp(segment)) => {
                let with_mark;
                let segment = if marked {
                    with_mark = Segment { marked, ..*segment };
                    &with_mark
                } else {
                    segment
                };
                self.wake_at = stream.on_segment(now, segment);
            }
            (FlowEndKind::RdmaFlowEnd(memory), Content::Roce(roce)) => memory.on_packet(now, roce, marked),
            (FlowEndKind::Datagrams(datagrams), Content::Udp(datagram)) => {
                let mut datagram = *datagram;
                datagram.stage_times.end(Stage::Wire, now);
                datagrams.receive(now, datagram);
            }
            _ => {}
        }
    }

    /// Handles a wake-up event. Returns false if the event is out of date.
    pub(super) fn on_wake(&mut self, now: Time) -> bool {
        // Later events of a replaced wake-up find nothing set.
        let meant = self.wake_set.is_some_and(|at| at <= now);
        if meant {
            (self.wake_set, self.wake_at) = (None, None);
            match &mut self.kind {
                FlowEndKind::TcpFlowEnd(stream) => self.wake_at = stream.poll(now),
                FlowEndKind::RdmaFlowEnd(memory) => memory.begin(),
                FlowEndKind::Messages(_) | FlowEndKind::Datagrams(_) | FlowEndKind::Replay(_) | FlowEndKind::Sink => {}
            }
        }
        meant
    }

    /// Handles a timer event. Returns false if the timer has been set again since.
    pub(super) fn on_timer(&mut self, generation: u32, now: Time) -> bool {
        if !self.timer.take_event(generation) {
            return false;
        }
        match &mut self.kind {
            FlowEndKind::TcpFlowEnd(stream) => self.wake_at = stream.on_timer(now),
            FlowEndKind::RdmaFlowEnd(memory) => memory.on_timer(now),
            FlowEndKind::Messages(_) | FlowEndKind::Datagrams(_) | FlowEndKind::Replay(_) | FlowEndKind::Sink => {}
        }
        true
    }

    /// Returns the time and generation of the timer event to schedule, unless one is pending that is due no later. A
    /// timer event that fires too early is scheduled again then.
    #[inline]
    pub(super) fn timer_to_set(&mut self, now: Time) -> Option<(Time, u32)> {
        let wanted = match &self.kind {
            FlowEndKind::TcpFlowEnd(stream) => stream.connection().timer()?,
            FlowEndKind::RdmaFlowEnd(memory) => memory.timer(now)?,
            FlowEndKind::Datagrams(datagrams) => datagrams.timer()?,
            FlowEndKind::Messages(_) | FlowEndKind::Replay(_) | FlowEndKind::Sink => return None,
        };
        self.timer.next_to_set(wanted)
    }

    /// Returns the time of the wake-up event to schedule, unless one is pending that is due no later.
    #[inline]
    pub(super) fn wake_to_set(&mut self) -> Option<Time> {
        let wanted = self.wake_at?;
        if self.wake_set.is_some_and(|at| at <= wanted) {
            return None;
        }
        self.wake_set = Some(wanted);
        Some(wanted)
    }

    /// Puts the next packet to send now into the store.
    #[inline]
    pub(super) fn next(&mut self, now: Time, packets: &mut Packets) -> Option<PacketId> {
        let (ip_bytes, ecn, content) = match &mut self.kind {
            FlowEndKind::TcpFlowEnd(stream) => {
                let mut segment = Segment::default();
                if !stream.next(now, &mut segment) {
                    return None;
                }
                let (ip_bytes, ecn) = (TCP_HEADER_BYTES + segment.bytes, stream.ecn_of(&segment));
                // Speed only: the packet is made in its place.
                return Some(self.insert(ip_bytes, ecn, || Content::Tcp(segment), packets));
            }
            FlowEndKind::RdmaFlowEnd(memory) => {
                let roce = memory.next(now)?;
                (roce.ip_bytes(), Ecn::Capable, Content::Roce(roce))
            }
            FlowEndKind::Datagrams(datagrams) => {
                let datagram = datagrams.next(now);
                self.wake_at = datagrams.wake_at().filter(|&at| at > now);
                let datagram = datagram?;
                (datagram.ip_bytes(), Ecn::NotCapable, Content::Udp(datagram))
            }
            FlowEndKind::Replay(left) => {
                (replay(left, self.start_ps, now, &mut self.wake_at)?, Ecn::NotCapable, Content::Raw)
            }
            FlowEndKind::Messages(_) | FlowEndKind::Sink => return None,
        };
        Some(self.insert(ip_bytes, ecn, || content, packets))
    }

    /// Puts a packet of this end into the store.
    #[inline(always)]
    fn insert(
        &mut self,
        ip_bytes: u32,
        ecn: Ecn,
        content: impl FnOnce() -> Content,
        packets: &mut Packets,
    ) -> PacketId {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(ip_bytes);
        packets.insert_with(|| Packet {
            flow: self.flow,
            from: self.host,
            to: self.peer,
            ip_bytes,
            ecn,
            priority: self.priority,
            corrupt: false,
            copy: false,
            queue: 0,
            order: 0,
            line: 0,
            content: content(),
            next: PacketId::NONE,
        })
    }

    /// Returns true if [`FlowEnd::next`] surely has no other packet now, as is usual where data is received.
    #[inline]
    pub(super) fn is_drained(&self) -> bool {
        matches!(&self.kind, FlowEndKind::TcpFlowEnd(stream) if stream.connection().is_drained())
    }

    /// Returns true if [`FlowEnd::next`] surely has no packet now, because of the congestion window. That is usual
    /// after a packet has been sent.
    #[inline]
    pub(super) fn is_held_by_congestion(&mut self, now: Time) -> bool {
        let FlowEndKind::TcpFlowEnd(stream) = &mut self.kind else { return false };
        stream.is_held_by_congestion(now)
    }

    /// Returns true if [`FlowEnd::next`] may return a packet. If the next packet of a capture or of a clock is due
    /// later, sets the wake-up to that time.
    pub(super) fn may_have_more(&mut self, now: Time) -> bool {
        match &self.kind {
            FlowEndKind::TcpFlowEnd(_) | FlowEndKind::RdmaFlowEnd(_) => true,
            FlowEndKind::Datagrams(datagrams) => {
                self.wake_at = datagrams.wake_at().filter(|&at| at > now);
                datagrams.may_send(now)
            }
            FlowEndKind::Replay(left) => {
                let next = left.last().map(|&(at, _)| Time::from_ps(self.start_ps.saturating_add(at)));
                self.wake_at = next.filter(|&at| at > now).or(self.wake_at);
                next.is_some_and(|at| at <= now)
            }
            FlowEndKind::Messages(_) | FlowEndKind::Sink => false,
        }
    }

    /// Returns the number of the service whose workers answer at this end, and their count.
    pub(super) fn service(&self) -> Option<(u32, u32)> {
        self.service
    }

    /// Returns the application of a TCP connection, or the one that carries the messages of ranks over RoCE.
    pub(super) fn application_mut(&mut self) -> Option<&mut Application> {
        match &mut self.kind {
            FlowEndKind::TcpFlowEnd(stream) => Some(stream.application_mut()),
            FlowEndKind::RdmaFlowEnd(memory) => memory.application_mut(),
            FlowEndKind::Messages(end) => Some(end.application_mut()),
            FlowEndKind::Datagrams(_) | FlowEndKind::Replay(_) | FlowEndKind::Sink => None,
        }
    }

    /// Applies a change to the application, then has the application do everything it can do now.
    pub(super) fn update_application(&mut self, now: Time, update_application: impl FnOnce(&mut Application)) {
        if let Some(application) = self.application_mut() {
            update_application(application);
        }
        match &mut self.kind {
            FlowEndKind::TcpFlowEnd(stream) => self.wake_at = stream.poll(now),
            FlowEndKind::RdmaFlowEnd(memory) => memory.poll(now),
            FlowEndKind::Messages(end) => end.poll(0, now),
            FlowEndKind::Datagrams(_) | FlowEndKind::Replay(_) | FlowEndKind::Sink => {}
        }
    }

    pub(super) fn set_blocked(&mut self, blocked: bool) {
        self.blocked = blocked;
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Returns the start of the application; none at the end that only answers.
    pub(super) fn begins_at(&self) -> Option<Time> {
        self.wake_set
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn priority(&self) -> u8 {
        self.priority
    }

    /// Begins a new measurement window.
    pub(super) fn reset(&mut self) {
        match &mut self.kind {
            FlowEndKind::TcpFlowEnd(stream) => stream.reset(),
            FlowEndKind::RdmaFlowEnd(memory) => memory.reset(),
            FlowEndKind::Datagrams(datagrams) => datagrams.reset(),
            FlowEndKind::Messages(_) | FlowEndKind::Replay(_) | FlowEndKind::Sink => {}
        }
    }

    /// Stops the application: it begins nothing new.
    pub(super) fn stop(&mut self) {
        match &mut self.kind {
            FlowEndKind::TcpFlowEnd(stream) => stream.stop(),
            FlowEndKind::RdmaFlowEnd(memory) => memory.stop(),
            FlowEndKind::Datagrams(datagrams) => datagrams.stop(),
            FlowEndKind::Replay(left) => left.clear(),
            FlowEndKind::Messages(_) | FlowEndKind::Sink => {}
        }
    }

    /// Returns the connection and the application of a flow over TCP.
    #[must_use]
    pub fn stream(&self) -> Option<&TcpFlowEnd> {
        if let FlowEndKind::TcpFlowEnd(stream) = &self.kind {
            Some(stream)
        } else {
            None
        }
    }

    /// Returns the transport of a flow over RoCE.
    #[must_use]
    pub fn memory(&self) -> Option<&RoceConnection> {
        if let FlowEndKind::RdmaFlowEnd(memory) = &self.kind {
            Some(memory.connection())
        } else {
            None
        }
    }

    /// Returns the application of a flow over UDP.
    #[must_use]
    pub fn datagrams(&self) -> Option<&Datagrams> {
        if let FlowEndKind::Datagrams(datagrams) = &self.kind {
            Some(datagrams)
        } else {
            None
        }
    }

    /// Returns the number of the flow.
    #[must_use]
    pub fn flow(&self) -> u32 {
        self.flow
    }
}
