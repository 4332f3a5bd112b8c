//! Information that rules need beside the specification of a server.

use std::path::Path;

/// Information beside the specification that the rules need.
pub(super) struct Context<'a> {
    /// Folder that relative paths of other files start at.
    pub(super) base_dir: &'a Path,
    /// Dotted paths of the keys that the user set.
    pub(super) given: &'a [String],
    /// Minimum number of workloads.
    pub(super) workloads_min: usize,
}

impl Context<'_> {
    /// Returns true if the user set the key at `path`.
    pub(super) fn is_given(&self, path: &str) -> bool {
        self.given.iter().any(|given| given == path)
    }
}
