//! Services of an endpoint: workers that the ends of its flows share.

use super::flow_end::FlowEnd;
use crate::flow::{Application, Workers};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// An end without a service.
const NONE: u32 = u32::MAX;

/// The services of an endpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EndpointServices {
    workers: Vec<Workers>,
    /// Index of the service of each end.
    of_ends: Vec<u32>,
    /// Time of the pending event of each service, if there is one.
    set: Vec<Option<Time>>,
}

impl EndpointServices {
    /// Creates the services of the given ends; none if no end has a service.
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

    /// Hands the requests that have arrived at an end to their workers. Returns the index of the service and the time
    /// of the event to schedule for it, if any.
    pub(super) fn admit(&mut self, end: u32, at: &mut FlowEnd, now: Time) -> Option<(u32, Time)> {
        let place = *self.of_ends.get(end as usize).filter(|&&place| place != NONE)?;
        let workers = &mut self.workers[place as usize];
        while let Some((number, time_ps)) = at.application_mut().and_then(Application::take_request) {
            workers.arrive(now, end, number, time_ps);
        }
        self.event(place)
    }

    /// Handles the event of a service: returns an end and the number of a request of it that has been served. The
    /// caller repeats the call until nothing is returned.
    pub(super) fn served(&mut self, place: u32, now: Time) -> Option<(u32, u64)> {
        let set = &mut self.set[place as usize];
        *set = set.filter(|&at| at > now);
        self.workers[place as usize].served(now)
    }

    /// Returns the event to schedule for a service, unless one is pending that is due no later.
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
