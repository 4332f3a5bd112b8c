//! Tests both sides of every limit of a controller: queues, watermarks, shares, pages.

use crate::memory::bench::Bench;
use crate::memory::devices::{ddr4, devices};
use crate::memory::setup::plain;
use hostnet_model::memory::CommandKind::{Activate, Precharge, Read, ReadPrecharge, Write, WritePrecharge};
use hostnet_model::memory::OfferResult;
use hostnet_model::params::{
    EntryRelease, IdleDrain, MemoryControllerParams, PagePolicy, RowProtection, SchedulingPolicy,
};

/// Clock by which every expected command has been issued.
const LATER: u64 = 10_000;

#[test]
fn a_queue_of_n_takes_n_requests() {
    for entries in [1, 2, 31, 32, 128] {
        let params = MemoryControllerParams { rpq_entries: entries, wpq_entries: entries / 2 + 1, ..plain() };
        let mut bench = Bench::new(&ddr4(), &params);
        (0..entries).for_each(|row| assert_eq!(bench.offer(0, true, 0, row), OfferResult::Queued));
        assert_eq!(bench.offer(0, true, 0, 0), OfferResult::Refused);
        (0..entries / 2 + 1).for_each(|row| assert_eq!(bench.offer(0, false, 0, row), OfferResult::Queued));
        assert_eq!(bench.offer(0, false, 0, 0), OfferResult::Refused);
    }
}

#[test]
fn a_shared_queue_of_n_takes_n_requests_of_any_kind() {
    let params = MemoryControllerParams { rpq_entries: 8, wpq_entries: 1, shared_queue: true, ..plain() };
    for reads in 0..=8 {
        let mut bench = Bench::new(&ddr4(), &params);
        (0..8).for_each(|index| assert_eq!(bench.offer(0, index < reads, 0, index), OfferResult::Queued));
        assert_eq!(bench.offer(0, true, 1, 0), OfferResult::Refused);
        assert_eq!(bench.offer(0, false, 1, 0), OfferResult::Refused);
    }
}

#[test]
fn an_entry_comes_free_with_its_column_or_with_its_activation() {
    for (entry_until, freed) in [(EntryRelease::Column, 5 + 21), (EntryRelease::Activation, 5)] {
        let mut bench = Bench::new(&ddr4(), &MemoryControllerParams { rpq_entries: 1, entry_until, ..plain() });
        bench.offer(5, true, 0, 0);
        bench.run(freed - 1);
        assert!(bench.controller.is_full(true));
        bench.run(freed);
        assert!(!bench.controller.is_full(true), "{entry_until:?}");
        bench.run(LATER);
        assert_eq!(bench.clocks(Read), [5 + 21]);
    }
}

#[test]
fn write_mode_begins_at_the_high_watermark_and_ends_at_the_low_one() {
    let params = MemoryControllerParams { write_high: 10, write_low: 6, idle_drain: IdleDrain::Off, ..plain() };
    let mut bench = Bench::new(&ddr4(), &params);
    (0..9).for_each(|row| assert_eq!(bench.offer(0, false, 0, row), OfferResult::Queued));
    bench.run(LATER);
    assert!(bench.kinds().is_empty(), "one less does not start");
    bench.offer(LATER, false, 0, 9);
    bench.run(2 * LATER);
    assert_eq!(bench.clocks(Write).len(), 4, "ten less six");
    assert_eq!(bench.controller.wpq().in_use(), 6);
}

#[test]
fn a_read_is_served_however_short_the_write_modes_are() {
    let params = MemoryControllerParams {
        wpq_entries: 6,
        write_high: 6,
        write_low: 0,
        writes_per_mode: 1,
        reads_per_mode: 19,
        reads_few: 2,
        ..plain()
    };
    let mut bench = Bench::new(&ddr4(), &params);
    // A row miss: the WPQ is full again before the row is open.
    (0..6).for_each(|_| assert_eq!(bench.offer(0, false, 4, 0), OfferResult::Queued));
    bench.offer(0, true, 0, 0);
    for clock in 1..4 * LATER {
        bench.run(clock);
        bench.offer(clock, false, 4, 0);
    }
    let read = bench.served.iter().position(|served| served.read).expect("the read is served");
    assert!((64..80).contains(&read), "after {read} write modes of one write");
}

