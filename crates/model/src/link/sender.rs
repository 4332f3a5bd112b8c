//! The sending end of a link.

use super::{LinkParams, Pool, Port, Socket};
use crate::context::{Context, Payload};
use crate::pages::Pages;
use crate::params::PcieParams;
use crate::pcie::Lane;
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Reads the memory of its server as fast as its credits allow, and sends what it reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sender {
    port: Port,
    nonposted: Pool,
    window: Pool,
    wire: Lane,
    sent_lines: u64,
    stopped: bool,
}

impl Sender {
    /// The sending end of `link`.
    ///
    /// # Panics
    /// If the window does not hold a read request.
    #[must_use]
    pub fn new(socket: &Socket, link: &LinkParams, pcie: PcieParams, pages: Pages) -> Self {
        assert!(link.window_lines >= pcie.mrrs_bytes / 64, "the window of a link holds a read request");
        Self {
            nonposted: Pool::new(pcie.nonposted_lines, socket.class),
            window: Pool::new(link.window_lines, socket.class),
            wire: Lane::at_rate(link.bytes_per_s, link.latency_ps),
            port: Port::new(socket, link, pcie, pages),
            sent_lines: 0,
            stopped: false,
        }
    }

    /// Lines put on the link so far.
    #[must_use]
    pub fn sent_lines(&self) -> u64 {
        self.sent_lines
    }

    /// Lines on their way: from the read request to the credit's return.
    #[must_use]
    pub fn window(&self) -> &Domain {
        &self.window.domain
    }

    /// Lines that it has asked of memory and not yet received.
    #[must_use]
    pub fn nonposted(&self) -> &Domain {
        &self.nonposted.domain
    }

    /// The domains, to settle or to reset.
    pub fn domains_mut(&mut self) -> [&mut Domain; 2] {
        [&mut self.window.domain, &mut self.nonposted.domain]
    }

    /// Asks for nothing more. What is on its way still arrives.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Handles an event.
    pub fn on_event(&mut self, payload: Payload, context: &mut Context) {
        match payload {
            Payload::Send => {
                self.port.send_pending = false;
                self.request(context);
            }
            Payload::Completion { lines, .. } => {
                self.nonposted.give_back(context.now(), u32::from(lines));
                self.forward(lines, context);
                self.kick(context);
            }
            Payload::LinkCredit { lines } => {
                self.window.give_back(context.now(), u32::from(lines));
                self.kick(context);
            }
            other => unreachable!("the sending end of a link was sent {other:?}"),
        }
    }

    /// Lines of the next read request, if the credits allow it.
    fn next_request(&self) -> Option<u32> {
        let lines = self.port.lines_of(self.port.pcie.mrrs_bytes);
        let free = self.nonposted.domain.free().min(self.window.domain.free());
        (!self.stopped && free >= lines).then_some(lines)
    }

    fn kick(&mut self, context: &mut Context) {
        if self.next_request().is_some() {
            self.port.kick(context);
        }
    }

    /// Asks memory for lines. Nothing is asked for that could not be sent on.
    fn request(&mut self, context: &mut Context) {
        let Some(lines) = self.next_request() else { return };
        let now = context.now();
        self.nonposted.take(now, lines);
        self.window.take(now, lines);
        let line = self.port.advance(lines);
        let delay = self.port.up.send(now, u64::from(self.port.pcie.read_overhead_bytes));
        let tlp = Payload::ReadTlp { line, lines: lines as u8, class: self.port.class, link: self.port.link };
        context.send(context.iio(), delay, tlp);
        self.kick(context);
    }

    /// Puts the data of a completion on the link.
    fn forward(&mut self, lines: u8, context: &mut Context) {
        let delay = self.wire.send(context.now(), u64::from(lines) * 64);
        self.sent_lines += u64::from(lines);
        context.send(self.port.peer, delay, Payload::Chunk { lines });
    }
}
