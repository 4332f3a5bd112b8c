//! Clusters: their schema and templates.

use crate::errors::ConfigError;
use crate::plan::{format_of, Plan};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

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

/// The names of the templates of clusters.
#[pyfunction]
pub(crate) fn cluster_templates() -> Vec<&'static str> {
    hostnet_config::cluster_templates().collect()
}

/// A commented configuration of a cluster to start from.
#[pyfunction]
pub(crate) fn cluster_template(name: &str) -> PyResult<&'static str> {
    hostnet_config::cluster_template(name).map_err(ConfigError::new_err)
}

/// The content of the execution traces of a job, rank by rank; of the only job without a name. With `messages`,
/// collectives are the messages that it sends.
#[pyfunction]
#[pyo3(signature = (plan, job=None, *, messages=false))]
pub(crate) fn chakra_traces<'py>(
    py: Python<'py>,
    plan: &Plan,
    job: Option<&str>,
    messages: bool,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let traces = hostnet_config::chakra_traces(&plan.plan, job, messages).map_err(ConfigError::new_err)?;
    Ok(traces.into_iter().map(|trace| PyBytes::new(py, &trace)).collect())
}
