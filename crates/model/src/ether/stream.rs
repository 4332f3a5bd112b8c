//! Transport and application at one end of a flow at an endpoint.

use crate::flow::Application;
use crate::line::Ecn;
use crate::params::{FlowParams, RoceParams, TcpParams, Traffic};
use crate::transport::roce::{Roce, RoceConnection};
use crate::transport::tcp::{Segment, TcpConnection};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Pending event of a transport's timer.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct TransportTimer {
    set: Option<Time>,
    generation: u32,
}

impl TransportTimer {
    /// Returns the time and the generation of the event to schedule, unless one is pending that is due no later.
    #[inline]
    pub(super) fn next_to_set(&mut self, wanted: Time) -> Option<(Time, u32)> {
        // The pending event is early enough; the timer is set anew when it fires.
        if self.set.is_some_and(|at| at <= wanted) {
            return None;
        }
        self.set = Some(wanted);
        self.generation = self.generation.wrapping_add(1);
        Some((wanted, self.generation))
    }

    /// Handles an event. Returns false if the timer has been set again since.
    pub(super) fn take_event(&mut self, generation: u32) -> bool {
        // Events cannot be cancelled, so a replaced one is recognised by its number.
        let own = generation == self.generation;
        if own {
            self.set = None;
        }
        own
    }
}

/// A TCP connection and the application that uses its byte stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TcpFlowEnd {
    connection: TcpConnection,
    application: Application,
}

impl TcpFlowEnd {
    pub(super) fn new(params: &TcpParams, flow: &FlowParams, initiator: bool) -> Self {
        // Each segment is one packet: TSO would save the work of cores, and an endpoint has none.
        let params = TcpParams { tso_bytes: params.mss_bytes, ..params.clone() };
        let application = Application::new(&flow.traffic, initiator, flow.deaf_ps);
        let mut connection = TcpConnection::new(&params);
        if flow.traffic.no_delay() {
            connection.set_no_delay();
        }
        Self { connection, application }
    }

    /// Has the application read and write all it can now. Returns the time at which to poll it again, if any.
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

    /// Handles a received segment. Returns the time at which to poll the application again, if any.
    #[inline]
    pub(super) fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Time> {
        self.connection.on_segment(now, segment);
        self.poll(now)
    }

    /// Handles the timer of the connection. Returns the time at which to poll the application again, if any.
    pub(super) fn on_timer(&mut self, now: Time) -> Option<Time> {
        self.connection.on_timer(now);
        self.poll(now)
    }

    /// Writes the next segment to send into `segment`. Returns false if there is none.
    #[inline]
    pub(super) fn next(&mut self, now: Time, segment: &mut Segment) -> bool {
        self.connection.next_into(now, segment)
    }

    /// Returns true if [`TcpFlowEnd::next`] surely returns nothing now, because of the congestion window.
    pub(super) fn is_held_by_congestion(&mut self, now: Time) -> bool {
        self.connection.is_held_by_congestion(now)
    }

    /// Returns the ECN codepoint of the packet of a segment.
    #[inline]
    pub(super) fn ecn_of(&self, segment: &Segment) -> Ecn {
        if self.connection.ecn_capable(segment) {
            Ecn::Capable
        } else {
            Ecn::NotCapable
        }
    }

    /// Returns the application, for the workers and ranks of this host.
    pub(super) fn application_mut(&mut self) -> &mut Application {
        &mut self.application
    }

    pub(super) fn reset(&mut self) {
        self.application.reset();
    }

    pub(super) fn stop(&mut self) {
        self.application.stop();
    }

    /// Returns the connection.
    #[must_use]
    pub fn connection(&self) -> &TcpConnection {
        &self.connection
    }

    /// Returns the application.
    #[must_use]
    pub fn application(&self) -> &Application {
        &self.application
    }
}

/// An end of a RoCE flow. Its memory is read and written without software, except by ranks of jobs, which post their
/// writes and are notified of data that has arrived.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RdmaFlowEnd {
    connection: RoceConnection,
    /// Application that carries the messages of ranks, if the flow is between ranks.
    application: Option<Application>,
    /// True if the end may send: an initiator from its start until it is stopped, all others always.
    open: bool,
    initiator: bool,
}

impl RdmaFlowEnd {
    pub(super) fn new(params: &RoceParams, flow: &FlowParams, initiator: bool, port_bytes_per_s: u64) -> Self {
        let connection = RoceConnection::new(params, &flow.traffic, initiator, port_bytes_per_s);
        let ranks = matches!(flow.traffic, Traffic::Messages(_));
        let application = ranks.then(|| Application::new(&flow.traffic, initiator, flow.deaf_ps));
        Self { connection, open: !initiator || ranks, application, initiator }
    }

    pub(super) fn begin(&mut self) {
        self.open = true;
    }

    /// Stops an initiator from sending. A responder still answers, and ranks continue.
    pub(super) fn stop(&mut self) {
        self.open &= !self.initiator || self.application.is_some();
    }

    /// Posts the messages of a rank, as far as there is room.
    pub(super) fn poll(&mut self, now: Time) {
        self.hand_over(now, 0);
    }

    /// Passes `came` received bytes to the rank, and posts what it sends.
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

    /// Returns the application that carries the messages of ranks, if the flow is between ranks.
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
