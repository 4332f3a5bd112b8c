//! Tests networks that carry messages whole: against closed forms, and against packets.

use crate::cluster::jobs::{assert_books, finished, ranks};
use crate::cluster::lab::plan;
use crate::common::laws::cases;
use hostnet_config::Plan;
use hostnet_kernel::ThreadExchange;
use hostnet_sim::{Options, Run};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

const PS: u64 = 1_000_000;
/// Headers of IP and TCP, and what Ethernet adds on the wire, in bytes.
const HEADERS: u64 = 52 + 38;
const MTU: u64 = 9000;
/// Delay of a way from one host to another at the same switch, in ps.
const WAY_PS: u64 = 2 * 3 * PS + 2 * 2 * PS + 700_000;

/// Returns a plan of endpoints at a switch with cables of 10 Gbps and a job of all of them.
fn job(fidelity: &str, hosts: u32, job: &str) -> Plan {
    plan(&format!(
        "[host.h]\nkind = \"endpoint\"\ncount = {hosts}\nlatency = \"3 us\"\n\
         [network]\nfidelity = \"{fidelity}\"\nrate = \"10 Gbps\"\nlatency = \"2 us\"\nmtu = \"{MTU} B\"\n\
         switch.latency = \"700 ns\"\n\
         [transport.t]\nbase = \"reno\"\necn = false\ninitial_window = 10000\nreceive_buffer = \"64 MB\"\n\
         [job.j]\nhosts = \"h\"\nstart = \"3 us\"\ntransport = \"t\"\n{job}\n[run]\nuntil = \"jobs\"\n"
    ))
}

/// Returns the time from the beginning of a job to its end, in ps.
fn took_ps(plan: &Plan) -> u64 {
    let (report, mut run) = finished(plan);
    assert_books(&mut run);
    let row = &report.summary["jobs"][0];
    let [began, done] = ["began_us", "done_us"].map(|key| (row[key].as_f64().expect("a time") * 1e6).round() as u64);
    done - began
}

/// Returns the time that data takes on a wire of 10 Gbps in full packets, in ps.
fn wire_ps(bytes: u64) -> u64 {
    (bytes + bytes.div_ceil(MTU - 52) * HEADERS) * 800
}

/// Returns the time of a message alone between two hosts, in ps: the last packet waits for a full one at the switch.
fn message_ps(bytes: u64) -> u64 {
    WAY_PS + wire_ps(bytes) + wire_ps(bytes.min(MTU - 52))
}

#[test]
fn a_message_alone_takes_what_its_packets_take() {
    for bytes in [1, 8948, 8949, 100_000, 900_000] {
        let text = format!("kind = \"broadcast\"\nbytes = \"{bytes} B\"");
        let found = ["packet", "flow"].map(|fidelity| took_ps(&job(fidelity, 2, &text)));
        assert_eq!(found, [message_ps(bytes); 2], "{bytes} B");
    }
}

#[test]
fn rings_take_the_time_of_their_messages_one_after_the_other() {
    for hosts in [2, 5, 8_u64] {
        let text = "kind = \"allreduce\"\nbytes = \"4000000 B\"";
        assert_eq!(
            took_ps(&job("flow", hosts as u32, text)),
            2 * (hosts - 1) * message_ps(4_000_000 / hosts),
            "{hosts}"
        );
    }
    let exchanges: u64 = [2_u64, 4, 8].iter().map(|parts| 2 * message_ps(4_000_000 / parts)).sum();
    let text = "kind = \"allreduce\"\nalgorithm = \"halving-doubling\"\nbytes = \"4000000 B\"";
    assert_eq!(took_ps(&job("flow", 8, text)), exchanges);
    let barrier = took_ps(&job("flow", 8, "kind = \"barrier\"\ncompute = \"70 us\"\niterations = 3"));
    assert_eq!(barrier, 3 * (70 * PS + 3 * (WAY_PS + 2 * (1 + HEADERS) * 800)));
}

#[test]
fn messages_to_one_host_share_its_cable() {
    for hosts in [2, 3, 9_u64] {
        // All send half a megabyte to rank 0 at once.
        let steps: Vec<String> = (1..hosts)
            .flat_map(|rank| {
                [
                    format!("{{ rank = {rank}, to = 0, send = \"500 kB\" }}"),
                    format!("{{ rank = 0, from = {rank}, receive = \"500 kB\" }}"),
                ]
            })
            .collect();
        let text = format!("kind = \"program\"\nsteps = [{}]", steps.join(", "));
        let law = message_ps(500_000) + (hosts - 2) * wire_ps(500_000);
        let found = took_ps(&job("flow", hosts as u32, &text));
        assert!(found.abs_diff(law) <= 2, "{hosts}: {found} for {law}");
    }
}

