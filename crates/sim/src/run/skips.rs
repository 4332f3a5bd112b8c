//! Skips repetitions of jobs that are certified as alike.

use super::processes::Processes;
use super::state::RunState;
use crate::forward::{jobs, JobSkip, RankRepetitions};
use crate::read::flows::AllFlowTotals;
use hostnet_config::Plan;
use hostnet_kernel::{Simulation, Time};
use hostnet_model::ether::Endpoint;
use hostnet_model::flow::Rank;
use hostnet_model::World;

impl RunState {
    /// Skips repetitions of the only job, if those that have been simulated are alike. The measurement then begins
    /// anew, so that it covers such repetitions only.
    pub(super) fn skip_repetitions(&mut self, plan: &Plan, processes: &Processes, now: Time) {
        let Self { simulation, window, .. } = self;
        if !window.skips.are_allowed || !window.is_measuring() || !window.checks_jobs_at(plan, now) {
            return;
        }
        if processes.in_any(!jobs::have_completed(ranks(simulation), window.skips.next_test())) {
            return;
        }
        let own: Vec<_> = ranks(simulation).filter_map(RankRepetitions::read).collect();
        let all: Vec<_> = processes.all_gather(own).into_iter().flatten().collect();
        if all.iter().all(|rank| rank.is_done) {
            return;
        }
        let flows = processes.all_gather(AllFlowTotals::read(simulation, &plan.cluster, now));
        let retransmitted = flows.iter().flat_map(|flows| &flows.flows).map(|flow| flow.retransmitted_packets).sum();
        let left_ps = window.target(plan).since(now);
        let skip = window.skips.test(plan, &all, left_ps, retransmitted, now);
        if let Some(skip) = skip {
            apply(simulation, &skip);
            window.restart = now + skip.wait_ps;
        }
    }
}

/// Begins to record the repetitions of ranks, if the run may skip some.
pub(super) fn track(state: &mut RunState) {
    if state.window.skips.are_allowed {
        ranks_mut(&mut state.simulation).for_each(Rank::track_repetitions);
    }
}

fn apply(simulation: &mut Simulation<World>, skip: &JobSkip) {
    ranks_mut(simulation).for_each(|rank| rank.skip_repetitions(skip.skipped, skip.ps, skip.averaged));
}

/// Iterates over the ranks at the endpoints of this process.
fn ranks(simulation: &Simulation<World>) -> impl Iterator<Item = &Rank> {
    let fabrics = simulation.worlds().filter_map(|world| match world {
        World::Fabric(fabric) => Some(fabric),
        World::Server(_) | World::Remote => None,
    });
    fabrics.flat_map(|fabric| fabric.endpoints()).flat_map(Endpoint::ranks)
}

fn ranks_mut(simulation: &mut Simulation<World>) -> impl Iterator<Item = &mut Rank> {
    let fabrics = simulation.parts_mut().iter_mut().filter_map(|part| match &mut part.0 {
        World::Fabric(fabric) => Some(fabric),
        World::Server(_) | World::Remote => None,
    });
    fabrics.flat_map(|fabric| fabric.endpoints_mut()).flat_map(Endpoint::ranks_mut)
}
