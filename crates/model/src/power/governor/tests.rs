//! Tests of the frequency governors against traces of decisions, worked out by hand.

use super::*;
use crate::params::OndemandVariant::{Old, Proportional};
use crate::power::tables;
use proptest::prelude::*;

/// Returns the decision of a governor for a load in percent and a utilisation, at P-state `at` of 1.0, 1.5, 2.0, 2.5
/// and 3.0 GHz.
fn decide(governor: &mut dyn Governor, at: usize, percent: u64, util: u64) -> usize {
    let pstates = tables::pstates();
    let loads = [
        Load::default(),
        Load { busy_ps: percent * 100_000_000, util, ..Load::default() },
        Load { busy_ps: 1, ..Load::default() },
    ];
    governor.decide(&Look { now_ps: 0, window_ps: 10_000_000_000, domain: 0, at, loads: &loads, pstates: &pstates })
}

fn check(governor: &mut dyn Governor, table: &[(usize, u64, usize)]) {
    for (line, (at, percent, decision)) in table.iter().enumerate() {
        assert_eq!(decide(governor, *at, *percent, 0), *decision, "line {line}: {percent}% at {at}");
    }
}

#[test]
fn performance_is_the_fastest_powersave_the_slowest_userspace_the_one_that_is_set() {
    for (at, percent) in [(0, 0), (4, 0), (0, 100), (4, 100)] {
        assert_eq!(decide(&mut Performance, at, percent, 0), 4);
        assert_eq!(decide(&mut Powersave, at, percent, 1024), 0);
        assert_eq!(decide(&mut Userspace { at: 2 }, at, percent, 0), 2);
        assert_eq!(decide(&mut Userspace { at: 9 }, at, percent, 0), 4);
    }
}

#[test]
fn the_old_ondemand_takes_the_slowest_that_keeps_the_load_at_92_percent() {
    let mut governor = Ondemand { variant: Old, up_threshold: 95, io_busy: false };
    let table = [
        (0, 96, 4), // above 95: the fastest, in one go
        (0, 95, 0), // not above
        (3, 95, 3), // from 92 to 95 it stays
        (3, 92, 3), // not below 92
        (4, 91, 4), // 91 x 3.0 / 92 = 2.967 GHz: 3.0
        (4, 77, 4), // 77 x 3.0 / 92 = 2.511: 3.0; over 85 (ten points below) as well
        (4, 76, 3), // 76 x 3.0 / 92 = 2.478: 2.5; over 85 it would be 2.682 and stay
        (4, 61, 2), // 61 x 3.0 / 92 = 1.989: 2.0
        (4, 62, 3), // 62 x 3.0 / 92 = 2.022: 2.5
        (4, 30, 0), // 0.978
        (4, 31, 1), // 1.011
        (2, 73, 2), // 73 x 2.0 / 92 = 1.587: stays at 2.0, since the load is of 2.0 GHz and not of 3.0
        (2, 69, 1), // 69 x 2.0 / 92 = 1.500 exactly
        (2, 0, 0),  // nothing
        (0, 91, 0), // the slowest cannot go down
    ];
    check(&mut governor, &table);
}

#[test]
fn the_threshold_of_the_old_ondemand_moves_the_aim_with_it() {
    let mut governor = Ondemand { variant: Old, up_threshold: 80, io_busy: false };
    // 61 x 3.0 / 77 = 2.377: 2.5. At 78% the P-state stays.
    check(&mut governor, &[(0, 81, 4), (0, 80, 0), (4, 61, 3), (4, 78, 4), (1, 78, 1)]);
    // With this threshold the target load is 0.
    check(&mut Ondemand { variant: Old, up_threshold: 2, io_busy: false }, &[(1, 3, 4), (1, 2, 1), (1, 0, 1)]);
}