#[test]
fn a_write_mode_waits_for_its_share_of_reads() {
    let params = MemoryControllerParams { write_high: 4, write_low: 0, reads_per_mode: 3, reads_few: 1, ..plain() };
    let mut bench = Bench::new(&ddr4(), &params);
    (0..6).for_each(|_| assert_eq!(bench.offer(0, true, 0, 0), OfferResult::Queued));
    (0..4).for_each(|_| assert_eq!(bench.offer(0, false, 4, 0), OfferResult::Queued));
    bench.run(LATER);
    let columns: String = bench.served.iter().map(|served| if served.read { 'r' } else { 'w' }).collect();
    assert_eq!(columns, "rrrwwwwrrr", "three reads come first");
    let mut bench = Bench::new(&ddr4(), &params);
    bench.offer(0, true, 0, 0);
    (0..4).for_each(|_| assert_eq!(bench.offer(0, false, 4, 0), OfferResult::Queued));
    bench.run(LATER);
    assert_eq!(bench.order(), [1, 2, 3, 4, 0], "one read is few");
}

#[test]
fn a_write_mode_ends_after_its_share_of_writes_when_reads_wait() {
    let params =
        MemoryControllerParams { write_high: 6, write_low: 0, writes_per_mode: 2, reads_per_mode: 1, ..plain() };
    let mut bench = Bench::new(&ddr4(), &params);
    (0..6).for_each(|_| assert_eq!(bench.offer(0, false, 4, 0), OfferResult::Queued));
    bench.offer(0, true, 0, 0);
    bench.run(LATER);
    assert_eq!(bench.order(), [0, 1, 6, 2, 3, 4, 5]);
}

#[test]
fn an_idle_read_queue_drains_writes_from_a_threshold_on() {
    for idle_drain in [IdleDrain::Mode, IdleDrain::Yield] {
        let mut bench = Bench::new(&ddr4(), &MemoryControllerParams { idle_drain, idle_writes: 3, ..plain() });
        bench.offer(0, false, 0, 0);
        bench.offer(0, false, 4, 0);
        bench.run(LATER);
        assert!(bench.kinds().is_empty(), "two are not enough");
        bench.offer(LATER, false, 8, 0);
        bench.run(2 * LATER);
        assert_eq!(bench.clocks(Write).len(), 3, "{idle_drain:?} leaves none");
    }
}

/// A second write restarts the wait. A read that is waiting at the end of it goes first.
#[test]
fn writes_that_nothing_joins_pass_when_the_last_has_waited_long_enough() {
    for idle_drain in [IdleDrain::Mode, IdleDrain::Yield] {
        let few = MemoryControllerParams { idle_drain, idle_writes: 3, idle_flush: 100, ..plain() };
        let mut bench = Bench::new(&ddr4(), &few);
        bench.offer(10, false, 0, 0);
        bench.run(109);
        assert!(bench.kinds().is_empty(), "one clock before");
        bench.offer(109, false, 4, 0);
        bench.run(208);
        assert!(bench.kinds().is_empty(), "the second is younger");
        bench.run(LATER);
        assert_eq!(bench.clocks(Activate)[0], 209, "{idle_drain:?}: in the clock in which it is due");
        assert_eq!(bench.clocks(Write).len(), 2, "{idle_drain:?} leaves none");

        let mut bench = Bench::new(&ddr4(), &few);
        bench.offer(10, false, 0, 0);
        bench.offer(105, true, 4, 0);
        bench.run(LATER);
        assert_eq!(bench.order(), [1, 0], "{idle_drain:?}: a read that waits goes first");
    }
}

