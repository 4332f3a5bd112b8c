//! Reading execution traces of MLCommons Chakra: what a rank of a training job computes and communicates, as a graph.
//!
//! A file is a list of messages, each with its length before it: `GlobalMetadata` first, then a `Node` for everything
//! that the rank does (`et_def.proto` of Chakra). Fields that are not needed here are skipped.

mod messages;

use messages::{Messages, Metadata, RawNode};
use prost::Message;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Nodes of a file at most.
pub const NODES_MAX: usize = 1 << 20;
/// Dependencies of all its nodes at most.
pub const DEPENDENCIES_MAX: usize = 1 << 24;
/// The longest that a node computes, in us.
const MICROS_MAX: u64 = 1_000_000_000;
/// The most that a node sends, in bytes.
const BYTES_MAX: u64 = 1_000_000_000_000_000;
const PS_PER_US: u64 = 1_000_000;

/// A collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Collective {
    /// A vector of every rank is summed up, and every rank gets the sum.
    AllReduce,
    /// The same, and rank 0 gets the sum.
    Reduce,
    /// Every rank gets what all others have.
    AllGather,
    /// Every rank gets what rank 0 has.
    Broadcast,
    /// Every rank sends something else to every other one.
    AllToAll,
    /// A vector of every rank is summed up, and every rank gets a part of the sum.
    ReduceScatter,
    /// No rank goes on before all have come.
    Barrier,
}

impl Collective {
    /// Those that are known, with their numbers and names in files.
    const ALL: [(i64, Self, &'static str); 7] = [
        (0, Self::AllReduce, "ALL_REDUCE"),
        (1, Self::Reduce, "REDUCE"),
        (2, Self::AllGather, "ALL_GATHER"),
        (5, Self::Broadcast, "BROADCAST"),
        (6, Self::AllToAll, "ALL_TO_ALL"),
        (7, Self::ReduceScatter, "REDUCE_SCATTER"),
        (9, Self::Barrier, "BARRIER"),
    ];

    /// Its name in Chakra.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one, _)| *one == self).map_or("", |(.., name)| name)
    }
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Nothing that takes time.
    Nothing,
    /// It computes so long, in ps.
    Compute(u64),
    /// It sends bytes to a rank.
    Send {
        /// The rank.
        to: u32,
        /// Bytes.
        bytes: u64,
    },
    /// It receives bytes from a rank.
    Receive {
        /// The rank.
        from: u32,
        /// Bytes.
        bytes: u64,
    },
    /// It takes part in a collective of all ranks.
    Collective {
        /// Which.
        kind: Collective,
        /// Bytes, as the trace counts them.
        bytes: u64,
    },
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number in the file.
    pub id: u64,
    /// What it does.
    pub act: Act,
    /// The nodes that come before it, by their places in the list, in ascending order.
    pub after: Vec<u32>,
}

