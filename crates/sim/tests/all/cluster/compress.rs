//! Tests the compression engines of NICs: their throughput, and the packets that they leave alone.

use crate::cluster::lab::plan;
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_sim::{Options, Report, Run};
use serde_json::Value;
use std::path::{Path, PathBuf};

const PS: u64 = 1_000_000;
const MTU: u64 = 1500;
/// Data of a packet that may grow by 34/32, in bytes; `HEADERS` has the IP and TCP headers and what Ethernet adds on
/// the wire.
const DATA: u64 = (MTU - 52) / 34 * 32;
const HEADERS: u64 = 52 + 38;

/// Returns a plan of two endpoints at a switch with cables of 10 Gbps, with engines, and a message of 8 MB from one
/// to the other.
fn job(engine: &str, network: &str, compress: bool) -> Plan {
    plan(&format!(
        "[host.h]\nkind = \"endpoint\"\ncount = 2\nlatency = \"3 us\"\n[host.h.compress]\n{engine}\n\
         [network]\nrate = \"10 Gbps\"\nlatency = \"2 us\"\nswitch.latency = \"700 ns\"\n{network}\n\
         [transport.t]\nbase = \"reno\"\necn = false\ninitial_window = 10000\nreceive_buffer = \"64 MB\"\n\
         [job.j]\nkind = \"broadcast\"\nhosts = \"h\"\nbytes = \"8 MB\"\ntransport = \"t\"\n\
         compress = {compress}\n[run]\nuntil = \"jobs\"\n"
    ))
}

fn run(plan: &Plan) -> Report {
    let mut run = Run::new(plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report()
}

fn took_ps(report: &Report) -> f64 {
    let row = &report.summary["jobs"][0];
    assert_eq!(row["unfinished_ranks"].as_u64(), Some(0));
    row["done_us"].as_f64().expect("it is done") * 1e6
}

fn engine<'a>(report: &'a Report, host: &str, direction: &str) -> &'a Value {
    let rows = report.summary["engines"].as_array().expect("a table");
    rows.iter().find(|row| row["host"] == host && row["direction"] == direction).expect("a row")
}

fn assert_within(found: f64, law: f64, share: f64, what: &str) {
    let off = found / law - 1.0;
    assert!(off.abs() < share, "{what}: {found} for {law}, {:.2} % off", off * 100.0);
}

const BYTES: u64 = 8_000_000;

#[test]
fn a_message_takes_what_is_left_of_it_on_the_wire() {
    // Floats of one class only: 2, 10, 18 or 34 of 32 bytes are left. At 4 GHz the engine is just not the bottleneck.
    for (shares, left) in [("[0, 1, 0, 0]", 10), ("[0, 0, 1, 0]", 18), ("[0, 0, 0, 1]", 34)] {
        let report = run(&job(&format!("clock = \"4 GHz\"\nshares = {shares}"), "", true));
        let packets = BYTES.div_ceil(DATA);
        let wire = packets * HEADERS + BYTES / 32 * left;
        assert_within(took_ps(&report), (wire * 800) as f64, 0.01, shares);
        for (host, direction) in [("h-0", "out"), ("h-1", "in")] {
            let row = engine(&report, host, direction);
            assert_eq!(row["bytes"].as_u64(), Some(BYTES));
            assert_eq!(row["wire_bytes"].as_u64(), Some(BYTES / 32 * left));
        }
        assert_eq!(report.summary["limits"][0]["limit"], "cable", "{shares}");
    }
    let nothing = run(&job("clock = \"1 GHz\"\nratio = 16", "", true));
    assert_within(engine(&nothing, "h-0", "out")["ratio"].as_f64().expect("a number"), 16.0, 1e-9, "ratio");
    let tenth = run(&job("ratio = 8", "", true));
    assert_within(engine(&tenth, "h-0", "out")["ratio"].as_f64().expect("a number"), 8.0, 0.01, "ratio");
}

