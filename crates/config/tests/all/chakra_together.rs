//! Traces whose ranks depend on each other: messages with tags, groups of ranks, and works without durations.

use crate::common;
use crate::common::wire::{bytes, exact, file, named, node, number, sum};
use crate::common::{assert_tells, resolve_text};
use hostnet_config::{Format, Plan};
use proptest::prelude::*;

/// Returns the plan of a job with these trace files and this file of groups, or the error.
fn plan(files: &[Vec<u8>], groups: Option<&str>, more: &str) -> Result<Plan, String> {
    let directory = tempfile::tempdir().expect("a directory");
    for (rank, file) in files.iter().enumerate() {
        std::fs::write(directory.path().join(format!("t.{rank}.et")), file).expect("it is written");
    }
    let at = |name: &str| directory.path().join(name).display().to_string();
    let key = groups.map(|text| {
        std::fs::write(directory.path().join("groups.json"), text).expect("it is written");
        format!("groups = {:?}", at("groups.json"))
    });
    let text = format!(
        "[host.e]\nkind = \"endpoint\"\ncount = {}\n[job.j]\nkind = \"chakra\"\nhosts = \"e\"\ntrace = {:?}\n{}\n\
         blocking = true\n{more}\n[run]\nuntil = \"jobs\"\n",
        files.len(),
        at("t"),
        key.unwrap_or_default()
    );
    resolve_text(&text, Format::Toml, &[]).map_err(|error| crate::common::told(&error))
}

