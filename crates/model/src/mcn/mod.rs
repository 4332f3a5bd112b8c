//! Memory channel network: the buffer devices between a machine and others, and the state of its driver.
//!
//! A host and a DIMM with a processor share the SRAM of the DIMM's buffer device. Each has one ring to write and one
//! to read. The host reaches the SRAM over its memory channel, and a write takes effect when the channel issues the
//! command. The DIMM reaches the SRAM over its on-chip interconnect. Cores or engines move the lines. This component
//! tracks which lines of which message have arrived, who may write next, and what is visible at the other side.

mod counters;
mod driver;
mod engine;
mod forward;
mod link;
mod ring;
mod sram;
mod tags;
mod window;

pub use counters::McnCounts;
pub use engine::CopyEngineConfig;
pub use forward::{route_packet, PacketRoute};
pub use ring::Ring;
pub(crate) use tags::RingTag;
pub use window::SramWindow;

use crate::line::{Content, PacketId, RequestId, RequestKind};
use crate::params::{McnParams, McnWake};
use crate::part::{Context, Part, PartKind, Payload, RingEvent, StartContext};
use crate::transport::stage_times::Stage;
use engine::CopyEngines;
use hostnet_kernel::ComponentId;
use link::RingPair;
use serde::{Deserialize, Serialize};
use sram::Sram;

/// Latency between the component and a core of its machine, in ps. Both stand for the driver.
pub(crate) const NEXT_PS: u64 = 1;

/// Components that the interfaces send to.
#[derive(Clone, Debug)]
pub struct McnWiring {
    /// CHA of the machine.
    pub cha: ComponentId,
    /// Latency of a line from a core to the CHA, in ps.
    pub to_cha_ps: u64,
    /// Core of the driver.
    pub core: ComponentId,
    /// Components at the other sides, by interface.
    pub peers: Vec<ComponentId>,
    /// Lines of each buffer device, by interface.
    pub windows: Vec<SramWindow>,
    /// Traffic class of the driver's own requests.
    pub class: u8,
    /// Configuration of the copy engines, if they move the lines.
    pub engine_config: Option<CopyEngineConfig>,
}

/// Interfaces of a machine to a memory channel network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mcn {
    params: McnParams,
    cha: ComponentId,
    to_cha_ps: u64,
    core: ComponentId,
    windows: Vec<SramWindow>,
    class: u8,
    links: Vec<RingPair>,
    sram: Option<Sram>,
    engines: Option<CopyEngines>,
    /// True from the time the driver is woken until it has read all messages that it saw.
    polling: bool,
    /// Signal that woke the driver.
    signal: u16,
    /// True if a signal has arrived since, by signal.
    again: Vec<bool>,
    /// Interface whose messages are being read.
    turn: usize,
    polls: u64,
}

impl Mcn {
    /// Creates the interfaces of a machine as `wiring` describes.
    ///
    /// # Panics
    /// Panics if the numbers of interfaces, peers and windows differ.
    #[must_use]
    pub fn new(params: McnParams, wiring: McnWiring) -> Self {
        assert_eq!(params.interfaces.len(), wiring.peers.len(), "every interface leads somewhere");
        assert_eq!(params.interfaces.len(), wiring.windows.len(), "every interface has a window");
        let links = params.interfaces.iter().zip(&wiring.peers);
        let links = links.map(|(interface, peer)| RingPair::new(*interface, *peer, params.ring_bytes)).collect();
        let sram = params.on_dimm.then(|| Sram::new(params.sram_bytes_per_s, params.sram_ps));
        let McnWiring { cha, to_cha_ps, core, windows, class, engine_config, .. } = wiring;
        let engines = engine_config.map(|engine_config| CopyEngines::new(&params.interfaces, engine_config));
        let again = vec![false; usize::from(params.signals())];
        Self {
            params,
            cha,
            to_cha_ps,
            core,
            windows,
            class,
            links,
            sram,
            engines,
            polling: false,
            signal: 0,
            again,
            turn: 0,
            polls: 0,
        }
    }

