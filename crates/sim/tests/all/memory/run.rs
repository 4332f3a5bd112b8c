//! Tests memory runs: a source of requests, an address map, any number of controllers.

use crate::memory::closed_form::fields;
use crate::memory::devices::{ddr4, ddr5, devices, hbm2e};
use crate::memory::setup::plain;
use hostnet_model::memory::CommandRecord;
use hostnet_model::params::{DramParams, IdleDrain, MapParams, MemoryControllerParams, Refresh};
use hostnet_sim::memory::{MemoryParts, MemoryRun};
use hostnet_timing_check::Checker;
use hostnet_traffic::{Pattern, Request, Traffic};
use std::convert::Infallible;

/// Returns a run that records commands and measures everything.
pub(crate) fn parts(dram: &DramParams, controller: &MemoryControllerParams, map: MapParams) -> MemoryParts {
    MemoryParts {
        dram: dram.clone(),
        controller: controller.clone(),
        map,
        sources: 3,
        outstanding: 0,
        warm_up: 0,
        record: true,
    }
}

/// Runs to the end, `stride` requests at a time, and returns the run and its commands.
pub(crate) fn run_all(
    parts: MemoryParts,
    requests: impl Iterator<Item = Request>,
    stride: u64,
) -> (MemoryRun<impl Iterator<Item = Result<Request, Infallible>>>, Vec<CommandRecord>) {
    let Ok(mut run) = MemoryRun::new(parts, requests.map(Ok));
    let mut commands = Vec::new();
    while run.advance(stride, |command| commands.push(command)) == Ok(true) {}
    (run, commands)
}

fn traffic(pattern: Pattern, write_share: f64, mean_gap_clocks: Option<f64>) -> impl Iterator<Item = Request> {
    let traffic = Traffic { pattern, write_share, mean_gap_clocks, capacity_lines: 1 << 20, requests: 4000, seed: 3 };
    traffic.generate().expect("legal traffic")
}

#[test]
fn every_channel_keeps_the_rules_and_the_books() {
    for dram in devices() {
        for channels in [1, 6] {
            for (pattern, gap) in [(Pattern::Random, None), (Pattern::Streams { count: 3, colliding: true }, Some(9.0))]
            {
                let controller = MemoryControllerParams { refresh: Refresh::AllBanks, ..plain() };
                let parts = parts(&dram, &controller, fields(&dram, channels));
                let (run, commands) = run_all(parts, traffic(pattern, 0.4, gap), 1 << 40);
                let mut checker = Checker::new(&dram);
                commands
                    .iter()
                    .for_each(|command| checker.check(command).unwrap_or_else(|violation| panic!("{violation}")));
                let channel_count = commands.iter().map(|command| command.channel).max();
                assert_eq!(channel_count, Some(channels * dram.subchannels - 1));
                let tally = run.tally();
                assert_eq!(tally.accepted, 4000);
                let reads: u64 = tally.sources.iter().map(|source| source[0]).sum();
                let writes: u64 = tally.sources.iter().map(|source| source[1]).sum();
                assert_eq!(reads + writes, 4000);
                assert_eq!((tally.from_arrival.count(), tally.from_acceptance.count()), (reads, reads));
                assert!(run.controllers().iter().all(|controller| controller.is_empty()));
            }
        }
    }
}

#[test]
fn a_run_in_pieces_is_the_same_run() {
    let controller = MemoryControllerParams { refresh: Refresh::AllBanks, ..plain() };
    let whole = |stride| {
        let parts = parts(&ddr4(), &controller, fields(&ddr4(), 2));
        let (run, commands) = run_all(parts, traffic(Pattern::Random, 0.4, Some(4.0)), stride);
        (commands, run.clock(), run.tally().from_arrival.sum())
    };
    assert_eq!(whole(1 << 40), whole(1 << 40));
    assert_eq!(whole(1 << 40), whole(7));
}

#[test]
fn the_last_request_is_served_even_if_a_refresh_comes_between() {
    for dram in [ddr4(), ddr5(), hbm2e()] {
        let controller = MemoryControllerParams { refresh: Refresh::AllBanks, ..plain() };
        let due = u64::from(dram.timing.refi / dram.ranks);
        for clock in due - 100..due + 4 {
            for write in [false, true] {
                let last = Request { clock, line: 0, write, source: 0 };
                let (run, _) = run_all(parts(&dram, &controller, fields(&dram, 1)), std::iter::once(last), 1 << 40);
                assert!(
                    run.controllers()[0].is_empty(),
                    "the request of clock {clock} is left, refresh is due at {due}"
                );
                assert_eq!(run.tally().from_arrival.count(), u64::from(!write));
            }
        }
    }
}

#[test]
fn a_run_ends_when_nothing_but_refreshes_would_go_on() {
    let controller = MemoryControllerParams { refresh: Refresh::AllBanks, idle_drain: IdleDrain::Off, ..plain() };
    let write = Request { clock: 5, line: 0, write: true, source: 0 };
    let (run, commands) = run_all(parts(&ddr4(), &controller, fields(&ddr4(), 1)), std::iter::once(write), 1 << 40);
    assert_eq!(run.controllers()[0].wpq().in_use(), 1, "one write is below the watermark");
    assert!(commands.is_empty());
}

#[test]
fn no_more_reads_are_outstanding_than_may_be() {
    for outstanding in [1, 3] {
        let parts = MemoryParts { outstanding, ..parts(&ddr4(), &plain(), fields(&ddr4(), 1)) };
        let (run, _) = run_all(parts, traffic(Pattern::Random, 0.0, None), 1 << 40);
        assert_eq!(run.controllers()[0].rpq().in_use_max(), outstanding);
        let latency = run.tally().from_acceptance.mean().expect("reads were measured");
        let elapsed = (run.tally().last - run.tally().first) as f64;
        let rate = (run.tally().accepted - 1) as f64 / elapsed;
        let in_flight = rate * (latency + 1.0);
        assert!(in_flight <= 1.01 * f64::from(outstanding), "Little: {in_flight} of {outstanding}");
        assert!(in_flight >= 0.97 * f64::from(outstanding), "Little: {in_flight} of {outstanding}");
    }
}