/// Returns the steps of a rank in short form: computation in us, and bytes to (+) and from (-) other ranks.
fn told(plan: &Plan, rank: usize) -> Vec<String> {
    let job = &plan.cluster.jobs[0];
    let steps = job.steps_of(&job.blocks[0], rank as u32);
    let one = |step: hostnet_params::RankStepParams| {
        let computed = (step.compute_ps + step.device.work_ps) as f64 / 1e6;
        let message = |sign: char, message: hostnet_params::RankMessageParams| {
            format!("{sign}{}@{}", message.bytes, message.rank)
        };
        let parts = [
            (computed > 0.0).then(|| format!("{} {computed}", job.phases[usize::from(step.phase)])),
            step.send.map(|sent| message('+', sent)),
            step.receive.map(|received| message('-', received)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    };
    steps.filter_map(one).collect()
}

fn send(id: u64, after: &[u64], to: u64, size: u64, tag: u64) -> Vec<u8> {
    node(id, 5, after, &[("comm_dst", to), ("comm_size", size), ("comm_tag", tag)])
}

fn receive(id: u64, after: &[u64], from: u64, size: u64, tag: u64) -> Vec<u8> {
    node(id, 6, after, &[("comm_src", from), ("comm_size", size), ("comm_tag", tag)])
}

fn says(found: Result<Plan, String>, wanted: &[&str]) {
    let error = found.map(|_| ()).expect_err("it is refused");
    assert_tells(&error, wanted);
}

#[test]
fn a_message_that_is_received_before_one_sent_before_it_brings_both() {
    let sender = file(&[send(1, &[], 1, 10, 7), send(2, &[1], 1, 20, 8), send(3, &[2], 1, 30, 7)]);
    let receiver = file(&[receive(1, &[], 0, 20, 8), receive(2, &[1], 0, 10, 7), receive(3, &[2], 0, 30, 7)]);
    let plan = plan(&[sender, receiver], None, "").expect("it is right");
    assert_eq!(told(&plan, 0), ["+10@1", "+20@1", "+30@1"]);
    assert_eq!(told(&plan, 1), ["-30@0", "-30@0"]);
}

#[test]
fn a_rank_does_something_else_where_it_would_wait_for_itself() {
    // Each rank first receives a message that the other sends only later.
    let of = |other: u64| file(&[receive(1, &[], other, 10, 0), send(2, &[], other, 10, 0)]);
    let plan_of_two = plan(&[of(1), of(0)], None, "").expect("it is right");
    assert_eq!([told(&plan_of_two, 0), told(&plan_of_two, 1)].concat(), ["+10@1", "-10@1", "-10@0", "+10@0"]);
    // Each rank begins with the collective of another group.
    let groups = r#"{"a": [0, 1], "b": [1, 0]}"#;
    let of = |first: &str, second: &str| {
        let one = |id, group: &str| grouped(id, &[], 0, 8, group);
        file(&[one(1, first), one(2, second)])
    };
    let plan_of_two = plan(&[of("a", "b"), of("b", "a")], Some(groups), "").expect("it is right");
    assert_eq!(told(&plan_of_two, 0).len(), 4);
    says(
        plan(&[of("a", "b"), of("b", "b")], Some(groups), ""),
        &["[malformed-file job.j.trace]", "rank 0", "rank 1", "\"a\""],
    );
}

/// Returns a node with a collective of a group.
fn grouped(id: u64, after: &[u64], kind: u64, size: u64, group: &str) -> Vec<u8> {
    let pg_name = named("pg_name", &bytes(29, group.as_bytes()));
    let attributes = [named("comm_type", &number(9, kind)), named("comm_size", &number(9, size)), pg_name];
    exact(id, 7, after, 0, &attributes)
}

#[test]
fn collectives_are_of_groups_in_the_order_of_their_ranks() {
    let of = |group: &str, kind| file(&[grouped(1, &[], kind, 60, group)]);
    let groups = r#"{"1": [0, 2], "2": [3, 1]}"#;
    let files = |kind| [of("1", kind), of("2", kind), of("1", kind), of("2", kind)];
    let all = |kind| {
        let plan = plan(&files(kind), Some(groups), "").expect("it is right");
        (0..4).map(|rank| told(&plan, rank).join(", ")).collect::<Vec<_>>()
    };
    assert_eq!(all(7), ["+30@2 -30@2", "+30@3 -30@3", "+30@0 -30@0", "+30@1 -30@1"]);
    assert_eq!(all(0)[2..], ["+30@0 -30@0, +30@0 -30@0", "+30@1 -30@1, +30@1 -30@1"]);
    assert_eq!(all(3), ["-60@2", "+60@3", "+60@0", "-60@1"]);
    assert_eq!(all(4), ["+30@2", "-30@3", "-30@0", "+30@1"]);
    assert_eq!(all(5), ["+60@2", "-60@3", "-60@0", "+60@1"]);
    assert_eq!(all(8), ["+30@2 -30@2", "+30@3 -30@3", "+30@0 -30@0", "+30@1 -30@1"]);
}

#[test]
fn groups_may_stand_in_the_trace_as_pytorch_describes_them() {
    let described = |values: &str| {
        let inputs = bytes(8, &bytes(1, values.as_bytes()));
        let whole = [number(1, 9), bytes(2, b"## process_group:init ##"), number(3, 1), inputs].concat();
        [common::wire::varint(whole.len() as u64), whole].concat()
    };
    let all = r#"['[{"pg_name": "0", "ranks": []}, {"pg_name": "5", "ranks": [1, 2]}]']"#;
    let of = |group: &str| file(&[described(all), grouped(1, &[9], 0, 60, group)]);
    let plan_of_three = plan(&[file(&[described(all)]), of("5"), of("5")], None, "").expect("it is right");
    assert_eq!(told(&plan_of_three, 1), ["+30@2 -30@2", "+30@2 -30@2"]);
    let plan_of_all = plan(&[of("0"), of("0"), of("0")], None, "").expect("it is right");
    assert_eq!(told(&plan_of_all, 1)[0], "+20@2 -20@0");
    // The file of groups takes precedence over the trace.
    let both = plan(&[of("5"), of("5"), file(&[])], Some(r#"{"5": [0, 1]}"#), "").expect("it is right");
    assert_eq!(told(&both, 0), ["+30@1 -30@1", "+30@1 -30@1"]);
    let wrong = r#"['[{"pg_name": "5", "ranks": [1, 7]}]']"#;
    let of_wrong = file(&[described(wrong), grouped(1, &[], 0, 60, "5")]);
    says(
        plan(&[of_wrong.clone(), of_wrong], None, ""),
        &["[malformed-file job.j.trace]", "t.0.et", "node 1", "\"5\"", "rank 7"],
    );
}

#[test]
fn works_without_durations_take_what_their_operations_or_their_memory_take() {
    let work = |id: u64, kind: u64, ops: u64, size: u64| {
        let more = [("num_ops", ops), ("tensor_size", size)].map(|(name, value)| named(name, &number(13, value)));
        exact(id, kind, &[], 0, &more)
    };
    let two = |file: Vec<u8>| [file.clone(), file];
    let file_of = file(&[work(1, 4, 5_000_000, 1000), work(2, 4, 1000, 4_000_000), work(3, 2, 0, 2_000_000)]);
    let keys = "peak = 1e12\nmemory_rate = \"1 TB/s\"";
    let found = plan(&two(file_of.clone()), None, keys).expect("it is right");
    assert_eq!(told(&found, 0), ["compute 5", "compute 4", "compute 2"]);
    says(plan(&two(file_of.clone()), None, ""), &["[missing-key job.j.trace]", "t.0.et", "node 1", "5000000"]);
    let moves = ["node 3: moves 2000000 B of memory", "give memory_rate"];
    says(plan(&two(file_of), None, "peak = 1e12"), &moves);
    let long = file(&[work(1, 4, u64::MAX, 0)]);
    says(plan(&two(long), None, "peak = 1e9"), &["[out-of-range job.j.trace]", "node 1", "1000 s"]);
    says(plan(&two(file(&[])), None, "peak = 0.5"), &["[out-of-range job.j.peak]"]);
}

#[test]
fn what_the_processor_computes_goes_before_messages_unless_it_waits_for_the_accelerator() {
    let host = |id: u64, after: &[u64], micros: u64| exact(id, 4, after, micros, &[named("is_cpu_op", &number(27, 1))]);
    let device = |id: u64, after: &[u64]| exact(id, 4, after, 100, &[named("is_cpu_op", &number(27, 0))]);
    // Two calls of the host, each with a work, a sum of the first, and a host that waits for the second.
    let nodes = [
        host(1, &[], 3),
        device(2, &[1]),
        sum(3, &[2], 8),
        host(4, &[1], 5),
        device(5, &[4]),
        host(6, &[5], 7),
        node(7, 4, &[6], &[]),
    ];
    let plan = plan(&[file(&nodes), file(&nodes)], None, "").expect("it is right");
    let expected =
        ["host 3", "compute 100", "host 5", "compute 100", "+4@1 -4@1", "+4@1 -4@1", "host 7", "compute 100"];
    assert_eq!(told(&plan, 0), expected);
}

#[test]
fn a_number_of_the_rank_may_stand_anywhere_in_the_name_of_its_file() {
    let directory = tempfile::tempdir().expect("a directory");
    for rank in 0..2 {
        let place = directory.path().join(format!("rank_{rank}.et"));
        std::fs::write(place, file(&[sum(1, &[], 8)])).expect("it is written");
    }
    let text = format!(
        "[host.e]\nkind = \"endpoint\"\ncount = 2\n[job.j]\nkind = \"chakra\"\nhosts = \"e\"\ntrace = {:?}\n[run]\n\
         until = \"jobs\"\n",
        directory.path().join("rank_%d.et").display().to_string()
    );
    assert!(resolve_text(&text, Format::Toml, &[]).is_ok());
}

#[test]
fn what_does_not_fit_together_is_said() {
    let of = |group: &str| file(&[grouped(4, &[], 0, 8, group)]);
    let two = |file: Vec<u8>| [file.clone(), file];
    says(plan(&two(of("3")), None, ""), &["[missing-key job.j.trace]", "t.0.et", "node 4", "\"3\""]);
    says(plan(&two(of("3")), Some(r#"{"3": [1]}"#), ""), &["[malformed-file job.j.trace]", "rank 0", "\"3\""]);
    for text in ["[1]", r#"{"3": [0, -1]}"#, r#"{"3": []}"#, r#"{"3": [0, 2]}"#, r#"{"3": [1, 1]}"#] {
        says(plan(&two(of("3")), Some(text), ""), &["[malformed-file job.j.groups]"]);
    }
    says(plan(&two(of("3")), None, "groups = \"nothing.json\""), &["[file-not-found job.j.groups]"]);
    let (sent, other) = (file(&[send(1, &[], 1, 10, 7)]), |size, tag| file(&[receive(5, &[], 0, size, tag)]));
    says(plan(&[sent.clone(), other(10, 8)], None, ""), &["[malformed-file job.j.trace]", "node 5", "tag 8", "tag 7"]);
    says(plan(&[sent, other(11, 7)], None, ""), &["[malformed-file job.j.trace]", "node 5", "11 B", "10 B", "node 1"]);
    let huge = (0..2000).map(|id| send(id, &[], 1, 1_000_000_000_000_000, 0)).collect::<Vec<_>>();
    says(
        plan(&[file(&huge), file(&[])], None, ""),
        &["[malformed-file job.j.trace]", "1152921504606846976 B", "rank 0", "rank 1"],
    );
}

#[test]
fn many_messages_that_are_alike_take_no_time_to_be_matched() {
    let count = 30_000;
    let sender = file(&(0..count).map(|id| send(id, &[], 1, 1, 0)).collect::<Vec<_>>());
    let receiver = file(&(0..count).map(|id| receive(id, &[], 0, 1, 0)).collect::<Vec<_>>());
    let begin = std::time::Instant::now();
    let plan = plan(&[sender, receiver], None, "").expect("it is right");
    let job = &plan.cluster.jobs[0];
    assert_eq!(job.steps_of(&job.blocks[0], 1).count(), count as usize);
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

/// Generates messages and sums among three ranks: sender, receiver and tag. A message to the sender itself stands for
/// a sum.
fn dealt() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    proptest::collection::vec((0..3_u8, 0..3_u8, 0..3_u8), 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_free_to_be_done_in_any_order_is_always_done(what in dealt(), order: u64) {
        let mut nodes = vec![Vec::new(); 3];
        let mut id = order;
        for (from, to, tag) in &what {
            id = id.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (a, b) = (usize::from(*from), usize::from(*to));
            let (own, other) = (id | 1, id & !1);
            if a == b {
                nodes.iter_mut().for_each(|nodes: &mut Vec<Vec<u8>>| nodes.push(grouped(own, &[], 0, 6, "")));
            } else {
                // Messages with the same ends and tag have one size, because their order is not known in advance.
                nodes[a].push(send(own, &[], *to as u64, 5, u64::from(*tag)));
                nodes[b].push(receive(other, &[], *from as u64, 5, u64::from(*tag)));
            }
        }
        let files: Vec<Vec<u8>> = nodes.iter().map(|nodes| file(nodes)).collect();
        let plan = plan(&files, None, "").expect("it comes to its end");
        let job = &plan.cluster.jobs[0];
        let sent = |rank| job.steps_of(&job.blocks[0], rank).filter_map(|step| step.send);
        let total: u64 = (0..3).flat_map(sent).map(|message| message.bytes).sum();
        let expected = |&(from, to, _): &(u8, u8, u8)| if from == to { 24 } else { 5 };
        prop_assert_eq!(total, what.iter().map(expected).sum::<u64>());
    }

    #[test]
    fn damaged_files_are_no_panic(at: prop::sample::Index, with in proptest::collection::vec(any::<u8>(), 0..6)) {
        let groups = r#"{"1": [0, 1]}"#;
        let of = |other: u64| file(&[
            send(1, &[], other, 8, 3),
            receive(2, &[], other, 8, 3),
            grouped(3, &[1], 0, 80, "1"),
            node(4, 4, &[3], &[("num_ops", 9)]),
        ]);
        let whole = of(0);
        let mut damaged = whole.clone();
        let place = at.index(whole.len());
        damaged.splice(place..(place + with.len()).min(whole.len()), with.clone());
        let _ = plan(&[of(1), damaged], Some(groups), "peak = 1e9");
        let mut text = groups.as_bytes().to_vec();
        let place = at.index(text.len());
        text.splice(place..(place + with.len()).min(groups.len()), with);
        let _ = plan(&[of(1), whole], Some(&String::from_utf8_lossy(&text)), "");
    }
}
