//! Errors in the description of a network or of its traffic.

use std::fmt;

/// Error in the description of a network or of its traffic, with the field, its value and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct NocError {
    /// Field that is wrong: `columns`, `vcs`, `pattern`, ...
    pub field: &'static str,
    /// Value of the field, and the rule.
    pub message: String,
}

impl NocError {
    /// Creates an error about a field.
    #[must_use]
    pub fn new(field: &'static str, message: impl fmt::Display) -> Self {
        Self { field, message: message.to_string() }
    }
}
