//! Copy engines that move messages between memory and rings (MCN-DMA): one on a DIMM, and one per channel of a host.
//!
//! An engine moves one message at a time, with a limited number of lines in flight. To send, it reads each line as a
//! device reads memory, and stores it to the ring. Once the buffer device has all lines, the engine stores the
//! pointer. To receive, it loads each line from the ring and writes it to memory as a device does. Once all lines are
//! in memory, it notifies the driver.

use super::tags::RingTag;
use super::{create_write, Mcn, NEXT_PS};
use crate::line::{PacketId, Pages, Request, RequestId, RequestKind};
use crate::params::ring_lines;
use crate::params::McnInterface;
use crate::part::{Context, Payload, RingEvent};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Configuration of the copy engines of a machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CopyEngineConfig {
    /// Virtual address of the memory for received packets.
    pub base: u64,
    /// Bytes of that memory, at least those of the largest packet.
    pub bytes: u64,
    /// Translation of virtual memory.
    pub pages: Pages,
    /// Traffic class of the lines of a flow, by flow.
    pub classes: Vec<u8>,
}

/// Message that an engine moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct MessageTransfer {
    id: PacketId,
    port: u16,
    /// True if the message goes to the other machine.
    out: bool,
    /// First line in the ring.
    at: u32,
    /// First line in virtual memory.
    memory: u64,
    /// Lines of the message.
    lines: u32,
    /// Lines that have been requested.
    asked: u32,
    /// Lines that have reached their destination.
    done: u32,
}

/// Copy engine.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct CopyEngine {
    waiting: VecDeque<MessageTransfer>,
    transfer: Option<MessageTransfer>,
}

/// Copy engines of a machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CopyEngines {
    /// Engines, by channel.
    all: Vec<CopyEngine>,
    engine_config: CopyEngineConfig,
    /// Offset of the next packet in the memory for received packets, in bytes.
    next: u64,
    /// Packets in memory that the driver has not handled, each with its interface.
    ready: VecDeque<(PacketId, u16)>,
    /// Number of packets in `ready` that the driver saw at its last look.
    seen: u32,
}

impl CopyEngines {
    /// Creates the engines of a machine with these interfaces.
    pub(super) fn new(interfaces: &[McnInterface], engine_config: CopyEngineConfig) -> Self {
        // Channels are numbered from 0, so the highest gives their number.
        let count = interfaces.iter().map(|interface| interface.channel + 1).max().unwrap_or(1);
        let all = vec![CopyEngine::default(); count as usize];
        Self { all, engine_config, next: 0, ready: VecDeque::new(), seen: 0 }
    }

    /// Allocates virtual memory for a packet of `lines` lines. Returns its first line.
    fn place(&mut self, lines: u32) -> u64 {
        let bytes = u64::from(lines) * 64;
        // A packet does not wrap around: its lines are consecutive.
        if self.next + bytes > self.engine_config.bytes {
            self.next = 0;
        }
        let at = self.next;
        self.next += bytes;
        (self.engine_config.base + at) / 64
    }

    /// Records that the driver looks at the packets in memory.
    pub(super) fn look(&mut self) {
        self.seen = self.ready.len() as u32;
    }

    /// Returns the oldest packet that the driver saw and has not handed on.
    pub(super) fn next_seen(&self) -> Option<PacketId> {
        self.ready.front().filter(|_| self.seen > 0).map(|&(id, _)| id)
    }

    /// Removes and returns the oldest packet that the driver saw, with its interface.
    pub(super) fn take(&mut self) -> Option<(PacketId, u16)> {
        self.seen = self.seen.checked_sub(1)?;
        self.ready.pop_front()
    }

    /// Returns true if packets wait for the driver.
    pub(super) fn has_message(&self) -> bool {
        !self.ready.is_empty()
    }
}

impl Mcn {
    /// Queues a message at the engine of its channel. `at` is the first line in the ring.
    pub(super) fn transfer(&mut self, id: PacketId, port: u16, at: u32, out: bool, context: &mut Context) {
        let packet = context.packets.get(id);
        let (lines, line) = (ring_lines(packet.ip_bytes), packet.line);
        let channel = self.links[usize::from(port)].interface.channel as usize;
        let Some(engines) = &mut self.engines else { return };
        let memory = if out { line } else { engines.place(lines) };
        engines.all[channel].waiting.push_back(MessageTransfer { id, port, out, at, memory, lines, asked: 0, done: 0 });
        self.request_lines(channel, context);
    }

