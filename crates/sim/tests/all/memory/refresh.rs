//! Tests refreshes: their times, their number, and the commands that wait for them.

use crate::memory::bench::Bench;
use crate::memory::devices::{ddr4, ddr5, devices, sets};
use crate::memory::setup::plain;
use hostnet_model::memory::CommandKind::{self, Activate, Precharge, PrechargeAll, RefreshSameBank};
use hostnet_model::memory::{Controller, OfferResult};
use hostnet_model::params::{DramParams, MemoryControllerParams, Refresh, SameBank};

/// Returns the kinds of refresh of a device: the policy, the command, and its interval.
fn refreshes(dram: &DramParams) -> Vec<(Refresh, CommandKind, u64)> {
    let mut all = vec![(Refresh::AllBanks, CommandKind::Refresh, u64::from(dram.timing.refi))];
    if dram.same_bank != SameBank::None {
        all.push((Refresh::SameBank, RefreshSameBank, u64::from(dram.timing.refi_sb)));
    }
    all
}

/// Returns the clocks of the refreshes of a rank.
fn of_rank(bench: &Bench, kind: CommandKind, rank: u32) -> Vec<u64> {
    let of_rank = bench.commands.iter().filter(|command| command.kind == kind && u32::from(command.rank) == rank);
    of_rank.map(|command| command.clock).collect()
}

/// Offers reads of changing banks and rows whenever the queue has room.
fn keep_busy(bench: &mut Bench, dram: &DramParams, end: u64) {
    let banks = dram.ranks * dram.bank_groups * dram.banks_per_group;
    let mut number = 0;
    let mut clock = 0;
    while clock < end {
        while !bench.controller.is_full(true) {
            let (bank, row) = (number % banks, number / banks % dram.rows);
            let column = (number % dram.lines_per_row) as u16;
            assert_eq!(bench.offer_line(clock, true, bank as u8, row, column), OfferResult::Queued);
            number += 1;
        }
        clock = bench.controller.next_clock();
        bench.run(clock);
    }
}

#[test]
fn refreshes_of_an_idle_rank_come_on_the_clock() {
    for dram in devices() {
        for (refresh, kind, interval) in refreshes(&dram) {
            let mut bench = Bench::new(&dram, &MemoryControllerParams { refresh, ..plain() });
            bench.run(10 * interval);
            for rank in 0..dram.ranks {
                let first = interval * u64::from(rank + 1) / u64::from(dram.ranks);
                let due: Vec<u64> =
                    (0..10).map(|turn| first + turn * interval).take_while(|&due| due <= 10 * interval).collect();
                let clocks = of_rank(&bench, kind, rank);
                let late = clocks.iter().zip(&due).map(|(clock, due)| clock - due).max();
                assert_eq!(clocks.len(), due.len());
                assert!(late <= Some(1), "a refresh of another rank is in the way at most: {late:?}");
            }
        }
    }
}

#[test]
fn a_busy_rank_is_refreshed_as_often_as_time_demands() {
    for dram in devices() {
        for (refresh, kind, interval) in refreshes(&dram) {
            for refresh_postponed in [0, 1, dram.postponed_max - 1] {
                for refresh_holds_all in [false, true] {
                    let params = MemoryControllerParams { refresh, refresh_postponed, refresh_holds_all, ..plain() };
                    let mut bench = Bench::new(&dram, &params);
                    let end = 12 * u64::from(dram.timing.refi);
                    keep_busy(&mut bench, &dram, end);
                    for rank in 0..dram.ranks {
                        let (count, due) = (of_rank(&bench, kind, rank).len() as u64, end / interval);
                        let put_off = u64::from(refresh_postponed);
                        let kept = count <= due + 1 && count + put_off + 1 >= due;
                        assert!(kept, "{count} of {due} in rank {rank}, {put_off} may be put off");
                    }
                }
            }
        }
    }
}

#[test]
fn refreshes_are_put_off_as_far_as_they_may_while_requests_wait() {
    let dram = ddr4();
    for refresh_postponed in [0, 1, 7] {
        let params = MemoryControllerParams { refresh: Refresh::AllBanks, refresh_postponed, ..plain() };
        let mut bench = Bench::new(&dram, &params);
        keep_busy(&mut bench, &dram, 12 * 11437);
        let due = 11437 / 2 + u64::from(refresh_postponed) * 11437;
        let first = of_rank(&bench, CommandKind::Refresh, 0)[0];
        assert!(first > due && first < due + 150, "at {first}, due at {due} and then the rows are closed");
    }
}

