//! Jobs that are written as traces and read again.

use crate::common;
use hostnet_config::{chakra_traces, Code, Plan, TraceReader};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Returns the plan of a job.
fn plan(job: &str, count: u32) -> Plan {
    let text = format!(
        "[host.e]\nkind = \"endpoint\"\ncount = {count}\n[job.j]\nhosts = \"e\"\n{job}\n[run]\nuntil = \"jobs\"\n"
    );
    common::plan(&text, &[])
}

/// Returns the traces that a job is written as.
fn written(first: &Plan, messages: bool) -> Vec<Vec<u8>> {
    chakra_traces(first, None, messages, TraceReader::Chakra).expect("it can be written").traces
}

/// Returns the plan of the traces that a job is written as.
fn again(first: &Plan, messages: bool, more: &str) -> Plan {
    let directory = tempfile::tempdir().expect("a directory");
    let traces = written(first, messages);
    for (rank, content) in traces.iter().enumerate() {
        std::fs::write(directory.path().join(format!("t.{rank}.et")), content).expect("it is written");
    }
    let trace = directory.path().join("t").display().to_string();
    plan(&format!("kind = \"chakra\"\nblocking = true\ntrace = {trace:?}\n{more}"), traces.len() as u32)
}

/// Returns the computation of a rank and that of its accelerator, in us.
fn computed(plan: &Plan, rank: usize) -> [f64; 2] {
    let job = &plan.cluster.jobs[0];
    let mut found = [0.0; 2];
    for block in &job.blocks {
        for step in job.steps_of(block, rank as u32) {
            found[0] += step.compute_ps as f64 / 1e6 * f64::from(block.times);
            found[1] += step.device.work_ps as f64 / 1e6 * f64::from(block.times);
        }
    }
    found
}

/// Returns the bytes from each rank to each other.
fn sent(plan: &Plan) -> BTreeMap<(usize, u32), u64> {
    let mut found = BTreeMap::new();
    let job = &plan.cluster.jobs[0];
    for block in &job.blocks {
        for rank in 0..job.hosts.len() {
            for message in job.steps_of(block, rank as u32).filter_map(|step| step.send) {
                *found.entry((rank, message.rank)).or_default() += message.bytes * u64::from(block.times);
            }
        }
    }
    found
}

/// Returns the sizes of the messages of a rank, as pairs of a send and a concurrent receive.
fn messages(plan: &Plan, rank: usize) -> Vec<(Option<u64>, Option<u64>)> {
    let job = &plan.cluster.jobs[0];
    let steps = job.blocks.iter().flat_map(|block| job.steps_of(block, rank as u32));
    let both = steps.map(|step| (step.send.map(|sent| sent.bytes), step.receive.map(|received| received.bytes)));
    both.filter(|both| *both != (None, None)).collect()
}

#[test]
fn collectives_are_the_same_steps_again() {
    for (job, more) in [
        ("kind = \"allreduce\"\nbytes = \"1 MB\"\ncompute = \"70 us\"", ""),
        ("kind = \"allreduce\"\nbytes = \"1 MB\"\nalgorithm = \"tree\"", "algorithm = \"tree\""),
        ("kind = \"allgather\"\nbytes = \"10 kB\"", ""),
        ("kind = \"alltoall\"\nbytes = \"10 kB\"", ""),
        ("kind = \"broadcast\"\nbytes = \"10 kB\"", ""),
        ("kind = \"barrier\"", ""),
    ] {
        for ranks in [1, 2, 5] {
            let first = plan(&format!("{job}\niterations = 3"), ranks);
            let second = again(&first, false, more);
            for rank in 0..ranks as usize {
                let thrice = messages(&first, rank).repeat(3);
                assert_eq!(messages(&second, rank), thrice, "{job}, rank {rank} of {ranks}");
                assert_eq!(computed(&second, rank), computed(&first, rank), "{job}, rank {rank} of {ranks}");
            }
        }
    }
}

#[test]
fn training_keeps_its_works_its_buckets_and_their_order() {
    let job = "kind = \"allreduce\"\nbytes = \"1 MB\"\nbucket = \"250 kB\"\niterations = 2\n\
               compute = { forward = \"30 us\", backward = \"80 us\", copy = \"8 us\", update = \"5 us\" }";
    let first = plan(job, 3);
    let second = again(&first, false, "");
    assert_eq!(computed(&second, 1), [2.0 * 13.0, 2.0 * 110.0]);
    assert_eq!(messages(&second, 1), messages(&first, 1).repeat(2));
    // The first bucket is exchanged while three parts of the backward pass are left.
    let job = &second.cluster.jobs[0];
    let steps = job.steps_of(&job.blocks[0], 0);
    let mut waits: Vec<u32> = steps.map(|step| step.device.left).filter(|&left| left < u32::MAX - 1).collect();
    waits.dedup();
    assert_eq!(waits[..4], [3, 2, 1, 0]);
}

