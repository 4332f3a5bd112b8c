//! The receiving end of a link.

use super::{LinkParams, Pool, Port, Socket};
use crate::context::{Context, Payload};
use crate::pages::Pages;
use crate::params::PcieParams;
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Writes what arrives to the memory of its server, chunk by chunk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receiver {
    port: Port,
    latency_ps: u64,
    posted: Pool,
    /// Lines of each chunk that waits for posted credits; the sender's window bounds them.
    waiting: VecDeque<u8>,
    received_lines: u64,
    written_lines: u64,
}

impl Receiver {
    /// The receiving end of `link`.
    #[must_use]
    pub fn new(socket: &Socket, link: &LinkParams, pcie: PcieParams, pages: Pages) -> Self {
        Self {
            latency_ps: link.latency_ps,
            posted: Pool::new(pcie.posted_lines, socket.class),
            waiting: VecDeque::with_capacity(link.window_lines as usize),
            port: Port::new(socket, link, pcie, pages),
            received_lines: 0,
            written_lines: 0,
        }
    }

    /// Lines that have arrived over the link so far.
    #[must_use]
    pub fn received_lines(&self) -> u64 {
        self.received_lines
    }

    /// Of those, lines that the IIO has taken.
    #[must_use]
    pub fn written_lines(&self) -> u64 {
        self.written_lines
    }

    /// PCIe posted credits of its way to the IIO.
    #[must_use]
    pub fn posted(&self) -> &Domain {
        &self.posted.domain
    }

    /// The domains, to settle or to reset.
    pub fn domains_mut(&mut self) -> [&mut Domain; 1] {
        [&mut self.posted.domain]
    }

    /// Handles an event.
    pub fn on_event(&mut self, payload: Payload, context: &mut Context) {
        match payload {
            Payload::Chunk { lines } => {
                self.received_lines += u64::from(lines);
                self.waiting.push_back(lines);
                self.kick(context);
            }
            Payload::Send => {
                self.port.send_pending = false;
                self.write(context);
            }
            Payload::PostedCredit { lines } => {
                self.posted.give_back(context.now(), u32::from(lines));
                self.written_lines += u64::from(lines);
                context.send(self.port.peer, self.latency_ps, Payload::LinkCredit { lines });
                self.kick(context);
            }
            other => unreachable!("the receiving end of a link was sent {other:?}"),
        }
    }

    /// Lines of the next TLP, if there is something to write and the credits allow it. A chunk may be longer than a TLP
    /// of this server, or reach past the end of the buffer: then it takes several.
    fn next_write(&self) -> Option<u32> {
        let chunk = u32::from(*self.waiting.front()?);
        let lines = chunk.min(self.port.lines_of(self.port.pcie.mps_bytes));
        (self.posted.domain.free() >= lines).then_some(lines)
    }

    fn kick(&mut self, context: &mut Context) {
        if self.next_write().is_some() {
            self.port.kick(context);
        }
    }

    fn write(&mut self, context: &mut Context) {
        let Some(lines) = self.next_write() else { return };
        let now = context.now();
        self.posted.take(now, lines);
        if let Some(left) = self.waiting.front_mut() {
            *left -= lines as u8;
            if *left == 0 {
                self.waiting.pop_front();
            }
        }
        let line = self.port.advance(lines);
        let delay = self.port.up.send(now, u64::from(lines) * 64 + u64::from(self.port.pcie.write_overhead_bytes));
        let tlp = Payload::WriteTlp { line, lines: lines as u8, class: self.port.class, link: self.port.link };
        context.send(context.iio(), delay, tlp);
        self.kick(context);
    }
}
