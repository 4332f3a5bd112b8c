//! Compares the arithmetic of the algorithms with closed forms.

use super::cubic::{cube_root, Cubic};
use super::dctcp::Dctcp;
use super::{Acked, Congestion, CongestionRule, CongestionWindow};
use crate::params::{CongestionControl, TcpParams};
use hostnet_kernel::Time;
use proptest::prelude::*;

const MSS: u64 = 1448;

fn window(bytes: u64, threshold: u64) -> CongestionWindow {
    CongestionWindow { bytes, threshold, mss: MSS, acked: 0 }
}

proptest! {
    #[test]
    fn alpha_follows_its_closed_form(
        gain in 1..65536_u32,
        first in 0..65537_u32,
        marked in 0..101_u64,
        windows in 1..100_i32
    ) {
        let mut dctcp = Dctcp::new(gain, first);
        let (mut una, mut next) = (0, 100 * MSS);
        // The first window ends with the first byte; marks count from then on.
        dctcp.observe(0, false, 1, next);
        let begin = f64::from(dctcp.alpha());
        for _ in 0..windows {
            let end = next;
            next += 100 * MSS;
            for packet in 0..100 {
                una += MSS;
                prop_assert!(una <= end);
                dctcp.observe(MSS, packet < marked, una, next);
            }
            una += 1;
            dctcp.observe(0, false, una, next);
            una -= 1;
        }
        let (gain, share) = (f64::from(gain) / 65536.0, marked as f64 / 100.0);
        let expected = share * 65536.0 + (begin - share * 65536.0) * (1.0 - gain).powi(windows);
        prop_assert!((f64::from(dctcp.alpha()) - expected).abs() <= 2.0, "{} instead of {expected}", dctcp.alpha());
    }

    #[test]
    fn the_cut_is_half_of_alpha_with_a_floor_of_two_segments(alpha in 0..65537_u32, bytes in 1..10_000_000_u64) {
        let mut window = window(bytes, u64::MAX);
        Dctcp::new(1, alpha).on_echo(&mut window);
        let exact = bytes as f64 * (1.0 - f64::from(alpha) / 131_072.0);
        prop_assert!((window.bytes as f64 - exact.max(2.0 * MSS as f64)).abs() <= 1.0);
        prop_assert_eq!(window.threshold, window.bytes);
    }

    #[test]
    fn cube_roots_are_the_largest_below(value: u128) {
        let value = value >> 2;
        let root = u128::from(cube_root(value));
        prop_assert!(root.pow(3) <= value && (root + 1).pow(3) > value);
    }

    #[test]
    fn reno_grows_by_a_segment_per_window_however_it_is_acknowledged(
        segments in 2..500_u64, pieces in prop::collection::vec(1..100_000_u64, 1..50)
    ) {
        let mut grown = window(segments * MSS, MSS);
        let bytes: u64 = pieces.iter().sum();
        pieces.iter().for_each(|&piece| grown.grow(piece));
        let mut expected = segments;
        let mut left = bytes;
        while left >= expected * MSS {
            left -= expected * MSS;
            expected += 1;
        }
        prop_assert_eq!(grown.bytes, expected * MSS);
    }
}

#[test]
fn slow_start_ends_at_the_threshold() {
    let mut window = window(10 * MSS, 15 * MSS);
    window.grow(4 * MSS);
    assert_eq!(window.bytes, 14 * MSS);
    window.grow(2 * MSS);
    assert_eq!((window.bytes, window.acked), (15 * MSS, MSS));
}

#[test]
fn cubic_comes_back_to_its_plateau_after_the_cube_root_of_what_it_gave_up() {
    // RFC 9438 equation 2: K = cbrt((W_max - cwnd) / C), here cbrt(3000 / 0.4) = 19.57 s.
    let mut cubic = Cubic::default();
    let mut window = window(10_000 * MSS, MSS);
    cubic.on_echo(&mut window);
    assert_eq!(window.bytes, 7000 * MSS);
    let rtt_ps = 100_000_000_000;
    let mut now = Time::from_ps(1);
    let mut at_19_s = 0;
    while window.bytes < 9_999 * MSS {
        let bytes = window.bytes;
        cubic.grow(&mut window, Acked { bytes, now, rtt_ps });
        now += rtt_ps;
        assert!(window.bytes <= 10_000 * MSS, "it stays below its plateau");
        if now.ps() == 10_000_000_000_001 {
            at_19_s = window.bytes / MSS;
        }
    }
    // C (t - K)^3 + W_max at 10 s, and the plateau less a segment where 0.4 (K - t)^3 = 1.
    let exact = 10_000.0 - 0.4 * (19.574_f64 - 10.0).powi(3);
    assert!((at_19_s as f64 - exact).abs() < 5.0, "{at_19_s} instead of {exact}");
    let seconds = now.ps() as f64 / 1e12;
    assert!((seconds - (19.574 - 1.357)).abs() < 0.3, "{seconds} s");
}

