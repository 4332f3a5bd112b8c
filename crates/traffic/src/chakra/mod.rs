//! Execution traces of MLCommons Chakra: the computation and communication of a rank of a training job, as a graph.
//!
//! A file is a list of messages, each preceded by its length: `GlobalMetadata`, then a `Node` for every operation of
//! the rank (`et_def.proto` of Chakra). The same messages may be given as JSON. Fields that are not needed here are
//! skipped.

mod groups;
mod json;
mod messages;
mod nodes;
#[cfg(test)]
mod tests;
mod write;

pub use nodes::{Collective, Node, NodeAction, Trace};
pub use write::{TraceReader, TraceWriter, DURATION_MAX_PS};

use crate::decoded;
use hostnet_files::UserFile;
use messages::{Attribute, Messages, Metadata, RawNode};
use prost::Message;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

/// Largest number of nodes of a file.
pub const NODES_MAX: usize = 1 << 20;
/// Largest number of dependencies of all nodes of a file.
pub const DEPENDENCIES_MAX: usize = 1 << 24;
/// Largest number of group names of a file.
const GROUPS_MAX: usize = 1 << 16;
/// Largest length of a group name, in bytes.
const GROUP_NAME_MAX: usize = 128;
/// Longest computation of a node, in us.
const MICROS_MAX: u64 = 1_000_000_000;
/// Largest size of a message or a collective, in bytes.
pub const BYTES_MAX: u64 = 1_000_000_000_000_000;
const PS_PER_US: u64 = 1_000_000;

const METADATA: i32 = 1;
const COMPUTE: i32 = 4;
const SEND: i32 = 5;
const RECEIVE: i32 = 6;
const COLLECTIVE: i32 = 7;

/// The first error in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChakraError(String);

impl fmt::Display for ChakraError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ChakraError {}

fn at(offset: u64, fault: impl fmt::Display) -> ChakraError {
    ChakraError(format!("at byte {offset}: {fault}"))
}

fn of(id: u64, fault: impl fmt::Display) -> ChakraError {
    ChakraError(format!("node {id}: {fault}"))
}

