//! What a world has done so far, and what it had done at the ends of batches, slices and steps.

pub(crate) mod crossed;
pub(crate) mod ends;
pub(crate) mod flows;
pub(crate) mod moment;
pub(crate) mod ports;
pub mod sample;
pub(crate) mod units;

use ends::machines;
use flows::{Received, Totals};
use hostnet_kernel::{Simulation, Time};
use hostnet_model::params::{ClusterParams, ServerParams};
use hostnet_model::World;
use moment::HostMoment;
use sample::Sample;
use serde::{Deserialize, Serialize};

/// What a world has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(crate) at: Time,
    /// What flows did since the start of the run.
    pub(crate) flows: Totals,
    /// What classes of traffic received since then.
    pub(crate) received: Received,
    /// What servers did since the start of the window, in the order of the partitions.
    pub(crate) servers: Vec<Sample>,
}

impl Reading {
    /// Reads a world whose books are settled.
    pub(crate) fn read(
        simulation: &Simulation<World>,
        cluster: &ClusterParams,
        servers: &[Option<ServerParams>],
        now: Time,
    ) -> Self {
        let classes = servers.iter().flatten().map(|server| server.workloads.len());
        let samples = machines(simulation).zip(classes).map(|(machine, classes)| Sample::read(machine, classes, now));
        let servers = samples.collect();
        let flows = Totals::read(simulation, cluster);
        Self { at: now, received: flows.received(cluster), flows, servers }
    }

    /// All that moves on while a world is not stuck.
    pub(crate) fn moved(&self) -> u64 {
        self.servers.iter().fold(self.flows.moved(), |sum, server| sum.wrapping_add(server.progress()))
    }
}

/// Readings in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct History {
    pub(crate) received: Vec<Received>,
    /// Of each server, in the order of the partitions.
    pub(crate) servers: Vec<Vec<Sample>>,
    /// Levels of each server, where they are wanted: of a time series.
    pub(crate) moments: Vec<Vec<HostMoment>>,
    pub(crate) times: Vec<Time>,
}

impl History {
    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// The readings of a server.
    pub(crate) fn of_server(&self, server: usize) -> &[Sample] {
        self.servers.get(server).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn push(&mut self, reading: Reading) {
        self.servers.resize_with(reading.servers.len(), Vec::new);
        self.times.push(reading.at);
        self.received.push(reading.received);
        for (history, sample) in self.servers.iter_mut().zip(reading.servers) {
            history.push(sample);
        }
    }

    /// Leaves every second reading out: those that end an even number of batches stay.
    pub(crate) fn halve(&mut self) {
        fn half<T>(all: &mut Vec<T>) {
            *all = all.drain(..).skip(1).step_by(2).collect();
        }
        half(&mut self.times);
        half(&mut self.received);
        self.servers.iter_mut().for_each(half);
    }
}
