//! Tests the limits on the page of a host: those of classes of traffic, and of workloads that its control throttles.

use crate::cluster::lab::plan;
use hostnet_sim::{Options, Run};
use serde_json::Value;

fn summary(text: &str) -> Value {
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().summary
}

/// Returns the summary of a server that receives from an endpoint while cores of remote sockets load its memory,
/// under the given control.
fn throttled(control: &str) -> Value {
    summary(&format!(
        "[host.srv]\npreset = \"cascade-lake-hostcc\"\ncontrol = {{ {control} }}\n\
         [host.srv.workload.far]\nkind = \"remote\"\nsockets = \"0-2\"\nreads = 0.5\n[host.cli]\nkind = \"endpoint\"\n\
         [network]\nrate = \"100 Gbps\"\nmtu = \"4000 B\"\nswitch.ecn = \"65 packets\"\n\
         [flow.bulk]\nkind = \"bulk\"\nfrom = \"cli\"\nto = \"srv\"\ncount = 4\n\
         [run]\nwarmup = \"500 us\"\nduration = \"500 us\"\n"
    ))
}

/// Returns the facts about a workload of the server.
fn facts<'a>(summary: &'a Value, workload: &str) -> &'a Value {
    let rows = summary["servers"]["srv"]["binding"].as_array().expect("facts");
    rows.iter().find(|row| row["workload"] == workload).expect("a workload")
}

#[test]
fn a_workload_that_its_host_throttles_is_limited_by_that() {
    for (control, is_throttled) in [
        ("rule = \"hostcc\", target = \"80 Gbps\"", true),
        ("rule = \"fixed\", level = 3", true),
        ("rule = \"fixed\", level = 0", false),
        ("rule = \"echo-only\"", false),
    ] {
        let summary = throttled(control);
        let far = facts(&summary, "far");
        assert_eq!(far["binding"] == serde_json::json!(["throttle"]), is_throttled, "{control}: {far}");
        assert_eq!(far["throttled_share"].as_f64().is_some(), is_throttled, "{control}: {far}");
    }
}

#[test]
fn the_page_of_a_host_says_what_the_cluster_says_of_each_class() {
    for rate in ["10 Gbps", "100 Gbps"] {
        for (flow, of_cores) in [("count = 1", 1), ("count = 4\nto_cores = \"0-3\"", 4)] {
            let summary = summary(&format!(
                "[host.srv]\npreset = \"cascade-lake-hostcc\"\n\
                 [host.srv.workload.noise]\nkind = \"stream\"\ncores = \"4-7\"\nreads = 0.5\n\
                 [host.cli]\nkind = \"endpoint\"\n[network]\nrate = \"{rate}\"\nmtu = \"4000 B\"\n\
                 [flow.bulk]\nkind = \"bulk\"\nfrom = \"cli\"\nto = \"srv\"\n{flow}\n\
                 [run]\nwarmup = \"300 us\"\nduration = \"300 us\"\n"
            ));
            let limit = &summary["limits"][0]["limit"];
            let bulk = facts(&summary, "bulk");
            assert_eq!(bulk["binding"], serde_json::json!([limit]), "{rate}, {of_cores} flows");
            assert_eq!(bulk["outside"]["why"], summary["limits"][0]["why"]);
            let row = &summary["servers"]["srv"]["workloads"];
            let row = row.as_array().expect("rows").iter().find(|row| row["workload"] == "bulk").expect("a row");
            assert_eq!(&row["limited_by"], limit, "{row}");
            assert!(limit != "offered load" && (rate != "10 Gbps" || limit == "cable"), "{rate}: {limit}");
        }
    }
}
