//! Mistakes of the user and failures of runs, as a page shows them.

use hostnet_config::{suggested, Code, ConfigError, Fault};
use hostnet_sim::noc::NocRunError;
use hostnet_sim::SimulationError;
use serde::Serialize;

/// A mistake in a configuration, or the reason why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Problem(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Details {
    /// Name of the code.
    code: &'static str,
    /// File or override that has the mistake; empty if it has no place.
    place: String,
    /// Line in the file, from 1.
    line: Option<usize>,
    /// Column in the line, in bytes from 1.
    column: Option<usize>,
    /// Dotted path of the key; empty if the mistake concerns the whole text.
    key: String,
    /// Description with the value and the rule.
    text: String,
    /// Valid name that the user probably meant.
    nearest: Option<String>,
    /// How to fix mistakes with this code.
    fix: &'static str,
}

impl Problem {
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Self {
        let text = text.into();
        let nearest = suggested(&text).map(str::to_owned);
        let [place, key] = [const { String::new() }; 2];
        let (code, fix) = (code.name(), code.fix());
        Self(Box::new(Details { code, place, line: None, column: None, key, text, nearest, fix }))
    }
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Self {
        let ConfigError { code, file, line, column, path, message } = error;
        let mut problem = Self::new(code, message);
        let details = &mut *problem.0;
        (details.place, details.line, details.column, details.key) = (file, line, column, path);
        problem
    }
}

impl From<Fault> for Problem {
    fn from(Fault { code, message }: Fault) -> Self {
        Self::new(code, message)
    }
}

impl From<SimulationError> for Problem {
    fn from(error: SimulationError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<NocRunError> for Problem {
    fn from(error: NocRunError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}
