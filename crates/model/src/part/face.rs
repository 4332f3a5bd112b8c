//! The face that every part shows to whoever builds, runs, measures or ends a run.

use super::{Context, Group, PartKind, Payload};
use hostnet_kernel::{ComponentId, Scheduler, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// A part of a server by its kind and number. Unlike the number of a component it means the same in two servers that
/// differ in how much they have of the other parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartName {
    /// What it is.
    pub kind: PartKind,
    /// Its number among its kind.
    pub number: u32,
}

/// As in reports: `core 3`, `iio`, and of the second socket `iio 1`.
impl std::fmt::Display for PartName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        if self.kind.is_single() && self.number == 0 {
            formatter.write_str(self.kind.name())
        } else {
            write!(formatter, "{} {}", self.kind.name(), self.number)
        }
    }
}

/// A pool of credits of a part.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    /// Where it stands in reports.
    pub group: Group,
    /// Its books.
    pub domain: &'a Domain,
}

impl<'a> Pool<'a> {
    /// The pool of a group.
    #[must_use]
    pub fn new(group: Group, domain: &'a Domain) -> Self {
        Self { group, domain }
    }
}

/// A part as it begins.
pub struct Start<'a> {
    /// The part itself.
    pub id: ComponentId,
    /// Its place among the parts of its server: parts that are alike begin one after the other.
    pub index: u64,
    pub(crate) scheduler: &'a mut Scheduler<Payload>,
}

impl Start<'_> {
    /// Sends the part `payload` after `delay_ps`.
    pub fn wake(&mut self, delay_ps: u64, payload: Payload) {
        self.send(self.id, delay_ps, payload);
    }

    /// Sends `payload` to `target` after `delay_ps`.
    pub fn send(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) {
        self.scheduler.send(self.id, target, delay_ps, payload);
    }
}

/// A part.
pub trait Part {
    /// What it is.
    fn kind(&self) -> PartKind;

    /// Sends its first events.
    fn start(&mut self, _start: &mut Start<'_>) {}

    /// Handles an event from `source`. The few that every line of a run makes may be handed to it directly.
    ///
    /// # Panics
    /// If it is none of those that the part is sent.
    fn on_event(&mut self, payload: Payload, _source: ComponentId, _context: &mut Context) {
        unreachable!("part {} was sent {payload:?}", self.kind().name())
    }

    /// Shows its pools, those of one group in the order of their numbers; a part that nothing uses shows none.
    fn pools<'a>(&'a self, _visit: &mut dyn FnMut(Pool<'a>)) {}

    /// Brings its books up to `now`, so that areas and means speak of this moment.
    fn settle(&mut self, _now: Time) {}

    /// Starts a new measuring window.
    fn reset(&mut self, _now: Time) {}

    /// Keeps the steps of its pools from now on, if they happen between its events, or stops doing so.
    fn watch(&mut self, _on: bool) {}

    /// Shows the steps that it has kept: when, and how many credits of each of its pools were in use from then on.
    fn steps(&self, _visit: &mut dyn FnMut(Time, &[u32])) {}

    /// Ends what it does of its own accord. What is on its way still arrives.
    fn stop(&mut self) {}
}

/// Brings the books of some domains up to `now`.
pub(crate) fn settle<'a>(domains: impl IntoIterator<Item = &'a mut Domain>, now: Time) {
    domains.into_iter().for_each(|domain| domain.settle_all(now));
}

/// Begins the books of some domains anew.
pub(crate) fn reset<'a>(domains: impl IntoIterator<Item = &'a mut Domain>, now: Time) {
    domains.into_iter().for_each(|domain| domain.reset(now));
}
