//! What applications do at the two ends of a flow over a byte stream. Pure: bytes that may be read and written go in,
//! bytes that are read and written come out. It knows no transport, no core and no event.
//!
//! Reads over RDMA and replayed packets have no application; see [`Application::new`].

mod datagrams;
mod packets;
mod passed;
mod phases;
mod rank;
mod reducer;
mod rpc;
mod service;
mod sockets;
#[cfg(test)]
mod tests;
mod wanted;
mod workers;

pub use datagrams::{DatagramCounts, Datagrams};
pub use passed::Passed;
pub use phases::PhaseBooks;
pub use rank::Rank;
pub use reducer::{Reducer, SumEngine, Summing};
pub use service::RequestCounts;
pub use wanted::{CoreWork, Link, RankRequest};
pub use workers::{ServiceBooks, Workers};

use crate::params::Traffic;
use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use rpc::{Caller, Responder, Sizes};
use serde::{Deserialize, Serialize};
use service::{OpenLoopClient, ServiceServer};

/// What an application does when it is polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// Bytes that it reads; at most what was readable.
    pub read: u64,
    /// Bytes that it writes; at most the room.
    pub write: u64,
    /// When it wants to be polled again, if nothing happens before; always later than now.
    pub wake_at: Option<Time>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Kind {
    /// Writes `left` more bytes, and reads whatever comes.
    Writer {
        left: u64,
    },
    /// Reads; is done after `expected` bytes.
    Reader {
        expected: u64,
    },
    Caller(Caller),
    Responder(Responder),
    /// Behind pointers: they are larger than the others, and fewer.
    OpenLoopClient(Box<OpenLoopClient>),
    ServiceServer(Box<ServiceServer>),
    /// Carries messages of ranks: bytes to be written, and those that came and nobody has taken.
    Channel {
        unwritten: u64,
        arrived: u64,
    },
}

/// One end of what an application does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Application {
    kind: Kind,
    deaf_ps: Option<(u64, u64)>,
    stopped: bool,
    received: u64,
    written: u64,
    completed_at: Option<Time>,
    /// Of a caller only: a histogram takes 10 KB, and there may be a million flows.
    latency: Option<Histogram>,
}

impl Application {
    /// The application at one end: `initiator` at [`crate::params::FlowParams::from`]. The other end does not read
    /// from the first up to the second moment of `deaf_ps`. What is not a
    /// stream gets an application that reads and never writes.
    #[must_use]
    pub fn new(traffic: &Traffic, initiator: bool, deaf_ps: Option<(u64, u64)>) -> Self {
        let kind = match *traffic {
            Traffic::Bulk { bytes } if initiator => Kind::Writer { left: bytes },
            Traffic::Bulk { bytes } => Kind::Reader { expected: bytes },
            Traffic::Rpc { request_bytes, response_bytes, other, in_flight, think_ps } if initiator => {
                Kind::Caller(Caller::new(Sizes::new(request_bytes, response_bytes, other), in_flight, think_ps))
            }
            Traffic::Rpc { request_bytes, response_bytes, other, .. } => {
                Kind::Responder(Responder::new(Sizes::new(request_bytes, response_bytes, other)))
            }
            Traffic::Service(ref params) if initiator => Kind::OpenLoopClient(Box::new(OpenLoopClient::new(params))),
            Traffic::Service(ref params) => Kind::ServiceServer(Box::new(ServiceServer::new(params))),
            Traffic::Messages(_) => Kind::Channel { unwritten: 0, arrived: 0 },
            Traffic::Read { .. }
            | Traffic::Replay { .. }
            | Traffic::Datagrams { .. }
            | Traffic::Generate { .. }
            | Traffic::Ping { .. }
            | Traffic::Packets(_)
            | Traffic::Forward(_) => Kind::Reader { expected: u64::MAX },
        };
        Self {
            deaf_ps: if initiator { None } else { deaf_ps },
            stopped: false,
            received: 0,
            written: 0,
            completed_at: None,
            latency: matches!(kind, Kind::Caller(_) | Kind::OpenLoopClient(_)).then(Histogram::default),
            kind,
        }
    }