#[test]
fn refreshes_that_were_put_off_are_made_up_for_when_nobody_waits() {
    let dram = ddr4();
    let params = MemoryControllerParams { refresh: Refresh::AllBanks, refresh_postponed: 5, ..plain() };
    let mut bench = Bench::new(&dram, &params);
    keep_busy(&mut bench, &dram, 5 * 11437);
    assert!(of_rank(&bench, CommandKind::Refresh, 0).is_empty());
    bench.run(5 * 11437 + 5 * 700);
    assert_eq!(of_rank(&bench, CommandKind::Refresh, 0).len(), 5);
}

#[test]
fn a_refresh_of_a_rank_closes_its_rows_by_one_command() {
    let mut bench = Bench::new(&ddr4(), &MemoryControllerParams { refresh: Refresh::AllBanks, ..plain() });
    let due = 11437 / 2;
    for bank in [0, 4, 16] {
        bench.offer(due - 200, true, bank, 0);
    }
    bench.run(due + 600);
    assert_eq!(bench.clocks(PrechargeAll), [due]);
    assert_eq!(bench.clocks(CommandKind::Refresh), [due + 21], "tRP");
    assert!(bench.clocks(Precharge).is_empty(), "the other rank keeps its row");
}

#[test]
fn a_refresh_of_some_banks_closes_and_holds_these_alone() {
    let dram = ddr5();
    let mut bench = Bench::new(&dram, &MemoryControllerParams { refresh: Refresh::SameBank, ..plain() });
    let due = u64::from(dram.timing.refi_sb) / 2;
    for bank in [0, 1, 4] {
        bench.offer(due - 300, true, bank, 0);
    }
    bench.run(due - 1);
    bench.offer(due, true, 0, 1);
    bench.run(due + 9);
    bench.offer(due + 10, true, 2, 1);
    bench.run(due + 600);
    assert_eq!(bench.clocks(Precharge), [due, due + 2], "banks 0 of two groups, tPPD apart");
    assert_eq!(bench.clocks(RefreshSameBank)[0], due + 2 + 39, "tRP");
    let activations = bench.clocks(Activate);
    assert_eq!(activations[3], due + 10, "another bank goes on");
    assert_eq!(activations[4], due + 2 + 39 + 312, "tRFCsb");
}

#[test]
fn refreshes_of_some_banks_take_turns() {
    for dram in [ddr5(), crate::memory::devices::hbm2e()] {
        let mut bench = Bench::new(&dram, &MemoryControllerParams { refresh: Refresh::SameBank, ..plain() });
        bench.run(40 * u64::from(dram.timing.refi_sb));
        let turns = bench.commands.iter().filter(|command| command.rank == 0);
        for (turn, command) in turns.enumerate() {
            let set = match dram.same_bank {
                SameBank::EveryGroup => u32::from(command.bank),
                _ => u32::from(command.bank_group) * dram.banks_per_group + u32::from(command.bank),
            };
            assert_eq!(set, turn as u32 % sets(&dram));
        }
    }
}

#[test]
fn a_refresh_that_holds_all_stops_the_other_rank() {
    for (refresh_holds_all, stops) in [(false, false), (true, true)] {
        let params = MemoryControllerParams { refresh: Refresh::AllBanks, refresh_holds_all, ..plain() };
        let mut bench = Bench::new(&ddr4(), &params);
        let due = 11437 / 2;
        bench.offer(due - 10, true, 0, 0);
        bench.run(due);
        bench.offer(due + 1, true, 16, 0);
        bench.run(due + 2000);
        let refresh = bench.clocks(CommandKind::Refresh)[0];
        assert_eq!(refresh, due - 10 + 47 + 21, "ACT, tRAS, PRE, tRP, REF");
        let opened = bench.clocks(Activate)[1];
        assert_eq!(opened, if stops { refresh + 1 } else { due + 1 });
    }
}

#[test]
fn no_refresh_is_planned_without_any() {
    let off = DramParams { timing: hostnet_model::params::TimingParams { rfc: 0, ..ddr4().timing }, ..ddr4() };
    for (dram, refresh) in [(ddr4(), Refresh::Off), (off, Refresh::AllBanks)] {
        let controller = Controller::new(&dram, &MemoryControllerParams { refresh, ..plain() }, 1, 0);
        assert_eq!(controller.next_clock(), u64::MAX);
    }
}
