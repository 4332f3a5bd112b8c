//! Observers of every event of a run.

pub(crate) mod epochs;
pub(crate) mod events;
mod fingerprint;
pub(crate) mod trace;

use crate::watch::events::EventLog;
use crate::watch::trace::TraceRecorder;
use hostnet_kernel::{Event, Observer};
use hostnet_model::Payload;
use hostnet_model::World;

/// Observer of every event of a run.
#[derive(Clone, Debug)]
pub(crate) enum EventObserver {
    /// Keeps a record of each event.
    Log(EventLog),
    /// Follows every line of a server.
    Trace(TraceRecorder),
}

impl Observer<World> for EventObserver {
    fn before(&mut self, event: &Event<Payload>, world: &World) {
        match (self, world) {
            (Self::Log(log), _) => log.before(event, world),
            (Self::Trace(recorder), World::Server(machine)) if recorder.follows(event.target) => {
                recorder.before(event, machine);
            }
            (Self::Trace(_), _) => {}
        }
    }

    fn after(&mut self, event: &Event<Payload>, world: &World) {
        match (self, world) {
            (Self::Trace(recorder), World::Server(machine)) if recorder.follows(event.target) => {
                recorder.after(event, machine);
            }
            (Self::Trace(_) | Self::Log(_), _) => {}
        }
    }
}
