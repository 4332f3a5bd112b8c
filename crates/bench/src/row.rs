//! Results of benchmarks, formatted as a table and as JSON.

use serde::Serialize;

/// Result of one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name and size of the benchmark.
    pub benchmark: String,
    /// Events handled per second of processor time or wall time, as the benchmark measures it; the median of the
    /// repetitions.
    pub events_per_s: f64,
    /// Lines of 64 B that crossed the host, per second of the time of `events_per_s`; `None` if the benchmark has no
    /// lines.
    pub lines_per_s: Option<f64>,
    /// Events handled per line; `None` if the benchmark has no lines.
    pub events_per_line: Option<f64>,
    /// Largest number of events pending at the same time.
    pub pending_max: u64,
    /// Peak memory of the process in this group of benchmarks, in bytes; `None` where the system does not count it.
    pub memory_max_bytes: Option<u64>,
    /// Speed relative to the reference, which ran alternately: the median over the pairs of repetitions; `None` for a
    /// benchmark without a reference.
    pub times_reference: Option<f64>,
    /// Hash of the result, 16 hexadecimal digits: equal work gives an equal hash.
    pub hash: String,
}

const HEADER: [&str; 8] =
    ["benchmark", "events/s", "lines/s", "events/line", "peak pending", "peak memory", "x reference", "hash"];

/// Formats the rows as a table of aligned columns with a header; each line ends with a newline.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let mut cells = vec![HEADER.map(str::to_owned)];
    cells.extend(rows.iter().map(cells_of));
    let widths: Vec<usize> =
        (0..HEADER.len()).map(|column| cells.iter().map(|line| line[column].len()).max().unwrap_or(0)).collect();
    cells.iter().map(|line| aligned(line, &widths)).collect()
}

fn aligned(line: &[String; 8], widths: &[usize]) -> String {
    let mut text = format!("{:<width$}", line[0], width = widths[0]);
    for (cell, width) in line.iter().zip(widths).skip(1) {
        text.push_str(&format!("  {cell:>width$}"));
    }
    text.push('\n');
    text
}

fn cells_of(row: &Row) -> [String; 8] {
    [
        row.benchmark.clone(),
        scaled(row.events_per_s),
        or_not(row.lines_per_s.map(scaled)),
        or_not(row.events_per_line.map(|events| format!("{events:.2}"))),
        row.pending_max.to_string(),
        or_not(row.memory_max_bytes.map(|bytes| format!("{:.1} MB", bytes as f64 / 1e6))),
        or_not(row.times_reference.map(|times| format!("{times:.2}"))),
        row.hash.clone(),
    ]
}

fn scaled(per_s: f64) -> String {
    if per_s < 1e5 {
        return format!("{:.2} k", per_s / 1e3);
    }
    format!("{:.2} M", per_s / 1e6)
}

fn or_not(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "n/a".to_owned())
}

/// Formats the rows as a JSON object: `version` is the version of hostnet, and `rows` has the fields of [`Row`].
#[must_use]
pub fn json(rows: &[Row]) -> String {
    let document = serde_json::json!({ "version": env!("CARGO_PKG_VERSION"), "rows": rows });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(benchmark: &str, lines_per_s: Option<f64>) -> Row {
        Row {
            benchmark: benchmark.to_owned(),
            events_per_s: 12_340_000.0,
            lines_per_s,
            events_per_line: lines_per_s.map(|lines| 12_340_000.0 / lines),
            pending_max: 300,
            memory_max_bytes: Some(2_500_000),
            times_reference: None,
            hash: "0123456789abcdef".to_owned(),
        }
    }

    #[test]
    fn columns_are_aligned_and_absent_values_are_named() {
        let printed = table(&[row("short", None), row("a longer name", Some(1_000_000.0))]);
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{printed}");
        assert!(lines[1].contains("12.34 M") && lines[1].contains("n/a") && lines[1].contains("2.5 MB"));
        assert!(lines[2].contains("1.00 M") && lines[2].contains("12.34"));
    }

    #[test]
    fn json_keeps_every_field() {
        let document: serde_json::Value = serde_json::from_str(&json(&[row("one", None)])).expect("it is JSON");
        assert_eq!(document["rows"][0]["pending_max"], 300);
        assert_eq!(document["rows"][0]["lines_per_s"], serde_json::Value::Null);
        assert_eq!(document["rows"][0]["hash"], "0123456789abcdef");
    }
}
