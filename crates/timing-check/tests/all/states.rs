//! Tests row states, the organisation, the order of clocks, missing refreshes, and the wording of violations.

use hostnet_model::memory::{CommandKind, CommandRecord};
use hostnet_params::DramParams;
use hostnet_timing_check::{Checker, Fault, OutOfRange, Violation, CONTROLLERS_MAX};

use crate::common::{at, command, ddr3, ddr4, ddr5, devices, hbm};
use CommandKind::{
    Activate, Precharge, PrechargeAll, Read, ReadPrecharge, Refresh, RefreshSameBank, Write, WritePrecharge,
};

/// Returns the first violation of a stream in which every command waits long enough.
fn unhurried(p: &DramParams, kinds: &[(CommandKind, u8)]) -> Result<(), Box<Violation>> {
    let mut checker = Checker::new(p).without_refresh();
    let stream = kinds.iter().zip(0..).map(|(&(kind, bank), i)| at(i * 2000, command(kind, 0, 0, bank)));
    stream.into_iter().try_for_each(|record| checker.check(&record))
}

fn fault(p: &DramParams, kinds: &[(CommandKind, u8)]) -> (&'static str, Fault, u64, u64) {
    let violation = unhurried(p, kinds).unwrap_err();
    (violation.rule, violation.fault, violation.first.clock, violation.second.clock)
}

#[test]
fn column_accesses_need_an_open_row() {
    for (_, p) in devices() {
        for kind in [Read, ReadPrecharge, Write, WritePrecharge] {
            assert_eq!(unhurried(&p, &[(Activate, 1), (kind, 1)]), Ok(()));
            assert_eq!(fault(&p, &[(Activate, 1), (kind, 0)]), ("row state", Fault::RowClosed, 2000, 2000));
            for closing in [Precharge, PrechargeAll] {
                let stream = [(Activate, 1), (closing, 1), (kind, 1)];
                assert_eq!(fault(&p, &stream), ("row state", Fault::RowClosed, 2000, 4000));
            }
            for closing in [ReadPrecharge, WritePrecharge] {
                let stream = [(Activate, 1), (closing, 1), (kind, 1)];
                assert_eq!(fault(&p, &stream), ("row state", Fault::RowClosed, 2000, 4000));
            }
        }
    }
}

#[test]
fn activations_and_refreshes_need_closed_rows() {
    for (_, p) in devices() {
        for kind in [Activate, Refresh] {
            assert_eq!(fault(&p, &[(Activate, 0), (kind, 0)]), ("row state", Fault::RowOpen, 0, 2000));
            assert_eq!(unhurried(&p, &[(Activate, 0), (Precharge, 0), (kind, 0)]), Ok(()));
        }
        assert_eq!(fault(&p, &[(Activate, 1), (Refresh, 0)]), ("row state", Fault::RowOpen, 0, 2000));
    }
    for p in [ddr5(), hbm()] {
        assert_eq!(fault(&p, &[(Activate, 1), (RefreshSameBank, 1)]), ("row state", Fault::RowOpen, 0, 2000));
        assert_eq!(unhurried(&p, &[(Activate, 1), (RefreshSameBank, 0)]), Ok(()));
    }
}

#[test]
fn a_same_bank_refresh_is_for_the_bank_of_every_group_or_for_one() {
    let stream = [at(0, command(Activate, 0, 1, 2)), at(2000, command(RefreshSameBank, 0, 0, 2))];
    let judge = |p: &DramParams| {
        let mut checker = Checker::new(p);
        stream.iter().try_for_each(|record| checker.check(record)).map_err(|violation| violation.rule)
    };
    assert_eq!(judge(&ddr5()), Err("row state"));
    assert_eq!(judge(&hbm()), Ok(()));
}

