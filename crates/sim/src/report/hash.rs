//! Hashes the measurements of a run.

use crate::report::info::holds;
use crate::report::table::{Cell, Table, TableContent};
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
        hash_rows(&mut hasher, table);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hashes the rows of a table as JSON objects with sorted keys.
fn hash_rows(hasher: &mut Sha256, table: &Table) {
    // Better explanations of the same measurements must not change the hash.
    let told = table.columns.iter().enumerate().filter(|(_, (name, _))| *name != EXPLANATION_COLUMN);
    let mut keys: Vec<(usize, &str)> = told.map(|(index, &(name, _))| (index, name)).collect();
    keys.sort_unstable_by_key(|&(_, name)| name);
    let keys: Vec<(usize, String)> =
        keys.into_iter().map(|(index, name)| (index, format!("{}:", json!(name)))).collect();
    let mut text = Vec::new();
    for row in &table.rows {
        let mut before = b'{';
        for (index, key) in &keys {
            if *index >= table.optional_from && row[*index] == Cell::Empty {
                continue;
            }
            text.push(std::mem::replace(&mut before, b','));
            text.extend_from_slice(key.as_bytes());
            write_cell(&mut text, &row[*index]);
        }
        text.extend_from_slice(if before == b'{' { b"{}" } else { b"}" });
        hasher.update(&text);
        text.clear();
    }
}

/// Writes a cell as JSON.
fn write_cell(text: &mut Vec<u8>, cell: &Cell) {
    let written = match cell {
        Cell::Text(own) => serde_json::to_writer(text, own),
        Cell::Integer(number) => serde_json::to_writer(text, number),
        Cell::Number(number) => serde_json::to_writer(text, number),
        Cell::Empty => serde_json::to_writer(text, &()),
    };
    written.expect("a vector takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::ColumnKind;

    fn table(name: &'static str, goodput: f64, why: &str) -> Table {
        let mut table = Table::new(name, [("goodput", ColumnKind::Number), (EXPLANATION_COLUMN, ColumnKind::Text)]);
        table.push(vec![Cell::from(goodput), why.into()]);
        table
    }

    fn print(summary: Value, tables: &[Table]) -> String {
        hash_results(&summary, tables)
    }

    #[test]
    fn rows_are_hashed_as_json() {
        let columns = [("b\"", ColumnKind::Text), ("c", ColumnKind::Number), ("a", ColumnKind::Integer)];
        let mut table = Table::new("flows", columns);
        table.optional_from = 2;
        for cell in [Cell::Integer(-7), Cell::Empty] {
            for number in [0.1, 1e300, -2.0, 1e-7, f64::NAN] {
                table.push(vec!["\u{1}\u{e9}\"".into(), number.into(), cell.clone()]);
            }
        }
        let json: String = table.rows.iter().map(|row| table.row_json(row).to_string()).collect();
        let mut hasher = Sha256::new();
        hash_rows(&mut hasher, &table);
        assert_eq!(hasher.finalize(), Sha256::digest(json));
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
