//! Schema, templates and job traces of clusters.

use crate::errors::fault_error;
use crate::plan::{format_of, Plan};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Returns True if a text describes a cluster, i.e. has a table of hosts.
#[pyfunction]
#[pyo3(signature = (text, *, format="toml"))]
pub(crate) fn is_cluster(text: &str, format: &str) -> PyResult<bool> {
    Ok(hostnet_config::is_cluster(text, format_of(format)?))
}

/// Returns the JSON Schema of cluster configurations.
#[pyfunction]
pub(crate) fn cluster_schema() -> String {
    format!("{:#}", hostnet_config::cluster_schema())
}

/// Returns the names of the cluster templates.
#[pyfunction]
pub(crate) fn cluster_templates() -> Vec<&'static str> {
    hostnet_config::cluster_templates().collect()
}

/// Returns a commented cluster configuration to start from.
#[pyfunction]
pub(crate) fn cluster_template(name: &str) -> PyResult<&'static str> {
    hostnet_config::cluster_template(name).map_err(fault_error)
}

/// Returns the content of the Chakra execution traces of a job, one per rank. `job` may be left out if there is only
/// one.
///
/// With `messages`, each collective is written as the messages that it sends.
#[pyfunction]
#[pyo3(signature = (plan, job=None, *, messages=false))]
pub(crate) fn chakra_traces<'py>(
    py: Python<'py>,
    plan: &Plan,
    job: Option<&str>,
    messages: bool,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let traces = hostnet_config::chakra_traces(&plan.plan, job, messages).map_err(fault_error)?;
    Ok(traces.into_iter().map(|trace| PyBytes::new(py, &trace)).collect())
}
