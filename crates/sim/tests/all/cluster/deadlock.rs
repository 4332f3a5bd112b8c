//! Tests that a PFC deadlock ends a run.

use crate::cluster::lab::plan;
use hostnet_config::Code;
use hostnet_sim::SimulationError;
use hostnet_sim::{Options, Run};

/// Returns a cluster of five switches in a ring with PFC, a host at each, and a flow from each host to the host
/// `step` further.
fn ring(step: usize) -> String {
    let mut text =
        "[network]\nrate = \"10 Gbps\"\nswitch.pfc = { priorities = [0], xoff = \"20 kB\", xon = \"10 kB\" }\n\
        [run]\nwarmup = \"0 us\"\nduration = \"5 ms\"\n\
        [transport.t]\nbase = \"reno\"\necn = false\ninitial_window = 1000\nreceive_buffer = \"4 MB\"\n"
            .to_owned();
    for index in 0..5 {
        let (next, far) = ((index + 1) % 5, (index + step) % 5);
        text += &format!(
            "[host.h{index}]\nkind = \"endpoint\"\n[switch.s{index}]\nbuffer = \"1 MB\"\n\
             [cable.h{index}]\nends = [\"h{index}\", \"s{index}\"]\nrate = \"40 Gbps\"\n\
             [cable.r{index}]\nends = [\"s{index}\", \"s{next}\"]\n\
             [flow.f{index}]\nkind = \"bulk\"\nfrom = \"h{index}\"\nto = \"h{far}\"\ntransport = \"t\"\n"
        );
    }
    text
}

#[test]
fn a_run_whose_pauses_wait_for_each_other_ends_with_the_cycle() {
    let error = Run::new(&plan(&ring(2)), Options::default()).run(|_| true).expect_err("it cannot go on");
    assert_eq!(error.code(), Code::Deadlock);
    let SimulationError::Deadlock { cycle, at_us } = &error else { panic!("{error}") };
    assert!(*at_us < 5000);
    assert_eq!(cycle.len(), 5, "{cycle:?}");
    for index in 0..5 {
        let named = cycle.iter().filter(|name| name.starts_with(&format!("s{index} port "))).collect::<Vec<_>>();
        assert!(named.len() == 1 && named[0].ends_with(&format!(" to s{}, priority 0", (index + 1) % 5)), "{cycle:?}");
    }
    assert!(error.to_string().contains(" -> "), "{error}");
}

#[test]
fn a_ring_whose_flows_make_no_cycle_goes_on() {
    let mut run = Run::new(&plan(&ring(1)), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let report = run.report();
    let rows = &report.table("flows").expect("there are flows").rows;
    assert_eq!(rows.len(), 5);
    let paused = report.summary["queues"].as_array().expect("a table").iter();
    assert!(paused.clone().any(|queue| queue["pauses_asked"].as_u64() > Some(0)), "pauses there were");
}
