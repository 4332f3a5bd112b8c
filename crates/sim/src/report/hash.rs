//! Hashes the measurements of a run.

use crate::report::info::holds;
use crate::report::table::{Table, TableContent};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};

/// Keys of the summary that describe the measurement window.
const WINDOW_KEYS: [&str; 3] = ["complete", "warm_up_ns", "window_ns"];
/// Column of the table of workloads that explains and measures nothing.
const EXPLANATION_COLUMN: &str = "limited_by";

/// Returns the hexadecimal SHA-256 of the window and of the tables of measurements. The configuration, the cost of
/// the simulation, observers and explanations have no influence.
pub(crate) fn hash_results(summary: &Value, tables: &[Table]) -> String {
    let mut hasher = Sha256::new();
    for key in WINDOW_KEYS {
        hasher.update(summary[key].to_string());
    }
    for table in tables.iter().filter(|table| holds(table.name) == TableContent::Measurements) {
        hasher.update(json!(table.name).to_string());
        for row in &table.rows {
            let mut cells = table.row_json(row);
            if let Some(cells) = cells.as_object_mut() {
                // Better explanations of the same measurements must not change the hash.
                cells.remove(EXPLANATION_COLUMN);
            }
            hasher.update(cells.to_string());
        }
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::{Cell, ColumnKind};

    fn table(name: &'static str, goodput: f64, why: &str) -> Table {
        let mut table = Table::new(name, [("goodput", ColumnKind::Number), (EXPLANATION_COLUMN, ColumnKind::Text)]);
        table.push(vec![Cell::from(goodput), why.into()]);
        table
    }

    fn print(summary: Value, tables: &[Table]) -> String {
        hash_results(&summary, tables)
    }

    #[test]
    fn only_results_have_an_influence() {
        let window = json!({"complete": true, "window_ns": 10.0, "events": 5, "config_hash": "a"});
        let hash = print(window.clone(), &[table("classes", 1.5, "LFB"), table("series", 1.0, "")]);
        let other = json!({"complete": true, "window_ns": 10.0, "events": 6, "config_hash": "b"});
        assert_eq!(hash, print(other, &[table("classes", 1.5, "core"), table("limits", 7.0, "")]));
        assert_ne!(hash, print(window.clone(), &[table("classes", 1.6, "LFB")]));
        assert_ne!(hash, print(window, &[table("flows", 1.5, "LFB")]));
        let shorter = json!({"complete": true, "window_ns": 9.0});
        assert_ne!(hash, print(shorter, &[table("classes", 1.5, "LFB")]));
    }
}
