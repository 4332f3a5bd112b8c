//! Definitions of the terms that a page names.

use crate::html::{element, Content, Element, Html};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Maximum length of a definition on a page, in letters; a longer one ends after a sentence or a clause.
const SHORT_MAX: usize = 240;

/// Kinds of terms that headings may be.
const OF_HEADINGS: [&str; 5] = ["heading", "domain", "pool", "abbreviation", "word"];

/// Units that may stand after the name of a quantity in a heading.
const UNITS: [&str; 13] = ["GB/s", "Gbps", "GHz", "ns", "us", "µs", "ms each", "ms", "MiB", "MB", "kB", "s", "W"];

/// A meaning of a term.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Term {
    pub(crate) name: String,
    pub(crate) kind: String,
    meaning: String,
    /// Long form of an abbreviation.
    long: Option<String>,
}

impl Term {
    /// Returns the meaning, after the long form if that says more than the name.
    pub(crate) fn definition(&self) -> String {
        match &self.long {
            Some(long) if !long.is_empty() && long.to_lowercase() != self.name.to_lowercase() => {
                format!("{long}: {}", self.meaning)
            }
            _ => self.meaning.clone(),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
struct ColumnEntry {
    meaning: Option<String>,
}

/// Meanings of terms, and of the columns of result tables. The default has none.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Glossary {
    terms: Vec<Term>,
    /// Columns by the name of their table and their own.
    columns: BTreeMap<String, BTreeMap<String, ColumnEntry>>,
}

impl Glossary {
    /// Returns all meanings of all terms.
    pub(crate) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns the first definition of a term that one of the kinds has, or of any kind if there are none.
    pub(crate) fn definition(&self, name: &str, kinds: &[&str]) -> Option<String> {
        let is_it = |term: &&Term| term.name == name && (kinds.is_empty() || kinds.contains(&term.kind.as_str()));
        self.terms.iter().find(is_it).map(Term::definition)
    }

    /// Returns the meaning of a column of a result table.
    pub(crate) fn column_meaning(&self, table: &str, column: &str) -> Option<&str> {
        self.columns.get(table)?.get(column)?.meaning.as_deref()
    }

    /// Returns the definition of a heading that no result table has: as it is, in lower case, or without its unit.
    ///
    /// Numbers in headings are all alike: `x 1.25` is defined as `x N`.
    #[must_use]
    pub fn heading_definition(&self, heading: &str) -> Option<String> {
        let numbered = with_letter_for_numbers(heading);
        let names = [heading, &numbered].into_iter().flat_map(|name| [name, without_unit(name)]);
        let mut names = names.flat_map(|name| [name.to_owned(), with_small_start(name)]);
        names.find_map(|name| self.definition(&name, &OF_HEADINGS))
    }
}

/// Shortens a definition to its first sentences or clauses.
#[must_use]
pub fn shorten(definition: &str) -> &str {
    let mut text = definition;
    for end in [". ", "; "] {
        while text.chars().count() > SHORT_MAX {
            let Some((first, _)) = text.rsplit_once(end) else { break };
            text = first;
        }
    }
    text
}

/// Creates content whose definition appears under the pointer and on keyboard focus.
pub(crate) fn define(content: impl Content, about: &str) -> Element {
    element("dfn").child(content).attr("tabindex", 0).attr("aria-description", shorten(about))
}

/// Creates content with its definition, if it has one.
pub(crate) fn define_if_known(content: Html, about: Option<&str>) -> Html {
    match about.filter(|about| !about.is_empty()) {
        Some(about) => define(content, about).html(),
        None => content,
    }
}

/// Replaces each number in a heading by the letter N.
fn with_letter_for_numbers(heading: &str) -> String {
    let mut replaced = String::new();
    let mut rest = heading;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let whole = digits(number);
        let fraction = number[whole..].strip_prefix('.').map_or(0, digits);
        replaced.push_str(before);
        replaced.push('N');
        rest = &number[whole + if fraction > 0 { 1 + fraction } else { 0 }..];
    }
    replaced + rest
}

/// Returns the number of digits that a text starts with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Returns a heading without the unit at its end.
fn without_unit(heading: &str) -> &str {
    let shorter = heading.strip_suffix('%').or_else(|| {
        let unit = UNITS.iter().find(|unit| heading.ends_with(*unit))?;
        let name = heading.strip_suffix(unit)?;
        // A unit is a word: "bus" does not end with the unit "us".
        let is_word = name.chars().next_back().is_none_or(|letter| !letter.is_alphanumeric() && letter != '_');
        is_word.then_some(name)
    });
    shorter.map_or(heading, |name| name.trim_end_matches([' ', ',']))
}

/// Returns a heading with its first letter in lower case.
fn with_small_start(heading: &str) -> String {
    let mut letters = heading.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn glossary() -> Glossary {
        let term = |name: &str, kind: &str, meaning: &str| json!({"name": name, "kind": kind, "meaning": meaning});
        let mut terms = vec![
            term("latency", "heading", "time of a line"),
            term("x N", "heading", "a factor"),
            term("bus", "word", "wires"),
            term("limit", "regime", "no heading"),
        ];
        terms.push(json!({"name": "P50", "kind": "abbreviation", "long": "median", "meaning": "middle value"}));
        let columns = json!({"domains": {"in_use_mean": {"meaning": "entries in use"}}});
        Glossary::deserialize(json!({"terms": terms, "columns": columns})).expect("it is a glossary")
    }

    #[test]
    fn headings_are_found_without_their_unit_and_numbers() {
        let found = |heading: &str| glossary().heading_definition(heading);
        for heading in ["latency", "Latency", "Latency ns", "latency, µs", "Latency %", "latency ms each"] {
            assert_eq!(found(heading).as_deref(), Some("time of a line"), "{heading}");
        }
        assert_eq!(found("x 1.25").as_deref(), Some("a factor"));
        assert_eq!(found("x 2").as_deref(), Some("a factor"));
        assert_eq!(found("Bus").as_deref(), Some("wires"));
        assert_eq!(found("P50 ns").as_deref(), Some("median: middle value"));
        assert_eq!(found("limit"), None, "a regime is no heading");
        assert_eq!(found("latencys"), None);
    }

    #[test]
    fn columns_have_meanings() {
        assert_eq!(glossary().column_meaning("domains", "in_use_mean"), Some("entries in use"));
        assert_eq!(glossary().column_meaning("domains", "other"), None);
        assert_eq!(Glossary::default().heading_definition("latency"), None);
    }

    #[test]
    fn long_definitions_end_after_a_sentence() {
        let long = format!("{}. {}; {}", "a".repeat(200), "b".repeat(30), "c".repeat(30));
        assert_eq!(shorten(&long), "a".repeat(200));
        let clauses = format!("{}; {}", "a".repeat(200), "b".repeat(60));
        assert_eq!(shorten(&clauses), "a".repeat(200));
        assert_eq!(shorten("short. text"), "short. text");
    }

    #[test]
    fn a_number_ends_where_its_digits_end() {
        assert_eq!(with_letter_for_numbers("P99. of 1.5, 2."), "PN. of N, N.");
    }
}
