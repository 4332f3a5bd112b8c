//! Record of counted instructions: the last versions of the simulator whose counts differ, and the rule that a rise
//! has to be announced.

use super::Count;
use hostnet_kernel::mix;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Number of versions that the record keeps.
pub const KEPT: usize = 10;
/// Largest rise of a count that needs no word in the changelog, in percent of the version before.
pub const LIMIT_PERCENT: f64 = 3.0;

/// Crates whose code the counted work runs, apart from that which reads configurations and writes results.
const COUNTED: [&str; 4] = ["kernel", "measure", "model", "noc"];

/// Counts of one version of the simulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordRow {
    /// Summary of the change. If a count rises by more than [`LIMIT_PERCENT`], the changelog must contain it.
    pub change: String,
    /// Version of the compiler.
    pub compiler: String,
    /// Hash of the sources of the counted crates.
    pub sources: String,
    /// Counts of all cases.
    pub counts: Vec<Count>,
}

/// Counts of the last versions, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Versions, the newest last.
    pub versions: Vec<RecordRow>,
}

impl Record {
    /// Reads the record at `path`; a file that does not exist is an empty record.
    ///
    /// # Errors
    /// Returns a message if the file cannot be read or is no record.
    pub fn read(path: &Path) -> Result<Self, String> {
        let failed = |error: String| format!("cannot read {}: {error}", path.display());
        match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Writes the record to `path`.
    ///
    /// # Errors
    /// Returns a message if the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::write(path, text + "\n").map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// Adds a version. One that counts as the version before it, or has its sources, replaces that version's counts.
    pub fn add(&mut self, row: RecordRow) {
        match self.versions.last_mut() {
            Some(last) if last.counts == row.counts && last.compiler == row.compiler => last.sources = row.sources,
            Some(last) if last.sources == row.sources => *last = row,
            _ => self.versions.push(row),
        }
        let surplus = self.versions.len().saturating_sub(KEPT);
        self.versions.drain(..surplus);
    }

    /// Formats the record as a table: a row per case, a column per version, the newest last.
    #[must_use]
    pub fn table(&self) -> String {
        let Some(last) = self.versions.last() else { return String::new() };
        let width = last.counts.iter().map(|count| count.case.len()).max().unwrap_or(0);
        let changes = self.versions.iter().enumerate().map(|(index, row)| format!("[{}] {}\n", index + 1, row.change));
        let heads: String = (1..=self.versions.len()).map(|number| format!("{:>9}", format!("[{number}]"))).collect();
        let rows = last.counts.iter().map(|count| {
            let cells = self.versions.iter().map(|row| cell(row, &count.case));
            format!("{:width$}  {:8}{}\n", count.case, count.unit, cells.collect::<String>())
        });
        let rows: String = rows.collect();
        format!("{}\n{:width$}  {:8}{heads}\n{rows}", changes.collect::<String>(), "instructions per", "")
    }
}

fn cell(row: &RecordRow, case: &str) -> String {
    format!("{:>9}", find(row, case).map_or_else(|| "n/a".to_owned(), |count| format!("{:.1}", count.instructions)))
}

fn find<'a>(row: &'a RecordRow, case: &str) -> Option<&'a Count> {
    row.counts.iter().find(|count| count.case == case)
}

/// Returns the cases that rise by more than [`LIMIT_PERCENT`] from a version to the next, with their rise in percent.
#[must_use]
pub fn rises(before: &RecordRow, after: &RecordRow) -> Vec<(String, f64)> {
    let rise = |count: &Count| {
        let before = find(before, &count.case)?.instructions;
        let percent = (count.instructions / before - 1.0) * 100.0;
        (count.instructions > before * (1.0 + LIMIT_PERCENT / 100.0)).then(|| (count.case.clone(), percent))
    };
    after.counts.iter().filter_map(rise).collect()
}

