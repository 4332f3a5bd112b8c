//! Fast-forward: what it leaves out, what it must not leave out, and how far its results are from those in full.

mod jobs;
mod servers;

use hostnet_config::Plan;
use hostnet_sim::{Options, Report, Run};
use serde_json::Value;

fn report(plan: &Plan) -> Report {
    let mut run = Run::new(plan, Options::default());
    run.run(|_| true).expect("nothing is stuck");
    run.report()
}

fn in_full(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.run.forward = false;
    plan
}

fn skipped(report: &Report) -> f64 {
    report.summary["forward"]["skipped_share"].as_f64().expect("it is told")
}

/// Returns the rows of a table as objects.
fn rows(report: &Report, name: &str) -> Vec<Value> {
    report.table(name).map_or_else(Vec::new, |table| table.rows.iter().map(|row| table.row_json(row)).collect())
}

/// Checks that a run which is resumed from a checkpoint at a time skips as much, and has the same results.
fn assert_checkpoint_changes_nothing(plan: &Plan, at_us: u64, expected: &Report) {
    let options = Options { checkpoint_at_ps: at_us * 1_000_000, ..Options::default() };
    let mut run = Run::new(plan, options);
    run.run(|_| true).expect("nothing is stuck");
    let bytes = run.checkpoint().expect("it was written").to_vec();
    let mut resumed = Run::resume(plan, options, &bytes).expect("it fits");
    resumed.run(|_| true).expect("nothing is stuck");
    assert_eq!(resumed.report().result_hash, expected.result_hash, "at {at_us} us");
    assert_eq!(resumed.report().summary["forward"], expected.summary["forward"]);
}
