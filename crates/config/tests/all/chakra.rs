//! Jobs from execution traces: the resulting steps, and errors of traces.

use crate::common;
use crate::common::wire::{file, node, sum};
use crate::common::{assert_tells, resolve_text, told};
use hostnet_config::{Format, Plan};
use hostnet_params::{OperationStream, RankStepParams};
use proptest::prelude::*;
use std::path::Path;

/// Returns the plan of a job with these trace files, whose ranks execute one operation after the other, or the error.
fn plan(files: &[Vec<u8>], more: &str) -> Result<Plan, String> {
    overlapping(files, &format!("blocking = true\n{more}"))
}

/// Returns the plan of a job with these trace files, or the error.
fn overlapping(files: &[Vec<u8>], more: &str) -> Result<Plan, String> {
    let directory = tempfile::tempdir().expect("a directory");
    for (rank, file) in files.iter().enumerate() {
        std::fs::write(directory.path().join(format!("t.{rank}.et")), file).expect("it is written");
    }
    let text = format!(
        "[host.e]\nkind = \"endpoint\"\ncount = 2\n[job.j]\nkind = \"chakra\"\nhosts = \"e\"\ntrace = {:?}\n{more}\n\
         [run]\nuntil = \"jobs\"\n",
        directory.path().join("t").display().to_string()
    );
    resolve_text(&text, Format::Toml, &[]).map_err(|error| told(&error))
}

fn steps(plan: &Plan, rank: usize) -> Vec<(String, RankStepParams)> {
    let job = &plan.cluster.jobs[0];
    let steps = job.steps_of(&job.blocks[0], rank as u32);
    steps.map(|step| (job.phases[usize::from(step.phase)].clone(), step)).collect()
}

#[test]
fn what_is_computed_is_given_before_what_is_communicated_is_waited_for() {
    // Two layers of a backward pass, each with a sum that waits for it, and an update that waits for both.
    let nodes = [
        node(1, 4, &[], &[]),
        node(2, 4, &[1], &[]),
        sum(3, &[1], 1000),
        sum(4, &[2], 2000),
        node(5, 4, &[3, 4], &[]),
        node(6, 1, &[5], &[]),
    ];
    let plan = plan(&[file(&nodes), file(&nodes)], "").expect("it is right");
    let steps = steps(&plan, 1);
    let names: Vec<&str> = steps.iter().map(|(name, _)| name.as_str()).collect();
    let once = ["compute", "reduce-scatter", "all-gather"];
    assert_eq!(names, [&["compute"; 2][..], &once, &once, &["compute"; 2]].concat());
    let device: Vec<(u64, u32)> = steps
        .iter()
        .filter(|(name, _)| name == "compute")
        .map(|(_, step)| (step.device.work_ps / 1_000_000, step.device.left))
        .collect();
    let never = u32::MAX - 1;
    assert_eq!(device, [(100, never), (100, never), (0, 1), (0, 0), (100, never), (0, 0)]);
    let bytes: Vec<u64> = steps.iter().filter_map(|(_, step)| Some(step.send?.bytes)).collect();
    assert_eq!(bytes, [500, 500, 1000, 1000]);
}

#[test]
fn messages_and_all_collectives_are_known() {
    let of = |rank: u64| {
        let other = 1 - rank;
        let message = [
            node(1, 5, &[], &[("comm_dst", other), ("comm_size", 10)]),
            node(2, 6, &[1], &[("comm_src", other), ("comm_size", 10)]),
        ];
        let collective = |(id, kind): (u64, u64)| node(id, 7, &[id - 1], &[("comm_type", kind), ("comm_size", 64)]);
        let collectives = (3..).zip([0, 1, 2, 5, 6, 7, 9]).map(collective);
        file(&message.into_iter().chain(collectives).collect::<Vec<_>>())
    };
    let plan = plan(&[of(0), of(1)], "algorithm = \"tree\"\niterations = 3\nsum = \"1 GB/s\"").expect("it is right");
    let sent: u64 = steps(&plan, 0).iter().filter_map(|(_, step)| Some(step.send?.bytes)).sum();
    // The message, the sum back, gathered, broadcast, half of all-to-all, half of the vector, and a byte.
    assert_eq!(sent, 10 + 64 + 64 + 64 + 32 + 32 + 1);
    assert_eq!(plan.cluster.jobs[0].iterations, 3);
}

