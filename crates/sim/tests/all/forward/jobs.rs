//! Fast-forward of jobs.

use super::{assert_checkpoint_changes_nothing, in_full, report, rows, skipped};
use crate::common::plan;
use hostnet_config::Length;
use hostnet_model::params::CableParams;
use hostnet_sim::{Options, Report, Run};
use serde_json::Value;
use std::sync::Arc;

const JOB: &str = "[host.worker]\nkind = \"endpoint\"\ncount = 8\n[network]\nrate = \"100 Gbps\"\n\
                   switch.ecn = \"65 packets\"\n[job.train]\nkind = \"allreduce\"\nhosts = \"worker\"\n\
                   bytes = \"256 KiB\"\ncompute = \"100 us\"\niterations = 200\n\
                   [run]\nuntil = \"jobs\"\nforward = \"auto\"\n";

/// Columns with their table, and the error that they may have: relative to the value or to the largest of the column,
/// or absolute, whichever is largest.
const COMPARED: [(&str, &str, [f64; 3]); 9] = [
    ("jobs", "done_us", [0.01, 0.0, 0.0]),
    ("jobs", "iteration_us", [0.01, 0.0, 0.0]),
    ("jobs", "messages", [0.0, 0.0, 0.0]),
    ("jobs", "bytes", [0.0, 0.0, 0.0]),
    ("jobs", "communication_share", [0.01, 0.0, 0.0]),
    ("steps", "mean_us", [0.01, 0.0, 0.0]),
    ("classes", "goodput_gbps", [0.01, 0.0, 0.0]),
    ("queues", "sent_gbps", [0.01, 0.01, 0.0]),
    ("queues", "queue_mean_packets", [0.05, 0.05, 0.1]),
];

/// Returns the quantities that differ between a run that skips and one in full by more than they may, with both values.
fn errors(part: &Report, whole: &Report) -> Vec<(String, f64, f64)> {
    let mut found = Vec::new();
    for (table, column, [relative, of_largest, absolute]) in COMPARED {
        let [part, whole] = [part, whole].map(|report| rows(report, table));
        assert!(!whole.is_empty() && part.len() == whole.len(), "{table}");
        let largest = whole.iter().filter_map(|row| row[column].as_f64()).fold(0.0, f64::max);
        let most = |whole: f64| (relative * whole.abs()).max(of_largest * largest).max(absolute);
        for (row, (part, whole)) in part.iter().zip(&whole).enumerate() {
            let [part, whole] = [part, whole].map(|row| row[column].as_f64());
            match (part, whole) {
                (Some(part), Some(whole)) if (part - whole).abs() <= most(whole) => {}
                (None, None) => {}
                _ => found.push((format!("{table} {row} {column}"), part.unwrap_or(-1.0), whole.unwrap_or(-1.0))),
            }
        }
    }
    found
}

fn column_of(report: &Report, table: &str, column: &str) -> Vec<Value> {
    rows(report, table).into_iter().map(|mut row| row[column].take()).collect()
}

#[test]
fn repetitions_that_are_alike_are_skipped() {
    let plan = plan(JOB, &["job.train.iterations=100"]);
    let part = report(&plan);
    let whole = report(&in_full(&plan));
    assert!((0.85..0.91).contains(&skipped(&part)), "{}", part.summary["forward"]);
    assert_eq!(errors(&part, &whole), []);
    // Repetitions on an idle network are alike to the picosecond.
    // The longest steps come before the skip.
    let steps = ["count", "mean_us", "max_us"].map(|column| ("steps", column));
    for (table, column) in [("jobs", "done_us"), ("jobs", "messages")].into_iter().chain(steps) {
        assert_eq!(column_of(&part, table, column), column_of(&whole, table, column), "{column}");
    }
}

