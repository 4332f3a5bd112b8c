//! Configurations.

use crate::errors::ConfigError;
use hostnet_analysis::limits::{Limit, LIMITS, TOGETHER};
use hostnet_config::{Format, Input};
use hostnet_model::params::ServerParams;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::Path;

/// What a plan is pickled as: the complete configuration, its name, and what the user wrote without effect and at all.
type Parts = (String, String, Vec<String>, Vec<String>);

/// A limit that is raised: what answers call it, its key, what there is more of, the factor, and the plan with it.
type Raised = (&'static str, &'static str, String, f64, Plan);

/// A checked and resolved configuration.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct Plan {
    pub(crate) plan: hostnet_config::Plan,
    /// Whether a limit of its server was raised, which its configuration does not say.
    raised: bool,
}

#[pymethods]
impl Plan {
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

    /// Why results of this server are not checked against measurements, if they are not.
    #[getter]
    fn unvalidated(&self) -> Option<&str> {
        self.plan.unvalidated.as_deref()
    }

    /// The complete configuration as JSON. Resolving it gives this plan again.
    fn effective_json(&self) -> String {
        format!("{:#}", self.plan.effective)
    }

    /// Refuses a plan that predictions do not cover.
    pub(crate) fn check_predictable(&self) -> PyResult<()> {
        let instead = "simulate it: hostnet run, or --engine run of sweep, curve and calibrate";
        match self.plan.server() {
            None => Err(ConfigError::new_err(format!(
                "{}: predictions cover single servers, and this describes hosts on a network; {instead}",
                self.plan.name
            ))),
            Some(server) if server.sockets.len() > 1 => Err(ConfigError::new_err(format!(
                "{}: server.sockets = {}: predictions do not cover several sockets yet; {instead}",
                self.plan.name,
                server.sockets.len()
            ))),
            Some(server) if server.socket().cache.is_some() => Err(ConfigError::new_err(format!(
                "{}: cache.enabled = true: predictions do not cover caches yet; {instead}",
                self.plan.name
            ))),
            Some(server) if server.socket().remote.is_some() => Err(ConfigError::new_err(format!(
                "{}: remote: predictions do not cover cores of other sockets yet; {instead}",
                self.plan.name
            ))),
            Some(server) if server.socket().expander.is_some() => Err(ConfigError::new_err(format!(
                "{}: expander: predictions do not cover memory behind a link yet; {instead}",
                self.plan.name
            ))),
            Some(server) if server.socket().die.is_some() => Err(ConfigError::new_err(format!(
                "{}: noc: predictions do not cover the mesh of a die yet; {instead}",
                self.plan.name
            ))),
            Some(_) => Ok(()),
        }
    }

    /// Whether it describes hosts on a network, and not a server with nothing around it.
    #[getter]
    fn is_cluster(&self) -> bool {
        self.plan.server().is_none()
    }

    /// The names of the hosts, in their order; none of a server with nothing around it.
    #[getter]
    fn hosts(&self) -> Vec<&str> {
        let hosts = self.plan.cluster.hosts.iter().map(|host| host.name.as_str());
        hosts.filter(|_| self.plan.server().is_none()).collect()
    }

    /// The names of those that are servers.
    #[getter]
    fn servers(&self) -> Vec<&str> {
        self.plan.servers().map(|(host, _)| host.name.as_str()).filter(|_| self.plan.server().is_none()).collect()
    }

    /// The simulated time at which a run ends at the latest, in ps.
    fn latest_end_ps(&self) -> u64 {
        hostnet_sim::latest_end_ps(&self.plan)
    }

    /// Raises each limit of its server in turn by a factor, the way predictions raise it, or to the next whole number
    /// or packet. Limits that are as high as each other come last, together. Hosts have none.
    fn raises(&self, factor: f64) -> Vec<Raised> {
        let Some(server) = self.plan.server() else { return Vec::new() };
        let raise = |limit: &'static Limit| {
            let (raised, factor) = limit.raised_by(server, factor);
            let mut plan = self.plan.clone();
            plan.hash = format!("{}, {} x {factor}", plan.hash, limit.key());
            let changed = raised != *server;
            *plan.server_mut()? = raised;
            changed.then(|| (limit.name, limit.key(), limit.in_words(factor), factor, Plan { plan, raised: true }))
        };
        LIMITS.iter().chain(&TOGETHER).filter_map(raise).collect()
    }

    /// The same plan with another seed.
    fn with_seed(&self, seed: u64) -> PyResult<Plan> {
        self.check_not_raised()?;
        let mut effective = self.plan.effective.clone();
        effective["run"]["seed"] = seed.into();
        restore_plan(&effective.to_string(), &self.plan.name, self.plan.ignored.clone(), self.plan.given.clone())
    }

    /// Lets a plan go to another process, or another machine, without the files that it was made from.
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
    /// Refuses a plan that its configuration does not make again.
    fn check_not_raised(&self) -> PyResult<()> {
        if self.raised {
            return Err(PyValueError::new_err(
                "a plan with a raised limit cannot be made from its configuration again",
            ));
        }
        Ok(())
    }

    /// A server as it is simulated line by line, with the classes of traffic after its workloads.
    pub(crate) fn server_of(&self, host: Option<&str>) -> PyResult<ServerParams> {
        let number = self.server_number(host)?;
        Ok(hostnet_sim::build::with_network(
            self.plan.servers().nth(number).expect("it is counted").1,
            &self.plan.cluster,
        ))
    }

    /// The number among the servers of a host that is to be looked at; of the only one without a name.
    pub(crate) fn server_number(&self, host: Option<&str>) -> PyResult<usize> {
        let names: Vec<&str> = self.plan.servers().map(|(host, _)| host.name.as_str()).collect();
        match host {
            None if names.len() == 1 => Ok(0),
            None => Err(ConfigError::new_err(format!(
                "host: missing; with {} servers, name the one to look at: {}",
                names.len(),
                names.join(", ")
            ))),
            Some(name) => names.iter().position(|known| *known == name).ok_or_else(|| {
                let near = hostnet_config::suggestion(name, names.iter().copied());
                ConfigError::new_err(format!("host: \"{name}\" is no server of this cluster; {near}"))
            }),
        }
    }
}

