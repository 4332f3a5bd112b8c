//! The servers and DRAM devices that come with the program.

use crate::document::parse_toml;
use crate::error::{suggestion, Issue};
use crate::units::shorten;
use serde_json::Value;

const SERVERS: &[(&str, &str)] = &[
    ("cascade-lake-6234", include_str!("../../../specs/servers/cascade-lake-6234.toml")),
    ("ice-lake-8362", include_str!("../../../specs/servers/ice-lake-8362.toml")),
];

const DEVICES: &[(&str, &str)] = &[
    ("DDR4_2933", include_str!("../../../specs/dram/DDR4_2933.toml")),
    ("DDR4_3200", include_str!("../../../specs/dram/DDR4_3200.toml")),
];

/// A named server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetInfo {
    /// The name for `server.preset`.
    pub name: String,
    /// What the server is.
    pub description: String,
    /// Why its results are not checked against measurements, if they are not.
    pub unvalidated: Option<String>,
}

/// Every preset.
pub fn presets() -> Vec<PresetInfo> {
    let info = |(name, text): &(&str, &str)| {
        let tree = parse_toml(text).map(|document| document.tree).unwrap_or_default();
        let word = |key: &str| tree["server"][key].as_str().map(str::to_string);
        let description = word("description").unwrap_or_default();
        PresetInfo { name: name.to_string(), description, unvalidated: word("unvalidated") }
    };
    SERVERS.iter().map(info).collect()
}

/// The names of every DRAM device.
pub fn devices() -> Vec<String> {
    DEVICES.iter().map(|(name, _)| name.to_string()).collect()
}

/// The settings of a preset.
pub(crate) fn preset(name: &str) -> Result<Value, Issue> {
    embedded(SERVERS, name, "server.preset", "preset")
}

/// The settings of a DRAM device.
pub(crate) fn device(name: &str) -> Result<Value, Issue> {
    embedded(DEVICES, name, "memory.device", "device")
}

fn embedded(files: &[(&str, &str)], name: &str, path: &str, what: &str) -> Result<Value, Issue> {
    let Some((_, text)) = files.iter().find(|(known, _)| *known == name) else {
        let names = files.iter().map(|(name, _)| *name);
        return Err(Issue::new(path, format!("{} is not a known {what}; {}", shorten(name), suggestion(name, names))));
    };
    let broken = |_| Issue::new(path, format!("the {what} {} is damaged", shorten(name)));
    parse_toml(text).map(|document| document.tree).map_err(broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    use crate::schema;

    #[test]
    fn every_embedded_file_fits_the_schema() {
        for (name, _) in SERVERS {
            let tree = preset(name).unwrap();
            assert_eq!(check(schema::complete(), &tree, ""), Ok(()), "{name}");
        }
        for (name, _) in DEVICES {
            let tree = device(name).unwrap();
            let dram = &schema::complete()["properties"]["memory"]["properties"]["dram"];
            assert_eq!(check(dram, &tree, ""), Ok(()), "{name}");
        }
    }

    #[test]
    fn every_number_in_an_embedded_file_has_its_source() {
        for (name, text) in SERVERS.iter().chain(DEVICES) {
            for line in text.lines().filter(|line| line.contains('=') && !line.trim_start().starts_with('#')) {
                let (setting, source) = line.split_once(" # ").unwrap_or((line, ""));
                let value = setting.split_once('=').map_or("", |(_, value)| value).trim().trim_start_matches('"');
                let has_number = value.starts_with(|first: char| first.is_ascii_digit());
                assert!(!has_number || source.len() >= 4, "{name}: no source: {line}");
            }
        }
    }
}
