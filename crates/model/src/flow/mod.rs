//! Applications at the two ends of a flow over a byte stream, as pure state machines: bytes that may be read and
//! written go in, bytes that are read and written come out. They depend on no transport, core or event.
//!
//! RDMA reads and replayed packets have no application; see [`Application::new`].

mod completed_steps;
mod datagrams;
mod graph;
mod packets;
mod phases;
mod rank;
mod rank_request;
mod reducer;
mod rpc;
mod service;
mod sockets;
#[cfg(test)]
mod tests;
mod workers;

pub use completed_steps::CompletedStep;
pub use datagrams::{DatagramCounts, Datagrams};
pub use phases::PhaseStats;
pub use rank::{Rank, Repetitions};
pub use rank_request::{CoreWork, LocalMessage, RankLink, RankRequest};
pub use reducer::{Reducer, ReducerRequest, SumEngine};
pub use service::RequestCounts;
pub use workers::{ServiceStats, Workers};

use crate::params::Traffic;
use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use rpc::{RpcClient, RpcServer, RpcSizes};
use serde::{Deserialize, Serialize};
use service::{OpenLoopClient, ServiceServer};

/// Result of polling an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApplicationAction {
    /// Bytes that the application reads; at most the readable bytes.
    pub read: u64,
    /// Bytes that the application writes; at most the free space in the send buffer.
    pub write: u64,
    /// Time at which to poll it again if nothing happens before; always later than now.
    pub wake_at: Option<Time>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum ApplicationKind {
    /// Writes `left` more bytes, and reads whatever arrives.
    Writer {
        left: u64,
    },
    /// Reads; is complete after `expected` bytes.
    Reader {
        expected: u64,
    },
    /// Large kinds are boxed, as there may be a million ends.
    RpcClient(Box<RpcClient>),
    RpcServer(Box<RpcServer>),
    OpenLoopClient(Box<OpenLoopClient>),
    ServiceServer(Box<ServiceServer>),
    /// Carries messages of ranks: bytes still to be written, and bytes received that no rank has taken.
    Channel {
        unwritten: u64,
        arrived: u64,
    },
}

/// Application at one end of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Application {
    kind: ApplicationKind,
    /// Interval in which the application does not read, in ps.
    deaf_ps: Option<(u64, u64)>,
    stopped: bool,
    received: u64,
    written: u64,
    completed_at: Option<Time>,
    /// Only for an end that sends requests: a histogram takes 10 KB, and there may be a million flows.
    latency: Option<Box<Histogram>>,
}

impl Application {
    /// Creates the application at one end: at [`crate::params::FlowParams::from`] if `initiator`. The other end does
    /// not read in the interval `deaf_ps`, whose end is excluded. Traffic other than byte streams gets an application
    /// that reads and never writes.
    #[must_use]
    pub fn new(traffic: &Traffic, initiator: bool, deaf_ps: Option<(u64, u64)>) -> Self {
        let kind = match *traffic {
            Traffic::Bulk { bytes } if initiator => ApplicationKind::Writer { left: bytes },
            Traffic::Bulk { bytes } => ApplicationKind::Reader { expected: bytes },
            Traffic::Rpc { request_bytes, response_bytes, other, in_flight, think_ps } if initiator => {
                let sizes = RpcSizes::new(request_bytes, response_bytes, other);
                ApplicationKind::RpcClient(Box::new(RpcClient::new(sizes, in_flight, think_ps)))
            }
            Traffic::Rpc { request_bytes, response_bytes, other, .. } => ApplicationKind::RpcServer(Box::new(
                RpcServer::new(RpcSizes::new(request_bytes, response_bytes, other)),
            )),
            Traffic::Service(ref params) if initiator => {
                ApplicationKind::OpenLoopClient(Box::new(OpenLoopClient::new(params)))
            }
            Traffic::Service(ref params) => ApplicationKind::ServiceServer(Box::new(ServiceServer::new(params))),
            Traffic::Messages(_) => ApplicationKind::Channel { unwritten: 0, arrived: 0 },
            Traffic::Read { .. }
            | Traffic::Replay { .. }
            | Traffic::Datagrams { .. }
            | Traffic::Generate { .. }
            | Traffic::Ping { .. }
            | Traffic::Packets(_)
            | Traffic::Forward(_) => ApplicationKind::Reader { expected: u64::MAX },
        };
        Self {
            deaf_ps: if initiator { None } else { deaf_ps },
            stopped: false,
            received: 0,
            written: 0,
            completed_at: None,
            latency: matches!(kind, ApplicationKind::RpcClient(_) | ApplicationKind::OpenLoopClient(_))
                .then(Box::default),
            kind,
        }
    }

