//! Reads the progress of a world, now and at the ends of batches, slices and steps.

pub(crate) mod crossed;
pub(crate) mod ends;
pub(crate) mod flows;
pub(crate) mod host_state;
pub(crate) mod meters;
pub(crate) mod ports;
pub mod sample;
pub(crate) mod units;

use ends::machines;
use flows::{AllFlowTotals, ClassBytes};
use host_state::HostState;
use hostnet_kernel::{Simulation, Time};
use hostnet_model::core::Worker;
use hostnet_model::ether::Endpoint;
use hostnet_model::flow::Rank;
use hostnet_model::params::{ClusterParams, ServerParams};
use hostnet_model::{Machine, World};
use sample::Sample;
use serde::{Deserialize, Serialize};

/// Largest number of groups that the batches are merged into for a confidence interval.
pub(crate) const CONFIDENCE_GROUPS: usize = 32;

/// Reading of the partitions that this process simulates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartitionReading {
    /// Bytes that classes of traffic received since the start of the run.
    received: ClassBytes,
    /// Progress of all flows; see [`AllFlowTotals::moved`].
    moved: u64,
    /// Samples of servers since the start of the window, by their numbers.
    servers: Vec<(usize, Sample)>,
    /// True while lines or packets are in flight.
    busy: bool,
    /// Ranks of jobs that have not finished.
    unfinished_ranks: u64,
}

impl PartitionReading {
    /// Reads the partitions of a world whose statistics have been settled.
    pub(crate) fn read(
        simulation: &Simulation<World>,
        cluster: &ClusterParams,
        servers: &[Option<ServerParams>],
        now: Time,
    ) -> Self {
        let flows = AllFlowTotals::read(simulation, cluster, now);
        let (received, moved) = (flows.received(cluster), flows.moved());
        // Without jobs, the endpoints of a large network need no visit.
        let unfinished_ranks = if cluster.jobs.is_empty() { 0 } else { unfinished_ranks(simulation) };
        Self {
            received,
            moved,
            servers: samples(simulation, servers, now),
            busy: is_busy(simulation),
            unfinished_ranks,
        }
    }
}

/// Samples the servers that this process simulates since the start of the window, by their numbers. Their statistics
/// must have been settled.
pub(crate) fn samples(
    simulation: &Simulation<World>,
    servers: &[Option<ServerParams>],
    now: Time,
) -> Vec<(usize, Sample)> {
    let classes: Vec<usize> = servers.iter().flatten().map(|server| server.workloads.len()).collect();
    machines(simulation).map(|(number, machine)| (number, Sample::read(machine, classes[number], now))).collect()
}

/// Returns true if lines or packets are in flight in the partitions that this process simulates.
fn is_busy(simulation: &Simulation<World>) -> bool {
    simulation.worlds().any(|world| match world {
        World::Server(machine) => !machine.requests().is_empty() || !machine.packets().is_empty(),
        World::Fabric(fabric) => !fabric.packets().is_empty(),
        World::Remote => false,
    })
}

/// Returns the ranks of jobs on the cores of a server.
pub(crate) fn ranks(machine: &Machine) -> impl Iterator<Item = &Rank> {
    machine.engines::<Worker>().map(Worker::rank)
}

/// Returns true if the ranks at endpoints and servers of this process have all finished.
pub(crate) fn have_finished(simulation: &Simulation<World>) -> bool {
    simulation.worlds().all(|world| match world {
        World::Fabric(fabric) => fabric.endpoints().flat_map(Endpoint::ranks).all(|rank| rank.done_at().is_some()),
        World::Server(machine) => ranks(machine).all(|rank| rank.done_at().is_some()),
        World::Remote => true,
    })
}

/// Counts the ranks of jobs that have not finished, in the partitions that this process simulates.
pub(crate) fn unfinished_ranks(simulation: &Simulation<World>) -> u64 {
    let unfinished = |world: &World| match world {
        World::Fabric(fabric) => {
            fabric.endpoints().flat_map(Endpoint::ranks).filter(|rank| rank.done_at().is_none()).count() as u64
        }
        World::Server(machine) => ranks(machine).filter(|rank| rank.done_at().is_none()).count() as u64,
        World::Remote => 0,
    };
    simulation.worlds().map(unfinished).sum()
}

/// Reading of all partitions of a world.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorldReading {
    pub(crate) at: Time,
    /// Bytes that classes of traffic received since the start of the run.
    pub(crate) received: ClassBytes,
    /// Samples of servers since the start of the window, in the order of the partitions.
    pub(crate) servers: Vec<Sample>,
    /// A number that grows as long as the world is not stuck.
    pub(crate) moved: u64,
    /// True while lines or packets are in flight.
    pub(crate) busy: bool,
    /// Ranks of jobs that have not finished.
    pub(crate) unfinished_ranks: u64,
}

impl WorldReading {
    /// Joins the readings of all partitions.
    pub(crate) fn of(shares: Vec<PartitionReading>, now: Time) -> Self {
        let mut reading = Self { at: now, ..Self::default() };
        let mut servers = Vec::new();
        for share in shares {
            reading.received = reading.received.plus(&share.received);
            // Only a change of the sum matters, so it may wrap.
            reading.moved = reading.moved.wrapping_add(share.moved);
            reading.busy |= share.busy;
            reading.unfinished_ranks += share.unfinished_ranks;
            servers.extend(share.servers);
        }
        // Processes answer in the order of their ranks, but samples are indexed by server.
        reading.servers = in_number_order(servers);
        reading.moved = reading.servers.iter().fold(reading.moved, |sum, server| sum.wrapping_add(server.progress()));
        reading
    }
}

/// Sorts numbered values, numbered from 0, and drops the numbers.
pub(crate) fn in_number_order<T>(mut numbered: Vec<(usize, T)>) -> Vec<T> {
    numbered.sort_by_key(|thing| thing.0);
    numbered.into_iter().map(|(_, thing)| thing).collect()
}

/// Readings in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadingHistory {
    pub(crate) received: Vec<ClassBytes>,
    /// Samples of each server, in the order of the partitions.
    pub(crate) servers: Vec<Vec<Sample>>,
    /// States of each server for a time series; empty without one.
    pub(crate) host_states: Vec<Vec<HostState>>,
    pub(crate) times: Vec<Time>,
}

impl ReadingHistory {
    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns the readings of a server.
    pub(crate) fn of_server(&self, server: usize) -> &[Sample] {
        self.servers.get(server).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn push(&mut self, reading: WorldReading) {
        self.servers.resize_with(reading.servers.len(), Vec::new);
        self.times.push(reading.at);
        self.received.push(reading.received);
        for (history, sample) in self.servers.iter_mut().zip(reading.servers) {
            history.push(sample);
        }
    }

    /// Drops every second reading. Those that end an even number of batches stay.
    pub(crate) fn halve(&mut self) {
        fn half<T>(all: &mut Vec<T>) {
            // Totals are cumulative, so dropping the odd ends merges two batches into one.
            *all = all.drain(..).skip(1).step_by(2).collect();
        }
        half(&mut self.times);
        half(&mut self.received);
        self.servers.iter_mut().for_each(half);
    }
}
