//! Rows of credit pools, as the tables and the cards of domains show them.

use crate::row::{is_total, Fields, Row, ALL};
use serde_json::{json, Value};

/// Pool of a stream in the table `domains`. Its domain is C2M-Read or C2M-Write, whichever holds an entry longer.
const LFB: &str = "LFB";

/// Returns the row of the table `domains` that contains the pool of a workload.
#[must_use]
pub(crate) fn pool_row_name<'a>(kind: &str, domain: &'a str) -> &'a str {
    if kind == "stream" {
        LFB
    } else {
        domain
    }
}

/// Returns rows like those of `domains` for pools of which a workload uses some parts but not all.
///
/// `binds` names the domain by which such a pool limits its workload.
#[must_use]
pub(crate) fn partial_pool_rows(summary: &Row) -> Vec<Row> {
    let totals: Vec<&Row> = summary.rows("domains").into_iter().filter(|row| is_total(row)).collect();
    let places = summary.rows("places");
    let mut found = Vec::new();
    for facts in summary.rows("binding") {
        for pool in facts.rows("pools") {
            let name = pool_row_name(facts.text("kind"), pool.text("domain"));
            let Some(credits) = pool.number("credits").map(|credits| credits.round_ties_even() as i64) else {
                continue;
            };
            let has_all = |row: &&&Row| row.text("domain") == name && row.whole("capacity") == Some(credits);
            let is_known = totals.iter().any(|row| row.text("domain") == name);
            if is_known && !totals.iter().chain(&places).any(|row| has_all(&row)) {
                found.push(partial_row(facts, pool, name, credits));
            }
        }
    }
    found
}

/// Returns the row of a pool of which a workload uses some parts.
fn partial_row(facts: &Row, pool: &Row, name: &str, credits: i64) -> Row {
    let value = |key| pool.value(key).cloned().unwrap_or_default();
    let row = json!({
        "domain": format!("{name} of {}", facts.text("workload")),
        "part": "own",
        "workload": ALL,
        "capacity": credits,
        "in_use_mean": value("in_use"),
        "full_share": value("full_share"),
        "latency_mean_ns": value("latency_ns"),
        "throughput_gb_per_s": value("gb_per_s"),
        "binds": value("domain"),
    });
    let Value::Object(row) = row else { unreachable!("the row is an object") };
    row
}
