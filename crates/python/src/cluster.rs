//! Schema, templates and job traces of clusters.

use crate::errors::fault_error;
use crate::plan::{format_of, Plan};
use hostnet_config::TraceReader;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;

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

/// Contents of trace files, and the ranks of each group by its name.
type TracesAndGroups<'py> = (Vec<Bound<'py, PyBytes>>, BTreeMap<String, Vec<u32>>);

/// Returns the content of the Chakra execution traces of a job, one per rank, and the ranks of each group that they
/// name. `job` may be left out if there is only one.
///
/// With `messages`, each collective is written as the messages that it sends; with `astra_sim`, nodes are what
/// ASTRA-sim runs.
#[pyfunction]
#[pyo3(signature = (plan, job=None, *, messages=false, astra_sim=false))]
pub(crate) fn chakra_traces<'py>(
    py: Python<'py>,
    plan: &Plan,
    job: Option<&str>,
    messages: bool,
    astra_sim: bool,
) -> PyResult<TracesAndGroups<'py>> {
    let reader = if astra_sim { TraceReader::AstraSim } else { TraceReader::Chakra };
    let written = hostnet_config::chakra_traces(&plan.plan, job, messages, reader).map_err(fault_error)?;
    Ok((written.traces.iter().map(|trace| PyBytes::new(py, trace)).collect(), written.groups))
}
