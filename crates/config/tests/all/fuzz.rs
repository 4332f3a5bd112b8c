//! No input makes the program panic. The effective form of a valid input resolves again.

use crate::common::schema_paths::schema_paths;
use crate::common::{example, resolve_text};
use hostnet_config::{schema, ConfigError, Format, Plan};
use proptest::prelude::*;
use serde_json::{json, Value};
use std::sync::LazyLock;

/// Names of workloads.
const NAMES: [&str; 4] = ["stream", "disk", "kv", "other"];

static PATHS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| schema_paths(&schema(), &NAMES));

fn check(result: Result<Plan, ConfigError>) {
    match result {
        Ok(plan) => {
            let effective = plan.effective.to_string();
            let again =
                resolve_text(&effective, Format::Json, &[]).unwrap_or_else(|error| panic!("{error}: {effective}"));
            assert!(again.server() == plan.server() && again.hash == plan.hash, "another plan: {effective}");
        }
        Err(error) => {
            let text = error.to_string();
            assert!(!error.message.is_empty() && text.len() < 2000, "{text}");
        }
    }
}

fn scalar() -> impl Strategy<Value = Value> {
    let words = [
        "",
        "0",
        "0-3",
        "all",
        "auto",
        "intel",
        "RoBaRaCoCh",
        "DDR4_3200",
        "ice-lake-8362",
        "stream",
        "fio",
        "app",
        "redis",
        "bc",
        "mlc",
        "9-10",
        "0x600",
        "0x5",
        "3.3 GHz",
        "qlru",
        "inclusive",
        "random",
        "strided",
        "read",
        "randrw",
        "quadrant.fio",
        "probe.fio",
        "8+13",
        "6",
        "6+6",
        "18446744073709551615 ps",
        "0 ns",
        "1 ps",
        "4 KiB",
        "1 TiB",
        "64 B",
        "1 GB/s",
        "100 MT/s",
        "2933 MT/s",
        "1000 s",
        "\u{0}",
        "µ",
        "ns",
        "1e9 ns",
        ".5 ns",
        "5. ns",
        "+5 ns",
    ];
    prop_oneof![
        prop::sample::select(words.to_vec()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec![0u64, 1, 2, 3, 4, 7, 8, 16, 64, 1024, 65536, u64::from(u32::MAX), u64::MAX])
            .prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|value| json!(value)),
        (0.0f64..=1.0).prop_map(|value| json!(value)),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{0,8}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

fn put(tree: &mut Value, path: &[String], value: Value) {
    match path.split_first() {
        None => *tree = value,
        Some((first, rest)) => {
            if !tree.is_object() {
                *tree = json!({});
            }
            put(&mut tree[first], rest, value);
        }
    }
}

/// Returns the third quadrant as JSON.
fn base() -> Value {
    json!({
        "server": { "preset": "cascade-lake-6234" },
        "workload": {
            "stream": { "kind": "stream", "cores": "0-5", "reads": 0.5 },
            "disk": { "kind": "fio", "job": "quadrant.fio" }
        },
        "run": { "duration": "1 ms" }
    })
}

/// Returns Redis beside storage reads, with caches.
fn base_with_caches() -> Value {
    let mut tree = base();
    tree["cache"] = json!({ "enabled": true });
    tree["workload"]["stream"]["cores"] = json!("0-3");
    tree["workload"]["kv"] = json!({ "kind": "app", "app": "redis", "cores": "4-5", "llc_ways": "0-3" });
    tree
}

fn mutate(text: &str, edits: &[(usize, usize, Vec<u8>)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (at, count, new) in edits {
        let at = at % (bytes.len() + 1);
        let end = (at + count).min(bytes.len());
        bytes.splice(at..end, new.iter().copied());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn edits() -> impl Strategy<Value = Vec<(usize, usize, Vec<u8>)>> {
    let text = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..6),
        prop::sample::select(vec!["=", "\n", "[", "]", "\"", "{", "}", ".", "#", "0", "9", "-", " ", "ns", "'''"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec((any::<usize>(), 0usize..6, text), 1..5)
}

/// Returns the configuration of the tests. PROPTEST_CASES raises the number of cases for a longer search.
fn config() -> ProptestConfig {
    let cases = ProptestConfig::default().cases;
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_text(text in any::<String>(), format in prop::sample::select(vec![Format::Toml, Format::Json])) {
        check(resolve_text(&text, format, &[]));
    }

    #[test]
    fn damaged_files(edits in edits()) {
        check(resolve_text(&mutate(&example("quadrant3.toml"), &edits), Format::Toml, &[]));
        check(resolve_text(&mutate(hostnet_config::template(), &edits), Format::Toml, &[]));
        check(resolve_text(&mutate(&base().to_string(), &edits), Format::Json, &[]));
        check(resolve_text(&mutate(&base_with_caches().to_string(), &edits), Format::Json, &[]));
    }

    #[test]
    fn any_value_at_any_key(settings in prop::collection::vec((any::<prop::sample::Index>(), value()), 1..4)) {
        for mut tree in [base(), base_with_caches()] {
            for (index, value) in &settings {
                put(&mut tree, &PATHS[index.index(PATHS.len())], value.clone());
            }
            check(resolve_text(&tree.to_string(), Format::Json, &[]));
            if let Ok(text) = toml::to_string(&tree) {
                check(resolve_text(&text, Format::Toml, &[]));
            }
        }
    }

    #[test]
    fn any_setting(index in any::<prop::sample::Index>(), value in scalar(), raw in any::<String>()) {
        let setting = format!(
            "{}={}",
            PATHS[index.index(PATHS.len())].join("."),
            value.as_str().map_or(value.to_string(), str::to_string)
        );
        check(resolve_text(&example("quadrant3.toml"), Format::Toml, &[&setting]));
        check(resolve_text(&example("quadrant3.toml"), Format::Toml, &[&raw]));
    }

    #[test]
    fn damaged_job_files(edits in edits(), which in prop::sample::select(vec!["quadrant.fio", "probe.fio"])) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("job.fio"), mutate(&example(which), &edits)).unwrap();
        let text = base().to_string().replace("quadrant.fio", "job.fio");
        let input = hostnet_config::Input {
            text: &text,
            format: Format::Json,
            file: "test.json",
            base_dir: folder.path(),
            overrides: &[],
        };
        check(hostnet_config::resolve(&input));
    }
}

#[test]
fn deep_and_long_texts_are_refused_without_harm() {
    let deep = [
        format!("a = {}1{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("a = {}1{}", "{a = ".repeat(100_000), "}".repeat(100_000)),
        format!("{} = 1", ["a"; 100_000].join(".")),
        format!("[{}]\n", ["a"; 100_000].join(".")),
        format!("a = {}1{}", format!("{{{} = ", ["a"; 70].join(".")).repeat(75), "}".repeat(75)),
        format!("[{}]\n{} = 1\n", ["a"; 70].join("."), ["b"; 70].join(".")),
    ];
    for text in &deep {
        assert!(resolve_text(text, Format::Toml, &[]).is_err());
        assert!(resolve_text("", Format::Toml, &[text.as_str()]).is_err());
    }
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for depth in [20, 100_000] {
            let text = format!("{{\"a\": {}1{}}}", open.repeat(depth), close.repeat(depth));
            assert!(resolve_text(&text, Format::Json, &[]).is_err());
        }
    }
    assert!(resolve_text(&"#".repeat(2 << 20), Format::Toml, &[]).is_err());
    let many: String = (0..20_000).map(|at| format!("[workload.w{at}]\nkind = \"stream\"\ncores = \"0\"\n")).collect();
    assert!(resolve_text(&many, Format::Toml, &["server.preset=cascade-lake-6234"]).is_err());
}
