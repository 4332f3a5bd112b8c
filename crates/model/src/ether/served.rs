//! What the ends of flows at an endpoint share: the workers of its services.

use super::flow_end::FlowEnd;
use crate::flow::{Application, Workers};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// No service.
const NONE: u32 = u32::MAX;

/// The services of an endpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Services {
    workers: Vec<Workers>,
    /// Of each end the place of its service.
    of_ends: Vec<u32>,
    /// When an event comes for each service.
    set: Vec<Option<Time>>,
}

impl Services {
    /// Those of some ends, if they have any.
    pub(super) fn new(ends: &[FlowEnd]) -> Option<Box<Self>> {
        let mut workers: Vec<Workers> = Vec::new();
        let place = |end: &FlowEnd| {
            let Some((number, count)) = end.service() else { return NONE };
            let at = workers.iter().position(|own| own.service() == number).unwrap_or_else(|| {
                workers.push(Workers::new(number, count));
                workers.len() - 1
            });
            at as u32
        };
        let of_ends = ends.iter().map(place).collect();
        let set = vec![None; workers.len()];
        (!workers.is_empty()).then(|| Box::new(Self { workers, of_ends, set }))
    }

    /// Takes in what has come at an end. Returns the place of its service if an event is to be set for it, and when.
    pub(super) fn take(&mut self, end: u32, at: &mut FlowEnd, now: Time) -> Option<(u32, Time)> {
        let place = *self.of_ends.get(end as usize).filter(|&&place| place != NONE)?;
        let workers = &mut self.workers[place as usize];
        while let Some((number, time_ps)) = at.application_mut().and_then(Application::take_request) {
            workers.arrive(now, end, number, time_ps);
        }
        self.event(place)
    }

    /// The event of a service has come. Returns an end whose answer may be sent, as long as there are such.
    pub(super) fn served(&mut self, place: u32, now: Time) -> Option<(u32, u64)> {
        let set = &mut self.set[place as usize];
        *set = set.filter(|&at| at > now);
        self.workers[place as usize].served(now)
    }

    /// When an event is to be set for a service, if none comes that early.
    pub(super) fn event(&mut self, place: u32) -> Option<(u32, Time)> {
        let wanted = self.workers[place as usize].next_at()?;
        let set = &mut self.set[place as usize];
        if set.is_some_and(|at| at <= wanted) {
            return None;
        }
        *set = Some(wanted);
        Some((place, wanted))
    }

    pub(super) fn reset(&mut self, now: Time) {
        self.workers.iter_mut().for_each(|workers| workers.reset(now));
    }

    pub(super) fn settle(&mut self, now: Time) {
        self.workers.iter_mut().for_each(|workers| workers.settle(now));
    }

    pub(super) fn workers(&self) -> &[Workers] {
        &self.workers
    }
}
