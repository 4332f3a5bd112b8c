//! Tests a host with a fluid memory: it agrees with the same host line by line, and obeys the same laws.

use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_model::nic::Nic;
use hostnet_model::World;
use hostnet_sim::{Options, Preparation, RateTables, Run};
use std::path::Path;

/// Rates that the tests measure once, unless they are about measuring.
static TABLES: RateTables = RateTables::new(|| None);

const CLUSTER: &str = r#"
[host.receiver]
preset = "cascade-lake-hostcc"
[host.sender]
kind = "endpoint"
[network]
rate = "100 Gbps"
latency = "1 us"
mtu = "4096 B"
[flow.bulk]
kind = "bulk"
from = "sender"
to = "receiver"
transport = "dctcp"
count = 4
[run]
duration = "1 ms"
warmup = "1 ms"
seed = 1
"#;

fn plan(fidelity: &str) -> Plan {
    plan_of(CLUSTER, fidelity)
}

fn plan_of(text: &str, fidelity: &str) -> Plan {
    let overrides = [format!("host.receiver.fidelity=\"{fidelity}\"")];
    let base_dir = Path::new(".");
    let input = Input { text, format: Format::Toml, file: "t.toml", base_dir, overrides: &overrides };
    resolve(&input).expect("a right cluster")
}

fn shared() -> Options {
    Options { rate_tables: Some(&TABLES), ..Options::default() }
}

fn ran(fidelity: &str, options: Options) -> Run {
    let mut run = Run::new(&plan(fidelity), options);
    assert!(run.run(|_| true).expect("it is not stuck"));
    run
}

fn number(run: &mut Run, table: &str, key: &str) -> f64 {
    run.report().summary[table][0][key].as_f64().expect("a number")
}

#[test]
fn an_idle_memory_is_the_same_line_by_line() {
    let [mut line, mut fluid] = ["line", "fluid"].map(|fidelity| ran(fidelity, shared()));
    for (table, key, most) in
        [("classes", "goodput_gbps", 0.05), ("hosts", "iio_write_occupancy", 0.1), ("memory", "gb_per_s", 0.05)]
    {
        let [line, fluid] = [&mut line, &mut fluid].map(|run| number(run, table, key));
        assert!((fluid / line - 1.0).abs() < most, "{key}: {fluid} instead of {line}");
    }
    assert!(fluid.events() * 20 < line.events(), "{} and {} events", fluid.events(), line.events());
}

#[test]
fn with_ddio_a_copy_finds_its_lines_in_the_caches() {
    // Data that arrives in buffers that have left the caches displaces other lines: the more memory the buffers
    // cover, the more lines.
    for (pool, displaced) in [("8 MiB", 0.2..0.8), ("14 MiB", 0.7..1.0)] {
        let ddio = format!("cache.enabled = true\nnic.ddio = true\nnic.pool = \"{pool}\"\n[host.sender]");
        let cached = CLUSTER.replacen("[host.sender]", &ddio, 1);
        let [mut line, mut fluid] = ["line", "fluid"].map(|fidelity| {
            let mut run = Run::new(&plan_of(&cached, fidelity), shared());
            assert!(run.run(|_| true).expect("it is not stuck"));
            run
        });
        for (table, key, most) in [("classes", "goodput_gbps", 0.02), ("hosts", "iio_write_occupancy", 0.05)] {
            let [line, fluid] = [&mut line, &mut fluid].map(|run| number(run, table, key));
            assert!((fluid / line - 1.0).abs() < most, "{pool}, {key}: {fluid} instead of {line}");
        }
        let [read, written] = ["read_gb_per_s", "write_gb_per_s"].map(|key| number(&mut fluid, "memory", key));
        let [into_iio, copied] = [("hosts", "iio_write_gbps"), ("classes", "goodput_gbps")]
            .map(|(table, key)| number(&mut fluid, table, key) / 8.0);
        assert!(read < 0.05 * copied, "{pool}: {read} GB/s of {copied} are read from memory");
        assert!(displaced.contains(&(written / into_iio)), "{pool}: {written} of {into_iio} GB/s");
    }
}

