//! What the things that run without a server have in common: the memory, the network on a chip, chips. Each has a plan,
//! a summary, and stands somewhere between its phases.

use crate::errors::ConfigError;
use crate::plan::format_of;
use crate::supervise::Describe;
use hostnet_config::Input;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;

/// Resolves what the user gave.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn planned<P>(
    (text, format, file, base_dir): (&str, &str, &str, &str),
    overrides: &[String],
    resolve: impl FnOnce(&Input<'_>) -> Result<P, hostnet_config::ConfigError>,
) -> PyResult<P> {
    let input = Input { text, format: format_of(format)?, file, base_dir: Path::new(base_dir), overrides };
    resolve(&input).map_err(|error| ConfigError::new_err(error.to_string()))
}

/// How a run stands, for `progress`.
pub(crate) struct Stand {
    pub(crate) simulated_ps: u64,
    pub(crate) phase: String,
    /// What is counted, by name.
    pub(crate) counts: Vec<(&'static str, u64)>,
    /// Share of the run, 0 to 1.
    pub(crate) progress: f64,
}

impl Describe for Stand {
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()> {
        entries.set_item("simulated_ps", self.simulated_ps)?;
        for (name, count) in &self.counts {
            entries.set_item(name, count)?;
        }
        entries.set_item("phase", &self.phase)?;
        entries.set_item("progress", self.progress.min(1.0))
    }
}

/// A class of plans of one kind, with methods of its own.
macro_rules! plan_class {
    ($(#[$doc:meta])* $name:ident of $plan:ty { $($methods:tt)* }) => {
        $(#[$doc])*
        #[pyclass(module = "hostnet._core", frozen)]
        pub(crate) struct $name {
            pub(crate) plan: $plan,
        }

        #[pymethods]
        impl $name {
            /// Hash of everything that has an influence on the results, except what a trace holds.
            #[getter]
            fn hash(&self) -> &str {
                &self.plan.hash
            }

            /// The complete configuration as JSON. Resolving it gives this plan again.
            fn effective_json(&self) -> String {
                format!("{:#}", self.plan.effective)
            }

            fn __repr__(&self) -> String {
                format!(concat!("<", stringify!($name), " {}>"), self.plan.hash)
            }

            $($methods)*
        }
    };
}

/// A class of results of one kind, with methods of its own.
macro_rules! result_class {
    ($(#[$doc:meta])* $name:ident of $report:ty, $status:ty { $($methods:tt)* }) => {
        $(#[$doc])*
        #[pyclass(module = "hostnet._core", frozen)]
        pub(crate) struct $name {
            report: $report,
            status: $status,
            complete: bool,
        }

        #[pymethods]
        impl $name {
            /// The summary as JSON.
            #[getter]
            fn summary_json(&self) -> String {
                format!("{:#}", self.report.summary)
            }

            /// Whether the run came to its end.
            #[getter]
            fn complete(&self) -> bool {
                self.complete
            }

            /// Simulated time in ps.
            #[getter]
            fn simulated_ps(&self) -> u64 {
                self.status.simulated_ps
            }

            /// Hash over everything that was measured.
            #[getter]
            fn result_hash(&self) -> &str {
                &self.report.result_hash
            }

            fn __repr__(&self) -> String {
                format!(concat!("<", stringify!($name), " {}>"), self.report.result_hash)
            }

            $($methods)*
        }
    };
}

pub(crate) use {plan_class, result_class};
