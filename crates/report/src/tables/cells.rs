//! Cells of a table of a server on its page: rounded numbers that are copied exactly.

use super::columns::{Column, Format};
use super::pools::row_label;
use crate::host::paths::kind_of_pool;
use crate::html::{wrap, wrap_as, Content, Html};
use crate::numbers::{format_exactly, format_number, format_share, with_ci95, MISSING};
use crate::row::{Fields, Row};
use crate::svg::meter;
use serde_json::Value;

const NS_PER_US: f64 = 1000.0;

/// Returns the columns of the file that a copy of a column has.
pub(super) fn copied_keys(column: &Column) -> Vec<&'static str> {
    match column.copied {
        Some(keys) => keys.to_vec(),
        None => [column.key].into_iter().chain(column.ci95).collect(),
    }
}

/// Formats a value for copying: with all digits, empty if it is missing.
pub(super) fn exact_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Some(Value::Number(number)) if number.is_f64() => number.as_f64().map(format_exactly).unwrap_or_default(),
        Some(value) => value.to_string(),
    }
}

/// Shows a value of a row.
pub(super) fn show(row: &Row, column: &Column) -> Html {
    let value = row.value(column.key);
    match column.format {
        Format::Text => show_text(value, column),
        Format::Domain => show_domain(row),
        Format::Share => content(format_share(value)),
        Format::Busy | Format::Of if row.is_set("idle") => content("idle"),
        Format::Busy => {
            let share = row.number(column.key);
            let text = wrap("span", format_share(share));
            wrap("span", meter(share, Some(1.0), None, 'n')).child(text).class("meter").html()
        }
        Format::Of => show_part(row, column),
        Format::Microseconds => {
            content(row.number(column.key).map_or_else(|| MISSING.to_owned(), |ns| format_number(ns / NS_PER_US)))
        }
        _ => content(with_ci95(value, column.ci95.and_then(|ci95| row.value(ci95)))),
    }
}

fn content(content: impl Content) -> Html {
    Html::join([content])
}

/// Shows text; a style lets long text wrap.
fn show_text(value: Option<&Value>, column: &Column) -> Html {
    let text = match value {
        Some(Value::String(text)) => text.clone(),
        value => exact_text(value),
    };
    match column.style {
        Some(style) => wrap_as("span", style, text).html(),
        None => content(text),
    }
}

/// Names the domain, and the domain whose credits it shares.
fn show_domain(row: &Row) -> Html {
    let shared = row.some_text("shares_capacity_with").map(|pool| wrap_as("span", "quiet", format!(" in {pool}")));
    wrap("span", row_label(row)).child(shared).class("domain").html()
}

/// Shows a number and its maximum, if that is known; of credits in use as a bar.
fn show_part(row: &Row, column: &Column) -> Html {
    let whole = column.whole.unwrap_or_default();
    if whole != "capacity" {
        let most = row.value(whole).map(|most| format!(" of {}", format_number(most))).unwrap_or_default();
        return content(format!("{}{most}", format_number(row.value(column.key))));
    }
    let in_use = row.number("in_use_mean");
    let kind = kind_of_pool(row.text("domain"));
    let bar = meter(in_use, row.number("capacity"), row.number("in_use_max"), kind);
    wrap("span", bar).child(wrap("span", format_number(row.value("in_use_mean")))).class("meter").html()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn copies_have_all_digits() {
        let cases = [(json!(1.5e-7), "1.5e-07"), (json!(12), "12"), (json!("a\n b"), "a b"), (json!(null), "")];
        for (value, text) in cases {
            assert_eq!(exact_text(Some(&value)), text);
        }
    }
}