    /// What it does now, with `readable` bytes there to be read and `room` bytes for what it writes. It counts on it
    /// that this is done.
    #[inline]
    pub fn poll(&mut self, now: Time, readable: u64, room: u64) -> Action {
        let (read, awake_at) = self.read(now, readable);
        self.received += read;
        let (write, wake_at) = match &mut self.kind {
            Kind::Writer { left } => (room.min(*left), None),
            Kind::Reader { expected } => {
                if self.received >= *expected && self.completed_at.is_none() {
                    self.completed_at = Some(now);
                }
                (0, None)
            }
            Kind::Caller(caller) => caller.poll(now, read, room, self.stopped, self.latency.as_mut()),
            Kind::Responder(responder) => (responder.poll(read, room), None),
            Kind::OpenLoopClient(caller) => {
                caller.poll(now, read, room, self.stopped, self.latency.get_or_insert_with(Histogram::default))
            }
            Kind::ServiceServer(servant) => (servant.poll(read, room), None),
            Kind::Channel { unwritten, arrived } => {
                *arrived += read;
                let write = room.min(*unwritten);
                *unwritten -= write;
                (write, None)
            }
        };
        if let Kind::Writer { left } = &mut self.kind {
            if *left != u64::MAX {
                *left -= write;
            }
        }
        self.written += write;
        Action { read, write, wake_at: earlier(awake_at, wake_at) }
    }

    /// Bytes that it reads, and when it begins to read if it does not.
    fn read(&self, now: Time, readable: u64) -> (u64, Option<Time>) {
        match self.deaf_ps {
            Some((from, to)) if (from..to).contains(&now.ps()) => (0, Some(Time::from_ps(to))),
            _ => (readable, None),
        }
    }

    /// Begins nothing new: a writer has nothing left, a caller sends no more requests. What was begun is finished.
    pub fn stop(&mut self) {
        self.stopped = true;
        if let Kind::Writer { left } = &mut self.kind {
            *left = 0;
        }
    }

    /// Bytes read since the start of the run.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.received
    }

    /// Bytes written since the start of the run.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.written
    }

    /// When the last byte of a flow with an end was read, at the end that reads; none before that and elsewhere.
    #[must_use]
    pub fn completed_at(&self) -> Option<Time> {
        self.completed_at
    }

    /// Requests that were begun since the start of the run; 0 except at the end that sends them.
    #[must_use]
    pub fn requests(&self) -> u64 {
        match &self.kind {
            Kind::Caller(caller) => caller.begun(),
            Kind::OpenLoopClient(caller) => caller.begun(),
            _ => 0,
        }
    }

    /// What became of the requests of an open loop in the window; none except at the end that sends them.
    #[must_use]
    pub fn request_counts(&self) -> Option<RequestCounts> {
        if let Kind::OpenLoopClient(caller) = &self.kind {
            Some(caller.counts())
        } else {
            None
        }
    }

    /// A request that came in and that no worker knows of yet: its number, and the time that it takes, in ps.
    pub(crate) fn take_request(&mut self) -> Option<(u64, u64)> {
        if let Kind::ServiceServer(servant) = &mut self.kind {
            servant.take()
        } else {
            None
        }
    }

    /// A rank sends bytes, which are written from the next turn on.
    pub(crate) fn post(&mut self, bytes: u64) {
        if let Kind::Channel { unwritten, .. } = &mut self.kind {
            *unwritten += bytes;
        }
    }

    /// Bytes that came for a rank and that it has not been told of.
    pub(crate) fn take_arrived(&mut self) -> u64 {
        match &mut self.kind {
            Kind::Channel { arrived, .. } => std::mem::take(arrived),
            _ => 0,
        }
    }

    /// Whether all that a rank sent has been written.
    pub(crate) fn is_written(&self) -> bool {
        matches!(self.kind, Kind::Channel { unwritten: 0, .. })
    }

    /// A worker has served a request: what is to be answered is written at the next turn.
    pub(crate) fn serve(&mut self, number: u64) {
        if let Kind::ServiceServer(servant) = &mut self.kind {
            servant.serve(number);
        }
    }

    /// Of each request answered since the last reset the time from its beginning until its answer was read, in ps; none
    /// except at the end that sends them.
    #[must_use]
    pub fn latency(&self) -> Option<&Histogram> {
        self.latency.as_ref()
    }

    /// Starts a new measuring window: the latencies begin anew. Counts of bytes go on.
    pub fn reset(&mut self) {
        self.latency.iter_mut().for_each(Histogram::reset);
        if let Kind::OpenLoopClient(caller) = &mut self.kind {
            caller.reset();
        }
    }
}

/// The earlier of two moments that there may be.
#[inline]
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, None) => one,
        (None, other) => other,
    }
}
