//! Tests closed forms: latencies without load, and bandwidth at saturation.

use crate::memory::bench::Bench;
use crate::memory::devices::{ddr4, devices};
use crate::memory::run::{parts, run_all};
use crate::memory::setup::plain;
use hostnet_model::params::{DramParams, MapParams, MemoryControllerParams, Refresh};
use hostnet_traffic::{Pattern, Request, Traffic};

/// Returns a map of consecutive fields, from the lowest bit: subchannel, bank group, column, bank, rank, row. If the
/// number of channels is no power of two, channels alternate line by line.
pub(crate) fn fields(dram: &DramParams, channels: u32) -> MapParams {
    let mut at = 6;
    let mut take = |count: u32| {
        let bits: Vec<u8> = (at..at + count.trailing_zeros() as u8).collect();
        at += bits.len() as u8;
        bits
    };
    let masks = |bits: Vec<u8>| bits.into_iter().map(|bit| 1_u64 << bit).collect::<Vec<_>>();
    let turns = !channels.is_power_of_two();
    MapParams {
        channels,
        channel_bytes: if turns { 64 } else { 0 },
        channel: masks(take(if turns { 1 } else { channels })),
        subchannel: masks(take(dram.subchannels)),
        bank_group: masks(take(dram.bank_groups)),
        column: take(dram.lines_per_row),
        bank: masks(take(dram.banks_per_group)),
        rank: masks(take(dram.ranks)),
        row: take(dram.rows),
    }
}

/// Returns the clocks from the first column access of a line to the end of its data.
fn data(dram: &DramParams, latency: u32) -> u64 {
    let t = &dram.timing;
    u64::from((dram.accesses_per_line - 1) * t.ccd_l + latency + t.burst)
}

#[test]
fn reads_without_load_take_what_their_commands_take() {
    for dram in devices() {
        let t = dram.timing;
        let mut bench = Bench::new(&dram, &plain());
        for (clock, row, commands) in [(1000, 7, t.rcd), (3000, 7, 0), (5000, 8, t.rp + t.rcd), (7000, 8, 0)] {
            bench.offer_line(clock, true, 1, row, 0);
            bench.run(clock + 1000);
            let served = bench.served.pop().expect("it is served");
            assert_eq!(served.done - clock, u64::from(commands) + data(&dram, t.cl), "row {row} at {clock}");
        }
    }
}

#[test]
fn writes_without_load_take_what_their_commands_take() {
    for dram in devices() {
        let t = dram.timing;
        let mut bench = Bench::new(&dram, &plain());
        for (clock, row, commands) in [(1000, 7, t.rcd), (3000, 7, 0), (5000, 8, t.rp + t.rcd)] {
            bench.offer_line(clock, false, 1, row, 0);
            bench.run(clock + 1000);
            let served = bench.served.pop().expect("it is served");
            assert_eq!(served.done - clock, u64::from(commands) + data(&dram, t.cwl), "row {row} at {clock}");
        }
    }
}

/// Measures the clocks per line and subchannel of a saturating sequential stream.
fn sequential(dram: &DramParams, controller: &MemoryControllerParams, write_share: f64) -> f64 {
    let lines = 60_000;
    let pattern = Pattern::Streams { count: 1, colliding: false };
    let traffic =
        Traffic { pattern, write_share, mean_gap_clocks: None, capacity_lines: 1 << 24, requests: lines, seed: 1 };
    let parts = parts(dram, controller, fields(dram, 1));
    let (run, _) = run_all(parts, traffic.generate().expect("legal traffic"), 1 << 40);
    let elapsed = (run.tally().last - run.tally().first) as f64;
    elapsed * f64::from(dram.subchannels) / (lines - 1) as f64
}

/// Returns the data bus clocks per line when bank groups alternate.
fn bus(dram: &DramParams) -> f64 {
    f64::from(dram.accesses_per_line * dram.timing.burst.max(dram.timing.ccd_s))
}

#[test]
fn sequential_reads_fill_the_bus() {
    for dram in devices() {
        let clocks = sequential(&dram, &plain(), 0.0);
        assert!(clocks >= bus(&dram) * 0.999 && clocks < bus(&dram) * 1.02, "{clocks} clocks for {}", bus(&dram));
    }
}

#[test]
fn sequential_reads_lose_the_time_of_refreshes() {
    for dram in devices() {
        let t = &dram.timing;
        let controller = MemoryControllerParams { refresh: Refresh::AllBanks, ..plain() };
        let left = 1.0 - f64::from(t.rfc) / f64::from(t.refi);
        let clocks = sequential(&dram, &controller, 0.0) * left;
        assert!(clocks > bus(&dram) * 0.98 && clocks < bus(&dram) * 1.04, "{clocks} clocks for {}", bus(&dram));
    }
}

#[test]
fn reads_of_one_group_are_a_long_gap_apart() {
    let dram = DramParams { bank_groups: 1, ranks: 1, ..ddr4() };
    let clocks = sequential(&dram, &plain(), 0.0);
    assert!((clocks - 8.0).abs() < 0.1, "tCCD_L, not {clocks}");
}

#[test]
fn rows_of_one_bank_are_a_row_cycle_apart() {
    for dram in devices() {
        let t = dram.timing;
        let lines_per_row = u64::from(dram.lines_per_row * dram.bank_groups * dram.banks_per_group * dram.ranks);
        let next_row = lines_per_row * u64::from(dram.subchannels);
        let requests = (0..2000).map(|row| Request { clock: 0, line: row * next_row, write: false, source: 0 });
        let (run, _) = run_all(parts(&dram, &plain(), fields(&dram, 1)), requests, 1 << 40);
        let closes = t.ras.max(t.rcd + (dram.accesses_per_line - 1) * t.ccd_l + t.rtp);
        let expected = f64::from(t.rc.max(closes + t.rp));
        let measured = (run.tally().last - run.tally().first) as f64 / (2000.0 - 32.0);
        assert!((measured / expected - 1.0).abs() < 0.01, "{measured} clocks a row, not {expected}");
    }
}
