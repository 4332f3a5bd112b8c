//! Runs and predicts plans.

use crate::capture::Capture;
use crate::controller::GuestController;
use crate::errors::{
    checkpoint_error, config_error, defect, fault_error, impossible_state, os_error, simulation_error,
};
use crate::exchange::{AbortOnPanic, PythonExchange};
use crate::governor::GuestGovernor;
use crate::guest::RaisedException;
use crate::perfetto;
use crate::plan::Plan;
use crate::result::RunResult;
use crate::supervise::{supervise, supervise_or, Describe};
use crate::tiering::GuestPolicy;
use hostnet_commands::Status;
use hostnet_config::{Code, Length, WarmUp};
use hostnet_kernel::Time;
use hostnet_model::Packet;
use hostnet_sim::{
    CheckpointPiece, FinishedRun, Forecast, HostError, ManyStatus, MissingComponent, Options, PartitionShares,
    Preparation, RateTables, Run, SharedExchange,
};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

/// Shortest automatic warm-up, in ps: accurate enough for the progress of many runs.
const WARM_UP_GUESS_PS: u64 = 40_000_000;

/// Returns the tables of rates that all runs of the process share, unless the user has switched the cache off.
fn rate_tables() -> Option<&'static RateTables> {
    static TABLES: RateTables = RateTables::new(hostnet_files::user_cache);
    (!hostnet_files::is_cache_off()).then_some(&TABLES)
}

pub(crate) enum Failure {
    Simulation(hostnet_sim::SimulationError),
    Checkpoint(hostnet_sim::CheckpointError),
    Host(HostError),
    File(std::io::Error),
    /// The run was stopped before it produced anything.
    Stopped,
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Simulation(error) => simulation_error(&error),
            Failure::Checkpoint(error) => checkpoint_error(&error),
            Failure::Host(error) => config_error(error.code, format!("host {error}")),
            Failure::File(error) => os_error(&error),
            Failure::Stopped => PyKeyboardInterrupt::new_err("stopped"),
        }
    }
}

/// Path of a capture, the host that it captures, and the most bytes kept of each packet (snaplen).
type CaptureOf = (PathBuf, String, u32);

/// Runs a plan and returns its result, which does not depend on `threads`.
///
/// `controllers` and `governors` are pairs of a host name and a Python object. `host` is the server whose counters
/// and trace are recorded. `on_checkpoint(name, at_ps, data)` is called for each part of a checkpoint: `name` is that
/// of a record, "index", or None for a whole checkpoint. `checkpoint` and `records` are the checkpoint that the run
/// continues from. If several `processes` share the run, only the first returns a result, the others None.
#[expect(clippy::too_many_arguments, reason = "they are the keywords of a Python function")]
#[pyfunction]
#[pyo3(signature = (
    plan, *, threads=1, series_ps=0, counters_ps=0, checkpoint_at_ps=0, checkpoint_every_ps=0, trace_ps=0, host=None,
    checkpoint=None, records=Vec::new(), on_checkpoint=None, controllers=Vec::new(), governors=Vec::new(), capture=None,
    processes=None, progress=None
))]
pub(crate) fn run(
    py: Python<'_>,
    plan: &Plan,
    threads: usize,
    series_ps: u64,
    counters_ps: u64,
    checkpoint_at_ps: u64,
    checkpoint_every_ps: u64,
    trace_ps: u64,
    host: Option<&str>,
    checkpoint: Option<&[u8]>,
    records: Vec<Vec<u8>>,
    on_checkpoint: Option<Py<PyAny>>,
    controllers: Vec<(String, Bound<'_, PyAny>)>,
    governors: Vec<(String, Bound<'_, PyAny>)>,
    capture: Option<CaptureOf>,
    processes: Option<Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<RunResult>> {
    let observed_server = if counters_ps > 0 || trace_ps > 0 { plan.server_number(host)? } else { 0 };
    if trace_ps > 0 && plan.server_of(host)?.sockets.len() > 1 {
        return Err(config_error(Code::NotSupported, "trace: a server of several sockets has none yet; leave it out"));
    }
    let threads = threads.max(1);
    let options = Options {
        threads,
        series_ps,
        checkpoint_at_ps,
        checkpoint_every_ps,
        counters_ps,
        trace_ps,
        observed_server,
        rate_tables: rate_tables(),
    };
    let raised = RaisedException::default();
    let guests = Guests::of(&controllers, &governors, &raised)?;
    // A damaged checkpoint may pass all checks and still hold an impossible state.
    let panicked = if checkpoint.is_some() { impossible_state } else { defect };
    let way = processes.as_ref().map(PythonExchange::of).transpose()?;
    let alarm = processes.map(Bound::unbind);
    let result = supervise_or(py, progress, panicked, |monitor| {
        // A panic here notifies the other processes, which would wait for this one otherwise.
        let _alarm = AbortOnPanic(alarm);
        let from = checkpoint.map(|index| (index, &records[..]));
        let mut run = start(&plan.plan, options, from, way, |status| monitor.publish(status))?;
        let joined = guests.join(&mut run);
        run.agree_on_host(joined).map_err(Failure::Host)?;
        let mut file = capture.map_or(Ok(None), |capture| start_capture(&mut run, plan, capture))?;
        // An exception in a callback ends the run at the next status.
        let on_status = |status| monitor.publish(Status::from(status)) && !raised.any();
        let on_packets = |packets: &[(Time, Packet)]| file.as_mut().is_none_or(|file| file.add(packets));
        let on_checkpoint = |kept: CheckpointPiece| raised.unless(hand_over(on_checkpoint.as_ref(), kept));
        let complete = run.run_with_checkpoints(on_status, on_packets, on_checkpoint).map_err(Failure::Simulation)?;
        if let Some(file) = file {
            file.finish().map_err(Failure::File)?;
        }
        run.gather();
        Ok(run.is_writer().then(|| finish(&mut run, complete)))
    })?;
    // The exception of the user's object comes first, as it is the cause of what follows.
    match raised.take() {
        Some(error) => Err(error),
        None => result.map_err(|failure: Failure| failure.into()),
    }
}

/// Records the packets of a host. Returns the file to write them to, in the process that writes.
fn start_capture<'a>(
    run: &mut Run,
    plan: &'a Plan,
    (path, host, snaplen): CaptureOf,
) -> Result<Option<Capture<'a>>, Failure> {
    run.record(&host).map_err(Failure::Host)?;
    let file = run.is_writer().then(|| Capture::create(&path, snaplen, &plan.plan.cluster.flows));
    file.transpose().map_err(Failure::File)
}

/// Starts a run, or resumes it from a checkpoint.
fn start(
    plan: &hostnet_config::Plan,
    options: Options,
    from: Option<(&[u8], &[Vec<u8>])>,
    way: Option<SharedExchange>,
    mut on_status: impl FnMut(Status) -> bool,
) -> Result<Run, Failure> {
    let on_preparation = |stage: Preparation| on_status(stage.into());
    let run = match (from, way) {
        (Some((index, records)), way) => {
            return Run::resume_from(plan, options, index, records, way).map_err(Failure::Checkpoint);
        }
        (None, None) => Run::prepare(plan, options, on_preparation),
        (None, Some(way)) => Run::prepare_across(plan, options, way, on_preparation),
    };
    run.ok_or(Failure::Stopped)
}

/// Python controllers, tiering policies and governors of a run, by host name.
struct Guests {
    controllers: Vec<(String, GuestController)>,
    policies: Vec<(String, GuestPolicy)>,
    governors: Vec<(String, GuestGovernor)>,
}

type Given<'py> = [(String, Bound<'py, PyAny>)];

