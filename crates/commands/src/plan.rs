//! Plans of servers and clusters.

use hostnet_analysis::limits::{Limit, LIMITS, TOGETHER};
use hostnet_config::{Code, ConfigError, Fault, Input, Length, Plan};
use hostnet_model::params::ServerParams;
use hostnet_report::numbers::format_time_ns;
use hostnet_traffic::TraceError;
use std::path::Path;

/// Maximum number of steps of a time series. Each step is one row, or one row per server.
pub const SERIES_STEPS_MAX: u64 = 1_000_000;

/// Resolves the configuration of a server or a cluster, and reads the beginning of the traces that it names.
///
/// # Errors
/// Returns the first mistake in the configuration or in a trace.
pub fn resolve(input: &Input) -> Result<Plan, ConfigError> {
    let plan = hostnet_config::resolve(input)?;
    // A trace that cannot be read is an error of the configuration and not of the run.
    for (_, server) in plan.servers() {
        hostnet_sim::check_traces(server).map_err(|error| trace_error(&error))?;
    }
    Ok(plan)
}

/// Converts the error of a trace to the mistake of the user that it is.
#[must_use]
pub fn trace_error(error: &TraceError) -> ConfigError {
    ConfigError {
        code: Code::of_file(Path::new(error.file())),
        file: error.file().to_owned(),
        line: error.line().map(|line| line as usize),
        column: None,
        path: String::new(),
        message: error.message().to_owned(),
    }
}

/// Checks that predictions cover a plan.
///
/// # Errors
/// Returns the part of the plan that they do not cover.
pub fn check_predictable(plan: &Plan) -> Result<(), Fault> {
    let instead = "simulate it: hostnet run, or --engine run of sweep, curve and calibrate";
    let refuse = |what: String| Err(Fault::new(Code::NotSupported, format!("{}: {what}", plan.name)));
    let Some(server) = plan.server() else {
        return refuse(format!("predictions cover single servers, and this describes hosts on a network; {instead}"));
    };
    if server.sockets.len() > 1 {
        let sockets = server.sockets.len();
        return refuse(format!("server.sockets = {sockets}: predictions do not cover several sockets yet; {instead}"));
    }
    let socket = server.socket();
    let uncovered = [
        (socket.cache.is_some(), "cache.enabled = true: predictions do not cover caches yet"),
        (socket.remote.is_some(), "remote: predictions do not cover cores of other sockets yet"),
        (socket.expander.is_some(), "expander: predictions do not cover memory behind a link yet"),
        (
            socket.die.as_ref().is_some_and(|die| die.chiplets.is_some()),
            "chiplets: predictions do not cover chiplets yet",
        ),
        (socket.iommu.is_some(), "iommu.mode: predictions do not cover an IOMMU yet"),
        (socket.dma.is_some(), "workload kind \"dma\": predictions do not cover DMA that a device generates yet"),
        (socket.die.is_some(), "noc: predictions do not cover the mesh of a die yet"),
    ];
    match uncovered.iter().find(|(found, _)| *found) {
        Some((_, what)) => refuse(format!("{what}; {instead}")),
        None => Ok(()),
    }
}

/// Returns the parameters of a server, with its classes of network traffic after its workloads. The name of the host
/// may be left out if there is only one server.
///
/// # Errors
/// Returns an error if there is no such server, or several and no name.
pub fn server_of(plan: &Plan, host: Option<&str>) -> Result<ServerParams, Fault> {
    let number = server_number(plan, host)?;
    let (_, server) = plan.servers().nth(number).expect("it is counted");
    Ok(hostnet_sim::build::with_network(server, &plan.cluster))
}

/// Returns the index of a host among the servers. The name may be left out if there is only one server.
///
/// # Errors
/// As [`server_of`].
pub fn server_number(plan: &Plan, host: Option<&str>) -> Result<usize, Fault> {
    let names: Vec<&str> = plan.servers().map(|(host, _)| host.name.as_str()).collect();
    let Some(name) = host else {
        if names.len() == 1 {
            return Ok(0);
        }
        let message =
            format!("host: missing; with {} servers, name the one to look at: {}", names.len(), names.join(", "));
        return Err(Fault::new(Code::MissingKey, message));
    };
    names.iter().position(|known| *known == name).ok_or_else(|| {
        let near = hostnet_config::suggestion(name, names.iter().copied());
        Fault::new(Code::DoesNotExist, format!("host: \"{name}\" is no server of this cluster; {near}"))
    })
}

/// Checks that a time series with steps of `series_ps` has at most [`SERIES_STEPS_MAX`] steps; 0 stands for none.
///
/// # Errors
/// Returns an error if the series would be longer.
pub fn check_series(plan: &Plan, series_ps: u64) -> Result<(), Fault> {
    let length_ps = match plan.run.length {
        Length::Duration { ps } => ps,
        Length::Precision { .. } | Length::Jobs => plan.run.duration_max_ps,
    };
    if series_ps == 0 || length_ps <= SERIES_STEPS_MAX.saturating_mul(series_ps) {
        return Ok(());
    }
    let [length, step] = [length_ps, series_ps].map(|ps| format_time_ns(ps as f64 / 1e3));
    let steps = length_ps / series_ps;
    let message = format!("series: {length} have {steps} steps of {step}; at most {SERIES_STEPS_MAX} are recorded");
    Err(Fault::new(Code::TooMany, message))
}

/// A plan with a limit of its server raised.
#[derive(Clone, Debug)]
pub struct RaisedPlan {
    /// Name of the limit.
    pub limit: &'static str,
    /// Configuration key that sets the limit.
    pub key: &'static str,
    /// Description of the server with the limit raised.
    pub words: String,
    /// Factor by which the limit was raised.
    pub factor: f64,
    /// The plan. No configuration resolves to it.
    pub plan: Plan,
}

/// Returns a plan for each limit of the server of `plan`, raised by `factor` or to the next whole number or packet,
/// as predictions do.
///
/// Limits that may be equally tight come last, raised together. The list is empty for hosts on a network.
#[must_use]
pub fn raised_plans(plan: &Plan, factor: f64) -> Vec<RaisedPlan> {
    let Some(server) = plan.server() else { return Vec::new() };
    let raise = |limit: &'static Limit| {
        let (raised, factor) = limit.raised_by(server, factor);
        let mut plan = plan.clone();
        // No configuration gives a raised plan, so its hash is that of the plan with the limit and the factor.
        plan.hash = format!("{}, {} x {factor}", plan.hash, limit.key());
        let changed = raised != *server;
        *plan.server_mut()? = raised;
        let words = limit.in_words(factor);
        changed.then_some(RaisedPlan { limit: limit.name, key: limit.key(), words, factor, plan })
    };
    LIMITS.iter().chain(&TOGETHER).filter_map(raise).collect()
}
