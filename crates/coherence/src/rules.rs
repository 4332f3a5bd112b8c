//! Rules of the protocol, and mutations that break them, which the exploration has to detect.

/// Selects the rule of the protocol that is broken. For the protocol itself none is, and the compiler removes the
/// check.
pub trait Rules: Copy {
    /// Returns true if this rule is broken.
    #[must_use]
    fn broken(self, _flaw: Flaw) -> bool {
        false
    }
}

/// The protocol as specified.
#[derive(Clone, Copy, Debug)]
pub struct Protocol;

impl Rules for Protocol {}

/// Mutation that breaks one rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A store does not wait for the acknowledgements of sharers.
    AcksNotAwaited,
    /// Acknowledgements that arrive before the data are forgotten.
    EarlyAckForgotten,
    /// A sharer acknowledges an invalidation and keeps its copy.
    CopyKeptAfterInv,
    /// An owner that hands out a clean copy still acts as the owner.
    OwnerNotDowngraded,
    /// An owner that is writing back answers that it has no copy.
    WriteBackForgottenInRace,
    /// A modified line is dropped as if it were clean.
    DirtyDroppedSilently,
    /// The closing acknowledgement lacks the content of a modified line.
    DoneWithoutCopy,
    /// The directory does not record a reader.
    SharerForgotten,
    /// The directory forgets the former owner, which keeps a clean copy.
    FormerOwnerForgotten,
    /// The directory hands out an exclusive copy although other agents may have one.
    ExclusiveDespiteSharers,
    /// The directory counts the requester among the agents that acknowledge.
    RequesterCounted,
    /// The directory serves a request while the line is busy.
    BusyLineServed,
    /// The directory accepts the data of a write-back from an agent that is no longer the owner.
    StaleWriteBackTaken,
    /// The directory does not answer a write-back that is out of date.
    StaleWriteBackUnanswered,
    /// The directory ignores the data of a write-back.
    WriteBackDataDropped,
    /// The directory answers a read from the LLC although there is an owner.
    OwnerNotAsked,
    /// The LLC evicts a dirty block without a write to memory.
    DirtyBlockDropped,
    /// An uncached write is acknowledged before all copies are invalidated.
    UncachedWriteAckedEarly,
    /// An uncached write leaves a block that is marked clean.
    UncachedWriteClean,
    /// An uncached read is answered from the LLC although there is an owner.
    UncachedReadPastOwner,
    /// An uncached read takes the line from its owner, which does not write it back.
    UncachedReadDropsOwner,
    /// An NI cache drops a line in state O without a write-back.
    OwnedDroppedSilently,
    /// An NI cache that writes back a line in state O leaves the copy of the L1.
    OwnedEvictedAlone,
    /// An NI cache that stores to a line in state O leaves the copy of the L1.
    NiStoreLeavesL1,
    /// A core that stores to a line leaves the copy of the NI cache.
    CoreStoreLeavesNi,
    /// The NI cache answers a directory without invalidating the L1.
    L1NotTold,
    /// An exclusive line that is handed over also stays at its old place.
    ExclusiveCopied,
}

impl Flaw {
    /// All flaws.
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
