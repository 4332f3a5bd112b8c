//! What applications do at the two ends of a flow of datagrams. Pure, as those over streams are: what comes goes in,
//! what is to be sent comes out. What is lost stays lost.

use super::packets::Packets;
use crate::params::Traffic;
use crate::transport::journey::Journeys;
use crate::transport::udp::Datagram;
use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const PS_PER_S: u128 = 1_000_000_000_000;

/// What happened at an end since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramCounts {
    /// Datagrams that the application sent, and their data.
    pub sent: u64,
    /// See `sent`.
    pub sent_bytes: u64,
    /// Datagrams that it read, and their data.
    pub received: u64,
    /// See `received`.
    pub received_bytes: u64,
    /// Requests that were given up.
    pub timeouts: u64,
    /// Answers to those, which came after all.
    pub late: u64,
}

/// The end that sends one request after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pinger {
    bytes: u32,
    think_ps: u64,
    timeout_ps: u64,
    /// The request without an answer, and when it began.
    waiting: Option<(u64, Time)>,
    /// When the next may begin.
    next_at: Time,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    /// Sends by its clock, or whenever it can.
    Open {
        bytes: u32,
        bytes_per_s: Option<u64>,
        start: Time,
    },
    Ping(Pinger),
    /// Answers: the numbers of the requests that it has read.
    Echo {
        bytes: u32,
        asked: VecDeque<u64>,
    },
    /// Sends when the next is due.
    Packets(Box<Packets>),
    /// Only reads, or sends what it is handed.
    Sink,
}

/// One end of a flow of datagrams.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Datagrams {
    kind: Kind,
    stopped: bool,
    counts: DatagramCounts,
    /// Of an end that sends requests only.
    latency: Option<Histogram>,
    journeys: Journeys,
}

impl Datagrams {
    /// The application at one end: `initiator` at [`crate::params::FlowParams::from`], which begins at `start`. Traffic
    /// that is none of datagrams gets one that only reads.
    #[must_use]
    pub fn new(traffic: &Traffic, initiator: bool, start: Time) -> Self {
        let kind = match *traffic {
            Traffic::Datagrams { bytes, bytes_per_s } if initiator => {
                Kind::Open { bytes: bytes.max(1), bytes_per_s, start }
            }
            Traffic::Generate { bytes } if initiator => Kind::Open { bytes: bytes.max(1), bytes_per_s: None, start },
            Traffic::Ping { request_bytes, think_ps, timeout_ps, .. } if initiator => Kind::Ping(Pinger {
                bytes: request_bytes.max(1),
                think_ps,
                timeout_ps: timeout_ps.max(1),
                waiting: None,
                next_at: start,
            }),
            Traffic::Ping { response_bytes, .. } => {
                Kind::Echo { bytes: response_bytes.max(1), asked: VecDeque::with_capacity(1) }
            }
            Traffic::Packets(ref params) if initiator => Kind::Packets(Box::new(Packets::new(params, start))),
            _ => Kind::Sink,
        };
        let latency = matches!(kind, Kind::Ping(_)).then(Histogram::default);
        Self { kind, stopped: false, counts: DatagramCounts::default(), latency, journeys: Journeys::default() }
    }

    /// The datagram that it sends now, if there is one. A request that has waited too long is given up for the next.
    #[inline]
    pub fn next(&mut self, now: Time) -> Option<Datagram> {
        let Self { kind, stopped, counts, .. } = self;
        let datagram = match kind {
            Kind::Open { .. } | Kind::Packets(_) if *stopped => None,
            Kind::Packets(packets) => packets.take(now).map(|bytes| Datagram::new(bytes, counts.sent, now)),
            Kind::Open { bytes, bytes_per_s, start } => {
                let due = due(*start, *bytes, *bytes_per_s, counts.sent) <= now;
                due.then_some(Datagram::new(*bytes, counts.sent, now))
            }
            Kind::Ping(pinger) => pinger.next(now, *stopped, counts),
            Kind::Echo { bytes, asked } => asked.pop_front().map(|number| Datagram::new(*bytes, number, now)),
            Kind::Sink => None,
        }?;
        counts.sent += 1;
        counts.sent_bytes += u64::from(datagram.bytes);
        Some(datagram)
    }

