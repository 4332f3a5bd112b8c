//! Tests traces as steps of a core.

use hostnet_traffic::{StepOptions, TraceError, TraceStep, TraceSteps, PAGE_BYTES};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Write;

const OPTIONS: StepOptions = StepOptions { format: None, memory_bytes: 1 << 30, thread: None, repeat: false };

fn open(text: &str, options: StepOptions) -> (tempfile::NamedTempFile, Result<TraceSteps, TraceError>) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let steps = TraceSteps::open(file.path(), options);
    (file, steps)
}

fn steps(text: &str, options: StepOptions) -> Vec<TraceStep> {
    let (_file, steps) = open(text, options);
    steps.ok().unwrap().take(1000).collect::<Result<_, _>>().unwrap()
}

fn step(address: u64, instructions: u32, store: bool) -> TraceStep {
    TraceStep { address, instructions, store }
}

#[test]
fn pages_lie_in_the_order_of_their_first_use() {
    let text = "I  01000000,4\n L 7f0000001040,8\nI  01000000,4\nI  01000000,4\n S 00001000,8\n L 7f0000001fc0,8\n";
    assert_eq!(steps(text, OPTIONS), [step(0x40, 1, false), step(PAGE_BYTES, 2, true), step(0xfc0, 0, false)]);
}

#[test]
fn what_the_l1_holds_is_instructions() {
    let text = "I  01000000,4\n L 00001000,8\nI  01000000,4\n L 00001008,8\nI  01000000,4\n L 00002000,8\n";
    assert_eq!(steps(text, OPTIONS), [step(0, 1, false), step(PAGE_BYTES, 2, false)]);
}

#[test]
fn the_first_store_to_a_clean_line_is_a_step() {
    let text = " L 00001000,8\n S 00001000,8\n S 00001008,8\n L 00001008,8\n";
    assert_eq!(steps(text, OPTIONS), [step(0, 0, false), step(0, 0, true)]);
}

#[test]
fn an_access_across_lines_is_a_step_for_each() {
    let text = "I  01000000,4\n L 0000103c,8\nI  01000000,4\n S 00001ffc,8\n";
    assert_eq!(
        steps(text, OPTIONS),
        [step(0, 1, false), step(64, 0, false), step(0xfc0, 1, true), step(PAGE_BYTES, 0, true)]
    );
}

#[test]
fn a_thread_can_be_taken_alone() {
    let text = "1: T7 read 8 byte(s) @ 0x1000 by PC 0x1\n2: T8 write 8 byte(s) @ 0x5000 by PC 0x1\n";
    assert_eq!(steps(text, StepOptions { thread: Some(8), ..OPTIONS }), [step(0, 0, true)]);
    assert_eq!(steps(text, StepOptions { thread: Some(9), ..OPTIONS }), []);
}

#[test]
fn memory_ends_with_its_last_page() {
    let text = " L 00001000,8\n L 00002000,8\n L 00003000,8\n";
    assert_eq!(steps(text, StepOptions { memory_bytes: 3 * PAGE_BYTES, ..OPTIONS }).len(), 3);
    let (file, found) = open(text, StepOptions { memory_bytes: 3 * PAGE_BYTES - 1, ..OPTIONS });
    let found: Vec<_> = found.ok().unwrap().collect();
    assert_eq!(found.len(), 3);
    let error = found[2].as_ref().unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}:3: 0x3000 ", file.path().display())), "{error}");
    assert!(error.contains("8192 bytes"), "{error}");
}

#[test]
fn a_repeated_trace_begins_again_with_a_warm_cache() {
    // 600 lines exceed the 512 of the cache: under LRU a cyclic walk never hits.
    let text: String = (0..600).map(|line| format!("I  01000000,4\n L {:08x},8\n", 0x10000 + 64 * line)).collect();
    let (_file, found) = open(&text, StepOptions { repeat: true, ..OPTIONS });
    let mut found = found.ok().unwrap();
    let first: Vec<_> = found.by_ref().take(600).map(Result::unwrap).collect();
    let second: Vec<_> = found.by_ref().take(600).map(Result::unwrap).collect();
    assert_eq!(first, second);
    assert_eq!(found.footprint_bytes(), 10 * PAGE_BYTES);
    // A trace that fits in the cache is read once and then causes no step: it must end instead of searching forever.
    assert_eq!(steps(" L 00001000,8\n", StepOptions { repeat: true, ..OPTIONS }), [step(0, 0, false)]);
}

