//! Checks that the exploration detects each broken rule of the protocol, and reports the right invariant.
//!
//! With `-- --nocapture` the tests print a shortest path to each violation.

use hostnet_coherence::explore::{Bounds, Invariant, System, Violation};
use hostnet_coherence::{Flaw, Protocol, Rules};

/// Protocol with one rule broken.
#[derive(Clone, Copy)]
struct Mutant(Flaw);

impl Rules for Mutant {
    fn broken(self, flaw: Flaw) -> bool {
        self.0 == flaw
    }
}

const CACHES: Bounds = Bounds::of(2, 0, 0);
const MORE_CACHES: Bounds = Bounds::of(3, 0, 0);
const UNCACHED: Bounds = Bounds::of(2, 0, 1);
const TILES: Bounds = Bounds::of(0, 2, 0);

/// Each flaw, a system large enough to detect it, and the invariant that it violates.
const NOTICED: [(Flaw, Bounds, Invariant); 27] = [
    (Flaw::AcksNotAwaited, CACHES, Invariant::SingleWriter),
    (Flaw::EarlyAckForgotten, CACHES, Invariant::Drains),
    (Flaw::CopyKeptAfterInv, CACHES, Invariant::SingleWriter),
    (Flaw::OwnerNotDowngraded, CACHES, Invariant::SingleWriter),
    (Flaw::WriteBackForgottenInRace, CACHES, Invariant::NewestValue),
    (Flaw::DirtyDroppedSilently, CACHES, Invariant::DataKept),
    (Flaw::DoneWithoutCopy, CACHES, Invariant::DataKept),
    (Flaw::SharerForgotten, MORE_CACHES, Invariant::Agreement),
    (Flaw::FormerOwnerForgotten, CACHES, Invariant::Agreement),
    (Flaw::ExclusiveDespiteSharers, CACHES, Invariant::SingleWriter),
    (Flaw::RequesterCounted, CACHES, Invariant::Drains),
    (Flaw::BusyLineServed, CACHES, Invariant::Receiver),
    (Flaw::StaleWriteBackTaken, CACHES, Invariant::DataKept),
    (Flaw::StaleWriteBackUnanswered, CACHES, Invariant::Drains),
    (Flaw::WriteBackDataDropped, CACHES, Invariant::DataKept),
    (Flaw::OwnerNotAsked, CACHES, Invariant::Receiver),
    (Flaw::DirtyBlockDropped, CACHES, Invariant::DataKept),
    (Flaw::UncachedWriteAckedEarly, UNCACHED, Invariant::NewestValue),
    (Flaw::UncachedWriteClean, UNCACHED, Invariant::CleanBlock),
    (Flaw::UncachedReadPastOwner, UNCACHED, Invariant::NewestValue),
    (Flaw::UncachedReadDropsOwner, UNCACHED, Invariant::DataKept),
    (Flaw::OwnedDroppedSilently, TILES, Invariant::DataKept),
    (Flaw::OwnedEvictedAlone, TILES, Invariant::Agreement),
    (Flaw::NiStoreLeavesL1, TILES, Invariant::SingleWriter),
    (Flaw::CoreStoreLeavesNi, TILES, Invariant::SingleWriter),
    (Flaw::L1NotTold, TILES, Invariant::SingleWriter),
    (Flaw::ExclusiveCopied, TILES, Invariant::SingleWriter),
];

fn violation(flaw: Flaw, bounds: Bounds) -> Violation {
    let report = System::new(Mutant(flaw), bounds).explore();
    report.violation.unwrap_or_else(|| panic!("nobody notices {flaw:?} with {bounds}"))
}

#[test]
fn every_broken_rule_is_noticed_by_the_law_that_it_breaks() {
    for (flaw, bounds, invariant) in NOTICED {
        let violation = violation(flaw, bounds);
        println!("{flaw:?}, {bounds}\n{violation}");
        assert_eq!(violation.broken.invariant, invariant, "{flaw:?}");
    }
}

#[test]
fn every_flaw_has_its_row() {
    assert_eq!(NOTICED.map(|(flaw, ..)| flaw), Flaw::ALL);
}

#[test]
fn a_forgotten_sharer_needs_a_third_cache_to_be_noticed() {
    let report = System::new(Mutant(Flaw::SharerForgotten), CACHES).explore();
    assert!(report.violation.is_none(), "the second cache gets its copy from the first: {report}");
}

#[test]
fn a_way_to_a_violation_can_be_read() {
    let lines = [
        "line 0: agent 0 writes 1                                   [writing(1) | I] home nobody, memory 0",
        "line 0: home gets GetX from agent 0                        [writing(1) | I] home nobody, busy, memory 0",
        "line 0: memory gets FetchMemory from home                  [writing(1) | I] home nobody, busy, memory 0",
        "line 0: home gets MemoryData(0) from memory                [writing(1) | I] home owned by 0, busy, memory 0",
        "line 0: agent 0 gets Data(0, exclusive) from home          [M(1) | I] home owned by 0, busy, memory 0",
        "line 0: home gets Done from agent 0                        [M(1) | I] home owned by 0, memory 0",
        "line 0: agent 0 evicts                                     [I | I] home owned by 0, memory 0",
    ];
    let found = violation(Flaw::DirtyDroppedSilently, CACHES);
    assert_eq!(found.trace, lines);
    assert!(found.to_string().starts_with("DataKept: the value 1 is nowhere\n  1. line 0: agent 0 writes 1"));
}

#[test]
fn a_way_that_leads_nowhere_ends_with_what_is_on_its_way() {
    let found = violation(Flaw::StaleWriteBackUnanswered, CACHES);
    let last = found.trace.last().map(String::as_str);
    assert_eq!(last, Some("on the way: agent 1 gets ForwardRO for agent 0 from home; home gets PutM(0) from agent 1"));
}

#[test]
fn memory_that_lets_a_read_pass_a_write_loses_data() {
    let bounds = Bounds { memory_in_order: false, ..CACHES };
    let report = System::new(Protocol, bounds).explore();
    let violation = report.violation.expect("a fetch that is faster than the write before it gets old data");
    println!("memory out of order\n{violation}");
    assert!(matches!(violation.broken.invariant, Invariant::NewestValue | Invariant::CleanBlock));
}
