//! Requests of a page: a configuration, and how it is run.

use crate::problem::Problem;
use hostnet_config::units::{self, Dimension};
use hostnet_config::{ChipPlan, Code, Format, Input, NocPlan, Plan};
use serde::Deserialize;
use serde_json::{json, Value};
use std::path::Path;

/// A configuration to check, predict or run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// Text of the configuration.
    text: String,
    /// "toml" or "json".
    #[serde(default)]
    format: RequestFormat,
    /// Name of the configuration in messages. Its stem is the default name of the run.
    #[serde(default = "configuration")]
    file: String,
    /// Overrides on top of the text, each as `a.b=VALUE`.
    #[serde(default)]
    overrides: Vec<String>,
    /// True if the text describes a network on a chip alone, as for `hostnet noc`.
    #[serde(default)]
    noc: bool,
    /// Step of the time series, such as "10 us"; none if absent.
    #[serde(default)]
    series: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RequestFormat {
    #[default]
    Toml,
    Json,
}

fn configuration() -> String {
    "configuration.toml".to_owned()
}

/// Checked configuration.
#[derive(Clone, Debug)]
pub(crate) enum Planned {
    /// Plan of a server or of hosts on a network.
    Hosts(Box<Plan>),
    Chip(Box<ChipPlan>),
    Noc(Box<NocPlan>),
}

impl Request {
    /// Reads a request from JSON: the text of a configuration, or an object with `text` and further keys.
    ///
    /// # Errors
    /// Returns an error if the JSON is neither.
    pub(crate) fn read(json: &str) -> Result<Self, Problem> {
        let value: Value = serde_json::from_str(json).map_err(|error| malformed(&error))?;
        let value = if value.is_string() { json!({ "text": value }) } else { value };
        serde_json::from_value(value).map_err(|error| malformed(&error))
    }

    /// Returns the text of the configuration.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Resolves the configuration. Files that it names are those that are mounted.
    ///
    /// # Errors
    /// Returns the first mistake.
    pub(crate) fn resolve(&self) -> Result<Planned, Problem> {
        let format = match self.format {
            RequestFormat::Toml => Format::Toml,
            RequestFormat::Json => Format::Json,
        };
        let base_dir = Path::new("");
        let input = Input { text: &self.text, format, file: &self.file, base_dir, overrides: &self.overrides };
        Ok(match self.noc {
            true => Planned::Noc(Box::new(hostnet_config::noc_plan(&input)?)),
            false if hostnet_config::is_chip(&self.text, format) => {
                Planned::Chip(Box::new(hostnet_config::chip_plan(&input)?))
            }
            false => Planned::Hosts(Box::new(hostnet_commands::resolve(&input)?)),
        })
    }

    /// Returns the step of the time series in ps; 0 for none.
    ///
    /// # Errors
    /// Returns an error if the step is no time.
    pub(crate) fn series_ps(&self) -> Result<u64, Problem> {
        let Some(text) = &self.series else { return Ok(0) };
        units::parse(text, Dimension::Time)
            .map_err(|fault| Problem::new(fault.code, format!("series: {}", fault.message)))
    }
}

impl Planned {
    /// Kind of the configuration.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Hosts(plan) if plan.server().is_some() => "server",
            Self::Hosts(_) => "cluster",
            Self::Chip(_) => "chip",
            Self::Noc(_) => "noc",
        }
    }

    /// Hash of everything that influences the results.
    pub(crate) fn hash(&self) -> &str {
        match self {
            Self::Hosts(plan) => &plan.hash,
            Self::Chip(plan) => &plan.hash,
            Self::Noc(plan) => &plan.hash,
        }
    }

    /// Complete configuration.
    pub(crate) fn effective(&self) -> &Value {
        match self {
            Self::Hosts(plan) => &plan.effective,
            Self::Chip(plan) => &plan.effective,
            Self::Noc(plan) => &plan.effective,
        }
    }

    /// Returns the entries of the results that are known before a run.
    pub(crate) fn head(&self) -> Value {
        json!({ "kind": self.kind(), "config_hash": self.hash(), "config": self.effective() })
    }

    /// Returns the plan of a server or of hosts on a network.
    ///
    /// # Errors
    /// Returns an error for another kind.
    pub(crate) fn hosts(&self) -> Result<&Plan, Problem> {
        match self {
            Self::Hosts(plan) => Ok(plan),
            _ => Err(Problem::new(Code::WrongKind, format!("a {} has no prediction; simulate it", self.kind()))),
        }
    }
}

fn malformed(error: &serde_json::Error) -> Problem {
    Problem::new(Code::Usage, format!("request: {error}"))
}
