//! Engine of a switch that sums the vectors of jobs. It is modelled as an endpoint behind a cable within the switch.

use super::endpoint::Endpoint;
use super::sums::SwitchSums;
use crate::flow::{Reducer, ReducerRequest, SumEngine};
use crate::part::{NetContext, Payload};

impl Endpoint {
    /// Iterates over the reducers, if this endpoint stands for the engine of a switch.
    pub fn reducers(&self) -> impl Iterator<Item = &Reducer> {
        self.ranks.iter().flat_map(|ranks| &ranks.sums.reducers)
    }

    /// Returns the engine, if this endpoint stands for the engine of a switch.
    #[must_use]
    pub fn sum_engine(&self) -> Option<&SumEngine> {
        let sums = self.ranks.iter().map(|ranks| &ranks.sums);
        sums.filter(|sums| !sums.reducers.is_empty()).map(|sums| &sums.engine).next()
    }

    /// Passes bytes received at an end to a reducer. Returns false if there are none.
    pub(super) fn take_vectors(&mut self, sums: &mut SwitchSums, reducer: u32, end: u32) -> bool {
        let application = self.ends[end as usize].application_mut();
        let bytes = application.map_or(0, |application| application.take_arrived());
        if bytes > 0 {
            sums.reducers[reducer as usize].arrive(end, bytes);
        }
        bytes > 0
    }

    /// Runs a reducer until it has to wait. Its events are [`Payload::Begin`] of connection `event`.
    pub(super) fn run_reducer(&mut self, sums: &mut SwitchSums, reducer: u32, event: u32, context: &mut NetContext) {
        let (at, now) = (reducer as usize, context.now());
        loop {
            match sums.reducers[at].next(&mut sums.engine, now) {
                ReducerRequest::Nothing => return,
                ReducerRequest::Wake(done) => {
                    let delay_ps = done.ps().saturating_sub(now.ps()).max(1);
                    return context.send(context.id, delay_ps, Payload::Begin { connection: event });
                }
                ReducerRequest::Up(bytes) => {
                    if let Some(end) = sums.reducers[at].output() {
                        self.post_sum(sums, reducer, (end, bytes), context);
                    }
                }
                ReducerRequest::Down(bytes) => {
                    for input in 0..sums.reducers[at].inputs() {
                        if let Some(end) = sums.reducers[at].input(input) {
                            self.post_sum(sums, reducer, (end, bytes), context);
                        }
                    }
                }
            }
        }
    }

    /// Sends bytes of a sum by an end.
    fn post_sum(&mut self, sums: &mut SwitchSums, reducer: u32, (end, bytes): (u32, u64), context: &mut NetContext) {
        self.ends[end as usize].update_application(context.now(), |application| application.post(bytes));
        self.take_vectors(sums, reducer, end);
        self.flush(end, context);
    }
}
