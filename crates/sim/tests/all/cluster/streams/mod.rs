//! Tests of ranks that begin operations as soon as these are ready: pipelines against closed forms, and random graphs
//! against a list scheduler.

mod oracle;
mod trace;
mod transformer;

use crate::cluster::jobs::{finished, ranks};
use crate::cluster::lab::plan;
use crate::cluster::ranks::assert_same_however_run;
use crate::common::laws::cases;
use hostnet_config::Plan;
use oracle::Oracle;
use proptest::prelude::*;
use trace::{apart, job, together, Act, Ops};

const PS: u64 = 1_000_000;
/// Begin of ranks, in ps: an event lies at least 1 ps ahead.
const START_PS: u64 = 1;

/// Returns the duration of a job, in ps.
fn took_ps(plan: &Plan) -> u64 {
    let (report, run) = finished(plan);
    assert_eq!(report.summary["jobs"][0]["unfinished_ranks"].as_u64(), Some(0));
    let ranks = ranks(run.simulation());
    assert!(ranks.iter().all(|rank| rank.unreceived_bytes() == 0));
    ranks.iter().map(|rank| rank.done_at().expect("it is done").ps()).max().expect("a rank") - START_PS
}

/// Order of the forward and backward passes of a stage, as pairs of a microbatch and true for a forward pass.
type Passes = fn(stage: usize, stages: usize, microbatches: usize) -> Vec<(usize, bool)>;

/// All forward passes, then all backward passes.
fn gpipe(_: usize, _: usize, microbatches: usize) -> Vec<(usize, bool)> {
    (0..microbatches).map(|batch| (batch, true)).chain((0..microbatches).map(|batch| (batch, false))).collect()
}

/// As many forward passes as stages follow, then one backward and one forward pass in turn.
fn one_forward_one_backward(stage: usize, stages: usize, microbatches: usize) -> Vec<(usize, bool)> {
    let warm = (stages - 1 - stage).min(microbatches);
    let mut passes: Vec<(usize, bool)> = (0..warm).map(|batch| (batch, true)).collect();
    for batch in 0..microbatches {
        passes.extend((warm + batch < microbatches).then_some((warm + batch, true)));
        passes.push((batch, false));
    }
    passes
}

/// Returns the operations of a pipeline. Passes of a stage follow each other if `chained`.
fn pipeline(
    stages: usize,
    microbatches: usize,
    times: [u64; 2],
    bytes: u64,
    passes: Passes,
    chained: bool,
) -> Vec<Ops> {
    let stage = |stage: usize| {
        let mut ops = Ops::default();
        let mut forward = vec![0; microbatches];
        let mut before = None;
        for (batch, is_forward) in passes(stage, stages, microbatches) {
            let (last, next) = (stages - 1, |by: isize| (stage as isize + by) as usize);
            let (tag, way) = (2 * batch as u64 + u64::from(is_forward), if is_forward { 1 } else { -1 });
            let mut after: Vec<usize> = before.filter(|_| chained).into_iter().collect();
            after.extend((!is_forward).then(|| forward[batch]).filter(|batch| !after.contains(batch)));
            if stage != if is_forward { 0 } else { last } {
                after.push(ops.add(Act::Receive { from: next(-way), bytes, tag }, &[]));
            }
            let pass = ops.add(Act::Compute(times[usize::from(!is_forward)]), &after);
            if is_forward {
                forward[batch] = pass;
            }
            if stage != if is_forward { last } else { 0 } {
                ops.add(Act::Send { to: next(way), bytes, tag }, &[pass]);
            }
            before = Some(pass);
        }
        ops
    };
    (0..stages).map(stage).collect()
}