#[test]
fn the_proportional_ondemand_takes_the_closest_between_slowest_and_fastest() {
    let mut governor = Ondemand { variant: Proportional, up_threshold: 80, io_busy: false };
    let table = [
        (0, 81, 4), // above 80: the fastest
        (0, 80, 3), // 1.0 + 0.80 x 2.0 = 2.6: 2.5, whatever was there
        (4, 80, 3),
        (4, 12, 0), // 1.24: 1.0
        (4, 13, 1), // 1.26: 1.5
        (4, 37, 1), // 1.74: 1.5
        (4, 38, 2), // 1.76: 2.0
        (4, 50, 2), // 2.0 exactly
        (4, 0, 0),
    ];
    check(&mut governor, &table);
}

#[test]
fn conservative_moves_what_it_wants_by_steps() {
    let mut governor = Conservative::new(80, 20, 10);
    let table = [
        (0, 80, 0), // not above 80; it wants 1.0 GHz
        (0, 81, 0), // 1.3: at most that is 1.0
        (0, 81, 1), // 1.6: 1.5
        (1, 50, 1), // between the thresholds
        (1, 20, 1), // not below 20
        (1, 81, 1), // 1.9: 1.5
        (1, 81, 2), // 2.2: 2.0
        (2, 81, 3), // 2.5
        (3, 81, 3), // 2.8: 2.5
        (3, 81, 4), // 3.1: no more than 3.0
        (4, 99, 4), // there is no more
        (4, 19, 4), // 2.7: at least that is 3.0
        (4, 19, 3), // 2.4: 2.5, so that the way up was cut at 3.0
        (3, 19, 3), // 2.1: 2.5
        (3, 19, 2), // 1.8: 2.0
        (2, 19, 1), // 1.5
        (1, 19, 1), // 1.2: 1.5
        (1, 19, 0), // 0.9: no less than 1.0
        (0, 19, 0), // there is no less
        (0, 81, 0), // 1.3, so that the way down was cut at 1.0
        (0, 81, 1), // 1.6
    ];
    check(&mut governor, &table);
}

#[test]
fn conservative_begins_where_the_cores_are_and_goes_on_from_a_checkpoint() {
    let mut governor = Conservative::new(80, 20, 10);
    assert_eq!(governor.state(), Some(Vec::new()));
    assert_eq!(decide(&mut governor, 2, 90, 0), 2, "2.0 + 0.3 GHz: at most that is 2.0");
    let mut other = Conservative::new(80, 20, 10);
    other.restore(&governor.state().expect("it has one")).expect("it is its own");
    assert_eq!(decide(&mut other, 2, 90, 0), 3, "2.6 GHz");
    other.restore(&[]).expect("that of one that has not looked");
    assert_eq!(decide(&mut other, 2, 90, 0), 2);
    assert!(other.restore(&[1, 2, 3]).is_err());
}

#[test]
fn conservative_keeps_what_it_wants_when_others_move_the_cores() {
    let table = [
        (2, 50, 2), // it wants 2.0 GHz
        (0, 90, 2), // 2.3, wherever the cores are
        (0, 90, 3), // 2.6
        (3, 90, 3), // 2.9
        (3, 90, 4), // 3.0
        (1, 90, 1), // it has what it wants
    ];
    check(&mut Conservative::new(80, 20, 10), &table);
    check(&mut Conservative::new(80, 20, 10), &[(0, 10, 0), (3, 10, 3)]);
}

#[test]
fn conservative_without_a_step_stays_and_one_of_nothing_is_the_least() {
    check(&mut Conservative::new(80, 20, 0), &[(2, 100, 2), (2, 0, 2)]);
    let pstates = [1, 3, 20].map(|khz| PState { khz, uv: 1, static_uw: 0, dynamic_uw: 0 });
    let look = |percent, at| Look {
        now_ps: 0,
        window_ps: 100,
        domain: 0,
        at,
        loads: if percent > 50 {
            &[Load { busy_ps: 100, waiting_ps: 0, util: 0 }]
        } else {
            &[Load { busy_ps: 0, waiting_ps: 0, util: 0 }]
        },
        pstates: &pstates,
    };
    // 1% of 20 kHz rounds to 0, so the step is 5 kHz and the request is 6 kHz.
    let mut governor = Conservative::new(80, 20, 1);
    assert_eq!(governor.decide(&look(100, 0)), 1);
    assert_eq!(governor.state(), Some(6u64.to_le_bytes().to_vec()));
}

