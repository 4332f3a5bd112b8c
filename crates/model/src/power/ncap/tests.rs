//! Tests of NCAP against traces of interrupts, worked out by hand.

use super::*;
use crate::power::tables;
use proptest::prelude::*;

const US: u64 = 1_000_000;
const RX: InterruptCause = InterruptCause { rx: true, high: false, low: false };
const HIGH: InterruptCause = InterruptCause { rx: true, high: true, low: false };
const LOW: InterruptCause = InterruptCause { rx: false, high: false, low: true };

/// Returns the thresholds of the thesis, section 2.6, with a timer of 100 us.
fn params() -> NcapParams {
    NcapParams {
        software: false,
        high_per_s: Some(35_000),
        low_per_s: 5_000,
        low_bits_per_s: 5_000_000,
        idle_ps: Some(500 * US),
        steps: 2,
        low_ps: 1000 * US,
        period_ps: 100 * US,
        templates: vec![*b"GE", *b"ge"],
        rearm_by_frequency: false,
        packet_ps: 0,
    }
}

fn at_us(us: u64) -> Time {
    Time::from_ps(us * US)
}

/// Expires the timer every 100 us after the given requests and bytes. Returns the interrupts with their times in us.
fn run(engine: &mut DecisionEngine, begin_us: u64, periods: &[(u64, u64)], at_max: bool) -> Vec<(u64, InterruptCause)> {
    let times = (1..).map(|period| begin_us + period * 100);
    let expire = |(us, (requests, bytes)): (u64, &(u64, u64))| {
        engine.expired(at_us(us), *requests, *bytes, at_max).map(|cause| (us, cause))
    };
    times.zip(periods).filter_map(expire).collect()
}

#[test]
fn packets_count_by_their_first_two_bytes() {
    let mut monitor = ReqMonitor::new(&params());
    let seen: Vec<bool> =
        [*b"GE", *b"PU", *b"ge", *b"EG", *b"Ge"].into_iter().map(|first| monitor.received(first)).collect();
    assert_eq!(seen, [true, false, true, false, false]);
    assert_eq!(monitor.requests(), 2);
    monitor.sent(1500);
    monitor.sent(66);
    assert_eq!(monitor.take(), (2, 1566));
    assert_eq!((monitor.requests(), monitor.take()), (0, (0, 0)));
}

#[test]
fn a_burst_is_announced_once_until_a_step_down() {
    let mut engine = DecisionEngine::new(&params(), Time::ZERO);
    // 35 k/s are 3.5 per period: 3 are below the threshold, and 4 are above.
    let seen = run(&mut engine, 0, &[(3, 0), (4, 0), (4, 0), (9, 0)], false);
    assert_eq!(seen, [(200, HIGH)]);
    assert_eq!(engine.level(), 2);
}

#[test]
fn a_rate_at_the_threshold_is_not_above_it() {
    let mut engine = DecisionEngine::new(&NcapParams { high_per_s: Some(40_000), ..params() }, Time::ZERO);
    assert_eq!(run(&mut engine, 0, &[(4, 0)], false), []);
    assert_eq!(run(&mut engine, 100, &[(5, 0)], false), [(200, HIGH)]);
}

#[test]
fn rates_are_taken_over_the_time_that_has_passed() {
    let mut engine = DecisionEngine::new(&params(), Time::ZERO);
    assert_eq!(engine.expired(at_us(200), 7, 0, false), None, "35 k/s");
    assert_eq!(engine.expired(at_us(400), 8, 0, false), Some(HIGH), "40 k/s");
    let mut engine = DecisionEngine::new(&params(), at_us(100));
    assert_eq!(engine.expired(at_us(100), 9, 0, false), None, "no time has passed");
    assert_eq!(run(&mut engine, 100, &[&[(4, 0)], &[(0, 0); 9][..]].concat(), false), [(200, HIGH)]);
    assert_eq!(engine.expired(at_us(1100), 0, 0, false), None, "none again: rates stay low");
    assert_eq!(engine.expired(at_us(1200), 0, 0, false), Some(LOW));
}

#[test]
fn after_a_millisecond_of_low_rates_there_is_a_step_down_and_another_after_the_next() {
    let mut engine = DecisionEngine::new(&params(), Time::ZERO);
    let mut periods = vec![(4, 0)];
    periods.extend([(0, 0); 35]);
    let seen = run(&mut engine, 0, &periods, false);
    // Requests are high at 100 us, and rates are low from 100 us on.
    assert_eq!(seen, [(100, HIGH), (1100, LOW), (2100, LOW)]);
    assert_eq!(engine.level(), 0, "there is nothing to step down to after that");
}

