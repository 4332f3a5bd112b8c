//! Values of finished runs.

use hostnet_config::Plan;
use hostnet_sim::{Options, Report, Run};

/// Returns the report of a complete run.
pub fn report(plan: &Plan) -> Report {
    let mut run = Run::new(plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report()
}

/// Returns a value of a domain, for all of its parts together.
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

/// Asserts that a value is within `tolerance` of `expected`.
pub fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found:.2}, expected {expected} +- {tolerance}");
}
