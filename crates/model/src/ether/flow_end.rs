//! One end of a flow at an endpoint: its transport, its application and its books.

use super::port_queues::PRIORITIES;
use super::stream::{Memory, Stream, Timer};
use crate::flow::{Application, Datagrams};
use crate::line::{Content, Ecn, Packet, PacketId};
use crate::params::{FlowParams, Traffic, Transport};
use crate::transport::journey::Stage;
use crate::transport::roce::RoceConnection;
use hostnet_kernel::Time;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

/// Bytes of the headers of IP and TCP with timestamps; selective acknowledgements are not counted.
pub const TCP_HEADER_BYTES: u32 = 52;

/// What an end sends and how. Most are streams; behind a pointer each would be one more thing to fetch.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Kind {
    /// TCP.
    Stream(Stream),
    /// RoCE.
    Memory(Box<Memory>),
    /// UDP.
    Datagrams(Box<Datagrams>),
    /// Packets given from outside, those that are left last first.
    Replay(Vec<(u64, u32)>),
    /// Nothing.
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
    /// Of an end that answers requests with workers: the number of their service, and how many they are.
    service: Option<(u32, u32)>,
    kind: Kind,
    timer: Timer,
    /// When the application wants to be woken, and when an event does it.
    wake_at: Option<Time>,
    wake_set: Option<Time>,
    sent_packets: u64,
    sent_bytes: u64,
    received_packets: u64,
    received_bytes: u64,
}

impl FlowEnd {
    /// The end of flow number `flow` at its sender if `initiator`, or at the other host. It sends by `port` of the
    /// host, which sends `port_bytes_per_s`.
    #[must_use]
    pub fn new(flow: u32, params: &FlowParams, initiator: bool, port: u16, port_bytes_per_s: u64) -> Self {
        let (host, peer) = if initiator { (params.from, params.to) } else { (params.to, params.from) };
        let kind = match (&params.transport, &params.traffic) {
            (Transport::Tcp(tcp), _) => Kind::Stream(Stream::new(tcp, params, initiator)),
            (Transport::Roce(roce), _) => {
                Kind::Memory(Box::new(Memory::new(roce, params, initiator, port_bytes_per_s)))
            }
            (Transport::Udp(_), traffic) => {
                Kind::Datagrams(Box::new(Datagrams::new(traffic, initiator, Time::from_ps(params.start_ps.max(1)))))
            }
            (Transport::Raw, Traffic::Replay { packets }) if initiator => {
                Kind::Replay(packets.iter().rev().copied().collect())
            }
            (Transport::Raw, _) => Kind::Sink,
        };
        Self {
            flow,
            host,
            peer,
            port,
            priority: params.priority % PRIORITIES as u8,
            blocked: false,
            start_ps: params.start_ps,
            service: match &params.traffic {
                Traffic::Service(service) if !initiator => Some((service.number, service.workers)),
                _ => None,
            },
            kind,
            timer: Timer::default(),
            wake_at: None,
            wake_set: initiator.then(|| Time::from_ps(params.start_ps.max(1))),
            sent_packets: 0,
            sent_bytes: 0,
            received_packets: 0,
            received_bytes: 0,
        }
    }

    /// Has what a packet needs fetched.
    #[inline(always)]
    pub(super) fn fetch(&self) {
        prefetch_index(std::slice::from_ref(&self.received_packets), 0);
        if let Kind::Stream(stream) = &self.kind {
            stream.connection().fetch();
        }
    }

    /// The host that it is at.
    #[must_use]
    pub fn host(&self) -> u16 {
        self.host
    }

    /// Takes in a packet.
    #[inline]
    pub(super) fn on_packet(&mut self, packet: &mut Packet, now: Time) {
        self.received_packets += 1;
        self.received_bytes += u64::from(packet.ip_bytes);
        let marked = packet.ecn == Ecn::Marked;
        match (&mut self.kind, &mut packet.content) {
            (Kind::Stream(stream), Content::Tcp(segment)) => {
                segment.marked = marked;
                self.wake_at = stream.on_segment(now, segment);
            }
            (Kind::Memory(memory), Content::Roce(roce)) => memory.on_packet(now, roce, marked),
            (Kind::Datagrams(datagrams), Content::Udp(datagram)) => {
                datagram.journey.end(Stage::Wire, now);
                datagrams.receive(now, *datagram);
            }
            _ => {}
        }
    }

