//! No input for a cluster makes the program panic. The effective form of a valid input resolves again.

use crate::common::cluster_text;
use crate::common::schema_paths::schema_paths;
use hostnet_config::{cluster_schema, cluster_template, cluster_templates, Format};
use proptest::prelude::*;
use serde_json::{json, Value};
use std::sync::LazyLock;

/// Names in the templates.
const NAMES: [&str; 6] = ["receiver", "sender", "tor", "left", "bulk", "dctcp"];

static PATHS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| schema_paths(&cluster_schema(), &NAMES));

fn check(text: &str, format: Format, overrides: &[&str]) {
    match cluster_text(text, format, overrides) {
        Ok(plan) => {
            let effective = plan.effective.to_string();
            let again =
                cluster_text(&effective, Format::Json, &[]).unwrap_or_else(|error| panic!("{error}: {effective}"));
            assert!(again.cluster == plan.cluster && again.hash == plan.hash, "another plan: {effective}");
        }
        Err(error) => assert!(!error.message.is_empty() && error.to_string().len() < 2500, "{error}"),
    }
}

/// Words that are valid for some key.
const WORDS: [&str; 57] = [
    "",
    "0",
    "0-3",
    "a",
    "sender",
    "receiver",
    "tor",
    "endpoint",
    "server",
    "star",
    "dumbbell",
    "direct",
    "two-tier",
    "leaf-spine",
    "fat-tree",
    "ring",
    "mesh",
    "torus",
    "dragonfly",
    "leaf-0",
    "all-to-all",
    "permutation",
    "incast",
    "random",
    "web-search",
    "bulk",
    "rpc",
    "write",
    "read",
    "replay",
    "datagram",
    "packets",
    "forward",
    "hadoop",
    "ping",
    "generate",
    "dctcp",
    "roce",
    "dcqcn",
    "hostcc",
    "fixed",
    "user",
    "100 Gbps",
    "1 bps",
    "4000 B",
    "65535 B",
    "128 B",
    "0 us",
    "1000 s",
    "65 packets",
    "0 packets",
    "4294967296 packets",
    "off",
    "1 TB",
    "cascade-lake-hostcc",
    "ice-lake-8362",
    "./x.pcap",
];

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        prop::sample::select(WORDS.to_vec()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec![0u64, 1, 2, 3, 7, 64, 65536, u64::MAX]).prop_map(Value::from),
        any::<f64>().prop_map(|value| json!(value)),
        (0.0f64..=1.0).prop_map(|value| json!(value)),
        any::<bool>().prop_map(Value::from),
    ];
    scalar.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{0,8}", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

fn template() -> impl Strategy<Value = &'static str> {
    let names: Vec<_> = cluster_templates().collect();
    prop::sample::select(names).prop_map(|name| cluster_template(name).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files(
        text in template(),
        edits in prop::collection::vec((any::<usize>(), 0usize..6, "[=\\n\\[\\]\"{}.#0-9a-z -]{0,4}"), 1..5)
    ) {
        let mut bytes = text.as_bytes().to_vec();
        for (at, count, new) in edits {
            let at = at % (bytes.len() + 1);
            let end = (at + count).min(bytes.len());
            bytes.splice(at..end, new.bytes());
        }
        check(&String::from_utf8_lossy(&bytes), Format::Toml, &[]);
    }

    #[test]
    fn any_value_at_any_key(
        text in template(),
        settings in prop::collection::vec((any::<prop::sample::Index>(), value()), 1..4)
    ) {
        let settings: Vec<String> = settings
            .iter()
            .map(|(index, value)| {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                format!("{}={value}", PATHS[index.index(PATHS.len())].join("."))
            })
            .collect();
        check(text, Format::Toml, &settings.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