impl RawNode {
    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attr.iter().find(|attribute| attribute.name == name.as_bytes())
    }

    /// Returns the whole number of an attribute, or `None` without that attribute. Fails if the number exceeds
    /// `most`.
    fn number(&self, name: &str, most: u64) -> Result<Option<u64>, ChakraError> {
        let Some(attribute) = self.attribute(name) else { return Ok(None) };
        let value = attribute.number().ok_or_else(|| of(self.id, format!("attribute {name} is no whole number")))?;
        let found = u64::try_from(value).ok().filter(|&value| value <= most).ok_or_else(|| {
            of(self.id, format!("attribute {name} is {value}, which is out of range; 0 to {most} is allowed"))
        });
        found.map(Some)
    }

    /// Like [`Self::number`], but fails if the attribute is missing.
    fn needed(&self, name: &str, most: u64) -> Result<u64, ChakraError> {
        self.number(name, most)?.ok_or_else(|| of(self.id, format!("attribute {name} is missing")))
    }

    /// Returns true for the call of a communication on the processor, which PyTorch records in addition to the
    /// communication itself. It does not describe the communication.
    fn is_call(&self) -> bool {
        let communicates = |attribute: &Attribute| attribute.name.starts_with(b"comm_");
        self.is_host() && !self.attr.iter().any(communicates)
    }

    fn is_host(&self) -> bool {
        self.attribute("is_cpu_op").is_some_and(Attribute::is_true)
    }

    /// Returns the name of the group that takes part in a collective; empty for all ranks.
    fn group(&self) -> Result<String, ChakraError> {
        // Without a name all ranks take part, which is right only if no axis of the network is left out.
        let Some(attribute) = self.attribute("pg_name") else { return self.all_dimensions().map(|()| String::new()) };
        let name = match (&attribute.text, attribute.number()) {
            (Some(text), _) => String::from_utf8(text.clone()).ok(),
            // A name may also be a number, which is taken as its digits.
            (None, number) => number.map(|number| number.to_string()),
        };
        name.filter(|name| name.len() <= GROUP_NAME_MAX)
            .ok_or_else(|| of(self.id, format!("attribute pg_name is no text of up to {GROUP_NAME_MAX} bytes")))
    }

    /// Checks that all network dimensions are involved, because without the name of a group all ranks take part.
    fn all_dimensions(&self) -> Result<(), ChakraError> {
        let axes = self.attribute("involved_dim").and_then(|attribute| attribute.truths.as_ref());
        if axes.is_some_and(|axes| axes.values.contains(&false)) {
            let fault = "attribute involved_dim leaves out axes of a network, and networks have none here; name the \
                         group of its ranks with pg_name";
            return Err(of(self.id, fault));
        }
        Ok(())
    }

    fn compute(&self) -> Result<NodeAction, ChakraError> {
        if self.duration_micros > MICROS_MAX {
            let fault = format!("duration_micros is {}; at most {MICROS_MAX} is allowed", self.duration_micros);
            return Err(of(self.id, fault));
        }
        // The product fits: MICROS_MAX bounds the duration.
        match (self.duration_micros * PS_PER_US, self.is_host()) {
            (0, true) => Ok(NodeAction::Nothing),
            (ps, true) => Ok(NodeAction::Host(ps)),
            // Only a work without a duration needs its operations and bytes (docs/chakra.md, Computing).
            (0, false) => {
                let amount = |name| self.number(name, u64::MAX).map(|amount| amount.unwrap_or(0));
                let (ops, bytes) = (amount("num_ops")?, amount("tensor_size")?);
                Ok(if ops == 0 && bytes == 0 { NodeAction::Nothing } else { NodeAction::Work { ops, bytes } })
            }
            (ps, false) => Ok(NodeAction::Compute(ps)),
        }
    }

    /// Returns the action of the node. `place` maps the name of a group to its index.
    fn act(&self, place: impl FnOnce(String) -> Option<u32>) -> Result<NodeAction, ChakraError> {
        let rank = |name| self.needed(name, u64::from(u32::MAX)).map(|rank| rank as u32);
        let bytes = || self.needed("comm_size", BYTES_MAX);
        let tag = || self.number("comm_tag", u64::MAX).map(|tag| tag.unwrap_or(0));
        match self.kind {
            // Chakra uses INVALID_NODE for nodes that only others depend on; it takes no time.
            0 | METADATA => Ok(NodeAction::Nothing),
            2..=COMPUTE => self.compute(),
            // Checked before the messages: a call has no ranks and no bytes, and would be refused.
            SEND | RECEIVE | COLLECTIVE if self.is_call() => self.compute(),
            SEND => Ok(NodeAction::Send { to: rank("comm_dst")?, bytes: bytes()?, tag: tag()? }),
            RECEIVE => Ok(NodeAction::Receive { from: rank("comm_src")?, bytes: bytes()?, tag: tag()? }),
            COLLECTIVE => {
                let number = self.needed("comm_type", i64::MAX as u64)?;
                let Some(kind) = Collective::numbered(number) else {
                    let fault = format!("comm_type {number} is not known; known are {}", Collective::known());
                    return Err(of(self.id, fault));
                };
                // A barrier carries no data; its size in the file has no meaning.
                let bytes = if kind == Collective::Barrier { 1 } else { bytes()? };
                let group = place(self.group()?)
                    .ok_or_else(|| of(self.id, format!("more than {GROUPS_MAX} groups of ranks in a file")))?;
                Ok(NodeAction::Collective { kind, bytes, group })
            }
            other => Err(of(
                self.id,
                format!(
                    "type {other} is not known; known are 0 (INVALID_NODE), 1 (METADATA_NODE), 2 (MEM_LOAD_NODE), 3 \
                     (MEM_STORE_NODE), 4 (COMP_NODE), 5 (COMM_SEND_NODE), 6 (COMM_RECV_NODE) and 7 (COMM_COLL_NODE)"
                ),
            )),
        }
    }
}

