//! Tests the limits of senders whose path is not full: the offered load, or the control of their rate.

use crate::cluster::lab::plan;
use hostnet_sim::{Options, Run};
use serde_json::Value;

fn summary(text: &str) -> Value {
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().summary
}

/// Returns the limit of the only class.
fn limit(text: &str) -> Value {
    summary(text)["limits"][0].clone()
}

/// Returns the limit of flows between eight endpoints that arrive at the rate of a load.
fn with_load(load: f64, network: &str) -> Value {
    limit(&format!(
        "[host.n]\nkind = \"endpoint\"\ncount = 8\n[network]\nrate = \"25 Gbps\"\n{network}\n\
         [flow.web]\nkind = \"bulk\"\nfrom = \"n\"\nto = \"n\"\npairs = \"random\"\nbytes = \"50 kB\"\nload = {load}\n\
         [run]\nwarmup = \"1 ms\"\nduration = \"4 ms\"\n"
    ))
}

#[test]
fn flows_that_begin_at_the_rate_of_a_load_are_limited_by_it_if_they_carry_it() {
    for load in [0.2, 0.5] {
        for network in ["switch.ecn = \"5 packets\"", ""] {
            let limit = with_load(load, network);
            assert_eq!(limit["limit"], "offered load", "{load} {network}: {limit}");
        }
    }
}

#[test]
fn marks_are_not_said_to_limit_a_load_that_is_not_carried() {
    let slow = "topology = \"leaf-spine\"\nleaves = 2\noversubscription = 4\nswitch.ecn = \"20 packets\"";
    let limit = with_load(0.9, slow);
    assert!(limit["limit"] != "offered load" && limit["limit"] != "marks", "{limit}");
}

#[test]
fn datagrams_do_not_slow_down_for_marks() {
    let limit = limit(
        "[host.a]\nkind = \"endpoint\"\ncount = 2\n[host.b]\nkind = \"endpoint\"\n\
         [network]\nrate = \"10 Gbps\"\nswitch.ecn = \"1 packets\"\n\
         [flow.f]\nfrom = \"a\"\nto = \"b\"\nkind = \"datagram\"\nsize = \"1000 B\"\nrate = \"4 Gbps\"\n\
         [run]\nwarmup = \"1 ms\"\nduration = \"1 ms\"\n",
    );
    assert_eq!(limit["limit"], "clock", "{limit}");
}

/// Returns the name and the load of the limit of RDMA writes, and their goodput, after other writes have ended and
/// left them a cable alone.
fn writes_after_others(transport: &str) -> (String, Option<f64>, f64) {
    let summary = summary(&format!(
        "[host.e]\nkind = \"endpoint\"\ncount = 3\n[network]\nrate = \"100 Gbps\"\nmtu = \"4200 B\"\n\
         switch.ecn = \"100 kB\"\nswitch.pfc = {{ xoff = \"300 kB\", xon = \"200 kB\" }}\n\
         [flow.short]\nkind = \"write\"\nfrom = \"e-1\"\nto = \"e-0\"\nbytes = \"1 MB\"\ntransport = \"{transport}\"\n\
         [flow.write]\nkind = \"write\"\nfrom = \"e-2\"\nto = \"e-0\"\nbytes = \"100 MB\"\n\
         transport = \"{transport}\"\n[run]\nwarmup = \"500 us\"\nduration = \"500 us\"\n"
    ));
    let [limit, row] = ["limits", "classes"].map(|table| &summary[table][1]);
    let goodput = row["goodput_gbps"].as_f64().expect("a rate");
    (limit["limit"].as_str().expect("a name").to_owned(), limit["load"].as_f64(), goodput)
}

#[test]
fn a_rate_that_has_not_recovered_from_notifications_is_that_of_congestion_control() {
    let (name, load, goodput) = writes_after_others("dcqcn");
    assert_eq!(name, "congestion control");
    let share = load.expect("a share of the rate of the port");
    assert!(share < 0.95 && (100.0 * share - goodput).abs() < 2.0, "{share} of 100 Gbps, {goodput} Gbps");
    assert_eq!(writes_after_others("roce").0, "cable");
}
