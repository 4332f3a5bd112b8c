//! Tests that shares are at most 1: work in flight when a window begins or ends counts only with the part that falls
//! into it.

use crate::cluster::lab::plan;
use hostnet_sim::{Options, Run};
use proptest::prelude::*;
use serde_json::Value;

fn summary(text: &str) -> Value {
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().summary
}

/// Asserts that no cable carries more than its rate, and that shares of time are between 0 and 1.
fn assert_shares(summary: &Value) {
    let of = |row: &Value, key: &str| row[key].as_f64().unwrap_or(0.0);
    for port in summary["queues"].as_array().into_iter().flatten() {
        let rate = port["rate_gbps"].as_f64().unwrap_or(f64::INFINITY);
        // The counter has a resolution of 1/1024 byte.
        let most = rate * (1.0 + 1e-9) + 8.0 / summary["window_ns"].as_f64().expect("a window") / 512.0;
        assert!(of(port, "sent_gbps") <= most, "{port}");
        assert!((0.0..=1.0).contains(&of(port, "paused_share")), "{port}");
    }
    for table in ["limits", "path", "engines", "sums"] {
        for row in summary[table].as_array().into_iter().flatten() {
            assert!((0.0..=1.0 + 1e-4).contains(&of(row, "load")), "{table}: {row}");
            assert!((0.0..=1.0 + 1e-9).contains(&of(row, "share")), "{table}: {row}");
        }
    }
}

fn endpoints(more: &str) -> String {
    format!("[host.e]\nkind = \"endpoint\"\ncount = 4\n{more}\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_cable_carries_more_than_its_rate_however_short_the_window(
        rate in prop::sample::select(vec!["1 Gbps", "10 Gbps", "100 Gbps"]),
        mtu in prop::sample::select(vec!["1500 B", "9000 B"]),
        switch in prop::sample::select(vec!["", "switch.kind = \"learning\"\nswitch.jitter = \"5 us\"\n"]),
        engine in prop::option::of((1.0..4.0_f64, 0..20_u32)),
        window in 1..60_u32,
        kind in prop::sample::select(vec![
            "kind = \"bulk\"",
            "kind = \"read\"\nbytes = \"1 GB\"",
            "kind = \"datagram\"\npattern = \"open\"\nsize = \"900 B\"",
        ]),
    ) {
        let compress = engine.map_or(String::new(), |(ratio, latency)| {
            format!("compress = {{ ratio = {ratio}, latency = \"{latency} us\" }}")
        });
        assert_shares(&summary(&endpoints(&format!(
            "{compress}\n[network]\nrate = \"{rate}\"\nmtu = \"{mtu}\"\n{switch}\
             [flow.f]\n{kind}\nfrom = \"e-0\"\nto = \"e-1\"\n\
             [run]\nwarmup = \"70 us\"\nduration = \"{window} us\"\n"
        ))));
    }

    #[test]
    fn shares_of_job_time_add_up_to_at_most_one(
        kind in prop::sample::select(vec!["npb-mg", "npb-cg", "npb-is", "npb-lu"]),
        rate in prop::sample::select(vec!["1 Gbps", "10 Gbps"]),
        transport in prop::sample::select(vec!["roce", "dctcp"]),
        mtu in prop::sample::select(vec!["1500 B", "9000 B"]),
    ) {
        assert_shares(&summary(&endpoints(&format!(
            "[network]\nrate = \"{rate}\"\nmtu = \"{mtu}\"\nlatency = \"100 ns\"\n\
             [job.j]\nkind = \"{kind}\"\nhosts = \"e\"\nproblem = \"S\"\niterations = 1\ntransport = \"{transport}\"\n\
             [run]\nuntil = \"jobs\"\nduration_max = \"2 ms\"\n"
        ))));
    }
}

#[test]
fn instructions_of_a_step_that_is_not_through_do_not_count_yet() {
    for window_us in [30, 60, 100] {
        assert_shares(&summary(&format!(
            "[host.w]\npreset = \"cascade-lake-hostcc\"\ncache.enabled = true\n\
             [job.j]\nkind = \"npb-mg\"\nhosts = \"w\"\nproblem = \"S\"\niterations = 1\n\
             [run]\nwarmup = \"0 us\"\nduration = \"{window_us} us\"\n"
        )));
    }
}