    /// A wake-up has come. False if it is not the one that was set.
    pub(super) fn on_wake(&mut self, now: Time) -> bool {
        let meant = self.wake_set.is_some_and(|at| at <= now);
        if meant {
            (self.wake_set, self.wake_at) = (None, None);
            match &mut self.kind {
                Kind::Stream(stream) => self.wake_at = stream.poll(now),
                Kind::Memory(memory) => memory.begin(),
                Kind::Datagrams(_) | Kind::Replay(_) | Kind::Sink => {}
            }
        }
        meant
    }

    /// A timer has come. False if it was set anew since.
    pub(super) fn on_timer(&mut self, generation: u32, now: Time) -> bool {
        if !self.timer.comes(generation) {
            return false;
        }
        match &mut self.kind {
            Kind::Stream(stream) => self.wake_at = stream.on_timer(now),
            Kind::Memory(memory) => memory.on_timer(now),
            Kind::Datagrams(_) | Kind::Replay(_) | Kind::Sink => {}
        }
        true
    }

    /// The timer to be set, if none comes that early, and its generation. A timer that comes too early is set anew
    /// then.
    #[inline]
    pub(super) fn timer_to_set(&mut self, now: Time) -> Option<(Time, u32)> {
        let wanted = match &self.kind {
            Kind::Stream(stream) => stream.connection().timer()?,
            Kind::Memory(memory) => memory.timer(now)?,
            Kind::Datagrams(datagrams) => datagrams.timer()?,
            Kind::Replay(_) | Kind::Sink => return None,
        };
        self.timer.next_to_set(wanted)
    }

    /// The wake-up to be set, if none comes that early.
    #[inline]
    pub(super) fn wake_to_set(&mut self) -> Option<Time> {
        let wanted = self.wake_at?;
        if self.wake_set.is_some_and(|at| at <= wanted) {
            return None;
        }
        self.wake_set = Some(wanted);
        Some(wanted)
    }

    /// The next packet to be sent now.
    #[inline]
    pub(super) fn next(&mut self, now: Time) -> Option<Packet> {
        let (ip_bytes, ecn, content) = match &mut self.kind {
            Kind::Stream(stream) => {
                let (segment, ecn) = stream.next(now)?;
                (TCP_HEADER_BYTES + segment.bytes, ecn, Content::Tcp(segment))
            }
            Kind::Memory(memory) => {
                let roce = memory.next(now)?;
                (roce.ip_bytes(), Ecn::Capable, Content::Roce(roce))
            }
            Kind::Datagrams(datagrams) => {
                let datagram = datagrams.next(now);
                self.wake_at = datagrams.wake_at().filter(|&at| at > now);
                let datagram = datagram?;
                (datagram.ip_bytes(), Ecn::NotCapable, Content::Udp(datagram))
            }
            Kind::Replay(left) => (replay(left, self.start_ps, now, &mut self.wake_at)?, Ecn::NotCapable, Content::Raw),
            Kind::Sink => return None,
        };
        self.sent_packets += 1;
        self.sent_bytes += u64::from(ip_bytes);
        Some(Packet {
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
            content,
            next: PacketId::NONE,
        })
    }

    /// Whether [`FlowEnd::next`] may return a packet; if the next of a capture comes later, that is noted as a wake-up,
    /// as is that of a clock.
    pub(super) fn may_have_more(&mut self, now: Time) -> bool {
        match &self.kind {
            Kind::Stream(_) | Kind::Memory(_) => true,
            Kind::Datagrams(datagrams) => {
                self.wake_at = datagrams.wake_at().filter(|&at| at > now);
                datagrams.may_send(now)
            }
            Kind::Replay(left) => {
                let next = left.last().map(|&(at, _)| Time::from_ps(self.start_ps.saturating_add(at)));
                self.wake_at = next.filter(|&at| at > now).or(self.wake_at);
                next.is_some_and(|at| at <= now)
            }
            Kind::Sink => false,
        }
    }