    /// Returns the counters of each interface since the start of the run, with the host at the other side.
    pub fn counts(&self) -> impl Iterator<Item = (u16, &McnCounts)> {
        self.links.iter().map(|link| (link.interface.host, &link.counts))
    }

    /// Returns the number of packets that wait in the driver for each ring or are being written to it.
    pub fn waiting(&self) -> impl Iterator<Item = u64> + '_ {
        self.links.iter().map(RingPair::waiting)
    }

    /// Returns the lines of each buffer device.
    #[must_use]
    pub fn windows(&self) -> &[SramWindow] {
        &self.windows
    }

    /// Returns the lines in use of the ring to each machine, as this side knows.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        self.links.iter().map(|link| link.out.used())
    }

    /// Returns how often the driver has been woken.
    #[must_use]
    pub fn polls(&self) -> u64 {
        self.polls
    }

    /// Queues a packet that a core hands to the driver, or drops it.
    fn enqueue(&mut self, id: PacketId, writer: ComponentId, context: &mut Context) {
        let packet = *context.packets.get(id);
        let PacketRoute::Interface(port) = self.route_packet(packet.from, packet.to) else {
            unreachable!("who asks for a ring has one")
        };
        let (relayed, most) = (self.is_relayed(&packet), self.params.queue_packets);
        if self.links[usize::from(port)].offer(id, writer, most, relayed, context.packets) {
            return self.write_next(port, context);
        }
        context.packets.remove(id);
        // A dropped packet frees its data, too: TCP finds the loss.
        Self::notify_sent(&packet, writer, context);
    }

    /// Returns the destination of a packet. At a host, packets of other machines come from an interface or the NIC, and
    /// never return to where they came from.
    fn route_packet(&self, from: u16, to: u16) -> PacketRoute {
        route_packet(from, to, self.params.on_dimm, &self.params.interfaces)
    }

    /// Notifies the sender that a packet has left the driver, so that its data may be released.
    fn notify_sent(packet: &crate::line::Packet, writer: ComponentId, context: &mut Context) {
        let bytes = match packet.content {
            Content::Tcp(segment) => segment.bytes,
            Content::Udp(datagram) => datagram.bytes,
            Content::Roce(_) | Content::Raw | Content::Pool(_) => return,
        };
        context.send(writer, NEXT_PS, Payload::Ring(RingEvent::Sent { flow: packet.flow, bytes }));
    }

    /// Starts writing the next message of a ring, if there is room.
    fn write_next(&mut self, port: u16, context: &mut Context) {
        if let Some(writing) = self.links[usize::from(port)].begin(context.packets) {
            if self.engines.is_some() {
                return self.transfer(writing.id, port, writing.at, true, context);
            }
            let payload = Payload::Ring(RingEvent::Write { id: writing.id, port, line: writing.at as u16 });
            context.send(writing.writer, NEXT_PS, payload);
        }
    }

    /// Handles a write by a core or the driver that has reached the buffer device.
    fn on_written(&mut self, id: RequestId, context: &mut Context) {
        let tag = RingTag::of(context.requests.get(id).tag);
        let (RingTag::Data { port, .. } | RingTag::End { port, .. } | RingTag::Start { port }) = tag else {
            unreachable!("what is written to a device is a line of a ring")
        };
        end_half_write(id, context);
        let link = &mut self.links[usize::from(port)];
        match tag {
            RingTag::Data { .. } => {
                let all = link.wrote();
                let channel = link.interface.channel as usize;
                // An engine counts lines itself; a core learns of the last one only, at its fence.
                if self.engines.is_some() {
                    self.line_done(channel, context);
                } else if let Some(writing) = link.writing.filter(|_| all && self.params.fence) {
                    context.send(writing.writer, self.params.fence_ps, Payload::Ring(RingEvent::Fenced { port }));
                }
            }
            RingTag::End { .. } => self.publish_message(port, context),
            RingTag::Start { .. } => {
                if let Some(lines) = link.reporting.take() {
                    let freed = Payload::Ring(RingEvent::Freed { port: link.interface.port, lines: lines as u16 });
                    context.send(link.peer, self.params.cross_ps, freed);
                }
                // Lines read since the report began.
                self.report_consumed(port, context);
            }
            RingTag::Read { .. } => {}
        }
    }

    /// Makes the written message visible to the other machine, and starts the next.
    fn publish_message(&mut self, port: u16, context: &mut Context) {
        let link = &mut self.links[usize::from(port)];
        let Some(writing) = link.end(context.packets) else { return };
        let (peer, there) = (link.peer, link.interface.port);
        let packet = context.packets.get_mut(writing.id);
        packet.end(Stage::TxDriver, context.scheduler.now());
        let packet = *packet;
        Self::notify_sent(&packet, writing.writer, context);
        // This delay crosses partitions, so it bounds their window (docs/models/mcn.md, Nodes).
        context.send(peer, self.params.cross_ps, Payload::Packet { id: writing.id, port: there });
        self.write_next(port, context);
    }

    /// Reports to the other side up to where this side has read. While one report is in flight, further lines
    /// accumulate.
    fn report_consumed(&mut self, port: u16, context: &mut Context) {
        let link = &mut self.links[usize::from(port)];
        if link.consumed == 0 || link.reporting.is_some() {
            return;
        }
        // One pointer in flight: a later one could arrive first and go back.
        link.reporting = Some(std::mem::take(&mut link.consumed));
        let line = self.windows[usize::from(port)].own_start();
        let id = create_write(line, self.class, RingTag::Start { port }, context);
        context.send(self.cha, self.to_cha_ps, Payload::Arrive(id));
    }
}

