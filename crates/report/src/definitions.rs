//! Adds the definitions of terms to finished markup: the first time that a section names one.

use crate::glossary::{define, Glossary, Term};
use crate::html::Html;
use std::collections::{BTreeMap, BTreeSet};

/// Elements whose text is quoted, drawn, or answers to the keyboard already.
const QUOTED: [&str; 12] =
    ["pre", "code", "svg", "dfn", "h1", "h2", "title", "summary", "button", "a", "script", "style"];

/// Elements in which a term is defined once.
const SECTIONS: [&str; 3] = ["section", "header", "main"];

/// Elements whose text may be a word of the glossary, or a limit of one word.
const WHOLE: [&str; 2] = ["b", "dt"];

/// Kinds of terms that stand out in a sentence, as limits such as "DRAM channel" do.
///
/// Words such as "line" do not, and users name workloads by them.
const IN_TEXT: [&str; 3] = ["abbreviation", "domain", "pool"];

/// Abbreviations that every reader of the pages knows as units.
const UNITS: [&str; 4] = ["GB", "GiB", "GT", "MT"];

/// Terms that are marked in sentences, with their definitions.
struct TermIndex<'a> {
    glossary: &'a Glossary,
    /// Names in markup with definitions, by their first byte; longer names first.
    names: BTreeMap<u8, Vec<(String, String)>>,
}

impl<'a> TermIndex<'a> {
    fn of(glossary: &'a Glossary) -> Self {
        let marked: BTreeSet<&str> = glossary
            .terms()
            .iter()
            .filter(|term| stands_out(term))
            .map(|term| term.name.as_str())
            .filter(|name| !UNITS.contains(name))
            .collect();
        let mut names: BTreeMap<u8, Vec<(String, String)>> = BTreeMap::new();
        for name in marked {
            let definition = glossary.definition(name, &[]).unwrap_or_default();
            let written = Html::join([name]).to_string();
            names.entry(written.as_bytes()[0]).or_default().push((written, definition));
        }
        names.values_mut().for_each(|names| names.sort_by_key(|(name, _)| std::cmp::Reverse(name.chars().count())));
        Self { glossary, names }
    }

    /// Returns the longest term at the start of `rest`, which `before` precedes, with its definition.
    fn term_at(&self, before: Option<char>, rest: &str) -> Option<&(String, String)> {
        if before.is_some_and(|letter| is_word(letter) || matches!(letter, '/' | '.' | '&' | '-')) {
            return None;
        }
        let names = self.names.get(rest.as_bytes().first()?)?;
        names.iter().find(|(name, _)| rest.strip_prefix(name.as_str()).is_some_and(ends_a_term))
    }
}

/// Returns true if a term is marked in sentences.
fn stands_out(term: &Term) -> bool {
    let is_limit = term.kind == "limit" && term.name.starts_with(char::is_uppercase);
    is_limit || IN_TEXT.contains(&term.kind.as_str())
}