#[test]
fn a_precharge_of_a_closed_bank_is_harmless_but_counts_for_trp() {
    let p = ddr4();
    assert_eq!(unhurried(&p, &[(Precharge, 0), (PrechargeAll, 0), (Precharge, 0)]), Ok(()));
    // RDA closes its row by itself. A PREA before that does no harm, but the bank is ready tRP after the later of the
    // two.
    let mut checker = Checker::new(&p);
    let stream = [(0, Activate), (40, ReadPrecharge), (41, PrechargeAll)];
    stream.iter().for_each(|&(clock, kind)| assert_eq!(checker.check(&at(clock, command(kind, 0, 0, 0))), Ok(())));
    let ready = 40 + 11 + 21;
    let mut later = checker.clone();
    assert_eq!(checker.check(&at(ready, command(Activate, 0, 0, 0))), Ok(()));
    assert_eq!(later.check(&at(60, command(Precharge, 0, 0, 0))), Ok(()));
    assert_eq!(later.clone().check(&at(60 + 21, command(Activate, 0, 0, 0))), Ok(()));
    assert_eq!(later.check(&at(60 + 20, command(Activate, 0, 0, 0))).unwrap_err().rule, "tRP");
}

#[test]
fn what_the_device_does_not_have_is_refused() {
    let p = ddr3();
    let good = CommandRecord { row: p.rows - 1, column: p.lines_per_row - 1, ..command(Activate, 3, 0, 7) };
    assert_eq!(Checker::new(&p).check(&good), Ok(()));
    let bad = [
        ("rank", 4, CommandRecord { rank: 4, ..good }),
        ("bank_group", 1, CommandRecord { bank_group: 1, ..good }),
        ("bank", 8, CommandRecord { bank: 8, ..good }),
        ("row", p.rows.into(), CommandRecord { row: p.rows, ..good }),
        ("column", p.lines_per_row.into(), CommandRecord { column: p.lines_per_row, ..good }),
        ("channel", CONTROLLERS_MAX.into(), CommandRecord { channel: CONTROLLERS_MAX, ..good }),
    ];
    for (field, value, record) in bad {
        let violation = Checker::new(&p).check(&record).unwrap_err();
        let count = value;
        assert_eq!(
            (violation.rule, violation.fault),
            ("organisation", Fault::OutOfRange(OutOfRange { field, value, count }))
        );
    }
    let violation = Checker::new(&p).check(&command(RefreshSameBank, 0, 0, 0)).unwrap_err();
    assert!(violation.to_string().contains("refreshes whole ranks only"), "{violation}");
}

#[test]
fn clocks_go_backwards_only_between_controllers() {
    let mut checker = Checker::new(&ddr4());
    assert_eq!(checker.check(&at(100, command(Precharge, 0, 0, 0))), Ok(()));
    let elsewhere = CommandRecord { channel: 1, ..command(Precharge, 0, 0, 0) };
    assert_eq!(checker.check(&at(50, elsewhere)), Ok(()));
    let violation = checker.check(&at(99, command(Activate, 1, 0, 0))).unwrap_err();
    assert_eq!((violation.rule, violation.fault, violation.off_by_clocks), ("clock order", Fault::OutOfOrder, 1));
}

#[test]
fn controllers_are_on_their_own() {
    let mut checker = Checker::new(&ddr4());
    for channel in 0..4 {
        let record = CommandRecord { channel, ..command(Activate, 0, 0, 0) };
        assert_eq!(checker.check(&record), Ok(()));
    }
}

#[test]
fn a_refresh_may_be_put_off_as_long_as_the_device_allows() {
    for (name, p) in devices() {
        let limit = u64::from(p.timing.refi) * (u64::from(p.postponed_max) + 1);
        let mut checker = Checker::new(&p);
        let refresh = |rank| command(Refresh, rank, 0, 0);
        (0..p.ranks as u8).for_each(|rank| assert_eq!(checker.check(&at(rank.into(), refresh(rank))), Ok(())));
        assert_eq!(checker.clone().check(&at(limit, refresh(0))), Ok(()), "{name}");
        assert_eq!(checker.clone().finish(limit), Ok(()), "{name}");
        for violation in [checker.clone().check(&at(limit + 1, refresh(0))), checker.clone().finish(limit + 1)] {
            let violation = *violation.unwrap_err();
            assert_eq!((violation.rule, violation.fault), ("tREFI", Fault::TooLate { rank: 0 }), "{name}");
            assert_eq!((violation.needed, violation.have, violation.off_by_clocks), (limit, limit + 1, 1), "{name}");
            assert_eq!(violation.first, refresh(0), "{name}");
        }
    }
}

