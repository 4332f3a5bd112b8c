//! Tests allreduce with the other steps of training, against closed forms.

use crate::cluster::lab::{fabric, plan};
use hostnet_config::Plan;
use hostnet_model::flow::PhaseStats;
use hostnet_sim::{Options, Report, Run};
use serde_json::Value;

const PS: u64 = 1_000_000;
const HEADERS: u64 = 52 + 38;
const MTU: u64 = 9000;

/// Returns a plan of endpoints `h` and one `a` at a switch with cables of 10 Gbps, and a job of `h`.
fn job(hosts: u32, job: &str) -> Plan {
    plan(&format!(
        "[host.h]\nkind = \"endpoint\"\ncount = {hosts}\nlatency = \"3 us\"\n\
         [host.a]\nkind = \"endpoint\"\nlatency = \"3 us\"\n\
         [network]\nrate = \"10 Gbps\"\nlatency = \"2 us\"\nmtu = \"{MTU} B\"\nswitch.latency = \"700 ns\"\n\
         switch.buffer = \"1 GB\"\n\
         [transport.t]\nbase = \"reno\"\necn = false\ninitial_window = 10000\nreceive_buffer = \"64 MB\"\n\
         [job.j]\nkind = \"allreduce\"\nhosts = \"h\"\ntransport = \"t\"\n{job}\n[run]\nuntil = \"jobs\"\n"
    ))
}

/// Returns the duration of a run in ps, and its report.
fn took(plan: &Plan) -> (f64, Report) {
    let mut run = Run::new(plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let start_ps = plan.cluster.jobs[0].start_ps.max(1);
    let simulation = run.simulation();
    let mut all = PhaseStats::default();
    for rank in fabric(simulation).endpoints().flat_map(|endpoint| endpoint.ranks()) {
        let stats = rank.phases().iter().fold(PhaseStats::default(), |sum, stats| sum.plus(stats));
        assert_eq!(stats.time_ps, rank.done_at().expect("it is done").ps() - start_ps, "{:?}", rank.number());
        all = all.plus(&stats);
    }
    assert_eq!(all.bytes, all.received_bytes);
    let report = run.report();
    let done_us = report.summary["jobs"][0]["done_us"].as_f64().expect("it is done");
    (done_us * 1e6, report)
}

fn step<'a>(report: &'a Report, name: &str) -> &'a Value {
    let steps = report.summary["steps"].as_array().expect("a table");
    steps.iter().find(|row| row["step"] == name).unwrap_or_else(|| panic!("{name} is missing"))
}

/// Returns the time of the packets of a message on a cable, in ps.
fn wire_ps(bytes: u64) -> f64 {
    ((bytes + bytes.div_ceil(MTU - 52) * HEADERS) * 800) as f64
}

/// Returns the latency of one message between two ranks, in ps.
fn way_ps(bytes: u64) -> f64 {
    let last = bytes.min(MTU - 52);
    wire_ps(bytes) + (2 * 3 * PS + 2 * 2 * PS + 700_000 + (last + HEADERS) * 800) as f64
}

fn assert_within(found_ps: f64, law_ps: f64, what: &str) {
    let off = found_ps / law_ps - 1.0;
    assert!(off.abs() < 0.01, "{what}: {found_ps} ps for {law_ps}, {:.2} % off", off * 100.0);
}

const BYTES: u64 = 4_000_000;