#[test]
fn pipelines_take_what_their_closed_forms_say() {
    for (stages, microbatches) in [(1, 3), (2, 4), (4, 8), (8, 16)] {
        let [forward, backward] = [100 * PS, 200 * PS];
        let ideal = (microbatches + stages - 1) as u64 * (forward + backward);
        let ways = 2 * (stages as u64 - 1);
        let of = |passes, bytes, latency_ns| {
            let ranks = pipeline(stages, microbatches, [forward, backward], bytes, passes, true);
            let (hosts, more) = together(stages, latency_ns);
            (took_ps(&job(&ranks, &hosts, &more)), Oracle::new(&ranks, latency_ns * 1000, false).run())
        };
        let (found, expected) = of(gpipe, 5 * PS, 700);
        assert_eq!((found, found), (ideal + ways * (5 * PS + 700_000), expected), "GPipe, {stages} stages");
        // Messages of 1 ps: they delay each microbatch by no more than a way through all stages.
        let (found, expected) = of(one_forward_one_backward, 1, 0);
        assert_eq!(found, expected);
        assert!(found - ideal <= 2 * (stages + microbatches) as u64, "1F1B, {stages} stages: {found}");
        let (found, expected) = of(one_forward_one_backward, 20 * PS, 700);
        assert_eq!(found, expected, "1F1B, {stages} stages");
    }
}

#[test]
fn pipelines_over_cables_take_as_long_but_for_their_messages() {
    for transport in ["dctcp", "roce"] {
        for passes in [gpipe as Passes, one_forward_one_backward] {
            let ranks = pipeline(4, 8, [100 * PS, 200 * PS], 8000, passes, true);
            let (hosts, more) = apart(4, "");
            let took = took_ps(&job(&ranks, &hosts, &format!("{more}\ntransport = \"{transport}\"")));
            // A message takes 3 us of latencies and less than 0.5 us of wire.
            let ideal = 11 * 300 * PS;
            assert!((ideal + 18 * PS..ideal + 12 * 7 * PS).contains(&took), "{transport}: {took}");
        }
    }
}

#[test]
fn large_messages_stop_no_accelerator() {
    for transport in ["dctcp", "roce"] {
        // 32 MiB are more than a send buffer or the messages in flight of a queue pair hold.
        let mut sender = Ops::default();
        let first = sender.add(Act::Compute(10 * PS), &[]);
        sender.add(Act::Send { to: 1, bytes: 32 << 20, tag: 0 }, &[first]);
        sender.add(Act::Compute(3000 * PS), &[first]);
        let mut receiver = Ops::default();
        receiver.add(Act::Receive { from: 0, bytes: 32 << 20, tag: 0 }, &[]);
        let (hosts, more) = apart(2, "");
        let took = took_ps(&job(&[sender, receiver], &hosts, &format!("{more}\ntransport = \"{transport}\"")));
        assert_eq!(took, 3010 * PS, "{transport}");
    }
}

#[test]
fn receives_hold_up_nothing() {
    // Both ranks wait for the message of the other before they sum, and their receives come first.
    let rank = |other| {
        let mut ops = Ops::default();
        ops.add(Act::Receive { from: other, bytes: 16 << 20, tag: 0 }, &[]);
        ops.add(Act::Sum(1 << 20), &[]);
        ops.add(Act::Compute(2000 * PS), &[]);
        ops.add(Act::Send { to: other, bytes: 16 << 20, tag: 0 }, &[2]);
        ops
    };
    let (hosts, more) = apart(2, "");
    let plan = job(&[rank(1), rank(0)], &hosts, &more);
    let took = took_ps(&plan);
    // 16 MiB at 400 Gbps in both directions.
    let bytes_ps = (16 << 20) as f64 * 20.0;
    assert!(took > 2000 * PS && (took as f64) < 2010.0 * PS as f64 + 1.05 * bytes_ps, "{took}");
}

/// Returns the duration of an all-to-all of all ranks, in ps, with all messages of `bytes` in flight at once.
fn direct_ps(ranks: usize, bytes: u64, more: &str) -> u64 {
    let (hosts, at) = apart(ranks, "");
    // Connections begin with their largest window.
    let transport = "base = \"reno\"\necn = false\ninitial_window = 10000\nreceive_buffer = \"64 MB\"";
    took_ps(&plan(&format!(
        "{hosts}\n[transport.t]\n{transport}\n[job.j]\nkind = \"alltoall\"\nalgorithm = \"direct\"\n\
         bytes = \"{bytes} B\"\n{at}\n{more}\n\
         [run]\nuntil = \"jobs\"\n"
    )))
}