/// Writes to one bank, each to another row, so that the second one is late; and a read of another bank, from the
/// first clock on.
#[test]
fn writes_that_pass_stop_when_a_read_is_as_old_as_it_may_be() {
    let served = |idle_age| {
        let idle = MemoryControllerParams { idle_drain: IdleDrain::Yield, idle_writes: 1, idle_reads: 9, ..plain() };
        let mut bench = Bench::new(&ddr4(), &MemoryControllerParams { idle_age, ..idle });
        (0..3).for_each(|row| assert_eq!(bench.offer(0, false, 0, row), OfferResult::Queued));
        bench.offer(0, true, 4, 0);
        bench.run(LATER);
        (bench.order(), bench.clocks(Write)[1] as u32, bench.clocks(Activate)[1] as u32)
    };
    let (order, write, activation) = served(u32::MAX);
    assert_eq!(order, [0, 1, 2, 3], "it waits for all of them");
    assert_eq!(served(write).0, [0, 1, 3, 2], "in the same clock the write goes first");
    assert_eq!(served(write - 1).0, [0, 3, 1, 2], "one clock before it does not");
    assert_eq!(served(activation - 30).2, activation - 30, "its row opens in the clock in which it is old enough");
}

#[test]
fn writes_that_pass_stop_when_more_reads_of_open_rows_wait_than_may() {
    let idle = MemoryControllerParams { idle_drain: IdleDrain::Yield, idle_writes: 1, idle_reads: 9, ..plain() };
    for (idle_hits, reads, row, first) in [(0, 1, 0, 2), (0, 3, 1, 1), (1, 1, 0, 1), (1, 2, 0, 2), (9, 3, 0, 1)] {
        let mut bench = Bench::new(&ddr4(), &MemoryControllerParams { idle_hits, ..idle.clone() });
        bench.offer(0, true, 4, 0);
        bench.run(LATER);
        bench.offer(LATER, false, 0, 0);
        (0..reads).for_each(|_| assert_eq!(bench.offer(LATER, true, 4, row), OfferResult::Queued));
        bench.run(2 * LATER);
        assert_eq!(bench.order()[1], first, "{reads} reads of row {row} beside row 0, {idle_hits} may wait");
    }
}

#[test]
fn writes_that_pass_stop_when_more_reads_wait_than_may() {
    let params = MemoryControllerParams { idle_drain: IdleDrain::Yield, idle_writes: 1, idle_reads: 1, ..plain() };
    for (reads, first) in [(1, 0), (2, 1)] {
        let mut bench = Bench::new(&ddr4(), &params);
        bench.offer(0, false, 0, 0);
        (0..reads).for_each(|row| assert_eq!(bench.offer(0, true, 4, row), OfferResult::Queued));
        bench.run(LATER);
        assert_eq!(bench.order()[0], first, "{reads} reads");
    }
}

#[test]
fn spare_writes_pass_from_a_threshold_on_in_ranks_without_reads() {
    let with = |spare_clocks: u32, writes: u32, bank: u8, spare_rows: bool| {
        let params =
            MemoryControllerParams { spare_writes: 2, spare_rows, spare_clocks, idle_drain: IdleDrain::Off, ..plain() };
        let mut bench = Bench::new(&ddr4(), &params);
        bench.offer(0, true, 0, 0);
        (0..writes).for_each(|_| assert_eq!(bench.offer(0, false, bank, 0), OfferResult::Queued));
        bench.run(LATER);
        bench.commands.iter().filter(|command| command.rank == 1 || command.bank_group == 3).count()
    };
    let read_and = |writes, bank, spare_rows| with(1, writes, bank, spare_rows);
    assert_eq!(read_and(1, 16, true), 0, "one is below the threshold");
    assert!(read_and(2, 16, true) > 0);
    assert_eq!(read_and(2, 16, false), 0, "no row is open");
    assert_eq!(read_and(2, 12, true), 0, "a read waits for the rank");
    // The read's column access comes rcd clocks after its activation.
    let rcd = ddr4().timing.rcd;
    assert!(with(rcd - 1, 2, 16, true) > 0);
    assert_eq!(with(rcd, 2, 16, true), 0, "the slot is too short");
}

