//! The transports at the end of a flow at an endpoint.

use crate::flow::Application;
use crate::line::Ecn;
use crate::params::{FlowParams, RoceParams, TcpParams, Traffic};
use crate::transport::roce::{Roce, RoceConnection};
use crate::transport::tcp::{Connection, Segment};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// When an event comes for the timer of a transport.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Timer {
    set: Option<Time>,
    generation: u32,
}

impl Timer {
    /// The time of the event that is missing, and its generation.
    #[inline]
    pub(super) fn next_to_set(&mut self, wanted: Time) -> Option<(Time, u32)> {
        if self.set.is_some_and(|at| at <= wanted) {
            return None;
        }
        self.set = Some(wanted);
        self.generation = self.generation.wrapping_add(1);
        Some((wanted, self.generation))
    }

    /// An event has come. False if it was set anew since.
    pub(super) fn comes(&mut self, generation: u32) -> bool {
        let own = generation == self.generation;
        if own {
            self.set = None;
        }
        own
    }
}

/// A byte stream and who uses it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stream {
    connection: Connection,
    application: Application,
}

impl Stream {
    pub(super) fn new(params: &TcpParams, flow: &FlowParams, initiator: bool) -> Self {
        // Each segment is a packet: offload saves work of cores, and there are none.
        let params = TcpParams { tso_bytes: params.mss_bytes, ..params.clone() };
        let application = Application::new(&flow.traffic, initiator, flow.deaf_ps);
        let mut connection = Connection::new(&params);
        if flow.traffic.no_delay() {
            connection.set_no_delay();
        }
        Self { connection, application }
    }

    /// Lets the application read and write what it can now. Returns when it wants to be woken.
    #[inline]
    pub(super) fn poll(&mut self, now: Time) -> Option<Time> {
        let action = self.application.poll(now, self.connection.readable(), self.connection.room());
        if action.read > 0 {
            self.connection.read(now, action.read);
        }
        if action.write > 0 {
            self.connection.write(action.write);
        }
        action.wake_at
    }

    /// A segment has come. Returns when the application wants to be woken.
    #[inline]
    pub(super) fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Time> {
        self.connection.on_segment(now, segment);
        self.poll(now)
    }

    /// The timer of the transport has come. Returns when the application wants to be woken.
    pub(super) fn on_timer(&mut self, now: Time) -> Option<Time> {
        self.connection.on_timer(now);
        self.poll(now)
    }

    /// The next segment, and whether it may be marked.
    #[inline]
    pub(super) fn next(&mut self, now: Time) -> Option<(Segment, Ecn)> {
        let segment = self.connection.next(now)?;
        let capable = self.connection.ecn_capable(&segment);
        Some((segment, if capable { Ecn::Capable } else { Ecn::NotCapable }))
    }

    /// What the application knows that others at this host do.
    pub(super) fn application_mut(&mut self) -> &mut Application {
        &mut self.application
    }

    pub(super) fn reset(&mut self) {
        self.application.reset();
    }

    pub(super) fn stop(&mut self) {
        self.application.stop();
    }

    /// The transport.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The application.
    #[must_use]
    pub fn application(&self) -> &Application {
        &self.application
    }
}

/// An end of a RoCE flow: memory that is read and written without anyone else taking part, but for ranks, which post
/// what is written and learn what has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Memory {
    connection: RoceConnection,
    /// What carries the messages of ranks.
    application: Option<Application>,
    /// Whether it may send: an end that asks does so from its beginning until it is stopped.
    open: bool,
    initiator: bool,
}

impl Memory {
    pub(super) fn new(params: &RoceParams, flow: &FlowParams, initiator: bool, port_bytes_per_s: u64) -> Self {
        let connection = RoceConnection::new(params, &flow.traffic, initiator, port_bytes_per_s);
        let ranks = matches!(flow.traffic, Traffic::Messages(_));
        let application = ranks.then(|| Application::new(&flow.traffic, initiator, flow.deaf_ps));
        Self { connection, open: !initiator || ranks, application, initiator }
    }

    pub(super) fn begin(&mut self) {
        self.open = true;
    }

    /// The end that asks asks for nothing more; the other goes on to answer, and ranks go on.
    pub(super) fn stop(&mut self) {
        self.open &= !self.initiator || self.application.is_some();
    }

    /// Posts what a rank sends, as far as there is room.
    pub(super) fn poll(&mut self, now: Time) {
        self.hand_over(now, 0);
    }

    /// The rank learns what has come, and what it sends is posted.
    fn hand_over(&mut self, now: Time, came: u64) {
        if let Some(application) = &mut self.application {
            let action = application.poll(now, came, self.connection.room());
            self.connection.post(now, action.write);
        }
    }

    pub(super) fn on_packet(&mut self, now: Time, packet: &Roce, marked: bool) {
        let placed = self.connection.on_packet(now, packet, marked);
        self.hand_over(now, placed.map_or(0, |placed| placed.bytes.into()));
    }

    pub(super) fn on_timer(&mut self, now: Time) {
        self.connection.on_timer(now);
    }

    pub(super) fn timer(&self, now: Time) -> Option<Time> {
        self.connection.timer(now).filter(|_| self.open)
    }

    pub(super) fn next(&mut self, now: Time) -> Option<Roce> {
        if self.open {
            self.connection.next(now)
        } else {
            None
        }
    }

    /// What carries the messages of ranks.
    pub(super) fn application_mut(&mut self) -> Option<&mut Application> {
        self.application.as_mut()
    }

    pub(super) fn reset(&mut self) {
        self.connection.reset();
    }

    pub(super) fn connection(&self) -> &RoceConnection {
        &self.connection
    }
}
