//! Reads distributions of sizes from files: rows of bytes and cumulative share, as in other simulators.

use crate::code::Code;
use crate::document::read_text;
use crate::error::Issue;
use crate::units::shorten;
use hostnet_params::{FlowSizesSpec, FlowSpec, Size, SizePoint};
use std::path::Path;

/// Maximum number of points of a distribution in a file.
const POINTS_MAX: usize = 4096;
/// Maximum size of a point, in bytes.
const BYTES_MAX: f64 = 1e15;
/// Tolerance of the last share, as files have shares with few digits.
const ROUNDING: f64 = 1e-6;

/// Hint for an unknown name.
pub(super) const OR_A_FILE: &str = "a file of points has a name such as \"sizes.txt\"";

/// Replaces file names by the points in the files for all sizes of a table of flows.
pub(super) fn read_all(path: &str, spec: &mut FlowSpec, base_dir: &Path) -> Result<(), Issue> {
    read_in(spec.sizes.as_mut(), &format!("{path}.sizes"), base_dir)?;
    let Some(service) = &mut spec.service else { return Ok(()) };
    read_in(service.requests.as_mut(), &format!("{path}.service.requests"), base_dir)?;
    read_in(service.responses.as_mut(), &format!("{path}.service.responses"), base_dir)
}

fn read_in(sizes: Option<&mut FlowSizesSpec>, path: &str, base_dir: &Path) -> Result<(), Issue> {
    let Some(sizes) = sizes else { return Ok(()) };
    match sizes {
        FlowSizesSpec::Named(file) if is_file(file) => {
            let text = read_text(base_dir, file, path, "points")?;
            *sizes = FlowSizesSpec::Points(points(&text, file, path)?);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns true if a name is that of a file. Names of built-in distributions have no dots and slashes.
fn is_file(name: &str) -> bool {
    name.contains(['.', '/', '\\'])
}

/// Parses the points of a file: bytes and share in every row, separated by a comma or a space, with an optional
/// header. Shares go up to 1, or to 100 if they are percent.
fn points(text: &str, file: &str, path: &str) -> Result<Vec<SizePoint>, Issue> {
    let mut rows: Vec<(usize, f64, f64)> = Vec::new();
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || rows.is_empty() && is_header(line) {
            continue;
        }
        let fail = |code: Code, message: String| Issue::in_file(code, file, Some(number), path, message);
        let (bytes, share) = row(line).ok_or_else(|| {
            let rule = "give bytes and a share, such as 64,0.5, or 64 50 if the last share is 100";
            fail(Code::MalformedFile, format!("{} is not a point: {rule}", shorten(line)))
        })?;
        if rows.last().is_some_and(|&(_, before, below)| bytes < before || share < below) {
            let message =
                format!("{} is less than the point before; sizes and shares must not decrease", shorten(line));
            return Err(fail(Code::BadDistribution, message));
        }
        if rows.len() == POINTS_MAX {
            return Err(fail(Code::TooMany, format!("more than {POINTS_MAX} points")));
        }
        rows.push((number, bytes, share));
    }
    let whole = whole(&rows, file, path)?;
    let point = |&(_, bytes, share): &(usize, f64, f64)| SizePoint { bytes: Size(bytes as u64), share: share / whole };
    let mut points: Vec<SizePoint> = rows.iter().map(point).collect();
    // The last share is 1 up to rounding only, and draws need exactly 1.
    if let Some(last) = points.last_mut() {
        last.share = 1.0;
    }
    Ok(points)
}

/// Returns the last share, which stands for all flows: 1 or 100.
fn whole(rows: &[(usize, f64, f64)], file: &str, path: &str) -> Result<f64, Issue> {
    let Some(&(number, _, last)) = rows.last() else {
        return Err(Issue::in_file(
            Code::MalformedFile,
            file,
            None,
            path,
            "has no points; give rows of bytes and share",
        ));
    };
    let whole = [1.0, 100.0].into_iter().find(|whole| (last / whole - 1.0).abs() < ROUNDING);
    whole.ok_or_else(|| {
        let message = format!("the last share is {last}; it must be 1, or 100 if shares are percent");
        Issue::in_file(Code::BadDistribution, file, Some(number), path, message)
    })
}

fn is_header(line: &str) -> bool {
    line.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, ',' | ' ' | '\t' | '_' | '%' | '(' | ')' | '"'))
}

fn row(line: &str) -> Option<(f64, f64)> {
    let mut cells = line.split([',', ' ', '\t', ';']).filter(|cell| !cell.is_empty());
    let (bytes, share) = (cells.next()?.parse::<f64>().ok()?, cells.next()?.parse::<f64>().ok()?);
    let fits = (0.0..=BYTES_MAX).contains(&bytes) && bytes.fract() == 0.0 && (0.0..=100.0 + ROUNDING).contains(&share);
    (fits && cells.next().is_none()).then_some((bytes, share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(u64, f64)>, String> {
        let found = points(text, "sizes.txt", "flow.f.sizes").map_err(|issue| {
            let line = issue.elsewhere.and_then(|(_, line)| line);
            format!("{line:?}: {}", issue.message)
        })?;
        Ok(found.iter().map(|point| (point.bytes.0, point.share)).collect())
    }

    #[test]
    fn shares_and_percent_are_told_apart_by_the_last() {
        let expected = Ok(vec![(0, 0.0), (10_000, 0.15), (30_000_000, 1.0)]);
        assert_eq!(read("0 0\n10000 15\n30000000 100\n"), expected);
        assert_eq!(read("0 0\n10000 0.15\n30000000 1\n"), expected);
        assert_eq!(read("\u{feff}bytes,share\r\n# facts\n0,0\r\n\n10000,\t0.15\r\n30000000,1.0"), expected);
    }

    #[test]
    fn what_is_no_distribution_is_refused_at_its_line() {
        for (text, place) in [
            ("", "None: has no point"),
            ("1 0.5\n2 0.9\n", "Some(2): the last share is 0.9"),
            ("1 50\n2 99\n", "Some(2): the last share is 99"),
            ("1 0.5\nx 1\n", "Some(2): \"x 1\" is not a point"),
            ("0 1 0\n6 1 0.15\n", "Some(1): \"0 1 0\" is not a point"),
            ("1 0.5\n2 0.4\n3 1\n", "Some(2): \"2 0.4\" is less"),
            ("1 0.5\n0 1\n", "Some(2): \"0 1\" is less"),
            ("1.5 1\n", "Some(1): \"1.5 1\" is not a point"),
            ("-1 1\n", "Some(1): \"-1 1\" is not a point"),
            ("1 NaN\n", "Some(1): \"1 NaN\" is not a point"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.starts_with(place), "{said}");
        }
    }
}
