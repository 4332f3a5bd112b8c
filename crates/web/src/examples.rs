//! The examples that a page offers, embedded from `examples/`.

use hostnet_config::Format;
use serde::Serialize;

/// Table with a description and a command of each example.
const README: &str = include_str!("../../../examples/README.md");

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../examples/", $name)))),*]
    };
}

/// Examples that take seconds in a browser. The others read a trace that is compressed with xz, or take minutes.
const EXAMPLES: [(&str, &str); 25] = embedded![
    "quadrant3.toml",
    "quadrant1.toml",
    "stream.toml",
    "redis.toml",
    "pagerank.toml",
    "ddio.toml",
    "die.toml",
    "expander.toml",
    "nudma-drives.toml",
    "rdma.toml",
    "dctcp.toml",
    "hostcc.toml",
    "nudma.toml",
    "nudma-file.toml",
    "datagrams.toml",
    "service.toml",
    "power.toml",
    "forward.toml",
    "pool.toml",
    "dimm.toml",
    "leaf-spine.toml",
    "allreduce.toml",
    "npb_servers.toml",
    "noc.toml",
    "chip.toml",
];

/// Files that the examples name.
const FILES: [(&str, &str); 7] =
    embedded!["quadrant.fio", "ddio/1m.fio", "ddio/2m.fio", "ddio/3m.fio", "ddio/4m.fio", "ddio/6m.fio", "die.csv",];

/// An example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Example {
    /// Name of its file.
    name: &'static str,
    /// One sentence about it, with code in backquotes.
    about: &'static str,
    /// Command that runs it.
    command: String,
    /// "server", "cluster", "chip", or "noc" for a network on a chip alone.
    kind: &'static str,
    /// True if it describes a network on a chip alone.
    noc: bool,
    /// Text of the configuration.
    text: &'static str,
}

/// Returns the examples that a page offers, the first ones first.
pub(crate) fn list() -> Vec<Example> {
    let example = |(name, text)| {
        let (about, command) = row(name)?;
        let command = command.trim_start_matches(".venv/bin/").to_owned();
        let noc = command.starts_with("hostnet noc");
        let kind = match noc {
            true => "noc",
            false if hostnet_config::is_chip(text, Format::Toml) => "chip",
            false if hostnet_config::is_cluster(text, Format::Toml) => "cluster",
            false => "server",
        };
        Some(Example { name, about, kind, noc, command, text })
    };
    EXAMPLES.into_iter().filter_map(example).collect()
}

/// Returns description and command of an example in the table of the README.
fn row(name: &str) -> Option<(&'static str, &'static str)> {
    let start = format!("| [{name}]({name}) | ");
    let (about, command) = README.lines().find_map(|line| line.strip_prefix(&start))?.rsplit_once(" | `")?;
    Some((about, command.strip_suffix("` |")?))
}

/// Returns the text of an example.
#[cfg(test)]
pub(crate) fn text(name: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Mounts the files that the examples name.
pub(crate) fn mount_files() {
    for (name, content) in FILES {
        hostnet_files::mount(name, content.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;
    use serde_json::json;

    #[test]
    fn every_example_is_described_and_valid() {
        mount_files();
        let all = list();
        assert_eq!(all.len(), EXAMPLES.len());
        for Example { name, text, kind, noc, .. } in all {
            let request = json!({ "text": text, "file": name, "noc": noc }).to_string();
            let plan = Request::read(&request).and_then(|request| request.resolve()).expect("it is valid");
            assert_eq!(plan.kind(), kind, "{name}");
        }
    }
}
