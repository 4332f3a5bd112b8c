//! Switches and cables by name, before their ends are looked up.

use hostnet_params::CableSpec;

/// Maximum number of switches.
pub(super) const SWITCHES_MAX: usize = 16384;
/// Maximum number of cables.
pub(super) const CABLES_MAX: usize = 65536;

/// A cable with its path in the document.
pub(super) struct NamedCable {
    pub(super) path: String,
    pub(super) ends: [String; 2],
    pub(super) spec: CableSpec,
    /// Length in hops for the search for shortest paths.
    pub(super) length: u32,
}

/// Switches and cables of a document, or of its topology.
pub(super) struct NamedNetwork {
    /// Names of the switches in order, with the name of their group of similar switches.
    pub(super) switches: Vec<(String, Option<&'static str>)>,
    pub(super) cables: Vec<NamedCable>,
}
