//! Every valid server resolves to the requested values.

use crate::common::{plan, plan_json};
use hostnet_config::schema;
use hostnet_params::{AccessPattern, WorkloadKind};
use proptest::prelude::*;
use serde_json::Value;

fn power(range: std::ops::Range<u32>) -> impl Strategy<Value = u32> {
    range.prop_map(|exponent| 1 << exponent)
}

#[derive(Debug, Clone)]
struct Server {
    cores: u32,
    channels: u32,
    ranks: u32,
    groups: u32,
    banks: u32,
    rows: u32,
    row_kib: u32,
    wpq: u32,
    high: u32,
    drives: u32,
    lanes: u32,
    mps: u32,
    refill_tenths: u32,
    device: &'static str,
    map: &'static str,
}

fn server() -> impl Strategy<Value = Server> {
    let memory = (1u32..17, power(0..2), power(0..3), power(0..3), power(12..18), power(0..5));
    let queues = (2u32..512).prop_flat_map(|wpq| (Just(wpq), 1..=wpq));
    let io = (1u32..64).prop_flat_map(|drives| (Just(drives), drives..=128, power(7..13)));
    let names = (
        prop::sample::select(vec!["DDR4_2933", "DDR4_3200"]),
        prop::sample::select(vec!["intel", "RoBaRaCoCh", "RoRaBgBaChCo", "A", "C", "co1 ch bg co ba ra ro"]),
    );
    (1u32..=64, memory, queues, io, 0u32..100_000, names).prop_map(
        |(cores, memory, queues, io, refill_tenths, names)| {
            let (channels, ranks, groups, banks, rows, row_kib) = memory;
            let ((wpq, high), (drives, lanes, mps), (device, map)) = (queues, io, names);
            Server {
                cores,
                channels,
                ranks,
                groups,
                banks,
                rows,
                row_kib,
                wpq,
                high,
                drives,
                lanes,
                mps,
                refill_tenths,
                device,
                map,
            }
        },
    )
}