#[test]
fn a_burst_after_a_step_down_is_announced_again() {
    let mut engine = DecisionEngine::new(&params(), Time::ZERO);
    let mut periods = vec![(4, 0)];
    periods.extend([(0, 0); 10]);
    periods.extend([(4, 0), (4, 0)]);
    assert_eq!(run(&mut engine, 0, &periods, false), [(100, HIGH), (1100, LOW), (1200, HIGH)]);
    assert_eq!(engine.level(), 2);
}

#[test]
fn both_rates_have_to_be_low_without_a_break() {
    // 5 Mb/s are 62.5 bytes per period; 5 k/s are half a request.
    for busy in [(1, 0), (0, 63), (1, 63)] {
        let mut engine = DecisionEngine::new(&params(), Time::ZERO);
        let mut periods = vec![(4, 0)];
        periods.extend([(0, 62); 9]);
        periods.push(busy);
        periods.extend([(0, 62); 10]);
        assert_eq!(run(&mut engine, 0, &periods, false), [(100, HIGH), (2100, LOW)], "{busy:?}");
    }
}

#[test]
fn a_rate_at_the_low_threshold_is_not_low() {
    let at_threshold = [
        (NcapParams { low_per_s: 10_000, ..params() }, (1, 0)),
        (NcapParams { low_bits_per_s: 8_000_000, ..params() }, (0, 100)),
    ];
    for (params, period) in at_threshold {
        let mut engine = DecisionEngine::new(&params, Time::ZERO);
        assert_eq!(run(&mut engine, 0, &[&[(4, 0)], &[period; 30][..]].concat(), false), [(100, HIGH)]);
        let mut engine = DecisionEngine::new(&params, Time::ZERO);
        let below = (0, period.1.max(1) - 1);
        assert_eq!(run(&mut engine, 0, &[&[(4, 0)], &[below; 10][..]].concat(), false), [(100, HIGH), (1100, LOW)]);
    }
}

#[test]
fn by_frequency_a_burst_is_announced_as_long_as_the_highest_is_not_there() {
    let params = NcapParams { rearm_by_frequency: true, ..params() };
    let mut engine = DecisionEngine::new(&params, Time::ZERO);
    assert_eq!(run(&mut engine, 0, &[(4, 0)], true), [], "it is there already");
    assert_eq!(engine.level(), 0);
    assert_eq!(run(&mut engine, 100, &[(4, 0), (4, 0)], false), [(200, HIGH), (300, HIGH)]);
    assert_eq!(run(&mut engine, 300, &[(4, 0)], true), []);
    assert_eq!(run(&mut engine, 400, &[(0, 0); 10], true), [(1400, LOW)]);
}

#[test]
fn a_request_after_a_long_time_without_interrupt_interrupts_at_once() {
    let mut ncap = Ncap::new(&params(), at_us(0));
    assert_eq!(ncap.received(at_us(500), *b"GE"), None, "500 us are not longer than 500 us");
    assert_eq!(ncap.received(Time::from_ps(500 * US + 1), *b"PU"), None, "no request");
    assert_eq!(ncap.received(Time::from_ps(500 * US + 1), *b"GE"), Some(RX));
    assert_eq!(ncap.received(at_us(1000), *b"GE"), None, "that was an interrupt");
    assert_eq!(ncap.received(at_us(1001), *b"GE"), Some(RX));
    ncap.interrupted(at_us(1400));
    assert_eq!(ncap.received(at_us(1900), *b"GE"), None, "so was that");
    assert_eq!(ncap.received(at_us(1901), *b"GE"), Some(RX));
    // Requests that have interrupted count for the rate, too: 7 in 1901 us are few, and 76 are many.
    for _ in 0..70 {
        assert_eq!(ncap.received(at_us(1901), *b"ge"), None);
    }
    assert_eq!(ncap.expired(at_us(1950), false), Some(HIGH));
    assert_eq!(ncap.level(), 2);
    assert_eq!(ncap.received(at_us(2450), *b"GE"), None, "500 us after that interrupt");
    assert_eq!(ncap.received(at_us(2451), *b"GE"), Some(RX));
}

#[test]
fn an_engine_that_counts_no_request_does_not_interrupt_at_once() {
    let mut engine = DecisionEngine::new(&params(), at_us(0));
    assert_eq!(engine.request(at_us(600), 0), None);
    assert_eq!(engine.request(at_us(600), 1), Some(RX));
    let mut never = DecisionEngine::new(&NcapParams { idle_ps: None, ..params() }, at_us(0));
    assert_eq!(never.request(at_us(1_000_000), 1), None);
}

#[test]
fn what_is_sent_keeps_a_burst_alive() {
    let mut ncap = Ncap::new(&NcapParams { steps: 1, ..params() }, at_us(0));
    for _ in 0..4 {
        let _ = ncap.received(at_us(50), *b"GE");
    }
    assert_eq!(ncap.expired(at_us(100), false), Some(HIGH));
    for us in (200..=3000).step_by(100) {
        ncap.sent(1500);
        assert_eq!(ncap.expired(at_us(us), true), None, "{us}");
    }
    for us in (3100..4000).step_by(100) {
        assert_eq!(ncap.expired(at_us(us), true), None, "{us}");
    }
    assert_eq!(ncap.expired(at_us(4000), true), Some(LOW));
    assert_eq!(ncap.level(), 0);
}

