//! Rows of UPI traffic.

use super::pools::describe_directions;
use crate::row::{with_values, Fields, Row};
use serde_json::json;

/// Returns the UPI links with their `direction`; those without traffic are merged into one `idle` row.
pub(super) fn fold_idle_links(rows: &[&Row]) -> Vec<Row> {
    let named = |row: &&Row| {
        let [from, to] = ["from", "to"].map(|end| row.whole(end).unwrap_or_default());
        let is_idle = row.nonzero("gb_per_s").is_none();
        with_values(row, json!({"direction": format!("socket {from} to {to}"), "idle": is_idle}))
    };
    let (idle, mut shown): (Vec<Row>, Vec<Row>) = rows.iter().map(named).partition(|row| row.is_set("idle"));
    if !idle.is_empty() {
        let directions: Vec<String> = idle.iter().map(|row| row.text("direction").to_owned()).collect();
        let direction = describe_directions(&directions, rows.len());
        shown.push(with_values(&Row::new(), json!({"direction": direction, "idle": true})));
    }
    shown
}
