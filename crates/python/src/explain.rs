//! The published formula and explanations. Counters, constants and facts are passed to and from Python as JSON.

use crate::errors::{config_error, fault_error};
use crate::plan::Plan;
use hostnet_analysis::explain::WorkloadFacts;
use hostnet_analysis::formula::{self as published, Constants, FormulaVariant, Missing};
use hostnet_analysis::regime::Regime;
use hostnet_analysis::Counters;
use hostnet_config::Code;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

/// Explains a run of the server of `plan`, or of its server `host`, and returns the explanation as JSON.
///
/// `counters`, `facts` and `regime` are JSON. Without `facts` about the workloads, they are derived from the
/// counters.
#[pyfunction]
#[pyo3(signature = (plan, counters, *, facts=None, regime=None, host=None))]
pub(crate) fn explain(
    plan: &Plan,
    counters: &str,
    facts: Option<&str>,
    regime: Option<&str>,
    host: Option<&str>,
) -> PyResult<String> {
    let counters: Counters = parse(counters, "counters")?;
    let facts: Option<Vec<WorkloadFacts>> = facts.map(|text| parse(text, "binding")).transpose()?;
    let regime: Option<Regime> = regime.map(|text| parse(text, "regime")).transpose()?;
    let explanation = hostnet_commands::explain(&plan.plan, host, &counters, facts, regime).map_err(fault_error)?;
    Ok(serde_json::to_string(&explanation).expect("an explanation is JSON"))
}

/// Returns the latency that queueing adds to a read or a write by the published formula, by cause in ns, as JSON.
#[pyfunction]
#[pyo3(signature = (counters, constants, *, domain="read", form="adj"))]
pub(crate) fn formula(counters: &str, constants: &str, domain: &str, form: &str) -> PyResult<String> {
    let counters: Counters = parse(counters, "counters")?;
    let constants: Constants = parse(constants, "constants")?;
    let form = match form {
        "published" => FormulaVariant::Published,
        "adj" => FormulaVariant::Adj,
        "adj-cha" => FormulaVariant::AdjCha,
        _ => return Err(config_error(Code::UnknownName, format!("form \"{form}\" must be published, adj or adj-cha"))),
    };
    let inflation = match domain {
        "read" => published::read(&counters, &constants, form),
        "write" => published::write(&counters, &constants, form),
        _ => return Err(config_error(Code::UnknownName, format!("domain \"{domain}\" must be read or write"))),
    };
    Ok(serde_json::to_string(&inflation.map_err(missing)?).expect("numbers are JSON"))
}

/// Returns the time that lines wait for admission to the CHA, in ns. `way_ns` is the latency of the path there and
/// back.
#[pyfunction]
#[pyo3(signature = (counters, *, domain, way_ns))]
pub(crate) fn cha_admission(counters: &str, domain: &str, way_ns: f64) -> PyResult<f64> {
    let counters: Counters = parse(counters, "counters")?;
    let wait = match domain {
        "core" => published::core_admission_ns(&counters, way_ns),
        "io-write" => published::io_write_admission_ns(&counters, way_ns),
        "io-read" => published::io_read_admission_ns(&counters, way_ns),
        _ => {
            return Err(config_error(
                Code::UnknownName,
                format!("domain \"{domain}\" must be core, io-write or io-read"),
            ))
        }
    };
    wait.map_err(missing)
}

/// Returns the constants of the formula for the server of a plan, as JSON.
#[pyfunction]
#[pyo3(signature = (plan, *, host=None))]
pub(crate) fn formula_constants(plan: &Plan, host: Option<&str>) -> PyResult<String> {
    Ok(serde_json::to_string(&Constants::of(plan.server_of(host)?.socket())).expect("numbers are JSON"))
}

/// Returns each configuration key that can raise a limit of a server, with the name of the limit in `limit`, as JSON.
#[pyfunction]
pub(crate) fn limits() -> String {
    serde_json::to_string(&hostnet_commands::remedies::limit_keys()).expect("names are JSON")
}

pub(crate) fn parse<T: DeserializeOwned>(text: &str, what: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| config_error(Code::WrongType, format!("{what}: {error}")))
}

fn missing(failure: Missing) -> PyErr {
    config_error(Code::MissingKey, failure)
}
