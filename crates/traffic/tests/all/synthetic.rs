//! Tests generated requests: the reference traffic bit for bit, and the ranges of a description.

use hostnet_traffic::{Pattern, Request, Traffic, CLOCK_MAX, STREAMS_MAX};
use md5::{Digest, Md5};
use proptest::prelude::*;
use std::fmt::Write as _;

/// Number of lines of the 16 GiB channel of the reference traffic.
const CHANNEL_LINES: u64 = 1 << 28;

fn traffic(pattern: &str) -> Traffic {
    Traffic {
        pattern: pattern.parse().expect("a known pattern"),
        write_share: 0.5,
        mean_gap_clocks: None,
        capacity_lines: CHANNEL_LINES,
        requests: 10_000,
        seed: 1,
    }
}

/// Appends a request as `arrival,R|W,line,rank,bank group,bank,row,column`. The line address is split, from its
/// lowest bit, into bank group (2 bits), column (7), bank (2), rank (1) and row (16).
fn neutral(request: &Request, out: &mut String) {
    let Request { clock, line, write, .. } = request;
    let (group, column, bank) = (line & 3, line >> 2 & 127, line >> 9 & 3);
    let (rank, row) = (line >> 11 & 1, line >> 12);
    let letter = if *write { 'W' } else { 'R' };
    writeln!(out, "{clock},{letter},{line},{rank},{group},{bank},{row},{column}").expect("a string takes all");
}