    /// Returns what the application does now, with `readable` bytes received and `room` bytes free in the send buffer.
    /// The caller must read and write these bytes.
    #[inline]
    pub fn poll(&mut self, now: Time, readable: u64, room: u64) -> ApplicationAction {
        let (read, awake_at) = self.read(now, readable);
        self.received += read;
        let (write, wake_at) = match &mut self.kind {
            ApplicationKind::Writer { left } => {
                let write = room.min(*left);
                // `u64::MAX` stands for a flow without an end.
                if *left != u64::MAX {
                    *left -= write;
                }
                (write, None)
            }
            ApplicationKind::Reader { expected } => {
                // The first time only: later polls must not move the completion.
                if self.received >= *expected && self.completed_at.is_none() {
                    self.completed_at = Some(now);
                }
                (0, None)
            }
            ApplicationKind::RpcClient(caller) => {
                caller.poll(now, read, room, self.stopped, self.latency.as_deref_mut())
            }
            ApplicationKind::RpcServer(responder) => (responder.poll(read, room), None),
            ApplicationKind::OpenLoopClient(caller) => {
                caller.poll(now, read, room, self.stopped, self.latency.get_or_insert_default())
            }
            ApplicationKind::ServiceServer(servant) => (servant.poll(read, room), None),
            ApplicationKind::Channel { unwritten, arrived } => {
                *arrived += read;
                let write = room.min(*unwritten);
                *unwritten -= write;
                (write, None)
            }
        };
        self.written += write;
        ApplicationAction { read, write, wake_at: earlier(awake_at, wake_at) }
    }

    /// Returns the bytes to read, and the time at which reading resumes if it is suspended.
    #[inline]
    fn read(&self, now: Time, readable: u64) -> (u64, Option<Time>) {
        match self.deaf_ps {
            Some((from, to)) if (from..to).contains(&now.ps()) => (0, Some(Time::from_ps(to))),
            _ => (readable, None),
        }
    }

    /// Stops the application: a writer has nothing left, and no more requests are sent. Requests in progress are
    /// completed.
    pub fn stop(&mut self) {
        self.stopped = true;
        if let ApplicationKind::Writer { left } = &mut self.kind {
            *left = 0;
        }
    }

    /// Returns the number of bytes that the application has read since the start of the run.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.received
    }

    /// Returns the number of bytes that the application has written since the start of the run.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.written
    }

    /// Returns the time at which the last byte of a finite flow was read, at the end that reads; none before and at
    /// the other end.
    #[must_use]
    pub fn completed_at(&self) -> Option<Time> {
        self.completed_at
    }

    /// Returns the requests begun since the start of the run; 0 except at the end that sends them.
    #[must_use]
    pub fn requests(&self) -> u64 {
        match &self.kind {
            ApplicationKind::RpcClient(caller) => caller.begun(),
            ApplicationKind::OpenLoopClient(caller) => caller.begun(),
            _ => 0,
        }
    }

    /// Returns the counters of an open loop's requests in the window; none except at the end that sends them.
    #[must_use]
    pub fn request_counts(&self) -> Option<RequestCounts> {
        if let ApplicationKind::OpenLoopClient(caller) = &self.kind {
            Some(caller.counts())
        } else {
            None
        }
    }

    /// Returns the number of a received request that has not been passed to a worker, and its service time, in ps.
    pub(crate) fn take_request(&mut self) -> Option<(u64, u64)> {
        if let ApplicationKind::ServiceServer(servant) = &mut self.kind {
            servant.take()
        } else {
            None
        }
    }

    /// Posts `bytes` that a rank sends; they are written from the next poll on.
    pub(crate) fn post(&mut self, bytes: u64) {
        if let ApplicationKind::Channel { unwritten, .. } = &mut self.kind {
            *unwritten += bytes;
        }
    }

    /// Takes the bytes received for a rank since the last call.
    pub(crate) fn take_arrived(&mut self) -> u64 {
        match &mut self.kind {
            ApplicationKind::Channel { arrived, .. } => std::mem::take(arrived),
            _ => 0,
        }
    }

    /// Returns true if all bytes posted by a rank have been written.
    pub(crate) fn is_written(&self) -> bool {
        matches!(self.kind, ApplicationKind::Channel { unwritten: 0, .. })
    }

    /// Records that a worker has served a request. Its answer is written at the next poll.
    pub(crate) fn serve(&mut self, number: u64) {
        if let ApplicationKind::ServiceServer(servant) = &mut self.kind {
            servant.serve(number);
        }
    }

    /// Returns the latencies of the requests answered since the last reset, from the start of a request until its
    /// answer has been read, in ps. None except at the end that sends them.
    #[must_use]
    pub fn latency(&self) -> Option<&Histogram> {
        self.latency.as_deref()
    }

    /// Starts a new measurement window: resets the latencies. Byte counters continue.
    pub fn reset(&mut self) {
        self.latency.iter_mut().for_each(|latency| latency.reset());
        if let ApplicationKind::OpenLoopClient(caller) = &mut self.kind {
            caller.reset();
        }
    }
}

/// Returns the earlier of two optional times.
#[inline]
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, None) => one,
        (None, other) => other,
    }
}