#[test]
fn a_mistake_ends_the_steps_with_its_place() {
    let (_file, found) = open(" L 00001000,8\nx\n L 00002000,8\n", OPTIONS);
    let found: Vec<_> = found.ok().unwrap().collect();
    assert_eq!((found.len(), found[1].as_ref().unwrap_err().line()), (2, Some(2)));
}

/// Reference model of a cache of 64 sets of 8 lines, which maps each line to its last use and its dirty bit.
fn reference(accesses: &[(u64, u64, bool)]) -> Vec<TraceStep> {
    let mut sets = vec![BTreeMap::<u64, (usize, bool)>::new(); 64];
    let mut pages = Vec::new();
    let mut found = Vec::new();
    let mut instructions = 0;
    for (now, (line, before, store)) in accesses.iter().enumerate() {
        instructions += *before as u32;
        let set = &mut sets[(line % 64) as usize];
        let held = set.get(line).copied();
        if held.is_none() && set.len() == 8 {
            let oldest = *set.iter().min_by_key(|(_, (used, _))| *used).unwrap().0;
            set.remove(&oldest);
        }
        let dirty = held.is_some_and(|(_, dirty)| dirty);
        set.insert(*line, (now, dirty || *store));
        if held.is_none() || (*store && !dirty) {
            let page = pages.iter().position(|page| *page == line / 64).unwrap_or_else(|| {
                pages.push(line / 64);
                pages.len() - 1
            });
            found.push(step((page as u64 * 64 + line % 64) * 64, std::mem::take(&mut instructions), *store));
        }
    }
    found
}

proptest! {
    #[test]
    fn steps_are_what_a_plain_cache_does_not_hold(
        draws in proptest::collection::vec((0u64..12, 0u64..40, 0u64..4, any::<bool>()), 1..800),
    ) {
        let access = |&(set, tag, before, store): &(u64, u64, u64, bool)| (tag * 64 + set, before, store);
        let accesses: Vec<_> = draws.iter().map(access).collect();
        let text: String = accesses.iter().map(|(line, before, store)| {
            let kind = if *store { 'S' } else { 'L' };
            "I  01000000,4\n".repeat(*before as usize) + &format!(" {kind} {:08x},8\n", line * 64)
        }).collect();
        prop_assert_eq!(steps(&text, OPTIONS), reference(&accesses));
    }
}

proptest! {
    #[test]
    fn passes_after_the_second_are_like_it(
        lines in prop::collection::vec((0_u64..2000, any::<bool>()), 1..1500),
        over in 0_u64..9000
    ) {
        let text = |(line, store): &(u64, bool)| {
            format!("I  01000000,4\n {} {:08x},8\n", if *store { 'S' } else { 'L' }, 0x10_0000 + line * 64)
        };
        let text: String = lines.iter().map(text).collect();
        let (_file, all) = open(&text, StepOptions { repeat: true, ..OPTIONS });
        let all: Vec<TraceStep> = all.unwrap().take(10_000).map(Result::unwrap).collect();
        let (_file, later) = open(&text, StepOptions { repeat: true, ..OPTIONS });
        let mut later = later.unwrap();
        later.skip_steps(over).unwrap();
        let rest: Vec<TraceStep> = later.take(10_000 - over as usize).map(Result::unwrap).collect();
        prop_assert_eq!(&rest[..], all.get(over as usize..).unwrap_or_default());
        if all.len() == 10_000 {
            let instructions: u64 = all.iter().map(|step| u64::from(step.instructions)).sum();
            let (_file, once) = open(&text, OPTIONS);
            prop_assert!(instructions >= 10_000, "every step has an instruction of its own");
            prop_assert!(once.unwrap().count() <= lines.len());
        }
    }
}
