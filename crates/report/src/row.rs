//! Rows of the tables of a run, and nested values of its configuration.

use serde_json::{Map, Value};

/// A row of a table: its values by the names of their columns.
pub type Row = Map<String, Value>;

/// Part or workload of a row that is a total.
pub(crate) const ALL: &str = "all";

/// Access to the values of a row. Values that are missing or of another type are treated alike.
pub(crate) trait Fields {
    /// Returns a value.
    fn value(&self, name: &str) -> Option<&Value>;

    /// Returns a number.
    fn number(&self, name: &str) -> Option<f64> {
        self.value(name)?.as_f64()
    }

    /// Returns a number unless it is zero.
    fn nonzero(&self, name: &str) -> Option<f64> {
        self.number(name).filter(|&number| number != 0.0)
    }

    /// Returns a whole number.
    fn whole(&self, name: &str) -> Option<i64> {
        self.value(name)?.as_i64()
    }

    /// Returns a text; empty if there is none.
    fn text(&self, name: &str) -> &str {
        self.value(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a text unless it is empty.
    fn some_text(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Returns true if a value is `true`.
    fn is_set(&self, name: &str) -> bool {
        self.value(name) == Some(&Value::Bool(true))
    }

    /// Returns the rows of a list; values that are no rows are left out.
    fn rows(&self, name: &str) -> Vec<&Row> {
        self.value(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object).collect()
    }

    /// Returns the texts of a list; values that are no texts are left out.
    fn texts(&self, name: &str) -> Vec<&str> {
        self.value(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

impl Fields for Row {
    fn value(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| !value.is_null())
    }
}

/// Returns true if a row is the total of all parts and all workloads.
pub(crate) fn is_total(row: &Row) -> bool {
    row.text("part") == ALL && row.text("workload") == ALL
}

/// Returns a row with more values.
pub(crate) fn with_values(row: &Row, values: Value) -> Row {
    let Value::Object(values) = values else { unreachable!("values have names") };
    let mut row = row.clone();
    row.extend(values);
    row
}

/// Returns the value at a path such as `core.count`.
pub(crate) fn at_path<'a>(tables: &'a Row, path: &str) -> Option<&'a Value> {
    let (table, rest) = path.split_once('.').map_or((path, None), |(table, rest)| (table, Some(rest)));
    match rest {
        Some(rest) => at_path(tables.value(table)?.as_object()?, rest),
        None => tables.value(table),
    }
}

/// Returns the whole number at a path.
pub(crate) fn whole_at(tables: &Row, path: &str) -> Option<i64> {
    at_path(tables, path)?.as_i64()
}

/// Returns the row of a JSON object.
#[cfg(test)]
pub(crate) fn row(value: Value) -> Row {
    let Value::Object(row) = value else { unreachable!("it is an object") };
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_found_by_their_path() {
        let config = row(json!({"core": {"count": 8, "none": null}, "a": 1.5, "texts": ["a", 3]}));
        assert_eq!(whole_at(&config, "core.count"), Some(8));
        assert_eq!(at_path(&config, "core.none"), None);
        assert_eq!(at_path(&config, "a.b"), None);
        assert_eq!(config.number("a"), Some(1.5));
        assert_eq!(config.whole("a"), None);
        assert_eq!(config.texts("texts"), ["a"]);
        assert_eq!(config.text("a"), "");
    }
}
