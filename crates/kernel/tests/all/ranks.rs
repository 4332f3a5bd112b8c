//! Runs one simulation in several processes, which are threads here.

use crate::common::{build, outcome, Scale, Toy};
use hostnet_kernel::{ProcessGroup, Simulation, ThreadExchange, Time};
use proptest::prelude::*;

/// Runs one world in the processes that `homes` names, through all of `limits`, and assembles the partitions.
fn run_in_processes(whole: &Simulation<Toy>, homes: &[usize], threads: usize, limits: &[Time]) -> Simulation<Toy> {
    let ranks = homes.iter().max().map_or(1, |rank| rank + 1);
    let run = |mut office: ThreadExchange| {
        let mut simulation = whole.clone();
        for &limit in limits {
            let mut across = ProcessGroup { exchange: &mut office, homes };
            simulation.run_until_across(limit, threads, &mut across);
        }
        simulation
    };
    let done: Vec<Simulation<Toy>> = std::thread::scope(|scope| {
        let running: Vec<_> =
            ThreadExchange::all(ranks).into_iter().map(|office| scope.spawn(|| run(office))).collect();
        running.into_iter().map(|process| process.join().expect("no process fails")).collect()
    });
    let mut together = whole.clone();
    for (partition, &home) in homes.iter().enumerate() {
        together.parts_mut()[partition] = done[home].parts()[partition].clone();
    }
    together
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn one_result_for_any_number_of_processes(
        seed in any::<u64>(),
        step_ps in 1_u64..2000,
        window in 1_u64..30,
        homes in prop::collection::vec(0_usize..4, 8),
        threads in 1_usize..=3,
        mut stops in prop::collection::vec(1_u64..2000, 0..4),
    ) {
        let scale = Scale { step_ps, window_ps: window * step_ps };
        stops.push(2000);
        stops.sort_unstable();
        let limits: Vec<Time> = stops.iter().map(|stop| Time::from_ps(stop * step_ps)).collect();
        let mut reference = build(seed, scale, 1);
        prop_assert!(reference.run_until(limits[limits.len() - 1], |_| true));
        // Ranks must be consecutive from 0 on.
        let mut named: Vec<usize> = homes.clone();
        named.sort_unstable();
        named.dedup();
        let homes: Vec<usize> =
            homes.iter().map(|home| named.binary_search(home).expect("it was named")).collect();
        let together = run_in_processes(&build(seed, scale, 8), &homes, threads, &limits);
        prop_assert_eq!(outcome(&together), outcome(&reference));
    }
}

#[test]
fn processes_hand_over_what_was_sent_between_two_runs() {
    let scale = Scale { step_ps: 100, window_ps: 300 };
    let mut whole = build(5, scale, 4);
    whole.run_until(Time::from_ps(50_000), |_| true);
    let mut reference = whole.clone();
    reference.run_until(Time::from_ps(90_000), |_| true);
    let together = run_in_processes(&whole, &[1, 0, 2, 0], 2, &[Time::from_ps(70_000), Time::from_ps(90_000)]);
    assert_eq!(outcome(&together), outcome(&reference));
}