#[test]
fn refreshes_of_banks_come_in_rounds() {
    for (p, sets) in [(ddr5(), 4), (hbm(), 16)] {
        let limit = u64::from(p.timing.refi_sb) * sets * (u64::from(p.postponed_max) + 1);
        let mut checker = Checker::new(&p);
        let one = at(0, command(RefreshSameBank, 0, 0, 1));
        assert_eq!(checker.check(&one), Ok(()));
        assert_eq!(checker.clone().finish(limit), Ok(()));
        let violation = checker.clone().finish(limit + 1).unwrap_err();
        assert_eq!((violation.rule, violation.first, violation.off_by_clocks), ("tREFIsb", one, 1));
        assert_eq!(checker.check(&at(limit, one)), Ok(()));
        assert_eq!(checker.finish(limit), Ok(()));
    }
}

#[test]
fn a_missing_refresh_is_told_once_for_each_rank() {
    let p = ddr4();
    let limit = u64::from(p.timing.refi) * 9;
    let mut checker = Checker::new(&p);
    let mut told = Vec::new();
    for clock in [0, limit, limit + 1, limit + 2] {
        checker.check_all(&at(clock, command(Precharge, 0, 0, 0)), &mut |violation| told.push(violation.fault));
    }
    checker.finish_all(limit + 100, &mut |violation| told.push(violation.fault));
    assert_eq!(told, [Fault::TooLate { rank: 0 }, Fault::TooLate { rank: 1 }]);
    assert_eq!(Checker::new(&p).finish(u64::MAX), Ok(()));
}

#[test]
fn without_refresh_nothing_is_missed() {
    let mut off = ddr4();
    off.timing.rfc = 0;
    for mut checker in [Checker::new(&off), Checker::new(&ddr4()).without_refresh()] {
        assert_eq!(checker.check(&command(Precharge, 0, 0, 0)), Ok(()));
        assert_eq!(checker.finish(u64::MAX), Ok(()));
    }
}

#[test]
fn the_last_clocks_of_all_do_not_overflow() {
    let mut checker = Checker::new(&ddr5());
    for kind in [Activate, ReadPrecharge, Precharge, Refresh, RefreshSameBank] {
        _ = checker.check(&at(u64::MAX, command(kind, 0, 0, 0)));
    }
    _ = checker.check(&command(Activate, 0, 0, 0));
}

#[test]
fn messages_name_the_commands_and_the_clocks() {
    let mut checker = Checker::new(&ddr4());
    assert_eq!(checker.check(&at(104, command(Activate, 0, 1, 2))), Ok(()));
    let said = |record| checker.clone().check(&record).unwrap_err().to_string();
    assert_eq!(
        said(at(120, command(Read, 0, 1, 2))),
        "tRCD: RD at clock 120 (channel 0, rank 0, group 1, bank 2) comes 5 clocks too early: ACT at clock 104 needs \
        21 \
         clocks, 16 passed"
    );
    assert_eq!(
        said(at(107, command(Activate, 0, 0, 0))),
        "tRRD_S: ACT at clock 107 (channel 0, rank 0, group 0, bank 0) comes 1 clock too early: ACT at clock 104 \
        (rank 0, \
         group 1, bank 2) needs 4 clocks, 3 passed"
    );
    assert_eq!(
        said(at(200, command(Read, 0, 1, 1))),
        "row state: RD at clock 200 (channel 0, rank 0, group 1, bank 1) needs an open row, but none was opened"
    );
    assert_eq!(
        said(at(200, command(Refresh, 0, 0, 0))),
        "row state: REF at clock 200 (channel 0, rank 0) needs a closed bank, but ACT at clock 104 (rank 0, group 1, \
        bank \
         2) opened a row"
    );
    assert_eq!(
        said(at(104 + 9 * 11437 + 7, command(Read, 0, 1, 2))),
        "tREFI: rank 0 of channel 0 is without refresh at clock 103044, 102940 clocks after ACT at clock 104 (rank 0, \
         group 1, bank 2); at most 102933 are allowed"
    );
}
