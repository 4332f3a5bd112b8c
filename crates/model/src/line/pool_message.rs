//! What the servers of a pool of memory send each other.

use serde::{Deserialize, Serialize};

/// The flow of every packet of a pool: no flow of the cluster.
pub const POOL_FLOW: u32 = u32::MAX;

/// What a message asks for, or brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PoolKind {
    /// A line is wanted that a core or device waits for.
    Read,
    /// A line is to be written: it brings the line.
    Write,
    /// A line is wanted that nobody waits for yet.
    Prefetch,
    /// The line that was read.
    Data,
    /// The line that was prefetched.
    Ahead,
    /// The line is written.
    Written,
    /// A switch or port has dropped what belongs to the request.
    Nack,
    /// A line of a page is wanted that lies in local memory as a whole later on; nobody waits for it.
    Fetch,
    /// The line that was fetched.
    Fetched,
    /// A dirty line of local memory goes back: it brings the line.
    WriteBack,
    /// That line is written.
    WrittenBack,
    /// A server wants to read a shared page.
    Share,
    /// A server wants to write a shared page.
    Own,
    /// It may.
    Granted,
    /// A server is to give a shared page away that another one wants to write.
    Revoke,
    /// A server is to write a shared page no more, as another one wants to read it.
    Demote,
    /// It has, and all that it wrote is in the lender's memory.
    Left,
    /// A dirty line of such a page goes back: it brings the line.
    Return,
}

impl PoolKind {
    /// How many there are.
    pub const COUNT: usize = Self::Return as usize + 1;

    /// Whether somebody waits for it.
    #[must_use]
    pub fn is_demand(self) -> bool {
        let of_a_line =
            matches!(self, Self::Read | Self::Data | Self::Write | Self::Written | Self::Nack | Self::Return);
        of_a_line || self.is_of_page()
    }

    /// Whether it is about who may read and write a shared page.
    #[must_use]
    pub fn is_of_page(self) -> bool {
        matches!(self, Self::Share | Self::Own | Self::Granted | Self::Revoke | Self::Demote | Self::Left)
    }

    /// Whether it is for who decides about a shared page.
    #[must_use]
    pub fn is_asked_of_controller(self) -> bool {
        matches!(self, Self::Share | Self::Own | Self::Left)
    }

    /// Whether it brings a line.
    #[must_use]
    pub fn has_line(self) -> bool {
        matches!(self, Self::Write | Self::Data | Self::Ahead | Self::Fetched | Self::WriteBack | Self::Return)
    }
}

/// A message of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PoolMessage {
    /// What it is for.
    pub kind: PoolKind,
    /// The server whose request it belongs to.
    pub requester: u16,
    /// Bytes on the wire of a message without a line.
    pub small_bytes: u16,
    /// The requester's place for the request.
    pub slot: u32,
    /// The requester's number of the request in that place.
    pub sequence: u32,
    /// The line of the lender's lent memory; of what is about a page, its number among the shared ones.
    pub line: u64,
    /// Of what is about giving a page away: how often that has been asked for.
    pub round: u32,
}
