//! Configurations of servers and clusters.

use crate::errors::{config_error, fault_error, refused};
use hostnet_commands::RaisedPlan;
use hostnet_config::{Code, Format, Input};
use hostnet_model::params::ServerParams;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::Path;

/// Pickled form of a plan: the complete configuration, its name, the settings without effect, and all settings given.
type Parts = (String, String, Vec<String>, Vec<String>);

/// A raised limit: its name, its key, a description of the raise, the factor, and the plan with the limit raised.
type RaisedLimit = (&'static str, &'static str, String, f64, Plan);

/// A checked and resolved configuration.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct Plan {
    pub(crate) plan: hostnet_config::Plan,
    /// True if a limit of its server was raised, which its configuration does not show.
    raised: bool,
}

#[pymethods]
impl Plan {
    /// Name of the run.
    #[getter]
    fn name(&self) -> &str {
        &self.plan.name
    }

    /// Hash of everything that influences the results.
    #[getter]
    fn hash(&self) -> &str {
        &self.plan.hash
    }

    /// Seed of every random stream.
    #[getter]
    fn seed(&self) -> u64 {
        self.plan.run.seed
    }

    /// Settings of the user that have no effect in the model, each with the reason.
    #[getter]
    fn ignored(&self) -> Vec<String> {
        self.plan.ignored.clone()
    }

    /// Reason why results of this server are not checked against measurements, or None if they are.
    #[getter]
    fn unvalidated(&self) -> Option<&str> {
        self.plan.unvalidated.as_deref()
    }

    /// Returns the complete configuration as JSON. Resolving it gives this plan again.
    fn effective_json(&self) -> String {
        format!("{:#}", self.plan.effective)
    }

    /// Raises ConfigError if predictions do not cover the plan.
    pub(crate) fn check_predictable(&self) -> PyResult<()> {
        hostnet_commands::check_predictable(&self.plan).map_err(fault_error)
    }

    /// Raises ConfigError if a time series with steps of `series_ps` would be too long; 0 stands for none.
    fn check_series(&self, series_ps: u64) -> PyResult<()> {
        hostnet_commands::check_series(&self.plan, series_ps).map_err(fault_error)
    }

    /// True if the plan describes hosts on a network, False if it describes a single server.
    #[getter]
    fn is_cluster(&self) -> bool {
        self.plan.server().is_none()
    }

    /// Names of the hosts in their order; empty for a single server.
    #[getter]
    fn hosts(&self) -> Vec<&str> {
        let hosts = self.plan.cluster.hosts.iter().map(|host| host.name.as_str());
        hosts.filter(|_| self.plan.server().is_none()).collect()
    }

    /// Names of the hosts that are servers; empty for a single server.
    #[getter]
    fn servers(&self) -> Vec<&str> {
        self.plan.servers().map(|(host, _)| host.name.as_str()).filter(|_| self.plan.server().is_none()).collect()
    }

    /// True if a run of the plan may leave out what repeats (`run.forward`).
    #[getter]
    fn forwards(&self) -> bool {
        self.plan.run.forward
    }

    /// Returns the latest simulated time at which a run of the plan ends, in ps.
    fn latest_end_ps(&self) -> u64 {
        hostnet_sim::latest_end_ps(&self.plan)
    }

    /// Returns a plan for each limit of its server, raised by `factor` or to the next whole number or packet, as
    /// predictions do.
    ///
    /// Each entry is the name of the limit, its key, a description, the factor reached, and the plan. Limits that may
    /// be equally tight come last, raised together. The list is empty for hosts on a network.
    fn raises(&self, factor: f64) -> Vec<RaisedLimit> {
        let raised = |raise: RaisedPlan| {
            let RaisedPlan { limit, key, words, factor, plan } = raise;
            (limit, key, words, factor, Plan::of_raised(plan))
        };
        hostnet_commands::raised_plans(&self.plan, factor).into_iter().map(raised).collect()
    }

    /// Returns the same plan with another seed.
    fn with_seed(&self, seed: u64) -> PyResult<Plan> {
        self.check_not_raised()?;
        let mut effective = self.plan.effective.clone();
        effective["run"]["seed"] = seed.into();
        // Resolved again, as the hash covers the seed.
        restore_plan(&effective.to_string(), &self.plan.name, self.plan.ignored.clone(), self.plan.given.clone())
    }

    /// Supports pickling. The plan does not depend on the files that it was made from.
    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, Parts)> {
        self.check_not_raised()?;
        let restore = py.import("hostnet._core")?.getattr("restore_plan")?.unbind();
        let plan = &self.plan;
        Ok((restore, (plan.effective.to_string(), plan.name.clone(), plan.ignored.clone(), plan.given.clone())))
    }

    fn __repr__(&self) -> String {
        format!("<Plan {} seed {}>", self.plan.name, self.plan.run.seed)
    }
}

impl Plan {
    /// Creates a plan of a server with a raised limit.
    pub(crate) fn of_raised(plan: hostnet_config::Plan) -> Self {
        Self { plan, raised: true }
    }

    /// Fails if a limit was raised: the configuration would not give this plan again.
    fn check_not_raised(&self) -> PyResult<()> {
        if self.raised {
            return Err(PyValueError::new_err(
                "a plan with a raised limit cannot be made from its configuration again",
            ));
        }
        Ok(())
    }

    /// Returns the parameters of a server, with its classes of network traffic after its workloads.
    pub(crate) fn server_of(&self, host: Option<&str>) -> PyResult<ServerParams> {
        hostnet_commands::server_of(&self.plan, host).map_err(fault_error)
    }

