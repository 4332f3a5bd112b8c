//! Tests of the idle governors: traces of decisions, worked out by hand, and properties of all governors.

use super::*;
use crate::power::tables;
use proptest::prelude::*;

const US: u64 = 1_000_000;

/// Time to the timer in us, PM QoS limit in us, expected decision, and length of the sleep that follows in us.
type Turn = (u64, Option<u64>, Option<usize>, u64);

fn check(kind: IdleGovernorParams, turns: &[Turn]) -> IdleGovernor {
    let mut governor = IdleGovernor::new(kind, &tables::cstates());
    let mut now = Time::ZERO;
    for (line, (timer_us, qos_us, chosen, slept_us)) in turns.iter().enumerate() {
        assert_eq!(governor.select(now, Some(timer_us * US), qos_us.map(|us| us * US)), *chosen, "turn {line}");
        now += slept_us * US;
        governor.reflect(now, slept_us * US);
    }
    governor
}

#[test]
fn without_c_states_and_without_a_governor_cores_poll() {
    for kind in [
        IdleGovernorParams::Poll,
        IdleGovernorParams::Ladder,
        IdleGovernorParams::Menu,
        IdleGovernorParams::EarlyMenu,
        IdleGovernorParams::Teo,
    ] {
        let cstates = if kind == IdleGovernorParams::Poll { tables::cstates() } else { Vec::new() };
        let mut governor = IdleGovernor::new(kind, &cstates);
        for turn in 1..20 {
            assert_eq!(governor.select(Time::from_ps(turn * 1000 * US), None, None), None);
            governor.reflect(Time::from_ps((turn + 1) * 1000 * US), 1000 * US);
        }
    }
}

#[test]
fn the_ladder_goes_deeper_after_four_long_sleeps_and_back_after_one_short() {
    let trace = [
        (1, None, Some(0), 3),  // 3 - 2 = 1 us: short, but there is nothing below
        (1, None, Some(0), 5),  // 3 us, longer than the 2 us of C1: the first long one
        (1, None, Some(0), 4),  // as long as its exit: neither
        (1, None, Some(0), 5),  // second
        (1, None, Some(0), 3),  // short
        (1, None, Some(0), 5),  // third
        (1, None, Some(0), 5),  // fourth
        (1, None, Some(1), 20), // C3; 20 - 10: neither long nor short
        (1, None, Some(1), 21), // first
        (1, None, Some(1), 21), // second
        (1, None, Some(1), 21), // third
        (1, None, Some(1), 19), // short
        (1, None, Some(0), 5),  // back; the three long ones are forgotten
        (1, None, Some(0), 5),
        (1, None, Some(0), 5),
        (1, None, Some(0), 5),
        (1, None, Some(1), 21), // first again
        (1, None, Some(1), 21),
        (1, None, Some(1), 21),
        (1, None, Some(1), 21),
        (1, None, Some(2), 900), // C6; nothing is deeper
        (1, None, Some(2), 900),
        (1, None, Some(2), 43), // 21 us: short
        (1, None, Some(1), 0),
    ];
    check(IdleGovernorParams::Ladder, &trace);
}

#[test]
fn the_ladder_heeds_the_limit() {
    let up: Vec<Turn> = [0, 0, 0, 0, 1, 1, 1, 1, 2].map(|at| (1, None, Some(at), 900)).to_vec();
    let limited = [
        (1, Some(21), Some(1), 900), // C6 takes 22
        (1, Some(22), Some(1), 900), // allowed again, but it has to be earned
        (1, Some(9), Some(0), 900),
        (1, Some(1), None, 900),
        (1, Some(0), None, 900),
        (1, Some(9), Some(0), 900), // what it polled does not count
        (1, Some(9), Some(0), 900),
        (1, Some(9), Some(0), 900),
        (1, Some(9), Some(0), 900),
        (1, Some(9), Some(0), 900), // long sleeps do not count while C3 is not allowed
        (1, Some(10), Some(0), 900),
        (1, Some(10), Some(0), 900),
        (1, Some(10), Some(0), 900),
        (1, Some(10), Some(1), 900),
    ];
    check(IdleGovernorParams::Ladder, &[up, limited.to_vec()].concat());
    // No sleep counts twice, and after a poll the governor begins with the lightest state.
    let polled = [(1, None, Some(0), 900), (1, Some(1), None, 900)];
    let again = [0, 0, 0, 0, 1].map(|at| (1, None, Some(at), 900));
    check(IdleGovernorParams::Ladder, &[&polled[..], &again].concat());
}

#[test]
fn menu_goes_by_the_timer_and_by_sleeps_that_fall_short() {
    let begin: Vec<Turn> = vec![(1000, None, None, 1000); 8];
    let trace = [
        // Eight sleeps of 1 ms are remembered, and none is shorter than the timer.
        (1000, None, Some(2), 120),
        // 98 us without the exit latency is the only sleep below 1 ms: typical. Correction 7268 of 8192: 887 us.
        (1000, None, Some(1), 60),
        // 98 and 50 us are not alike: 36 x 576 > 74^2. Correction 6411: 783 us.
        (1000, None, Some(2), 50),
        // Another magnitude, which has no correction yet: 100 us is less than 150.
        (100, None, Some(1), 100),
    ];
    check(IdleGovernorParams::Menu, &[begin, trace.to_vec()].concat());
}