#[test]
fn a_thousand_repetitions_cost_as_much_as_ten() {
    let part = report(&plan(JOB, &["job.train.iterations=1000"]));
    assert!(skipped(&part) >= 0.99, "{}", part.summary["forward"]);
    let whole = report(&in_full(&plan(JOB, &["job.train.iterations=100"])));
    let done_us = |report: &Report| rows(report, "jobs")[0]["done_us"].as_f64().expect("it is done");
    // Only the first repetitions differ, so 900 more take 9 times what 100 take.
    assert!((done_us(&part) / done_us(&whole) / 10.0 - 1.0).abs() < 0.001);
}

#[test]
fn what_may_change_is_simulated_in_full() {
    let few = "job.train.iterations=20";
    let beside = [few, "flow.beside={ kind = \"bulk\", from = \"worker-0\", to = \"worker-1\" }"];
    let burst = [
        few,
        "flow.burst={ kind = \"bulk\", from = \"worker-0\", to = \"worker-1\", bytes = \"1 MB\", start = \"3 ms\" }",
    ];
    let changed = |change: fn(&mut CableParams)| {
        let mut plan = plan(JOB, &[few]);
        change(&mut Arc::make_mut(&mut plan.cluster).cables[0]);
        plan
    };
    let corrupt = changed(|cable| cable.corrupt = 1);
    let down = changed(|cable| cable.down_ps = vec![(2_000_000_000, 2_100_000_000)]);
    for plan in [plan(JOB, &beside), plan(JOB, &burst), corrupt, down] {
        let part = report(&plan);
        assert_eq!(skipped(&part), 0.0, "{}", part.summary["forward"]);
        assert_eq!(part.result_hash, report(&in_full(&plan)).result_hash);
    }
}

#[test]
fn several_jobs_are_simulated_in_full() {
    let other = |start: &str| {
        format!("[job.other]\nkind = \"alltoall\"\nhosts = \"worker\"\nbytes = \"64 KiB\"\nstart = \"{start}\"\n")
    };
    // The other job comes first, or while the first one would be skipped.
    for (start, more) in [("0 s", "job.train.start=2 ms"), ("5 ms", "job.train.iterations=60")] {
        let plan = plan(&format!("{JOB}{}", other(start)), &[more]);
        let part = report(&plan);
        assert_eq!(skipped(&part), 0.0, "{}", part.summary["forward"]);
        assert!(part.summary["forward"]["note"].as_str().is_some_and(|note| note.contains("several jobs")));
        assert_eq!(part.result_hash, report(&in_full(&plan)).result_hash);
    }
}

#[test]
fn the_wait_for_a_late_job_lowers_its_rate() {
    for (start, is_skipped) in [("100 us", true), ("20 ms", false)] {
        let plan = plan(JOB, &[&format!("job.train.start={start}")]);
        let part = report(&plan);
        assert_eq!(skipped(&part) > 0.8, is_skipped, "{}", part.summary["forward"]);
        assert_eq!(errors(&part, &report(&in_full(&plan))), []);
    }
}

#[test]
fn skipped_time_counts_until_the_latest_end() {
    let part = report(&plan(JOB, &["job.train.iterations=1000", "run.duration_max=50 ms"]));
    let forward = &part.summary["forward"];
    let ms = |key: &str| forward[key].as_f64().expect("it is told") / 1e6;
    assert!((49.9..=50.0).contains(&ms("requested_ns")) && ms("simulated_ns") < 3.0, "{forward}");
    let job = &rows(&part, "jobs")[0];
    assert_eq!((&job["unfinished_ranks"], &job["done_us"]), (&8.into(), &Value::Null));
}

#[test]
fn a_run_that_ends_before_its_job_measures_whole_repetitions() {
    for compute in ["1 ns", "100 us"] {
        let plan = plan(
            JOB,
            &["job.train.iterations=1000", "run.duration_max=50 ms", &format!("job.train.compute={compute}")],
        );
        let part = report(&plan);
        assert!(skipped(&part) > 0.8, "{}", part.summary["forward"]);
        assert_eq!(errors(&part, &report(&in_full(&plan))), []);
    }
}