/// The first thing found wrong in a trace.
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
    /// A whole number that an attribute has.
    fn number(&self, name: &str, most: u64) -> Result<u64, ChakraError> {
        let Some(attribute) = self.attr.iter().find(|attribute| attribute.name == name) else {
            return Err(of(self.id, format!("attribute {name} is missing")));
        };
        let value = attribute.number().ok_or_else(|| of(self.id, format!("attribute {name} is no whole number")))?;
        u64::try_from(value).ok().filter(|&value| value <= most).ok_or_else(|| {
            of(self.id, format!("attribute {name} is {value}, which is out of range; 0 to {most} is allowed"))
        })
    }

    fn act(&self) -> Result<Act, ChakraError> {
        let rank = |name| self.number(name, u64::from(u32::MAX)).map(|rank| rank as u32);
        let bytes = || self.number("comm_size", BYTES_MAX);
        match self.kind {
            1 => Ok(Act::Nothing),
            2..=4 if self.duration_micros <= MICROS_MAX => Ok(Act::Compute(self.duration_micros * PS_PER_US)),
            2..=4 => {
                let fault = format!("duration_micros is {}; at most {MICROS_MAX} is allowed", self.duration_micros);
                Err(of(self.id, fault))
            }
            5 => Ok(Act::Send { to: rank("comm_dst")?, bytes: bytes()? }),
            6 => Ok(Act::Receive { from: rank("comm_src")?, bytes: bytes()? }),
            7 => {
                let number = self.number("comm_type", i64::MAX as u64)? as i64;
                let Some((_, kind, _)) = Collective::ALL.into_iter().find(|(known, ..)| *known == number) else {
                    let known: Vec<String> =
                        Collective::ALL.iter().map(|(number, _, name)| format!("{number} ({name})")).collect();
                    let fault = format!("comm_type {number} is not known; known are {}", known.join(", "));
                    return Err(of(self.id, fault));
                };
                let bytes = if kind == Collective::Barrier { 1 } else { bytes()? };
                Ok(Act::Collective { kind, bytes })
            }
            other => Err(of(
                self.id,
                format!(
                    "type {other} is not known; known are 1 (METADATA_NODE), 2 (MEM_LOAD_NODE), 3 (MEM_STORE_NODE), 4 \
                     (COMP_NODE), 5 (COMM_SEND_NODE), 6 (COMM_RECV_NODE) and 7 (COMM_COLL_NODE)"
                ),
            )),
        }
    }
}

/// The nodes of a trace, in the order of the file. Every one is after others that are in the list.
///
/// # Errors
/// The first thing that is wrong, with its byte or its node.
pub fn read(file: &Path) -> Result<Vec<Node>, ChakraError> {
    let opened = File::open(file).map_err(|error| ChakraError(error.to_string()))?;
    if !opened.metadata().is_ok_and(|about| about.is_file()) {
        return Err(ChakraError("is not a file".to_owned()));
    }
    read_from(BufReader::new(opened))
}