#[test]
fn schedutil_takes_a_quarter_more_than_what_is_used() {
    // Of 3.75 GHz: 273 / 1024 is 0.99976, 274 is 1.0034, 546 is 1.9995, 547 is 2.0032, and 819 is 2.9993.
    let table =
        [(0, 0), (273, 0), (274, 1), (546, 2), (547, 3), (682, 3), (683, 4), (819, 4), (1024, 4), (u64::MAX, 4)];
    for (util, decision) in table {
        for at in [0, 4] {
            assert_eq!(decide(&mut Schedutil, at, 100, util), decision, "utilisation of {util}");
        }
    }
}

#[test]
fn frequencies_that_are_not_in_the_table_are_found_from_three_sides() {
    let pstates = tables::pstates();
    let look = Look { now_ps: 0, window_ps: 1, domain: 0, at: 0, loads: &[], pstates: &pstates };
    let table = [
        // Columns: khz, at least, at most, closest.
        (0, 0, 0, 0),
        (1_000_000, 0, 0, 0),
        (1_000_001, 1, 0, 0),
        (1_250_000, 1, 0, 0),
        (1_250_001, 1, 0, 1),
        (2_500_000, 3, 3, 3),
        (2_999_999, 4, 3, 4),
        (9_000_000, 4, 4, 4),
    ];
    for (khz, at_least, at_most, closest) in table {
        assert_eq!((look.at_least(khz), look.at_most(khz), look.closest(khz)), (at_least, at_most, closest), "{khz}");
    }
    assert_eq!((look.percent(), look.util()), (0, 0), "a domain without cores");
}

#[test]
fn the_busiest_core_decides_in_whole_percent() {
    let pstates = tables::pstates();
    let percent = |window_ps, busy: [u64; 3]| {
        let loads = busy.map(|busy_ps| Load { busy_ps, ..Load::default() });
        Look { now_ps: 0, window_ps, domain: 0, at: 0, loads: &loads, pstates: &pstates }.percent()
    };
    assert_eq!(percent(1000, [1, 959, 2]), 95, "95.9%");
    assert_eq!(percent(1000, [960, 0, 2]), 96);
    assert_eq!(percent(1000, [0, 0, 2000]), 100, "more than all there is");
    assert_eq!(percent(0, [1, 2, 3]), 0);
    assert_eq!(percent(u64::MAX, [u64::MAX, 0, 0]), 100);
}

#[test]
fn the_builder_gives_what_parameters_name() {
    let named = |governor| {
        let params = PowerParams { governor, ..tables::params() };
        of(&params).map(|mut governor| (decide(&mut *governor, 4, 50, 300), format!("{governor:?}")))
    };
    let decided = |governor| named(governor).expect("it is one of Linux's").0;
    assert_eq!(decided(GovernorParams::Performance), 4);
    assert_eq!(decided(GovernorParams::Powersave), 0);
    assert_eq!(decided(GovernorParams::Userspace(3)), 3);
    assert_eq!(
        decided(GovernorParams::Ondemand { variant: Old, up_threshold: 95, io_busy: false }),
        2,
        "50 x 3.0 / 92 = 1.63"
    );
    assert_eq!(decided(GovernorParams::Ondemand { variant: Old, up_threshold: 49, io_busy: false }), 4);
    assert_eq!(decided(GovernorParams::Ondemand { variant: Proportional, up_threshold: 95, io_busy: false }), 2);
    assert_eq!(decided(GovernorParams::Schedutil), 1, "1.10 GHz");
    let steps = GovernorParams::Conservative { up_threshold: 90, down_threshold: 60, step: 20 };
    assert_eq!(decided(steps), 3, "2.4 GHz");
    let steps = GovernorParams::Conservative { up_threshold: 90, down_threshold: 40, step: 20 };
    assert_eq!(decided(steps), 4, "neither up nor down");
    assert_eq!(named(GovernorParams::User("mine".to_owned())), None);
}

