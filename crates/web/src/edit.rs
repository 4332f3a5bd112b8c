//! Changes single values in the text of a configuration, and keeps its comments and its order.

use crate::problem::Problem;
use hostnet_config::Code;
use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

/// A change of the value at a dotted path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Edit {
    /// Sets the value, and creates the tables that it is in.
    Set(String, Value),
    /// Removes the value if there is one.
    Remove(String),
}

impl Edit {
    /// Sets the value at `path`.
    pub(crate) fn set(path: &str, value: Value) -> Self {
        Self::Set(path.to_owned(), value)
    }
}

/// Returns a text in TOML after these changes.
///
/// # Errors
/// Returns an error if the text is not TOML, or a path leads through a value that is no table.
pub(crate) fn edited(text: &str, edits: Vec<Edit>) -> Result<String, Problem> {
    let fail = |message: String| Problem::new(Code::Syntax, message);
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| fail(error.to_string()))?;
    for edit in edits {
        let (path, value) = match &edit {
            Edit::Set(path, value) => (path, Some(value)),
            Edit::Remove(path) => (path, None),
        };
        apply(document.as_table_mut(), path, value).ok_or_else(|| fail(format!("{path}: leads through a value")))?;
    }
    Ok(document.to_string())
}

/// Sets or removes the value at a path. Returns `None` if the path leads through a value that is no table.
fn apply(root: &mut dyn TableLike, path: &str, value: Option<&Value>) -> Option<()> {
    let (tables, key) = path.rsplit_once('.').unwrap_or(("", path));
    let mut table = root;
    for name in tables.split('.').filter(|name| !name.is_empty()) {
        if value.is_none() && !table.contains_key(name) {
            return Some(());
        }
        table = table.entry(name).or_insert(Item::Table(Table::new())).as_table_like_mut()?;
    }
    let Some(value) = value else {
        table.remove(key);
        return Some(());
    };
    let mut new = to_toml(value);
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            // A comment behind the value stays.
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        _ => drop(table.insert(key, Item::Value(new))),
    }
    Some(())
}

fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.as_i64().map_or_else(|| number.as_f64().unwrap_or(0.0).into(), Into::into),
        Value::Array(values) => values.iter().map(to_toml).collect::<Array>().into(),
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| (key.as_str(), to_toml(value))).collect::<InlineTable>().into()
        }
        other => other.as_str().unwrap_or("").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_changed_value_keeps_comments_and_order() {
        let text = "# title\n[a]\nx = 1  # why\nb.c = \"one\"\n\n[d]\njob = \"a.fio\"\n";
        let edits = vec![
            Edit::set("a.x", json!(2)),
            Edit::set("a.b.c", json!("two")),
            Edit::Remove("d.job".to_owned()),
            Edit::Remove("e.f".to_owned()),
            Edit::set("d.jobs", json!([{ "rw": "read", "ssd": "0-1" }])),
            Edit::set("g.h", json!(0.5)),
        ];
        let expected = "# title\n[a]\nx = 2  # why\nb.c = \"two\"\n\n\
                        [d]\njobs = [{ rw = \"read\", ssd = \"0-1\" }]\n\n[g]\nh = 0.5\n";
        assert_eq!(edited(text, edits).expect("it is TOML"), expected);
    }

    #[test]
    fn what_cannot_be_changed_is_an_error() {
        assert!(edited("[a", vec![]).is_err());
        assert!(edited("a = 1", vec![Edit::set("a.b", json!(1))]).is_err());
    }
}