#[test]
fn a_program_of_several_blocks_skips_in_each() {
    let text = JOB.replace("kind = \"allreduce\"", "kind = \"npb-lu\"");
    let without = |line: &str, text: String| text.replace(line, "");
    let text = without("bytes = \"256 KiB\"\n", without("compute = \"100 us\"\n", text));
    let plan = plan(&text, &["job.train.iterations=50"]);
    let part = report(&plan);
    assert!(skipped(&part) > 0.1, "{}", part.summary["forward"]);
    assert_eq!(errors(&part, &report(&in_full(&plan))), [], "{}", part.summary["forward"]);
}

#[test]
fn threads_and_checkpoints_change_nothing() {
    let plan = plan(JOB, &["job.train.iterations=100"]);
    let expected = report(&plan);
    assert!(skipped(&expected) > 0.8, "{}", expected.summary["forward"]);
    let mut threads = Run::new(&plan, Options { threads: 2, ..Options::default() });
    threads.run(|_| true).expect("nothing is stuck");
    assert_eq!(threads.report().result_hash, expected.result_hash);
    // Before the skip, and after it.
    for at_us in [500, 1_500] {
        assert_checkpoint_changes_nothing(&plan, at_us, &expected);
    }
}

/// Returns the text of a random job.
fn any_job(seed: u64) -> String {
    let mut state = seed;
    let mut pick = |values: &[&'static str]| {
        // A linear congruential generator (Knuth, MMIX), whose upper bits are random.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        values[(state >> 33) as usize % values.len()]
    };
    let network = pick(&["", "topology = \"leaf-spine\"\nleaves = 2\n"]);
    let (hosts, rate, ecn) =
        (pick(&["2", "4", "6", "8"]), pick(&["10", "40", "100"]), pick(&["", "switch.ecn = \"65 packets\"\n"]));
    let (kind, bytes) =
        (pick(&["allreduce", "allgather", "alltoall", "broadcast"]), pick(&["2 KB", "40 KB", "300 KB", "1 MB"]));
    let (compute, transport) = (pick(&["1 us", "50 us", "700 us"]), pick(&["dctcp", "cubic", "reno", "roce", "dcqcn"]));
    let (iterations, ranks) = (pick(&["40", "120", "300"]), pick(&["", "ranks_per_host = 2\n"]));
    format!(
        "[host.worker]\nkind = \"endpoint\"\ncount = {hosts}\n[network]\nrate = \"{rate} Gbps\"\n{network}{ecn}\
         [job.train]\nkind = \"{kind}\"\nhosts = \"worker\"\nbytes = \"{bytes}\"\ncompute = \"{compute}\"\n\
         iterations = {iterations}\ntransport = \"{transport}\"\n{ranks}\
         [run]\nuntil = \"jobs\"\nforward = \"auto\"\nduration_max = \"20 s\"\n"
    )
}

/// Compares random jobs with fast-forward to those in full. Returns the number of jobs that were forwarded, and prints
/// those whose results are too far off.
fn compare_jobs(seeds: std::ops::Range<u64>) -> [usize; 2] {
    let mut counts = [0; 2];
    for seed in seeds {
        let text = any_job(seed);
        let plan = plan(&text, &[]);
        assert_eq!(plan.run.length, Length::Jobs);
        let part = report(&plan);
        if skipped(&part) == 0.0 {
            println!("{seed} {}", part.summary["forward"]["note"]);
            continue;
        }
        let found = errors(&part, &report(&in_full(&plan)));
        println!("{seed} {:.3} {}", skipped(&part), found.len());
        if !found.is_empty() {
            println!("{text}\n{}\n{found:?}", part.summary["forward"]);
        }
        counts = [counts[0] + 1, counts[1] + usize::from(!found.is_empty())];
    }
    counts
}

#[test]
#[ignore = "long"]
fn two_hundred_jobs_are_within_one_percent() {
    let [forwarded, wrong] = compare_jobs(0..200);
    assert!(forwarded > 50 && wrong == 0, "{wrong} of {forwarded} are beyond the limits");
}