#[test]
fn short_messages_leave_a_port_one_after_the_other_and_long_ones_take_turns() {
    let done_ps = |bytes: u64, fidelity: &str| {
        let sends = (1..4).map(|to| format!("{{ rank = 0, to = {to}, send = \"{bytes} B\" }}"));
        let receives = (1..4).map(|to| format!("{{ rank = {to}, from = 0, receive = \"{bytes} B\" }}"));
        let steps: Vec<String> = sends.chain(receives).collect();
        let text = format!("kind = \"program\"\nsteps = [{}]", steps.join(", "));
        let (_, run) = finished(&job(fidelity, 4, &text));
        let done = |rank: usize| ranks(run.simulation())[rank].done_at().expect("it is done").ps() - 3 * PS;
        [1, 2, 3].map(done)
    };
    let short = [0, 1, 2].map(|before| before * wire_ps(100_000) + message_ps(100_000));
    assert_eq!([done_ps(100_000, "packet"), done_ps(100_000, "flow")], [short; 2]);
    // All three are done at about the same time.
    let (packets, flow) = (done_ps(900_000, "packet"), done_ps(900_000, "flow"));
    let off = |rank: usize| (flow[rank] as f64 / packets[rank] as f64 - 1.0).abs();
    assert!([0, 1, 2].into_iter().all(|rank| off(rank) < 0.1), "{flow:?} for {packets:?}");
}

#[test]
fn a_sender_goes_on_when_the_rest_fits_its_buffer() {
    let text = "kind = \"program\"\nsteps = [{ rank = 0, to = 1, send = \"3 MiB\" }, \
                { rank = 0, compute = \"1 us\", name = \"after\" }, { rank = 1, from = 0, receive = \"3 MiB\" }]";
    let (_, run) = finished(&job("flow", 2, text));
    let done = ranks(run.simulation())[0].done_at().expect("it is done").ps() as f64;
    // 2 MiB must be acknowledged: sent at 10 Gbps, there and back. The job starts after 3 us.
    let law = (3 * PS + wire_ps(2 << 20) + 2 * WAY_PS + PS) as f64;
    assert!((done - law).abs() < 0.001 * law, "{done} for {law}");
}

#[test]
fn tables_have_what_is_known_and_no_counts_of_packets_that_there_are_not() {
    let plan = job("flow", 4, "kind = \"allreduce\"\nbytes = \"4 MB\"\niterations = 3");
    let (report, _) = finished(&plan);
    let summary = &report.summary;
    assert_eq!(summary["jobs"][0]["bytes"].as_u64(), Some(3 * 6 * 4 * 1_000_000));
    assert!(summary["classes"][0]["goodput_gbps"].as_f64() > Some(30.0), "{}", summary["classes"][0]);
    for absent in ["sent_packets", "timeouts", "marked_segments", "fabric_dropped"] {
        assert!(summary["classes"][0][absent].is_null(), "{absent}");
    }
    for port in summary["queues"].as_array().expect("a table") {
        for absent in ["queue_mean_packets", "queue_max_bytes", "marked_packets", "paused_share", "pauses_asked"] {
            assert!(port[absent].is_null(), "{absent}");
        }
        assert!(port["sent_gbps"].as_f64() > Some(9.0), "{port}");
    }
    assert_eq!(summary["limits"][0]["limit"], "cable", "{}", summary["limits"]);
    let notes = summary["ignored"].as_array().expect("a list");
    assert!(notes.iter().any(|note| note.as_str().is_some_and(|note| note.starts_with("network.fidelity"))));
}

/// Generates a job and its network, without `fidelity`: collectives of 2 to 9 endpoints, in networks of several shapes.
fn any_job() -> impl Strategy<Value = String> {
    let kind = proptest::sample::select(vec![
        "allreduce\"",
        "allreduce\"\nalgorithm = \"recursive-doubling\"",
        "allreduce\"\nalgorithm = \"halving-doubling\"",
        "allreduce\"\nalgorithm = \"tree\"",
        "allreduce\"\nalgorithm = \"hierarchical\"",
        "allgather\"",
        "alltoall\"",
        "broadcast\"",
        "broadcast\"\nalgorithm = \"ring\"",
    ]);
    let shape = proptest::sample::select(vec![
        "topology = \"star\"",
        "topology = \"leaf-spine\"\nleaves = 3\nspines = 2",
        "topology = \"two-tier\"\nleaves = 2",
        "topology = \"fat-tree\"",
        "topology = \"torus\"\nsize = [3, 3]",
    ]);
    let transport = proptest::sample::select(vec!["dctcp", "roce", "dcqcn"]);
    let mtu = proptest::sample::select(vec![1500, 4200, 9000]);
    let rate = proptest::sample::select(vec![10, 25, 100, 400]);
    let sizes = (2_u32..=9, 10_f64..22.0, 1_u32..4, 100_u32..3000, 0_u32..200);
    (kind, shape, transport, mtu, rate, sizes).prop_map(
        |(kind, shape, transport, mtu, rate, (hosts, doublings, iterations, latency, compute))| {
            let bytes = doublings.exp2() as u64;
            format!(
                "[host.e]\nkind = \"endpoint\"\ncount = {hosts}\n\
                 [network]\n{shape}\nrate = \"{rate} Gbps\"\nlatency = \"{latency} ns\"\nmtu = \"{mtu} B\"\n\
                 switch.buffer = \"64 MB\"\nswitch.ecn = \"65 packets\"\n\
                 [job.j]\nkind = \"{kind}\nhosts = \"e\"\nbytes = \"{bytes} B\"\niterations = {iterations}\n\
                 compute = \"{compute} us\"\ntransport = \"{transport}\"\n[run]\nuntil = \"jobs\"\n"
            )
        },
    )
}