fn text(s: &Server) -> String {
    format!(
        "[server]\npreset = \"cascade-lake-6234\"\n\
         [core]\ncount = {}\nlfb.refill = \"{}.{} ns\"\n\
         [memory]\nchannels = {}\ndevice = \"{}\"\nmap = \"{}\"\n\
         dram = {{ ranks = {}, bank_groups = {}, banks_per_group = {}, rows = {}, row_size = \"{} KiB\" }}\n\
         [memory.controller]\nwpq.entries = {}\nwrite_high = {}\nwrite_low = {}\n\
         [ssd]\ncount = {}\n[pcie]\nlanes = {}\nmps = \"{} B\"\n\
         [workload.a]\nkind = \"stream\"\ncores = \"0-{}\"\nworking_set = \"64 KiB\"\n",
        s.cores,
        s.refill_tenths / 10,
        s.refill_tenths % 10,
        s.channels,
        s.device,
        s.map,
        s.ranks,
        s.groups,
        s.banks,
        s.rows,
        s.row_kib,
        s.wpq,
        s.high,
        s.high - 1,
        s.drives,
        s.lanes,
        s.mps,
        s.cores - 1
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_legal_server_resolves(server in server()) {
        let capacity = [server.channels, server.ranks, server.groups, server.banks, server.rows, server.row_kib];
        let capacity: u64 = capacity.iter().map(|&count| u64::from(count)).product::<u64>() * 1024;
        prop_assume!(u64::from(server.cores) << 20 <= capacity);
        let plan = plan(&text(&server), &[]);
        let resolved = plan.server().unwrap().socket();
        prop_assert_eq!(resolved.core.refill_ps, u64::from(server.refill_tenths) * 100);
        prop_assert_eq!(resolved.memory.map.channels, server.channels);
        prop_assert_eq!(resolved.memory.pages.memory_bytes, capacity);
        prop_assert_eq!(resolved.memory.dram.lines_per_row, server.row_kib * 16);
        prop_assert_eq!(resolved.memory.map.row.len() as u32, server.rows.trailing_zeros());
        prop_assert_eq!(resolved.memory.controller.write_high, server.high);
        let again = plan_json(&plan.effective.to_string(), &[]);
        prop_assert_eq!(&again.hash, &plan.hash);
        prop_assert_eq!(again.effective, plan.effective);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_legal_caches_resolve(
        sets in (power(0..11), power(0..11), power(0..11)),
        ways in (1u32..=32, 1u32..=32, 1u32..=32),
        io in (0u32..32, 1u32..=32),
        app in prop::sample::select(vec!["redis", "pagerank", "bc", "stream", "mlc", "chase"]),
    ) {
        let first = io.0.min(ways.1 - 1);
        let last = (first + io.1 - 1).min(ways.1 - 1);
        let text = format!(
            "[server]\npreset = \"cascade-lake-6234\"\n[cache]\nenabled = true\n\
             l2 = {{ sets = {}, ways = {} }}\nllc = {{ sets = {}, ways = {} }}\nfilter = {{ sets = {}, ways = {} }}\n\
             [ddio]\nways = \"{first}-{last}\"\n\
             [workload.a]\nkind = \"app\"\napp = \"{app}\"\ncores = \"0-1\"\nllc_ways = [{first}]\n",
            sets.0, ways.0, sets.1, ways.1, sets.2, ways.2
        );
        let plan = plan(&text, &[]);
        let cache = plan.server().unwrap().socket().cache.as_ref().unwrap();
        prop_assert_eq!((cache.l2.sets, cache.llc.sets, cache.llc.filter_sets), sets);
        prop_assert_eq!((cache.l2.ways, cache.llc.ways, cache.llc.filter_ways), ways);
        prop_assert_eq!((cache.ddio.ways.trailing_zeros(), cache.ddio.ways.count_ones()), (first, last - first + 1));
        prop_assert_eq!(&cache.masks, &[1 << first]);
        let again = plan_json(&plan.effective.to_string(), &[]);
        prop_assert_eq!((again.server().unwrap(), &again.effective), (plan.server().unwrap(), &plan.effective));
    }
}

fn stream(overrides: &[&str]) -> hostnet_params::StreamParams {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[workload.a]\nkind = \"stream\"\ncores = [3, 1]\n";
    match plan(text, overrides).server().unwrap().workloads[0].kind.clone() {
        WorkloadKind::Stream(stream) => stream,
        _ => panic!("a stream was asked for"),
    }
}

#[test]
fn streams_have_their_defaults_and_their_settings() {
    let plain = stream(&[]);
    assert_eq!((plain.cores, plain.pattern, plain.reads), (vec![1, 3], AccessPattern::Sequential, 1 << 32));
    assert_eq!((plain.working_set_bytes, plain.gap_ps), (1 << 30, 0));
    let set = stream(&[
        "workload.a.pattern=strided",
        "workload.a.stride=256 B",
        "workload.a.reads=0.5",
        "workload.a.gap=0.3 ns",
        "workload.a.cores=0,2,4-5",
    ]);
    assert_eq!((set.cores, set.pattern), (vec![0, 2, 4, 5], AccessPattern::Strided { bytes: 256 }));
    assert_eq!((set.reads, set.gap_ps), (1 << 31, 300));
}

#[test]
fn links_share_the_lanes_of_every_generation() {
    let cases = [
        (1, 16, 4, 1_000_000_000),
        (2, 16, 16, 500_000_000),
        (3, 16, 4, 3_938_461_538),
        (3, 16, 5, 1_969_230_769),
        (4, 16, 8, 3_938_461_538),
        (5, 16, 1, 63_015_384_615),
        (5, 64, 1, 63_015_384_615),
        (6, 4, 4, 7_562_500_000),
    ];
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[workload.a]\nkind = \"stream\"\ncores = \"0\"\n";
    for (generation, lanes, drives, bytes_per_s) in cases {
        let settings =
            [format!("pcie.generation={generation}"), format!("pcie.lanes={lanes}"), format!("ssd.count={drives}")];
        let plan = plan(text, &settings.each_ref().map(String::as_str));
        assert_eq!(plan.server().unwrap().socket().pcie.bytes_per_s, bytes_per_s, "{settings:?}");
    }
}

/// Checks that every key has a description, and that every value with a unit names it.
fn assert_described(schema: &Value, path: &str) {
    assert!(schema["description"].is_string() || schema.get("const").is_some(), "{path} has no description");
    if let Some(quantity) = schema["x-quantity"].as_str() {
        let description = schema["description"].as_str().unwrap_or_default();
        assert!(description.contains(quantity), "{path} does not name its dimension ({quantity}): {description}");
        assert!(schema["x-max"].is_string() || schema["maximum"].is_number(), "{path} has no limit");
    }
    if schema["type"] == "integer" || schema["type"] == "number" {
        let seed = path.ends_with(".seed");
        assert!(seed || (schema["minimum"].is_number() && schema["maximum"].is_number()), "{path} has no range");
    }
    for choice in schema["oneOf"].as_array().into_iter().flatten() {
        assert_described(choice, path);
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        assert_described(inner, &format!("{path}.{name}"));
    }
    if schema["additionalProperties"].is_object() {
        assert_described(&schema["additionalProperties"], &format!("{path}.*"));
    }
}

#[test]
fn the_schema_describes_every_key_with_its_dimension_and_range() {
    let schema = schema();
    assert_described(&schema, "");
    assert_eq!(schema.get("required"), None, "a preset gives everything");
    assert_eq!(schema["additionalProperties"], false);
}
