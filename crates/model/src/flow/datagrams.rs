//! Applications at the two ends of a flow of datagrams, as pure state machines: received datagrams go in, datagrams to
//! send come out. Lost datagrams are not sent again.

use super::packets::Packets;
use crate::params::Traffic;
use crate::transport::stage_times::StageStats;
use crate::transport::udp::Datagram;
use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const PS_PER_S: u128 = 1_000_000_000_000;

/// Counters of one end since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramCounts {
    /// Datagrams that the application sent, and bytes of their payload.
    pub sent: u64,
    /// See `sent`.
    pub sent_bytes: u64,
    /// Datagrams that the application read, and bytes of their payload.
    pub received: u64,
    /// See `received`.
    pub received_bytes: u64,
    /// Requests that timed out.
    pub timeouts: u64,
    /// Answers that arrived after the timeout of their requests.
    pub late: u64,
}

/// An end that sends one request at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pinger {
    bytes: u32,
    think_ps: u64,
    timeout_ps: u64,
    /// Number and start time of the request without an answer, if there is one.
    waiting: Option<(u64, Time)>,
    /// Earliest time of the next request.
    next_at: Time,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum DatagramKind {
    /// Sends at a fixed rate, or as fast as it can.
    Open {
        bytes: u32,
        bytes_per_s: Option<u64>,
        start: Time,
    },
    Ping(Pinger),
    /// Answers requests. `asked` holds the numbers of the requests that it has read.
    Echo {
        bytes: u32,
        asked: VecDeque<u64>,
    },
    /// Sends datagrams of varying sizes when they are due.
    Packets(Box<Packets>),
    /// Only reads, or sends the data that it is handed.
    Sink,
}

/// Application at one end of a flow of datagrams.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Datagrams {
    kind: DatagramKind,
    stopped: bool,
    counts: DatagramCounts,
    /// Latencies, only for an end that sends requests.
    latency: Option<Histogram>,
    stage_stats: StageStats,
}

impl Datagrams {
    /// Creates the application at one end: at [`crate::params::FlowParams::from`] if `initiator`, beginning at
    /// `start`. Traffic other than datagrams gets an application that only reads.
    #[must_use]
    pub fn new(traffic: &Traffic, initiator: bool, start: Time) -> Self {
        let kind = match *traffic {
            Traffic::Datagrams { bytes, bytes_per_s } if initiator => {
                DatagramKind::Open { bytes: bytes.max(1), bytes_per_s, start }
            }
            Traffic::Generate { bytes } if initiator => {
                DatagramKind::Open { bytes: bytes.max(1), bytes_per_s: None, start }
            }
            Traffic::Ping { request_bytes, think_ps, timeout_ps, .. } if initiator => DatagramKind::Ping(Pinger {
                bytes: request_bytes.max(1),
                think_ps,
                timeout_ps: timeout_ps.max(1),
                waiting: None,
                next_at: start,
            }),
            Traffic::Ping { response_bytes, .. } => {
                DatagramKind::Echo { bytes: response_bytes.max(1), asked: VecDeque::with_capacity(1) }
            }
            Traffic::Packets(ref params) if initiator => DatagramKind::Packets(Box::new(Packets::new(params, start))),
            _ => DatagramKind::Sink,
        };
        let latency = matches!(kind, DatagramKind::Ping(_)).then(Histogram::default);
        Self { kind, stopped: false, counts: DatagramCounts::default(), latency, stage_stats: StageStats::default() }
    }

    /// Returns the datagram to send now, if any. A request that has waited longer than the timeout is given up for the
    /// next one.
    #[inline]
    pub fn next(&mut self, now: Time) -> Option<Datagram> {
        let Self { kind, stopped, counts, .. } = self;
        let datagram = match kind {
            DatagramKind::Open { .. } | DatagramKind::Packets(_) if *stopped => None,
            DatagramKind::Packets(packets) => packets.take_due(now).map(|bytes| Datagram::new(bytes, counts.sent, now)),
            DatagramKind::Open { bytes, bytes_per_s, start } => {
                let due = due(*start, *bytes, *bytes_per_s, counts.sent) <= now;
                due.then_some(Datagram::new(*bytes, counts.sent, now))
            }
            DatagramKind::Ping(pinger) => pinger.next(now, *stopped, counts),
            DatagramKind::Echo { bytes, asked } => asked.pop_front().map(|number| Datagram::new(*bytes, number, now)),
            DatagramKind::Sink => None,
        }?;
        counts.sent += 1;
        counts.sent_bytes += u64::from(datagram.bytes);
        Some(datagram)
    }