    /// The service whose workers answer here, and how many they are.
    pub(super) fn service(&self) -> Option<(u32, u32)> {
        self.service
    }

    /// The application of a byte stream, or what carries the messages of ranks over RoCE.
    pub(super) fn application_mut(&mut self) -> Option<&mut Application> {
        match &mut self.kind {
            Kind::Stream(stream) => Some(stream.application_mut()),
            Kind::Memory(memory) => memory.application_mut(),
            Kind::Datagrams(_) | Kind::Replay(_) | Kind::Sink => None,
        }
    }

    /// Tells that application something, and has it do what it can do now.
    pub(super) fn tell(&mut self, now: Time, tell: impl FnOnce(&mut Application)) {
        if let Some(application) = self.application_mut() {
            tell(application);
        }
        match &mut self.kind {
            Kind::Stream(stream) => self.wake_at = stream.poll(now),
            Kind::Memory(memory) => memory.poll(now),
            Kind::Datagrams(_) | Kind::Replay(_) | Kind::Sink => {}
        }
    }

    pub(super) fn set_blocked(&mut self, blocked: bool) {
        self.blocked = blocked;
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// When its application begins; none at the end that waits for the other to do so.
    pub(super) fn begins_at(&self) -> Option<Time> {
        self.wake_set
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn priority(&self) -> u8 {
        self.priority
    }

    /// Begins a new measuring window.
    pub(super) fn reset(&mut self) {
        match &mut self.kind {
            Kind::Stream(stream) => stream.reset(),
            Kind::Memory(memory) => memory.reset(),
            Kind::Datagrams(datagrams) => datagrams.reset(),
            Kind::Replay(_) | Kind::Sink => {}
        }
    }

    /// The application begins nothing new.
    pub(super) fn stop(&mut self) {
        match &mut self.kind {
            Kind::Stream(stream) => stream.stop(),
            Kind::Memory(memory) => memory.stop(),
            Kind::Datagrams(datagrams) => datagrams.stop(),
            Kind::Replay(left) => left.clear(),
            Kind::Sink => {}
        }
    }

    /// The transport and the application of a flow over TCP.
    #[must_use]
    pub fn stream(&self) -> Option<&Stream> {
        if let Kind::Stream(stream) = &self.kind {
            Some(stream)
        } else {
            None
        }
    }

    /// The transport of a flow over RoCE.
    #[must_use]
    pub fn memory(&self) -> Option<&RoceConnection> {
        if let Kind::Memory(memory) = &self.kind {
            Some(memory.connection())
        } else {
            None
        }
    }

    /// The application of a flow over UDP.
    #[must_use]
    pub fn datagrams(&self) -> Option<&Datagrams> {
        if let Kind::Datagrams(datagrams) = &self.kind {
            Some(datagrams)
        } else {
            None
        }
    }

    /// The number of the flow.
    #[must_use]
    pub fn flow(&self) -> u32 {
        self.flow
    }

    /// Packets that the transport sent since the start of the run.
    #[must_use]
    pub fn sent_packets(&self) -> u64 {
        self.sent_packets
    }

    /// Bytes of IP packets that the transport sent since the start of the run.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Packets that came in since the start of the run.
    #[must_use]
    pub fn received_packets(&self) -> u64 {
        self.received_packets
    }

    /// Bytes of IP packets that came in since the start of the run.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes
    }
}

/// The bytes of the next packet of a capture, if its time has come; otherwise notes when it comes.
fn replay(left: &mut Vec<(u64, u32)>, start_ps: u64, now: Time, wake_at: &mut Option<Time>) -> Option<u32> {
    let &(at, ip_bytes) = left.last()?;
    let at = Time::from_ps(start_ps.saturating_add(at));
    if at > now {
        *wake_at = Some(at);
        return None;
    }
    left.pop();
    Some(ip_bytes)
}