#[test]
fn spare_writes_that_may_only_use_open_rows_close_none() {
    for (protect, row_hits) in [(RowProtection::Nothing, 0), (RowProtection::OlderHits, 1)] {
        let params = MemoryControllerParams { spare_writes: 1, spare_rows: false, protect, row_hits, ..plain() };
        let mut bench = Bench::new(&ddr4(), &MemoryControllerParams { idle_drain: IdleDrain::Off, ..params });
        bench.offer(0, true, 16, 5);
        bench.run(500);
        bench.offer(501, false, 16, 7);
        bench.offer(501, false, 16, 5);
        // The reads close and open rows of the other rank; meanwhile the writes may use the open row.
        bench.offer(501, true, 0, 1);
        bench.offer(501, true, 0, 2);
        bench.run(LATER);
        let closed = bench.commands.iter().filter(|command| command.rank == 1 && command.kind == Precharge).count();
        assert_eq!(closed, 0, "{protect:?}");
    }
}

#[test]
fn a_row_gives_way_after_its_share_of_hits() {
    for scheduler in [SchedulingPolicy::ColumnFirst, SchedulingPolicy::OldestReady] {
        let mut bench = Bench::new(&ddr4(), &MemoryControllerParams { row_hits: 3, scheduler, ..plain() });
        bench.offer(0, true, 0, 0);
        bench.offer(1, true, 0, 9);
        (0..5).for_each(|_| assert_eq!(bench.offer(2, true, 0, 0), OfferResult::Queued));
        bench.run(LATER);
        assert_eq!(bench.order(), [0, 2, 3, 1, 4, 5, 6], "{scheduler:?}");
    }
}

#[test]
fn a_row_gives_way_to_a_request_that_has_waited_long_enough() {
    let params = MemoryControllerParams { row_hold: 21 + 2 * 8, protect: RowProtection::AllHits, ..plain() };
    for (arrival, hits) in [(1, 2), (2, 3)] {
        let mut bench = Bench::new(&ddr4(), &params);
        bench.offer(0, true, 0, 0);
        bench.run(0);
        bench.offer(arrival, true, 0, 9);
        (0..6).for_each(|_| assert_eq!(bench.offer(2, true, 0, 0), OfferResult::Queued));
        bench.run(LATER);
        assert_eq!(
            bench.order().iter().position(|&tag| tag == 1),
            Some(hits + 1),
            "after a hit at 37 the next command may go at 38"
        );
    }
}

#[test]
fn fcfs_overtakes_nobody() {
    let mut bench = Bench::new(&ddr4(), &MemoryControllerParams { scheduler: SchedulingPolicy::Fcfs, ..plain() });
    for (bank, row) in [(0, 0), (4, 0), (0, 1), (0, 0), (4, 0)] {
        assert_eq!(bench.offer(0, true, bank, row), OfferResult::Queued);
    }
    bench.run(LATER);
    assert_eq!(bench.order(), [0, 1, 2, 3, 4]);
}

#[test]
fn fcfs_overtakes_nobody_who_owns_a_row() {
    let params =
        MemoryControllerParams { scheduler: SchedulingPolicy::Fcfs, entry_until: EntryRelease::Activation, ..plain() };
    let mut bench = Bench::new(&ddr4(), &params);
    bench.offer(0, true, 4, 0);
    bench.run(500);
    bench.offer(500, true, 0, 0);
    bench.offer(500, true, 4, 0);
    bench.run(LATER);
    assert_eq!(bench.order(), [0, 1, 2]);
}