    /// Returns the time at which the next datagram is sent, if it depends on nothing else; it may be in the past.
    #[must_use]
    #[inline]
    pub fn wake_at(&self) -> Option<Time> {
        match &self.kind {
            DatagramKind::Open { .. } | DatagramKind::Packets(_) if self.stopped => None,
            DatagramKind::Packets(packets) => packets.due(),
            DatagramKind::Open { bytes, bytes_per_s, start } => {
                Some(due(*start, *bytes, *bytes_per_s, self.counts.sent))
            }
            DatagramKind::Ping(pinger) => Some(pinger.next_at).filter(|_| !self.stopped && pinger.waiting.is_none()),
            DatagramKind::Echo { .. } | DatagramKind::Sink => None,
        }
    }

    /// Returns the time at which the request without an answer times out, if there is one.
    #[must_use]
    pub fn timer(&self) -> Option<Time> {
        let DatagramKind::Ping(pinger) = &self.kind else { return None };
        pinger.waiting.map(|(_, since)| since + pinger.timeout_ps)
    }

    /// Returns true if [`Datagrams::next`] has something to do.
    #[must_use]
    pub fn may_send(&self, now: Time) -> bool {
        match &self.kind {
            DatagramKind::Echo { asked, .. } => !asked.is_empty(),
            _ => self.wake_at().or(self.timer()).is_some_and(|at| at <= now),
        }
    }

    /// Reads a received datagram, and adds it to the latency statistics.
    #[inline]
    pub fn receive(&mut self, now: Time, datagram: Datagram) {
        self.counts.received += 1;
        self.counts.received_bytes += u64::from(datagram.bytes);
        self.stage_stats.add(&datagram.stage_times);
        match &mut self.kind {
            DatagramKind::Ping(pinger) => match pinger.waiting {
                // An answer to a request that timed out has another number and counts as late.
                Some((number, since)) if number == datagram.number => {
                    pinger.waiting = None;
                    pinger.next_at = now + pinger.think_ps;
                    self.latency.iter_mut().for_each(|latency| latency.record(now.since(since)));
                }
                _ => self.counts.late += 1,
            },
            DatagramKind::Echo { asked, .. } => asked.push_back(datagram.number),
            DatagramKind::Open { .. } | DatagramKind::Packets(_) | DatagramKind::Sink => {}
        }
    }

    /// Creates a datagram that sends on data received by another flow.
    pub(crate) fn relay(&mut self, now: Time, bytes: u32) -> Datagram {
        let datagram = Datagram::new(bytes, self.counts.sent, now);
        self.counts.sent += 1;
        self.counts.sent_bytes += u64::from(bytes);
        datagram
    }

    /// Stops the application: it begins nothing new. Requests that were received are still answered.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Returns the counters since the start of the run.
    #[must_use]
    pub fn counts(&self) -> &DatagramCounts {
        &self.counts
    }

    /// Returns the latencies of the requests answered since the last reset, from the start of a request until its
    /// answer has been read, in ps. None except at the end that sends them.
    #[must_use]
    pub fn latency(&self) -> Option<&Histogram> {
        self.latency.as_ref()
    }

    /// Returns the latency by stage of the datagrams read since the last reset.
    #[must_use]
    pub fn stage_stats(&self) -> &StageStats {
        &self.stage_stats
    }

    /// Starts or stops recording the latency of single datagrams.
    pub fn watch(&mut self, on: bool) {
        self.stage_stats.watch(on);
    }

    /// Starts a new measurement window: resets the latencies. Counters continue.
    pub fn reset(&mut self) {
        self.latency.iter_mut().for_each(Histogram::reset);
        self.stage_stats.reset();
    }
}

impl Pinger {
    fn next(&mut self, now: Time, stopped: bool, counts: &mut DatagramCounts) -> Option<Datagram> {
        // Lost datagrams are never repeated, so only a timeout ends the wait.
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

/// Returns the time at which datagram `number` is due. All datagrams behind schedule are due at once.
#[inline]
fn due(start: Time, bytes: u32, bytes_per_s: Option<u64>, number: u64) -> Time {
    let Some(rate) = bytes_per_s else { return start };
    // Computed from the number, so that rounding errors of the interval do not add up.
    let after = u128::from(number) * u128::from(bytes) * PS_PER_S / u128::from(rate.max(1));
    Time::from_ps(start.ps().saturating_add(u64::try_from(after).unwrap_or(u64::MAX)))
}
