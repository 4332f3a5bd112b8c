//! Instructions per line, packet, request and flit-hop: a measure of speed that other load on the machine does not
//! change, so that a change of 1 % shows.
//!
//! The benchmark program runs each case at two lengths under `valgrind --tool=cachegrind`, and divides the difference
//! of the instructions by that of the units.

mod cases;
mod record;

pub use cases::{Case, CASES};
pub use record::{fingerprint, refused_rise, rises, Record, RecordRow, KEPT, LIMIT_PERCENT};

use crate::sample::Work;
use serde::{Deserialize, Serialize};
use std::process::Command;

/// Argument that turns the benchmark program into the counted worker of one case.
pub const WORKER: &str = "--count-worker";

/// Instructions of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// Name of the case.
    pub case: String,
    /// Unit of the work, in the singular.
    pub unit: String,
    /// Instructions per unit, with one decimal.
    pub instructions: f64,
    /// Hash of the result of the longer run, 16 hexadecimal digits.
    pub hash: String,
}

/// Counts the instructions of all cases and calls `on_case` with the name of each before it starts.
///
/// # Errors
/// Returns a message if valgrind is absent or fails.
pub fn count_all(mut on_case: impl FnMut(&str)) -> Result<Vec<Count>, String> {
    let counts = CASES.iter().enumerate().map(|(index, case)| {
        on_case(case.name);
        count(index, case)
    });
    counts.collect()
}

/// Does the work of the worker: `arguments` are the number of the case and of its length.
///
/// # Errors
/// Returns a message if there is no such case or length.
pub fn work(arguments: &[String]) -> Result<(), String> {
    let numbers: Option<Vec<usize>> = arguments.iter().map(|text| text.parse().ok()).collect();
    let chosen = match numbers.as_deref() {
        Some(&[case, length]) => CASES.get(case).and_then(|case| Some((case, *case.lengths.get(length)?))),
        _ => None,
    };
    let (case, length) = chosen.ok_or_else(|| format!("{WORKER} needs the numbers of a case and of a length"))?;
    let Work { units, hash } = (case.work)(length);
    println!("{units} {hash}");
    Ok(())
}

fn count(index: usize, case: &Case) -> Result<Count, String> {
    let (short, long) = (run_counted(index, 0)?, run_counted(index, 1)?);
    let instructions = (long.0 - short.0) as f64 / (long.1.units - short.1.units) as f64;
    Ok(Count {
        case: case.name.to_owned(),
        unit: case.unit.to_owned(),
        instructions: (instructions * 10.0).round() / 10.0,
        hash: format!("{:016x}", long.1.hash),
    })
}

/// Returns the instructions and the work of one worker.
fn run_counted(case: usize, length: usize) -> Result<(u64, Work), String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args([WORKER, &case.to_string(), &length.to_string()])
        .output()
        .map_err(|error| format!("cannot start valgrind, which counts instructions: {error}"))?;
    let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    parse_instructions(&errors).zip(parse_work(&printed)).ok_or_else(|| format!("valgrind failed:\n{errors}"))
}

/// Returns the number behind `I refs:` in what cachegrind printed.
fn parse_instructions(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains(" I ") && line.contains("refs:"))?;
    line.rsplit("refs:").next()?.trim().replace(',', "").parse().ok()
}

fn parse_work(text: &str) -> Option<Work> {
    let (units, hash) = text.trim().split_once(' ')?;
    Some(Work { units: units.parse().ok()?, hash: hash.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_valgrind_and_a_worker_print_is_read() {
        let printed = "==7== Cachegrind\n==7== \n==7== I   refs:      12,345,678\n";
        assert_eq!(parse_instructions(printed), Some(12_345_678));
        assert_eq!(parse_instructions("==7== Cachegrind\n"), None);
        assert_eq!(parse_work("12 34\n"), Some(Work { units: 12, hash: 34 }));
        assert_eq!(parse_work(""), None);
    }

    #[test]
    fn a_worker_needs_a_case_and_a_length() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let last = CASES.len().to_string();
        for wrong in [&[][..], &["0"], &["0", "2"], &[&last, "0"], &["first", "0"], &["0", "0", "0"]] {
            assert!(work(&texts(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_longer_run_of_every_case_does_more_work() {
        for case in CASES {
            let [short, long] = case.lengths.map(|length| (case.work)(length / 10));
            assert!(short.units < long.units, "{}", case.name);
            assert_eq!((case.work)(case.lengths[0] / 10), short, "{}", case.name);
        }
    }
}
