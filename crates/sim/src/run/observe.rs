//! Observes the events of a run without changing it: for the event log, or for the trace of a server.

use super::options::Options;
use crate::read::ends::machine;
use crate::watch::events::EventLog;
use crate::watch::trace::{Trace, TraceRecorder};
use crate::watch::EventObserver;
use hostnet_kernel::{Simulation, Time};
use hostnet_model::params::ServerParams;
use hostnet_model::World;

/// Observer of every event of a run, if there is one, and the trace that it has recorded.
#[derive(Clone, Debug)]
pub(super) struct RunObserver {
    /// Observed server, by its number among the servers.
    server: usize,
    /// Duration of the trace, in ps; 0 = no trace.
    trace_ps: u64,
    watch: Option<EventObserver>,
    trace: Option<Trace>,
}

impl RunObserver {
    /// Creates the observer that `options` request. It does not observe yet.
    pub(super) fn of(options: Options) -> Self {
        Self { server: options.observed_server, trace_ps: options.trace_ps, watch: None, trace: None }
    }

    /// Returns the observer, if any event is observed.
    pub(super) fn watch_mut(&mut self) -> Option<&mut EventObserver> {
        self.watch.as_mut()
    }

    /// Returns true if events are observed.
    pub(super) fn is_watching(&self) -> bool {
        self.watch.is_some()
    }

    /// Returns the end of the trace, if one is being recorded.
    pub(super) fn trace_end(&self) -> Time {
        match &self.watch {
            Some(EventObserver::Trace(recorder)) => Time::from_ps(recorder.end_ps()),
            _ => Time::MAX,
        }
    }

    /// Starts the trace at `now`, if one was requested. `server` has the parameters of the observed server.
    pub(super) fn start_trace(&mut self, simulation: &mut Simulation<World>, server: &ServerParams, now: Time) {
        let Some(machine) = machine(simulation, self.server).filter(|_| self.trace_ps > 0) else { return };
        let end_ps = now.ps().saturating_add(self.trace_ps);
        self.watch = Some(EventObserver::Trace(TraceRecorder::new(server.socket(), machine, now.ps(), end_ps)));
        self.set_step_recording(simulation, true);
    }

    /// Turns on or off that the observed server keeps the steps of its pools for the trace.
    fn set_step_recording(&self, simulation: &mut Simulation<World>, on: bool) {
        let machines = simulation.parts_mut().iter_mut().filter_map(|(world, _)| match world {
            World::Server(machine) => Some(machine),
            World::Fabric(_) | World::Remote => None,
        });
        machines.skip(self.server).take(1).for_each(|machine| machine.watch(on));
    }

    /// Ends the trace now and keeps it until it is taken.
    pub(super) fn end_trace(&mut self, simulation: &mut Simulation<World>) {
        self.trace = self.take_trace(simulation);
    }

    /// Takes the requested trace, up to now if it has not reached its end. The statistics must have been settled.
    pub(super) fn take_trace(&mut self, simulation: &mut Simulation<World>) -> Option<Trace> {
        match self.watch.take() {
            Some(EventObserver::Trace(recorder)) => {
                let now_ps = simulation.progress().time.ps();
                let trace = machine(simulation, self.server).map(|machine| recorder.finish(machine, now_ps));
                self.set_step_recording(simulation, false);
                trace
            }
            // The trace may have ended before: then it is kept, and a log goes on.
            other => {
                self.watch = other;
                self.trace.take()
            }
        }
    }

    /// Logs every event from now on.
    pub(super) fn start_log(&mut self, simulation: &Simulation<World>) {
        self.watch = Some(EventObserver::Log(EventLog::of(simulation)));
    }

    /// Takes the log since [`RunObserver::start_log`] and stops logging.
    pub(super) fn take_log(&mut self) -> EventLog {
        match self.watch.take() {
            Some(EventObserver::Log(log)) => log.in_order(),
            _ => EventLog::default(),
        }
    }
}
