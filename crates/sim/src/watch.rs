//! What may look at every event of a run.

use crate::events::EventLog;
use crate::trace::Recorder;
use hostnet_kernel::{Event, Observer};
use hostnet_model::{Machine, Payload};

/// What looks at every event of a run.
#[derive(Clone, Debug)]
pub(crate) enum Watch {
    /// Keeps a record of each.
    Log(EventLog),
    /// Follows every line.
    Trace(Recorder),
}

impl Observer<Machine> for Watch {
    fn before(&mut self, event: &Event<Payload>, machine: &Machine) {
        match self {
            Self::Log(log) => log.before(event, machine),
            Self::Trace(recorder) => recorder.before(event, machine),
        }
    }

    fn after(&mut self, event: &Event<Payload>, machine: &Machine) {
        match self {
            Self::Log(log) => log.after(event, machine),
            Self::Trace(recorder) => recorder.after(event, machine),
        }
    }
}
