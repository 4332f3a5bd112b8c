//! The run of a server that is reported.

use crate::row::{Fields, Row};
use serde::Deserialize;
use serde_json::Value;

/// Results of a run of one server, as its run directory has them. Absent files are empty.
///
/// Without a run directory, `summary` is that of the simulator's report, the `manifest` needs only `config`, and `why`
/// is an [`Explanation`](hostnet_analysis::explain::Explanation) as JSON with the `name` and the `server` of the run,
/// from which [`explanation_text`](crate::explanation::explanation_text) makes the `explanation`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ServerRun {
    /// Name of the run if the summary has none.
    pub folder: String,
    /// Summary of the results.
    pub summary: Row,
    /// Provenance: version, machine, time, and the complete configuration in `config`.
    pub manifest: Row,
    /// Rows of the table `domains`.
    pub domains: Vec<Row>,
    /// Explanation of the results as plain text.
    pub explanation: Option<String>,
    /// Explanation in machine-readable form, as `explain.json` has it: the regime and the workloads, and in `steps`
    /// what would help.
    pub why: Row,
}

impl ServerRun {
    /// Reads the run from JSON: an object with the fields of this type.
    ///
    /// # Errors
    ///
    /// The text is no such JSON.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns the name of the run.
    #[must_use]
    pub(crate) fn name(&self) -> &str {
        self.summary.some_text("name").unwrap_or(&self.folder)
    }

    /// Returns the name of the engine of the results. Older results without one are simulated.
    #[must_use]
    pub(crate) fn engine(&self) -> &str {
        self.summary.some_text("engine").unwrap_or("run")
    }

    /// Returns the complete configuration; empty if it is not known.
    #[must_use]
    pub(crate) fn config(&self) -> Row {
        self.manifest.value("config").and_then(Value::as_object).cloned().unwrap_or_default()
    }
}