    /// Requests as many lines of the engine's current message as may be in flight.
    fn request_lines(&mut self, channel: usize, context: &mut Context) {
        let most = self.params.dma_lines.unwrap_or(1);
        let Some(engines) = &mut self.engines else { return };
        let engine = &mut engines.all[channel];
        if engine.transfer.is_none() {
            engine.transfer = engine.waiting.pop_front();
        }
        let Some(transfer) = &mut engine.transfer else { return };
        let class = engines.engine_config.classes[context.packets.get(transfer.id).flow as usize];
        // A line in flight per entry of the engine, counted until it has reached its destination.
        while transfer.asked < transfer.lines.min(transfer.done + most) {
            let tag = RingTag::Read { slot: transfer.asked as u16 }.tag(class);
            let line = if transfer.out {
                engines.engine_config.pages.physical((transfer.memory + u64::from(transfer.asked)) * 64) / 64
            } else {
                let ring = self.params.ring_bytes[1] / 64;
                self.windows[usize::from(transfer.port)].ring(false, (transfer.at + transfer.asked) % ring)
            };
            // Memory is read as a device reads it, with its caches; a ring as a core does, past them.
            let kind = if transfer.out { RequestKind::IoRead } else { RequestKind::CoreFetch };
            transfer.asked += 1;
            let id = ask(kind, line, class, tag, channel, context);
            context.send(self.cha, self.to_cha_ps, Payload::Arrive(id));
        }
    }

    /// Stores a line that an engine has read to its destination.
    pub(super) fn on_line(&mut self, id: RequestId, context: &mut Context) {
        let Request { tag, class, engine, .. } = *context.requests.get(id);
        context.requests.remove(id);
        let RingTag::Read { slot } = RingTag::of(tag) else { unreachable!("an engine reads lines of messages") };
        let channel = usize::from(engine);
        let Some(engines) = &self.engines else { return };
        let transfer = engines.all[channel].transfer.expect("who asked has a message");
        let id = if transfer.out {
            let ring = self.params.ring_bytes[0] / 64;
            let line = self.windows[usize::from(transfer.port)].ring(true, (transfer.at + u32::from(slot)) % ring);
            create_write(line, class, RingTag::Data { port: transfer.port }, context)
        } else {
            let line = engines.engine_config.pages.physical((transfer.memory + u64::from(slot)) * 64) / 64;
            ask(RequestKind::IoWrite, line, class, tag, channel, context)
        };
        context.send(self.cha, self.to_cha_ps, Payload::Arrive(id));
    }

    /// Counts a line of a received message that memory has accepted.
    pub(super) fn on_line_written(&mut self, id: RequestId, context: &mut Context) {
        let channel = usize::from(context.requests.get(id).engine);
        context.requests.remove(id);
        self.line_done(channel, context);
    }

    /// Counts a line that has reached its destination.
    pub(super) fn line_done(&mut self, channel: usize, context: &mut Context) {
        let Some(engines) = &mut self.engines else { return };
        let engine = &mut engines.all[channel];
        let Some(transfer) = &mut engine.transfer else { return };
        transfer.done += 1;
        if transfer.done == transfer.lines {
            let transfer = *transfer;
            engine.transfer = None;
            self.end_transfer(transfer, context);
        }
        self.request_lines(channel, context);
    }

    /// Ends the move of a message: stores the pointer of a sent message, or notifies the driver of a received one.
    fn end_transfer(&mut self, transfer: MessageTransfer, context: &mut Context) {
        let MessageTransfer { id, port, lines, memory, .. } = transfer;
        if transfer.out {
            // The device has all lines, so this pointer needs no fence (docs/models/mcn.md, Engines).
            let line = self.windows[usize::from(port)].own_end();
            let id = create_write(line, self.class, RingTag::End { port }, context);
            return context.send(self.cha, self.to_cha_ps, Payload::Arrive(id));
        }
        context.packets.get_mut(id).line = memory;
        let link = &mut self.links[usize::from(port)];
        link.consumed += lines;
        link.counts.read += 1;
        self.report_consumed(port, context);
        let Some(engines) = &mut self.engines else { return };
        engines.ready.push_back((id, port));
        // With engines there is one signal for all channels (`McnParams::signal`).
        self.interrupt(0, context);
    }

    /// Hands the next packet in memory to the core. If there is none, or no room for it, the driver stops.
    pub(super) fn hand_next(&mut self, context: &mut Context) {
        let next = self.engines.as_ref().and_then(CopyEngines::next_seen);
        let may = next.is_some_and(|id| self.has_room(context.packets.get(id)));
        let Some(engines) = self.engines.as_mut().filter(|_| may) else { return self.rest(context) };
        match engines.take() {
            // The packet is in memory, so its place in the ring does not matter.
            Some((id, port)) => context.send(self.core, NEXT_PS, Payload::Ring(RingEvent::Read { id, port, line: 0 })),
            None => self.rest(context),
        }
    }
}

/// Creates a request of an engine for a line.
fn ask(kind: RequestKind, line: u64, class: u8, tag: u32, channel: usize, context: &mut Context) -> RequestId {
    let request = Request { engine: channel as u8, ..context.request(kind, line, class, tag) };
    context.requests.insert(request)
}
