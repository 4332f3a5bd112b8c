//! NCAP: the NIC counts requests and notifies power management, or counts on behalf of a driver that does.
//!
//! The content of a stream is a function of its flow and of the offset in the stream. The NIC therefore knows from
//! the sequence number whether the data of a packet begins with a request.

use super::Nic;
use crate::line::{Content, Packet};
use crate::params::{Distribution, NcapParams, ServiceParams};
use crate::part::{Context, Payload, PowerEvent, StartContext};
use crate::power::{InterruptCause, Ncap};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Request boundaries of one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RequestBoundaries {
    service: ServiceParams,
    /// Next request that has not been seen. Used only if request sizes vary.
    next: u64,
    /// Offset in the stream at which request `next` begins.
    next_at: u64,
}

impl RequestBoundaries {
    /// Returns true if a request begins at offset `place` of the stream. Requests of varying size are followed in
    /// order, and a retransmitted one does not count again.
    fn begins_at(&mut self, place: u64) -> bool {
        // With a constant size the boundary follows from the offset, whatever was lost or repeated.
        if let Distribution::Constant(bytes) = self.service.request_bytes {
            return place % bytes.max(1) == 0;
        }
        // Packets before `place` are skipped; one that lies before `next_at` is a retransmission.
        while self.next_at < place {
            self.next_at += self.service.request(self.next).request_bytes;
            self.next += 1;
        }
        self.next_at == place
    }
}

/// Configuration of NCAP at a NIC.
#[derive(Clone, Debug)]
pub struct NcapWiring {
    /// Parameters of NCAP.
    pub params: NcapParams,
    /// Core that receives the interrupts.
    pub core: ComponentId,
    /// Latency of an interrupt from the NIC to the core, in ps.
    pub interrupt_ps: u64,
    /// By flow: service whose requests arrive on the flow, if any.
    pub flows: Vec<Option<ServiceParams>>,
    /// Index of the highest frequency, which is the initial frequency of the cores.
    pub fastest: u16,
}

/// Counters of NCAP since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NcapCounts {
    /// Packets that begin with a request of a counted verb.
    pub requests: u64,
    /// Requests that raised an interrupt at once, without waiting for the master timer (IT_RX).
    pub at_once: u64,
    /// Bursts announced (IT_HIGH).
    pub high: u64,
    /// Steps to a lower frequency (IT_LOW).
    pub low: u64,
}

/// State of NCAP at the NIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NcapWatch {
    params: NcapParams,
    ncap: Ncap,
    core: ComponentId,
    interrupt_ps: u64,
    flows: Vec<Option<RequestBoundaries>>,
    at_max: bool,
    fastest: u16,
    /// True if a request has arrived that must not wait for the master timer.
    urgent: bool,
    counts: NcapCounts,
}

/// Work of the driver's timer, in ns (assumed: a timer interrupt and a few divisions).
const TIMER_NS: u32 = 1000;

impl NcapWatch {
    /// Schedules the first expiry of the timer.
    pub(super) fn start(&self, start: &mut StartContext<'_>) {
        start.wake(self.params.period_ps.max(1), Payload::Power(PowerEvent::Wake));
    }

    /// Counts a packet received from the cable, if it begins with a request.
    pub(super) fn received(&mut self, packet: &Packet, now: Time) {
        let Content::Tcp(segment) = packet.content else { return };
        let Some(Some(flow)) = self.flows.get_mut(packet.flow as usize) else { return };
        // Acknowledgements carry no request.
        if segment.bytes == 0 || !flow.begins_at(segment.sequence) {
            return;
        }
        let verb = flow.service.verb;
        // In software the driver cannot interrupt earlier than the card does (docs/models/nic.md, NCAP).
        let urgent = self.ncap.received(now, verb).is_some_and(|cause| cause.rx) && !self.params.software;
        // Kept until the packet is in memory: an interrupt before that would find nothing.
        self.urgent |= urgent;
        self.counts.requests += u64::from(self.params.templates.contains(&verb));
        self.counts.at_once += u64::from(urgent);
    }

    /// Returns true if a request has arrived that must not wait, and clears the mark.
    pub(super) fn take_urgent(&mut self) -> bool {
        std::mem::take(&mut self.urgent)
    }

    /// Counts a packet of `bytes` bytes that has left.
    pub(super) fn sent(&mut self, bytes: u32) {
        self.ncap.sent(u64::from(bytes));
    }

    /// Records that the NIC has interrupted.
    pub(super) fn interrupted(&mut self, now: Time) {
        self.ncap.interrupted(now);
    }

    /// Records the P-state of the cores.
    fn frequency(&mut self, at: u16) {
        self.at_max = at >= self.fastest;
    }

    fn expired(&mut self, context: &mut Context) -> Option<InterruptCause> {
        // The timer runs freely: the next expiry does not depend on what this one finds.
        context.send(context.id, self.params.period_ps.max(1), Payload::Power(PowerEvent::Wake));
        if self.params.software {
            // In software the timer is work of a core, which it wakes (assumed: 1 us).
            context.send(self.core, 1, Payload::Power(PowerEvent::Timer(TIMER_NS)));
        }
        let cause = self.ncap.expired(context.now(), self.at_max);
        self.counts.high += u64::from(cause.is_some_and(|cause| cause.high));
        self.counts.low += u64::from(cause.is_some_and(|cause| cause.low));
        cause
    }
}

impl Nic {
    /// Adds NCAP to the NIC.
    #[must_use]
    pub fn with_ncap(mut self, wiring: NcapWiring) -> Self {
        let NcapWiring { params, core, interrupt_ps, flows, fastest } = wiring;
        let requests =
            |service: Option<ServiceParams>| Some(RequestBoundaries { service: service?, next: 0, next_at: 0 });
        self.path.common.watch = Some(Box::new(NcapWatch {
            ncap: Ncap::new(&params, Time::ZERO),
            core,
            // In software, the driver's own timer announces bursts, without an interrupt of the NIC.
            interrupt_ps: if params.software { 0 } else { interrupt_ps },
            flows: flows.into_iter().map(requests).collect(),
            // The cores begin with the highest frequency.
            at_max: true,
            fastest,
            urgent: false,
            counts: NcapCounts::default(),
            params,
        }));
        self
    }

    /// Makes interrupts wait for a free-running master timer of `period_ps`.
    #[must_use]
    pub fn with_master_timer(mut self, period_ps: u64) -> Self {
        self.path.receive.buffer.queues.iter_mut().for_each(|queue| queue.set_master(period_ps));
        self
    }

    /// Returns the counters of NCAP since the start of the window, if the NIC has NCAP.
    #[must_use]
    pub fn ncap(&self) -> Option<NcapCounts> {
        self.path.common.watch.as_ref().map(|watch| watch.counts)
    }

    /// Starts a new measurement window of the NCAP counters.
    pub(super) fn reset_ncap(&mut self) {
        self.path.common.watch.iter_mut().for_each(|watch| watch.counts = NcapCounts::default());
    }

    /// Handles an event of power management.
    pub(super) fn on_power(&mut self, event: PowerEvent, context: &mut Context) {
        let Some(watch) = &mut self.path.common.watch else { return };
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
