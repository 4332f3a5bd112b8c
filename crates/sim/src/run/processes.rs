//! A run that several processes share: each has some of the partitions, and all know what is kept of the whole.

use super::start::Way;
use super::{Options, Run, State};
use crate::build::Shares;
use crate::error::SimulationError;
use crate::read::ports::PortTotals;
use hostnet_config::Code;
use hostnet_config::Plan;
use hostnet_kernel::checkpoint::CheckpointError;
use hostnet_kernel::{told, told_first, Across, Exchange, Scheduler, Time};
use hostnet_model::{Payload, World};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::fmt;
use std::sync::PoisonError;

/// The processes that share a run, and which of them has each partition.
#[derive(Clone)]
pub(super) struct Processes {
    exchange: Way,
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

type Part = (World, Scheduler<Payload>);

impl Processes {
    /// The processes that share a plan.
    pub(super) fn of(plan: &Plan, options: Options, exchange: Way) -> Self {
        let way = exchange.lock().unwrap_or_else(PoisonError::into_inner);
        let (rank, ranks) = (way.rank(), way.ranks());
        drop(way);
        Self { exchange, homes: Shares::of(plan, ranks, options.threads).homes, rank }
    }

    /// What each process has told, by their numbers.
    pub(super) fn told<T: Serialize + DeserializeOwned>(&self, own: &T) -> Vec<T> {
        self.with(|exchange| told(exchange, own))
    }

    /// What was read here, unless another process could not read it.
    pub(super) fn agree_on<T>(&self, own: Result<T, CheckpointError>) -> Result<T, CheckpointError> {
        let errors = self.told(&own.as_ref().err().map(ToString::to_string));
        let other = (0..).zip(errors).find_map(|(rank, error): (usize, _)| Some(format!("process {rank}: {}", error?)));
        own.and_then(|read| other.map_or(Ok(read), |error| Err(CheckpointError::Damaged(error))))
    }

    pub(super) fn ranks(&self) -> usize {
        self.with(|exchange| exchange.ranks())
    }

    /// Whether this process has a partition.
    pub(super) fn has(&self, partition: usize) -> bool {
        self.homes[partition] == self.rank
    }

    fn with<R>(&self, act: impl FnOnce(&mut dyn Exchange) -> R) -> R {
        act(&mut *self.exchange.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Run {
    /// What each process has told, by their numbers; without others what this one has.
    pub(super) fn told<T: Serialize + DeserializeOwned>(&self, own: T) -> Vec<T> {
        match &self.processes {
            None => vec![own],
            Some(processes) => processes.told(&own),
        }
    }

    /// The same for things of which each process has some.
    pub(super) fn told_all<T: Serialize + DeserializeOwned>(&self, own: Vec<T>) -> Vec<T> {
        match &self.processes {
            None => own,
            Some(_) => self.told(own).into_iter().flatten().collect(),
        }
    }

    /// Whether something is so in any process.
    pub(super) fn anywhere(&self, here: bool) -> bool {
        self.processes.as_ref().map_or(here, |_| self.told(here).contains(&true))
    }

    /// The first error that a process has come to.
    pub(super) fn agree(&self, own: Result<(), SimulationError>) -> Result<(), SimulationError> {
        if self.processes.is_none() {
            return own;
        }
        let errors = self.told(own.err().map(|error| (error.code().name().to_owned(), error.to_string())));
        let first = errors.into_iter().flatten().next();
        first.map_or(Ok(()), |(code, text)| Err(SimulationError::Told(Code::named(&code).unwrap_or(Code::Stuck), text)))
    }

    /// What every port had counted, in their order.
    pub(super) fn told_ports(&self, own: Vec<((u8, u16, usize), PortTotals)>) -> Vec<PortTotals> {
        let mut ports = self.told_all(own);
        ports.sort_by_key(|port| port.0);
        ports.into_iter().map(|port| port.1).collect()
    }

    /// Whether this process writes what the run finds: the first does, or the only one.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.processes.as_ref().is_none_or(|processes| processes.rank == 0)
    }

    /// Whether a partition is simulated here.
    pub(super) fn has(&self, partition: usize) -> bool {
        self.processes.as_ref().is_none_or(|processes| processes.has(partition))
    }

    /// Runs the partitions that are here to `limit`, and the others elsewhere.
    pub(super) fn advance_across(&mut self, limit: Time) {
        let Self { processes: Some(processes), state: State { simulation, .. }, options, .. } = self else { return };
        let homes = &processes.homes;
        processes.with(|exchange| {
            simulation.run_until_across(limit, options.threads, &mut Across { exchange, homes });
        });
    }

    /// Brings all partitions to the process that writes, for its report. The others keep theirs.
    pub fn gather(&mut self) {
        self.borrow();
    }

    /// Brings all partitions to the process that writes, and returns what was in their places there.
    pub(super) fn borrow(&mut self) -> Vec<(usize, Part)> {
        let Some(processes) = self.processes.clone() else { return Vec::new() };
        let mut places = Vec::new();
        let parts = self.state.simulation.parts().iter().enumerate();
        let own = parts.filter(|(number, _)| processes.rank > 0 && processes.has(*number));
        let own: Vec<(usize, Part)> = own.map(|(number, part)| (number, part.clone())).collect();
        for (number, part) in processes.with(|exchange| told_first::<Vec<_>>(exchange, &own)).into_iter().flatten() {
            places.push((number, std::mem::replace(&mut self.state.simulation.parts_mut()[number], part)));
        }
        self.bring_counters();
        places
    }

    /// Lets the process that writes know the counters of the server that is looked at.
    pub(super) fn bring_counters(&mut self) {
        let own = self.has(self.options.looked_at).then(|| self.state.counters.clone());
        if let Some(counters) = self.told(own).into_iter().flatten().next() {
            self.state.counters = counters;
        }
    }

    /// Puts back what [`Run::borrow`] returned.
    pub(super) fn give_back(&mut self, places: Vec<(usize, Part)>) {
        for (number, part) in places {
            self.state.simulation.parts_mut()[number] = part;
        }
    }
}
