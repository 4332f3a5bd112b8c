//! Helpers for the tests: resolve a text in the folder of the examples.
#![allow(unreachable_pub)]

pub mod alone;
pub mod schema_paths;
pub mod wire;

use hostnet_config::{resolve, ConfigError, Format, Input, Plan};
use hostnet_params::SocketParams;
use std::path::{Path, PathBuf};

/// Returns the folder of the examples.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Returns the text of an example.
pub fn example(name: &str) -> String {
    std::fs::read_to_string(examples().join(name)).expect("an example")
}

/// Resolves `text` with overrides.
pub fn resolve_text(text: &str, format: Format, overrides: &[&str]) -> Result<Plan, ConfigError> {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    let base_dir = examples();
    resolve(&Input { text, format, file: "test.toml", base_dir: &base_dir, overrides: &overrides })
}

/// Returns the plan of a valid TOML text.
pub fn plan(text: &str, overrides: &[&str]) -> Plan {
    resolve_text(text, Format::Toml, overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the socket of the server in a TOML text.
pub fn socket(text: &str, overrides: &[&str]) -> SocketParams {
    plan(text, overrides).server().expect("a server").socket().clone()
}

/// Returns the plan of a valid JSON text.
pub fn plan_json(text: &str, overrides: &[&str]) -> Plan {
    resolve_text(text, Format::Json, overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// Resolves the text of a cluster with overrides.
pub fn cluster_text(text: &str, format: Format, overrides: &[&str]) -> Result<Plan, ConfigError> {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    let base_dir = examples();
    resolve(&Input { text, format, file: "test.toml", base_dir: &base_dir, overrides: &overrides })
}

/// Returns the plan of a valid TOML text of a cluster.
pub fn cluster(text: &str, overrides: &[&str]) -> Plan {
    cluster_text(text, Format::Toml, overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// Formats an error for comparison: code and path in brackets, then the message that users see.
pub fn told(error: &ConfigError) -> String {
    format!("[{} {}] {error}", error.code, error.path)
}

/// Checks that an error, formatted by [`told`], contains each of `wanted`: "[code path]", a part of its text, or both
/// as in "[code path] part | part".
#[track_caller]
pub fn assert_tells(error: &str, wanted: &[&str]) {
    for wanted in wanted {
        let parts = match wanted.split_once("] ") {
            Some((rule, parts)) if wanted.starts_with('[') => {
                [vec![format!("{rule}]")], parts.split(" | ").map(str::to_string).collect()].concat()
            }
            _ => vec![wanted.to_string()],
        };
        for part in parts {
            assert!(error.contains(&part), "{part:?} is not in: {error}");
        }
    }
}

/// Checks that the text of a cluster is rejected with this code, path and parts of the message.
#[track_caller]
pub fn says(text: &str, overrides: &[&str], wanted: &[&str]) {
    match cluster_text(text, Format::Toml, overrides) {
        Err(error) => assert_tells(&told(&error), wanted),
        Ok(_) => panic!("{overrides:?} resolves: {text}"),
    }
}
