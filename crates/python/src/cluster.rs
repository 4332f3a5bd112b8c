//! Clusters: their configurations and runs.

use crate::capture::Capture;
use crate::controller::{Guest, Raised};
use crate::errors::{defect, impossible_state, ConfigError};
use crate::plan::format_of;
use crate::result::RunResult;
use crate::run::{Failure, One};
use crate::supervise::{supervise_or, Describe};
use hostnet_config::{Input, RunPlan};
use hostnet_model::params::HostKind;
use hostnet_sim::{cluster, epochs_table, Finished, Status};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};

/// A checked and resolved configuration of a cluster.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct ClusterPlan {
    plan: hostnet_config::ClusterPlan,
}

#[pymethods]
impl ClusterPlan {
    /// Name of the run.
    #[getter]
    fn name(&self) -> &str {
        &self.plan.name
    }

    /// Hash of everything that has an influence on the results.
    #[getter]
    fn hash(&self) -> &str {
        &self.plan.hash
    }

    /// Seed of every random stream.
    #[getter]
    fn seed(&self) -> u64 {
        self.plan.run.seed
    }

    /// What the user wrote that has no effect in the model, and why.
    #[getter]
    fn ignored(&self) -> Vec<String> {
        self.plan.ignored.clone()
    }

    /// Why results are not checked against measurements, if they are not.
    #[getter]
    fn unvalidated(&self) -> Option<&str> {
        self.plan.unvalidated.as_deref()
    }

    /// The complete configuration as JSON. Resolving it gives this plan again.
    fn effective_json(&self) -> String {
        format!("{:#}", self.plan.effective)
    }

    /// The names of the hosts, in their order.
    #[getter]
    fn hosts(&self) -> Vec<&str> {
        self.plan.cluster.hosts.iter().map(|host| host.name.as_str()).collect()
    }

    /// The names of those that are servers.
    #[getter]
    fn servers(&self) -> Vec<&str> {
        let servers = self.plan.cluster.hosts.iter().filter(|host| matches!(host.kind, HostKind::Server(_)));
        servers.map(|host| host.name.as_str()).collect()
    }

    fn __repr__(&self) -> String {
        let RunPlan { seed, .. } = self.plan.run;
        format!("<ClusterPlan {} seed {seed}>", self.plan.name)
    }
}

/// Checks a configuration of a cluster and resolves presets, units and names.
#[pyfunction]
#[pyo3(signature = (text, *, format="toml", file="<text>", base_dir=".", overrides=Vec::new()))]
pub(crate) fn cluster_plan(
    text: &str,
    format: &str,
    file: &str,
    base_dir: &str,
    overrides: Vec<String>,
) -> PyResult<ClusterPlan> {
    let input = Input { text, format: format_of(format)?, file, base_dir: Path::new(base_dir), overrides: &overrides };
    let plan = hostnet_config::cluster_plan(&input).map_err(|error| ConfigError::new_err(error.to_string()))?;
    Ok(ClusterPlan { plan })
}

/// Whether a text describes a cluster: whether it has a table of hosts.
#[pyfunction]
#[pyo3(signature = (text, *, format="toml"))]
pub(crate) fn is_cluster(text: &str, format: &str) -> PyResult<bool> {
    Ok(hostnet_config::is_cluster(text, format_of(format)?))
}

/// The JSON Schema of configurations of clusters.
#[pyfunction]
pub(crate) fn cluster_schema() -> String {
    format!("{:#}", hostnet_config::cluster_schema())
}

/// A commented configuration of a cluster to start from.
#[pyfunction]
pub(crate) fn cluster_template(name: &str) -> PyResult<&'static str> {
    hostnet_config::cluster_template(name).map_err(ConfigError::new_err)
}

/// Where a capture goes, whose packets it has, and how many bytes of each: path, host, snaplen.
type CaptureOf = (PathBuf, String, u32);

