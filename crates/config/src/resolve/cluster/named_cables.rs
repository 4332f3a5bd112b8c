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
    /// True if the cable belongs to a scale-up fabric inside a server.
    pub(super) scale_up: bool,
}

impl NamedCable {
    /// Returns a cable of one hop outside of servers.
    pub(super) fn new(path: String, ends: [String; 2], spec: CableSpec) -> Self {
        Self { path, ends, spec, length: 1, scale_up: false }
    }
}

/// Switches and cables of a document, or of its topology.
pub(super) struct NamedNetwork {
    /// Names of the switches in order, with the name of their group of similar switches.
    pub(super) switches: Vec<(String, Option<&'static str>)>,
    pub(super) cables: Vec<NamedCable>,
    /// Number of the first ports of each host by which packets come in that it forwards; 0 if hosts forward none.
    pub(super) forwarding_ports: u16,
}

impl NamedNetwork {
    /// Returns a network whose hosts do not forward packets.
    pub(super) fn new(switches: Vec<(String, Option<&'static str>)>, cables: Vec<NamedCable>) -> Self {
        Self { switches, cables, forwarding_ports: 0 }
    }
}
