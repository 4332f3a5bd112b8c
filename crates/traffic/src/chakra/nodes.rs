//! What a trace consists of.

use std::collections::BTreeMap;

/// A collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Collective {
    /// A vector of every rank is summed up, and every rank gets the sum.
    AllReduce,
    /// The same, and the first rank gets the sum.
    Reduce,
    /// Every rank gets what all others have.
    AllGather,
    /// The first rank gets what all others have.
    Gather,
    /// Every rank gets a part of what the first rank has.
    Scatter,
    /// Every rank gets what the first rank has.
    Broadcast,
    /// Every rank sends something else to every other one.
    AllToAll,
    /// A vector of every rank is summed up, and every rank gets a part of the sum.
    ReduceScatter,
    /// The same, with parts of one size.
    ReduceScatterBlock,
    /// No rank goes on before all have come.
    Barrier,
}

impl Collective {
    /// All of them, with their numbers and names in files.
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

    /// Its name in Chakra.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one, _)| *one == self).map_or("", |(.., name)| name)
    }

    /// Its number in files.
    pub(super) fn number(self) -> i64 {
        Self::ALL.iter().find(|(_, one, _)| *one == self).map_or(0, |(number, ..)| *number)
    }

    /// The one with that number.
    pub(super) fn numbered(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, ..)| u64::try_from(*known) == Ok(number)).map(|(_, kind, _)| kind)
    }

    /// The numbers and names of all, for messages.
    pub(super) fn known() -> String {
        let known: Vec<String> = Self::ALL.iter().map(|(number, _, name)| format!("{number} ({name})")).collect();
        known.join(", ")
    }
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Nothing that takes time.
    Nothing,
    /// Its accelerator computes so long, in ps.
    Compute(u64),
    /// Its accelerator computes; the trace does not say how long.
    Work {
        /// Operations.
        ops: u64,
        /// Bytes of memory that it reads and writes.
        bytes: u64,
    },
    /// Its processor computes so long, in ps.
    Host(u64),
    /// It sends a message to a rank.
    Send {
        /// The rank.
        to: u32,
        /// Bytes.
        bytes: u64,
        /// Tells messages between two ranks apart.
        tag: u64,
    },
    /// It receives a message from a rank.
    Receive {
        /// The rank.
        from: u32,
        /// Bytes.
        bytes: u64,
        /// The tag of the message.
        tag: u64,
    },
    /// It takes part in a collective.
    Collective {
        /// Which.
        kind: Collective,
        /// Bytes, as the trace counts them.
        bytes: u64,
        /// The group of ranks, by its place in [`Trace::groups`].
        group: u32,
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

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Its nodes, in their order. Every one is after others that are in the list.
    pub nodes: Vec<Node>,
    /// Names of the groups that take part in collectives; the empty one stands for all ranks.
    pub groups: Vec<String>,
    /// The ranks of groups whose members the file tells; none for all ranks.
    pub members: BTreeMap<String, Vec<u32>>,
}
