//! Shares a run among several processes. Each simulates some of the partitions, and all of them know the kept results
//! of the whole run.

use super::start::SharedExchange;
use super::{Options, Run, RunState};
use crate::build::PartitionShares;
use crate::error::SimulationError;
use crate::read::ports::PortTotals;
use hostnet_config::Code;
use hostnet_config::Plan;
use hostnet_kernel::checkpoint::CheckpointError;
use hostnet_kernel::{gather_all, gather_at_first, Exchange, ProcessGroup, Scheduler, Time};
use hostnet_model::{Payload, World};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::fmt;
use std::sync::PoisonError;

/// Processes that share a run, and the process of each partition.
#[derive(Clone)]
pub(super) struct Processes {
    exchange: SharedExchange,
    pub(super) homes: Vec<usize>,
    rank: usize,
}

impl fmt::Debug for Processes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Processes")
            .field("rank", &self.rank)
            .field("homes", &self.homes)
            .finish_non_exhaustive()
    }
}

type Partition = (World, Scheduler<Payload>);

impl Processes {
    /// Distributes a plan over the processes that `exchange` connects.
    pub(super) fn of(plan: &Plan, options: Options, exchange: SharedExchange) -> Self {
        let way = exchange.lock().unwrap_or_else(PoisonError::into_inner);
        let (rank, ranks) = (way.rank(), way.ranks());
        drop(way);
        Self { exchange, homes: PartitionShares::of(plan, ranks, options.threads).homes, rank }
    }

    /// Exchanges a value with all processes. Returns the values in the order of the processes.
    pub(super) fn gather_all<T: Serialize + DeserializeOwned>(&self, own: &T) -> Vec<T> {
        self.with(|exchange| gather_all(exchange, own))
    }

    /// Returns the value that this process read, or an error if any process failed to read its own.
    pub(super) fn agree_on<T>(&self, own: Result<T, CheckpointError>) -> Result<T, CheckpointError> {
        let errors = self.gather_all(&own.as_ref().err().map(ToString::to_string));
        let other = (0..).zip(errors).find_map(|(rank, error): (usize, _)| Some(format!("process {rank}: {}", error?)));
        own.and_then(|read| other.map_or(Ok(read), |error| Err(CheckpointError::Damaged(error))))
    }

    pub(super) fn ranks(&self) -> usize {
        self.with(|exchange| exchange.ranks())
    }

    /// Returns true if this process simulates the partition.
    pub(super) fn has(&self, partition: usize) -> bool {
        self.homes[partition] == self.rank
    }

    fn with<R>(&self, act: impl FnOnce(&mut dyn Exchange) -> R) -> R {
        act(&mut *self.exchange.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Run {
    /// Exchanges a value with all processes and returns the values in the order of the processes. A run that is not
    /// shared returns only its own.
    pub(super) fn gather_all<T: Serialize + DeserializeOwned>(&self, own: T) -> Vec<T> {
        match &self.processes {
            None => vec![own],
            Some(processes) => processes.gather_all(&own),
        }
    }

    /// Exchanges lists with all processes and returns them concatenated.
    pub(super) fn gather_lists<T: Serialize + DeserializeOwned>(&self, own: Vec<T>) -> Vec<T> {
        match &self.processes {
            None => own,
            Some(_) => self.gather_all(own).into_iter().flatten().collect(),
        }
    }

    /// Returns true if `here` is true in any process.
    pub(super) fn in_any_process(&self, here: bool) -> bool {
        self.processes.as_ref().map_or(here, |_| self.gather_all(here).contains(&true))
    }

    /// Returns the first error of any process.
    pub(super) fn agree(&self, own: Result<(), SimulationError>) -> Result<(), SimulationError> {
        if self.processes.is_none() {
            return own;
        }
        let errors = self.gather_all(own.err().map(|error| (error.code().name().to_owned(), error.to_string())));
        let first = errors.into_iter().flatten().next();
        first.map_or(Ok(()), |(code, text)| {
            Err(SimulationError::OtherProcess(Code::named(&code).unwrap_or(Code::Stuck), text))
        })
    }

    /// Returns the counters of the ports of all processes, in the order of the ports.
    pub(super) fn gather_ports(&self, own: Vec<((u8, u16, usize), PortTotals)>) -> Vec<PortTotals> {
        let mut ports = self.gather_lists(own);
        // Each process lists its ports only; the key restores the order of a single process.
        ports.sort_by_key(|port| port.0);
        ports.into_iter().map(|port| port.1).collect()
    }

    /// Returns true if this process writes the results of the run: the first process, or the only one.
    #[must_use]
    pub fn is_writer(&self) -> bool {
        self.processes.as_ref().is_none_or(|processes| processes.rank == 0)
    }

    /// Returns true if this process simulates the partition.
    pub(super) fn has(&self, partition: usize) -> bool {
        self.processes.as_ref().is_none_or(|processes| processes.has(partition))
    }

    /// Runs the partitions of this process to `limit`, in step with the other processes.
    pub(super) fn advance_across(&mut self, limit: Time) {
        let Self { processes: Some(processes), state: RunState { simulation, .. }, options, .. } = self else { return };
        let homes = &processes.homes;
        processes.with(|exchange| {
            simulation.run_until_across(limit, options.threads, &mut ProcessGroup { exchange, homes });
        });
    }

    /// Copies all partitions to the process that writes, for its report. The other processes keep theirs.
    pub fn gather(&mut self) {
        self.collect_partitions();
    }

    /// Copies all partitions to the process that writes. Returns the placeholders that the partitions replaced there.
    pub(super) fn collect_partitions(&mut self) -> Vec<(usize, Partition)> {
        let Some(processes) = self.processes.clone() else { return Vec::new() };
        let mut places = Vec::new();
        let parts = self.state.simulation.parts().iter().enumerate();
        // The process that writes has its own partitions already.
        let own = parts.filter(|(number, _)| processes.rank > 0 && processes.has(*number));
        let own: Vec<(usize, Partition)> = own.map(|(number, part)| (number, part.clone())).collect();
        for (number, part) in processes.with(|exchange| gather_at_first::<Vec<_>>(exchange, &own)).into_iter().flatten()
        {
            places.push((number, std::mem::replace(&mut self.state.simulation.parts_mut()[number], part)));
        }
        self.share_counters();
        places
    }

    /// Sends the counters of the observed server to all processes, as the writing process needs them.
    pub(super) fn share_counters(&mut self) {
        let own = self.has(self.options.observed_server).then(|| self.state.counters.clone());
        if let Some(counters) = self.gather_all(own).into_iter().flatten().next() {
            self.state.counters = counters;
        }
    }

    /// Puts back the placeholders that [`Run::collect_partitions`] returned.
    pub(super) fn restore_placeholders(&mut self, places: Vec<(usize, Partition)>) {
        for (number, part) in places {
            self.state.simulation.parts_mut()[number] = part;
        }
    }
}
