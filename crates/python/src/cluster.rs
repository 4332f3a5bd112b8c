//! Clusters: their configurations and runs.

use crate::errors::ConfigError;
use crate::plan::format_of;
use crate::result::RunResult;
use crate::run::{Failure, One};
use crate::supervise::supervise;
use hostnet_config::{Input, RunPlan};
use hostnet_sim::{cluster, epochs_table, Finished};
use pyo3::prelude::*;
use std::path::Path;

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

/// Runs a cluster. The results do not depend on `threads`.
#[pyfunction]
#[pyo3(signature = (plan, *, threads=1, series_ps=0, checkpoint_at_ps=0, checkpoint=None, progress=None))]
pub(crate) fn run_cluster(
    py: Python<'_>,
    plan: &ClusterPlan,
    threads: usize,
    series_ps: u64,
    checkpoint_at_ps: u64,
    checkpoint: Option<&[u8]>,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunResult> {
    let options = cluster::Options { threads: threads.max(1), series_ps, checkpoint_at_ps };
    let result = supervise(py, progress, |desk| {
        let mut run = match checkpoint {
            None => cluster::Run::new(&plan.plan, options),
            Some(bytes) => cluster::Run::resume(&plan.plan, options, bytes).map_err(Failure::Checkpoint)?,
        };
        let complete = run.run(|status| desk.tell(One(status))).map_err(Failure::Simulation)?;
        let finished = Finished {
            report: run.report(),
            complete,
            events: run.events(),
            simulated_ps: run.simulation().progress().time.ps(),
            pending_max: 0,
            epochs: epochs_table(&[]),
        };
        Ok(RunResult::new(finished, run.checkpoint().map(<[u8]>::to_vec), None))
    })?;
    result.map_err(|failure: Failure| failure.into())
}
