//! A run that several processes share: each has some of the partitions, and all know what is kept of the whole.

use super::{Run, State};
use crate::error::SimulationError;
use crate::read::ports::PortTotals;
use crate::read::units::Recorder;
use hostnet_kernel::{told, told_first, Across, Exchange, Scheduler, Time};
use hostnet_model::{Payload, World};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The processes that share a run, and which of them has each partition.
#[derive(Clone)]
pub(super) struct Processes {
    exchange: Arc<Mutex<dyn Exchange>>,
    pub(super) homes: Vec<usize>,
    rank: usize,
}

impl fmt::Debug for Processes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Processes").field("rank", &self.rank).field("homes", &self.homes).finish_non_exhaustive()
    }
}

type Part = (World, Scheduler<Payload>);

/// Partitions with their numbers, as one process hands them to another; and what only it knows of the counters.
#[derive(Serialize, Deserialize)]
struct Parts {
    parts: Vec<(usize, Part)>,
    counters: Option<Recorder>,
}

impl Processes {
    pub(super) fn new(exchange: Arc<Mutex<dyn Exchange>>, homes: Vec<usize>) -> Self {
        let rank = exchange.lock().unwrap_or_else(PoisonError::into_inner).rank();
        Self { exchange, homes, rank }
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
            Some(processes) => processes.with(|exchange| told(exchange, &own)),
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
        let errors = self.told(own.err().map(|error| error.to_string()));
        errors.into_iter().flatten().next().map_or(Ok(()), |text| Err(SimulationError::Told(text)))
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
        let own = own.map(|(number, part)| (number, part.clone())).collect();
        let counters = self.has(self.options.looked_at).then(|| self.state.counters.clone());
        let all = processes.with(|exchange| told_first(exchange, &Parts { parts: own, counters }));
        for Parts { parts, counters } in all {
            for (number, part) in parts {
                places.push((number, std::mem::replace(&mut self.state.simulation.parts_mut()[number], part)));
            }
            if let Some(counters) = counters {
                self.state.counters = counters;
            }
        }
        places
    }

    /// Puts back what [`Run::borrow`] returned.
    pub(super) fn give_back(&mut self, places: Vec<(usize, Part)>) {
        for (number, part) in places {
            self.state.simulation.parts_mut()[number] = part;
        }
    }
}
