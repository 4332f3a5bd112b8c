//! Sentences about the limit of a workload.

use crate::numbers::{describe_share, format_rate, is_small_rate, GB_PER_S};
use crate::places::with_directions;
use crate::row::{Fields, Row};
use crate::tables::pool_row_name;

/// Pools that every PCIe link has.
const LINK_POOLS: [&str; 2] = ["PCIe posted", "PCIe non-posted"];

/// Returns the pool of a domain on the path of a workload. With several places, `place` names the fullest.
pub(super) fn find_pool<'a>(row: &'a Row, domain: &str) -> Option<&'a Row> {
    row.rows("pools").into_iter().find(|pool| pool.text("domain") == domain)
}

/// Returns the name of the credits in a pool of a workload, as `limits` shows it beside the name of the domain.
fn credit_name(kind: &str, pool: &Row) -> &'static str {
    match kind {
        "stream" if pool.is_set("prefetched") => "LFB entries and prefetches of its cores",
        "stream" => "LFB entries of its cores",
        _ if LINK_POOLS.contains(&pool.text("domain")) => "credits of its links",
        _ => "credits",
    }
}

/// Formats a rate as in the evidence of a regime, in a smaller unit if it is small.
pub(super) fn rate_text(gb_per_s: f64) -> String {
    if is_small_rate(gb_per_s) {
        return format_rate(gb_per_s, GB_PER_S);
    }
    let decimals = if gb_per_s < 1.0 { 3 } else { 1 };
    format!("{gb_per_s:.decimals$} {GB_PER_S}")
}

/// Describes the limit of a workload, to follow its name.
pub(super) fn limit_text(row: &Row) -> String {
    let domain = row.text("domain");
    let held = find_pool(row, domain).and_then(|pool| Some((pool, pool.nonzero("in_use")?)));
    let has_moved = row.nonzero("gb_per_s").is_some() || row.value("bound_gb_per_s").is_some();
    if let Some((pool, held)) = held.filter(|_| !has_moved) {
        let credits = credit_name(row.text("kind"), pool);
        return format!("moved nothing; {held:.1} {credits} are in use for {domain}, and none came back");
    }
    let limited = with_directions(row.text("limited"));
    let offered = row.nonzero("offered_gb_per_s").filter(|_| row.texts("binding") == ["offered load"]);
    match offered.zip(row.number("app_gb_per_s")) {
        // Commands from before the window may complete in it, so that more is moved than offered.
        Some((offered, moved)) => {
            format!("{limited}; it gets {} of {}", rate_text(moved), rate_text(offered.max(moved)))
        }
        None => limited,
    }
}

/// Describes credits, latency and bound of the fullest pool of a workload, and its throughput; `None` without a bound.
pub(super) fn bound_text(row: &Row, pool: &Row) -> Option<String> {
    let bound = row.number("bound_gb_per_s")?;
    let [credits, latency, moved, in_use, full] =
        ["credits", "latency_ns", "gb_per_s", "in_use", "full_share"].map(|name| pool.number(name).unwrap_or_default());
    let about = if row.is_set("estimated") { "about " } else { "" };
    let domain = pool.text("domain");
    let words = credit_name(row.text("kind"), pool);
    let place = pool.some_text("place").map(|place| format!(" on {place}, where it is fullest")).unwrap_or_default();
    Some(format!(
        "{domain}{place}: {credits:.0} {words} x 64 B / {latency:.0} ns = {} at most; {} pass ({}), with {in_use:.1} \
         of them in use, all of them {about}{} of the time.",
        rate_text(bound),
        rate_text(moved),
        describe_share(moved / bound),
        describe_share(full),
    ))
}

/// Returns the row of the table `domains` that contains a pool of a workload.
pub(super) fn pool_name<'a>(row: &Row, domain: &'a str) -> &'a str {
    pool_row_name(row.text("kind"), domain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::row;
    use serde_json::json;

    #[test]
    fn a_rate_has_a_unit_that_suits_it() {
        assert_eq!([0.0004, 0.45, 12.3].map(rate_text), ["400 kB/s", "0.450 GB/s", "12.3 GB/s"]);
    }

    #[test]
    fn a_workload_that_gets_its_load_says_so() {
        let limit = |moved: f64| {
            limit_text(&row(json!({
                "limited": "is limited by offered load", "binding": ["offered load"], "gb_per_s": moved,
                "offered_gb_per_s": 2.0, "app_gb_per_s": moved,
            })))
        };
        assert_eq!(limit(1.5), "is limited by offered load; it gets 1.5 GB/s of 2.0 GB/s");
        assert_eq!(limit(2.5), "is limited by offered load; it gets 2.5 GB/s of 2.5 GB/s");
    }

    #[test]
    fn credits_that_never_came_back_are_named() {
        let pools = json!([{"domain": "P2M-Write", "in_use": 12.0}]);
        let facts = json!({"kind": "fio", "domain": "P2M-Write", "gb_per_s": 0.0, "pools": pools, "limited": "is"});
        assert_eq!(limit_text(&row(facts)), "moved nothing; 12.0 credits are in use for P2M-Write, and none came back");
    }
}