#[test]
fn the_driver_goes_to_the_highest_at_once_and_down_by_steps() {
    let pstates = tables::pstates();
    let driver_orders = |cause, at, steps| driver_orders(cause, at, &pstates, steps);
    let down = |to| DriverOrders { frequency: Some(to), hold: true, sleep: Some(true) };
    assert_eq!(driver_orders(HIGH, 0, 5), DriverOrders { frequency: Some(4), hold: true, sleep: Some(false) });
    assert_eq!(driver_orders(HIGH, 4, 5), DriverOrders { frequency: Some(4), hold: true, sleep: Some(false) });
    assert_eq!(driver_orders(RX, 2, 5), DriverOrders::default());
    assert_eq!(driver_orders(LOW, 4, 1), down(0));
    assert_eq!(driver_orders(LOW, 2, 1), down(0), "no lower than the lowest");
    assert_eq!(driver_orders(LOW, 4, 2), down(2));
    assert_eq!(driver_orders(LOW, 4, 0), down(0), "no steps are one");
    // 2.0 GHz in 3 steps are 0.67 each. 3.0 - 0.67 = 2.33: at most that is 2.0. From 2.0, 1.33: 1.0.
    assert_eq!(driver_orders(LOW, 4, 3), down(2));
    assert_eq!(driver_orders(LOW, 2, 3), down(0));
    // A step is rounded up: 10 kHz in 4 steps are 3 each: 20, 17, 14, 11, 10.
    let narrow: Vec<_> =
        (10..=20).map(|khz| crate::params::PState { khz, uv: 1, static_uw: 0, dynamic_uw: 0 }).collect();
    assert_eq!(super::driver_orders(LOW, 10, &narrow, 4), down(7));
    assert_eq!(driver_orders(LOW, 0, 3), DriverOrders { frequency: None, hold: false, sleep: Some(true) });
    assert_eq!(driver_orders(InterruptCause { low: true, ..HIGH }, 0, 5).frequency, Some(4), "a burst goes first");
}

proptest! {
    #[test]
    fn no_more_steps_down_are_needed_than_there_are(
        khz in prop::collection::btree_set(1u32..5_000_000, 1..16),
        steps in 1u32..20,
    ) {
        let of = |khz| crate::params::PState { khz, uv: 1, static_uw: 0, dynamic_uw: 0 };
        let pstates: Vec<_> = khz.into_iter().map(of).collect();
        let mut at = pstates.len() - 1;
        for _ in 0..steps {
            let to = driver_orders(LOW, at, &pstates, steps).frequency.unwrap_or(0);
            prop_assert!(to < at || at == 0);
            at = to;
        }
        prop_assert_eq!(at, 0);
    }

    #[test]
    fn without_thresholds_for_bursts_and_idleness_it_never_says_anything(
        low in (any::<u64>(), any::<u64>(), 0u64..100),
        rearm_by_frequency in any::<bool>(),
        packets in prop::collection::vec((0u64..1 << 40, any::<bool>(), any::<u32>(), any::<bool>()), 1..100),
    ) {
        let (low_per_s, low_bits_per_s, low_ps) = low;
        let never = NcapParams { high_per_s: None, idle_ps: None, low_per_s, low_bits_per_s, low_ps, ..params() };
        let mut ncap = Ncap::new(&NcapParams { rearm_by_frequency, ..never }, Time::ZERO);
        let mut now = Time::ZERO;
        for (ps, request, bytes, at_max) in packets {
            now += ps;
            if request {
                prop_assert_eq!(ncap.received(now, *b"GE"), None);
            } else {
                ncap.sent(bytes.into());
                prop_assert_eq!(ncap.expired(now, at_max), None);
            }
            prop_assert_eq!(ncap.level(), 0);
        }
    }

    #[test]
    fn steps_down_follow_bursts_and_are_no_more_than_there_are(
        periods in prop::collection::vec((0u64..6, 0u64..200), 1..400),
        steps in 1u32..6,
        low_us in 100u64..500,
    ) {
        let params = NcapParams { steps, low_ps: low_us * US, ..params() };
        let mut engine = DecisionEngine::new(&params, Time::ZERO);
        let (mut left, mut last_us) = (0, 0);
        for (us, cause) in run(&mut engine, 0, &periods, false) {
            if cause.high {
                left = steps;
            } else {
                prop_assert!(left > 0 && us - last_us >= low_us);
                left -= 1;
            }
            last_us = us;
        }
        prop_assert_eq!(engine.level(), left);
    }
}