#[test]
fn menu_finds_sleeps_that_repeat() {
    let begin: Vec<Turn> = vec![(100_000, Some(1), None, 50); 8];
    let trace = [
        (100_000, None, Some(1), 60), // 50 us is typical: C3
        (100_000, None, Some(1), 60),
        (49, None, Some(1), 60), // the timer is sooner than that
        (39, None, Some(0), 60),
        (10, None, Some(0), 12),
        (9, None, None, 9), // too soon for C1
    ];
    check(IdleGovernorParams::Menu, &[begin, trace.to_vec()].concat());
}

#[test]
fn menu_would_rather_sleep_lightly_than_poll() {
    for (slept_us, chosen) in [(1, None), (2, Some(0)), (9, Some(0)), (10, Some(0)), (39, Some(0)), (40, Some(1))] {
        let begin: Vec<Turn> = vec![(100_000, Some(1), None, slept_us); 8];
        let last = [(100_000, None, chosen, 0)];
        check(IdleGovernorParams::Menu, &[begin, last.to_vec()].concat());
    }
}

#[test]
fn menu_and_teo_heed_the_limit() {
    let limits = [(None, Some(2)), (Some(22), Some(2)), (Some(21), Some(1)), (Some(10), Some(1)), (Some(9), Some(0))];
    for (qos, chosen) in limits.into_iter().chain([(Some(2), Some(0)), (Some(1), None), (Some(0), None)]) {
        let begin: Vec<Turn> = vec![(1000, None, None, 1000); 8];
        check(IdleGovernorParams::Menu, &[begin, vec![(1000, qos, chosen, 0)]].concat());
        check(IdleGovernorParams::Teo, &[(1000, qos, chosen, 0)]);
    }
}

#[test]
fn a_limit_of_nothing_forbids_sleep_without_exit_latency_too() {
    let mut cstates = tables::cstates();
    cstates[0].exit_ps = 0;
    for kind in
        [IdleGovernorParams::Ladder, IdleGovernorParams::Menu, IdleGovernorParams::EarlyMenu, IdleGovernorParams::Teo]
    {
        assert_eq!(IdleGovernor::new(kind, &cstates).select(Time::ZERO, None, Some(0)), None);
    }
    assert_eq!(IdleGovernor::new(IdleGovernorParams::Teo, &cstates).select(Time::ZERO, None, Some(1)), Some(0));
}

#[test]
fn teo_goes_by_the_timer_until_sleeps_are_mostly_intercepted() {
    let trace = [
        (9, None, None, 9),
        (39, None, Some(0), 41),
        (149, None, Some(1), 159),
        (1000, None, Some(2), 60),   // 60 - 11 = 49 us: intercepted in the range of C3
        (1000, None, Some(1), 1010), // 1024 intercepts, nothing lasted: C3; to the timer: a hit
        (1000, None, Some(2), 60),   // 1024 hits, 896 intercepts
        (1000, None, Some(1), 60),   // 896 hits, 1808 intercepts
        (149, None, Some(1), 159),   // what C3 is for was not intercepted
    ];
    check(IdleGovernorParams::Teo, &trace);
    // Three hits add up to 2704. After three intercepted sleeps 1813 are left, and there are 2704 intercepts.
    let lengths = [1000, 1000, 1000, 60, 60, 60].map(|slept_us| (1000, None, Some(2), slept_us));
    check(IdleGovernorParams::Teo, &[&lengths[..], &[(1000, None, Some(1), 0)]].concat());
}

#[test]
fn teo_takes_the_deepest_state_that_most_intercepted_sleeps_were_long_enough_for() {
    let trace = [
        (1000, None, Some(2), 60),
        (1000, None, Some(1), 25), // 25 - 5 = 20 us: in the range of C1
        (1000, None, Some(0), 25), // 896 in that of C3, 1024 in that of C1: not more than half
        (1000, None, Some(0), 25),
        (1000, None, Some(0), 61), // 60 us; 686 and 2704
        (1000, None, Some(0), 61), // 1624 and 2366
        (1000, None, Some(0), 61), // 2446 and 2071 in all, but of the recent six no more than half
        (1000, None, Some(1), 5),  // 3165 and 1813, four of seven: C3; 5 / 2 us: worth polling
    ];
    check(IdleGovernorParams::Teo, &trace);
    let polled = [(1000, None, Some(2), 15), (1000, None, None, 5), (1000, None, None, 5)];
    check(IdleGovernorParams::Teo, &polled);
}

