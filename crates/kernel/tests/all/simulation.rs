//! The result of a run does not depend on how it was cut, threaded, stopped or stored.

use crate::common::{build, outcome, Scale, Toy};
use hostnet_kernel::{checkpoint, Event, EventKey, Observer, Simulation, Time};
use proptest::prelude::*;

fn scale() -> impl Strategy<Value = Scale> {
    let step_ps = prop_oneof![Just(100_u64), Just(7_000), Just(900_000), Just(40_000_000)];
    (step_ps, 1_u64..30).prop_map(|(step_ps, steps)| Scale { step_ps, window_ps: step_ps * steps })
}

/// End of every run, in steps.
const END_STEPS: u64 = 400;

fn store(simulation: &Simulation<Toy>) -> Vec<u8> {
    checkpoint::write("toy", simulation).expect("a simulation can be written")
}

fn restore(bytes: &[u8]) -> Simulation<Toy> {
    checkpoint::read("toy", bytes).expect("it can be read back")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn one_result_for_every_way_to_run(
        seed in any::<u64>(),
        scale in scale(),
        mut stops in prop::collection::vec(0..END_STEPS * 1000, 0..6),
        stored_at in any::<prop::sample::Index>(),
    ) {
        let end = Time::from_ps(END_STEPS * scale.step_ps);
        let mut reference = build(seed, scale, 1);
        prop_assert!(reference.run_until(end, |_| true));
        let expected = outcome(&reference);
        prop_assert!(expected.1 > 1000, "only {} events", expected.1);
        stops.sort_unstable();
        let mut limits: Vec<Time> = stops.iter().map(|stop| Time::from_ps(stop * scale.step_ps / 1000)).collect();
        limits.push(end);
        for partitions in [1, 2, 4, 8] {
            let mut first_stored = None;
            for threads in 0..=4 {
                let mut simulation = build(seed, scale, partitions);
                for (index, &limit) in limits.iter().enumerate() {
                    match threads {
                        0 => prop_assert!(simulation.run_until(limit, |_| true)),
                        _ => simulation.run_until_parallel(limit, threads),
                    }
                    prop_assert_eq!(simulation.progress().time, limit);
                    if index == stored_at.index(limits.len()) {
                        let stored = store(&simulation);
                        simulation = restore(&stored);
                        prop_assert!(first_stored.get_or_insert(stored.clone()) == &stored, "{} threads", threads);
                    }
                }
                prop_assert_eq!(&outcome(&simulation), &expected, "{} partitions, {} threads", partitions, threads);
            }
        }
    }
}

const SCALE: Scale = Scale { step_ps: 500, window_ps: 5_000 };

#[test]
fn a_run_stopped_between_slices_goes_on_as_if_it_had_not_been() {
    let end = Time::from_ps(16_000_000);
    let mut reference = build(3, SCALE, 1);
    assert!(reference.run_until(end, |_| true));
    for partitions in [1, 4] {
        let mut simulation = build(3, SCALE, partitions);
        let mut reported = Vec::new();
        let mut stops = 0;
        while !simulation.run_until(end, |progress| {
            reported.push(progress);
            reported.len() % 2 == 0
        }) {
            stops += 1;
            assert_eq!(reported.last(), Some(&simulation.progress()));
            simulation = restore(&store(&simulation));
        }
        assert!(stops > 0, "only {} events", reference.progress().events);
        assert!(reported.windows(2).all(|pair| pair[0].events < pair[1].events && pair[0].time <= pair[1].time));
        assert_eq!(outcome(&simulation), outcome(&reference), "{partitions} partitions");
    }
}

#[test]
fn a_checkpoint_does_not_depend_on_the_way_there() {
    let written = |stops: &[u64]| {
        let mut simulation = build(5, SCALE, 1);
        for &stop in stops {
            assert!(simulation.run_until(Time::from_ps(stop), |_| true));
        }
        store(&simulation)
    };
    assert_eq!(written(&[100_000]), written(&[1, 30_000, 64_000, 99_999, 100_000]));
}

/// Keys that an observer was called with.
#[derive(Default)]
struct Seen {
    before: Vec<EventKey>,
    after: Vec<EventKey>,
}

impl Observer<Toy> for Seen {
    fn before(&mut self, event: &Event<crate::common::Message>, _world: &Toy) {
        assert_eq!(self.before.len(), self.after.len());
        self.before.push(event.key());
    }

    fn after(&mut self, event: &Event<crate::common::Message>, _world: &Toy) {
        self.after.push(event.key());
    }
}

#[test]
fn a_run_that_is_watched_is_the_same_run() {
    let scale = Scale { step_ps: 7_000, window_ps: 70_000 };
    let (half, end) = (Time::from_ps(200 * scale.step_ps), Time::from_ps(END_STEPS * scale.step_ps));
    let mut reference = build(5, scale, 1);
    reference.run_until(end, |_| true);
    let mut watched = build(5, scale, 1);
    let mut seen = Seen::default();
    assert!(watched.run_until_observed(half, &mut seen, |_| true));
    assert_eq!(watched.progress().time, half);
    assert!(watched.run_until_observed(end, &mut seen, |_| true));
    assert_eq!(outcome(&watched), outcome(&reference));
    assert_eq!(seen.before.len() as u64, reference.progress().events);
    assert!(seen.before == seen.after && seen.before.is_sorted(), "every event once, in order, before and after");
    assert!(watched.parts()[0].1.state() == reference.parts()[0].1.state());
}
