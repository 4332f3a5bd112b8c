//! Helpers for the tests of configurations without a server.

use hostnet_config::{ConfigError, Format, Input};
use std::path::Path;

/// Resolves the text of a file in `folder`, with overrides.
pub fn resolve_alone<P>(
    resolve: impl Fn(&Input) -> Result<P, ConfigError>,
    (text, format, file): (&str, Format, &str),
    overrides: &[&str],
) -> Result<P, ConfigError> {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    resolve(&Input { text, format, file, base_dir: Path::new("folder"), overrides: &overrides })
}
