//! Steps that raise the limits of a server. Configurations are passed as JSON.

use crate::errors::fault_error;
use crate::explain::parse;
use crate::plan::Plan;
use hostnet_analysis::limits::Scale;
use hostnet_commands::remedies::{self, in_words, Loads};
use pyo3::prelude::*;
use serde_json::{json, Value};
use std::path::Path;

/// Returns all steps in every limit that the workloads of a complete configuration use, as a JSON list of pairs: the
/// step and the changed configuration, valid or not.
///
/// `offered` is the load that each storage workload offers, in GB/s, as JSON.
#[pyfunction]
#[pyo3(signature = (config, offered, *, base_dir="."))]
pub(crate) fn candidates(config: &str, offered: &str, base_dir: &str) -> PyResult<String> {
    let (config, offered): (Value, Loads) = (parse(config, "config")?, parse(offered, "offered")?);
    Ok(json!(remedies::candidates(&config, &offered, Path::new(base_dir))).to_string())
}

/// Returns raises by a quarter that no single key of a configuration achieves, each as the JSON of its step, with its
/// plan. `plan` is that of the configuration.
#[pyfunction]
pub(crate) fn inner_raises(plan: &Plan, config: &str) -> PyResult<Vec<(String, Plan)>> {
    let raises = remedies::inner_raises(&plan.plan, &parse(config, "config")?);
    Ok(raises.into_iter().map(|(step, plan)| (json!(step).to_string(), Plan::of_raised(plan))).collect())
}

/// Predicts the effect of every step that the configuration of a plan allows, and returns the steps as JSON, those of
/// the limit that `workload` gains most from first.
///
/// `offered` is the load that each storage workload offers, in GB/s, as JSON.
#[pyfunction]
#[pyo3(signature = (plan, workload, offered, *, base_dir="."))]
pub(crate) fn find_remedies(plan: &Plan, workload: &str, offered: &str, base_dir: &str) -> PyResult<String> {
    let offered: Loads = parse(offered, "offered")?;
    let steps = remedies::find_remedies(&plan.plan, workload, &offered, Path::new(base_dir)).map_err(fault_error)?;
    Ok(json!(steps).to_string())
}

/// Raises the value at a path of a complete configuration, and those at the paths `along` where they are given.
///
/// Returns the old value and the new value in words and the changed configuration as JSON; None if that is not
/// possible. `scale` is that of a limit.
#[pyfunction]
pub(crate) fn raise_path(
    config: &str,
    path: &str,
    along: Vec<String>,
    scale: &str,
    factor: f64,
) -> PyResult<Option<(String, String, String)>> {
    let along: Vec<&str> = along.iter().map(String::as_str).collect();
    let raised = remedies::raise_path(&parse(config, "config")?, path, &along, scale_of(scale)?, factor);
    Ok(raised.map(|raised| (in_words(&raised.before), in_words(&raised.after), raised.config.to_string())))
}

/// Raises a value such as "10 GB/s" by a factor; None if it has no such raise. `scale` is that of a limit.
#[pyfunction]
pub(crate) fn raise_value(value: &str, scale: &str, factor: f64) -> PyResult<Option<String>> {
    let raised = remedies::raise_value(&json!(value), scale_of(scale)?, factor);
    Ok(raised.as_ref().map(in_words))
}

fn scale_of(name: &str) -> PyResult<Scale> {
    parse(&json!(name).to_string(), "scale")
}
