//! Tests that a machine that cannot continue reports an error.

use crate::common::{plan, stream};
use hostnet_config::{Code, Plan};
use hostnet_model::params::HostKind;
use hostnet_sim::{Options, Run, SimulationError};
use std::sync::Arc;

#[test]
fn writes_that_are_never_drained_are_reported() {
    // No configuration leads here: the rules refuse a threshold above the queue.
    let mut plan = stream("0-3", 0.0, &["run.duration=3 ms", "workload.stream.pattern=sequential"]);
    let controller = &mut plan.server_mut().unwrap().socket_mut().memory.controller;
    (controller.write_high, controller.idle_writes, controller.spare_writes) = (9999, 9999, 9999);
    let stuck = Run::new(&plan, Options::default()).run(|_| true).expect_err("nothing drains the WPQ");
    let message = stuck.to_string();
    assert!(message.contains("nothing has moved") && message.contains("WPQ"), "{message}");
    assert_eq!(stuck.code(), Code::Stuck);
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

/// Returns a plan of a flow between two endpoints over a cable with the given latency.
fn far(latency: &str, run: &[&str]) -> Plan {
    let text = format!(
        "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n\
         [network]\nrate = \"1 Gbps\"\nlatency = \"{latency}\"\n\
         [flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\n"
    );
    plan(&text, run)
}

/// Ten packets.
const INITIAL_WINDOW_BYTES: f64 = 14_480.0;

#[test]
fn a_packet_on_a_long_cable_is_no_standstill() {
    for (latency, duration) in [("50 ms", "1 s"), ("1 s", "20 s"), ("10 s", "100 s")] {
        let plan = far(latency, &["run.warmup=0 s", &format!("run.duration={duration}")]);
        let mut run = Run::new(&plan, Options::default());
        assert_eq!(run.run(|_| true), Ok(true), "{latency}");
        let report = run.report();
        let flows = report.table("flows").expect("there is a flow");
        let bytes = flows.number(&flows.rows[0], "received_bytes").expect("a number");
        assert!(bytes >= INITIAL_WINDOW_BYTES, "{latency}: {bytes} B");
    }
}

#[test]
fn a_server_that_drains_nothing_is_stuck_behind_long_cables_too() {
    let text = "[host.a]\nkind = \"endpoint\"\n[host.b]\npreset = \"cascade-lake-hostcc\"\n\
        [network]\nrate = \"10 Gbps\"\nlatency = \"100 ms\"\n\
        [flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\n\
        [run]\nwarmup = \"0 s\"\nduration = \"30 s\"\n";
    let mut plan = plan(text, &[]);
    let HostKind::Server(server) = &mut Arc::make_mut(&mut plan.cluster).hosts[1].kind else { panic!("a server") };
    let controller = &mut server.sockets[0].memory.controller;
    (controller.write_high, controller.idle_writes, controller.spare_writes) = (9999, 9999, 9999);
    let stuck = Run::new(&plan, Options::default()).run(|_| true).expect_err("nothing drains the WPQ");
    let SimulationError::Stuck { at_us, idle_us, .. } = stuck else { panic!("{stuck:?}") };
    assert!(idle_us >= 20_000 && at_us < 20_000_000, "{idle_us} us at {at_us} us");
}

#[test]
fn epochs_of_a_long_warm_up_are_few() {
    let begins = ["run.warmup=100 s", "run.duration=200 us", "flow.f.start=100 s"];
    let mut run = Run::new(&far("1 us", &begins), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    assert!((100..=102).contains(&run.epochs().len()), "{} epochs", run.epochs().len());
}

#[test]
fn events_that_only_follow_each_other_are_a_livelock() {
    let power = ["power.governor.kind=ondemand", "workload.stream.gap=1 ms"];
    let mut plan = stream("0", 1.0, &power);
    // No configuration leads here: the minimum period of a governor is a microsecond.
    plan.server_mut().unwrap().power.as_mut().unwrap().period_ps = 1;
    let found = Run::new(&plan, Options::default()).run(|_| true).expect_err("it looks every picosecond");
    assert!(matches!(found, SimulationError::Livelock { .. }), "{found:?}");
    assert_eq!(found.code(), Code::Stuck);
}