#[test]
fn cubic_grows_at_least_as_reno_would() {
    // With short round trips the curve is flat, and W_est of section 4.3 leads, with 9/17 of a segment per window.
    let mut cubic = Cubic::default();
    let mut window = window(100 * MSS, MSS);
    cubic.on_echo(&mut window);
    let mut now = Time::from_ps(1);
    for _ in 0..34 {
        let bytes = window.bytes;
        cubic.grow(&mut window, Acked { bytes, now, rtt_ps: 20_000_000 });
        now += 20_000_000;
    }
    assert!((88 * MSS - MSS / 2..=88 * MSS + MSS / 2).contains(&window.bytes), "{} segments", window.bytes / MSS);
}

#[test]
fn cubic_makes_room_when_it_did_not_reach_its_plateau() {
    let mut cubic = Cubic::default();
    let mut grown = window(100 * MSS, MSS);
    cubic.on_echo(&mut grown);
    cubic.on_echo(&mut grown);
    assert_eq!(grown.bytes, 49 * MSS);
    let now = Time::from_ps(1);
    for _ in 0..3 {
        cubic.grow(&mut grown, Acked { bytes: MSS, now, rtt_ps: 60_000_000_000_000 });
    }
    // The plateau is 0.85 of 70 segments, and the window grows by half per window at most.
    assert!(grown.bytes <= 51 * MSS && grown.bytes > 49 * MSS);
}

/// Returns CUBIC after a reduction from 10,000 segments to 7000 and the acknowledgement of one window, and the time.
fn reduced() -> (Congestion, Time) {
    let mut congestion = Congestion::new(&params());
    congestion.window = window(10_000 * MSS, MSS);
    congestion.on_echo();
    let now = Time::from_ps(1);
    congestion.grow(acked(congestion.bytes(), now));
    (congestion, now)
}

fn params() -> TcpParams {
    TcpParams {
        control: CongestionControl::Cubic,
        mss_bytes: 1448,
        tso_bytes: 1448,
        initial_window: 10,
        receive_buffer_bytes: 1 << 20,
        send_buffer_bytes: 1 << 20,
        rto_min_ps: 1,
        rto_initial_ps: 1,
        ack_segments: 1,
        ack_delay_ps: 0,
        sack: true,
        tail_loss_probe: true,
        ecn: true,
    }
}

const RTT_PS: u64 = 100_000_000_000;

fn acked(bytes: u64, now: Time) -> Acked {
    Acked { bytes, now, rtt_ps: RTT_PS }
}

#[test]
fn time_without_growth_does_not_count_for_cubic() {
    // RFC 9438 section 5.8. Twenty seconds of growth would restore the plateau.
    let (mut silent, begin) = reduced();
    let before = silent.bytes();
    let now = begin + 200 * RTT_PS;
    silent.skip(now);
    silent.grow(acked(silent.bytes(), now + RTT_PS));
    assert!(silent.bytes() < before + 150 * MSS, "{} segments after {}", silent.bytes() / MSS, before / MSS);
    // Time in which the window grows does count.
    let (mut busy, mut now) = reduced();
    for _ in 0..200 {
        now += RTT_PS;
        busy.grow(acked(busy.bytes(), now));
    }
    assert!(busy.bytes() > 9990 * MSS);
}

#[test]
fn cubic_knows_no_plateau_after_a_timeout() {
    // RFC 9438 section 4.8: K is 0, and W_max is the window at the start of congestion avoidance.
    let mut congestion = Congestion::new(&params());
    congestion.window = window(10_000 * MSS, MSS);
    congestion.on_timeout(false);
    assert_eq!((congestion.bytes(), congestion.window.threshold), (MSS, 7000 * MSS));
    let mut now = Time::from_ps(1);
    congestion.grow(acked(7000 * MSS, now));
    let begin = now;
    while now.since(begin) < 10_000_000_000_000 {
        now += RTT_PS;
        congestion.grow(acked(congestion.bytes(), now));
    }
    let exact = 7000.0 + 0.4 * 10.0_f64.powi(3);
    let segments = congestion.bytes() as f64 / MSS as f64;
    assert!((segments - exact).abs() < 15.0, "{segments} instead of {exact}");
}
