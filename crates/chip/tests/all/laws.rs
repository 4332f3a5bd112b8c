//! Tests invariants of every chip.

use crate::common::params;
use hostnet_chip::{Chip, Home, InFlight, Mode, Part, Placement, Routing, Shape, PARTS};
use proptest::prelude::*;

const PLACEMENTS: [Placement; 4] = [Placement::Edge, Placement::PerTile, Placement::Split, Placement::Numa];
const NOTHING: InFlight = InFlight { operations: 0, lines: 0, remote: 0, directory: 0, packets: 0 };

/// Runs the chip until all operations in flight have completed.
fn drain(chip: &mut Chip) {
    chip.stop();
    let from = chip.status().cycle;
    assert!(!chip.run_until(from + 2_000_000), "{:?} after two million cycles", chip.in_flight());
    assert_eq!(chip.in_flight(), NOTHING);
}

#[test]
fn every_part_of_an_operation_is_in_the_sum() {
    for placement in PLACEMENTS {
        let mut chip = Chip::new(params(placement)).expect("it can be built");
        chip.run_until(300_000);
        let stats = chip.stats();
        assert!(stats.breakdown.count > 100, "{placement:?}: {}", stats.breakdown.count);
        let sum: u64 = stats.breakdown.sums.iter().sum();
        assert_eq!(u128::from(sum), stats.latency.sum(), "{placement:?}");
        assert_eq!(stats.breakdown.mean(Part::NetworkOut), 70.0);
        assert_eq!(stats.breakdown.mean(Part::NetworkBack), 70.0);
        let total: f64 = PARTS.iter().map(|part| stats.breakdown.mean(*part)).sum();
        assert!((total - stats.breakdown.total()).abs() < 1e-6);
        drain(&mut chip);
    }
}

#[test]
fn a_hop_costs_its_cycles_there_and_back_and_nothing_else() {
    for placement in PLACEMENTS {
        let at = |hops: u32| {
            let mut params = params(placement);
            params.rack.hops = hops;
            params.workload.cores = vec![19];
            let mut chip = Chip::new(params).expect("it can be built");
            let mut cycle = 0;
            while chip.stats().breakdown.count < 200 {
                cycle += 1;
                chip.run_until(cycle);
            }
            chip.stats().breakdown
        };
        let (one, seven) = (at(1), at(7));
        let far =
            |breakdown: hostnet_chip::Breakdown| breakdown.mean(Part::NetworkOut) + breakdown.mean(Part::NetworkBack);
        assert_eq!(far(seven) - far(one), 6.0 * 140.0, "{placement:?}");
        let rest = |breakdown: hostnet_chip::Breakdown| breakdown.total() - far(breakdown);
        assert!((rest(seven) - rest(one)).abs() < 4.0, "{placement:?}: {} and {}", rest(one), rest(seven));
    }
}

#[test]
fn as_much_comes_in_as_goes_out() {
    for placement in PLACEMENTS {
        let mut params = params(placement);
        params.workload.mode = Mode::Async;
        params.workload.lines = 3;
        let mut chip = Chip::new(params).expect("it can be built");
        chip.run_until(20_000);
        drain(&mut chip);
        let stats = chip.stats();
        assert!(stats.lines_own > 1000);
        assert_eq!(stats.lines_own, stats.lines_served, "{placement:?}");
        assert_eq!(stats.lines_own, 3 * stats.breakdown.count);
    }
}

#[test]
fn a_line_read_moves_the_flits_of_its_messages() {
    // Without queue entries only data moves: a request and a reply for each line that a core reads, and for each line
    // served two requests, one of them to memory, and the line twice.
    for (shape, flit_bytes) in [(Shape::Mesh, 16), (Shape::Mesh, 32), (Shape::Mesh, 12), (Shape::NocOut, 16)] {
        let flits = |bytes: u64| bytes.div_ceil(u64::from(flit_bytes));
        let (word, request, line) = (flits(16), flits(32), flits(80));
        let mut params = params(Placement::Numa);
        (params.shape, params.flit_bytes) = (shape, flit_bytes);
        let mut chip = Chip::new(params).expect("it can be built");
        chip.run_until(200_000);
        drain(&mut chip);
        let stats = chip.stats();
        assert_eq!(stats.flits, stats.lines_own * (request + line) + stats.lines_served * 2 * (word + line));
    }
}