#[test]
fn teo_takes_half_of_the_exit_latency_off() {
    // C6, 22 us: 51 - 11 = 40 us is in the range of C3, and 50 - 11 in that of C1. 21 / 2 us is in the range of C1,
    // too, and 19 / 2 us is below.
    for (slept_us, next) in [(51, Some(1)), (50, Some(0)), (21, Some(0)), (22, Some(0)), (20, Some(0)), (19, None)] {
        check(IdleGovernorParams::Teo, &[(1000, None, Some(2), slept_us), (1000, None, next, 0)]);
    }
}

#[test]
fn teo_heeds_five_intercepted_sleeps_of_the_last_nine() {
    let hits: Vec<Turn> = vec![(1000, None, Some(2), 1000); 60];
    let short = |chosen, slept| (1000, None, Some(chosen), slept);
    // After 60 hits there are 8185. After five more sleeps 4200 are left, and 3990 intercepts: not often, but
    // recently.
    let five = [60, 60, 60, 60, 60].map(|slept| short(2, slept));
    // Four hits later five of nine are still intercepted, and one more hit leaves four.
    let after = [1, 1, 1, 1, 1].map(|chosen| short(chosen, 1000));
    let end = [short(2, 60), short(2, 1000)];
    check(IdleGovernorParams::Teo, &[&hits, &five[..], &after, &end].concat());
}

#[test]
fn teo_counts_a_sleep_to_the_timer_as_a_hit_whatever_was_measured() {
    let mut governor = IdleGovernor::new(IdleGovernorParams::Teo, &tables::cstates());
    assert_eq!(governor.select(Time::from_ps(US), Some(1000 * US), None), Some(2));
    governor.reflect(Time::from_ps(1001 * US), 60 * US);
    assert_eq!(governor.select(Time::from_ps(US), Some(1000 * US), None), Some(2));
    governor.reflect(Time::from_ps(1001 * US - 1), 60 * US);
    governor.reflect(Time::from_ps(1001 * US - 1), 60 * US);
    assert_eq!(governor.select(Time::ZERO, Some(1000 * US), None), Some(1));
}

#[test]
fn a_governor_goes_on_from_a_checkpoint() {
    for kind in
        [IdleGovernorParams::Ladder, IdleGovernorParams::Menu, IdleGovernorParams::EarlyMenu, IdleGovernorParams::Teo]
    {
        let mut governor = IdleGovernor::new(kind, &tables::cstates());
        for turn in 1..40 {
            let mut other = tables::round_trip_checkpoint(&governor);
            let timer_ps = Some(turn * 37 % 17 * 50 * US);
            let chosen = governor.select(Time::ZERO, timer_ps, None);
            assert_eq!(other.select(Time::ZERO, timer_ps, None), chosen);
            governor.reflect(Time::from_ps(turn * 29 % 13 * 20 * US), turn * 29 % 13 * 20 * US);
        }
    }
}

/// Generates C-states of which deeper ones take longer to leave and have longer target residencies.
fn any_cstates() -> impl Strategy<Value = Vec<CState>> {
    let of = |most: u64| prop::collection::vec(0..most, 0..5);
    (prop_oneof![of(300 * US), of(u64::MAX)], prop_oneof![of(300 * US), of(u64::MAX)]).prop_map(
        |(mut exit, mut stay)| {
            exit.sort_unstable();
            stay.sort_unstable();
            let state = |(exit_ps, residency_ps)| CState { name: String::new(), exit_ps, residency_ps, power_uw: None };
            exit.into_iter().zip(stay).map(state).collect()
        },
    )
}

fn any_time() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..1000 * US, Just(0), Just(u64::MAX)]
}

proptest! {
    #[test]
    fn a_chosen_state_is_allowed_and_worth_it(
        cstates in any_cstates(),
        kind in prop::sample::select(vec![
            IdleGovernorParams::Ladder, IdleGovernorParams::Menu, IdleGovernorParams::Teo
        ]),
        turns in prop::collection::vec(
            (any_time(), prop::option::of(any_time()), prop::option::of(any_time()), any_time()), 1..60),
    ) {
        let mut governor = IdleGovernor::new(kind, &cstates);
        for (now, timer_ps, qos_ps, slept_ps) in turns {
            let mut copy = governor.clone();
            let chosen = governor.select(Time::from_ps(now), timer_ps, qos_ps);
            prop_assert_eq!(copy.select(Time::from_ps(now), timer_ps, qos_ps), chosen);
            if let Some(at) = chosen {
                let (state, timer_ps) = (&cstates[at], timer_ps.unwrap_or(u64::MAX));
                prop_assert!(state.exit_ps <= qos_ps.unwrap_or(u64::MAX));
                match &governor {
                    IdleGovernor::Menu(menu) => {
                        prop_assert!(state.exit_ps <= menu.predicted_ps());
                        let lightest = at == 0 && state.residency_ps <= timer_ps;
                        prop_assert!(lightest || state.residency_ps <= menu.predicted_ps());
                        prop_assert!(menu.predicted_ps() <= timer_ps);
                    }
                    IdleGovernor::Teo(_) => prop_assert!(state.residency_ps <= timer_ps),
                    _ => {}
                }
            }
            governor.reflect(Time::from_ps(now).saturating_add(slept_ps), slept_ps);
        }
    }
}
