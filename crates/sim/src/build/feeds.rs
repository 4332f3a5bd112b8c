//! Feeds traces to the cores that replay them.
//!
//! The model reads no files. Every 10 us, between events, each core that replays a trace gets the steps that it may
//! take until the next feeding, so that a trace of any length needs little memory. The checkpoint holds the position
//! of each core. A reader that is missing or at another position is reopened at that step.

use super::Layout;
use hostnet_model::app::Replay;
use hostnet_model::core::{Core, EngineKind, Executor};
use hostnet_model::params::{App, ServerParams, TraceParams, WorkloadKind};
use hostnet_model::Machine;
use hostnet_traffic::{AccessFormat, StepOptions, TraceError, TraceSteps};

/// Interval at which cores that replay traces are fed, in ps.
pub(crate) const FEED_PS: u64 = 10_000_000;
/// Steps at the beginning of a trace that are checked before a run.
const CHECKED_STEPS: usize = 1000;

/// A trace, and the index of the core that replays it among the parts.
#[derive(Debug)]
struct TraceFeed {
    core: usize,
    class: u8,
    params: TraceParams,
    reader: Option<OpenTrace>,
}

/// An open trace, and the number of its next step.
struct OpenTrace {
    steps: TraceSteps,
    at: u64,
}

impl std::fmt::Debug for OpenTrace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(formatter, "a trace at step {}", self.at)
    }
}

/// Traces of all cores, and the first error in one of them.
#[derive(Debug, Default)]
pub(crate) struct TraceFeeds {
    feeds: Vec<TraceFeed>,
    error: Option<TraceError>,
}

/// A clone reopens the traces.
impl Clone for TraceFeeds {
    fn clone(&self) -> Self {
        let again = |feed: &TraceFeed| TraceFeed {
            core: feed.core,
            class: feed.class,
            params: feed.params.clone(),
            // A file position cannot be shared with the original.
            reader: None,
        };
        Self { feeds: self.feeds.iter().map(again).collect(), error: self.error.clone() }
    }
}

impl TraceFeeds {
    /// Creates the feeds of the traces that the cores of a server replay.
    pub(crate) fn new(params: &ServerParams) -> Self {
        let layout = Layout::of(params, 0);
        let mut feeds = Vec::new();
        for (class, workload) in (0..).zip(&params.workloads) {
            let WorkloadKind::App(app) = &workload.kind else { continue };
            let App::Trace(trace) = &app.app else { continue };
            let feed = |&core: &u32| {
                let core = layout.core(core).0 as usize;
                TraceFeed { core, class, params: trace.clone(), reader: None }
            };
            feeds.extend(app.cores.iter().map(feed));
        }
        Self { feeds, error: None }
    }

    /// Returns true if no core replays a trace.
    pub(crate) fn is_empty(&self) -> bool {
        self.feeds.is_empty()
    }

    /// Returns the first error in a trace. The thread that replays that trace has ended.
    pub(crate) fn error(&self) -> Option<&TraceError> {
        self.error.as_ref()
    }

    /// Feeds every core the steps of another interval.
    pub(crate) fn fill(&mut self, machine: &mut Machine) {
        for index in 0..self.feeds.len() {
            let TraceFeed { core, class, .. } = self.feeds[index];
            let Some(core) = machine.components_mut()[core].get_mut::<Core>() else { continue };
            let threads = core.engines_mut().iter_mut().filter_map(Executor::of_mut);
            threads.filter(|thread| thread.class() == class).for_each(|thread| self.fill_core(index, thread));
        }
    }

    /// Like [`TraceFeeds::fill`], but for one thread, which has no steps left. `core` is the index of its core among
    /// the parts.
    pub(crate) fn fill_empty(&mut self, core: usize, thread: &mut Executor) {
        let Some(replay) = thread.replay_mut() else { return };
        if replay.waiting() > 0 || replay.ended() {
            return;
        }
        let of_thread = |feed: &TraceFeed| (feed.core, feed.class) == (core, thread.class());
        if let Some(index) = self.feeds.iter().position(of_thread) {
            self.fill_core(index, thread);
        }
    }

    fn fill_core(&mut self, index: usize, core: &mut Executor) {
        let steps = core.steps_max(FEED_PS);
        let Some(replay) = core.replay_mut() else { return };
        if let Err(error) = self.feeds[index].fill(replay, steps) {
            // The thread ends, so that the run reaches the next stop and reports the error.
            replay.end();
            self.error.get_or_insert(error);
        }
    }
}

impl TraceFeed {
    /// Feeds `replay` until `steps` steps are waiting.
    fn fill(&mut self, replay: &mut Replay, steps: u64) -> Result<(), TraceError> {
        let wanted = steps.saturating_sub(replay.waiting() as u64);
        // Without this check a thread that needs nothing would open its trace.
        if replay.ended() || wanted == 0 {
            return Ok(());
        }
        // Steps that wait are part of the checkpoint, so reading goes on behind them.
        let next = replay.taken() + replay.waiting() as u64;
        let mut reader = match self.reader.take().filter(|reader| reader.at == next) {
            Some(reader) => reader,
            None => OpenTrace { steps: open_at(&self.params, next)?, at: next },
        };
        for _ in 0..wanted {
            let Some(step) = reader.steps.next() else {
                replay.end();
                return Ok(());
            };
            let step = step?;
            replay.push(step.address, step.instructions, step.store);
            reader.at += 1;
        }
        self.reader = Some(reader);
        Ok(())
    }
}

fn open(params: &TraceParams) -> Result<TraceSteps, TraceError> {
    let options = StepOptions {
        format: params.format.as_deref().and_then(AccessFormat::named),
        memory_bytes: params.memory_bytes,
        thread: None,
        repeat: params.repeat,
    };
    TraceSteps::open(&params.file, options)
}

/// Opens a trace at step `next`.
fn open_at(params: &TraceParams, next: u64) -> Result<TraceSteps, TraceError> {
    let mut steps = open(params)?;
    steps.skip_steps(next)?;
    Ok(steps)
}

/// Checks the beginning of every trace that a server replays.
///
/// # Errors
/// Returns the first error found in any of the traces.
pub fn check_traces(params: &ServerParams) -> Result<(), TraceError> {
    for workload in &params.workloads {
        let WorkloadKind::App(app) = &workload.kind else { continue };
        let App::Trace(trace) = &app.app else { continue };
        // A wrong format shows at once; the rest is checked as it is read, since a trace may be huge.
        for step in open(trace)?.take(CHECKED_STEPS) {
            step?;
        }
    }
    Ok(())
}
