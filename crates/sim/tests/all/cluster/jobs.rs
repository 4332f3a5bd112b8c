//! Tests jobs of ranks: collectives against closed forms, and consistent statistics.

use crate::cluster::lab::{drain, fabric, plan};
use crate::cluster::ranks::assert_same_however_run;
use crate::cluster::stats::assert_conserved;
use crate::common::laws::cases;
use hostnet_config::Plan;
use hostnet_kernel::Simulation;
use hostnet_model::flow::{PhaseStats, Rank};
use hostnet_model::World;
use hostnet_sim::{Options, Report, Run};
use proptest::prelude::*;
use serde_json::Value;

const PS: u64 = 1_000_000;
/// Size of the IP and TCP headers and what Ethernet adds on the wire, in bytes.
const HEADERS: u64 = 52 + 38;
/// Start of jobs, in ps.
const START_PS: u64 = 3 * PS;
const MTU: u64 = 9000;

/// Returns a plan of endpoints at a switch with cables of 10 Gbps, and a job of all of them.
fn job(hosts: u32, job: &str, transport: &str) -> Plan {
    plan(&format!(
        "[host.h]\nkind = \"endpoint\"\ncount = {hosts}\nlatency = \"3 us\"\n\
         [network]\nrate = \"10 Gbps\"\nlatency = \"2 us\"\nmtu = \"{MTU} B\"\nswitch.latency = \"700 ns\"\n\
         [transport.t]\nbase = \"reno\"\necn = false\ninitial_window = 10000\nreceive_buffer = \"64 MB\"\n{transport}\n\
         [job.j]\nhosts = \"h\"\nstart = \"3 us\"\ntransport = \"t\"\n{job}\n[run]\nuntil = \"jobs\"\n"
    ))
}

/// Returns the latency of a message of one packet between two ranks, in ps.
fn way_ps(bytes: u64) -> u64 {
    2 * 3 * PS + 2 * ((bytes + HEADERS) * 800 + 2 * PS) + 700_000
}

/// Returns the latency of a message of several consecutive packets between two ranks, in ps.
fn train_ps(bytes: u64) -> f64 {
    let each = MTU - 52;
    let packets = bytes.div_ceil(each);
    let wire = (bytes + packets * HEADERS) * 800;
    (way_ps(each.min(bytes)) + wire - (each.min(bytes) + HEADERS) * 800) as f64
}

