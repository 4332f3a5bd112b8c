//! What can be wrong with a network or its traffic.

use std::fmt;

/// Why a network cannot be built or its traffic not be sent: what, with its value, and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct NocError {
    /// What it is about: `columns`, `vcs`, `pattern`, ...
    pub field: &'static str,
    /// Value and rule.
    pub message: String,
}

impl NocError {
    /// An error about a field.
    #[must_use]
    pub fn new(field: &'static str, message: impl fmt::Display) -> Self {
        Self { field, message: message.to_string() }
    }
}
