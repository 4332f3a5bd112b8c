//! Defines errors of configurations: the broken rule, its place and a hint.

use crate::code::Code;
use std::fmt;

/// Words of a message around the name that it proposes.
const PROPOSAL: &str = "did you mean \"";
const PROPOSAL_END: &str = "\"?";

/// First error found in the user's input, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Broken rule.
    pub code: Code,
    /// File that contains the error, or the override as `--set` shows it.
    pub file: String,
    /// Line in the file, if known.
    pub line: Option<usize>,
    /// Column in the line, in bytes from 1, if known.
    pub column: Option<usize>,
    /// Dotted path of the key; empty if the error concerns the whole text.
    pub path: String,
    /// Message with the value, the rule that the value breaks, and the nearest valid name if there is one.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.path.is_empty() {
            write!(f, ": {}", self.path)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ConfigError {}

/// Broken rule that is not yet attributed to a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Broken rule.
    pub code: Code,
    /// Message with the value, the rule in words, and the nearest valid name if there is one.
    pub message: String,
}

impl Fault {
    /// Creates a fault with the code of the broken rule and a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Fault { code, message: message.into() }
    }

    /// Converts the fault to an issue about the key at `path`.
    pub fn blame(self, path: impl Into<String>) -> Issue {
        Issue::new(self.code, path, self.message)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Fault> for String {
    fn from(fault: Fault) -> Self {
        fault.message
    }
}

impl From<Issue> for Fault {
    fn from(Issue { code, message, .. }: Issue) -> Self {
        Fault { code, message }
    }
}

/// Broken rule attributed to keys, but not yet to a file and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Broken rule.
    pub code: Code,
    /// Keys that the rule is about. The error names the first of these that the user set.
    pub paths: Vec<String>,
    /// Message with the value, the rule in words, and the nearest valid name if there is one.
    pub message: String,
    /// File and line, if the value is in a file other than the configuration.
    pub elsewhere: Option<(String, Option<usize>)>,
}

impl Issue {
    /// Creates an issue about the key at `path`.
    pub fn new(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Issue { code, paths: vec![path.into()], message: message.into(), elsewhere: None }
    }

    /// Creates an issue about a rule that relates several keys.
    pub fn between(code: Code, paths: &[&str], message: impl Into<String>) -> Self {
        let paths = paths.iter().map(|path| path.to_string()).collect();
        Issue { code, paths, message: message.into(), elsewhere: None }
    }

    /// Prefixes the paths of the issue with the table `table`. An issue of another file keeps its paths.
    pub fn within(mut self, table: &str) -> Self {
        // An issue of another file keeps the paths of that file.
        if self.elsewhere.is_none() {
            for path in &mut self.paths {
                *path = if path.is_empty() { table.to_string() } else { format!("{table}.{path}") };
            }
        }
        self
    }

    /// Creates an issue about a value in a file other than the configuration.
    pub fn in_file(code: Code, file: &str, line: Option<usize>, path: &str, message: impl Into<String>) -> Self {
        let elsewhere = Some((file.to_string(), line));
        Issue { code, paths: vec![path.to_string()], message: message.into(), elsewhere }
    }
}

/// Returns the candidate that `name` was probably meant to be, if one is near: the candidate with the smallest edit
/// distance, those of the same family first (the family of `DDR5_5600` is `DDR5`), or else the first candidate that
/// begins with a few words, up to a `_` or `-`, that are close to `name`.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LENGTH_MAX: usize = 64;
    // The distance takes time in proportion to the product of both lengths.
    if name.len() > LENGTH_MAX {
        return None;
    }
    let lower = name.to_lowercase();
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let rank = |candidate: &&'a str| {
        let other = candidate.to_lowercase();
        let distance = strsim::damerau_levenshtein(&lower, &other);
        // A user rarely mistypes the number of a family (`DDR4`), so other families come last.
        let stranger = family(&lower).contains(|c: char| c.is_ascii_digit()) && family(&lower) != family(&other);
        (stranger, distance, std::cmp::Reverse(common_start(&lower, &other)))
    };
    let near = |candidate: &&&str| {
        strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()) <= candidate.len().max(name.len()).div_ceil(3)
    };
    let found = candidates.iter().filter(near).copied().min_by_key(rank);
    found.or_else(|| candidates.iter().copied().find(|candidate| begins_like(&lower, &candidate.to_lowercase())))
}

/// Returns the first word of a name, which ends at `_` or `-`.
fn family(name: &str) -> &str {
    name.split(['_', '-']).next().unwrap_or(name)
}

/// Returns the length of the common prefix of two names, in characters.
fn common_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// Returns true if `typed` is the beginning of `name` up to a `_` or `-`, within an edit distance of a quarter of
/// the beginning.
fn begins_like(typed: &str, name: &str) -> bool {
    const SHORTEST: usize = 4;
    let starts = name.match_indices(['_', '-']).map(|(end, _)| &name[..end]);
    typed.len() >= SHORTEST
        && starts.into_iter().any(|start| strsim::damerau_levenshtein(typed, start) <= start.len().div_ceil(4))
}

/// Returns the name that a message proposes in place of an unknown one, if it ends with a [`suggestion`] of one.
#[must_use]
pub fn suggested(message: &str) -> Option<&str> {
    let (_, proposal) = message.rsplit_once(PROPOSAL)?;
    proposal.split_once(PROPOSAL_END).map(|(name, _)| name)
}

/// Returns the end of a message about an unknown name: the nearest known name, or all known names.
#[must_use]
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    // A name that contains a known one, such as `frfcfs` for `fcfs`, may mean its opposite. Short lists are shown in
    // full.
    const FEW: usize = 4;
    let known: Vec<&str> = known.into_iter().collect();
    let says_more = |near: &str| name.len() > near.len() + 1 && name.to_lowercase().contains(&near.to_lowercase());
    match nearest(name, known.iter().copied()).filter(|near| known.len() > FEW || !says_more(near)) {
        Some(near) => format!("{PROPOSAL}{near}{PROPOSAL_END}"),
        None => format!("known are: {}", known.join(", ")),
    }
}
