//! Writes traces.

use super::messages::{Attribute, Inputs, Metadata, RawNode};
use super::{NodeAction, COLLECTIVE, COMPUTE, METADATA, MICROS_MAX, PS_PER_US, RECEIVE, SEND};
use prost::Message;
use std::collections::BTreeMap;

/// Longest computation of a node, in ps.
pub const DURATION_MAX_PS: u64 = MICROS_MAX * PS_PER_US;

/// Version of the file format that the reader of Chakra expects.
const VERSION: &str = "0.0.4";

/// Program that is to read a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceReader {
    /// One that follows the format of Chakra, as hostnet does.
    #[default]
    Chakra,
    /// ASTRA-sim, which aborts at its statistics if a computation is one of the processor and if there are messages,
    /// and which reads groups from a file of their own.
    AstraSim,
}

/// Writes the trace of a rank, node by node. Attributes have the types that the generators of Chakra use.
#[derive(Debug)]
pub struct TraceWriter {
    rank: u32,
    reader: TraceReader,
    content: Vec<u8>,
    nodes: u64,
    /// Names of the groups by their indices; all ranks take part in collectives of others.
    groups: Vec<String>,
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
    pub fn new(rank: u32, reader: TraceReader) -> Self {
        let content = Metadata { version: VERSION.to_owned() }.encode_length_delimited_to_vec();
        Self { rank, reader, content, nodes: 0, groups: Vec::new() }
    }

    /// Adds the groups of the rank, by their indices, and describes their members as PyTorch does.
    #[must_use]
    pub fn with_groups(mut self, groups: Vec<String>, members: &BTreeMap<String, Vec<u32>>) -> Self {
        self.groups = groups;
        if self.reader == TraceReader::Chakra && !members.is_empty() {
            let all = members.iter().map(|(name, ranks)| format!("{{\"pg_name\": \"{name}\", \"ranks\": {ranks:?}}}"));
            let values = format!("[{}]", all.collect::<Vec<_>>().join(", ")).into_bytes();
            self.push(RawNode {
                name: b"## process_group:init ##".to_vec(),
                kind: METADATA,
                inputs: Some(Inputs { values }),
                ..RawNode::default()
            });
        }
        self
    }

    /// Adds a node with the next number, which is returned.
    fn push(&mut self, node: RawNode) -> u64 {
        let id = self.nodes;
        self.content.extend(RawNode { id, ..node }.encode_length_delimited_to_vec());
        self.nodes += 1;
        id
    }

    /// Adds a node that depends on the nodes `after`, and returns its number.
    ///
    /// Times are truncated to whole microseconds, of up to [`DURATION_MAX_PS`]. Tags have 31 bits.
    pub fn node(&mut self, name: &str, act: NodeAction, after: &[u64]) -> u64 {
        let (kind, ps, more) = match act {
            // Metadata is the node type that takes no time.
            NodeAction::Nothing => (METADATA, 0, Vec::new()),
            NodeAction::Compute(ps) | NodeAction::Host(ps) => (COMPUTE, ps, Vec::new()),
            NodeAction::Work { ops, bytes } => (COMPUTE, 0, vec![wide("num_ops", ops), wide("tensor_size", bytes)]),
            NodeAction::Send { to, bytes, tag } => (SEND, 0, message(self.rank, to, bytes, tag)),
            NodeAction::Receive { from, bytes, tag } => (RECEIVE, 0, message(from, self.rank, bytes, tag)),
            NodeAction::Collective { kind, bytes, group } => {
                let name = self.groups.get(group as usize).filter(|name| !name.is_empty());
                let named =
                    name.map(|name| Attribute { text: Some(name.clone().into_bytes()), ..attribute("pg_name") });
                let what = [wide("comm_type", kind.number() as u64), wide("comm_size", bytes)];
                (COLLECTIVE, 0, what.into_iter().chain(named).collect())
            }
        };
        let is_host = matches!(act, NodeAction::Host(_)) && self.reader == TraceReader::Chakra;
        let is_host = Attribute { truth: Some(is_host), ..attribute("is_cpu_op") };
        self.push(RawNode {
            name: name.as_bytes().to_vec(),
            kind,
            data_deps: after.to_vec(),
            duration_micros: ps / PS_PER_US,
            attr: std::iter::once(is_host).chain(more).collect(),
            ..RawNode::default()
        })
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
