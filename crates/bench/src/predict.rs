//! Benchmarks of predictions: predictions per second of processor time. An event is a prediction.

use crate::cache::Hash;
use crate::sample::{interleaved, Sample};
use crate::server::{quadrant_3, row, Clock};
use crate::{random, Row, Size};
use hostnet_config::Plan;
use std::time::Instant;

/// Benchmarks predictions of quadrant 3 on six cores, and of random servers: the total time of all servers, and the
/// 99th percentile of the time of one.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let (repetitions, predictions) = if size == Size::Quick { (1, 2) } else { (3, 2000) };
    let plan = quadrant_3();
    let sample = interleaved(repetitions, &[&|| predicted(&plan, predictions)]).typical(0);
    let [all, slowest] = many(if size == Size::Quick { 2 } else { 300 }, repetitions);
    vec![
        row("prediction of quadrant 3, 6 cores", &(sample, 0), None),
        row("prediction of random servers", &(all, 0), None),
        row("prediction of them, 99th percentile", &(slowest, 0), None),
    ]
}

fn predicted(plan: &Plan, predictions: u64) -> Sample {
    let mut hash = Hash::default();
    let clock = Clock::start();
    for _ in 0..predictions {
        hash.add(predict(plan));
    }
    Sample { seconds: clock.seconds(), events: predictions, pending_max: 0, hash: hash.0 }
}

/// Makes one prediction and returns its hash.
fn predict(plan: &Plan) -> u64 {
    let report = hostnet_sim::predict(plan).expect("a server without a network");
    u64::from_str_radix(&report.result_hash[..16], 16).expect("hashes are hexadecimal")
}

/// Predicts `count` random servers and returns the total of their fastest times, and the 99th percentile.
///
/// Times are wall time, because a single prediction is too short for the processor time that the system counts.
fn many(count: u64, repetitions: usize) -> [Sample; 2] {
    let mut hash = Hash::default();
    let mut fastest = |seed| {
        let plan = random::server(seed);
        hash.add(predict(&plan));
        let seconds = (0..repetitions).map(|_| {
            let clock = Instant::now();
            predict(&plan);
            clock.elapsed().as_secs_f64()
        });
        // The fastest repetition, as interruptions only add time.
        seconds.fold(f64::INFINITY, f64::min)
    };
    let mut each: Vec<f64> = (0..count).map(&mut fastest).collect();
    each.sort_unstable_by(f64::total_cmp);
    let slowest = each[(each.len() * 99).div_ceil(100) - 1];
    [(each.iter().sum(), count), (slowest, 1)].map(|(seconds, events)| Sample {
        seconds,
        events,
        pending_max: 0,
        hash: hash.0,
    })
}
