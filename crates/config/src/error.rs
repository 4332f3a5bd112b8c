//! What is wrong with a configuration, and where.

use crate::code::Code;
use std::fmt;

/// The first thing found wrong with what the user wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The rule that is broken.
    pub code: Code,
    /// The file (or the override) it stands in.
    pub file: String,
    /// Its line, where one is known.
    pub line: Option<usize>,
    /// The dotted path of the key; empty when the text as a whole is wrong.
    pub path: String,
    /// The value, the rule it breaks, and the nearest valid name where there is one.
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

/// A broken rule, before it is known which key has the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The rule.
    pub code: Code,
    /// The value, the rule in words, and the nearest valid name where there is one.
    pub message: String,
}

impl Fault {
    /// A broken rule.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Fault { code, message: message.into() }
    }

    /// Blames the key at `path`.
    pub(crate) fn blame(self, path: impl Into<String>) -> Issue {
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

/// A broken rule, before it is known where the value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Issue {
    pub(crate) code: Code,
    /// The keys the rule is about. The first one that the user wrote himself is blamed.
    pub(crate) paths: Vec<String>,
    pub(crate) message: String,
    /// File and line when the value stands in another file than the configuration.
    pub(crate) elsewhere: Option<(String, Option<usize>)>,
}

impl Issue {
    pub(crate) fn new(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Issue { code, paths: vec![path.into()], message: message.into(), elsewhere: None }
    }

    /// A rule between several keys.
    pub(crate) fn between(code: Code, paths: &[&str], message: impl Into<String>) -> Self {
        let paths = paths.iter().map(|path| path.to_string()).collect();
        Issue { code, paths, message: message.into(), elsewhere: None }
    }

    /// The same, of keys that stand under the table `table`.
    pub(crate) fn within(mut self, table: &str) -> Self {
        if self.elsewhere.is_none() {
            for path in &mut self.paths {
                *path = if path.is_empty() { table.to_string() } else { format!("{table}.{path}") };
            }
        }
        self
    }

    /// A rule broken in another file.
    pub(crate) fn in_file(code: Code, file: &str, line: Option<usize>, path: &str, message: impl Into<String>) -> Self {
        let elsewhere = Some((file.to_string(), line));
        Issue { code, paths: vec![path.to_string()], message: message.into(), elsewhere }
    }
}

/// The candidate that `name` was probably meant to be, if any is near: the one with the fewest mistakes, those of the
/// same family before others (`DDR5` of `DDR5_5600`), or the one that begins with it.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LENGTH_MAX: usize = 64;
    if name.len() > LENGTH_MAX {
        return None;
    }
    let lower = name.to_lowercase();
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let rank = |candidate: &&'a str| {
        let other = candidate.to_lowercase();
        let distance = strsim::damerau_levenshtein(&lower, &other);
        // Numbers are chosen, not mistyped: of another family is only what has no better.
        let stranger = family(&lower).contains(|c: char| c.is_ascii_digit()) && family(&lower) != family(&other);
        (stranger, distance, std::cmp::Reverse(common_start(&lower, &other)))
    };
    let near = |candidate: &&&str| {
        strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()) <= candidate.len().max(name.len()).div_ceil(3)
    };
    let found = candidates.iter().filter(near).copied().min_by_key(rank);
    found.or_else(|| candidates.iter().copied().find(|candidate| begins_like(&lower, &candidate.to_lowercase())))
}

/// The first word of a name.
fn family(name: &str) -> &str {
    name.split(['_', '-']).next().unwrap_or(name)
}

/// Counts the characters that two names begin with alike.
fn common_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// Returns true if the first words of a longer name are what was typed, but for a mistake or two.
fn begins_like(typed: &str, name: &str) -> bool {
    const SHORTEST: usize = 4;
    let starts = name.match_indices(['_', '-']).map(|(end, _)| &name[..end]);
    typed.len() >= SHORTEST
        && starts.into_iter().any(|start| strsim::damerau_levenshtein(typed, start) <= start.len().div_ceil(4))
}

/// The tail of a message about an unknown name: the nearest known one, or all of them.
#[must_use]
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    // Who writes more than a known name, as `frfcfs` for `fcfs`, may mean its opposite; so few are quickly read.
    const FEW: usize = 4;
    let known: Vec<&str> = known.into_iter().collect();
    let says_more = |near: &str| name.len() > near.len() + 1 && name.to_lowercase().contains(&near.to_lowercase());
    match nearest(name, known.iter().copied()).filter(|near| known.len() > FEW || !says_more(near)) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("known are: {}", known.join(", ")),
    }
}
