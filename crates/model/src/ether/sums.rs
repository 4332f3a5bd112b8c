//! The reducers of a switch, and the engine that they share.

use crate::flow::{Reducer, SumEngine};
use crate::params::ClusterParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Reducers of a switch, and the engine that they share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SwitchSums {
    pub(super) reducers: Vec<Reducer>,
    pub(super) engine: SumEngine,
}

impl SwitchSums {
    /// Creates the reducers of all jobs at a host. `end` gives the end of the flow between two members of a job: its
    /// arguments are the job, this member and the other one.
    pub(super) fn new(cluster: &ClusterParams, host: u16, end: impl Fn(u32, u32, u32) -> Option<u32>) -> Self {
        let mut reducers = Vec::new();
        for (job, params) in (0..).zip(&cluster.jobs) {
            let numbers = params.hosts.len() as u32..;
            for (own, reducer) in numbers.zip(&params.reducers).filter(|(_, reducer)| reducer.host == host) {
                reducers.push(Reducer::new(job, own, reducer, |other| end(job, own, other)));
            }
        }
        Self { reducers, engine: SumEngine::default() }
    }

    pub(super) fn reset(&mut self, now: Time) {
        self.reducers.iter_mut().for_each(|reducer| reducer.reset(now));
    }
}
