//! Numbers of finished runs.

use hostnet_config::Plan;
use hostnet_sim::{Options, Report, Run};

/// What a run to the end reports.
pub fn report(plan: &Plan) -> Report {
    let mut run = Run::new(plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report()
}

/// A number of the row of a domain's parts taken together.
pub fn domain(report: &Report, name: &str, column: &str) -> f64 {
    let table = report.table("domains").expect("a table of domains");
    let is_row = |row: &&Vec<_>| {
        table.text(row, "domain") == Some(name)
            && table.text(row, "part") == Some("all")
            && table.text(row, "workload") == Some("all")
    };
    let row = table.rows.iter().find(is_row).unwrap_or_else(|| panic!("no row for {name}"));
    table.number(row, column).unwrap_or_else(|| panic!("{name} has no {column}"))
}

/// A number is what it should be.
pub fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found:.2}, expected {expected} +- {tolerance}");
}
