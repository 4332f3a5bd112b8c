//! Shared code of everything that runs without a server: the memory, the network on a chip, and chips. Each has a
//! plan, a summary and a run with phases.

use crate::errors::refused;
use crate::plan::format_of;
use hostnet_config::Input;
use pyo3::prelude::*;
use std::path::Path;

/// Resolves the configuration that the user gave.
///
/// # Errors
/// Returns the first mistake in the configuration.
pub(crate) fn planned<P>(
    (text, format, file, base_dir): (&str, &str, &str, &str),
    overrides: &[String],
    resolve: impl FnOnce(&Input<'_>) -> Result<P, hostnet_config::ConfigError>,
) -> PyResult<P> {
    let input = Input { text, format: format_of(format)?, file, base_dir: Path::new(base_dir), overrides };
    resolve(&input).map_err(refused)
}

/// Defines a Python class for a kind of plan, with additional methods.
macro_rules! plan_class {
    ($(#[$doc:meta])* $name:ident of $plan:ty { $($methods:tt)* }) => {
        $(#[$doc])*
        #[pyclass(module = "hostnet._core", frozen)]
        pub(crate) struct $name {
            pub(crate) plan: $plan,
        }

        #[pymethods]
        impl $name {
            /// Hash of everything that influences the results, except the content of a trace.
            #[getter]
            fn hash(&self) -> &str {
                &self.plan.hash
            }

            /// Returns the complete configuration as JSON. Resolving it gives this plan again.
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

/// Defines a Python class for a kind of result, with additional methods.
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

            /// True if the run reached its planned end.
            #[getter]
            fn complete(&self) -> bool {
                self.complete
            }

            /// Simulated time, in ps.
            #[getter]
            fn simulated_ps(&self) -> u64 {
                self.status.simulated_ps
            }

            /// Hash of everything that was measured.
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
