//! Tests that observing a machine, which makes its channels catch up, changes nothing.

use crate::common::laws::{cases, run_to};
use crate::common::scenario::{any_cached_scenario, any_scenario, Scenario};
use crate::common::{hash, settled, us};
use hostnet_config::{Length, WarmUp};
use hostnet_kernel::Time;
use hostnet_sim::{build, Options, Report, Run};
use proptest::prelude::*;

const END_US: u64 = 40;

/// Returns the hash of the state and the number of events of a machine at the end, when it is observed at `looks_ps`.
fn state(scenario: &Scenario, looks_ps: &[u64]) -> (String, u64) {
    let mut simulation = build::one_server(scenario.plan().server().unwrap());
    for &look in looks_ps {
        run_to(&mut simulation, Time::from_ps(look));
        settled(&mut simulation);
    }
    run_to(&mut simulation, us(END_US));
    let hash = hash([settled(&mut simulation)]);
    (hash, simulation.progress().events)
}

fn report(scenario: &Scenario, options: Options) -> Report {
    let mut plan = scenario.plan();
    plan.run.warm_up = WarmUp::Fixed { ps: 10_000_000 };
    plan.run.length = Length::Duration { ps: END_US * 1_000_000 };
    let mut run = Run::new(&plan, options);
    assert_eq!(run.run(|_| true), Ok(true));
    run.report()
}

/// Generates observation times in ascending order, some of them close together.
fn looks() -> impl Strategy<Value = Vec<u64>> {
    let spread = prop::collection::vec(1..END_US * 1_000_000, 0..40);
    let close = (1..(END_US - 1) * 1_000_000, prop::collection::vec(1_u64..2000, 0..40));
    (spread, close).prop_map(|(mut looks, (from, steps))| {
        let mut at = from;
        looks.extend(steps.into_iter().map(|step| {
            at += step;
            at
        }));
        looks.sort_unstable();
        looks
    })
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn observing_changes_nothing(scenario in any_scenario(), looks in looks()) {
        prop_assert_eq!(state(&scenario, &looks), state(&scenario, &[]));
    }

    #[test]
    fn observing_caches_changes_nothing(scenario in any_cached_scenario(), looks in looks()) {
        prop_assert_eq!(state(&scenario, &looks), state(&scenario, &[]));
    }

    #[test]
    fn series_counters_and_traces_change_nothing(
        scenario in any_scenario(),
        (series_ps, counters_ps, trace_ps) in (0_u64..3_000_000, 0_u64..3_000_000, 0_u64..5_000_000),
    ) {
        let least = |ps: u64| if ps < 100_000 { 0 } else { ps };
        let options =
            Options { series_ps: least(series_ps), counters_ps: least(counters_ps), trace_ps, ..Options::default() };
        let (looked_at, plain) = (report(&scenario, options), report(&scenario, Options::default()));
        prop_assert_eq!(&looked_at.result_hash, &plain.result_hash);
        prop_assert_eq!(&looked_at.summary, &plain.summary);
    }
}