#[test]
fn an_aggregator_takes_what_goes_in_and_out_of_its_cable() {
    let with = |more: &str| took(&job(5, &format!("bytes = \"4 MB\"\nalgorithm = \"aggregator\"\n{more}"))).0;
    assert_within(with(""), 2.0 * way_ps(4 * BYTES), "rank 0 adds up");
    let alone = with("aggregator = \"a\"");
    assert_within(alone, 2.0 * way_ps(5 * BYTES), "another host adds up");
    // All vectors share the cable, so all of them arrive at its end.
    let added = with("aggregator = \"a\"\nsum = \"4 GB/s\"\ncompute = { update = \"7 ms\" }");
    assert_within(added, 2.0 * way_ps(5 * BYTES) + 4.0 * 1e9 + 7e9, "it adds and updates");
    // Of six ranks, the one that sums up sends to three, each of which forwards at once.
    let tree = with("aggregator = \"a\"\nanswer = \"tree\"");
    // A message that is still in the socket shares the cable with the next one, so its receiver forwards it later.
    let law = way_ps(5 * BYTES) + 3.0 * way_ps(BYTES);
    assert!((1.0..1.02).contains(&(tree / law)), "the sum goes back along a tree: {tree} ps for {law}");
}

#[test]
fn groups_sum_up_before_one_of_each_goes_around() {
    let (found, report) = took(&job(8, "bytes = \"4 MB\"\nalgorithm = \"hierarchical\"\ngroup = 2\nsum = \"1 GB/s\""));
    let ring = 6.0 * way_ps(BYTES / 4) + 3.0 * 1e9;
    assert_within(found, 2.0 * way_ps(BYTES) + 4e9 + ring, "groups of two");
    assert_eq!(step(&report, "reduce-scatter")["messages"], 12);
    let whole = took(&job(8, "bytes = \"4 MB\"\nalgorithm = \"hierarchical\"\ngroup = 1")).0;
    assert_eq!(whole, took(&job(8, "bytes = \"4 MB\"")).0, "groups of one are a ring");
    // By default a group is the ranks of a host.
    let (_, report) = took(&job(4, "bytes = \"4 MB\"\nalgorithm = \"hierarchical\"\nranks_per_host = 2"));
    assert_eq!(step(&report, "reduce-scatter")["messages"], 12);
}

#[test]
fn a_ring_of_blocking_calls_takes_twice_as_long() {
    let of = |ranks: u32, blocking: bool| took(&job(ranks, &format!("bytes = \"{BYTES} B\"\nblocking = {blocking}"))).0;
    for ranks in [2, 4, 8] {
        assert_within(of(ranks, true), 2.0 * of(ranks, false), &format!("{ranks} ranks"));
    }
}

#[test]
fn a_ring_adds_each_part_but_one() {
    let plain = took(&job(8, "bytes = \"4 MB\"")).0;
    let (summed, report) = took(&job(8, "bytes = \"4 MB\"\nsum = \"2 GB/s\""));
    assert_within(summed - plain, 7.0 / 8.0 * 2e9, "sums of a ring");
    let sums = step(&report, "sum");
    assert_eq!((sums["count"].as_u64(), sums["mean_us"].as_f64()), (Some(56), Some(250.0)));
    for algorithm in ["recursive-doubling", "tree"] {
        let of = |sum: &str| took(&job(8, &format!("bytes = \"4 MB\"\nalgorithm = \"{algorithm}\"\n{sum}"))).0;
        assert_within(of("sum = \"2 GB/s\"") - of(""), 3.0 * 2e9, algorithm);
    }
}