pub fn finished(plan: &Plan) -> (Report, Run) {
    let mut run = Run::new(plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    (run.report(), run)
}

pub fn ranks(simulation: &Simulation<World>) -> Vec<&Rank> {
    fabric(simulation).endpoints().flat_map(|endpoint| endpoint.ranks()).collect()
}

/// Returns the duration of a job, in ps.
fn took_ps(plan: &Plan) -> u64 {
    let (report, _) = finished(plan);
    let row = &report.summary["jobs"][0];
    assert_eq!(row["unfinished_ranks"].as_u64(), Some(0));
    (row["done_us"].as_f64().expect("it is done") * 1e6).round() as u64 - START_PS
}

pub fn assert_within(found_ps: u64, law_ps: f64, what: &str) {
    let off = found_ps as f64 / law_ps - 1.0;
    assert!(off.abs() < 0.01, "{what}: {found_ps} ps for {law_ps}, {:.2} % off", off * 100.0);
}

#[test]
fn small_collectives_take_as_many_messages_after_each_other_as_they_have_rounds() {
    for rounds in 1..=4_u64 {
        let hosts = 1 << rounds;
        let barrier = took_ps(&job(hosts, "kind = \"barrier\"", ""));
        assert_eq!(barrier, rounds * way_ps(1), "barrier of {hosts}");
        let tree = took_ps(&job(hosts, "kind = \"barrier\"\nalgorithm = \"tree\"", ""));
        assert_eq!(tree, 2 * rounds * way_ps(1), "barrier of {hosts} along a tree");
        let broadcast = took_ps(&job(hosts, "kind = \"broadcast\"\nbytes = \"500 B\"", ""));
        assert_eq!(broadcast, rounds * way_ps(500), "broadcast to {hosts}");
        let doubling = "kind = \"allreduce\"\nalgorithm = \"recursive-doubling\"\nbytes = \"1 kB\"";
        assert_eq!(took_ps(&job(hosts, doubling, "")), rounds * way_ps(1000), "sum of {hosts}");
        let halving = "kind = \"allreduce\"\nalgorithm = \"halving-doubling\"\nbytes = \"1024 B\"";
        let ways: u64 = (1..=rounds).map(|round| 2 * way_ps(1024 >> round)).sum();
        assert_eq!(took_ps(&job(hosts, halving, "")), ways, "sum of {hosts} by halves");
    }
    let odd = "kind = \"allreduce\"\nalgorithm = \"recursive-doubling\"\nbytes = \"64 B\"";
    // First ranks 0 and 2 send their vectors to 1 and 3. While 1 and 3 exchange, 4 and 5 finish their exchange, and
    // their sum arrives in time. Then 1 and 3 send the whole sum back and to 4 and 5, one after the other.
    assert_eq!(took_ps(&job(6, odd, "")), 3 * way_ps(64) + (64 + HEADERS) * 800);
}

#[test]
fn large_collectives_take_what_their_bytes_need() {
    let bytes = 4_000_000_u64;
    for hosts in [3_u64, 8] {
        let of = |kind: &str| took_ps(&job(hosts as u32, &format!("kind = \"{kind}\"\nbytes = \"4 MB\""), ""));
        let ring = 2.0 * (hosts - 1) as f64 * train_ps(bytes / hosts);
        assert_within(of("allreduce"), ring, &format!("allreduce of {hosts}"));
        let others = (hosts - 1) as f64 * train_ps(bytes);
        assert_within(of("allgather"), others, &format!("allgather of {hosts}"));
        assert_within(of("alltoall"), others, &format!("alltoall of {hosts}"));
    }
    let halves: f64 = [2, 4, 8].iter().map(|parts| 2.0 * train_ps(bytes / parts)).sum();
    let halving = "kind = \"allreduce\"\nalgorithm = \"halving-doubling\"\nbytes = \"4 MB\"";
    assert_within(took_ps(&job(8, halving, "")), halves, "allreduce of 8 by halves");
    // Of 3, the first sends its whole vector to the second before, beside the half that the third sends there already,
    // and gets the whole sum afterwards.
    let folded = train_ps(3 * bytes / 2) + 2.0 * train_ps(bytes / 2) + train_ps(bytes);
    assert_within(took_ps(&job(3, halving, "")), folded, "allreduce of 3 by halves");
    // A rank starts to send to its next child when the message is written: apart from what its connection holds, that
    // is when the message has arrived.
    let broadcast = job(8, "kind = \"broadcast\"\nbytes = \"16 MB\"", "send_buffer = \"64 KiB\"");
    assert_within(took_ps(&broadcast), 3.0 * train_ps(4 * bytes), "broadcast to 8");
}

#[test]
fn ranks_compute_before_each_iteration_and_copy_within_their_host() {
    let text = "kind = \"barrier\"\niterations = 5\ncompute = \"70 us\"";
    assert_eq!(took_ps(&job(4, text, "")), 5 * (70 * PS + 2 * way_ps(1)));
    let text =
        "kind = \"broadcast\"\nranks_per_host = 2\nbytes = \"1 kB\"\ncopy_rate = \"1 GB/s\"\ncopy_latency = \"2 us\"";
    // Rank 0 sends to rank 2 at the other host before it copies to rank 1; rank 2 copies to rank 3 when it has the
    // message.
    assert_eq!(took_ps(&job(2, text, "")), way_ps(1000) + 3 * PS);
}

#[test]
fn hosts_that_run_launch_others() {
    let (report, _) = finished(&job(4, "kind = \"barrier\"\nlaunch = \"10 us\"\nranks_per_host = 2", ""));
    let row = &report.summary["jobs"][0];
    let us = |key: &str| row[key].as_f64().expect("a number");
    assert_eq!((us("launched_us"), us("began_us")), (3.0, 23.0));
    assert_eq!((row["ranks"].as_u64(), row["hosts"].as_u64(), row["messages"].as_u64()), (Some(8), Some(4), Some(24)));
}

/// Returns the sum of the statistics of ranks.
pub fn stats(ranks: &[&Rank]) -> PhaseStats {
    ranks.iter().flat_map(|rank| rank.phases()).fold(PhaseStats::default(), |sum, stats| sum.plus(stats))
}

/// Asserts that the steps of each rank add up to the time of its run, unless they overlap, and that everything sent was
/// received.
pub fn assert_books(run: &mut Run) {
    let simulation = run.simulation();
    let ranks = ranks(simulation);
    let start_ps = run.plan().cluster.jobs[0].start_ps.max(1);
    for rank in &ranks {
        let done = rank.done_at().expect("it is done").ps();
        if !rank.has_operations() {
            assert_eq!(stats(&[rank]).time_ps, done - start_ps, "{:?}", rank.number());
        }
        assert_eq!(rank.unreceived_bytes(), 0);
    }
    let all = stats(&ranks);
    assert_eq!(all.bytes, all.received_bytes);
}

#[test]
fn times_of_steps_add_up_to_that_of_the_run() {
    for kind in ["npb-cg", "npb-ep", "npb-is", "npb-mg", "npb-ft"] {
        let iterations = if kind == "npb-cg" { "iterations = 2" } else { "" };
        let plan = job(4, &format!("kind = \"{kind}\"\nranks_per_host = 2\n{iterations}"), "");
        let (report, mut run) = finished(&plan);
        assert_books(&mut run);
        let (jobs, steps) = (&report.summary["jobs"][0], report.summary["steps"].as_array().expect("a table"));
        let sum = |key: &str| steps.iter().map(|row| row[key].as_u64().expect("a number")).sum::<u64>();
        assert_eq!(Some(sum("bytes")), jobs["bytes"].as_u64(), "{kind}");
        assert_eq!(Some(sum("messages")), jobs["messages"].as_u64(), "{kind}");
        let shares: f64 = steps.iter().filter_map(|row| row["share"].as_f64()).sum();
        assert!((shares - 1.0).abs() < 1e-12, "{kind}");
    }
}

#[test]
fn bytes_on_their_way_are_between_those_sent_and_those_received() {
    let plan = job(4, "kind = \"allreduce\"\nbytes = \"300 kB\"\niterations = 3", "");
    let mut simulation = hostnet_sim::build::world(&plan.cluster);
    for step in 1..60 {
        simulation.run_until(hostnet_kernel::Time::from_ps(step * 40 * PS), |_| true);
        let streams = crate::cluster::stats::streams(&simulation);
        let written: u64 = streams.iter().map(|end| end.application.written_bytes()).sum();
        let read: u64 = streams.iter().map(|end| end.application.received_bytes()).sum();
        let ranks = ranks(&simulation);
        let (all, waiting) = (stats(&ranks), ranks.iter().map(|rank| rank.unreceived_bytes()).sum::<u64>());
        assert_eq!(read, all.received_bytes + waiting);
        assert!(written >= read && written >= all.bytes);
    }
    drain(&mut simulation);
    assert!(ranks(&simulation).iter().all(|rank| rank.done_at().is_some()));
    assert_conserved(&simulation, plan.cluster.flows.len());
}

#[test]
fn a_run_ends_soon_after_its_jobs_whatever_else_is_asked_of_it() {
    let plan = job(4, "kind = \"allreduce\"\nbytes = \"1 MB\"\ncompute = \"1 ms\"\niterations = 7", "");
    let (report, run) = finished(&plan);
    let (end_us, done_us) =
        (run.simulated_ps() as f64 / 1e6, report.summary["jobs"][0]["done_us"].as_f64().expect("done"));
    assert!(end_us >= done_us && end_us < done_us * 1.005, "{end_us} {done_us}");
    assert_eq!(report.summary["complete"], true);
    let options = Options { series_ps: 77 * PS, checkpoint_every_ps: 100 * PS, ..Options::default() };
    let mut other = Run::new(&plan, options);
    assert_eq!(other.run(|_| true), Ok(true));
    assert_eq!(other.simulated_ps(), run.simulated_ps());
}

#[test]
fn a_job_that_cannot_go_on_ends_with_the_longest_time() {
    let text = "[host.h]\nkind = \"endpoint\"\ncount = 2\n[cable.h-1]\ndown = [[\"0 us\", \"1 s\"]]\n\
                [job.j]\nkind = \"barrier\"\nhosts = \"h\"\n[run]\nuntil = \"jobs\"\nduration_max = \"20 ms\"\n";
    let (report, run) = finished(&plan(text));
    assert_eq!(run.simulated_ps(), 20_000 * PS);
    let row = &report.summary["jobs"][0];
    assert_eq!((row["unfinished_ranks"].as_u64(), row["done_us"].as_f64()), (Some(2), None));
}

/// Generates the transport of messages between ranks: a line of the network, and the beginning of the job.
fn carried() -> impl Strategy<Value = [String; 2]> {
    let over_tcp =
        (any::<bool>(), proptest::sample::select(vec!["", "400 Mbps", "9 Gbps"])).prop_map(|(small, rate)| {
            let rate = if rate.is_empty() { String::new() } else { format!("socket_rate = \"{rate}\"\n") };
            [String::new(), format!("[job.j]\ncompress = {small}\n{rate}")]
        });
    // RoCE with or without DCQCN, with short messages and timeouts, and with pauses or with switch buffers that
    // overflow.
    let base = proptest::sample::select(vec!["roce", "dcqcn"]);
    let over_roce = (base, 1000_u32..40_000, 1_u32..5, any::<bool>()).prop_map(|(base, message, in_flight, pauses)| {
        let line = if pauses { "pfc = { xoff = \"20 kB\", xon = \"10 kB\" }" } else { "buffer = \"31 kB\"" };
        let transport = format!(
            "[transport.r]\nbase = \"{base}\"\nmessage = \"{message} B\"\nin_flight = {in_flight}\n\
             timeout = \"300 us\"\n[job.j]\ntransport = \"r\"\n"
        );
        [format!("switch.{line}\n"), transport]
    });
    prop_oneof![over_tcp, over_roce]
}

/// Generates a program of messages between ranks, in an order in which all can be sent and received, with other steps
/// between them.
fn program() -> impl Strategy<Value = String> {
    let message = (0_u32..6, 1_u32..6, 1_u32..60_000, 0_u32..3, 0_u32..20);
    let forms = (1_u32..4, any::<bool>(), carried());
    (proptest::collection::vec(message, 1..40), 1_u32..4, forms).prop_map(
        |(messages, iterations, (leaves, each, [line, carried]))| {
            let mut steps = Vec::new();
            for (from, shift, bytes, kind, compute) in messages {
                let to = (from + shift) % 6;
                let compute = format!("compute = \"{compute} us\"");
                let name = format!("name = \"to {to}\"");
                steps.push(format!("{{ rank = {from}, to = {to}, send = \"{bytes} B\", {name}, {compute} }}"));
                steps.push(match kind {
                    // Each receives half of the message.
                    0 if bytes > 1 => format!(
                        "{{ rank = {to}, from = {from}, receive = \"{} B\" }}, {{ rank = {to}, from = {from}, \
                         receive = \"{} B\" }}",
                        bytes / 2,
                        bytes - bytes / 2
                    ),
                    _ => format!("{{ rank = {to}, from = {from}, receive = \"{bytes} B\", {compute} }}"),
                });
            }
            let (hosts, ranks) = if each { (6, "") } else { (4, "ranks = 6\n") };
            format!(
                "[host.e]\nkind = \"endpoint\"\ncount = {hosts}\n\
                 [host.e.compress]\nratio = 5\nlatency = \"3 us\"\nbuffer = \"64 KiB\"\n\
                 [network]\ntopology = \"leaf-spine\"\nleaves = {leaves}\nrate = \"10 Gbps\"\n\
                 switch.ecn = \"20 packets\"\n{line}\
                 [flow.beside]\nkind = \"bulk\"\nfrom = \"e-0\"\nto = \"e-3\"\n\
                 {carried}kind = \"program\"\nhosts = \"e\"\n{ranks}\
                 iterations = {iterations}\nsteps = [{}]\n\
                 [run]\nuntil = \"jobs\"\n",
                steps.join(", ")
            )
        },
    )
}

/// Asserts that the pieces of the path of a job follow each other from its beginning to its end.
fn assert_path(report: &Report) {
    let (job, path) = (&report.summary["jobs"][0], report.summary["path"].as_array().expect("a table"));
    let time = |row: &Value, name: &str| row[name].as_f64().expect("a time");
    let all: f64 = path.iter().map(|row| time(row, "time_us")).sum();
    let took = time(job, "done_us") - time(job, "began_us");
    // The table has at most this many rows.
    assert!(path.len() == 32 || (all - took).abs() < 1e-3, "{all} us of {took} us");
}

proptest! {
    #![proptest_config(cases(3))]

    #[test]
    fn programs_come_to_their_end_and_find_the_same_however_they_are_run(
        text in program(),
        threads in 2_usize..4,
        processes in 1_usize..4,
        part in 0.05..0.95,
    ) {
        let plan = plan(&text);
        let (report, mut run) = finished(&plan);
        prop_assert_eq!(report.summary["jobs"][0]["unfinished_ranks"].as_u64(), Some(0));
        assert_books(&mut run);
        assert_path(&report);
        let checkpoint_at_ps = ((run.simulated_ps() as f64 * part) as u64).max(1);
        assert_same_however_run(&plan, &report, threads, processes, checkpoint_at_ps);
    }
}