#[test]
fn no_packet_is_lost_or_made_up() {
    let run = ran("fluid", shared());
    let nics = run.simulation().worlds().filter_map(|world| match world {
        World::Server(machine) => machine.first::<Nic>(),
        World::Fabric(_) | World::Remote => None,
    });
    for nic in nics {
        // `inside` panics if more packets left the NIC than arrived.
        let inside: u64 = nic.flows().iter().map(|flow| flow.inside()).sum();
        assert!(inside < 1_000, "{inside} packets in the NIC");
    }
}

#[test]
fn a_fluid_host_resumes_exactly_from_a_checkpoint() {
    let options = Options { checkpoint_at_ps: 1_500_000_000, ..shared() };
    let mut whole = ran("fluid", options);
    let bytes = whole.checkpoint().expect("a checkpoint").to_vec();
    let mut rest = Run::resume(&plan("fluid"), options, &bytes).expect("it fits");
    assert!(rest.run(|_| true).expect("it is not stuck"));
    assert_eq!(rest.report().result_hash, whole.report().result_hash);
}

#[test]
fn other_sockets_are_in_the_rates() {
    let sockets =
        "sockets = 3\nworkload.mapp = { kind = \"stream\", cores = \"8,16\", reads = 0.5, memory = \"node:0\" }\n\
                   control = { rule = \"fixed\", level = LEVEL }\n[host.sender]";
    let of = |fidelity, level: &str| {
        let text = CLUSTER.replacen("[host.sender]", &sockets.replace("LEVEL", level), 1);
        let mut run = Run::new(&plan_of(&text, fidelity), shared());
        assert!(run.run(|_| true).expect("it is not stuck"));
        [("classes", "goodput_gbps"), ("memory", "gb_per_s")].map(|(table, key)| number(&mut run, table, key))
    };
    let [free, held] = ["0", "3"].map(|level| {
        let [line, fluid] = ["line", "fluid"].map(|fidelity| of(fidelity, level));
        for (line, fluid) in line.iter().zip(fluid) {
            assert!((fluid / line - 1.0).abs() < 0.1, "level {level}: {fluid} instead of {line}");
        }
        fluid
    });
    assert!(held[1] < 0.8 * free[1], "throttled sockets move {} instead of {} GB/s", held[1], free[1]);
}

#[test]
fn looking_more_often_changes_nothing() {
    let loaded = format!("{CLUSTER}[host.receiver.workload.mapp]\nkind = \"remote\"\nsockets = \"0-1\"\nreads = 0.5\n");
    let looked_at = |series_ps: u64| {
        let mut run = Run::new(&plan_of(&loaded, "fluid"), Options { series_ps, ..shared() });
        assert!(run.run(|_| true).expect("it is not stuck"));
        let summary = run.report().summary;
        assert!(summary["memory"].as_array().is_some_and(|rows| rows.len() > 1), "{summary}");
        ["classes", "hosts", "memory"].map(|table| summary[table].clone())
    };
    let plain = looked_at(0);
    assert_eq!(looked_at(7_654_321), plain);
}

#[test]
fn the_same_run_twice_is_the_same() {
    let hash = |options| ran("fluid", options).report().result_hash;
    assert_eq!(hash(Options::default()), hash(shared()));
}

#[test]
fn rate_measurements_report_progress_and_can_be_stopped() {
    let points_of = |stage: Preparation| match stage {
        Preparation::Rates { done, points } => (done, points),
        Preparation::Caches(_) => panic!("it has no caches"),
    };
    let mut told = Vec::new();
    let run = Run::prepare(&plan("fluid"), Options::default(), |stage| {
        told.push(points_of(stage));
        true
    });
    assert!(run.is_some());
    // A point takes several simulations.
    told.dedup();
    // None to four cores copy, and nothing is throttled.
    assert_eq!(told, (0..=5).map(|done| (done, 5)).collect::<Vec<_>>());
    for given_up in [0, 2] {
        let on_stage = |stage| points_of(stage).0 < given_up;
        assert!(Run::prepare(&plan("fluid"), Options::default(), on_stage).is_none());
    }
    assert!(Run::prepare(&plan("line"), Options::default(), |_| false).is_some(), "a line has no rates");
}
