//! Tests the checker with random streams on very different devices against the reference model in `common/pairs.rs`.

#[path = "common/pairs.rs"]
mod pairs;

use hostnet_model::memory::{CommandKind, CommandRecord};
use hostnet_params::{DramParams, SameBank};
use hostnet_timing_check::{Checker, Fault};
use proptest::prelude::*;

use crate::common::{at, command, devices};

/// A random command: kind, rank, bank group and bank (each taken modulo its range), and clocks to wait.
type Draw = (u8, u8, u8, u8, u8);

fn draws(length: usize) -> impl Strategy<Value = Vec<Draw>> {
    let wait = prop_oneof![6 => Just(0), 2 => 1..5_u8, 1 => 0..200_u8];
    prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>(), wait), 1..length)
}

const KINDS: [CommandKind; 14] = [
    CommandKind::Activate,
    CommandKind::Activate,
    CommandKind::Activate,
    CommandKind::Read,
    CommandKind::Read,
    CommandKind::ReadPrecharge,
    CommandKind::Write,
    CommandKind::Write,
    CommandKind::WritePrecharge,
    CommandKind::Precharge,
    CommandKind::PrechargeAll,
    CommandKind::Refresh,
    CommandKind::RefreshSameBank,
    CommandKind::RefreshSameBank,
];

/// Returns the drawn command. It uses only the first banks, so that commands interact.
fn drawn(p: &DramParams, &(kind, rank, group, bank, _): &Draw) -> CommandRecord {
    let kind = match KINDS[usize::from(kind) % KINDS.len()] {
        CommandKind::RefreshSameBank if p.same_bank == SameBank::None => CommandKind::Activate,
        kind => kind,
    };
    let few = |value: u8, count: u32| value % count.min(3) as u8;
    let record = command(kind, few(rank, p.ranks), few(group, p.bank_groups), few(bank, p.banks_per_group));
    match kind {
        CommandKind::Refresh | CommandKind::PrechargeAll => command(kind, record.rank, 0, 0),
        CommandKind::RefreshSameBank if p.same_bank == SameBank::EveryGroup => {
            CommandRecord { bank_group: 0, ..record }
        }
        _ => record,
    }
}

/// Makes the rows fit: replaces a command that is not allowed by the one that must precede it.
fn fitting(p: &DramParams, past: &[CommandRecord], record: CommandRecord) -> CommandRecord {
    use CommandKind::{Activate, Precharge, PrechargeAll, Refresh, RefreshSameBank};
    if pairs::rows_fit(p, past, &record) {
        return record;
    }
    let kind = match record.kind {
        Activate => Precharge,
        Refresh | RefreshSameBank => PrechargeAll,
        _ => Activate,
    };
    let kept = if kind == PrechargeAll { command(kind, record.rank, 0, 0) } else { record };
    CommandRecord { kind, ..kept }
}

fn legal(p: &DramParams, draws: &[Draw]) -> Vec<CommandRecord> {
    let mut past: Vec<CommandRecord> = Vec::new();
    for draw in draws {
        let next = fitting(p, &past, drawn(p, draw));
        let floor = past.last().map_or(0, |last| last.clock);
        past.push(at(pairs::earliest(p, &past, &next).max(floor) + u64::from(draw.4), next));
    }
    past
}

fn fed(p: &DramParams, stream: &[CommandRecord]) -> Checker {
    let mut checker = Checker::new(p).without_refresh();
    for record in stream {
        assert_eq!(checker.check(record), Ok(()));
    }
    checker
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn streams_that_keep_the_rules_pass(draws in draws(60), device in 0..4_usize) {
        fed(&devices()[device].1, &legal(&devices()[device].1, &draws));
    }

    #[test]
    fn a_clock_below_what_binds_is_refused(draws in draws(60), device in 0..4_usize) {
        let p = &devices()[device].1;
        let stream = legal(p, &draws);
        let mut checker = Checker::new(p).without_refresh();
        for (i, record) in stream.iter().enumerate() {
            let bound = pairs::earliest(p, &stream[..i], record);
            if bound > stream[..i].last().map_or(0, |last| last.clock) {
                let violation = checker.clone().check(&at(bound - 1, *record)).unwrap_err();
                prop_assert_eq!((violation.fault, violation.off_by_clocks), (Fault::TooEarly, 1), "{}", violation);
            }
            prop_assert_eq!(checker.check(record), Ok(()));
        }
    }

    #[test]
    fn any_stream_is_judged_as_the_rules_read(draws in draws(40), device in 0..4_usize) {
        let p = &devices()[device].1;
        let mut checker = Checker::new(p).without_refresh();
        let mut past: Vec<CommandRecord> = Vec::new();
        for draw in &draws {
            let clock = past.last().map_or(0, |last| last.clock) + u64::from(draw.4);
            let record = at(clock, drawn(p, draw));
            let missing = pairs::earliest(p, &past, &record).saturating_sub(clock);
            let fits = pairs::rows_fit(p, &past, &record);
            match checker.check(&record) {
                Ok(()) => prop_assert!(fits && missing == 0, "{:?} passes", record),
                Err(violation) if violation.fault == Fault::TooEarly => {
                    prop_assert!(fits);
                    prop_assert_eq!(violation.off_by_clocks, missing, "{}", violation);
                }
                Err(violation) => prop_assert!(!fits, "{}", violation),
            }
            past.push(record);
        }
    }
}