    /// When it sends the next, if it need not wait for anything but that time; it may be past.
    #[must_use]
    #[inline]
    pub fn wake_at(&self) -> Option<Time> {
        match &self.kind {
            Kind::Open { .. } | Kind::Packets(_) if self.stopped => None,
            Kind::Packets(packets) => packets.due(),
            Kind::Open { bytes, bytes_per_s, start } => Some(due(*start, *bytes, *bytes_per_s, self.counts.sent)),
            Kind::Ping(pinger) => Some(pinger.next_at).filter(|_| !self.stopped && pinger.waiting.is_none()),
            Kind::Echo { .. } | Kind::Sink => None,
        }
    }

    /// When a request is given up, if one waits for its answer.
    #[must_use]
    pub fn timer(&self) -> Option<Time> {
        let Kind::Ping(pinger) = &self.kind else { return None };
        pinger.waiting.map(|(_, since)| since + pinger.timeout_ps)
    }

    /// Whether [`Datagrams::next`] has something to do.
    #[must_use]
    pub fn may_send(&self, now: Time) -> bool {
        match &self.kind {
            Kind::Echo { asked, .. } => !asked.is_empty(),
            _ => self.wake_at().or(self.timer()).is_some_and(|at| at <= now),
        }
    }

    /// It reads a datagram, whose journey is over.
    #[inline]
    pub fn receive(&mut self, now: Time, datagram: Datagram) {
        self.counts.received += 1;
        self.counts.received_bytes += u64::from(datagram.bytes);
        self.journeys.add(&datagram.journey);
        match &mut self.kind {
            Kind::Ping(pinger) => match pinger.waiting {
                Some((number, since)) if number == datagram.number => {
                    pinger.waiting = None;
                    pinger.next_at = now + pinger.think_ps;
                    self.latency.iter_mut().for_each(|latency| latency.record(now.since(since)));
                }
                _ => self.counts.late += 1,
            },
            Kind::Echo { asked, .. } => asked.push_back(datagram.number),
            Kind::Open { .. } | Kind::Packets(_) | Kind::Sink => {}
        }
    }

    /// It sends on data that came by another flow.
    pub(crate) fn relay(&mut self, now: Time, bytes: u32) -> Datagram {
        let datagram = Datagram::new(bytes, self.counts.sent, now);
        self.counts.sent += 1;
        self.counts.sent_bytes += u64::from(bytes);
        datagram
    }

    /// Begins nothing new. What was asked is still answered.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// What happened since the start of the run.
    #[must_use]
    pub fn counts(&self) -> &DatagramCounts {
        &self.counts
    }

    /// Of each request answered since the last reset the time from its beginning until its answer was read, in ps; none
    /// except at the end that sends them.
    #[must_use]
    pub fn latency(&self) -> Option<&Histogram> {
        self.latency.as_ref()
    }

    /// Where the time of the datagrams went that were read since the last reset.
    #[must_use]
    pub fn journeys(&self) -> &Journeys {
        &self.journeys
    }

    /// Keeps the journeys of what it reads one by one, or not any more.
    pub fn watch(&mut self, on: bool) {
        self.journeys.watch(on);
    }

    /// Starts a new measuring window: the latencies begin anew. Counts go on.
    pub fn reset(&mut self) {
        self.latency.iter_mut().for_each(Histogram::reset);
        self.journeys.reset();
    }
}

impl Pinger {
    fn next(&mut self, now: Time, stopped: bool, counts: &mut DatagramCounts) -> Option<Datagram> {
        if self.waiting.is_some_and(|(_, since)| since + self.timeout_ps <= now) {
            self.waiting = None;
            self.next_at = now;
            counts.timeouts += 1;
        }
        if stopped || self.waiting.is_some() || self.next_at > now {
            return None;
        }
        self.waiting = Some((counts.sent, now));
        Some(Datagram::new(self.bytes, counts.sent, now))
    }
}

/// When the datagram with a number is due. Those that could not be sent in time are all due at once.
#[inline]
fn due(start: Time, bytes: u32, bytes_per_s: Option<u64>, number: u64) -> Time {
    let Some(rate) = bytes_per_s else { return start };
    let after = u128::from(number) * u128::from(bytes) * PS_PER_S / u128::from(rate.max(1));
    Time::from_ps(start.ps().saturating_add(u64::try_from(after).unwrap_or(u64::MAX)))
}
