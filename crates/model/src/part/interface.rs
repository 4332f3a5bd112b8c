//! Interface through which parts are built, run, measured and stopped.

use super::{Context, PartKind, Payload, PoolGroup};
use hostnet_kernel::{ComponentId, Scheduler, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Name of a part in its server: kind and number. Unlike the number of a component, the name means the same part in
/// two servers that differ in the number of other parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartName {
    /// Kind of the part.
    pub kind: PartKind,
    /// Number among the parts of its kind, from 0.
    pub number: u32,
}

/// Formats the name as in reports: `core 3`, `iio`, and `iio 1` for the IIO of the second socket.
impl std::fmt::Display for PartName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        if self.kind.is_single() && self.number == 0 {
            formatter.write_str(self.kind.name())
        } else {
            write!(formatter, "{} {}", self.kind.name(), self.number)
        }
    }
}

/// Pool of credits of a part.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    /// Group of the pool in reports.
    pub group: PoolGroup,
    /// Credits and statistics of the pool.
    pub domain: &'a Domain,
}

impl<'a> Pool<'a> {
    /// Creates the pool of a group.
    #[must_use]
    pub fn new(group: PoolGroup, domain: &'a Domain) -> Self {
        Self { group, domain }
    }
}

/// Context of a part when the simulation starts.
pub struct StartContext<'a> {
    /// Id of the part itself.
    pub id: ComponentId,
    /// Index of the part among the components of its server, from 0. Parts of one kind derive from it the times of
    /// their first events, so that they do not start in step.
    pub index: u64,
    pub(crate) scheduler: &'a mut Scheduler<Payload>,
}

impl StartContext<'_> {
    /// Schedules `payload` at the part itself, `delay_ps` from now.
    pub fn wake(&mut self, delay_ps: u64, payload: Payload) {
        self.send(self.id, delay_ps, payload);
    }

    /// Schedules `payload` at `target`, `delay_ps` from now.
    pub fn send(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) {
        self.scheduler.send(self.id, target, delay_ps, payload);
    }
}

/// Part of a server.
pub trait Part {
    /// Returns the kind of the part.
    fn kind(&self) -> PartKind;

    /// Schedules the first events of the part.
    fn start(&mut self, _start: &mut StartContext<'_>) {}

    /// Handles an event from `source`. The machine dispatches the most frequent events, which every line of a run
    /// causes, to the parts directly instead.
    ///
    /// # Panics
    /// Panics if the part does not handle such events.
    fn on_event(&mut self, payload: Payload, _source: ComponentId, _context: &mut Context) {
        unreachable!("part {} was sent {payload:?}", self.kind().name())
    }

    /// Visits the pools of the part, those of one group in the order of their numbers. A part that nothing uses visits
    /// none.
    fn pools<'a>(&'a self, _visit: &mut dyn FnMut(Pool<'a>)) {}

    /// Brings the statistics of the part up to `now`, so that areas and means refer to that time.
    fn settle(&mut self, _now: Time) {}

    /// Starts a new measurement window at `now`.
    fn reset(&mut self, _now: Time) {}

    /// Starts recording the changes of its pools that happen between its events, or stops if `on` is false.
    fn watch(&mut self, _on: bool) {}

    /// Visits the recorded changes: the time of each, and the credits in use of each pool from then on.
    fn steps(&self, _visit: &mut dyn FnMut(Time, &[u32])) {}

    /// Stops the traffic that the part causes on its own. What is in flight still arrives.
    fn stop(&mut self) {}
}

/// Brings the statistics of domains up to `now`.
pub(crate) fn settle<'a>(domains: impl IntoIterator<Item = &'a mut Domain>, now: Time) {
    domains.into_iter().for_each(|domain| domain.settle_all(now));
}

/// Starts a new measurement window of domains at `now`.
pub(crate) fn reset<'a>(domains: impl IntoIterator<Item = &'a mut Domain>, now: Time) {
    domains.into_iter().for_each(|domain| domain.reset(now));
}
