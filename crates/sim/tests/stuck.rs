//! A machine that cannot go on says so.

mod common;

use common::stream;
use hostnet_sim::{Options, Run, SimulationError};

#[test]
fn writes_that_are_never_drained_are_told_of() {
    // No configuration gets here: the rules refuse a threshold above the queue.
    let mut plan = stream("0-3", 0.0, &["run.duration=3 ms", "workload.stream.pattern=sequential"]);
    let controller = &mut plan.server_mut().unwrap().socket_mut().memory.controller;
    (controller.write_high, controller.idle_writes, controller.spare_writes) = (9999, 9999, 9999);
    let stuck = Run::new(&plan, Options::default()).run(|_| true).expect_err("nothing drains the WPQ");
    let message = stuck.to_string();
    assert!(message.contains("nothing has moved") && message.contains("WPQ"), "{message}");
    let SimulationError::Stuck { domain, in_use, capacity, idle_us, .. } = stuck else {
        panic!("{stuck:?}");
    };
    assert_eq!((domain.as_str(), in_use), ("WPQ", capacity));
    assert!(idle_us >= 500, "{idle_us} us");
}

#[test]
fn a_machine_with_little_to_do_is_not_stuck() {
    let plan = stream("0", 1.0, &["run.duration=4 ms", "workload.stream.gap=1 ms"]);
    assert_eq!(Run::new(&plan, Options::default()).run(|_| true), Ok(true));
}