#[test]
fn equal_chips_do_the_same_and_a_copy_in_the_middle_goes_on_alike() {
    let mut params = params(Placement::Split);
    params.workload.mode = Mode::Async;
    params.routing = Routing::O1Turn;
    params.vcs = 2;
    let mut one = Chip::new(params.clone()).expect("it can be built");
    let mut other = Chip::new(params).expect("it can be built");
    one.run_until(3000);
    for cycle in (0..=3000).step_by(7) {
        other.run_until(cycle);
    }
    other.run_until(3000);
    assert!(one == other);
    let bytes = postcard::to_allocvec(&one).expect("a chip is plain data");
    let mut restored: Chip = postcard::from_bytes(&bytes).expect("it was written so");
    one.run_until(6000);
    restored.run_until(6000);
    assert!(one == restored);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_is_stuck(
        placement in prop::sample::select(&PLACEMENTS[..]),
        mode in prop::sample::select(&[Mode::Turns, Mode::Sync, Mode::Async][..]),
        (writes, flit_bytes) in (
            prop::sample::select(&[0_u32, 40, 100][..]),
            prop::sample::select(&[8_u32, 16, 32, 80][..]),
        ),
        (home, memories) in (
            prop::sample::select(&[Home::PageOffset, Home::Hash][..]),
            prop::collection::btree_set((0_u16..7, 0_u16..7), 0..5),
        ),
        routing in prop::sample::select(
            &[Routing::Xy, Routing::Yx, Routing::O1Turn, Routing::Cdr, Routing::CdrDirectory][..]
        ),
        (columns, rows) in (2_u16..7, 2_u16..7),
        (lines, vc_flits, shape) in (
            1_u32..20, 1_u8..9, prop::sample::select(&[Shape::Mesh, Shape::NocOut][..])
        ),
        (in_flight, served, entries) in (1_u32..40, 1_u32..20, 1_u32..6),
        (l1, handover, software) in (1_u32..9, 0_u32..7, 1_u32..15),
        (link_cycles, credit_cycles, switch_cycles) in (0_u8..3, 1_u8..5, 0_u8..3),
        (queue, acked) in (prop::sample::select(&[8_u32, 16, 128][..]), any::<bool>()),
        seed in any::<u64>(),
    ) {
        let mut params = params(placement);
        (params.columns, params.rows, params.routing, params.seed) = (columns, rows, routing, seed);
        (params.router.vc_flits, params.shape, params.cache.entries) = (vc_flits, shape, entries);
        if shape == Shape::NocOut {
            params.rows = rows.next_multiple_of(2);
        } else if routing == Routing::O1Turn {
            params.vcs = 2;
        }
        params.cache.slice_lines = 256;
        (params.cache.l1_cycles, params.ni.handover_cycles) = (l1, handover);
        (params.software.wq_write, params.software.cq_read) = (software, software);
        (params.router.link_cycles, params.router.credit_cycles) = (link_cycles, credit_cycles);
        params.router.switch_cycles = switch_cycles;
        (params.ni.in_flight, params.ni.rrpp_in_flight, params.ni.entries) = (in_flight, served, queue);
        if acked {
            params.ni.completion = hostnet_chip::Completion::Acked;
        }
        (params.workload.writes_percent, params.workload.mode, params.workload.lines) = (writes, mode, lines);
        (params.flit_bytes, params.home) = (flit_bytes, home);
        params.memories = memories.into_iter().filter(|place| place.0 < columns && place.1 < rows).collect();
        params.workload.cores = (0..columns * params.rows).step_by(2).collect();
        let mut chip = Chip::new(params).expect("it can be built");
        chip.run_until(4000);
        drain(&mut chip);
        let stats = chip.stats();
        prop_assert!(stats.breakdown.count > 0);
        prop_assert_eq!(stats.lines_own, stats.lines_served);
        prop_assert_eq!(stats.lines_own, u64::from(lines) * stats.breakdown.count);
    }
}
