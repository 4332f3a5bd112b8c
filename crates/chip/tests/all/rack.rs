//! Tests chips that read each other's memory.

use crate::common::params;
use hostnet_chip::{Chip, ChipParams, ChipStats, Mode, Part, Pattern, Placement, Rack, Torus};
use hostnet_kernel::{ProcessGroup, ThreadExchange};
use proptest::prelude::*;

const CLOCK_PS: u64 = 500;

fn rack(placement: Placement, mode: Mode, lines: u32, sides: [u16; 3]) -> Rack {
    let mut params = params(placement);
    (params.workload.mode, params.workload.lines) = (mode, lines);
    uniform(&params, sides)
}

fn uniform(params: &ChipParams, sides: [u16; 3]) -> Rack {
    Rack::new(params, Torus { sides, pattern: Pattern::Uniform }, CLOCK_PS).expect("it can be built")
}

#[test]
fn chips_reach_those_that_the_pattern_says() {
    let mut params = params(Placement::Numa);
    let run = |params: &ChipParams, sides, pattern| {
        let mut rack = Rack::new(params, Torus { sides, pattern }, CLOCK_PS)?;
        rack.run_until(60_000, 2);
        let out = rack.stats().iter().map(|stats| stats.breakdown.mean(Part::NetworkOut)).collect::<Vec<_>>();
        let served = rack.stats().iter().map(|stats| stats.lines_served).collect::<Vec<_>>();
        Ok::<_, hostnet_chip::ChipError>((out, served))
    };
    for pattern in [Pattern::Distance, Pattern::Shift] {
        for hops in 1..=4 {
            params.rack.hops = hops;
            let (out, served) = run(&params, [4, 3, 2], pattern).expect("it can be built");
            let cycles = f64::from(hops * params.rack.hop_cycles);
            assert!(out.iter().all(|mean| *mean == cycles), "{pattern:?}: {out:?} and {cycles}");
            // With one destination per chip, each chip also has exactly one reader, so all serve about as many lines.
            let (least, most) = (*served.iter().min().unwrap() as f64, *served.iter().max().unwrap() as f64);
            assert!(pattern == Pattern::Distance || least > 0.95 * most, "{served:?}");
        }
        params.rack.hops = 5;
        let message = run(&params, [4, 3, 2], pattern).expect_err("too far").message;
        assert_eq!(message, "5 hops, where two chips are at most 4 apart");
    }
}

#[test]
fn threads_change_nothing() {
    let run = |threads: usize| {
        let mut rack = rack(Placement::Split, Mode::Async, 2, [2, 2, 2]);
        rack.run_until(1500, threads);
        rack.run_until(2500, threads);
        rack
    };
    let one = run(1);
    assert!(one.stats().iter().all(|stats| stats.lines_own > 50));
    for threads in [2, 3, 8] {
        let other = run(threads);
        assert!(one.chips().eq(other.chips()), "{threads} threads");
    }
}

#[test]
fn processes_change_nothing() {
    let (sides, homes) = ([2, 2, 2], [0, 0, 0, 1, 1, 1, 2, 2]);
    let mut params = params(Placement::Split);
    (params.workload.mode, params.workload.lines) = (Mode::Async, 2);
    let mut one = uniform(&params, sides);
    one.run_until(1500, 1);
    one.run_until(2500, 1);
    let run = |(rank, mut way): (usize, ThreadExchange)| {
        let torus = Torus { sides, pattern: Pattern::Uniform };
        let mut rack = Rack::share(&params, torus, CLOCK_PS, |chip| homes[usize::from(chip)] == rank)?;
        for cycle in [1500, 2500] {
            rack.run_until_across(cycle, 2, &mut ProcessGroup { exchange: &mut way, homes: &homes });
        }
        Ok::<_, hostnet_chip::ChipError>(rack)
    };
    let others: Vec<Rack> = std::thread::scope(|scope| {
        let ways = ThreadExchange::all(3).into_iter().enumerate();
        let started: Vec<_> = ways.map(|way| scope.spawn(|| run(way).expect("it can be built"))).collect();
        started.into_iter().map(|one| one.join().expect("it ends")).collect()
    });
    assert_eq!(others.iter().map(|rack| rack.chips().count()).collect::<Vec<_>>(), [3, 3, 2]);
    assert!(one.chips().eq(others.iter().flat_map(Rack::chips)));
}