#[test]
fn with_messages_nothing_is_a_collective() {
    let job = "kind = \"allreduce\"\nbytes = \"90 B\"\nalgorithm = \"recursive-doubling\"\nsum = \"1 Mbps\"";
    let first = plan(job, 4);
    let second = again(&first, true, "");
    assert_eq!(sent(&second), sent(&first));
    assert_eq!(computed(&second, 2), [2.0 * 720.0, 0.0]);
    assert!(!second.cluster.jobs[0].phases.iter().any(|phase| phase.contains("doubling")));
    // Traces cannot express a job with an aggregator.
    let job = "kind = \"allreduce\"\nbytes = \"90 B\"\nalgorithm = \"aggregator\"";
    let first = plan(job, 4);
    assert_eq!(sent(&again(&first, false, "")), sent(&first));
}

#[test]
fn times_that_are_no_whole_microseconds_are_so_in_sum() {
    let first = plan("kind = \"allreduce\"\nbytes = \"1 kB\"\ncompute = \"300 ns\"\niterations = 100", 2);
    assert_eq!(computed(&again(&first, false, ""), 0), [30.0, 0.0]);
}

#[test]
fn what_cannot_be_written_is_said() {
    let none = plan("kind = \"barrier\"", 2);
    let refused = |plan: &Plan, job: Option<&str>, code: Code, part: &str| {
        let fault = chakra_traces(plan, job, false, TraceReader::Chakra).map(|_| ()).expect_err("refused");
        assert!(fault.code == code && fault.message.contains(part), "{}: {fault}", fault.code);
    };
    refused(&none, Some("jj"), Code::DoesNotExist, "\"j\"");
    let long = plan("kind = \"barrier\"\niterations = 1000000", 8);
    refused(&long, None, Code::TooMany, "job.j.iterations: more than 1048576");
    let huge = plan("kind = \"alltoall\"\nbytes = \"1000 TB\"", 2);
    refused(&huge, None, Code::OutOfRange, "job.j.bytes: 2000000000000000 B");
    let server = "[host.s]\npreset = \"mcn-scaleup-8\"\ncount = 2\n[job.j]\nkind = \"npb-ep\"\nhosts = \"s\"\n\
                  ranks_per_host = 1\n[run]\nuntil = \"jobs\"\n";
    refused(&common::plan(server, &[]), None, Code::NotSupported, "job.j.hosts");
    let two = "[host.e]\nkind = \"endpoint\"\ncount = 2\n[job.a]\nkind = \"barrier\"\nhosts = \"e\"\n[job.b]\n\
               kind = \"barrier\"\nhosts = \"e\"\n[run]\nuntil = \"jobs\"\n";
    refused(&common::plan(two, &[]), None, Code::MissingKey, "a, b");
}

/// Generates pieces of byte streams between ranks, and the number of parts in which each is received.
fn streams() -> impl Strategy<Value = Vec<(u8, u8, u64, u64, bool)>> {
    proptest::collection::vec((0..3_u8, 1..3_u8, 1..500_u64, 0..9_u64, any::<bool>()), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn programs_send_and_compute_the_same_again(what in streams(), times in 1..4_u32) {
        let mut steps = String::new();
        for (from, distance, bytes, micros, halves) in what {
            let to = (from + distance) % 3;
            let parts = if halves && bytes > 1 { vec![bytes / 2, bytes - bytes / 2] } else { vec![bytes] };
            steps += &format!(
                "{{ rank = {from}, compute = \"{micros} us\", to = {to}, send = \"{bytes} B\" }},\n"
            );
            for part in parts {
                steps += &format!("{{ rank = {to}, from = {from}, receive = \"{part} B\" }},\n");
            }
        }
        let first = plan(&format!("kind = \"program\"\niterations = {times}\nsteps = [\n{steps}]"), 3);
        let second = again(&first, false, "");
        prop_assert_eq!(sent(&second), sent(&first));
        for rank in 0..3 {
            prop_assert_eq!(computed(&second, rank), computed(&first, rank));
        }
        // Writing and reading again gives the same plan.
        let trace = written(&first, false);
        prop_assert_eq!(written(&first, true), trace);
    }
}