#[test]
fn those_without_a_memory_have_no_state() {
    let ondemand = Ondemand { variant: Old, up_threshold: 95, io_busy: false };
    let all: [Box<dyn Governor>; 5] = [
        Box::new(Performance),
        Box::new(Powersave),
        Box::new(Userspace { at: 1 }),
        Box::new(ondemand),
        Box::new(Schedutil),
    ];
    for governor in &all {
        let mut copy = governor.clone();
        assert_eq!(copy.state(), Some(Vec::new()));
        assert!(copy.restore(&[]).is_ok() && copy.restore(&[1]).is_err());
    }
}

#[test]
fn one_from_outside_that_does_not_tell_its_state_cannot_be_continued() {
    #[derive(Clone, Debug)]
    struct Own;
    impl Governor for Own {
        fn decide(&mut self, look: &Look) -> usize {
            look.at + 1
        }
    }
    assert_eq!(decide(&mut Own, 1, 0, 0), 2);
    assert_eq!(Own.state(), None);
    assert!(Own.restore(&[]).is_err());
}

fn any_governor() -> impl Strategy<Value = GovernorParams> {
    let variant = prop::sample::select(vec![Old, Proportional]);
    prop_oneof![
        any::<u32>().prop_map(GovernorParams::Userspace),
        (variant, any::<u32>(), any::<bool>()).prop_map(|(variant, up_threshold, io_busy)| {
            GovernorParams::Ondemand { variant, up_threshold, io_busy }
        }),
        (any::<u32>(), any::<u32>(), any::<u32>()).prop_map(|(up_threshold, down_threshold, step)| {
            GovernorParams::Conservative { up_threshold, down_threshold, step }
        }),
        Just(GovernorParams::Schedutil),
    ]
}

proptest! {
    #[test]
    fn whatever_they_see_they_decide_for_a_p_state_that_is_there(
        governor in any_governor(),
        khz in prop::collection::btree_set(any::<u32>(), 1..6),
        looks in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<usize>()), 1..10),
    ) {
        let pstates: Vec<PState> =
            khz.into_iter().map(|khz| PState { khz, uv: 1, static_uw: 0, dynamic_uw: 0 }).collect();
        let params = PowerParams { governor, ..tables::params() };
        let mut governor = of(&params).expect("it is one of Linux's");
        for (window_ps, busy_ps, util, at) in looks {
            let loads = [Load { busy_ps, waiting_ps: 0, util }];
            let look = Look { now_ps: 0, window_ps, domain: 0, at, loads: &loads, pstates: &pstates };
            let mut copy = governor.clone();
            let decision = governor.decide(&look);
            prop_assert!(decision < pstates.len());
            prop_assert_eq!(copy.decide(&look), decision, "what it does follows from what it sees");
        }
    }
}

#[test]
fn waits_for_storage_are_load_where_they_count_as_that() {
    let loads = [Load { busy_ps: 300, waiting_ps: 660, util: 0 }];
    let look = Look { now_ps: 1000, window_ps: 1000, domain: 0, at: 2, loads: &loads, pstates: &tables::pstates() };
    let decided = |io_busy| Ondemand { variant: Old, up_threshold: 95, io_busy }.decide(&look);
    assert_eq!(decided(true), look.fastest(), "96 percent");
    assert!(decided(false) < 2, "30 percent");
}
