//! Predictions per second of processor time. Events are predictions.

use crate::cache::Hash;
use crate::sample::{interleaved, Sample};
use crate::server::{quadrant_3, row, Clock};
use crate::{Row, Size};
use hostnet_config::Plan;

/// Quadrant 3 on six cores.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let (repetitions, predictions) = if size == Size::Quick { (1, 2) } else { (3, 2000) };
    let plan = quadrant_3();
    let sample = interleaved(repetitions, &[&|| predicted(&plan, predictions)]).typical(0);
    vec![row("prediction of quadrant 3, 6 cores", &(sample, 0), None)]
}

fn predicted(plan: &Plan, predictions: u64) -> Sample {
    let mut hash = Hash::default();
    let clock = Clock::start();
    for _ in 0..predictions {
        let report = hostnet_sim::predict(plan).expect("a server without a network");
        let found = report.result_hash;
        hash.add(u64::from_str_radix(&found[..16], 16).expect("hashes are hexadecimal"));
    }
    Sample { seconds: clock.seconds(), events: predictions, pending_max: 0, hash: hash.0 }
}
