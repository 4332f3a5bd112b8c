//! Closed forms of the fluid memory.

use super::writes_in_flight::WritesInFlight;
use super::*;
use crate::params::{FluidRow, FluidThrottleLevel, FLUID_SHARES};
use proptest::prelude::*;

const CREDITS: u64 = 93;

fn at(ps: u64) -> Time {
    Time::from_ps(ps)
}

fn row(value: u64) -> FluidRow {
    [value; FLUID_SHARES.len()]
}

fn rates(drain_bytes_per_s: u64) -> FluidPoint {
    FluidPoint {
        drain_bytes_per_s,
        write_ps: row(300_000),
        read_ps: row(100_000),
        copy_ps: row(8_000 << 10),
        workloads: vec![[row(2_000_000_000), row(1_000_000_000)], [row(0), row(0)]],
        missed: None,
    }
}

/// Creates a memory with four states of throttling, each with a lower drain rate than the one before; with one or more
/// cores that copy, the drain rate halves.
fn memory(throttling: Throttling) -> FluidMemory {
    let hold = |slower: u64| FluidThrottleLevel {
        copying: vec![rates(8_000_000_000 / slower), rates(4_000_000_000 / slower)],
    };
    FluidMemory::new(FluidSetup {
        params: FluidParams {
            holds: (1..=4).map(hold).collect(),
            write_credits: CREDITS as u32,
            read_credits: 64,
            read_more_ps: 0,
        },
        device: ComponentId(1),
        pcie: PcieParams {
            bytes_per_s: 16_000_000_000,
            mps_bytes: 256,
            mrrs_bytes: 512,
            write_overhead_bytes: 24,
            read_overhead_bytes: 24,
            completion_overhead_bytes: 20,
            dllp_share: 0,
            latency_ps: 100_000,
            posted_lines: 128,
            nonposted_lines: 128,
        },
        clock_ps: 2_000,
        throttling,
        cores: 4,
        classes: 2,
    })
}

#[test]
fn a_write_alone_stays_for_a_residence() {
    let mut writes_in_flight = WritesInFlight::new();
    assert_eq!(writes_in_flight.add(at(1_000), 64, 500, 3_000, CREDITS), at(1_000));
    assert_eq!(writes_in_flight.area(at(1_000_000)), 64 * 3_000);
}

#[test]
fn a_full_buffer_holds_its_credits() {
    let mut writes_in_flight = WritesInFlight::new();
    let mut entered = at(0);
    let mut looks = Vec::new();
    for _ in 0..100 {
        entered = writes_in_flight.add(entered, 64, 64_000, 10_000, CREDITS);
        looks.push((entered.ps(), writes_in_flight.area(entered)));
    }
    let [(from, before), (to, after)] = [looks[20], looks[99]];
    assert_eq!((after - before) / u128::from(to - from), u128::from(CREDITS));
}

#[test]
fn writes_enter_as_fast_as_they_are_drained() {
    let mut writes_in_flight = WritesInFlight::new();
    let mut entered = at(0);
    for _ in 0..1000 {
        entered = writes_in_flight.add(entered, 64, 64_000, 10_000, CREDITS);
    }
    let lines = entered.ps() / 1_000;
    assert!((63_000..=64_000).contains(&lines), "{lines} lines at one per ns");
}

#[test]
fn a_write_that_leaves_as_soon_as_it_enters_never_takes_area_back() {
    let mut writes_in_flight = WritesInFlight::new();
    let _ = writes_in_flight.add(at(1289), 160, 221, 54_781, 1);
    let areas: Vec<u128> = (1289..70_000).map(|ps| writes_in_flight.area(at(ps))).collect();
    assert!(areas.is_sorted());
}

proptest! {
    #[test]
    fn writes_enter_in_order_and_the_area_never_shrinks_and_ends_as_the_residences(
        writes in proptest::collection::vec(
            (0_u64..200_000, 1_u8..=255, 1_u64..100_000, 1_u64..400_000, 1_u64..=CREDITS),
            1..50,
        ),
        step in 1_u64..50_000,
    ) {
        let mut writes_in_flight = WritesInFlight::new();
        let (mut now, mut area, mut before) = (0, 0, at(0));
        for (gap, lines, service_ps, residence_ps, credits) in writes {
            let arrival = now + gap;
            while now < arrival {
                now = (now + step).min(arrival);
                let next = writes_in_flight.area(at(now));
                prop_assert!(next >= area, "{next} after {area}");
                area = next;
            }
            let entered = writes_in_flight.add(at(now), lines, service_ps, residence_ps, credits);
            prop_assert!(entered >= at(now) && entered >= before, "credits come back in order");
            before = entered;
            prop_assert!(writes_in_flight.area(at(now)) >= area);
        }
        let last = writes_in_flight.area(at(now + 1_000_000_000));
        prop_assert!(last >= area);
        prop_assert_eq!(writes_in_flight.area(at(now + 2_000_000_000)), last);
    }
}

#[test]
fn a_copy_takes_its_lines_and_one_wait() {
    let mut memory = memory(Throttling::Sockets);
    assert_eq!(memory.copy(0, 1, 64, true, at(1)), 100_000 + 64 * 8_000);
    assert_eq!(memory.copy(1, 1, 64, false, at(1)), 64 * 8_000);
    assert_eq!(memory.copying(at(1)), 2);
    assert_eq!(memory.copying(at(64 * 8_000 + 1)), 2, "a piece that ends now is gone on with");
    assert_eq!(memory.copying(at(64 * 8_000 + 2)), 1);
    assert_eq!(memory.copying(at(1_000_000)), 0);
}