/// Creates a write of a whole line that bypasses the caches.
pub(crate) fn create_write(line: u64, class: u8, tag: RingTag, context: &mut Context) -> RequestId {
    let request = context.request(RequestKind::CorePost, line, class, tag.tag(class));
    context.requests.insert(request)
}

/// Ends one half of a write that bypasses the caches. The writer learns that the write was admitted, and the device
/// that it has the line. The second of the two removes the request.
pub(crate) fn end_half_write(id: RequestId, context: &mut Context) {
    let request = context.requests.get_mut(id);
    // A write of this kind does not use `for_store`, so the flag marks that the first half has ended.
    if std::mem::replace(&mut request.for_store, true) {
        context.requests.remove(id);
    }
}

impl Part for Mcn {
    fn kind(&self) -> PartKind {
        PartKind::Mcn
    }

    fn start(&mut self, start: &mut StartContext<'_>) {
        if let McnWake::Timer(ps) = self.params.wake {
            start.wake(ps, Payload::Wake);
        }
    }

    fn on_event(&mut self, payload: Payload, source: ComponentId, context: &mut Context) {
        match payload {
            Payload::Transmit(id) => self.enqueue(id, source, context),
            Payload::Packet { id, port } => self.on_message(id, port, context),
            Payload::Issued(id) => self.on_written(id, context),
            Payload::Admitted(id) => end_half_write(id, context),
            Payload::Ring(RingEvent::Freed { port, lines }) => {
                // Lines are free for the writer only now that the other side has reported them.
                self.links[usize::from(port)].out.pop(lines.into());
                self.write_next(port, context);
                // The freed ring may have been what a relayed packet waited for.
                if let Some(signal) = self.find_resumable_signal(context).filter(|_| !self.polling) {
                    self.wake_driver(signal, NEXT_PS, context);
                }
            }
            Payload::Ring(RingEvent::Looked(port)) => self.links[usize::from(port)].look(),
            Payload::Ring(RingEvent::Polled) => self.on_polled(context),
            Payload::Ring(RingEvent::Done { port, lines }) => self.on_read(port, lines.into(), context),
            Payload::Ring(RingEvent::Waited { port, ps }) => self.links[usize::from(port)].fenced(ps),
            Payload::Wake => self.on_timer(context),
            Payload::Data(id) => self.on_line(id, context),
            Payload::Acknowledged(id) => self.on_line_written(id, context),
            Payload::Arrive(id) => {
                if let Some(sram) = &mut self.sram {
                    sram.serve(id, self.cha, context);
                }
            }
            other => unreachable!("an interface was sent {other:?}"),
        }
    }
}
