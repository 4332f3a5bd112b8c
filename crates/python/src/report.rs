//! The report of a server, and sentences that it shares with the screen.

use crate::errors::config_error;
use hostnet_config::Code;
use hostnet_report::sentences;
use hostnet_report::{Html, Row, ServerRun};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use std::ops::Range;

/// The report of a run of one server. Its sections are HTML; those of which the run has nothing are None.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct ServerReport {
    run: ServerRun,
}

#[pymethods]
impl ServerReport {
    /// Reads a run from JSON: an object with its summary, its manifest, the rows of its table domains and so on.
    #[new]
    fn new(run: &str) -> PyResult<Self> {
        Ok(Self { run: parse(run)? })
    }

    /// The title, a description of the run, and warnings.
    #[getter]
    fn header(&self) -> String {
        hostnet_report::header(&self.run).into()
    }

    /// Duration, server and workloads of the run in one sentence.
    #[getter]
    fn description(&self) -> String {
        hostnet_report::describe_run(&self.run)
    }

    /// Throughput and limit of each workload, DRAM, and the regime.
    #[getter]
    fn results(&self) -> String {
        hostnet_report::result_section(&self.run).into()
    }

    /// The picture of the host and a card for each domain.
    #[getter]
    fn picture(&self) -> Option<String> {
        hostnet_report::picture_section(&self.run).map(Html::into)
    }

    /// The picture of the host without a section, or those of its sockets and links.
    #[getter]
    fn host(&self) -> Option<String> {
        hostnet_report::host_pictures(&self.run).map(Html::into)
    }

    /// The regime alone.
    #[getter]
    fn regime(&self) -> Option<String> {
        hostnet_report::regime_section(&self.run).map(Html::into)
    }
}

/// Returns a sentence that says which workloads slow which others down, by how much, and what is unknown.
#[pyfunction]
pub(crate) fn regime_headline(regime: &str) -> PyResult<String> {
    let damaged = || config_error(Code::MalformedFile, "the regime is damaged");
    sentences::regime_headline(&parse::<Row>(regime)?).ok_or_else(damaged)
}

/// Describes the drift of a rate with this mean over the window.
#[pyfunction]
pub(crate) fn drift_note(name: &str, mean: f64, change: f64, unit: &str) -> String {
    sentences::drift_note(name, mean, change, unit)
}

/// Rewrites places between sockets in a sentence about a limit as "socket 0 to 1".
#[pyfunction]
pub(crate) fn with_directions(text: &str) -> String {
    sentences::with_directions(text)
}

/// Configuration of a socket as JSON, and the numbers of the parts of the server that belong to it, by kind.
type SocketParts = (String, Vec<(&'static str, usize, usize)>);

/// Returns the sockets of a complete configuration; empty if there is only one, or their number is unknown.
///
/// The numbers of the parts of a kind go from the first to before the second of two numbers.
#[pyfunction]
pub(crate) fn server_sockets(config: &str) -> PyResult<Vec<SocketParts>> {
    let sockets = hostnet_report::sockets::server_sockets(&parse(config)?);
    let parts = |(kind, Range { start, end }): (&'static str, Range<usize>)| (kind, start, end);
    let socket = |socket: hostnet_report::sockets::ServerSocket| {
        let config = serde_json::to_string(&socket.config).expect("a configuration is JSON");
        (config, socket.parts.into_iter().map(parts).collect())
    };
    Ok(sockets.into_iter().map(socket).collect())
}

fn parse<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| config_error(Code::MalformedFile, format!("is damaged: {error}")))
}
