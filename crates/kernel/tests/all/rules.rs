//! Checks what a simulation rejects, and how it behaves at the limits of its rules.

use crate::common::{build, outcome, Scale};
use hostnet_kernel::{ComponentId, Event, Partition, Scheduler, Simulation, Time};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// World that executes the orders in its events.
struct Puppet {
    seen: Vec<Event<Order>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Rest,
    Send { target: u32, delay_ps: u64 },
    SendFrom { source: u32 },
    Fail { message: &'static str },
}

impl Partition for Puppet {
    type Payload = Order;
    type Cargo = ();

    fn on_event(&mut self, event: Event<Order>, scheduler: &mut Scheduler<Order>) {
        self.seen.push(event);
        match event.payload {
            Order::Rest => {}
            Order::Send { target, delay_ps } => {
                scheduler.send(event.target, ComponentId(target), delay_ps, Order::Rest);
            }
            Order::SendFrom { source } => scheduler.send(ComponentId(source), event.target, 1, Order::Rest),
            Order::Fail { message } => panic!("{message}"),
        }
    }

    fn unload(&mut self, _: &Order) {}

    fn load(&mut self, _: &mut Order, (): ()) {}
}

const WINDOW_PS: u64 = 1000;

/// Creates `partitions` partitions of two components each.
fn puppets(partitions: u32) -> Simulation<Puppet> {
    let part = |index| (Puppet { seen: Vec::new() }, Scheduler::new(ComponentId(2 * index), 2, 4));
    Simulation::new((0..partitions).map(part).collect(), WINDOW_PS)
}

fn order(simulation: &mut Simulation<Puppet>, partition: usize, delay_ps: u64, order: Order) {
    let source = ComponentId(2 * partition as u32);
    simulation.parts_mut()[partition].1.send(source, source, delay_ps, order);
}

/// Returns the panic message of a world of `partitions` that is given `given`, on `threads` threads (0: the calling
/// thread).
fn refusal(partitions: u32, threads: usize, given: Order) -> String {
    let run = || {
        let mut simulation = puppets(partitions);
        order(&mut simulation, 0, 10, given);
        // The run must have failed before this event.
        order(&mut simulation, partitions as usize - 1, 20_000, Order::Fail { message: "too late" });
        let limit = Time::from_ps(50_000);
        if threads == 0 {
            simulation.run_until(limit, |_| true);
        } else {
            simulation.run_until_parallel(limit, threads);
        }
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it must be refused");
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[test]
fn broken_rules_are_refused_whoever_runs() {
    let cases = [
        (Order::Send { target: 0, delay_ps: 0 }, "at least 1 ps"),
        (Order::Send { target: 3, delay_ps: 0 }, "at least 1 ps"),
        (Order::Send { target: 0, delay_ps: u64::MAX }, "past the end of time"),
        (Order::Send { target: 3, delay_ps: WINDOW_PS - 1 }, "faster than the window"),
        (Order::Send { target: 99, delay_ps: 5000 }, "does not exist"),
        (Order::SendFrom { source: 2 }, "index out of bounds"),
        (Order::Fail { message: "as ordered" }, "as ordered"),
    ];
    for (given, expected) in cases {
        for threads in 0..=3 {
            let message = refusal(3, threads, given);
            assert!(message.contains(expected), "{given:?} with {threads} threads: {message}");
        }
    }
}

#[test]
#[should_panic(expected = "does not exist")]
fn a_lonely_partition_sends_nothing_away() {
    let mut simulation = puppets(1);
    order(&mut simulation, 0, 10, Order::Send { target: 99, delay_ps: 5000 });
    simulation.run_until(Time::from_ps(50_000), |_| true);
}

#[test]
fn partitions_are_checked_when_they_are_put_together() {
    let part = |first, count| (Puppet { seen: Vec::new() }, Scheduler::new(ComponentId(first), count, 0));
    let refused = |parts, window_ps| catch_unwind(AssertUnwindSafe(|| Simulation::new(parts, window_ps))).is_err();
    assert!(refused(vec![], 1));
    assert!(refused(vec![part(0, 2), part(2, 2)], 0));
    assert!(refused(vec![part(2, 2), part(0, 3)], 1));
    assert!(!refused(vec![part(2, 2), part(0, 2)], 1));
    assert!(!refused(vec![part(0, 2), part(2, 0), part(2, 2)], 1));
    assert!(!refused(vec![part(0, 2)], 0));
}

#[test]
fn what_is_sent_between_runs_may_cross_as_soon_as_it_likes() {
    for threads in 1..=2 {
        let mut simulation = puppets(2);
        for run in 1..4 {
            order(&mut simulation, 0, 1, Order::Rest);
            simulation.parts_mut()[0].1.send(ComponentId(1), ComponentId(2), 5, Order::Rest);
            simulation.run_until_parallel(Time::from_ps(run * 100), threads);
        }
        let times = |index: usize| -> Vec<u64> {
            simulation.parts()[index].0.seen.iter().map(|event| event.time.ps()).collect()
        };
        assert_eq!(times(0), [1, 101, 201]);
        assert_eq!(times(1), [5, 105, 205]);
    }
}

#[test]
fn the_limit_is_included_and_time_moves_on_to_it() {
    for threads in 1..=2 {
        let mut simulation = puppets(2);
        order(&mut simulation, 1, 100, Order::Send { target: 0, delay_ps: WINDOW_PS });
        simulation.run_until_parallel(Time::from_ps(99), threads);
        assert_eq!((simulation.progress().time.ps(), simulation.progress().events), (99, 0));
        simulation.run_until_parallel(Time::from_ps(100), threads);
        assert_eq!((simulation.progress().time.ps(), simulation.progress().events), (100, 1));
        assert_eq!(simulation.parts()[0].1.pending(), 1);
        simulation.run_until_parallel(Time::from_ps(50), threads);
        assert_eq!(simulation.progress().time.ps(), 100, "time never runs backwards");
        simulation.run_until_parallel(Time::from_ps(1_000_000_000), threads);
        assert_eq!((simulation.progress().time.ps(), simulation.progress().events), (1_000_000_000, 2));
        assert_eq!(simulation.parts()[1].1.pending_max(), 1);
    }
}

#[test]
fn without_a_limit_a_run_ends_when_nothing_is_left() {
    for threads in 1..=3 {
        let mut simulation = puppets(3);
        simulation.run_until_parallel(Time::from_ps(10), threads);
        order(&mut simulation, 1, 5_000_000, Order::Send { target: 4, delay_ps: WINDOW_PS });
        simulation.run_until_parallel(Time::MAX, threads);
        assert_eq!(simulation.progress().events, 2);
        simulation.run_until_parallel(Time::MAX, threads);
        assert_eq!(simulation.progress().events, 2);
    }
}

#[test]
fn more_threads_than_partitions_do_no_harm() {
    let scale = Scale { step_ps: 100, window_ps: 100 };
    let run = |threads| {
        let mut simulation = build(1, scale, 8);
        simulation.run_until_parallel(Time::from_ps(20_000), threads);
        outcome(&simulation)
    };
    let expected = run(1);
    for threads in [0, 3, 5, 7, 8, 100] {
        assert_eq!(run(threads), expected, "{threads} threads");
    }
}
