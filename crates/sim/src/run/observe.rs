//! Observes a run without changing it: epochs, checkpoint, counters, the event log, the trace.

use super::checkpoints::label;
use super::pace::epoch_ps;
use super::Run;
use crate::build::feeds::{TraceFeeds, FEED_PS};
use crate::read::ends::machine;
use crate::watch::epochs::{Epoch, StateDigest};
use crate::watch::events::EventLog;
use crate::watch::trace::{Trace, TraceRecorder};
use crate::watch::EventObserver;
#[cfg(test)]
use hostnet_kernel::Scheduler;
use hostnet_kernel::{checkpoint, Time};
#[cfg(test)]
use hostnet_model::Payload;
use hostnet_model::{Machine, World};

impl Run {
    /// Returns the first time up to `stop` at which the run must pause: for the checkpoint, at the end of an epoch or
    /// of the trace, to feed traces to cores, or to pass recorded packets on.
    pub(super) fn pause_before(&self, stop: Time) -> Time {
        let now = self.state.simulation.progress().time;
        let checkpoint = Some(Time::from_ps(self.options.checkpoint_at_ps)).filter(|&at| at > now);
        let recorded = self.records.then(|| now.saturating_add(super::RECORD_STEP_PS));
        let fed = self.is_fed().then(|| Time::from_ps((now.ps() / FEED_PS + 1) * FEED_PS));
        let pauses = [checkpoint, recorded, fed, Some(self.epoch_end()), Some(self.trace_end())];
        pauses.into_iter().flatten().fold(stop, Time::min)
    }

    pub(super) fn at_pause(&mut self, now: Time) {
        if now == self.epoch_end() {
            self.end_epoch();
        }
        if self.is_fed() && now.ps() % FEED_PS == 0 {
            self.feed();
        }
        if now == self.trace_end() {
            self.trace = self.take_trace();
        }
        if self.options.checkpoint_at_ps == now.ps() && self.checkpoint.is_none() {
            // One process writes the whole checkpoint, so it needs the partitions of all.
            let places = self.collect_partitions();
            if self.is_writer() {
                self.checkpoint = checkpoint::write(&label(&self.plan, self.options), &self.state).ok();
            }
            self.restore_placeholders(places);
        }
    }

    /// Returns true if cores replay traces.
    fn is_fed(&self) -> bool {
        self.feeds.iter().any(|feeds| !TraceFeeds::is_empty(feeds))
    }

    /// Returns the requested checkpoint, once its time has been reached.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&[u8]> {
        self.checkpoint.as_deref()
    }

    /// Returns the end of the current epoch.
    fn epoch_end(&self) -> Time {
        Time::from_ps((self.state.epochs.len() as u64 + 1) * epoch_ps(&self.plan))
    }

    /// Appends the hash of the current state to the epochs.
    pub(super) fn end_epoch(&mut self) {
        self.settle();
        let digests = self.gather_all(StateDigest::of(&self.state.simulation)).into_iter();
        let whole = digests.fold(StateDigest::default(), StateDigest::plus);
        self.state.epochs.push(whole.epoch(self.state.simulation.progress().time));
    }

    /// Returns the server that counters and trace observe, if this process simulates it.
    pub(super) fn observed_server(&self) -> Option<&Machine> {
        machine(&self.state.simulation, self.options.observed_server)
    }

    /// Returns the names of the workloads of the server that counters and trace observe.
    #[must_use]
    pub fn observed_workloads(&self) -> Vec<&str> {
        let server = self.servers.iter().flatten().nth(self.options.observed_server);
        server.iter().flat_map(|server| &server.workloads).map(|workload| workload.name.as_str()).collect()
    }

    /// Reads the counters if an interval ends at `now`.
    pub(super) fn read_counters(&mut self, now: Time) {
        let state = &mut self.state;
        state.counters.read_at_end(machine(&state.simulation, self.options.observed_server), now);
    }

    /// Returns the end of the trace, if one is being recorded.
    fn trace_end(&self) -> Time {
        match &self.watch {
            Some(EventObserver::Trace(recorder)) => Time::from_ps(recorder.end_ps()),
            _ => Time::MAX,
        }
    }

    /// Starts the trace, if one was requested.
    pub(super) fn start_trace(&mut self) {
        let now_ps = self.settle().ps();
        let Some(server) = self.servers.iter().flatten().nth(self.options.observed_server) else { return };
        let Some(machine) = self.observed_server().filter(|_| self.options.trace_ps > 0) else { return };
        let end_ps = now_ps.saturating_add(self.options.trace_ps);
        self.watch = Some(EventObserver::Trace(TraceRecorder::new(server.socket(), machine, now_ps, end_ps)));
        self.set_step_recording(true);
    }

    /// Turns on or off that the observed server keeps the steps of its pools for the trace.
    fn set_step_recording(&mut self, on: bool) {
        let machines = self.state.simulation.parts_mut().iter_mut().filter_map(|(world, _)| match world {
            World::Server(machine) => Some(machine),
            World::Fabric(_) | World::Remote => None,
        });
        machines.skip(self.options.observed_server).take(1).for_each(|machine| machine.watch(on));
    }

    /// Takes the requested trace, up to now if it has not reached its end. Returns `None` before the end of the
    /// warm-up.
    #[must_use]
    pub fn take_trace(&mut self) -> Option<Trace> {
        match self.watch.take() {
            Some(EventObserver::Trace(recorder)) => {
                let now = self.settle();
                let trace = self.observed_server().map(|machine| recorder.finish(machine, now.ps()));
                self.set_step_recording(false);
                trace
            }
            other => {
                self.watch = other;
                self.trace.take()
            }
        }
    }

    /// Returns the epochs so far. The last epoch of a finished run ends with the run.
    #[must_use]
    pub fn epochs(&self) -> &[Epoch] {
        &self.state.epochs
    }

    /// Returns true if the run has reached its end.
    pub(crate) fn is_done(&self) -> bool {
        self.state.done
    }

    /// Logs every event from now on.
    pub(crate) fn start_log(&mut self) {
        self.watch = Some(EventObserver::Log(EventLog::of(&self.state.simulation)));
    }

    /// Takes the log since [`Run::start_log`] and stops logging.
    pub(crate) fn take_log(&mut self) -> EventLog {
        match self.watch.take() {
            Some(EventObserver::Log(log)) => log.in_order(),
            _ => EventLog::default(),
        }
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
