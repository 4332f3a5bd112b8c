//! Groups of ranks that a file names, and the members that it lists for some of them.

use super::messages::RawNode;
use super::{of, ChakraError, GROUPS_MAX, GROUP_NAME_MAX};
use std::collections::BTreeMap;
use std::str::from_utf8;

/// Largest number of members of all groups of a file together.
const MEMBERS_MAX: usize = 1 << 22;
/// Part of the name of the nodes in which PyTorch describes its groups.
const DESCRIPTION: &[u8] = b"process_group:init";

#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Index of each group by its name.
    places: BTreeMap<String, u32>,
    /// Ranks of the groups whose members the file lists.
    pub(super) members: BTreeMap<String, Vec<u32>>,
    /// Number of groups and members read so far, which [`MEMBERS_MAX`] bounds.
    counted: usize,
}

impl Groups {
    /// Returns the index of a group name, which is added if it is new. Returns `None` if there are too many groups.
    pub(super) fn place(&mut self, name: String) -> Option<u32> {
        let next = self.places.len();
        match self.places.get(&name) {
            Some(&place) => Some(place),
            // Known names are found even when the list is full: only a new one has no place.
            None if next == GROUPS_MAX => None,
            None => Some(*self.places.entry(name).or_insert(next as u32)),
        }
    }

    /// Returns the names in the order of their indices.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.places.len()];
        for (name, &place) in &self.places {
            names[place as usize].clone_from(name);
        }
        names
    }

    /// Reads the groups that a node describes. Its input is a list of one string, the JSON of all groups of PyTorch.
    pub(super) fn learn(&mut self, node: &RawNode) -> Result<(), ChakraError> {
        let described = node.name.windows(DESCRIPTION.len()).any(|part| part == DESCRIPTION);
        let Some(inputs) = node.inputs.as_ref().filter(|inputs| described && !inputs.values.is_empty()) else {
            return Ok(());
        };
        let wrong = |fault: &str| of(node.id, format!("describes groups of ranks, and {fault}"));
        let text = from_utf8(&inputs.values).map_err(|_| wrong("is no text"))?;
        let mut rest = text;
        while let Some(found) = next_group(&mut rest).map_err(|fault| wrong(&fault))? {
            let (name, ranks) = found;
            // The group itself counts too, or endless groups without members would pass the limit.
            self.counted += ranks.len() + 1;
            if self.counted > MEMBERS_MAX {
                return Err(wrong(&format!("has more than {MEMBERS_MAX} members of them")));
            }
            self.members.insert(name, ranks);
        }
        Ok(())
    }
}

/// Finds the next object of a text that has the name of a group. Returns the name and the ranks.
fn next_group(rest: &mut &str) -> Result<Option<(String, Vec<u32>)>, String> {
    const NAME: &str = "\"pg_name\"";
    const RANKS: &str = "\"ranks\"";
    let Some(begin) = rest.find(NAME) else { return Ok(None) };
    let after = &rest[begin + NAME.len()..];
    // Objects are cut at the next name: PyTorch writes them without nesting, so no parser of JSON is needed.
    let end = after.find(NAME).unwrap_or(after.len());
    let object = &after[..end];
    *rest = &after[end..];
    let name = value(object).and_then(|value| {
        let text = value.strip_prefix('"')?;
        text.find('"').map(|end| &text[..end]).filter(|name| name.len() <= GROUP_NAME_MAX)
    });
    let name = name.ok_or_else(|| format!("the name of one is no text of up to {GROUP_NAME_MAX} bytes"))?;
    let ranks = object.find(RANKS).and_then(|begin| value(&object[begin + RANKS.len()..]));
    let ranks = ranks.and_then(|list| list.strip_prefix('[')).and_then(|list| list.split_once(']')).map(|list| list.0);
    let parsed = ranks.map(|list| {
        let numbers = list.split(',').map(str::trim).filter(|number| !number.is_empty());
        numbers.map(str::parse).collect::<Result<Vec<u32>, _>>()
    });
    match parsed {
        Some(Ok(ranks)) => Ok(Some((name.to_owned(), ranks))),
        _ => Err(format!("those of \"{name}\" are no list of numbers")),
    }
}

/// Returns the text after the colon that follows a key.
fn value(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix(':').map(str::trim_start)
}
