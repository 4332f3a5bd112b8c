//! What looks at a run and does not change it: epochs, the record of events, the trace.

use super::Run;
use crate::epochs::{self, Epoch};
use crate::events::EventLog;
use crate::trace::{Recorder, Trace};
use crate::watch::Watch;
#[cfg(test)]
use hostnet_kernel::Scheduler;
use hostnet_kernel::Time;
#[cfg(test)]
use hostnet_model::{Machine, Payload};

impl Run {
    /// When the trace shall end, if one is being made.
    pub(super) fn trace_end(&self) -> Time {
        match &self.watch {
            Some(Watch::Trace(recorder)) => Time::from_ps(recorder.end_ps()),
            _ => Time::MAX,
        }
    }

    /// Keeps the hash of the state as it is now.
    pub(super) fn end_epoch(&mut self) {
        self.state.epochs.push(epochs::end(&mut self.state.simulation));
    }

    /// Begins the trace, if one is asked for.
    pub(super) fn start_trace(&mut self) {
        let now_ps = self.simulated_ps();
        if self.options.trace_ps > 0 {
            let machine = &self.state.simulation.parts()[0].0;
            let end_ps = now_ps.saturating_add(self.options.trace_ps);
            self.watch = Some(Watch::Trace(Recorder::new(&self.plan.server, machine, now_ps, end_ps)));
        }
    }

    /// The trace that was asked for, up to now if it has not come to its end. None before the end of the warm-up.
    #[must_use]
    pub fn take_trace(&mut self) -> Option<Trace> {
        match self.watch.take() {
            Some(Watch::Trace(recorder)) => Some(recorder.finish(self.simulated_ps())),
            other => {
                self.watch = other;
                self.trace.take()
            }
        }
    }

    /// The epochs so far. The last of a run that has come to its end ends with it.
    #[must_use]
    pub fn epochs(&self) -> &[Epoch] {
        &self.state.epochs
    }

    /// Whether the run has come to its end.
    pub(crate) fn is_done(&self) -> bool {
        self.state.done
    }

    /// Keeps a record of every event from now on.
    pub(crate) fn start_log(&mut self) {
        self.watch = Some(Watch::Log(EventLog::default()));
    }

    /// The records since [`Run::start_log`]; none are kept from now on.
    pub(crate) fn take_log(&mut self) -> EventLog {
        match self.watch.take() {
            Some(Watch::Log(log)) => log,
            _ => EventLog::default(),
        }
    }

    /// The machine and its scheduler, to change what happens.
    #[cfg(test)]
    pub(crate) fn world(&mut self) -> (&mut Machine, &mut Scheduler<Payload>) {
        let (machine, scheduler) = &mut self.state.simulation.parts_mut()[0];
        (machine, scheduler)
    }
}