/// Returns true if a term may end before this text.
fn ends_a_term(rest: &str) -> bool {
    let mut letters = rest.chars();
    match letters.next() {
        Some('.') => !letters.next().is_some_and(is_word),
        Some(letter) => !is_word(letter) && !matches!(letter, '/' | '-'),
        None => true,
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Marks the first occurrence of each term in every section.
#[must_use]
pub fn with_definitions(markup: &str, glossary: &Glossary) -> String {
    let index = TermIndex::of(glossary);
    let (mut marked, mut open, mut seen) = (String::new(), Vec::new(), BTreeSet::new());
    let mut rest = markup;
    while !rest.is_empty() {
        let end = if rest.starts_with('<') { rest.find('>').map(|end| end + 1) } else { rest.find('<') };
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        if part.starts_with('<') {
            if follow(&mut open, part).is_some_and(|name| SECTIONS.contains(&name)) {
                seen.clear();
            }
            marked.push_str(part);
        } else if part.trim().is_empty() || open.iter().any(|name| QUOTED.contains(name)) {
            marked.push_str(part);
        } else {
            mark_text(part, open.last().copied().unwrap_or_default(), &index, &mut seen, &mut marked);
        }
    }
    marked
}

/// Updates the names of the open elements for a tag and returns its name; `None` for an element without content.
fn follow<'a>(open: &mut Vec<&'a str>, tag: &'a str) -> Option<&'a str> {
    let inside = tag.strip_prefix('<')?;
    let (closes, inside) = inside.strip_prefix('/').map_or((false, inside), |inside| (true, inside));
    let end = inside.find(|letter: char| !is_word(letter) && letter != '-').unwrap_or(inside.len());
    let name = Some(&inside[..end]).filter(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))?;
    if tag.ends_with("/>") {
        return None;
    }
    if !closes {
        open.push(name);
    } else if let Some(index) = open.iter().rposition(|other| *other == name) {
        open.truncate(index);
    }
    Some(name)
}

/// Marks the terms in the text of an element that are not in `seen`.
fn mark_text(text: &str, element: &str, index: &TermIndex, seen: &mut BTreeSet<String>, marked: &mut String) {
    let whole = WHOLE.contains(&element).then(|| index.glossary.definition(text.trim(), &[])).flatten();
    if let Some(whole) = whole {
        seen.insert(text.to_owned());
        marked.push_str(define(Html::raw(text), &whole).html().as_str());
        return;
    }
    let (mut before, mut rest) = (None, text);
    while let Some(letter) = rest.chars().next() {
        let found = index.term_at(before, rest);
        let (part, after) = rest.split_at(found.map_or(letter.len_utf8(), |(name, _)| name.len()));
        match found.filter(|(name, _)| seen.insert(name.clone())) {
            Some((_, definition)) => marked.push_str(define(Html::raw(part), definition).html().as_str()),
            None => marked.push_str(part),
        }
        before = part.chars().next_back();
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    fn marked(markup: &str) -> String {
        let term = |name: &str, kind: &str| json!({"name": name, "kind": kind, "meaning": "m"});
        let terms = [
            term("LFB", "pool"),
            term("CHA", "abbreviation"),
            term("CHA TOR", "pool"),
            term("CHA->DRAM read", "pool"),
            term("C2M-Read", "domain"),
            term("GB", "abbreviation"),
            term("red", "regime"),
            term("line", "word"),
            term("DRAM channel", "limit"),
            term("offered load", "limit"),
        ];
        let glossary = Glossary::deserialize(json!({"terms": terms, "columns": {}}));
        let marked = with_definitions(markup, &glossary.expect("it is a glossary"));
        marked.replace(" tabindex=\"0\" aria-description=\"m\"", "")
    }

    #[test]
    fn a_term_is_defined_once_in_every_section() {
        let text = "LFB is full, and so is the CHA TOR of the LFB";
        let first = "<dfn>LFB</dfn> is full, and so is the <dfn>CHA TOR</dfn> of the LFB";
        let (once, twice) =
            (format!("<section><p>{text}</p>"), format!("<section><p>{text}</p><p>{text}</p></section>"));
        assert_eq!(marked(&once), format!("<section><p>{first}</p>"));
        assert_eq!(marked(&twice), format!("<section><p>{first}</p><p>{text}</p></section>"));
        assert_eq!(marked(&twice.repeat(2)), format!("<section><p>{first}</p><p>{text}</p></section>").repeat(2));
        assert_eq!(marked("<p>CHA-&gt;DRAM read</p>"), "<p><dfn>CHA-&gt;DRAM read</dfn></p>");
        assert_eq!(marked("<p>a DRAM channel</p>"), "<p>a <dfn>DRAM channel</dfn></p>", "limits begin with a capital");
        assert_eq!(marked("<p>the offered load</p>"), "<p>the offered load</p>");
    }

    #[test]
    fn parts_of_names_units_and_common_words_are_no_terms() {
        for text in ["LFBs", "xLFB", "memory.LFB", "C2M-Reads", "7.5 GB read", "line of a stream", "LFB.size", "&LFB"] {
            assert_eq!(marked(&format!("<p>{text}</p>")), format!("<p>{text}</p>"));
        }
        assert_eq!(marked("<p>the LFB.</p>"), "<p>the <dfn>LFB</dfn>.</p>");
    }

    #[test]
    fn quoted_text_and_drawings_stay_as_they_are() {
        for name in ["pre", "svg", "summary", "h1", "h2"] {
            let markup = format!("<section><{name}>LFB<b>LFB</b></{name}></section>");
            assert_eq!(marked(&markup), markup);
        }
        assert_eq!(marked("<svg><rect/></svg><p>LFB</p>"), "<svg><rect/></svg><p><dfn>LFB</dfn></p>");
    }

    #[test]
    fn words_are_defined_where_they_stand_alone() {
        assert_eq!(marked("<b>red</b><dt>red</dt>"), "<b><dfn>red</dfn></b><dt><dfn>red</dfn></dt>");
        assert_eq!(marked("<p>red</p><b>red light</b>"), "<p>red</p><b>red light</b>");
    }
}
