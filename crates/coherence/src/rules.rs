//! The rules of the protocol, and ways to break them that the exploration has to notice.

/// Says which rule of the protocol is broken. The protocol itself breaks none, and the compiler removes the question.
pub trait Rules: Copy {
    /// Whether this rule is broken.
    #[must_use]
    fn broken(self, _flaw: Flaw) -> bool {
        false
    }
}

/// The protocol as it is.
#[derive(Clone, Copy, Debug)]
pub struct Protocol;

impl Rules for Protocol {}

/// A small mistake that somebody could have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A store does not wait for the acknowledgements of sharers.
    AcksNotAwaited,
    /// Acknowledgements that come before the data are forgotten.
    EarlyAckForgotten,
    /// A sharer acknowledges an invalidation and keeps its copy.
    CopyKeptAfterInv,
    /// An owner that hands out a clean copy still takes itself for the owner.
    OwnerNotDowngraded,
    /// An owner that is writing back says that it has no copy.
    WriteBackForgottenInRace,
    /// A modified line is dropped as if it were clean.
    DirtyDroppedSilently,
    /// The closing acknowledgement comes without the copy of a modified block.
    DoneWithoutCopy,
    /// The directory does not note who reads.
    SharerForgotten,
    /// The directory forgets the former owner, which keeps a clean copy.
    FormerOwnerForgotten,
    /// The directory hands out an exclusive copy although others may have one.
    ExclusiveDespiteSharers,
    /// The directory counts the requester among those that acknowledge.
    RequesterCounted,
    /// The directory takes a request while the line is busy.
    BusyLineServed,
    /// The directory takes the data of a write-back from who is not the owner any more.
    StaleWriteBackTaken,
    /// The directory does not answer a write-back that is out of date.
    StaleWriteBackUnanswered,
    /// The directory does not use the data of a write-back.
    WriteBackDataDropped,
    /// The directory answers a read from the LLC although there is an owner.
    OwnerNotAsked,
    /// A dirty block leaves the LLC without a write to memory.
    DirtyBlockDropped,
    /// An uncached write is acknowledged before the copies are gone.
    UncachedWriteAckedEarly,
    /// An uncached write leaves a block that counts as clean.
    UncachedWriteClean,
    /// An uncached read is answered from the LLC although there is an owner.
    UncachedReadPastOwner,
    /// An uncached read takes the line away from its owner, which does not write it back.
    UncachedReadDropsOwner,
    /// An NI cache drops a line in state O without a write-back.
    OwnedDroppedSilently,
    /// An NI cache that writes a line in state O back leaves the copy of the L1.
    OwnedEvictedAlone,
    /// An NI cache that writes a line in state O leaves the copy of the L1.
    NiStoreLeavesL1,
    /// A core that writes a line leaves the copy of the NI cache.
    CoreStoreLeavesNi,
    /// The NI cache answers a directory and does not tell the L1.
    L1NotTold,
    /// An exclusive line that is handed over stays where it was, too.
    ExclusiveCopied,
}

impl Flaw {
    /// All of them.
    pub const ALL: [Self; 27] = [
        Self::AcksNotAwaited,
        Self::EarlyAckForgotten,
        Self::CopyKeptAfterInv,
        Self::OwnerNotDowngraded,
        Self::WriteBackForgottenInRace,
        Self::DirtyDroppedSilently,
        Self::DoneWithoutCopy,
        Self::SharerForgotten,
        Self::FormerOwnerForgotten,
        Self::ExclusiveDespiteSharers,
        Self::RequesterCounted,
        Self::BusyLineServed,
        Self::StaleWriteBackTaken,
        Self::StaleWriteBackUnanswered,
        Self::WriteBackDataDropped,
        Self::OwnerNotAsked,
        Self::DirtyBlockDropped,
        Self::UncachedWriteAckedEarly,
        Self::UncachedWriteClean,
        Self::UncachedReadPastOwner,
        Self::UncachedReadDropsOwner,
        Self::OwnedDroppedSilently,
        Self::OwnedEvictedAlone,
        Self::NiStoreLeavesL1,
        Self::CoreStoreLeavesNi,
        Self::L1NotTold,
        Self::ExclusiveCopied,
    ];
}