#[test]
fn a_full_engine_is_named_and_a_quicker_one_helps() {
    // An engine takes 32 bytes of data per cycle, and three bursts for the headers of each packet.
    let cycles = |bytes: u64| bytes.div_ceil(32) + 3;
    let law_ps = |clock_mhz: f64| (BYTES.div_ceil(DATA) * cycles(DATA)) as f64 / clock_mhz * PS as f64;
    let mut last = f64::MAX;
    for clock in [25, 50, 100, 200] {
        let report = run(&job(&format!("clock = \"{clock} MHz\"\nratio = 16"), "", true));
        let took = took_ps(&report);
        assert_within(took, law_ps(f64::from(clock)), 0.02, &format!("{clock} MHz"));
        let limit = &report.summary["limits"][0];
        assert_eq!((&limit["limit"], &limit["place"]), (&"compression".into(), &"h-0".into()), "{limit}");
        assert!(took < last / 1.9);
        last = took;
    }
}

#[test]
fn a_job_that_a_quicker_engine_helps_is_never_said_to_wait_for_its_ranks() {
    let ring = |clock: u32| {
        let text = format!(
            "[host.h]\nkind = \"endpoint\"\ncount = 4\n[host.h.compress]\nclock = \"{clock} MHz\"\nratio = 9\n\
             [network]\nrate = \"10 Gbps\"\nmtu = \"1500 B\"\n\
             [job.j]\nkind = \"allreduce\"\nhosts = \"h\"\nbytes = \"40 MB\"\ncompress = true\n\
             [run]\nuntil = \"jobs\"\n"
        );
        let report = run(&plan(&text));
        (took_ps(&report), report.summary["limits"][0]["limit"].as_str().expect("a limit").to_owned())
    };
    assert_eq!(ring(100).1, "compression");
    for clock in [50, 100, 150, 200, 250, 300, 400, 600] {
        let ((took, limit), (quicker, _)) = (ring(clock), ring(2 * clock));
        assert!(
            limit != "ranks" || quicker > 0.9 * took,
            "{clock} MHz: {limit}, {took} ps, {quicker} with twice as much"
        );
        assert!(limit != "compression" || quicker < 0.95 * took, "{clock} MHz: {limit}, {took} ps, {quicker}");
    }
}

#[test]
fn packets_without_a_mark_pass_beside_engines() {
    let with = run(&job("clock = \"25 MHz\"\nratio = 16\nlatency = \"100 us\"", "", false));
    let mut tree = tree(&job("ratio = 16", "", false));
    tree["host"]["h"].as_object_mut().expect("a table").remove("compress");
    let without = run(&plan_of(&tree));
    assert_eq!(took_ps(&with), took_ps(&without));
    assert_eq!(engine(&with, "h-0", "out")["packets"].as_u64(), Some(0));
    assert!(without.summary.get("engines").is_none());
}

/// Returns the configuration of a plan, for changes.
fn tree(plan: &Plan) -> Value {
    serde_json::from_str(&plan.effective.to_string()).expect("it is JSON")
}

