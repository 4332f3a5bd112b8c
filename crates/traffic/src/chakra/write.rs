//! Writes traces.

use super::messages::{Attribute, Metadata, RawNode};
use super::{NodeAction, COLLECTIVE, COMPUTE, METADATA, MICROS_MAX, PS_PER_US, RECEIVE, SEND};
use prost::Message;

/// Longest computation of a node, in ps.
pub const DURATION_MAX_PS: u64 = MICROS_MAX * PS_PER_US;

/// Version of the file format that the reader of Chakra expects.
const VERSION: &str = "0.0.4";

/// Writes the trace of a rank, node by node. Attributes have the types that the generators of Chakra use.
#[derive(Debug)]
pub struct TraceWriter {
    rank: u32,
    content: Vec<u8>,
    nodes: u64,
}

fn attribute(name: &str) -> Attribute {
    Attribute { name: name.as_bytes().to_vec(), ..Attribute::default() }
}

/// A number of 64 bits, for sizes and kinds.
fn wide(name: &str, value: u64) -> Attribute {
    Attribute { int64: Some(i64::try_from(value).unwrap_or(i64::MAX)), ..attribute(name) }
}

/// A number of 32 bits, for ranks and tags.
fn small(name: &str, value: u64) -> Attribute {
    // 31 bits: the generators of Chakra write ranks and tags as int32.
    Attribute { int32: Some((value & i32::MAX as u64) as i32), ..attribute(name) }
}

impl TraceWriter {
    /// Begins the trace of a rank.
    #[must_use]
    pub fn new(rank: u32) -> Self {
        let content = Metadata { version: VERSION.to_owned() }.encode_length_delimited_to_vec();
        Self { rank, content, nodes: 0 }
    }

    /// Adds a node that depends on the nodes `after`, and returns its number.
    ///
    /// Times are truncated to whole microseconds, of up to [`DURATION_MAX_PS`]. Tags have 31 bits. Collectives are
    /// written as those of all ranks.
    pub fn node(&mut self, name: &str, act: NodeAction, after: &[u64]) -> u64 {
        let (kind, ps, more) = match act {
            // Metadata is the node type that takes no time.
            NodeAction::Nothing => (METADATA, 0, Vec::new()),
            NodeAction::Compute(ps) | NodeAction::Host(ps) => (COMPUTE, ps, Vec::new()),
            NodeAction::Work { ops, bytes } => (COMPUTE, 0, vec![wide("num_ops", ops), wide("tensor_size", bytes)]),
            NodeAction::Send { to, bytes, tag } => (SEND, 0, message(self.rank, to, bytes, tag)),
            NodeAction::Receive { from, bytes, tag } => (RECEIVE, 0, message(from, self.rank, bytes, tag)),
            NodeAction::Collective { kind, bytes, .. } => {
                (COLLECTIVE, 0, vec![wide("comm_type", kind.number() as u64), wide("comm_size", bytes)])
            }
        };
        let is_host = Attribute { truth: Some(matches!(act, NodeAction::Host(_))), ..attribute("is_cpu_op") };
        let id = self.nodes;
        let node = RawNode {
            id,
            name: name.as_bytes().to_vec(),
            kind,
            data_deps: after.to_vec(),
            duration_micros: ps / PS_PER_US,
            attr: std::iter::once(is_host).chain(more).collect(),
            ..RawNode::default()
        };
        self.content.extend(node.encode_length_delimited_to_vec());
        self.nodes += 1;
        id
    }

    /// Returns the number of nodes so far.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Returns the content of the file.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.content
    }
}

fn message(from: u32, to: u32, bytes: u64, tag: u64) -> Vec<Attribute> {
    let rank = |name, rank| small(name, u64::from(rank));
    vec![wide("comm_size", bytes), rank("comm_src", from), rank("comm_dst", to), small("comm_tag", tag)]
}
