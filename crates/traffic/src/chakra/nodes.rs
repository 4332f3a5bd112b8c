//! Nodes of a trace and their actions.

use std::collections::BTreeMap;

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Collective {
    /// Sums a vector of every rank; every rank gets the sum.
    AllReduce,
    /// Sums a vector of every rank; the first rank gets the sum.
    Reduce,
    /// Every rank gets the data of all others.
    AllGather,
    /// The first rank gets the data of all others.
    Gather,
    /// Every rank gets a part of the data of the first rank.
    Scatter,
    /// Every rank gets all data of the first rank.
    Broadcast,
    /// Every rank sends different data to every other rank.
    AllToAll,
    /// Sums a vector of every rank; every rank gets a part of the sum.
    ReduceScatter,
    /// Like [`Self::ReduceScatter`], but with parts of equal size.
    ReduceScatterBlock,
    /// No rank continues before all have arrived.
    Barrier,
}

impl Collective {
    /// All collectives with their numbers and names in files.
    const ALL: [(i64, Self, &'static str); 10] = [
        (0, Self::AllReduce, "ALL_REDUCE"),
        (1, Self::Reduce, "REDUCE"),
        (2, Self::AllGather, "ALL_GATHER"),
        (3, Self::Gather, "GATHER"),
        (4, Self::Scatter, "SCATTER"),
        (5, Self::Broadcast, "BROADCAST"),
        (6, Self::AllToAll, "ALL_TO_ALL"),
        (7, Self::ReduceScatter, "REDUCE_SCATTER"),
        (8, Self::ReduceScatterBlock, "REDUCE_SCATTER_BLOCK"),
        (9, Self::Barrier, "BARRIER"),
    ];

    /// Returns the name of the collective in Chakra.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one, _)| *one == self).map_or("", |(.., name)| name)
    }

    /// Returns the number of the collective in files.
    pub(super) fn number(self) -> i64 {
        Self::ALL.iter().find(|(_, one, _)| *one == self).map_or(0, |(number, ..)| *number)
    }

    /// Returns the collective with that number.
    pub(super) fn numbered(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, ..)| u64::try_from(*known) == Ok(number)).map(|(_, kind, _)| kind)
    }

    /// Lists the numbers and names of all collectives, for messages.
    pub(super) fn known() -> String {
        let known: Vec<String> = Self::ALL.iter().map(|(number, _, name)| format!("{number} ({name})")).collect();
        known.join(", ")
    }
}

/// Action of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeAction {
    /// An action that takes no time.
    Nothing,
    /// The accelerator computes for so long, in ps.
    Compute(u64),
    /// The accelerator computes, for a time that the trace does not give.
    Work {
        /// Number of operations.
        ops: u64,
        /// Bytes of memory that the operations read and write.
        bytes: u64,
    },
    /// The processor computes for so long, in ps.
    Host(u64),
    /// The rank sends a message to another rank.
    Send {
        /// Receiving rank.
        to: u32,
        /// Size of the message, in bytes.
        bytes: u64,
        /// Tag that distinguishes messages between the same two ranks.
        tag: u64,
    },
    /// The rank receives a message from another rank.
    Receive {
        /// Sending rank.
        from: u32,
        /// Size of the message, in bytes.
        bytes: u64,
        /// Tag of the message.
        tag: u64,
    },
    /// The rank takes part in a collective.
    Collective {
        /// Kind of the collective.
        kind: Collective,
        /// Size of the data, in bytes as the trace counts them.
        bytes: u64,
        /// Group of ranks that take part, as an index into [`Trace::groups`].
        group: u32,
    },
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Number of the node in the file.
    pub id: u64,
    /// Action of the node.
    pub act: NodeAction,
    /// Nodes that must complete before this one, as ascending indices into the list.
    pub after: Vec<u32>,
}

/// Execution trace read from a Chakra file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Nodes in the order of the file. Every node depends only on nodes of this list.
    pub nodes: Vec<Node>,
    /// Names of the groups that take part in collectives; the empty name stands for all ranks.
    pub groups: Vec<String>,
    /// Ranks of the groups whose members the file lists. All ranks together have no entry.
    pub members: BTreeMap<String, Vec<u32>>,
}