    /// Returns the index of a host among the servers. The name may be left out if there is only one server.
    pub(crate) fn server_number(&self, host: Option<&str>) -> PyResult<usize> {
        hostnet_commands::server_number(&self.plan, host).map_err(fault_error)
    }
}

/// Checks a configuration and resolves presets, units and names.
#[pyfunction]
#[pyo3(signature = (text, *, format="toml", file="<text>", base_dir=".", overrides=Vec::new()))]
pub(crate) fn resolve(text: &str, format: &str, file: &str, base_dir: &str, overrides: Vec<String>) -> PyResult<Plan> {
    Ok(Plan { plan: resolve_text(text, format_of(format)?, file, base_dir, &overrides)?, raised: false })
}

/// Checks that a text is valid TOML or JSON for a configuration, without checking its content.
#[pyfunction]
pub(crate) fn check_syntax(text: &str, format: &str, file: &str) -> PyResult<()> {
    hostnet_config::check_syntax(text, format_of(format)?, file).map_err(refused)
}

/// Restores a plan from its pickled form.
#[pyfunction]
pub(crate) fn restore_plan(effective: &str, name: &str, ignored: Vec<String>, given: Vec<String>) -> PyResult<Plan> {
    let plan = resolve_text(effective, Format::Json, name, ".", &[])?;
    Ok(Plan { plan: hostnet_config::Plan { ignored, given, ..plan }, raised: false })
}

/// Returns the format with that name.
pub(crate) fn format_of(name: &str) -> PyResult<Format> {
    match name {
        "toml" => Ok(Format::Toml),
        "json" => Ok(Format::Json),
        _ => Err(config_error(Code::UnknownName, format!("format \"{name}\" must be \"toml\" or \"json\""))),
    }
}

fn resolve_text(
    text: &str,
    format: Format,
    file: &str,
    base_dir: &str,
    overrides: &[String],
) -> PyResult<hostnet_config::Plan> {
    let input = Input { text, format, file, base_dir: Path::new(base_dir), overrides };
    hostnet_commands::resolve(&input).map_err(refused)
}

/// Returns the JSON Schema of configurations.
#[pyfunction]
pub(crate) fn schema() -> String {
    format!("{:#}", hostnet_config::schema())
}

/// Returns a commented configuration to start from.
#[pyfunction]
pub(crate) fn template() -> &'static str {
    hostnet_config::template()
}

/// Returns a commented configuration of cores that store while drives are read.
#[pyfunction]
pub(crate) fn stream_and_drives_template() -> &'static str {
    hostnet_config::stream_and_drives_template()
}

/// Returns name and description of every preset, and the reason why it is not validated, or None if it is.
#[pyfunction]
pub(crate) fn presets() -> Vec<(String, String, Option<String>)> {
    hostnet_config::presets().into_iter().map(|preset| (preset.name, preset.description, preset.unvalidated)).collect()
}

/// Returns the names of the dies that come with hostnet.
#[pyfunction]
pub(crate) fn dies() -> Vec<&'static str> {
    hostnet_config::dies().collect()
}

/// Returns the names of the DRAM devices.
#[pyfunction]
pub(crate) fn devices() -> Vec<String> {
    hostnet_config::devices()
}

/// Returns the names of the transports.
#[pyfunction]
pub(crate) fn transports() -> Vec<&'static str> {
    hostnet_config::transports().collect()
}

/// Returns the names of the power profiles (frequencies and sleep states).
#[pyfunction]
pub(crate) fn power_profiles() -> Vec<&'static str> {
    hostnet_config::power_profiles().collect()
}

/// Returns the names of the energy profiles.
#[pyfunction]
pub(crate) fn energy_profiles() -> Vec<&'static str> {
    hostnet_config::energy_profiles().collect()
}

/// Returns the names of the flow size distributions that come with hostnet.
#[pyfunction]
pub(crate) fn flow_sizes() -> Vec<&'static str> {
    hostnet_config::flow_sizes_names().collect()
}

/// Returns the kinds of jobs for which the work on cores is known.
#[pyfunction]
pub(crate) fn job_profiles() -> Vec<&'static str> {
    hostnet_config::job_profiles().collect()
}

/// Returns the names of the packet size distributions.
#[pyfunction]
pub(crate) fn packet_sizes() -> Vec<&'static str> {
    hostnet_config::packet_sizes_names().collect()
}

/// Returns name and description of every application.
#[pyfunction]
pub(crate) fn apps() -> Vec<(&'static str, String)> {
    hostnet_config::apps().into_iter().map(|app| (app.name, app.description)).collect()
}

/// Returns a commented configuration of an application on a server preset, with storage reads unless `alone`.
#[pyfunction]
#[pyo3(signature = (app, *, alone=false))]
pub(crate) fn app_template(app: &str, alone: bool) -> PyResult<String> {
    hostnet_config::app_template(app, alone).map_err(fault_error)
}

/// Returns the bandwidth of one direction of a PCIe link after line coding, in bytes per second.
#[pyfunction]
pub(crate) fn link_bytes_per_s(generation: u32, lanes: u32) -> u64 {
    hostnet_config::link_bytes_per_s(generation, lanes)
}

/// Returns the microarchitectures whose counters are known: their names and their counter files as TOML.
#[pyfunction]
pub(crate) fn counters() -> Vec<(&'static str, &'static str)> {
    hostnet_config::counters().to_vec()
}