fn digest(pattern: &str, write_share: f64, load: f64) -> String {
    let mean_gap_clocks = (load > 0.0).then(|| 4.0 / load);
    let traffic = Traffic { write_share, mean_gap_clocks, requests: 250_000, ..traffic(pattern) };
    let mut text = String::new();
    traffic.generate().expect("within its ranges").for_each(|request| neutral(&request, &mut text));
    Md5::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_reference_traffic_is_reproduced_bit_for_bit() {
    assert_eq!(digest("seq", 0.0, 0.0), "45b5b3e52aebae3886bed2a9ffc6905a");
    assert_eq!(digest("str4", 0.33, 0.6), "94e4105b9396c0992817a9586d7f9594");
    assert_eq!(digest("rand", 0.5, 0.0), "664c8266d1812383e02897ab8a1ca899");
    assert_eq!(digest("rand", 0.33, 0.8), "242bcb41ecf7b6e20a3b102cfa0644ee");
    assert_eq!(digest("rand", 1.0, 0.6), "1f54edfef2232eb4ec384539fcb06df1");
}

#[test]
fn patterns_have_names() {
    let streams = |count, colliding| Ok(Pattern::Streams { count, colliding });
    assert_eq!("random".parse(), Ok(Pattern::Random));
    assert_eq!("rand".parse(), Ok(Pattern::Random));
    assert_eq!("seq".parse(), streams(1, false));
    assert_eq!("sequential".parse(), streams(1, false));
    assert_eq!("str1".parse(), streams(1, false));
    assert_eq!("str64".parse(), streams(64, false));
    assert_eq!("cstr8".parse(), streams(8, true));
    for wrong in ["", "str", "str0", "str65", "str+4", "str-1", "cstr", "cstr4x", "xstr4", "str999", "Rand"] {
        let error = wrong.parse::<Pattern>().expect_err(wrong).to_string();
        assert!(error.starts_with(&format!("{wrong:?} ")), "{error}");
    }
    let long = "x".repeat(10_000).parse::<Pattern>().expect_err("no pattern").to_string();
    assert!(long.len() < 200, "{long}");
}

#[test]
fn streams_take_turns_one_gib_apart() {
    let first = |pattern| -> Vec<(u64, u8)> {
        traffic(pattern).generate().unwrap().take(6).map(|request| (request.line, request.source)).collect()
    };
    let (near, far) = ((1 << 24) + 512, 2 * ((1 << 24) + 512));
    assert_eq!(first("str3"), [(0, 0), (near, 1), (far, 2), (1, 0), (near + 1, 1), (far + 1, 2)]);
    assert_eq!(first("cstr2"), [(0, 0), (1 << 24, 1), (1, 0), ((1 << 24) + 1, 1), (2, 0), ((1 << 24) + 2, 1)]);
    assert!(traffic("rand").generate().unwrap().all(|request| request.source == 0));
}

#[test]
fn a_capacity_of_any_size_is_used_whole() {
    for capacity_lines in [1, 6, 8] {
        let mut seen = vec![0; capacity_lines as usize];
        let traffic = Traffic { capacity_lines, ..traffic("rand") };
        traffic.generate().unwrap().for_each(|request| seen[request.line as usize] += 1);
        assert!(seen.iter().all(|count| *count > 9_000 / capacity_lines), "{seen:?}");
    }
    let wrapped = Traffic { capacity_lines: 3, requests: 5, ..traffic("seq") };
    assert_eq!(wrapped.generate().unwrap().map(|request| request.line).collect::<Vec<_>>(), [0, 1, 2, 0, 1]);
}

#[test]
fn the_share_of_writes_is_kept() {
    let writes = |write_share| {
        let traffic = Traffic { write_share, requests: 100_000, ..traffic("seq") };
        traffic.generate().unwrap().filter(|request| request.write).count()
    };
    assert_eq!(writes(0.0), 0);
    assert_eq!(writes(1.0), 100_000);
    // Three standard deviations of 100 000 draws.
    assert!(writes(0.25).abs_diff(25_000) < 411);
}

#[test]
fn arrivals_have_their_mean_and_end_at_the_last_clock() {
    let last = |gap| {
        let traffic = Traffic { mean_gap_clocks: Some(gap), requests: 100_000, ..traffic("seq") };
        let clocks: Vec<u64> = traffic.generate().unwrap().map(|request| request.clock).collect();
        assert!(clocks.is_sorted());
        clocks[99_999]
    };
    // Three standard deviations of the sum: 3 x gap x sqrt(100 000).
    assert!(last(5.0).abs_diff(500_000) < 4_744);
    assert_eq!(last(1e300), CLOCK_MAX);
    assert!(traffic("seq").generate().unwrap().all(|request| request.clock == 0));
}

#[test]
fn directions_and_addresses_do_not_depend_on_the_load() {
    let requests = |gap| -> Vec<(u64, bool)> {
        let traffic = Traffic { mean_gap_clocks: gap, ..traffic("rand") };
        traffic.generate().unwrap().map(|request| (request.line, request.write)).collect()
    };
    assert_eq!(requests(None), requests(Some(7.0)));
}

#[test]
fn values_out_of_range_are_refused() {
    let refused = |traffic: Traffic, value: &str| {
        let error = traffic.generate().expect_err(value).to_string();
        assert!(error.contains(value), "{error}");
    };
    let base = traffic("seq");
    refused(Traffic { write_share: 1.01, ..base }, "1.01");
    refused(Traffic { write_share: -0.01, ..base }, "-0.01");
    refused(Traffic { write_share: f64::NAN, ..base }, "NaN");
    refused(Traffic { capacity_lines: 0, ..base }, "0 lines");
    for gap in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(Traffic { mean_gap_clocks: Some(gap), ..base }, &format!("{gap} clocks"));
    }
    for count in [0, STREAMS_MAX + 1] {
        let pattern = Pattern::Streams { count, colliding: false };
        refused(Traffic { pattern, ..base }, &format!("{count} streams"));
    }
}

proptest! {
    #[test]
    fn every_description_gives_its_requests(
        streams in 1..=STREAMS_MAX,
        colliding: bool,
        random: bool,
        write_share in 0.0..=1.0,
        gap in proptest::option::of(1e-9..1e18),
        capacity_lines in 1u64..,
        requests in 0u64..200,
        seed: u64,
    ) {
        let pattern = if random { Pattern::Random } else { Pattern::Streams { count: streams, colliding } };
        let traffic = Traffic { pattern, write_share, mean_gap_clocks: gap, capacity_lines, requests, seed };
        let generator = traffic.generate().expect("within its ranges");
        prop_assert_eq!(generator.size_hint(), (requests as usize, Some(requests as usize)));
        let all: Vec<Request> = generator.collect();
        prop_assert_eq!(all.len() as u64, requests);
        prop_assert!(all.iter().all(|request| request.line < capacity_lines && request.clock <= CLOCK_MAX));
        prop_assert!(all.iter().all(|request| request.source < streams));
        prop_assert!(all.is_sorted_by_key(|request| request.clock));
        prop_assert_eq!(traffic.generate().expect("again").collect::<Vec<_>>(), all);
    }
}