/// Runs a cluster. The results do not depend on `threads`. `controllers` are Python objects by the names of hosts.
#[expect(clippy::too_many_arguments, reason = "they are the keywords of a Python function")]
#[pyfunction]
#[pyo3(signature = (
    plan, *, threads=1, series_ps=0, checkpoint_at_ps=0, checkpoint=None, controllers=Vec::new(), capture=None, progress=None
))]
pub(crate) fn run_cluster(
    py: Python<'_>,
    plan: &ClusterPlan,
    threads: usize,
    series_ps: u64,
    checkpoint_at_ps: u64,
    checkpoint: Option<&[u8]>,
    controllers: Vec<(String, Bound<'_, PyAny>)>,
    capture: Option<CaptureOf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunResult> {
    let options = cluster::Options { threads: threads.max(1), series_ps, checkpoint_at_ps };
    let raised = Raised::default();
    let guests: Vec<(String, Guest)> = controllers
        .into_iter()
        .map(|(host, object)| Ok((host, Guest::new(&object, &raised)?)))
        .collect::<PyResult<_>>()?;
    let panicked = if checkpoint.is_some() { impossible_state } else { defect };
    let result = supervise_or(py, progress, panicked, |desk| {
        let mut run = match checkpoint {
            None => {
                let run = cluster::Run::prepare(&plan.plan, options, |rates| desk.tell(Stage::Rates(rates)));
                run.ok_or(Failure::Stopped)?
            }
            Some(bytes) => cluster::Run::resume(&plan.plan, options, bytes).map_err(Failure::Checkpoint)?,
        };
        let given = guests.len();
        for (host, guest) in guests {
            run.attach(&host, Box::new(guest)).map_err(Failure::Host)?;
        }
        run.check_controllers().map_err(|error| if given == 0 { hint(error) } else { error }).map_err(Failure::Host)?;
        let complete =
            simulate(&mut run, &plan.plan, capture, |status| desk.tell(Stage::Run(One(status))) && !raised.any())?;
        Ok(RunResult::new(finish(&mut run, complete), run.checkpoint().map(<[u8]>::to_vec), None))
    })?;
    match raised.take() {
        Some(error) => Err(error),
        None => result.map_err(|failure: Failure| failure.into()),
    }
}

/// How a run of a cluster stands: the rates of memories that have some come first.
enum Stage {
    Rates(cluster::Preparation),
    Run(One),
}

impl Describe for Stage {
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()> {
        match self {
            Self::Run(status) => status.describe(entries),
            Self::Rates(rates) => {
                entries.set_item("simulated_ps", 0)?;
                entries.set_item("target_ps", 0)?;
                entries.set_item("events", 0)?;
                entries.set_item("points", rates.done)?;
                entries.set_item("phase", "rates of the memory")?;
                entries.set_item("progress", rates.done as f64 / rates.points.max(1) as f64)
            }
        }
    }
}

/// What to do about a controller that is missing, for those who gave none.
fn hint(mut error: cluster::HostError) -> cluster::HostError {
    error.why += &format!("; in Python: hostnet.run_cluster(file, controllers={{\"{}\": ...}})", error.host);
    error
}

/// Runs to the end, and writes the capture meanwhile.
fn simulate(
    run: &mut cluster::Run,
    plan: &hostnet_config::ClusterPlan,
    capture: Option<CaptureOf>,
    on_status: impl FnMut(Status) -> bool,
) -> Result<bool, Failure> {
    let Some((path, host, snaplen)) = capture else { return run.run(on_status).map_err(Failure::Simulation) };
    run.record(&host).map_err(Failure::Host)?;
    let mut file = Capture::create(&path, snaplen, &plan.cluster.flows).map_err(Failure::File)?;
    let complete = run.run_recorded(on_status, |packets| file.add(packets)).map_err(Failure::Simulation)?;
    file.finish().map_err(Failure::File)?;
    Ok(complete)
}

fn finish(run: &mut cluster::Run, complete: bool) -> Finished {
    Finished {
        report: run.report(),
        complete,
        events: run.events(),
        simulated_ps: run.simulation().progress().time.ps(),
        pending_max: 0,
        epochs: epochs_table(&[]),
    }
}