#[test]
fn all_to_alls_with_all_messages_in_flight_take_what_their_bytes_need() {
    for transport in ["t", "roce"] {
        let more = format!("transport = \"{transport}\"");
        for (ranks, bytes) in [(2, 1 << 20), (8, 1 << 17), (32, 1 << 14)] {
            let took = direct_ps(ranks, bytes, &more);
            let bytes_ps = (ranks as u64 - 1) * bytes * 20;
            // Headers take less than 2 %, ACKs and the way less than 10 us.
            assert!((bytes_ps..bytes_ps + bytes_ps / 50 + 10 * PS).contains(&took), "{transport}, {ranks}: {took}");
        }
    }
    let once = direct_ps(4, 1000, "compute = \"70 us\"");
    assert_eq!(direct_ps(4, 1000, "compute = \"70 us\"\niterations = 3"), 3 * once);
    // A trace says the bytes of a rank for all ranks.
    let mut ops = Ops::default();
    ops.add(Act::Host(70), &[]);
    ops.add(Act::AllToAll(4000), &[0]);
    let (hosts, more) = apart(4, "");
    let plan = job(&vec![ops; 4], &hosts, &format!("{more}\nalltoall = \"direct\""));
    assert_eq!(took_ps(&plan), once);
}

/// Generates operations of ranks whose messages match: for each, its rank, what it does, and how many earlier
/// operations of its rank it waits for, as distances. Times are such that no two operations end at the same time.
fn dags() -> impl Strategy<Value = Vec<Ops>> {
    let op =
        (0..4_usize, 0..5_usize, 1..4_usize, 1_u64..40_000_000, 0..3_u64, proptest::collection::vec(1..6_usize, 0..3));
    proptest::collection::vec(op, 1..60).prop_map(|list| {
        let mut ranks = vec![Ops::default(); 4];
        for (rank, kind, distance, amount, tag, waits) in list {
            let after = |ops: &Ops| {
                let mut after: Vec<usize> = waits.iter().filter_map(|&back| ops.0.len().checked_sub(back)).collect();
                after.sort_unstable();
                after.dedup();
                after
            };
            let own = after(&ranks[rank]);
            match kind {
                0 | 1 => drop(ranks[rank].add(Act::Compute(amount), &own)),
                2 => drop(ranks[rank].add(Act::Host(amount / PS + 1), &own)),
                _ => {
                    let to = (rank + distance) % 4;
                    let there = after(&ranks[to]);
                    // Messages with the same ends and tag have the same size, as their order is not known here.
                    let bytes = 7_654_321 + 1_234_567 * tag + 100_003 * rank as u64 + 10_007 * to as u64;
                    ranks[rank].add(Act::Send { to, bytes, tag }, &own);
                    ranks[to].add(Act::Receive { from: rank, bytes, tag }, &there);
                }
            }
        }
        ranks
    })
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn random_graphs_take_as_long_as_a_list_scheduler_says(ranks in dags(), first_ready: bool) {
        let (hosts, more) = together(4, 313);
        let order = if first_ready { "ready" } else { "id" };
        let plan = job(&ranks, &hosts, &format!("{more}\norder = \"{order}\""));
        prop_assert_eq!(took_ps(&plan), Oracle::new(&ranks, 313_000, first_ready).run());
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn graphs_end_the_same_however_they_are_run(
        ranks in dags(),
        roce: bool,
        iterations in 1..3_u32,
        network in prop::sample::select(vec![
            "topology = \"leaf-spine\"\nleaves = 2\nspines = 1\n",
            "topology = \"rail-only\"\naccelerators = 2\nscale_up.fabric = \"mesh\"\n",
        ]),
        // Shorter than the latency of switches and hosts, which announcements of messages do not take.
        latency in prop::sample::select(vec!["500 ns", "1 ns"]),
    ) {
        let (hosts, more) = apart(4, network);
        let hosts = hosts.replace("500 ns", latency);
        let transport = if roce { "roce" } else { "dctcp" };
        let plan = job(&ranks, &hosts, &format!("{more}\ntransport = \"{transport}\"\niterations = {iterations}"));
        let (report, _) = finished(&plan);
        assert_same_however_run(&plan, &report, 2, 2, 9_000_000);
    }
}
