//! Forecasts how well processes will share a run, from the beginning of the run.

use super::options::Options;
use super::Run;
use crate::build::{PartitionShares, Preparation};
use hostnet_config::Plan;
use hostnet_kernel::{Scheduler, Time};
use hostnet_model::{Payload, World};
use std::time::{Duration, Instant};

/// Measurements of the beginning of a run, on one thread of this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// Simulated time of the beginning, in ps.
    pub simulated_ps: u64,
    /// Simulated time of the whole run, as far as known, in ps.
    pub target_ps: u64,
    /// Exchanges between the processes in the measured beginning.
    pub meetings: u64,
    /// Events handled in the measured beginning of the run.
    pub events: u64,
    /// Events on the critical path: of each exchange interval, those of the busiest thread of the process with the
    /// most work, summed over all intervals.
    pub slowest: u64,
    /// Wall time of the beginning, in s.
    pub wall_s: f64,
}

impl Forecast {
    /// Measures the beginning of a run that `ranks` processes of `threads` threads each would share, for a wall time
    /// of `budget`. Returns `None` if `on_preparation` returns false.
    #[must_use]
    pub fn of(
        plan: &Plan,
        ranks: usize,
        threads: usize,
        budget: Duration,
        on_preparation: impl FnMut(Preparation) -> bool,
    ) -> Option<Self> {
        let homes = PartitionShares::of(plan, ranks, threads).homes;
        // The network is cut into as many partitions as the shared run would have; they run on one thread.
        let mut run = Run::prepare(plan, Options { threads: ranks * threads, ..Options::default() }, on_preparation)?;
        run.feed();
        let (mut found, began) = (Self::default(), Instant::now());
        let limit = run.state.window.target(&run.plan);
        while began.elapsed() < budget && found.window(&mut run, limit, &homes, [ranks, threads]) {}
        found.wall_s = began.elapsed().as_secs_f64();
        found.simulated_ps = run.simulated_ps();
        found.target_ps = limit.ps();
        Some(found)
    }

    /// Runs to the next exchange. Returns false if no event is left before `limit`.
    fn window(&mut self, run: &mut Run, limit: Time, homes: &[usize], [ranks, threads]: [usize; 2]) -> bool {
        let simulation = &mut run.state.simulation;
        let before: Vec<u64> = simulation.parts().iter().map(|part| part.1.handled()).collect();
        let Some(next) = simulation.parts().iter().filter_map(|part| part.1.next_time()).min() else { return false };
        if next > limit {
            return false;
        }
        // Nothing sent in a window arrives in it, so processes meet once per window after the next event.
        simulation.run_until(next.saturating_add(simulation.window_ps().max(1) - 1).min(limit), |_| true);
        let handled = |(part, before): (&(World, Scheduler<Payload>), u64)| part.1.handled() - before;
        let events: Vec<u64> = simulation.parts().iter().zip(before).map(handled).collect();
        self.meetings += 1;
        self.events += events.iter().sum::<u64>();
        self.slowest += (0..ranks).map(|rank| of_rank(&events, homes, rank, threads)).max().unwrap_or(0);
        true
    }
}

/// Returns the events of the busiest thread of a process: an even share, but no less than those of its largest
/// partition.
fn of_rank(events: &[u64], homes: &[usize], rank: usize, threads: usize) -> u64 {
    let own = || events.iter().zip(homes).filter(|(_, &home)| home == rank).map(|(&events, _)| events);
    own().sum::<u64>().div_ceil(threads as u64).max(own().max().unwrap_or(0))
}