#[test]
fn operations_have_their_streams_steps_and_predecessors() {
    let of = |rank: u64| {
        let other = 1 - rank;
        file(&[
            node(7, 4, &[3], &[]),
            node(3, 5, &[], &[("comm_dst", other), ("comm_size", 10)]),
            node(4, 6, &[], &[("comm_src", other), ("comm_size", 10)]),
            sum(5, &[4], 64),
            sum(6, &[], 32),
            node(8, 1, &[5, 6], &[]),
        ])
    };
    let plan = overlapping(&[of(0), of(1)], "order = \"ready\"").expect("it is right");
    let job = &plan.cluster.jobs[0];
    assert!(job.first_ready && job.blocks.len() == 1);
    let found = job.operations_of(1).expect("it has operations");
    let group = OperationStream::Group(0);
    let streams = [OperationStream::Compute, OperationStream::Send, OperationStream::Receive, group, group];
    let of_all: Vec<_> = found.operations.iter().map(|operation| operation.stream).collect();
    assert_eq!(of_all[..5], streams);
    // The sums of a group have one order, whatever messages they wait for.
    let after: Vec<&[u32]> = found.operations.iter().map(|operation| &operation.after[..]).collect();
    assert_eq!(after[..3], [&[1][..], &[], &[]]);
    assert!(after[3] == [2, 4] || after[4] == [3], "{after:?}");
    let counts: Vec<u32> = found.operations.iter().map(|operation| operation.steps).collect();
    assert_eq!(counts, [1, 1, 1, 2, 2, 0]);
    let sent = |index: usize| found.steps_of(&found.operations[index]).iter().filter_map(|step| step.send);
    let bytes: Vec<u64> = (0..6).flat_map(sent).map(|message| message.bytes).collect();
    assert_eq!(bytes, [10, 32, 32, 16, 16]);
    // A connection for messages, and one for sums.
    assert_eq!(plan.cluster.flows.len(), 2);
}

#[test]
fn ranks_at_servers_execute_one_operation_after_the_other() {
    let directory = tempfile::tempdir().expect("a directory");
    for rank in 0..2 {
        std::fs::write(directory.path().join(format!("t.{rank}.et")), file(&[sum(1, &[], 8)])).expect("it is written");
    }
    let text = format!(
        "[host.e]\nkind = \"endpoint\"\n[host.s]\npreset = \"mcn-scaleup-8\"\n[job.j]\nkind = \"chakra\"\n\
         hosts = [\"e\", \"s\"]\ntrace = {:?}\n[run]\nuntil = \"jobs\"\n",
        directory.path().join("t").display().to_string()
    );
    let plan = common::plan(&text, &[]);
    assert!(!plan.cluster.jobs[0].has_operations());
    assert_eq!(plan.effective["job"]["j"]["blocking"], true);
    common::says(&text, &["job.j.blocking=false"], &["[not-supported job.j.blocking]", "server"]);
    common::says(&text, &["job.j.order=id"], &["[no-effect job.j.order]", "a rank at a server"]);
}