/// Checks a configuration and resolves presets, units and names.
#[pyfunction]
#[pyo3(signature = (text, *, format="toml", file="<text>", base_dir=".", overrides=Vec::new()))]
pub(crate) fn resolve(text: &str, format: &str, file: &str, base_dir: &str, overrides: Vec<String>) -> PyResult<Plan> {
    Ok(Plan { plan: resolve_text(text, format_of(format)?, file, base_dir, &overrides)?, raised: false })
}

/// Checks that a text is TOML or JSON that configurations may be written in, whatever it describes.
#[pyfunction]
pub(crate) fn check_syntax(text: &str, format: &str, file: &str) -> PyResult<()> {
    hostnet_config::check_syntax(text, format_of(format)?, file)
        .map_err(|error| ConfigError::new_err(error.to_string()))
}

/// A plan from what was pickled of it.
#[pyfunction]
pub(crate) fn restore_plan(effective: &str, name: &str, ignored: Vec<String>, given: Vec<String>) -> PyResult<Plan> {
    let plan = resolve_text(effective, Format::Json, name, ".", &[])?;
    Ok(Plan { plan: hostnet_config::Plan { ignored, given, ..plan }, raised: false })
}

/// The language of a configuration by its name.
pub(crate) fn format_of(name: &str) -> PyResult<Format> {
    match name {
        "toml" => Ok(Format::Toml),
        "json" => Ok(Format::Json),
        _ => Err(PyValueError::new_err(format!("format \"{name}\" must be \"toml\" or \"json\""))),
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
    let plan = hostnet_config::resolve(&input).map_err(|error| ConfigError::new_err(error.to_string()))?;
    for (_, server) in plan.servers() {
        hostnet_sim::check_traces(server).map_err(|error| ConfigError::new_err(error.to_string()))?;
    }
    Ok(plan)
}

/// The JSON Schema of configurations.
#[pyfunction]
pub(crate) fn schema() -> String {
    format!("{:#}", hostnet_config::schema())
}

/// A commented configuration to start from.
#[pyfunction]
pub(crate) fn template() -> &'static str {
    hostnet_config::template()
}

/// Name, description and, where it applies, the reason why it is not validated, of every preset.
#[pyfunction]
pub(crate) fn presets() -> Vec<(String, String, Option<String>)> {
    hostnet_config::presets().into_iter().map(|preset| (preset.name, preset.description, preset.unvalidated)).collect()
}

/// The names of the dies that come with the program.
#[pyfunction]
pub(crate) fn dies() -> Vec<&'static str> {
    hostnet_config::dies().collect()
}

/// The names of the DRAM devices.
#[pyfunction]
pub(crate) fn devices() -> Vec<String> {
    hostnet_config::devices()
}

/// The names of the transports.
#[pyfunction]
pub(crate) fn transports() -> Vec<&'static str> {
    hostnet_config::transports().collect()
}

/// The names of the profiles of frequencies and sleep.
#[pyfunction]
pub(crate) fn power_profiles() -> Vec<&'static str> {
    hostnet_config::power_profiles().collect()
}

/// The names of the energy profiles.
#[pyfunction]
pub(crate) fn energy_profiles() -> Vec<&'static str> {
    hostnet_config::energy_profiles().collect()
}

/// The names of the distributions of flow sizes that come with the program.
#[pyfunction]
pub(crate) fn flow_sizes() -> Vec<&'static str> {
    hostnet_config::flow_sizes_names().collect()
}

/// The kinds of jobs whose work on cores is known.
#[pyfunction]
pub(crate) fn job_profiles() -> Vec<&'static str> {
    hostnet_config::job_profiles().collect()
}

/// The names of the distributions of packet sizes.
#[pyfunction]
pub(crate) fn packet_sizes() -> Vec<&'static str> {
    hostnet_config::packet_sizes_names().collect()
}

/// Name and description of every application.
#[pyfunction]
pub(crate) fn apps() -> Vec<(&'static str, String)> {
    hostnet_config::apps().into_iter().map(|app| (app.name, app.description)).collect()
}

/// A commented configuration of an application on a server preset, beside storage reads unless it is `alone`.
#[pyfunction]
#[pyo3(signature = (app, *, alone=false))]
pub(crate) fn app_template(app: &str, alone: bool) -> PyResult<String> {
    hostnet_config::app_template(app, alone).map_err(ConfigError::new_err)
}

/// What a PCIe link carries in one direction after line coding, in bytes per second.
#[pyfunction]
pub(crate) fn link_bytes_per_s(generation: u32, lanes: u32) -> u64 {
    hostnet_config::link_bytes_per_s(generation, lanes)
}

/// The microarchitectures whose counters are known: the name, and the file about it, as TOML.
#[pyfunction]
pub(crate) fn counters() -> Vec<(&'static str, &'static str)> {
    hostnet_config::counters().to_vec()
}
