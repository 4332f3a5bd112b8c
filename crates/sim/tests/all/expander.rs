//! Tests memory behind a CXL link: computable latencies and limits, and conservation of lines.

use crate::common::laws::{assert_all_move, assert_books, assert_little, cases, drain, run_to};
use crate::common::{plan, settled, stream, us};
use hostnet_config::Plan;
use hostnet_kernel::Simulation;
use hostnet_model::expander::Expander;
use hostnet_model::Machine;
use hostnet_sim::sample::{domains, PoolGroup};
use hostnet_sim::{build, Options, Run};
use proptest::prelude::*;
use serde_json::Value;

/// Returns a plan of loads of some cores from memory behind a link of sixteen lanes, with the DRAM device of the
/// server.
fn far(cores: &str, overrides: &[&str]) -> Plan {
    let base = ["expander.device=DDR4_2933", "expander.lanes=16", "workload.stream.memory=node:1"];
    stream(cores, 1.0, &[&base[..], overrides].concat())
}

fn machine(plan: &Plan, until_us: u64) -> Simulation<Machine> {
    let mut simulation = build::one_server(plan.server().expect("a server"));
    run_to(&mut simulation, us(until_us));
    simulation
}

fn summary(plan: &Plan) -> Value {
    let mut run = Run::new(plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().summary
}

/// Returns the throughput of the stream's loads in GB/s, and their mean latency in ns.
fn loads(plan: &Plan) -> (f64, f64) {
    let row = summary(plan)["workloads"][0].clone();
    (row["throughput_gb_per_s"].as_f64().expect("a rate"), row["latency_mean_ns"].as_f64().expect("a latency"))
}

/// Returns the time of so many bytes on the wires of PCIe 5.0 with flits of 68 B, in ns.
fn wire_ns(bytes: f64, lanes: f64) -> f64 {
    bytes / (lanes * 32.0 / 8.0 * 128.0 / 130.0 * 64.0 / 68.0)
}

#[test]
fn an_idle_load_takes_the_link_twice_and_the_device_twice() {
    let one = ["core.lfb.entries=1", "core.lfb.refill=10 ns"];
    let latency = |more: &[&str]| loads(&far("0", &[&one[..], more].concat())).1;
    let base = latency(&[]);
    // One line in a hundred waits for a refresh, or finds its row closed by a refresh.
    let near = |found: f64, law: f64| assert!((found - law).abs() < 5.0, "{found} ns, law {law}");
    near(latency(&["expander.latency=140 ns"]) - base, 200.0);
    near(latency(&["expander.controller=70 ns"]) - base, 100.0);
    near(latency(&["expander.lanes=1"]) - base, wire_ns(96.0, 1.0) - wire_ns(96.0, 16.0));
    let at_home = loads(&stream("0", 1.0, &one)).1;
    let law = 2.0 * (40.0 + 20.0) + wire_ns(96.0, 16.0) - 19.0;
    assert!((base - at_home - law).abs() < 6.0, "{base} and {at_home} ns, law {law} more than at home");
}

#[test]
fn loads_get_what_the_link_leaves_for_data() {
    for (lanes, generation, law) in [(1, 5, 3.706_f64), (2, 4, 3.706), (1, 3, 0.926_6)] {
        let keys = [format!("expander.lanes={lanes}"), format!("expander.generation={generation}")];
        let (rate, _) = loads(&far("0-7", &[keys[0].as_str(), keys[1].as_str()]));
        // A line comes with a slot of 16 B.
        assert!((rate / (law * 64.0 / 80.0) - 1.0).abs() < 0.01, "{rate} GB/s of {law}");
    }
}

#[test]
fn a_credit_is_a_line_per_round_trip() {
    for credits in [1, 2, 5] {
        let plan = far("0-3", &[&format!("expander.read_credits={credits}")]);
        let row = summary(&plan)["domains"]
            .as_array()
            .expect("domains")
            .iter()
            .find(|row| row["domain"] == "CXL read" && row["part"] == "all" && row["workload"] == "all")
            .expect("the pool")
            .clone();
        let of = |key: &str| row[key].as_f64().expect("a number");
        assert!(of("full_share") > 0.99 && of("in_use_max") <= f64::from(credits));
        let law = f64::from(credits) * 64.0 / of("latency_mean_ns");
        assert!((of("throughput_gb_per_s") / law - 1.0).abs() < 0.01, "{} GB/s, law {law}", of("throughput_gb_per_s"));
    }
}

/// Returns the throughput of local loads and of loads from memory behind a link beside them, in GB/s, where one slice
/// has 16 entries.
fn beside(overrides: &[&str]) -> [f64; 2] {
    let base = [
        "cha.slices=1",
        "cha.tor.entries=16",
        "core.lfb.entries=32",
        "workload.near.kind=stream",
        "workload.near.cores=2-3",
        "workload.near.working_set=64 MiB",
    ];
    let rows = summary(&far("0-1", &[&base[..], overrides].concat()))["workloads"].clone();
    let rate = |name: &str| {
        let row = rows.as_array().expect("rows").iter().find(|row| row["workload"] == name).expect("a row");
        row["throughput_gb_per_s"].as_f64().expect("a rate")
    };
    ["near", "stream"].map(rate)
}

#[test]
fn lines_behind_a_link_hold_the_entries_of_local_ones_unless_they_have_a_share() {
    let slow = ["expander.lanes=1", "expander.latency=500 ns"];
    let with = |more: &[&str]| beside(&[&slow[..], more].concat());
    let [near, far] = with(&[]);
    let [near_with, far_with] = with(&["cha.tor.expander_entries=4"]);
    assert!(near_with > 2.0 * near, "{near_with} GB/s with a share, {near} without");
    // Four lines per round trip of the link, the device and its DRAM: 1.1 us.
    assert!((far_with / (4.0 * 64.0 / 1_160.0) - 1.0).abs() < 0.1, "{far_with} GB/s");
    assert!(far_with < far && far < near, "{far_with}, {far} and {near} GB/s");
}

/// Returns a plan of local loads beside loads from memory behind a slow link, which a control watches and throttles.
fn controlled(overrides: &[&str]) -> Plan {
    let text =
        "server.preset = \"cascade-lake-hostcc\"\ncha = { slices = 1, tor.entries = 16 }\ncore.lfb.entries = 32\n\
                expander = { lanes = 1, latency = \"500 ns\" }\n\
                [control]\nside = \"expander\"\nworkloads = [\"far\"]\nmba = \"20 us\"\noccupancy_floor = 0\n\
                [workload.near]\nkind = \"stream\"\ncores = \"2-3\"\n\
                [workload.far]\nkind = \"stream\"\ncores = \"0-1\"\nmemory = \"node:1\"\n\
                [run]\nwarmup = \"100 us\"\nduration = \"100 us\"\nseed = 1\n";
    plan(text, overrides)
}

#[test]
fn a_control_throttles_the_cores_behind_a_link_alone() {
    let rates = |level: &str| {
        let found =
            summary(&controlled(&["control.rule=fixed", &format!("control.level={level}")]))["workloads"].clone();
        [0, 1].map(|row| found[row]["throughput_gb_per_s"].as_f64().expect("a rate"))
    };
    let [far, near] = rates("0");
    let [throttled, relieved] = rates("3");
    assert!(relieved > 2.0 * near, "{relieved} GB/s with throttling, {near} without");
    assert!(throttled < far, "{throttled} and {far} GB/s");
    // 64 LFB entries, each of which waits 20 us for MBA.
    assert!((throttled / (64.0 * 64.0 / 21_300.0) - 1.0).abs() < 0.1, "{throttled} GB/s");
    assert!(rates("4")[0] == 0.0, "the processes are stopped");
}

#[test]
fn registers_of_the_cha_count_the_lines_behind_a_link() {
    let plan = controlled(&["control.rule=watch", "cha.tor.expander_entries=4"]);
    let far = summary(&plan)["workloads"][0]["throughput_gb_per_s"].as_f64().expect("a rate");
    let mut simulation = machine(&plan, 200);
    let (stops, mut held, mut bandwidth) = (100_u32, 0.0, 0.0);
    // A sample holds two or three lines: the mean of many counts.
    for stop in 1..=stops {
        run_to(&mut simulation, us(200 + 5 * u64::from(stop)));
        let signals = *simulation.parts()[0].0.control().expect("a control").signals();
        held += signals.occupancy_smoothed as f64 / 1024.0 / f64::from(stops);
        bandwidth += signals.bandwidth_smoothed as f64 / 1e9 / f64::from(stops);
    }
    assert!((3.9..4.01).contains(&held), "{held} entries of 4");
    assert!((bandwidth / far - 1.0).abs() < 0.05, "{bandwidth} GB/s enter, {far} arrive");
}

/// Returns the reported limit of loads from all eight cores, and their throughput in GB/s.
fn limit(keys: &[&str]) -> (String, f64) {
    let row = summary(&far("0-7", keys))["workloads"][0].clone();
    let limit = row["limited_by"].as_str().expect("a limit").to_owned();
    (limit, row["throughput_gb_per_s"].as_f64().expect("a rate"))
}

#[test]
fn planted_limits_behind_a_link_are_named_and_help_when_raised() {
    let dram = ["expander.device=DDR3_1600", "expander.generation=6"];
    let planted = [
        ("CXL link", "expander.lanes=1", "expander.lanes=2", &[][..]),
        ("CXL read", "expander.read_credits=4", "expander.read_credits=5", &[]),
        ("CXL read", "expander.read_credits=40", "expander.read_credits=48", &[]),
        ("CHA->CXL", "cha.tor.expander_entries=1", "cha.tor.expander_entries=2", &[]),
        ("CXL DRAM", "expander.channels=1", "expander.channels=2", &dram),
        ("C2M-Read", "core.lfb.entries=2", "core.lfb.entries=3", &[]),
    ];
    for (name, as_it_is, raised, more) in planted {
        let (found, rate) = limit(&[more, &[as_it_is]].concat());
        let (_, better) = limit(&[more, &[raised]].concat());
        assert_eq!(found, name, "{as_it_is}");
        assert!(better > 1.1 * rate, "{raised} gives {better} GB/s, {as_it_is} {rate}");
    }
}

#[test]
fn interleaved_buffers_lie_there_for_half() {
    let plan = stream("0-3", 1.0, &["expander={}", "workload.stream.memory=interleave"]);
    let mut simulation = machine(&plan, 200);
    let machine = settled(&mut simulation);
    let lines =
        |group| -> u64 { domains(machine, group).iter().map(|(_, domain)| domain.classes()[0].acquired()).sum() };
    let share = lines(PoolGroup::ExpanderRead) as f64 / lines(PoolGroup::C2mRead) as f64;
    assert!((share - 0.5).abs() < 0.02, "{share}");
}

#[test]
fn a_server_whose_workloads_do_not_use_it_runs_as_without() {
    let hash = |more: &[&str]| {
        let mut summary = summary(&stream("0-3", 0.5, more));
        let keep = |row: &Value| row["domain"].as_str().is_some_and(|domain| !domain.starts_with("CXL"));
        let domains = summary["domains"].as_array_mut().expect("domains");
        domains.retain(keep);
        (summary["domains"].clone(), summary["workloads"].clone(), summary["channels"].clone())
    };
    assert_eq!(hash(&[]), hash(&["expander={}"]));
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn what_is_named_helps_when_it_is_raised(
        (lanes, credits, channels, entries) in (0_u32..4, 2_u32..80, 1_u32..3, 2_u32..13),
        device in prop::sample::select(vec!["DDR3_1600", "DDR4_2933", "DDR5_4800"]),
        pattern in prop::sample::select(vec!["sequential", "random"]),
        place in prop::sample::select(vec!["node:1", "node:1", "interleave"]),
    ) {
        let keys = |lanes: u32, credits: u32, channels: u32, entries: u32| {
            vec![
                format!("expander.lanes={}", 1 << lanes),
                format!("expander.read_credits={credits}"),
                format!("expander.channels={channels}"),
                format!("core.lfb.entries={entries}"),
                format!("expander.device={device}"),
                format!("workload.stream.pattern={pattern}"),
                format!("workload.stream.memory={place}"),
                "workload.stream.working_set=256 MiB".to_owned(),
            ]
        };
        let of = |keys: Vec<String>| limit(&keys.iter().map(String::as_str).collect::<Vec<_>>());
        let (found, rate) = of(keys(lanes, credits, channels, entries));
        let raised = match found.as_str() {
            "CXL link" => keys(lanes + 1, credits, channels, entries),
            "CXL read" => keys(lanes, 2 * credits, channels, entries),
            "CXL DRAM" => keys(lanes, credits, 2 * channels, entries),
            "C2M-Read" => keys(lanes, credits, channels, 2 * entries),
            _ => return Ok(()),
        };
        let (_, better) = of(raised);
        prop_assert!(better > 1.02 * rate, "{found}: {better} GB/s for {rate}");
    }

    #[test]
    fn nothing_gets_lost_on_the_way(
        (lanes, latency, controller) in (0_u32..5, 1_u32..300, 1_u32..100),
        (reads, writes, channels) in (1_u32..40, 1_u32..40, 1_u32..4),
        device in prop::sample::select(vec!["DDR4_2933", "DDR5_4800", "HBM2E"]),
        place in prop::sample::select(vec!["node:1", "interleave", "local"]),
        (share, cached, until_us, entries) in (0_u32..5, any::<bool>(), 20_u64..80, prop::option::of(1_u32..10)),
    ) {
        let mut keys = vec![
            format!("expander.lanes={}", 1 << lanes),
            format!("expander.latency={latency} ns"),
            format!("expander.controller={controller} ns"),
            format!("expander.read_credits={reads}"),
            format!("expander.write_credits={writes}"),
            format!("expander.channels={channels}"),
            format!("expander.device={device}"),
            format!("workload.stream.memory={place}"),
            format!("workload.stream.working_set={} MiB", if cached { 2 } else { 64 }),
        ];
        keys.extend(entries.map(|entries| format!("cha.tor.expander_entries={entries}")));
        if cached {
            let small = ["cache.enabled=true", "cache.l2.sets=64", "cache.llc.sets=64"];
            keys.extend(small.map(String::from));
        }
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let plan = stream("0-2", f64::from(share) / 4.0, &keys);
        let mut simulation = machine(&plan, until_us);
        assert_books(settled(&mut simulation));
        assert_all_move(&mut simulation);
        drain(&mut simulation);
        let machine = settled(&mut simulation);
        assert_books(machine);
        assert_little(machine);
        let credits = machine.first::<Expander>().expect("an expander").credits();
        prop_assert!(credits.iter().all(|domain| domain.in_use() == 0));
    }
}
