//! Why a core was interrupted: its handler reads the cause register of the card (ICR) before anything else.

use super::super::moving::TO_CORE_PS;
use super::super::NetStack;
use crate::part::{Context, Payload, PowerEvent};
use serde::{Deserialize, Serialize};

/// What the handler of interrupts has to find out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::os) struct CauseRead {
    /// How long it waits for the register, in ps.
    pub(in crate::os) read_ps: u64,
    /// Whether the register is to be read.
    pub(in crate::os) asked: bool,
    /// Whether packets have come (IT_RX).
    received: bool,
    /// Whether a burst has come or is over, if the card says so.
    high: Option<bool>,
}

impl NetStack {
    /// The same core with a handler that waits so long for the cause register of the card.
    #[must_use]
    pub fn with_cause_register(mut self, read_ps: u64) -> Self {
        self.cause.read_ps = read_ps;
        self
    }

    /// The card has interrupted for packets; whether the handler looks for the cause before it polls.
    pub(in crate::os) fn ask_cause(&mut self) -> bool {
        let asks = self.cause.read_ps > 0;
        self.cause.asked |= asks;
        self.cause.received |= asks;
        asks
    }

    /// The card has interrupted because a burst has come or is over.
    pub(in crate::os) fn on_announce(&mut self, high: bool) {
        self.cause.asked = true;
        self.cause.high = Some(high);
    }

    /// The cause is known.
    pub(in crate::os) fn end_cause(&mut self, context: &mut Context) {
        if let (Some(high), Some(power)) = (self.cause.high.take(), &self.power) {
            context.send(power.manager, TO_CORE_PS, Payload::Power(PowerEvent::Announced { high }));
        }
        if std::mem::take(&mut self.cause.received) {
            self.softirq.poll();
        }
    }
}