/// Returns the relative error of the time of a job with messages instead of packets.
fn error(text: &str) -> f64 {
    let of = |fidelity: &str| {
        let text = text.replace("[network]\n", &format!("[network]\nfidelity = \"{fidelity}\"\n"));
        took_ps(&plan(&text)) as f64
    };
    of("flow") / of("packet") - 1.0
}

/// Returns the hash of the results of a run, and its epochs.
fn outcome(mut run: Run) -> Option<(String, Vec<hostnet_sim::Epoch>)> {
    assert_eq!(run.run(|_| true), Ok(true));
    run.gather();
    let epochs = run.epochs().to_vec();
    run.is_writer().then(|| (run.report().result_hash, epochs))
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn jobs_find_the_same_on_any_threads_in_any_processes_and_from_a_checkpoint(
        text in any_job(),
        threads in 2_usize..4,
        part in 0.05..0.95,
    ) {
        let plan = plan(&text.replace("[network]\n", "[network]\nfidelity = \"flow\"\n"));
        let expected = outcome(Run::new(&plan, Options::default())).expect("it writes");
        let on_threads = Options { threads, ..Options::default() };
        prop_assert_eq!(outcome(Run::new(&plan, on_threads)).expect("it writes"), expected.clone());
        let one = |letters: ThreadExchange| {
            let run = Run::prepare_across(&plan, on_threads, Arc::new(Mutex::new(letters)), |_| true);
            outcome(run.expect("it runs"))
        };
        let shared: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = ThreadExchange::all(2).into_iter().map(|letters| scope.spawn(|| one(letters))).collect();
            all.into_iter().map(|process| process.join().expect("no process fails")).collect()
        });
        prop_assert_eq!(shared[0].as_ref(), Some(&expected));
        let (_, whole) = finished(&plan);
        let checkpoint_at_ps = ((whole.simulated_ps() as f64 * part) as u64).max(1);
        let mut first = Run::new(&plan, Options { checkpoint_at_ps, ..Options::default() });
        prop_assert_eq!(first.run(|_| true), Ok(true));
        let second = Run::resume(&plan, on_threads, first.checkpoint().expect("taken")).expect("read");
        prop_assert_eq!(outcome(second).expect("it writes").0, expected.0);
    }
}

/// Returns the errors of the first random jobs in ascending order of their size, each with its job.
fn errors(count: usize) -> Vec<(f64, String)> {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let one = |_| {
        let text = any_job().new_tree(&mut runner).expect("a job").current();
        (error(&text), text)
    };
    let mut errors: Vec<(f64, String)> = (0..count).map(one).collect();
    errors.sort_by(|one, other| one.0.abs().total_cmp(&other.0.abs()));
    errors
}

fn mean(errors: &[(f64, String)]) -> f64 {
    errors.iter().map(|(error, _)| error.abs()).sum::<f64>() / errors.len() as f64
}

#[test]
fn jobs_take_about_as_long_as_with_packets() {
    let errors = errors(40);
    assert!(mean(&errors) < 0.025, "{:.2} %", 100.0 * mean(&errors));
    // Half of all jobs have no messages that meet.
    assert!(errors[19].0.abs() < 0.005, "{:?}", errors[19]);
}

/// Tells the error of 300 random jobs (docs/fidelity.md).
#[test]
#[ignore = "long"]
fn a_campaign_of_jobs_is_within_two_per_cent_on_average() {
    let errors = errors(300);
    let at = |share: f64| 100.0 * errors[((errors.len() - 1) as f64 * share) as usize].0;
    let mean = mean(&errors);
    println!("mean {:.2} %, median {:.2} %, 95th {:.2} %, worst {:.2} %", 100.0 * mean, at(0.5), at(0.95), at(1.0));
    for (error, text) in errors.iter().rev().take(12) {
        println!("{:+.2} %: {text}", 100.0 * error);
    }
    assert!(mean < 0.02, "{:.2} %", 100.0 * mean);
}
