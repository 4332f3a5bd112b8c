//! The configuration of the network on a chip alone: defaults, topologies, errors.

use crate::common::alone::resolve_alone;
use crate::common::{assert_tells, told};
use hostnet_config::{noc_plan, noc_schema, ConfigError, Format, NocPlan, Packets};
use hostnet_noc::{Allocation, Measure, Order, Pattern, Reuse, Router, Shape, Traffic};
use proptest::prelude::*;
use std::path::Path;

fn resolve(text: &str, format: Format, overrides: &[&str]) -> Result<NocPlan, ConfigError> {
    resolve_alone(noc_plan, (text, format, "noc.toml"), overrides)
}

fn plan(overrides: &[&str]) -> NocPlan {
    resolve("", Format::Toml, overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn error(overrides: &[&str]) -> String {
    told(&resolve("", Format::Toml, overrides).unwrap_err())
}

#[test]
fn nothing_said_is_a_mesh_with_uniform_packets() {
    let plan = plan(&[]);
    assert_eq!(plan.params.shape, Shape::Mesh { columns: 8, rows: 8 });
    let router = Router {
        vc_flits: 8,
        allocation: Allocation::Speculative,
        reuse: Reuse::TailSent,
        switch_cycles: 1,
        link_cycles: 1,
        credit_cycles: 3,
    };
    assert_eq!(plan.params.router, router);
    assert_eq!(
        (plan.params.classes.len(), plan.params.classes[0].vcs, plan.params.classes[0].order),
        (1, 4, Order::Xy)
    );
    assert_eq!((plan.flit_bytes, plan.clock_hz, plan.seed), (16, 2_000_000_000, 1));
    let traffic = Traffic { pattern: Pattern::Uniform, rate: 0.1, packet_flits: 1, seed: 1 };
    assert_eq!(plan.packets, Packets::Traffic(traffic));
    assert_eq!(plan.measure, Measure { warmup: 6_000, measure: 20_000, drain: 20_000 });
    assert_eq!(plan.given, [""; 0]);
}

#[test]
fn every_topology_routing_and_pattern_resolves_and_resolves_again() {
    let patterns =
        ["uniform", "transpose", "bit-complement", "bit-reverse", "shuffle", "tornado", "neighbor", "hotspot"];
    let networks: [&[&str]; 5] = [
        &["noc.routing=xy"],
        &["noc.routing=yx", "noc.columns=4", "noc.rows=4"],
        &["noc.routing=o1turn", "noc.router.allocation=staged", "noc.router.reuse=drained"],
        &["noc.topology=ring", "noc.router.allocation=at-switch"],
        &["noc.topology=ring", "noc.nodes=64", "noc.clock=1.3 GHz", "noc.flit=72 B"],
    ];
    for network in networks {
        for pattern in patterns {
            let pattern_key = format!("traffic.pattern={pattern}");
            let mut settings = [network, &[&pattern_key, "traffic.rate=0.25"]].concat();
            if pattern == "hotspot" {
                settings.push("traffic.hotspots=[3, 7, 3]");
            }
            if pattern == "transpose" && network[0].ends_with("ring") {
                assert!(error(&settings).contains("as many columns as rows"), "{settings:?}");
                continue;
            }
            let plan = plan(&settings);
            let again = resolve(&plan.effective.to_string(), Format::Json, &[]).unwrap();
            assert_eq!((again.hash, again.effective), (plan.hash, plan.effective), "{settings:?}");
        }
    }
}

#[test]
fn a_trace_is_measured_from_its_beginning_to_its_end() {
    let plan = plan(&["trace.path=a.gz", "noc.classes=2"]);
    assert_eq!(plan.packets, Packets::Trace { path: Path::new("folder").join("a.gz") });
    assert_eq!(plan.measure, Measure { warmup: 0, measure: u64::MAX, drain: 20_000 });
    assert_eq!(plan.params.classes.len(), 2);
    let again = resolve(&plan.effective.to_string(), Format::Json, &[]).unwrap();
    assert_eq!((again.hash, again.measure), (plan.hash, plan.measure));
}

#[test]
fn the_hash_covers_all_that_matters() {
    let base = plan(&[]).hash;
    let settings = [
        "traffic.seed=2",
        "traffic.rate=0.2",
        "noc.vcs=2",
        "noc.clock=1 GHz",
        "noc.flit=32 B",
        "noc.router.credit_cycles=4",
        "run.drain=0",
        "run.warmup=1",
        "run.measure=1",
    ];
    for setting in settings {
        assert_ne!(plan(&[setting]).hash, base, "{setting}");
    }
    assert_eq!(plan(&["noc.columns=8", "noc.routing=xy", "traffic.pattern=uniform"]).hash, base);
}

#[test]
fn errors_have_their_place_and_their_rule() {
    let cases: [(&[&str], &str); 14] = [
        (&["traffic.pattern=unifrm"], "[unknown-name traffic.pattern] \"unifrm\" | \"uniform\""),
        (&["traffic.rate=1.01"], "[out-of-range traffic.rate] 1.01 | 0.0001 to 1.0"),
        (&["traffic.hotspots=[1]"], "[no-effect traffic.hotspots] \"hotspot\""),
        (&["traffic.pattern=hotspot"], "[requires-key traffic.pattern]"),
        (&["traffic.pattern=hotspot", "traffic.hotspots=[64]"], "[does-not-exist traffic.hotspots] 64"),
        (&["traffic.pattern=shuffle", "noc.rows=3"], "[must-agree traffic.pattern] 24"),
        (&["traffic.seed=1", "trace.path=a"], "[conflicting-keys trace]"),
        (&["noc.columns=33"], "[out-of-range noc.columns] 33 | 1 to 32"),
        (&["noc.nodes=8"], "[no-effect noc.nodes]"),
        (&["noc.topology=ring", "noc.rows=8"], "[no-effect noc.rows]"),
        (&["noc.vcs=12", "noc.classes=2"], "[out-of-range noc.vcs] 64"),
        (&["noc.routing=cdr"], "[not-supported noc.routing]"),
        (&["noc.flit=2 KiB"], "[out-of-range noc.flit] 1 B | 1 KiB"),
        (&["core.count=3"], "[unknown-key core]"),
    ];
    for (settings, part) in cases {
        let said = error(settings);
        assert_tells(&said, &[part]);
    }
    let said = told(&resolve("[noc]\n\ncolums = 2\n", Format::Toml, &[]).unwrap_err());
    assert_tells(&said, &["[unknown-key noc.colums] noc.toml:3: ", "\"columns\""]);
}

#[test]
fn limits_hold_on_both_sides() {
    assert_eq!(plan(&["noc.vcs=12"]).params.classes[0].vcs, 12);
    assert_tells(&error(&["noc.vcs=13"]), &["[out-of-range noc.vcs] 13"]);
    assert_eq!(plan(&["noc.columns=32", "noc.rows=32"]).params.shape, Shape::Mesh { columns: 32, rows: 32 });
    assert_tells(&error(&["noc.rows=33"]), &["[out-of-range noc.rows] 1 to 32"]);
    assert!(plan(&["noc.routing=o1turn", "noc.vcs=2"]).hash != plan(&["noc.vcs=2"]).hash);
    assert_tells(&error(&["noc.routing=o1turn", "noc.vcs=1"]), &["[out-of-range noc.vcs]"]);
}

#[test]
fn the_schema_has_the_keys_and_needs_none() {
    let schema = noc_schema();
    assert_eq!(schema["title"], "hostnet noc configuration");
    for key in ["noc", "traffic", "trace", "run"] {
        assert!(schema["properties"][key]["description"].is_string(), "{key}");
    }
    assert!(schema.get("required").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_setting_is_a_panic_and_what_resolves_resolves_again(
        keys in prop::collection::vec(prop::sample::select(vec![
            "noc.topology", "noc.columns", "noc.rows", "noc.nodes", "noc.routing", "noc.classes", "noc.vcs",
            "noc.vc_flits", "noc.flit", "noc.clock", "noc.router.allocation", "noc.router.reuse",
            "noc.router.switch_cycles", "noc.router.link_cycles", "noc.router.credit_cycles", "traffic.pattern",
            "traffic.rate", "traffic.packet_flits", "traffic.hotspots", "traffic.seed", "trace.path", "run.warmup",
            "run.measure", "run.drain",
        ]), 1..4),
        values in prop::collection::vec(
            "([0-9]{1,3}|0\\.[0-9]{1,3}|ring|mesh|o1turn|[a-z-]{0,12}|\\[[0-9]{1,2}\\]|[0-9]{1,2} (GHz|B)|.{0,12})", 4),
    ) {
        let settings: Vec<String> = keys.iter().zip(&values).map(|(key, value)| format!("{key}={value}")).collect();
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        if let Ok(plan) = resolve("", Format::Toml, &settings) {
            let again = resolve(&plan.effective.to_string(), Format::Json, &[]).unwrap();
            prop_assert_eq!(again.hash, plan.hash);
        }
    }
}