/// Returns what speaks against the newest version of a record: sources that were not counted, or a rise whose change
/// the changelog does not mention.
#[must_use]
pub fn refused_rise(record: &Record, sources: &str, changelog: &str) -> Option<String> {
    let last = record.versions.last().filter(|row| row.sources == sources);
    let Some(last) = last else { return Some("the simulator has changed: run `make count`".to_owned()) };
    let before = record.versions.iter().rev().nth(1)?;
    let rises = rises(before, last);
    let announced = changelog.split_whitespace().collect::<Vec<_>>().join(" ").contains(&last.change);
    let (case, percent) = rises.first().filter(|_| !announced)?;
    Some(format!("{case} costs {percent:.1} % more instructions; CHANGELOG.md does not say: {}", last.change))
}

/// Returns a hash of the sources of the counted crates, in the folder `crates`.
///
/// # Errors
/// Returns the error of a file that cannot be read.
pub fn fingerprint(crates: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for name in COUNTED {
        collect(&crates.join(name).join("src"), &mut files)?;
    }
    files.sort();
    let mut hash = 0;
    for file in files {
        for byte in fs::read(&file)? {
            hash = mix(hash) ^ u64::from(byte);
        }
    }
    Ok(format!("{hash:016x}"))
}

/// Collects the Rust files of a folder and of the folders in it, without tests.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests")) {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(change: &str, sources: &str, instructions: f64) -> RecordRow {
        let count = Count { case: "a".to_owned(), unit: "line".to_owned(), instructions, hash: String::new() };
        let compiler = "rustc 1".to_owned();
        RecordRow { change: change.to_owned(), compiler, sources: sources.to_owned(), counts: vec![count] }
    }

    fn record(rows: &[RecordRow]) -> Record {
        let mut record = Record::default();
        rows.iter().for_each(|row| record.add(row.clone()));
        record
    }

    #[test]
    fn a_rise_above_three_percent_needs_a_word() {
        let at = |instructions| record(&[row("first", "1", 1000.0), row("Check more", "2", instructions)]);
        assert_eq!(refused_rise(&at(1030.0), "2", ""), None);
        assert!(refused_rise(&at(1030.1), "2", "").is_some());
        assert_eq!(refused_rise(&at(1030.1), "2", "- Check\n  more of it."), None);
        assert_eq!(refused_rise(&at(500.0), "2", ""), None);
    }

    #[test]
    fn sources_that_were_not_counted_are_refused() {
        assert!(refused_rise(&Record::default(), "1", "").is_some());
        let counted = record(&[row("first", "1", 1000.0)]);
        assert_eq!(refused_rise(&counted, "1", ""), None);
        assert!(refused_rise(&counted, "2", "").is_some());
    }

    #[test]
    fn only_versions_that_count_differently_get_a_row() {
        let same = record(&[row("first", "1", 1000.0), row("comments", "2", 1000.0)]);
        assert_eq!(same.versions, [row("first", "2", 1000.0)]);
        let again = record(&[row("first", "1", 1000.0), row("second", "1", 900.0)]);
        assert_eq!(again.versions, [row("second", "1", 900.0)]);
        let many: Vec<_> = (0..KEPT + 3).map(|index| row("more", &index.to_string(), index as f64)).collect();
        assert_eq!(record(&many).versions, many[3..]);
    }

    #[test]
    fn the_record_covers_this_version() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates are in a folder");
        let record = Record::read(&crates.join("bench/counts.json")).expect("the record can be read");
        let changelog = fs::read_to_string(crates.join("../CHANGELOG.md")).expect("the changelog can be read");
        let sources = fingerprint(crates).expect("sources can be read");
        assert_eq!(refused_rise(&record, &sources, &changelog), None);
        let cases: Vec<_> = record.versions.last().into_iter().flat_map(|row| &row.counts).collect();
        assert!(cases.iter().map(|count| count.case.as_str()).eq(super::super::CASES.iter().map(|case| case.name)));
    }
}
