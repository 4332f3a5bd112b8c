//! Reads a run: its results so far, its epochs, its trace.

use super::Run;
use crate::build::undivided_servers;
use crate::read::ends::machine;
use crate::read::flows::AllFlowTotals;
use crate::read::units::Units;
use crate::read::{in_number_order, samples};
use crate::report::epochs;
use crate::report::table::Table;
use crate::report::view::WorldView;
use crate::report::Report;
use crate::watch::epochs::Epoch;
use crate::watch::events::EventLog;
use crate::watch::trace::Trace;
use hostnet_config::Plan;
#[cfg(test)]
use hostnet_kernel::Scheduler;
use hostnet_kernel::Simulation;
use hostnet_model::World;
#[cfg(test)]
use hostnet_model::{Machine, Payload};

impl Run {
    /// Returns the plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the simulation for inspection.
    #[must_use]
    pub fn simulation(&self) -> &Simulation<World> {
        &self.state.simulation
    }

    /// Returns the events handled so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.state.simulation.progress().events
    }

    /// Returns the simulated time so far, in ps.
    #[must_use]
    pub fn simulated_ps(&self) -> u64 {
        self.state.simulation.progress().time.ps()
    }

    /// Returns the maximum number of events that were pending at once in a partition.
    #[must_use]
    pub fn pending_max(&self) -> usize {
        self.state.simulation.parts().iter().map(|part| part.1.pending_max()).max().unwrap_or(0)
    }

    /// Returns the counts of every counting unit of a server at the end of each interval, and now. Returns `None`
    /// without `counters_ps` or before the measurement has begun.
    #[must_use]
    pub fn units(&mut self) -> Option<Vec<Units>> {
        let now = self.state.settle();
        self.state.window.counters.finish(machine(&self.state.simulation, self.options.observed_server)?, now)
    }

    /// Returns the results so far.
    #[must_use]
    pub fn report(&mut self) -> Report {
        // Areas and times are integrated only at changes, so they are brought up to now first.
        let now = self.state.settle();
        let state = &self.state;
        let flows = AllFlowTotals::read(&state.simulation, &self.plan.cluster, now);
        let samples = in_number_order(samples(&state.simulation, &self.servers, now));
        let undivided = undivided_servers(&self.plan.cluster);
        let view = WorldView {
            plan: &self.plan,
            servers: &self.servers,
            undivided: &undivided,
            simulation: &state.simulation,
            flows: &flows,
            samples: &samples,
            before: &state.window.before,
            ports_before: &state.window.ports_before,
            batches: &state.window.batches,
            skips: &state.window.skips,
            series: &state.window.series,
            window_start: state.window.start,
            now,
            complete: state.done,
        };
        let (summary, tables) = view.build_results();
        Report::new(summary, tables)
    }

    /// Returns the requested checkpoint, once its time has been reached.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&[u8]> {
        self.checkpoint.as_deref()
    }

    /// Returns true if this process writes the results of the run: the first process, or the only one.
    #[must_use]
    pub fn is_writer(&self) -> bool {
        self.processes.is_writer()
    }

    /// Copies all partitions to the process that writes, for its report. The other processes keep theirs.
    pub fn gather(&mut self) {
        // Placeholders are not restored: the run is over, and its report needs all partitions.
        self.state.collect(&self.processes, self.options.observed_server);
    }

    /// Returns the names of the workloads of the server that counters and trace observe.
    #[must_use]
    pub fn observed_workloads(&self) -> Vec<&str> {
        let server = self.servers.iter().flatten().nth(self.options.observed_server);
        server.iter().flat_map(|server| &server.workloads).map(|workload| workload.name.as_str()).collect()
    }

    /// Takes the requested trace, up to now if it has not reached its end. Returns `None` before the end of the
    /// warm-up.
    #[must_use]
    pub fn take_trace(&mut self) -> Option<Trace> {
        self.state.settle();
        self.observer.take_trace(&mut self.state.simulation)
    }

    /// Returns the epochs so far. The last epoch of a finished run ends with the run.
    #[must_use]
    pub fn epochs(&self) -> &[Epoch] {
        &self.state.epochs
    }

    /// Returns the epochs so far as a table.
    #[must_use]
    pub fn epochs_table(&self) -> Table {
        epochs::table(self.epochs())
    }

    /// Returns true if the run has reached its end.
    pub(crate) fn is_done(&self) -> bool {
        self.state.done
    }

    /// Logs every event from now on.
    pub(crate) fn start_log(&mut self) {
        self.observer.start_log(&self.state.simulation);
    }

    /// Takes the log since [`Run::start_log`] and stops logging.
    pub(crate) fn take_log(&mut self) -> EventLog {
        self.observer.take_log()
    }

    /// Returns the first machine and its scheduler, for tests that change the course of a run.
    #[cfg(test)]
    pub(crate) fn world(&mut self) -> (&mut Machine, &mut Scheduler<Payload>) {
        match &mut self.state.simulation.parts_mut()[0] {
            (World::Server(machine), scheduler) => (machine, scheduler),
            (World::Fabric(_) | World::Remote, _) => panic!("servers come first"),
        }
    }
}