fn plan_of(tree: &Value) -> Plan {
    let (text, base_dir) = (tree.to_string(), Path::new("."));
    let input = Input { text: &text, format: Format::Json, file: "test.json", base_dir, overrides: &[] };
    resolve(&input).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn latencies_of_both_engines_are_on_the_way_of_each_message() {
    let small = |latency: &str, iterations: u32| {
        let engine = format!("clock = \"1 GHz\"\nratio = 16\nlatency = \"{latency}\"");
        let mut tree = tree(&job(&engine, "", true));
        tree["job"]["j"]["bytes"] = "320 B".into();
        tree["job"]["j"]["iterations"] = iterations.into();
        took_ps(&run(&plan_of(&tree)))
    };
    // Messages do not wait for answers: all are written at once, and their latencies overlap.
    for iterations in [1, 10] {
        assert_eq!(small("7 us", iterations) - small("0 us", iterations), (2 * 7 * PS) as f64);
    }
}

#[test]
fn losses_change_nothing_of_what_is_received() {
    let plan = job("ratio = 8", "", true);
    let mut tree = tree(&plan);
    tree["cable"] = serde_json::json!({ "h-1": { "corrupt": 0.01 } });
    let report = run(&plan_of(&tree));
    let job = &report.summary["jobs"][0];
    assert_eq!((job["unfinished_ranks"].as_u64(), job["bytes"].as_u64()), (Some(0), Some(BYTES)));
    assert!(engine(&report, "h-0", "out")["bytes"].as_u64() > Some(BYTES), "what was lost was sent again");
    assert!(took_ps(&report) > took_ps(&run(&plan)));
}

#[test]
fn overflows_before_an_engine_are_retransmitted() {
    let incast = |buffer: &str| {
        plan(&format!(
            "[host.h]\nkind = \"endpoint\"\ncount = 5\n\
             [host.h.compress]\nclock = \"100 MHz\"\nratio = 16\nbuffer = \"{buffer}\"\n\
             [network]\nrate = \"40 Gbps\"\n[job.j]\nkind = \"allreduce\"\nalgorithm = \"aggregator\"\nhosts = \"h\"\n\
             bytes = \"4 MB\"\ncompress = true\n[run]\nuntil = \"jobs\"\n"
        ))
    };
    let (roomy, tight) = (run(&incast("64 MiB")), run(&incast("64 KiB")));
    assert_eq!(engine(&roomy, "h-0", "in")["dropped_packets"].as_u64(), Some(0));
    assert!(engine(&tight, "h-0", "in")["dropped_packets"].as_u64() > Some(0));
    for report in [&roomy, &tight] {
        assert_eq!(report.summary["jobs"][0]["unfinished_ranks"].as_u64(), Some(0));
        // Messages from the rank that sums up are not compressed.
        assert_eq!(engine(report, "h-0", "out")["bytes"].as_u64(), Some(0));
        assert_eq!(engine(report, "h-3", "in")["bytes"].as_u64(), Some(0));
    }
}

#[test]
fn checkpoints_and_threads_change_nothing() {
    let gradients = recorded();
    for sizes in ["ratio = 8".to_owned(), format!("gradients = {gradients:?}\nbound = 10")] {
        assert_same_from_any_checkpoint(&job(&format!("{sizes}\nlatency = \"1 us\""), "", true));
    }
    std::fs::remove_file(gradients).expect("it is there");
}

/// Writes a file of gradients with equally many floats of ten magnitudes, and returns its path.
fn recorded() -> PathBuf {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000,), }\n";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((0..1000).flat_map(|float| (2.0_f32.powi(float / 100 - 12)).to_le_bytes()));
    let file = std::env::temp_dir().join(format!("hostnet-gradients-{}.npy", std::process::id()));
    std::fs::write(&file, bytes).expect("it can be written");
    file
}

fn assert_same_from_any_checkpoint(plan: &Plan) {
    let mut whole = Run::new(plan, Options::default());
    assert_eq!(whole.run(|_| true), Ok(true));
    let expected = whole.report().result_hash;
    for share in [0.2, 0.5, 0.9] {
        let checkpoint_at_ps = (whole.simulated_ps() as f64 * share) as u64;
        let mut first = Run::new(plan, Options { checkpoint_at_ps, threads: 2, ..Options::default() });
        assert_eq!(first.run(|_| true), Ok(true));
        let mut second = Run::resume(plan, Options::default(), first.checkpoint().expect("taken")).expect("read");
        assert_eq!(second.run(|_| true), Ok(true));
        assert_eq!(second.report().result_hash, expected);
    }
}

#[test]
fn servers_have_engines_and_see_what_they_sent() {
    let servers = |compress: bool| {
        plan(&format!(
            "[host.n]\npreset = \"mcn-scaleup-8\"\ncount = 2\n[host.n.nic.compress]\nratio = 8\n\
             [network]\nrate = \"1 Gbps\"\n[job.j]\nkind = \"allreduce\"\nhosts = \"n\"\nbytes = \"200 kB\"\n\
             sum = \"10 GB/s\"\ncompress = {compress}\n[run]\nuntil = \"jobs\"\n"
        ))
    };
    let (plain, less) = (run(&servers(false)), run(&servers(true)));
    for host in ["n-0", "n-1"] {
        let [out, into] = ["out", "in"].map(|direction| engine(&less, host, direction)["bytes"].as_u64());
        assert_eq!((out, into), (Some(200_000), Some(200_000)));
    }
    // The cable is slow: with an eighth of the data on it, headers and cores dominate.
    let quicker = took_ps(&plain) / took_ps(&less);
    assert!((2.0..8.0).contains(&quicker), "{quicker}");
    assert_eq!(plain.summary["jobs"][0]["bytes"], less.summary["jobs"][0]["bytes"]);
}