#[test]
fn buckets_are_exchanged_while_the_backward_pass_goes_on() {
    let parts = "compute = { forward = \"5 ms\", backward = \"40 ms\", copy = \"400 us\", update = \"3 ms\" }\n\
                 bytes = \"4 MB\"\niterations = 3\n";
    let with = |bucket: &str| took(&job(4, &format!("{parts}{bucket}")));
    let ring = |bytes: u64| 6.0 * way_ps(bytes / 4);
    let (whole, report) = with("");
    assert_within(whole, 3.0 * (48.4e9 + ring(BYTES)), "no buckets");
    for (name, us) in [("forward", 5000.0), ("backward", 40000.0), ("copy", 400.0), ("update", 3000.0)] {
        assert_eq!(step(&report, name)["mean_us"].as_f64(), Some(us), "{name}");
        assert_eq!(step(&report, name)["compute_us"].as_f64(), Some(us), "{name}");
    }
    for same in ["bucket = \"4 MB\"", "bucket = \"1 GB\""] {
        let (found, again) = with(same);
        assert_eq!((found, &again.result_hash), (whole, &report.result_hash), "{same}");
    }
    // Each of the four exchanges finishes before the next begins; only the last is visible.
    let (four, report) = with("bucket = \"1 MB\"");
    assert_within(four, 3.0 * (48.1e9 + ring(BYTES / 4)), "four buckets");
    let exchanged = step(&report, "reduce-scatter")["messages"].as_u64();
    assert_eq!(exchanged, Some(3 * 4 * 4 * 3));
    // A backward pass that is shorter than the exchange hides only the exchange of the first bucket.
    let short = parts.replace("40 ms", "2 ms");
    let found = took(&job(4, &format!("{short}bucket = \"2 MB\""))).0;
    assert_within(found, 3.0 * (5e9 + 1e9 + 0.4e9 + 3e9 + 2.0 * ring(BYTES / 2)), "short");
}

#[test]
fn at_servers_the_accelerator_takes_nothing_of_cores_and_sums_are_executed() {
    let text = "[host.box]\npreset = \"mcn-scaleup-8\"\n[job.j]\nkind = \"allreduce\"\nhosts = \"box\"\nranks = 2\n\
                bytes = \"4 MB\"\nsum = \"4 GB/s\"\niterations = 2\nbucket = \"2 MB\"\n\
                compute = { forward = \"200 us\", backward = \"300 us\", update = \"40 us\" }\n\
                [run]\nuntil = \"jobs\"\n";
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let report = run.report();
    let us = |name: &str, key: &str| step(&report, name)[key].as_f64().expect("a number");
    assert_eq!((us("forward", "mean_us"), us("forward", "max_us")), (200.0, 200.0));
    // Only the first half is waited for; the second is computed while the first is exchanged.
    assert_eq!(us("backward", "max_us"), 150.0);
    assert_eq!(step(&report, "sum")["count"].as_u64(), Some(2 * 2 * 2));
    // For a million bytes: instructions, and lines of both vectors from memory.
    let sum = us("sum", "mean_us");
    assert!(sum > 250.0 && sum < 1000.0, "{sum}");
    assert!((us("update", "mean_us") / 40.0 - 1.0).abs() < 0.01);
}

#[test]
fn a_core_sends_and_receives_one_thing_at_a_time() {
    let with = |rate: &str| took(&job(4, &format!("bytes = \"16 MB\"\n{rate}"))).0;
    assert_within(with("socket_rate = \"10 TB/s\""), with(""), "as good as none");
    // The core of each rank moves one part out and one part in for each step of the ring.
    let moved = |gbps: f64| 2.0 * 6.0 * 4e6 * 8.0 / gbps * 1e3;
    assert_within(with("socket_rate = \"4 Gbps\""), moved(4.0), "it bounds both directions together");
    assert_within(with("socket_rate = \"2 Gbps\""), moved(2.0), "half of it takes twice as long");
    let two = moved(2.0 / (1.0 / 3.0 + 1.0 / 6.0));
    assert_within(with("socket_rate = \"3 Gbps\"\nsocket_send_rate = \"6 Gbps\""), two, "each direction has its own");
    let (_, report) = took(&job(4, "bytes = \"16 MB\"\nsocket_rate = \"4 Gbps\""));
    assert_eq!(report.summary["limits"][0]["limit"], "rank cores");
    // A single direction gets the whole rate.
    let gather = "bytes = \"16 MB\"\nalgorithm = \"aggregator\"\nsocket_rate = \"4 Gbps\"";
    let found = took(&job(4, gather)).0;
    assert_within(found, 2.0 * 3.0 * 16e6 * 8.0 / 4.0 * 1e3, "what one receives and then sends");
}
