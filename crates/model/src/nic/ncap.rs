//! A card that tells the power management of requests (NCAP), or counts for a driver that does.
//!
//! What a stream carries is a function of its flow and of the place in it, so that the card sees by these whether the
//! data of a packet begins with a request.

use super::Nic;
use crate::line::{Content, Packet};
use crate::params::{Draw, NcapParams, ServiceParams};
use crate::part::{Context, Payload, PowerEvent, Start};
use crate::power::{Cause, Ncap};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// The requests of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Requests {
    service: ServiceParams,
    /// The next of different sizes that has not been seen, and where it begins.
    next: u64,
    next_at: u64,
}

impl Requests {
    /// Whether one begins at a place of the stream. Requests of different sizes are followed in order; one that is sent
    /// again does not count again.
    fn begins_at(&mut self, place: u64) -> bool {
        if let Draw::Constant(bytes) = self.service.request_bytes {
            return place % bytes.max(1) == 0;
        }
        while self.next_at < place {
            self.next_at += self.service.request(self.next).request_bytes;
            self.next += 1;
        }
        self.next_at == place
    }
}

/// What a card is told of NCAP.
#[derive(Clone, Debug)]
pub struct NcapWiring {
    /// Its parameters.
    pub params: NcapParams,
    /// The core that is interrupted, and from here to there in ps.
    pub core: ComponentId,
    /// See `core`.
    pub interrupt_ps: u64,
    /// Of each flow the service whose requests come by it, if any do.
    pub flows: Vec<Option<ServiceParams>>,
    /// The place of the highest frequency, which cores begin with.
    pub fastest: u16,
}

/// What a card with NCAP saw and said, since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NcapCounts {
    /// Packets that begin with a request.
    pub requests: u64,
    /// Requests that did not wait for the timer (IT_RX).
    pub at_once: u64,
    /// Bursts that it told of (IT_HIGH).
    pub high: u64,
    /// Steps down (IT_LOW).
    pub low: u64,
}

/// What counts requests at a card.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Watch {
    params: NcapParams,
    ncap: Ncap,
    core: ComponentId,
    interrupt_ps: u64,
    flows: Vec<Option<Requests>>,
    at_max: bool,
    fastest: u16,
    /// A request has come that is not to wait for the master timer.
    urgent: bool,
    counts: NcapCounts,
}

/// Work of the driver's timer, in ns (assumed: an interrupt of a timer and some divisions).
const TIMER_NS: u32 = 1000;

impl Watch {
    /// Its timer begins.
    pub(super) fn start(&self, start: &mut Start<'_>) {
        start.wake(self.params.period_ps.max(1), Payload::Power(PowerEvent::Wake));
    }

    /// A packet has come in by the cable.
    pub(super) fn received(&mut self, packet: &Packet, now: Time) {
        let Content::Tcp(segment) = packet.content else { return };
        let Some(Some(flow)) = self.flows.get_mut(packet.flow as usize) else { return };
        if segment.bytes == 0 || !flow.begins_at(segment.sequence) {
            return;
        }
        let verb = flow.service.verb;
        let urgent = self.ncap.received(now, verb).is_some_and(|cause| cause.rx) && !self.params.software;
        self.urgent |= urgent;
        self.counts.requests += u64::from(self.params.templates.contains(&verb));
        self.counts.at_once += u64::from(urgent);
    }

    /// Whether what has come is not to wait; it does not any more.
    pub(super) fn take_urgent(&mut self) -> bool {
        std::mem::take(&mut self.urgent)
    }

    /// A packet of so many bytes has left.
    pub(super) fn sent(&mut self, bytes: u32) {
        self.ncap.sent(u64::from(bytes));
    }

    /// The card has interrupted.
    pub(super) fn interrupted(&mut self, now: Time) {
        self.ncap.interrupted(now);
    }

    /// The frequency of cores is that of this P-state.
    fn frequency(&mut self, at: u16) {
        self.at_max = at >= self.fastest;
    }

    fn expired(&mut self, context: &mut Context) -> Option<Cause> {
        context.send(context.id, self.params.period_ps.max(1), Payload::Power(PowerEvent::Wake));
        if self.params.software {
            context.send(self.core, 1, Payload::Power(PowerEvent::Timer(TIMER_NS)));
        }
        let cause = self.ncap.expired(context.now(), self.at_max);
        self.counts.high += u64::from(cause.is_some_and(|cause| cause.high));
        self.counts.low += u64::from(cause.is_some_and(|cause| cause.low));
        cause
    }
}

impl Nic {
    /// The same card with NCAP.
    #[must_use]
    pub fn with_ncap(mut self, wiring: NcapWiring) -> Self {
        let NcapWiring { params, core, interrupt_ps, flows, fastest } = wiring;
        let requests = |service: Option<ServiceParams>| Some(Requests { service: service?, next: 0, next_at: 0 });
        self.common.watch = Some(Box::new(Watch {
            ncap: Ncap::new(&params, Time::ZERO),
            core,
            interrupt_ps: if params.software { 0 } else { interrupt_ps },
            flows: flows.into_iter().map(requests).collect(),
            at_max: true,
            fastest,
            urgent: false,
            counts: NcapCounts::default(),
            params,
        }));
        self
    }

    /// The same card, whose interrupts wait for a master timer.
    #[must_use]
    pub fn with_master_timer(mut self, period_ps: u64) -> Self {
        self.receive.queues.iter_mut().for_each(|queue| queue.set_master(period_ps));
        self
    }

    /// What NCAP saw and said since the start of the window; nothing without it.
    #[must_use]
    pub fn ncap(&self) -> Option<NcapCounts> {
        self.common.watch.as_ref().map(|watch| watch.counts)
    }

    /// Starts a new window of what NCAP counts.
    pub(super) fn reset_ncap(&mut self) {
        self.common.watch.iter_mut().for_each(|watch| watch.counts = NcapCounts::default());
    }

    /// An event of the power management.
    pub(super) fn on_power(&mut self, event: PowerEvent, context: &mut Context) {
        let Some(watch) = &mut self.common.watch else { return };
        match event {
            PowerEvent::Frequency(at) => watch.frequency(at),
            PowerEvent::Wake => {
                let cause = watch.expired(context).unwrap_or_default();
                if cause.high || cause.low {
                    let told = Payload::Power(PowerEvent::Announce { high: cause.high });
                    context.send(watch.core, watch.interrupt_ps.max(1), told);
                }
            }
            _ => {}
        }
    }
}