impl Guests {
    fn of(controllers: &Given<'_>, governors: &Given<'_>, raised: &RaisedException) -> PyResult<Self> {
        let mut policies = Vec::new();
        let mut others = Vec::new();
        for (host, own) in controllers {
            let decides_on_pages = own.hasattr(GuestPolicy::METHOD)?;
            if decides_on_pages {
                policies.push((host.clone(), GuestPolicy::new(own, raised)?));
            }
            // One object may do both.
            if !decides_on_pages || own.hasattr("on_sample")? {
                others.push((host.clone(), GuestController::new(own, raised)?));
            }
        }
        let governors = governors.iter().map(|(host, own)| Ok((host.clone(), GuestGovernor::new(own, raised)?)));
        Ok(Self { controllers: others, policies, governors: governors.collect::<PyResult<_>>()? })
    }

    /// Attaches the controllers, policies and governors to their hosts.
    fn join(self, run: &mut Run) -> Result<(), HostError> {
        for (host, controller) in self.controllers {
            run.attach(&host, Box::new(controller))?;
        }
        for (host, policy) in self.policies {
            run.attach_policy(&host, Box::new(policy))?;
        }
        for (host, governor) in self.governors {
            run.attach_governor(&host, Box::new(governor))?;
        }
        run.check_controllers().map_err(hint)
    }
}

/// Adds to an error about a missing controller or governor how it is passed in Python.
fn hint(mut error: HostError) -> HostError {
    let argument = match error.missing {
        Some(MissingComponent::Controller | MissingComponent::Policy) => "controllers",
        Some(MissingComponent::Governor) => "governors",
        None => return error,
    };
    error.why += &format!("; in Python: hostnet.run(file, {argument}={{\"{}\": ...}})", error.host);
    error
}

/// Passes a part of a checkpoint to Python.
fn hand_over(receiver: Option<&Py<PyAny>>, kept: CheckpointPiece) -> PyResult<()> {
    let (name, at_ps, bytes) = match kept {
        CheckpointPiece::Whole(bytes) => (None, 0, bytes),
        CheckpointPiece::Record { at_ps, partition, bytes } => {
            (Some(format!("partition-{partition:05}")), at_ps, bytes)
        }
        CheckpointPiece::Index { at_ps, bytes } => (Some("index".to_owned()), at_ps, bytes),
    };
    receiver.map_or(Ok(()), |receiver| {
        Python::attach(|py| receiver.call1(py, (name, at_ps, PyBytes::new(py, bytes))).map(|_| ()))
    })
}