#[test]
fn what_is_wrong_with_traces_is_said() {
    let right = file(&[sum(1, &[], 8)]);
    let says = |files: &[Vec<u8>], more: &str, wanted: &[&str]| {
        for plan in [plan, overlapping] {
            let error = plan(files, more).map(|_| ()).expect_err("it is refused");
            assert_tells(&error, wanted);
        }
    };
    let both = |file: Vec<u8>| [file.clone(), file];
    says(std::slice::from_ref(&right), "", &["[file-not-found job.j.trace] t.1.et"]);
    says(&[right.clone(), right.clone(), right.clone()], "", &["[wrong-count job.j.hosts] t.2.et"]);
    says(&both(right[..right.len() - 1].to_vec()), "", &["[malformed-file job.j.trace] t.0.et"]);
    says(&both(file(&[sum(1, &[2], 8), sum(2, &[1], 8)])), "", &["[malformed-file job.j.trace]", "t.0.et", "node 1"]);
    says(&both(file(&[sum(1, &[1], 8)])), "", &["[malformed-file job.j.trace] node 1"]);
    let long: Vec<Vec<u8>> = (0..12).map(|id| sum(id, &[(id + 1) % 12], 8)).collect();
    says(&both(file(&long)), "", &["t.0.et", "node 0", "nodes 1, 2, 3, 4, 5, 6, 7, 8 and 3 more"]);
    // Beside a missing message, the error names a node on the cycle, not one behind it.
    let circle = |from: u64| {
        let waits = node(1, 6, &[], &[("comm_src", from), ("comm_size", 8)]);
        file(&[waits, sum(4, &[5], 8), sum(5, &[9], 8), sum(9, &[5], 8)])
    };
    says(&[circle(1), circle(0)], "", &["[malformed-file job.j.trace] t.0.et"]);
    let error = plan(&[circle(1), circle(0)], "").map(|_| ()).expect_err("it is refused");
    assert!(!error.contains("node 4") && error.contains("node 5") && error.contains("node 9"), "{error}");
    says(&both(file(&[node(7, 10, &[], &[])])), "", &["[malformed-file job.j.trace]", "node 7", "10"]);
    let other = file(&[sum(4, &[], 9)]);
    says(&[right.clone(), other], "", &["[malformed-file job.j.trace]", "t.1.et", "rank 1", "node 4", "9 B"]);
    says(&[right.clone(), file(&[])], "", &["[malformed-file job.j.trace]", "t.0.et", "node 1"]);
    says(&[file(&[]), right.clone()], "", &["[malformed-file job.j.trace]", "t.1.et", "rank 1", "rank 0"]);
    let to = |rank| file(&[node(3, 5, &[], &[("comm_dst", rank), ("comm_size", 8)])]);
    says(&both(to(2)), "", &["[malformed-file job.j.trace]", "node 3", "rank 0", "rank 2"]);
    says(&both(to(0)), "", &["[malformed-file job.j.trace]", "node 3", "rank 0"]);
    says(
        &both(to(1))[..1].iter().cloned().chain([file(&[])]).collect::<Vec<_>>(),
        "",
        &["[malformed-file job.j.trace]", "t.0.et", "node 3", "rank 1", "8 B"],
    );
    says(&both(right.clone()), "compute = \"1 us\"", &["[no-effect job.j.compute]"]);
    says(&both(right.clone()), "bytes = \"1 kB\"", &["[no-effect job.j.bytes]"]);
    says(&both(right), "algorithm = \"pairwise\"", &["[not-supported job.j.algorithm] \"ring\""]);
    let none = "[host.e]\nkind = \"endpoint\"\ncount = 2\n[job.j]\nkind = \"chakra\"\nhosts = \"e\"\n";
    common::says(none, &[], &["[missing-key job.j.trace]"]);
    for key in ["trace=x", "groups=x", "peak=1e12", "memory_rate=\"1 TB/s\"", "order=id"] {
        let name = key.split_once('=').expect("a key").0;
        let given = format!("job.j.{key}");
        common::says(
            none,
            &["job.j.kind=barrier", &given],
            &[&format!("[no-effect job.j.{name}]"), "kind = \"chakra\""],
        );
    }
    assert!(!Path::new("t.0.et").exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_traces_are_no_panic(at: prop::sample::Index, with in proptest::collection::vec(any::<u8>(), 0..6)) {
        let nodes = [node(1, 4, &[], &[]), sum(2, &[1], 800), node(3, 4, &[2], &[]), sum(4, &[3, 1], 90)];
        let whole = file(&nodes);
        let mut damaged = whole.clone();
        let at = at.index(whole.len());
        damaged.splice(at..(at + with.len()).min(whole.len()), with);
        let _ = plan(&[whole.clone(), damaged.clone()], "");
        let _ = overlapping(&[whole, damaged], "");
    }
}