#[test]
fn a_closed_page_closes_with_the_last_access() {
    let params = MemoryControllerParams { page: PagePolicy::Closed, ..plain() };
    for dram in devices().into_iter().filter(|dram| dram.accesses_per_line == 1) {
        let mut bench = Bench::new(&dram, &params);
        bench.offer(0, true, 0, 0);
        bench.offer(0, true, 0, 0);
        bench.run(LATER);
        assert_eq!(bench.kinds(), [Activate, Read, ReadPrecharge]);
        bench.offer(LATER, false, 0, 0);
        bench.run(2 * LATER);
        assert_eq!(bench.kinds()[3..], [Activate, WritePrecharge]);
    }
}

#[test]
fn writes_alone_may_close_their_rows() {
    let mut bench = Bench::new(&ddr4(), &MemoryControllerParams { write_auto_precharge: true, ..plain() });
    bench.offer(0, true, 0, 0);
    bench.run(LATER);
    bench.offer(LATER, false, 0, 0);
    bench.run(2 * LATER);
    assert_eq!(bench.kinds(), [Activate, Read, WritePrecharge]);
}

#[test]
fn an_idle_row_is_closed_on_time() {
    let params = MemoryControllerParams { page: PagePolicy::Timeout, idle_close: 100, ..plain() };
    for (wait, closes) in [(100, false), (101, true), (5000, true)] {
        let mut bench = Bench::new(&ddr4(), &params);
        bench.offer(0, true, 0, 0);
        bench.run(LATER);
        let used = bench.clocks(Read)[0];
        bench.offer(used + wait, true, 0, 0);
        bench.run(2 * LATER);
        assert_eq!(bench.clocks(Precharge).first().copied(), closes.then_some(used + 100), "after {wait}");
        assert_eq!(bench.clocks(Activate).len(), 1 + usize::from(closes));
    }
}

#[test]
fn an_idle_row_is_not_closed_before_it_may() {
    let params = MemoryControllerParams { page: PagePolicy::Timeout, idle_close: 3, ..plain() };
    let mut bench = Bench::new(&ddr4(), &params);
    bench.offer(0, true, 0, 0);
    bench.run(LATER);
    bench.offer(LATER, true, 0, 0);
    assert_eq!(bench.clocks(Precharge), [47], "tRAS, later than tRCD + 3");
}

#[test]
fn a_read_finds_a_write_until_its_column() {
    let mut bench = Bench::new(&ddr4(), &MemoryControllerParams { entry_until: EntryRelease::Activation, ..plain() });
    bench.offer_line(0, false, 0, 0, 7);
    bench.run(20);
    assert_eq!(bench.kinds(), [Activate]);
    assert_eq!(bench.offer_line(20, true, 0, 0, 8), OfferResult::Queued, "another line of the row");
    assert_eq!(bench.offer_line(20, true, 0, 0, 7), OfferResult::Forwarded);
    bench.run(LATER);
    assert_eq!(bench.offer_line(LATER, true, 0, 0, 7), OfferResult::Queued, "it is written");
}

#[test]
fn a_hit_that_comes_late_still_saves_its_row() {
    let mut bench = Bench::new(&ddr4(), &MemoryControllerParams { protect: RowProtection::AllHits, ..plain() });
    bench.offer(0, true, 0, 0);
    bench.run(21);
    bench.offer(22, false, 4, 0);
    bench.run(46);
    // A write to another group keeps reads off the bus; the row may be closed at clock 47.
    bench.offer(46, true, 0, 1);
    bench.offer(46, true, 0, 0);
    bench.run(LATER);
    assert_eq!(bench.order(), [0, 1, 3, 2]);
    assert_eq!(bench.clocks(Write), [43]);
    assert_eq!(bench.clocks(Read)[..2], [21, 43 + 20 + 4 + 4]);
}
