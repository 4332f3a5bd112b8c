//! Properties of any valid controller, on any device, under any traffic.

use crate::memory::drive::{Drive, Outcome, CLASSES};
use crate::memory::setup::{any_case, Case};
use hostnet_kernel::Time;
use hostnet_model::memory::CommandKind;
use hostnet_model::params::{IdleDrain, Refresh};
use hostnet_timing_check::Checker;
use proptest::prelude::*;

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) }
}

/// Asserts that the checker, which knows only the rules of the device, finds no violation.
fn check_commands(case: &Case, outcome: &Outcome) {
    let checker = Checker::new(&case.dram);
    let mut checker = if case.params.refresh == Refresh::Off { checker.without_refresh() } else { checker };
    for command in &outcome.commands {
        if let Err(violation) = checker.check(command) {
            panic!("{violation}");
        }
    }
    if let Err(violation) = checker.finish(outcome.end) {
        panic!("{violation}");
    }
}

/// Asserts that every request is served, except for writes that the policy keeps queued.
fn check_drained(case: &Case, outcome: &Outcome) {
    let p = &case.params;
    let left = match p.idle_drain {
        IdleDrain::Off => p.write_high - 1,
        _ if p.idle_flush != u32::MAX => 0,
        IdleDrain::Yield | IdleDrain::Mode => (p.idle_writes - 1).min(p.write_high - 1),
    };
    assert_eq!(outcome.watch.queued(true), 0, "a read is stuck");
    assert!(outcome.watch.queued(false) <= left as usize, "{} writes are stuck", outcome.watch.queued(false));
    let [rpq, wpq] = [outcome.controller.rpq(), outcome.controller.wpq()];
    assert_eq!((rpq.in_use(), wpq.in_use() as usize), (0, outcome.watch.queued(false)));
    assert_eq!(outcome.controller.is_empty(), outcome.watch.is_empty());
}

/// Asserts Little's law to the clock, and that everything is counted once.
fn check_books(case: &Case, outcome: &Outcome) {
    let (watch, end) = (&outcome.watch, outcome.end);
    assert_eq!(outcome.controller.rpq().area_ps(), watch.residence_until(end, true));
    assert_eq!(outcome.controller.wpq().area_ps(), watch.residence_until(end, false));
    let counters = outcome.controller.counters(Time::from_ps(end));
    let by_class = |read: bool, class: usize| {
        let requests = case.requests.iter().enumerate();
        requests.filter(|(index, request)| request.read == read && index % CLASSES == class).count() as u64
    };
    for class in 0..CLASSES {
        assert_eq!(counters.reads[class], by_class(true, class));
    }
    let writes: u64 = (0..CLASSES).map(|class| by_class(false, class)).sum();
    assert_eq!(counters.writes.iter().sum::<u64>() + watch.queued(false) as u64, writes);
    assert_eq!((counters.forwarded, counters.merged), (watch.forwarded, watch.merged));
    let touched = counters.row_hits + counters.row_misses + counters.row_conflicts;
    let served = watch.served[0] + watch.served[1];
    assert!(touched >= served && touched <= served + watch.queued(false) as u64, "{touched} of {served} touched");
    let count = |kind: CommandKind| outcome.commands.iter().filter(|command| command.kind == kind).count() as u64;
    assert_eq!(count(CommandKind::Activate), counters.read_activations + counters.write_activations);
    assert_eq!(count(CommandKind::Refresh) + count(CommandKind::RefreshSameBank), counters.refreshes);
}

/// Asserts that refreshes are never early, never more overdue than may be postponed plus one, and up to date if no
/// request is in the way.
fn check_refreshes(case: &Case, outcome: &Outcome) {
    let same_bank = case.params.refresh == Refresh::SameBank;
    let (kind, interval) = match same_bank {
        true => (CommandKind::RefreshSameBank, case.dram.timing.refi_sb),
        false => (CommandKind::Refresh, case.dram.timing.refi),
    };
    let interval = u64::from(interval);
    for rank in 0..case.dram.ranks {
        let first = interval * u64::from(rank + 1) / u64::from(case.dram.ranks);
        let due = |clock: u64| if clock < first { 0 } else { (clock - first) / interval + 1 };
        let commands =
            outcome.commands.iter().filter(|command| command.kind == kind && u32::from(command.rank) == rank);
        let mut count = 0;
        for command in commands {
            count += 1;
            let due = due(command.clock);
            assert!(count <= due, "refresh {count} of rank {rank} comes early, at clock {}", command.clock);
            let behind = due - count;
            assert!(behind <= u64::from(case.params.refresh_postponed) + 1, "rank {rank} is {behind} behind");
        }
        let idle = outcome.watch.is_empty();
        let put_off = if idle { 0 } else { u64::from(case.params.refresh_postponed) };
        let expected = if case.params.refresh == Refresh::Off { 0 } else { due(outcome.end) };
        assert!(count <= expected && count + put_off + 1 >= expected, "rank {rank}: {count} of {expected} refreshes");
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_controller_keeps_the_rules_and_serves_everybody_once(case in any_case()) {
        let outcome = Drive::new(&case).run();
        check_commands(&case, &outcome);
        check_drained(&case, &outcome);
        check_books(&case, &outcome);
        check_refreshes(&case, &outcome);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_run_can_be_repeated_and_taken_up_where_it_was_left(case in any_case(), steps in 0_usize..200) {
        let once = Drive::new(&case).run();
        prop_assert_eq!(&once.commands, &Drive::new(&case).run().commands);
        let interrupted = Drive::new(&case).run_interrupted(steps);
        prop_assert_eq!(&once.commands, &interrupted.commands);
        let end = Time::from_ps(once.end);
        prop_assert_eq!(once.controller.counters(end), interrupted.controller.counters(end));
    }
}
