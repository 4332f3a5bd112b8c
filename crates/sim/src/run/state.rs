//! The state of a run that a checkpoint holds.

use super::processes::{Partition, Processes};
use super::stuck::ProgressCheck;
use super::window::MeasuringWindow;
use crate::read::sample::settle_world;
use crate::watch::epochs::{Epoch, StateDigest};
use hostnet_kernel::{Simulation, Time};
use hostnet_model::World;
use serde::{Deserialize, Serialize};

/// State of a run that a checkpoint holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunState {
    pub(super) simulation: Simulation<World>,
    pub(super) window: MeasuringWindow,
    pub(super) progress: ProgressCheck,
    pub(super) epochs: Vec<Epoch>,
    pub(super) done: bool,
}

impl RunState {
    /// Returns the simulated time so far.
    pub(super) fn now(&self) -> Time {
        self.simulation.progress().time
    }

    /// Brings the statistics of all parts up to now, and returns the time.
    pub(super) fn settle(&mut self) -> Time {
        let now = self.now();
        self.simulation.parts_mut().iter_mut().for_each(|part| settle_world(&mut part.0, now));
        now
    }

    /// Appends the hash of the current state to the epochs.
    pub(super) fn end_epoch(&mut self, processes: &Processes) {
        let now = self.settle();
        let digests = processes.all_gather(StateDigest::of(&self.simulation)).into_iter();
        let whole = digests.fold(StateDigest::default(), StateDigest::plus);
        self.epochs.push(whole.epoch(now));
    }

    /// Copies all partitions to the process that writes. Returns the placeholders that the partitions replaced there.
    /// `observed_server` is the server that the counters observe.
    pub(super) fn collect(&mut self, processes: &Processes, observed_server: usize) -> Vec<(usize, Partition)> {
        let places = processes.collect_partitions(&mut self.simulation);
        if processes.are_several() {
            self.share_counters(processes, observed_server);
        }
        places
    }

    /// Sends the counters of the observed server to all processes, as the writing process needs them.
    pub(super) fn share_counters(&mut self, processes: &Processes, observed_server: usize) {
        let own = processes.has(observed_server).then(|| self.window.counters.clone());
        if let Some(counters) = processes.all_gather(own).into_iter().flatten().next() {
            self.window.counters = counters;
        }
    }
}
