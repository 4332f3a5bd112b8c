//! Nodes of different ranks that belong together: collectives, and messages with their receivers.

use hostnet_traffic::chakra::Collective;
use std::collections::BTreeMap;

/// A collective: its group, kind and bytes, and for each rank of the group the place of its node.
pub(super) struct Joint {
    pub(super) group: u32,
    pub(super) kind: Collective,
    pub(super) bytes: u64,
    pub(super) places: Vec<u32>,
}

/// Nodes of different ranks that belong together.
#[derive(Default)]
pub(super) struct Matched {
    /// Ranks of each group.
    pub(super) groups: Vec<Vec<u32>>,
    /// Collectives, in an order in which each rank can execute those of each group.
    pub(super) joint: Vec<Joint>,
    /// Number of the message of each node that sends or receives, by rank and place.
    pub(super) messages: BTreeMap<(u32, u32), u32>,
}