/// Reads the trace in a file, which may be compressed with gzip, xz or zstd.
///
/// # Errors
/// Returns the first error in the file, with its byte or its node.
pub fn read(file: &Path) -> Result<Trace, ChakraError> {
    let wrong = |error: std::io::Error| ChakraError(error.to_string());
    let opened = UserFile::open_regular(file).map_err(wrong)?;
    read_from(BufReader::new(decoded(BufReader::new(opened)).map_err(wrong)?))
}

/// Like [`read`], but reads from any uncompressed source.
///
/// # Errors
/// Returns the same errors as [`read`].
pub fn read_from(mut from: impl Read) -> Result<Trace, ChakraError> {
    /// Number of bytes in which JSON is recognized.
    const HEAD_BYTES: u64 = 64;
    let mut head = Vec::new();
    from.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(|error| at(0, error))?;
    let json = json::is_json(&head);
    // What was read to recognise the format is read again.
    let whole = Cursor::new(head).chain(from);
    if json {
        collect(json::nodes(BufReader::new(whole))?)
    } else {
        collect(encoded(whole)?)
    }
}

/// Returns the nodes of a file of protobuf messages, each with its first byte.
fn encoded(from: impl Read) -> Result<impl Iterator<Item = Result<(u64, RawNode), ChakraError>>, ChakraError> {
    let mut messages = Messages::new(from);
    if !messages.next()? {
        return Err(ChakraError("is empty".to_owned()));
    }
    Metadata::decode(&messages.message[..]).map_err(|error| {
        at(0, format!("no GlobalMetadata, with which files begin since version 0.0.4 of Chakra: {error}"))
    })?;
    Ok(std::iter::from_fn(move || {
        let begin = messages.offset;
        match messages.next() {
            Ok(false) => None,
            Ok(true) => {
                let raw = RawNode::decode(&messages.message[..]);
                Some(raw.map(|raw| (begin, raw)).map_err(|error| at(begin, format!("no Node: {error}"))))
            }
            Err(error) => Some(Err(error)),
        }
    }))
}

/// Builds a trace from nodes, each with its place in the file.
fn collect(found: impl Iterator<Item = Result<(u64, RawNode), ChakraError>>) -> Result<Trace, ChakraError> {
    let mut places = BTreeMap::new();
    let (mut acts, mut dependencies) = (Vec::new(), Vec::new());
    let mut groups = groups::Groups::default();
    let mut total = 0;
    for raw in found {
        let (begin, raw) = raw?;
        // Dependencies name ids, so an id must be unique.
        if places.insert(raw.id, acts.len() as u32).is_some() {
            return Err(at(begin, format!("node {} is there twice", raw.id)));
        }
        if acts.len() == NODES_MAX {
            return Err(at(begin, format!("more than {NODES_MAX} nodes")));
        }
        total += raw.ctrl_deps.len() + raw.data_deps.len();
        if total > DEPENDENCIES_MAX {
            return Err(at(begin, format!("more than {DEPENDENCIES_MAX} dependencies")));
        }
        // Only nodes of metadata describe groups: the text of others is not searched.
        if raw.kind == METADATA {
            groups.learn(&raw)?;
        }
        acts.push((raw.id, raw.act(|name| groups.place(name))?));
        dependencies.push((raw.ctrl_deps, raw.data_deps));
    }
    let node = |((id, act), (calls, data)): ((u64, NodeAction), (Vec<u64>, Vec<u64>))| {
        let place = |other: &u64| {
            places.get(other).copied().ok_or_else(|| of(id, format!("waits for node {other}, which is not there")))
        };
        // All nodes are known now: a file may name nodes that come later.
        let mut after = data.iter().map(place).collect::<Result<Vec<u32>, _>>()?;
        // Chakra's converter drops nodes whose data is unused, but keeps control dependencies on them: skip these.
        after.extend(calls.iter().filter_map(|other| places.get(other)));
        // Ascending and each once: a data and a control dependency may name the same node.
        after.sort_unstable();
        after.dedup();
        Ok(Node { id, act, after })
    };
    let nodes = acts.into_iter().zip(dependencies).map(node).collect::<Result<_, _>>()?;
    Ok(Trace { nodes, groups: groups.names(), members: groups.members })
}
