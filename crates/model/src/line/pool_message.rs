//! Messages between the servers of a memory pool.

use serde::{Deserialize, Serialize};

/// Flow of every packet of a memory pool; no flow of the cluster has this number.
pub const POOL_FLOW: u32 = u32::MAX;

/// Kind of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PoolKind {
    /// Request for a line that a core or device waits for.
    Read,
    /// Write of a line; carries the line.
    Write,
    /// Request for a line that nothing waits for yet.
    Prefetch,
    /// Answer to a read; carries the line.
    Data,
    /// Answer to a prefetch; carries the line.
    Prefetched,
    /// Completion of a write.
    Written,
    /// Notice that a switch or port has dropped a message of the request.
    Nack,
    /// Request for a line of a page that local memory will hold entirely; nothing waits for the line.
    Fetch,
    /// Answer to a fetch; carries the line.
    Fetched,
    /// Write-back of a dirty line of local memory; carries the line.
    WriteBack,
    /// Completion of a write-back.
    WrittenBack,
    /// Request of a server to read a shared page.
    Share,
    /// Request of a server to write a shared page.
    Own,
    /// Grant of a request to read or write a shared page.
    Granted,
    /// Demand to give up a shared page, because another server requests to write it.
    Revoke,
    /// Demand to stop writing a shared page, because another server requests to read it.
    Demote,
    /// Confirmation of such a demand: all that the server wrote is in the memory of the lender.
    Left,
    /// Write-back of a dirty line of a page that is given up or no longer written; carries the line.
    Return,
}

impl PoolKind {
    /// Number of kinds.
    pub const COUNT: usize = Self::Return as usize + 1;

    /// Returns true if something waits for the message.
    #[must_use]
    pub fn is_demand(self) -> bool {
        let of_a_line =
            matches!(self, Self::Read | Self::Data | Self::Write | Self::Written | Self::Nack | Self::Return);
        of_a_line || self.is_of_page()
    }

    /// Returns true if the message is about the right to read or write a shared page.
    #[must_use]
    pub fn is_of_page(self) -> bool {
        matches!(self, Self::Share | Self::Own | Self::Granted | Self::Revoke | Self::Demote | Self::Left)
    }

    /// Returns true if the message is for the part that decides on the rights to a shared page.
    #[must_use]
    pub fn is_asked_of_controller(self) -> bool {
        matches!(self, Self::Share | Self::Own | Self::Left)
    }

    /// Returns true if the message carries a line.
    #[must_use]
    pub fn has_line(self) -> bool {
        matches!(self, Self::Write | Self::Data | Self::Prefetched | Self::Fetched | Self::WriteBack | Self::Return)
    }
}

/// Message of a memory pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PoolMessage {
    /// Kind of the message.
    pub kind: PoolKind,
    /// Server that made the request.
    pub requester: u16,
    /// Bytes on the wire of a message without a line.
    pub small_bytes: u16,
    /// Slot of the request at the requester.
    pub slot: u32,
    /// Number of the request in that slot.
    pub sequence: u32,
    /// Line of the lender's lent memory; in messages about the rights to a page, the number of the page among the
    /// shared ones.
    pub line: u64,
    /// In messages about giving up a page: number of the demand.
    pub round: u32,
}
