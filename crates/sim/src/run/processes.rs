//! Shares a run among several processes. Each simulates some of the partitions, and all of them know the kept results
//! of the whole run.

use super::options::Options;
use crate::build::PartitionShares;
use crate::error::SimulationError;
use crate::read::ports::PortTotals;
use hostnet_config::Code;
use hostnet_config::Plan;
use hostnet_kernel::checkpoint::CheckpointError;
use hostnet_kernel::{all_gather, gather_at_first, Exchange, ProcessGroup, Scheduler, Simulation, Time};
use hostnet_model::{Payload, World};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Connection to the other processes of a run.
pub type SharedExchange = Arc<Mutex<dyn Exchange>>;

/// A process of a run that several share, and the process of each partition.
#[derive(Clone)]
struct Member {
    exchange: SharedExchange,
    homes: Vec<usize>,
    rank: usize,
}

impl fmt::Debug for Member {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Member").field("rank", &self.rank).field("homes", &self.homes).finish_non_exhaustive()
    }
}

/// A partition of the simulation and its pending events.
pub(super) type Partition = (World, Scheduler<Payload>);

impl Member {
    fn exchange_with<R>(&self, act: impl FnOnce(&mut dyn Exchange) -> R) -> R {
        act(&mut *self.exchange.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn has(&self, partition: usize) -> bool {
        self.homes[partition] == self.rank
    }
}

/// Processes that simulate a run: this one alone, or several that share it.
#[derive(Clone, Debug)]
pub(super) struct Processes(Option<Member>);

impl Processes {
    /// A run that no other process shares.
    pub(super) const ALONE: Self = Self(None);

    /// Distributes a plan over the processes that `exchange` connects.
    pub(super) fn of(plan: &Plan, options: Options, exchange: SharedExchange) -> Self {
        let way = exchange.lock().unwrap_or_else(PoisonError::into_inner);
        let (rank, ranks) = (way.rank(), way.ranks());
        // The guard borrows `exchange`, which the member takes over.
        drop(way);
        Self(Some(Member { exchange, homes: PartitionShares::of(plan, ranks, options.threads).homes, rank }))
    }

    /// Returns true if several processes share the run.
    pub(super) fn are_several(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the number of processes.
    pub(super) fn ranks(&self) -> usize {
        self.0.as_ref().map_or(1, |member| member.exchange_with(|exchange| exchange.ranks()))
    }

    /// Returns true if this process writes the results of the run: the first process, or the only one.
    pub(super) fn is_writer(&self) -> bool {
        self.0.as_ref().is_none_or(|member| member.rank == 0)
    }

    /// Returns true if this process simulates the partition.
    pub(super) fn has(&self, partition: usize) -> bool {
        self.0.as_ref().is_none_or(|member| member.has(partition))
    }

    /// Exchanges a value with all processes and returns the values in the order of the processes. A run that is not
    /// shared returns only its own.
    pub(super) fn all_gather<T: Serialize + DeserializeOwned>(&self, own: T) -> Vec<T> {
        match &self.0 {
            None => vec![own],
            Some(member) => member.exchange_with(|exchange| all_gather(exchange, &own)),
        }
    }

    /// Exchanges lists with all processes and returns them concatenated.
    pub(super) fn gather_lists<T: Serialize + DeserializeOwned>(&self, own: Vec<T>) -> Vec<T> {
        match &self.0 {
            None => own,
            Some(_) => self.all_gather(own).into_iter().flatten().collect(),
        }
    }

    /// Returns the counters of the ports of all processes, in the order of the ports.
    pub(super) fn gather_ports(&self, own: Vec<((u8, u16, usize), PortTotals)>) -> Vec<PortTotals> {
        let mut ports = self.gather_lists(own);
        // Each process lists its ports only; the key restores the order of a single process.
        ports.sort_by_key(|port| port.0);
        ports.into_iter().map(|port| port.1).collect()
    }

    /// Returns true if `here` is true in any process.
    pub(super) fn in_any(&self, here: bool) -> bool {
        self.0.as_ref().map_or(here, |_| self.all_gather(here).contains(&true))
    }

    /// Returns the first error of any process.
    pub(super) fn agree(&self, own: Result<(), SimulationError>) -> Result<(), SimulationError> {
        if self.0.is_none() {
            return own;
        }
        let errors = self.all_gather(own.err().map(|error| (error.code().name().to_owned(), error.to_string())));
        let first = errors.into_iter().flatten().next();
        first.map_or(Ok(()), |(code, text)| {
            // All processes return the same error, that of the lowest rank, also if they have one themselves.
            Err(SimulationError::OtherProcess(Code::named(&code).unwrap_or(Code::Stuck), text))
        })
    }

    /// Returns the value that this process read, or an error if any process failed to read its own.
    pub(super) fn agree_on<T>(&self, own: Result<T, CheckpointError>) -> Result<T, CheckpointError> {
        if self.0.is_none() {
            return own;
        }
        let errors = self.all_gather(own.as_ref().err().map(ToString::to_string));
        let other = (0..).zip(errors).find_map(|(rank, error): (usize, _)| Some(format!("process {rank}: {}", error?)));
        // The own error takes precedence, as it is not reduced to its text.
        own.and_then(|read| other.map_or(Ok(read), |error| Err(CheckpointError::Damaged(error))))
    }

    /// Runs the partitions of this process to `limit` on `threads` threads, in step with the other processes.
    pub(super) fn advance(&self, simulation: &mut Simulation<World>, limit: Time, threads: usize) {
        let Some(member) = &self.0 else {
            return simulation.run_until_parallel(limit, threads);
        };
        let homes = &member.homes;
        member.exchange_with(|exchange| {
            simulation.run_until_across(limit, threads, &mut ProcessGroup { exchange, homes });
        });
    }

    /// Copies all partitions to the process that writes. Returns the placeholders that the partitions replaced there.
    pub(super) fn collect_partitions(&self, simulation: &mut Simulation<World>) -> Vec<(usize, Partition)> {
        let Some(member) = &self.0 else { return Vec::new() };
        let mut places = Vec::new();
        let parts = simulation.parts().iter().enumerate();
        // The process that writes has its own partitions already.
        let own = parts.filter(|(number, _)| member.rank > 0 && member.has(*number));
        let own: Vec<(usize, Partition)> = own.map(|(number, part)| (number, part.clone())).collect();
        let all = member.exchange_with(|exchange| gather_at_first::<Vec<_>>(exchange, &own));
        for (number, part) in all.into_iter().flatten() {
            places.push((number, std::mem::replace(&mut simulation.parts_mut()[number], part)));
        }
        places
    }

    /// Puts back the placeholders that [`Processes::collect_partitions`] returned.
    pub(super) fn restore_placeholders(simulation: &mut Simulation<World>, places: Vec<(usize, Partition)>) {
        for (number, part) in places {
            simulation.parts_mut()[number] = part;
        }
    }
}