#[test]
fn sockets_and_the_stop_name_the_state() {
    let mut memory = memory(Throttling::Sockets);
    assert_eq!(memory.hold(), 0);
    memory.throttled = 2;
    assert_eq!(memory.hold(), 2);
    memory.throttled = 9;
    assert_eq!(memory.hold(), 3);
    memory.throttled = 0;
    memory.halted = 1;
    assert_eq!(memory.hold(), 3);
}

#[test]
fn local_waits_name_the_state() {
    let memory = memory(Throttling::Local { most_ps: 1_000_000 });
    for (ps, level) in [(0, 0), (333_333, 1), (500_000, 1), (666_666, 1), (1_000_000, 2)] {
        assert_eq!(memory.level(ps, 1_000_000), level, "{ps} ps");
    }
}

#[test]
fn a_share_comes_to_what_is_written_and_is_forgotten() {
    let mut memory = memory(Throttling::Sockets);
    for packet in 1..1_000 {
        memory.add_writes(400_000, at(packet * 800_000));
    }
    let share = f64::from(memory.share) / 65_536.0;
    assert!((share - 0.5).abs() < 0.01, "{share}");
    assert!(memory.share_at(at(999 * 800_000 + 40_000_000)) < 65_536 / 16);
}

#[test]
fn workloads_move_bytes_while_nothing_happens() {
    let mut memory = memory(Throttling::Sockets);
    memory.reset(at(1_000_000));
    memory.settle(at(1_001_000_000));
    assert_eq!(memory.counts(at(1_001_000_000)).bytes, [[2_000_000, 1_000_000], [0, 0]]);
    memory.count(1, 3, 2);
    memory.settle(at(2_001_000_000));
    assert_eq!(memory.counts(at(2_001_000_000)).bytes, [[4_000_000, 2_000_000], [192, 128]]);
}

/// Returns the bytes of workloads after some writes and copies, with the counters settled at the times `looks` as
/// well.
fn bytes_after(acts: &[(u64, u64, bool)], looks: &[u64]) -> Vec<[u64; 2]> {
    let mut memory = memory(Throttling::Sockets);
    for hold in &mut memory.params.holds {
        let row = [1_000_000_000, 2_000_000_000, 5_000_000_000, 6_000_000_000, 9_000_000_000];
        hold.copying.iter_mut().for_each(|point| point.workloads[0] = [row; 2]);
        hold.copying[1].workloads[0][1] = FluidRow::default();
    }
    let mut events: Vec<(u64, Option<(u64, bool)>)> = looks.iter().map(|&ps| (ps, None)).collect();
    let mut now = 0;
    for &(gap, size, copies) in acts {
        now += gap;
        events.push((now, Some((size, copies))));
    }
    events.push((now + 20_000_000, None));
    events.sort_by_key(|event| event.0);
    for (ps, act) in &events {
        match act {
            Some((lines, true)) => drop(memory.copy(0, 1, *lines, true, at(*ps))),
            Some((size, false)) => {
                memory.settle_before_change(at(*ps));
                memory.add_writes(size * 10_000, at(*ps));
            }
            None => memory.settle(at(*ps)),
        }
    }
    let end = at(events.last().map_or(0, |event| event.0));
    memory.counts(end).bytes
}

proptest! {
    #[test]
    fn looking_changes_nothing(
        acts in proptest::collection::vec((1_u64..3_000_000, 1_u64..200, any::<bool>()), 1..30),
        looks in proptest::collection::vec(0_u64..20_000_000, 1..60),
    ) {
        prop_assert_eq!(bytes_after(&acts, &looks), bytes_after(&acts, &[]));
    }
}

#[test]
fn with_ddio_what_misses_is_counted_and_nothing_else() {
    let mut memory = memory(Throttling::Sockets);
    for point in memory.params.holds.iter_mut().flat_map(|hold| &mut hold.copying) {
        point.missed = Some([row(1 << 14), row(3 << 14)]);
    }
    memory.reset(at(1));
    let _ = memory.copy(0, 1, 64, true, at(1));
    memory.count(1, 64, 64);
    assert_eq!(memory.counts(at(1)).bytes[1], [64 * 64 / 4, 0]);
    memory.counters.write(1, 8, 3 << 14);
    assert_eq!(memory.counts(at(1)).bytes[1], [64 * 64 / 4, 8 * 64 * 3 / 4]);
}

#[test]
fn a_full_buffer_holds_what_it_held() {
    let mut params = memory(Throttling::Sockets).params;
    // 8 GB/s for 300 ns are 37.5 lines.
    let rates = rates(8_000_000_000);
    assert_eq!(params.lines_held(&rates), 37);
    params.write_credits = 20;
    assert_eq!(params.lines_held(&rates), 20);
}

#[test]
fn a_copy_slows_others_until_it_ends() {
    let bytes = bytes_after(&[(1_000_000, 100, true)], &[]);
    // The copy takes 100 lines of 8 ns and one wait of 100 ns, out of 21 us.
    assert_eq!(bytes[0], [21_000, 21_000 - 900]);
}
