//! The user's input and its locations.

use super::change::{stack, Below};
use crate::check::{check, missing};
use crate::code::Code;
use crate::document::{parse_json, parse_toml, Document, Format, TextPlace};
use crate::error::{ConfigError, Issue};
use crate::layers::{at, expand, leaves, replacements, Override};
use crate::plan::Input;
use crate::presets::PartFile;
use serde_json::Value;

/// The user's input and its locations.
pub(super) struct Source<'a> {
    file: &'a str,
    /// Schema of the document.
    schema: &'static Value,
    document: Document,
    overrides: Vec<Override>,
    /// The document with the overrides applied.
    pub(super) merged: Value,
    /// Dotted paths of all values in the document and the overrides.
    pub(super) given: Vec<String>,
    /// Values of the document that an override removes without naming them.
    pub(super) dropped: Vec<String>,
    below: Below,
}

impl<'a> Source<'a> {
    /// Reads and checks a document; `below` gives the tables that lie below the document.
    pub(super) fn read(input: &Input<'a>, schema: &'static Value, below: Below) -> Result<Self, ConfigError> {
        let document = match input.format {
            Format::Toml => parse_toml(input.text),
            Format::Json => parse_json(input.text),
        };
        let document = document.map_err(|error| error.in_file(input.file))?;
        let overrides = input.overrides.iter().map(|text| Override::parse(text));
        let overrides = overrides.collect::<Result<Vec<_>, _>>()?;
        let mut source = Source {
            file: input.file,
            schema,
            document,
            overrides: vec![],
            merged: Value::Null,
            given: vec![],
            dropped: vec![],
            below,
        };
        source.settle(overrides).map_err(|issue| source.locate(issue))?;
        Ok(source)
    }

    /// Checks and merges the layers. The document is checked alone first, so that its errors are not attributed to an
    /// override.
    fn settle(&mut self, overrides: Vec<Override>) -> Result<(), Issue> {
        check(self.schema, &self.document.tree, "")?;
        self.given = leaves(&self.document.tree);
        self.given.extend(overrides.iter().flat_map(|setting| leaves(&setting.tree)));
        self.given.sort();
        self.given.dedup();
        self.overrides = overrides;
        self.check_empty_tables()?;
        // Shorthands would hide the key that the user wrote, so layers are checked unexpanded first.
        let (plain, _) = self.layered(|_| Ok(()))?;
        check(self.schema, &plain, "")?;
        (self.merged, self.dropped) = self.layered(expand)?;
        Ok(())
    }

    /// Checks that no override is an empty table where the document has keys, as such an override would change
    /// nothing.
    fn check_empty_tables(&self) -> Result<(), Issue> {
        for setting in self.overrides.iter().filter(|setting| leaves(&setting.tree).is_empty()) {
            let keys: Vec<&str> = setting.path.split('.').collect();
            if at(&self.document.tree, &keys).and_then(Value::as_object).is_some_and(|table| !table.is_empty()) {
                let message = "an empty table takes nothing away: tables are merged key by key; set single keys, \
                               or take the table out of the file";
                return Err(Issue::new(Code::NoEffect, &setting.path, message));
            }
        }
        Ok(())
    }

    /// Returns the document with the overrides applied, each prepared by `prepare`, and the paths that they remove.
    fn layered(&self, prepare: impl Fn(&mut Value) -> Result<(), Issue>) -> Result<(Value, Vec<String>), Issue> {
        let mut dropped = Vec::new();
        let mut merged = self.document.tree.clone();
        // Each layer is expanded before the merge, so that the last of shorthand and long form wins.
        prepare(&mut merged)?;
        for setting in &self.overrides {
            let mut layer = setting.tree.clone();
            prepare(&mut layer)?;
            dropped.extend(replacements(&merged, &layer));
            dropped.extend(stack(&mut merged, &layer, self.below));
        }
        Ok((merged, dropped))
    }

    /// Checks that an override does not choose a preset for a configuration that takes no value from it.
    pub(super) fn check_preset(&self) -> Result<(), Issue> {
        if preset_of(&self.merged) == preset_of(&self.document.tree) {
            return Ok(());
        }
        match missing(self.schema, &self.document.tree, "") {
            Some(_) => Ok(()),
            None => Err(Issue::new(
                Code::NoEffect,
                "server.preset",
                "has no effect: the configuration gives every value itself",
            )),
        }
    }

    /// Converts an issue to an error with the place of the user's value.
    pub(super) fn locate(&self, issue: Issue) -> ConfigError {
        let Issue { code, paths, message, elsewhere } = issue;
        // An override is the likelier mistake, as the file may have been valid before.
        let overridden = paths.iter().find(|path| self.overriding(path).is_some());
        let given = overridden.or_else(|| paths.iter().find(|path| self.origin(path).is_some()));
        let path = given.or(paths.first()).cloned().unwrap_or_default();
        let (file, line, column) = match elsewhere {
            Some((file, line)) => (file, line, None),
            None => {
                let (file, place) = self.origin(&path).unwrap_or_else(|| (self.file.to_string(), None));
                (file, place.map(|place| place.line), place.map(|place| place.column))
            }
        };
        ConfigError { code, file, line, column, path, message }
    }

    /// Returns true if the user's input has one of the paths of an issue.
    pub(super) fn wrote(&self, issue: &Issue) -> bool {
        issue.paths.iter().any(|path| self.origin(path).is_some())
    }

    /// Attributes an issue about values that the user did not write here to the file that gave them, if there is one.
    pub(super) fn claim(&self, issue: Issue, files: &[PartFile]) -> Issue {
        if self.wrote(&issue) || issue.elsewhere.is_some() {
            return issue;
        }
        files.iter().fold(issue, |issue, file| file.claim(issue))
    }

    fn overriding(&self, path: &str) -> Option<&Override> {
        self.overrides.iter().rev().find(|setting| covers(&setting.path, path) || covers(path, &setting.path))
    }

    fn origin(&self, path: &str) -> Option<(String, Option<TextPlace>)> {
        if let Some(setting) = self.overriding(path) {
            return Some((setting.shown(), None));
        }
        if let Some(place) = self.document.places.get(path.split('[').next().unwrap_or(path)) {
            return Some((self.file.to_string(), Some(*place)));
        }
        self.given.iter().any(|given| covers(path, given)).then(|| (self.file.to_string(), None))
    }
}

/// Returns the preset that a configuration names.
pub(super) fn preset_of(tree: &Value) -> Option<&str> {
    at(tree, &["server", "preset"]).and_then(Value::as_str)
}

/// Returns true if `path` is `table` or is inside it.
fn covers(table: &str, path: &str) -> bool {
    path.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
