//! Rows of memory channels. Those that are idle or alike share a row on the screen.

use super::columns::CHANNELS;
use crate::row::{with_values, Fields, Row};
use serde_json::{json, Value};

/// Maximum number of rows of channels that are all shown.
pub(super) const CHANNELS_MAX: usize = 8;

/// Largest relative difference between the rates of channels that share a row.
const ALIKE: f64 = 0.15;

/// Least number of channels that share a row.
const ALIKE_MIN: usize = 3;

const RATES: [&str; 2] = ["read_gb_per_s", "write_gb_per_s"];

/// Returns a row of `channels` with its name, and without sources of no traffic.
pub(super) fn channel_row(row: &Row) -> Row {
    let channel = row.whole("channel").filter(|&channel| channel >= 0);
    let name = channel.map_or_else(|| "all".to_owned(), |channel| channel.to_string());
    let sources: Vec<&str> =
        row.text("sources").split(", ").filter(|source| !source.is_empty() && !source.ends_with(" 0.00")).collect();
    let sources = Some(sources.join(", ")).filter(|sources| !sources.is_empty());
    with_values(row, json!({"name": name, "sources": sources}))
}

/// Returns true if the channels of a row moved nothing.
pub(super) fn is_idle(row: &Row) -> bool {
    RATES.iter().all(|rate| row.nonzero(rate).is_none())
}

/// Returns the rows of channels in order; adjacent idle channels share an `idle` row, and adjacent ones of many that
/// are alike share a row of means.
pub(super) fn fold_channels(rows: &[Row]) -> Vec<Row> {
    let rows: Vec<Row> = rows.chunk_by(|one, other| is_idle(one) == is_idle(other)).flat_map(fold_if_idle).collect();
    if rows.len() <= CHANNELS_MAX {
        return rows;
    }
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match groups.last_mut().filter(|group| is_alike(&group[0], &row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.into_iter().flat_map(merge_channels).collect()
}

/// Returns adjacent channels of which all are busy, or a row that stands for all if they are idle.
fn fold_if_idle(rows: &[Row]) -> Vec<Row> {
    if !is_idle(&rows[0]) {
        return rows.to_vec();
    }
    let (first, last) = (rows[0].text("name"), rows[rows.len() - 1].text("name"));
    let name = if first == last { first.to_owned() } else { format!("{first}-{last}") };
    vec![with_values(&Row::new(), json!({"name": name, "idle": true}))]
}

/// Returns true if two busy channels of a socket read and write at about the same rates.
fn is_alike(first: &Row, row: &Row) -> bool {
    let is_same_socket = first.value("socket") == row.value("socket");
    let is_near = |rate: &&str| {
        let [one, other] = [first, row].map(|row| row.number(rate).unwrap_or_default());
        (one - other).abs() <= ALIKE * one.max(other)
    };
    is_same_socket && !first.is_set("idle") && !row.is_set("idle") && RATES.iter().all(is_near)
}

/// Returns the rows of a group, or a single row of their means if there are at least three.
fn merge_channels(group: Vec<Row>) -> Vec<Row> {
    if group.len() < ALIKE_MIN {
        return group;
    }
    let mean = |key: &str| {
        let known: Vec<f64> = group.iter().filter_map(|row| row.number(key)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let numbers = CHANNELS.iter().filter(|column| !column.format.is_text());
    let means: Row = numbers.map(|column| (column.key.to_owned(), Value::from(mean(column.key)))).collect();
    let name = format!("{}-{}, mean", group[0].text("name"), group[group.len() - 1].text("name"));
    let rest = json!({"name": name, "channel": null, "row_miss_ci95": null, "sources": null});
    vec![with_values(&with_values(&group[0], Value::Object(means)), rest)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(number: usize, read: f64, socket: usize) -> Row {
        let row = json!({
            "channel": number, "socket": socket, "read_gb_per_s": read, "write_gb_per_s": 0.5 * read, "rpq_mean": read,
            "row_miss_ratio": null, "sources": format!("a {read}, b 0.00"),
        });
        channel_row(row.as_object().expect("it is an object"))
    }

    fn names(rows: &[Row]) -> Vec<String> {
        fold_channels(rows).iter().map(|row| row.text("name").to_owned()).collect()
    }

    #[test]
    fn channels_that_are_alike_share_a_row_of_their_means() {
        let rows: Vec<Row> = (0..12).map(|number| channel(number, 10.0 + 0.1 * (number % 3) as f64, 0)).collect();
        let folded = fold_channels(&rows);
        assert_eq!(folded.len(), 1);
        assert_eq!(folded[0].text("name"), "0-11, mean");
        assert!((folded[0].number("read_gb_per_s").unwrap_or_default() - 10.1).abs() < 1e-9);
        assert_eq!(folded[0].get("sources"), Some(&Value::Null));
        assert_eq!(rows[0].text("sources"), "a 10", "a source without traffic is left out");
    }

    #[test]
    fn a_channel_that_stands_out_keeps_its_row() {
        let read = |number| if number == 6 { 10.0 * (1.0 + 2.0 * ALIKE) } else { 10.0 };
        let rows: Vec<Row> = (0..12).map(|number| channel(number, read(number), 0)).collect();
        assert_eq!(names(&rows), ["0-5, mean", "6", "7-11, mean"]);
    }

    #[test]
    fn channels_of_sockets_and_few_channels_are_not_merged() {
        let rows: Vec<Row> = (0..12).map(|number| channel(number, 10.0, number / 6)).collect();
        assert_eq!(names(&rows), ["0-5, mean", "6-11, mean"]);
        assert_eq!(fold_channels(&rows[..CHANNELS_MAX]), rows[..CHANNELS_MAX]);
    }

    #[test]
    fn idle_channels_share_a_row() {
        let read = |number| if (2..5).contains(&number) || number == 7 { 0.0 } else { 9.0 };
        let rows: Vec<Row> = (0..8).map(|number| channel(number, read(number), 0)).collect();
        assert_eq!(names(&rows), ["0", "1", "2-4", "5", "6", "7"]);
        assert!(fold_channels(&rows)[2].is_set("idle"));
    }
}
