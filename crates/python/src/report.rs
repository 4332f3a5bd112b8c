//! The report of a server, and sentences that it shares with the screen.

use crate::errors::config_error;
use hostnet_config::Code;
use hostnet_report::{explanation, sentences};
use hostnet_report::{Html, LinkStyle, Row, ServerRun};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use std::ops::Range;

/// Definitions of the terms and columns that pages name.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct Glossary {
    glossary: hostnet_report::Glossary,
}

#[pymethods]
impl Glossary {
    /// Reads a glossary from JSON.
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        Ok(Self { glossary: parse(text)? })
    }

    /// Returns the definition of a heading that no result table has, or None.
    fn heading_definition(&self, heading: &str) -> Option<String> {
        self.glossary.heading_definition(heading)
    }

    /// Marks the first occurrence of each term in every section of a page.
    fn with_definitions(&self, markup: &str) -> String {
        hostnet_report::with_definitions(markup, &self.glossary)
    }
}

/// Shortens a definition to its first sentences or clauses.
#[pyfunction]
pub(crate) fn short_definition(definition: &str) -> &str {
    hostnet_report::glossary::shorten(definition)
}

/// The report of a run of one server. Its sections are HTML; those of which the run has nothing are None.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct ServerReport {
    run: ServerRun,
    glossary: Py<Glossary>,
}

impl ServerReport {
    fn glossary(&self) -> &hostnet_report::Glossary {
        &self.glossary.get().glossary
    }
}

#[pymethods]
impl ServerReport {
    /// Reads a run from JSON: an object with its summary, its manifest, the rows of its table domains and so on.
    #[new]
    fn new(run: &str, glossary: Py<Glossary>) -> PyResult<Self> {
        Ok(Self { run: parse(run)?, glossary })
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

    /// The explanation of the results.
    #[getter]
    fn why(&self) -> Option<String> {
        hostnet_report::why_section(&self.run, self.glossary()).map(Html::into)
    }

    /// Returns the sections of the page in their order, each with its name. `cache_charts` is the markup of the charts
    /// of caches over time, which may be empty.
    fn sections(&self, cache_charts: &str) -> Vec<(&'static str, String)> {
        let sections = hostnet_report::page_sections(&self.run, Html::raw(cache_charts), self.glossary());
        sections.into_iter().map(|(name, section)| (name, section.into())).collect()
    }

    /// Returns the maps of the dies and the table of their routes, under a title.
    fn die(&self, title: &str) -> Option<String> {
        hostnet_report::die_section(&self.run.summary, title, self.glossary()).map(Html::into)
    }
}

/// Draws an explanation as HTML: a card per workload and the table of remedies. None if it cannot be read.
#[pyfunction]
pub(crate) fn draw_explanation(why: &str, glossary: &Glossary) -> PyResult<Option<String>> {
    Ok(hostnet_report::draw_explanation(&parse(why)?, &glossary.glossary).map(Html::into))
}

/// Returns an explanation as a page of plain text. `details` has what the page shows beside the explanation.
#[pyfunction]
pub(crate) fn explanation_text(why: &str, details: &str) -> PyResult<String> {
    Ok(explanation::explanation_text(&parse(why)?, &parse(details)?))
}

/// Describes the main cause of what load adds to the latency of a workload; None if load adds little.
///
/// `events` has the events of counters that a file lacks, by quantity, as JSON.
#[pyfunction]
pub(crate) fn describe_added_latency(row: &str, latency: &str, events: &str) -> PyResult<Option<String>> {
    Ok(explanation::describe_added_latency(&parse(row)?, &parse(latency)?, &parse(events)?))
}

/// Wraps a text to pages of plain text, with its first line indented by `indent` columns and all others by `hang`.
#[pyfunction]
#[pyo3(signature = (text, indent=0, hang=None))]
pub(crate) fn wrap_text(text: &str, indent: usize, hang: Option<usize>) -> Vec<String> {
    explanation::wrap_text(text, indent, hang.unwrap_or(indent))
}

/// Returns the parts of a latency and their names.
#[pyfunction]
pub(crate) fn latency_parts() -> Vec<(&'static str, &'static str)> {
    explanation::PARTS.map(|(key, name, _)| (key, name)).into()
}

/// Returns every table of a server without its rows, as JSON: its title, the result table that defines its columns,
/// and its columns.
#[pyfunction]
pub(crate) fn server_table_kinds() -> String {
    serde_json::to_string(&hostnet_report::table_kinds()).expect("columns are JSON")
}

/// Returns the tables of a group of the summary of a server with their rows, as JSON.
#[pyfunction]
pub(crate) fn server_tables(group: &str, summary: &str) -> PyResult<String> {
    let tables = hostnet_report::tables_of(group, &parse(summary)?);
    Ok(serde_json::to_string(&tables).expect("rows are JSON"))
}

/// Draws one direction of a link on a chip as SVG, coloured by its busy share, with a distance of `gap` from both ends
/// and of `bow` from the centre line.
#[pyfunction]
#[pyo3(signature = (start, end, share, text, *, gap, bow, thick))]
pub(crate) fn link_line(
    start: (f64, f64),
    end: (f64, f64),
    share: Option<f64>,
    text: &str,
    gap: f64,
    bow: f64,
    thick: f64,
) -> String {
    let style = LinkStyle { gap, bow, thick };
    hostnet_report::link_line(start, end, share.unwrap_or_default(), text, style).into()
}

/// Returns the colour of a busy share.
#[pyfunction]
pub(crate) fn heat(share: Option<f64>) -> String {
    hostnet_report::heat(share.unwrap_or_default())
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
