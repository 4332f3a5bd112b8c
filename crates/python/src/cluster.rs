//! Clusters: their schema and templates.

use crate::errors::ConfigError;
use crate::plan::format_of;
use pyo3::prelude::*;

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
