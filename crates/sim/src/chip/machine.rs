//! The chips that a run simulates: one chip with a mirror of itself, or the chips of a rack, some of which may be in
//! other processes.

use crate::SharedExchange;
use hostnet_chip::{Chip, Rack};
use hostnet_config::ChipPlan;
use hostnet_kernel::{all_gather, Exchange, ProcessGroup};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::sync::PoisonError;

/// Units of time per cycle in the event queue of a rack: one slot of the queue.
const CYCLE: u64 = 64;

/// Chips of a run.
pub(super) enum ChipMachine {
    /// One chip, and a mirror that stands for the remote chip.
    Alone(Box<Chip>),
    /// A rack of chips.
    Rack(Box<RackChips>),
}

/// Chips of a rack.
pub(super) struct RackChips {
    rack: Rack,
    cycle: u64,
    threads: usize,
    others: Option<ChipProcesses>,
}

/// Processes of a run, and the process of each chip.
struct ChipProcesses {
    way: SharedExchange,
    homes: Vec<usize>,
    rank: usize,
}

impl ChipProcesses {
    /// Assigns chips to processes. Neighbours stay together, the first chips in the first process.
    fn of(way: SharedExchange, chips: usize) -> Self {
        let (rank, ranks) = with(&way, |exchange| (exchange.rank(), exchange.ranks()));
        Self { way, homes: (0..chips).map(|chip| chip * ranks / chips).collect(), rank }
    }
}

fn with<R>(way: &SharedExchange, act: impl FnOnce(&mut dyn Exchange) -> R) -> R {
    act(&mut *way.lock().unwrap_or_else(PoisonError::into_inner))
}

impl ChipMachine {
    /// Creates the chips of a plan in their first cycle, on at most `threads` threads.
    ///
    /// # Panics
    /// Panics if the plan was not resolved from a configuration.
    pub(super) fn new(plan: &ChipPlan, threads: usize, way: Option<SharedExchange>) -> Self {
        let Some(torus) = plan.torus else {
            let chip = Chip::new(plan.chip.clone()).expect("a plan is of a chip that can be built");
            return Self::Alone(Box::new(chip));
        };
        let others = way.map(|way| ChipProcesses::of(way, torus.chips() as usize));
        let has = |chip: u16| others.as_ref().is_none_or(|others| others.homes[usize::from(chip)] == others.rank);
        let rack = Rack::share(&plan.chip, torus, CYCLE, has).expect("a plan is of a rack that can be built");
        Self::Rack(Box::new(RackChips { rack, cycle: 0, threads, others }))
    }

    /// Returns the cycles so far.
    pub(super) fn cycle(&self) -> u64 {
        match self {
            Self::Alone(chip) => chip.status().cycle,
            Self::Rack(chips) => chips.cycle,
        }
    }

    /// Runs until `cycle`. Returns false if no chip of any process has work left.
    pub(super) fn run_until(&mut self, cycle: u64) -> bool {
        match self {
            Self::Alone(chip) => chip.run_until(cycle),
            Self::Rack(chips) => {
                chips.run_until(cycle);
                // A chip without work may still get a request from another process, so all of them must be idle.
                let idle = chips.rack.is_idle();
                self.all_gather(&idle).contains(&false)
            }
        }
    }

    /// Resets the statistics.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Alone(chip) => chip.clear(),
            Self::Rack(chips) => chips.rack.clear(),
        }
    }

    /// Returns the chips of this process, in their order.
    pub(super) fn chips(&self) -> Vec<&Chip> {
        match self {
            Self::Alone(chip) => vec![chip],
            Self::Rack(chips) => chips.rack.chips().collect(),
        }
    }

    /// Exchanges a value with all processes. Returns the values in the order of the processes.
    pub(super) fn all_gather<T: Serialize + DeserializeOwned + Clone>(&self, own: &T) -> Vec<T> {
        match self {
            Self::Rack(chips) => match &chips.others {
                Some(others) => with(&others.way, |exchange| all_gather(exchange, own)),
                None => vec![own.clone()],
            },
            Self::Alone(_) => vec![own.clone()],
        }
    }
}

impl RackChips {
    fn run_until(&mut self, cycle: u64) {
        let Self { rack, threads, others, .. } = self;
        match others {
            None => rack.run_until(cycle, *threads),
            Some(ChipProcesses { way, homes, .. }) => with(way, |exchange| {
                rack.run_until_across(cycle, *threads, &mut ProcessGroup { exchange, homes });
            }),
        }
        self.cycle = cycle;
    }
}