#[test]
fn all_that_is_asked_for_is_answered() {
    for (mode, sides) in [(Mode::Async, [3, 1, 1]), (Mode::Sync, [2, 3, 1])] {
        let mut rack = rack(Placement::Edge, mode, 3, sides);
        rack.run_until(4000, 2);
        rack.stop();
        rack.run_until(400_000, 2);
        assert!(rack.chips().all(|chip| chip.in_flight().operations == 0 && chip.in_flight().packets == 0));
        let sum = |what: fn(&ChipStats) -> u64| rack.stats().iter().map(what).sum::<u64>();
        assert!(sum(|stats| stats.lines_own) > 100);
        assert_eq!(sum(|stats| stats.lines_own), sum(|stats| stats.lines_served));
    }
}

/// Returns the statistics of a chip with a mirrored peer and of the first of two chips that read from each other.
fn both(placement: Placement, mode: Mode, lines: u32, cycles: u64) -> (ChipStats, ChipStats) {
    let mut params = params(placement);
    (params.workload.mode, params.workload.lines) = (mode, lines);
    let mut alone = Chip::new(params.clone()).expect("it can be built");
    let mut rack = uniform(&params, [2, 1, 1]);
    let warm_up = cycles / 2;
    alone.run_until(warm_up);
    rack.run_until(warm_up, 2);
    alone.clear();
    rack.clear();
    alone.run_until(warm_up + cycles);
    rack.run_until(warm_up + cycles, 2);
    (alone.stats(), rack.stats().swap_remove(0))
}

#[test]
fn a_mirror_is_as_quick_as_a_chip_like_this_one() {
    for placement in [Placement::Edge, Placement::PerTile, Placement::Split, Placement::Numa] {
        let (mirror, real) = both(placement, Mode::Turns, 1, 400_000);
        let (mirror, real) = (mirror.breakdown.total(), real.breakdown.total());
        assert!((mirror / real - 1.0).abs() < 0.02, "{placement:?}: {mirror} and {real} cycles");
    }
}

#[test]
#[ignore = "ten seconds"]
fn a_mirror_carries_as_much_as_a_chip_like_this_one() {
    for (placement, lines) in [(Placement::Split, 1), (Placement::Split, 32), (Placement::Edge, 4)] {
        let (mirror, real) = both(placement, Mode::Async, lines, 30_000);
        let (mirror, real) = (mirror.lines_own as f64, real.lines_own as f64);
        assert!((mirror / real - 1.0).abs() < 0.05, "{placement:?}, {lines}: {mirror} and {real} lines");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn racks_of_any_kind_end_what_they_begin(
        placement in prop::sample::select(
            &[Placement::Edge, Placement::PerTile, Placement::Split, Placement::Numa][..]
        ),
        mode in prop::sample::select(&[Mode::Turns, Mode::Sync, Mode::Async][..]),
        writes in prop::sample::select(&[0_u32, 40, 100][..]),
        (x, y, z) in (2_u16..4, 1_u16..3, 1_u16..3),
        (lines, hop_cycles) in (1_u32..9, 1_u32..200),
        seed in any::<u64>(),
    ) {
        let mut params = params(placement);
        (params.columns, params.rows, params.seed) = (3, 3, seed);
        params.workload.cores = vec![0, 4, 5, 8];
        (params.workload.writes_percent, params.workload.mode, params.workload.lines) = (writes, mode, lines);
        params.rack.hop_cycles = hop_cycles;
        let run = |threads: usize| {
            let mut rack = uniform(&params, [x, y, z]);
            rack.run_until(1500, threads);
            rack.stop();
            rack.run_until(500_000, threads);
            rack
        };
        let (one, two) = (run(1), run(2));
        prop_assert!(one.chips().all(|chip| chip.in_flight().operations == 0));
        prop_assert!(one.chips().eq(two.chips()));
    }
}