/// Share of a partition: the name of its server, its weight, and the rank of its process.
type PartitionShare = (Option<String>, u64, usize);

/// Returns how a plan is divided among `ranks` processes of `threads` threads each.
///
/// The first value lists for each partition the name of its server or None, its weight in network ports, and the rank
/// of its process. The second is the window in ps, or None if the world is not cut.
#[pyfunction]
#[pyo3(signature = (plan, ranks, threads=1))]
pub(crate) fn shares(plan: &Plan, ranks: usize, threads: usize) -> (Vec<PartitionShare>, Option<u64>) {
    let PartitionShares { servers, weights, homes, window_ps } = PartitionShares::of(&plan.plan, ranks, threads);
    let names = servers.into_iter().map(Some).chain(std::iter::repeat(None));
    let partitions = names.zip(weights).zip(homes).map(|((name, weight), home)| (name, weight, home));
    (partitions.collect(), window_ps)
}

/// Runs the beginning of a plan for about `seconds`, to estimate how `ranks` processes of `threads` threads each
/// would share it.
///
/// Returns the simulated time and that of the whole run in ps, the number of windows after which the processes would
/// meet, the events, those of the busiest process in each window summed up, and the wall time in seconds.
#[pyfunction]
#[pyo3(signature = (plan, ranks, threads, seconds, *, progress=None))]
pub(crate) fn forecast(
    py: Python<'_>,
    plan: &Plan,
    ranks: usize,
    threads: usize,
    seconds: f64,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, u64, u64, u64, u64, f64)> {
    let budget = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let found = supervise(py, progress, |monitor| {
        Forecast::of(&plan.plan, ranks, threads, budget, |stage| monitor.publish(Status::from(stage)))
    })?;
    let Forecast { simulated_ps, target_ps, meetings, events, slowest, wall_s } = found.ok_or(Failure::Stopped)?;
    Ok((simulated_ps, target_ps, meetings, events, slowest, wall_s))
}

/// Predicts the results of a plan without simulating it, from a fixed point of closed forms.
#[pyfunction]
pub(crate) fn predict(plan: &Plan) -> PyResult<RunResult> {
    let finished = hostnet_commands::predict(&plan.plan).map_err(fault_error)?;
    Ok(RunResult::new(finished, None, None))
}

fn finish(run: &mut Run, complete: bool) -> RunResult {
    let finished = FinishedRun::of(run, complete);
    let units = run.units();
    let trace = run.take_trace().map(|trace| perfetto::file(&trace, &run.observed_workloads()));
    RunResult::new(finished, run.checkpoint().map(<[u8]>::to_vec), units).with_trace(trace)
}

/// Runs plans, `threads` at a time (0: one per core), and returns their results in the same order.
#[pyfunction]
#[pyo3(signature = (plans, *, threads=0, series_ps=0, progress=None))]
pub(crate) fn run_many(
    py: Python<'_>,
    plans: Vec<PyRef<'_, Plan>>,
    threads: usize,
    series_ps: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<RunResult>> {
    let plans: Vec<hostnet_config::Plan> = plans.iter().map(|plan| plan.plan.clone()).collect();
    let threads = if threads == 0 { std::thread::available_parallelism().map_or(1, NonZero::get) } else { threads };
    let options = Options { series_ps, rate_tables: rate_tables(), ..Options::default() };
    let expected_ps = plans.iter().map(expected_ps).sum();
    let finished = supervise(py, progress, |monitor| {
        hostnet_sim::run_many(&plans, options, threads, |status| monitor.publish(All { status, expected_ps }))
    })?;
    let finished = finished.map_err(Failure::Simulation)?;
    Ok(finished.into_iter().map(|finished| RunResult::new(finished, None, None)).collect())
}

/// Estimates how long a plan will be simulated, in ps, if that is known.
fn expected_ps(plan: &hostnet_config::Plan) -> Option<u128> {
    let warm_up_ps = match plan.run.warm_up {
        WarmUp::Auto => WARM_UP_GUESS_PS,
        WarmUp::Fixed { ps } => ps,
    };
    let length_ps = match plan.run.length {
        Length::Duration { ps } => ps,
        Length::Precision { .. } => plan.run.duration_max_ps,
        // The end of jobs is not known in advance.
        Length::Jobs => return None,
    };
    Some(u128::from(warm_up_ps) + u128::from(length_ps))
}

struct All {
    status: ManyStatus,
    expected_ps: Option<u128>,
}

impl Describe for All {
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()> {
        let status = self.status;
        entries.set_item("done", status.done)?;
        entries.set_item("total", status.total)?;
        entries.set_item("simulated_ps", status.simulated_ps)?;
        entries.set_item("events", status.events)?;
        let runs = share(status.done as u128, status.total as u128);
        let simulated = self.expected_ps.map_or(0.0, |expected| share(status.simulated_ps.into(), expected));
        // Runs that reach their precision end early, so the share of completed runs may be ahead.
        entries.set_item("progress", runs.max(simulated))
    }
}

fn share(part: u128, whole: u128) -> f64 {
    if whole == 0 {
        1.0
    } else {
        (part as f64 / whole as f64).min(1.0)
    }
}
