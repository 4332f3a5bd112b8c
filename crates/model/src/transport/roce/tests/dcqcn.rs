//! Compares DCQCN with the closed form of its equations.

use super::super::dcqcn::ReactionPoint;
use super::laws::dcqcn;
use crate::params::DcqcnParams;
use hostnet_kernel::Time;

const US: u64 = 1_000_000;
const LINE: u64 = 5_000_000_000;

fn at(us: u64) -> Time {
    Time::from_ps(us * US)
}

#[test]
fn the_first_notification_halves_the_rate_and_alpha_stays_at_one() {
    let mut reaction = ReactionPoint::new(dcqcn(), LINE);
    reaction.on_notification(at(1_000));
    assert_eq!(reaction.rate(), LINE / 2);
    assert_eq!(reaction.alpha(), 1 << 16);
}

#[test]
fn alpha_decays_by_its_gain_in_every_period_without_notification() {
    let gain = 1.0 / 256.0;
    for periods in [0, 1, 10, 100, 1000] {
        let mut reaction = ReactionPoint::new(DcqcnParams { increase_ps: u64::MAX / 4, ..dcqcn() }, LINE);
        reaction.on_notification(at(0));
        reaction.on_notification(at(55 * periods));
        let decayed = (1.0_f64 - gain).powi(periods as i32);
        let rate = LINE as f64 / 2.0 * (1.0 - decayed / 2.0);
        assert!((reaction.rate() as f64 / rate - 1.0).abs() < 1e-4, "{periods}: {} instead of {rate}", reaction.rate());
        let alpha = (decayed * (1.0 - gain) + gain) * 65536.0;
        assert!(
            (f64::from(reaction.alpha()) - alpha).abs() < 2.0,
            "{periods}: {} instead of {alpha}",
            reaction.alpha()
        );
    }
}

#[test]
fn fast_recovery_halves_the_distance_to_the_old_rate_and_then_the_target_rises() {
    let mut reaction = ReactionPoint::new(dcqcn(), LINE);
    reaction.on_notification(at(0));
    reaction.on_notification(at(1));
    // From 2.5 to 1.25 GB/s (alpha is 1); rounds follow every 55 us.
    let (target, rate) = (2.5e9, 1.25e9);
    for round in 1..5_u64 {
        reaction.catch_up(at(1 + 55 * round - 1));
        let before = target - (target - rate) / 2_f64.powi(round as i32 - 1);
        assert!((reaction.rate() as f64 - before).abs() < 2.0);
        reaction.catch_up(at(1 + 55 * round));
        let after = target - (target - rate) / 2_f64.powi(round as i32);
        assert!((reaction.rate() as f64 - after).abs() < 2.0, "round {round}: {}", reaction.rate());
    }
    // The fifth round is no longer below F: 5 MB/s more per round.
    let mut expected = reaction.rate() as f64;
    let mut target = target;
    for round in 5..20_u64 {
        reaction.catch_up(at(1 + 55 * round));
        target += 5e6;
        expected = (expected + target) / 2.0;
        assert!((reaction.rate() as f64 - expected).abs() < 4.0, "round {round}: {}", reaction.rate());
    }
}

#[test]
fn hyper_increase_begins_when_timer_and_bytes_are_both_beyond_their_rounds() {
    let mut reaction = ReactionPoint::new(dcqcn(), LINE);
    reaction.on_notification(at(0));
    reaction.on_notification(at(1));
    reaction.catch_up(at(1 + 55 * 6));
    for _ in 0..5 {
        reaction.on_sent(10_000_000);
    }
    // Two rounds of the timer and five of the byte counter had the additive step; now both are beyond five.
    let settled = |reaction: &ReactionPoint| reaction.rate() as f64;
    let before = settled(&reaction);
    let target = 2.5e9 + 7.0 * 5e6;
    reaction.on_sent(9_999_999);
    assert!((settled(&reaction) - before).abs() < 1.0);
    reaction.on_sent(1);
    let expected = (before + target + 50e6) / 2.0;
    assert!((settled(&reaction) - expected).abs() < 4.0, "{} instead of {expected}", settled(&reaction));
}

#[test]
fn the_rate_stays_between_its_least_and_the_port() {
    let mut reaction = ReactionPoint::new(dcqcn(), LINE);
    for us in 0..1000 {
        reaction.on_notification(at(us));
    }
    assert_eq!(reaction.rate(), 12_500_000);
    reaction.catch_up(at(10_000_000));
    assert_eq!(reaction.rate(), LINE);
    reaction.on_sent(u64::MAX / 2);
    assert_eq!(reaction.rate(), LINE);
}