/// The same from anything.
///
/// # Errors
/// As of [`read`].
pub fn read_from(from: impl Read) -> Result<Vec<Node>, ChakraError> {
    let mut messages = Messages::new(from);
    if !messages.next()? {
        return Err(ChakraError("is empty".to_owned()));
    }
    Metadata::decode(&messages.message[..]).map_err(|error| at(0, format!("no GlobalMetadata: {error}")))?;
    let mut places = BTreeMap::new();
    let (mut acts, mut dependencies) = (Vec::new(), Vec::new());
    let mut total = 0;
    loop {
        let begin = messages.offset;
        if !messages.next()? {
            break;
        }
        let raw = RawNode::decode(&messages.message[..]).map_err(|error| at(begin, format!("no Node: {error}")))?;
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
        acts.push((raw.id, raw.act()?));
        dependencies.push([raw.ctrl_deps, raw.data_deps].concat());
    }
    let node = |((id, act), ids): ((u64, Act), Vec<u64>)| {
        let place = |other: &u64| {
            places.get(other).copied().ok_or_else(|| of(id, format!("waits for node {other}, which is not there")))
        };
        let mut after = ids.iter().map(place).collect::<Result<Vec<u32>, _>>()?;
        after.sort_unstable();
        after.dedup();
        Ok(Node { id, act, after })
    };
    acts.into_iter().zip(dependencies).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::messages::Attribute;
    use super::*;
    use proptest::prelude::*;

    fn number(name: &str, value: u64) -> Attribute {
        Attribute { name: name.to_owned(), uint64: Some(value), ..Attribute::default() }
    }

    fn node(id: u64, kind: i32, after: &[u64], attr: &[(&str, u64)]) -> RawNode {
        let attr = attr.iter().map(|(name, value)| number(name, *value)).collect();
        RawNode { id, kind, data_deps: after.to_vec(), duration_micros: 7, attr, ..RawNode::default() }
    }

    fn file(nodes: &[RawNode]) -> Vec<u8> {
        let mut bytes = Metadata { version: "0.0.4".to_owned() }.encode_length_delimited_to_vec();
        nodes.iter().for_each(|node| bytes.extend(node.encode_length_delimited_to_vec()));
        bytes
    }

    fn fault(bytes: &[u8]) -> String {
        read_from(bytes).expect_err("it is wrong").to_string()
    }

    #[test]
    fn nodes_are_what_the_messages_say() {
        let nodes = [
            node(10, 4, &[], &[]),
            node(11, 7, &[10, 10], &[("comm_type", 0), ("comm_size", 1000)]),
            node(12, 5, &[11], &[("comm_dst", 3), ("comm_size", 5)]),
            node(13, 6, &[10, 11], &[("comm_src", 2), ("comm_size", 6)]),
            node(5, 1, &[13], &[]),
            node(6, 7, &[], &[("comm_type", 9)]),
        ];
        let found = read_from(&file(&nodes)[..]).expect("it is right");
        let acts: Vec<Act> = found.iter().map(|node| node.act).collect();
        let collective = |kind, bytes| Act::Collective { kind, bytes };
        let (to, from) = (3, 2);
        let expected = [
            Act::Compute(7 * PS_PER_US),
            collective(Collective::AllReduce, 1000),
            Act::Send { to, bytes: 5 },
            Act::Receive { from, bytes: 6 },
            Act::Nothing,
            collective(Collective::Barrier, 1),
        ];
        assert_eq!(acts, expected);
        assert_eq!((&found[1].after[..], &found[3].after[..]), (&[0][..], &[0, 1][..]));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let one = node(10, 4, &[], &[]);
        let whole = file(std::slice::from_ref(&one));
        assert_eq!(fault(&[]), "is empty");
        assert_eq!(
            fault(&whole[..whole.len() - 1]),
            format!("at byte {}: the file ends amid a message", whole.len() - 1)
        );
        assert_eq!(
            fault(&[&whole[..], &[0xff]].concat()),
            format!("at byte {}: the file ends amid a message", whole.len() + 1)
        );
        assert!(fault(&[&whole[..], &[0xff; 11]].concat()).contains("more than 10 bytes"));
        assert!(fault(&[&whole[..], &[0xff, 0xff, 0xff, 0x7f]].concat()).contains("at most 1048576 B"));
        assert!(fault(&[&whole[..], &[2, 8]].concat()).contains("the file ends amid a message"));
        assert!(fault(&[&whole[..], &[1, 8]].concat()).contains("no Node"));
        assert!(fault(&file(&[one.clone(), one])).contains("node 10 is there twice"));
        let of = |node: RawNode| fault(&file(&[node]));
        assert_eq!(of(node(1, 4, &[2], &[])), "node 1: waits for node 2, which is not there");
        assert!(of(node(1, 8, &[], &[])).starts_with("node 1: type 8 is not known; known are 1 (METADATA_NODE)"));
        assert_eq!(of(node(1, 7, &[], &[])), "node 1: attribute comm_type is missing");
        assert!(of(node(1, 7, &[], &[("comm_type", 3)])).contains("comm_type 3 is not known; known are 0 (ALL"));
        assert!(of(node(1, 5, &[], &[("comm_dst", 1), ("comm_size", u64::MAX)])).contains("out of range"));
        let text = Attribute { name: "comm_type".to_owned(), ..Attribute::default() };
        assert!(of(RawNode { attr: vec![text], ..node(1, 7, &[], &[]) }).contains("no whole number"));
        assert!(of(RawNode { duration_micros: u64::MAX, ..node(1, 4, &[], &[]) }).contains("at most 1000000000"));
    }

    proptest! {
        #[test]
        fn no_file_is_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..99), at: prop::sample::Index) {
            let _ = read_from(&bytes[..]);
            let mut whole = file(&[node(1, 4, &[], &[]), node(2, 7, &[1], &[("comm_type", 0), ("comm_size", 9)])]);
            let at = at.index(whole.len());
            whole.splice(at..(at + bytes.len()).min(whole.len()), bytes);
            let _ = read_from(&whole[..]);
        }
    }
}
