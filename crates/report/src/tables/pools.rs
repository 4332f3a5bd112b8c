//! Rows of credit pools, as the tables and the cards of domains show them.

use crate::places::{is_place, name_place, requesting_pair};
use crate::row::{is_total, with_values, Fields, Row, ALL};
use serde_json::{json, Value};

/// Name of the directions between sockets in which several pools held nothing.
const OTHER_DIRECTIONS: &str = "UPI, other directions";

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
            let Some(whole) = totals.iter().find(|row| row.text("domain") == name) else { continue };
            if !totals.iter().chain(&places).any(|row| has_all(&row)) {
                found.push(partial_row(whole, facts, pool, credits));
            }
        }
    }
    found
}

/// Returns the row of a pool of which a workload uses some parts. It has the columns of the row of the whole pool.
fn partial_row(whole: &Row, facts: &Row, pool: &Row, credits: i64) -> Row {
    let value = |key| pool.value(key).cloned().unwrap_or_default();
    let empty: Row = whole.keys().map(|key| (key.clone(), Value::Null)).collect();
    let values = json!({
        "domain": format!("{} of {}", whole.text("domain"), facts.text("workload")),
        "part": "own",
        "workload": ALL,
        "capacity": credits,
        "in_use_mean": value("in_use"),
        "full_share": value("full_share"),
        "latency_mean_ns": value("latency_ns"),
        "throughput_gb_per_s": value("gb_per_s"),
        "binds": value("domain"),
    });
    with_values(&empty, values)
}

/// Returns the rows of `domains` of a server; with several sockets, one row per place instead of their sum.
///
/// One socket or UPI direction cannot use the credits of another.
pub(super) fn rows_by_place(summary: &Row) -> Vec<Row> {
    let places = summary.rows("places");
    let of_place = |whole: &Row| -> Vec<Row> {
        let is_own = |row: &&&Row| ["domain", "workload"].iter().all(|key| row.text(key) == whole.text(key));
        let own: Vec<Row> = places.iter().filter(is_own).map(|&row| row.clone()).collect();
        if own.is_empty() {
            vec![whole.clone()]
        } else {
            own
        }
    };
    summary.rows("domains").into_iter().flat_map(of_place).collect()
}

/// Returns the domain of a row of `domains`, followed by its place if there are several.
pub(super) fn row_label(row: &Row) -> String {
    let (domain, part) = (row.text("domain"), row.text("part"));
    if is_place(part) {
        format!("{domain}, {}", name_place(domain, part))
    } else {
        domain.to_owned()
    }
}

/// Returns rows of pools; those between two sockets that held nothing are merged into one `idle` row.
///
/// A pool that held nothing in any direction keeps a row.
pub(super) fn fold_idle_pools(rows: Vec<Row>) -> Vec<Row> {
    let is_direction = |row: &Row| requesting_pair(row.text("part")).is_some();
    let (mut shown, mut folded): (Vec<Row>, Vec<Row>) = (Vec::new(), Vec::new());
    for own in rows.chunk_by(|one, other| one.text("domain") == other.text("domain")) {
        let is_idle = |row: &&Row| is_direction(row) && row.nonzero("in_use_mean").is_none();
        let (idle, used): (Vec<&Row>, Vec<&Row>) = own.iter().partition(|row| is_idle(row));
        if !own.iter().any(is_direction) {
            shown.extend(merge_idle_rows(&mut folded));
        }
        shown.extend(used.iter().map(|&row| row.clone()));
        let Some(first) = idle.first() else { continue };
        let domain = own[0].text("domain");
        let places: Vec<String> = idle.iter().map(|row| name_place(domain, row.text("part"))).collect();
        let name = format!("{domain}, {}", describe_directions(&places, own.len()));
        let row = with_values(&Row::new(), json!({"domain": name, "workload": first.text("workload"), "idle": true}));
        if used.is_empty() {
            shown.push(row);
        } else {
            folded.push(row);
        }
    }
    shown.extend(merge_idle_rows(&mut folded));
    shown
}

/// Takes the rows of idle directions and returns one for them, named after their pool if they belong to one.
fn merge_idle_rows(folded: &mut Vec<Row>) -> Option<Row> {
    let count = folded.len();
    let first = folded.drain(..).next()?;
    Some(if count == 1 { first } else { with_values(&first, json!({"domain": OTHER_DIRECTIONS})) })
}

/// Names idle directions between sockets; `count` is the number of all directions.
pub(super) fn describe_directions(idle: &[String], count: usize) -> String {
    match idle {
        [only] => only.clone(),
        _ if idle.len() == count => format!("all {count} directions"),
        _ => format!("{} other directions", idle.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(domain: &str, part: &str, in_use: f64) -> Row {
        let row = json!({"domain": domain, "part": part, "workload": "all", "in_use_mean": in_use});
        with_values(&Row::new(), row)
    }

    fn labels(rows: Vec<Row>) -> Vec<String> {
        fold_idle_pools(rows).iter().map(row_label).collect()
    }

    fn pool(domain: &str, used: [f64; 2]) -> Vec<Row> {
        vec![row(domain, "upi 0-1", used[0]), row(domain, "upi 1-0", used[1])]
    }

    #[test]
    fn a_pool_that_held_nothing_keeps_a_row() {
        let one = [pool("UPI request", [1.0, 0.0]), vec![row("RPQ", "socket 1", 0.0)]].concat();
        assert_eq!(labels(one), ["UPI request, socket 0 to 1", "UPI request, socket 1 to 0", "RPQ, socket 1"]);
        assert_eq!(labels(pool("UPI request", [0.0, 0.0])), ["UPI request, all 2 directions"]);
    }

    #[test]
    fn idle_directions_of_several_pools_share_a_row() {
        let two = [pool("UPI request", [1.0, 0.0]), pool("UPI data", [1.0, 0.0])].concat();
        assert_eq!(labels(two), ["UPI request, socket 0 to 1", "UPI data, socket 1 to 0", OTHER_DIRECTIONS]);
    }

    #[test]
    fn directions_are_counted() {
        let names = ["a".to_owned(), "b".to_owned()];
        let described = [&names[..1], &names[..]].map(|idle| describe_directions(idle, 2));
        assert_eq!(described, ["a", "all 2 directions"]);
        assert_eq!(describe_directions(&names, 6), "2 other directions");
    }

    #[test]
    fn places_replace_the_sum_of_their_rows() {
        let summary = json!({
            "domains": [row("RPQ", "all", 3.0), row("LFB", "all", 1.0)],
            "places": [row("RPQ", "socket 0", 1.0), row("RPQ", "socket 1", 2.0)],
        });
        let rows = rows_by_place(summary.as_object().expect("it is an object"));
        assert_eq!(rows.iter().map(row_label).collect::<Vec<_>>(), ["RPQ, socket 0", "RPQ, socket 1", "LFB"]);
    }
}
