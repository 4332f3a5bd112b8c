//! Tests that a cluster has the same result however it is run.

use crate::cluster::conservation::cluster;
use crate::cluster::lab::{plan, run as world_after, servers, settle};
use hostnet_config::Plan;
use hostnet_kernel::Time;
use hostnet_sim::{Options, Run};
use proptest::prelude::*;

/// Returns a plan of two servers and a switch, which are three partitions.
fn two_servers(seed: u32) -> Plan {
    let server = |name: &str| {
        format!(
            "[host.{name}]\npreset = \"cascade-lake-hostcc\"\n\
             [host.{name}.workload.mapp]\nkind = \"remote\"\nsockets = \"0\"\nreads = 0.5\n\
             [host.{name}.control]\nrule = \"hostcc\"\n"
        )
    };
    let flow = |name: &str, from: &str, to: &str, what: &str| {
        format!("[flow.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"dctcp\"\n{what}\n")
    };
    plan(
        &[
            server("a"),
            server("b"),
            "[network]\nmtu = \"4096 B\"\nlatency = \"500 ns\"\nswitch.ecn = \"20 packets\"\n".to_owned(),
            flow("there", "a", "b", "kind = \"bulk\"\ncount = 2"),
            flow("back", "b", "a", "kind = \"rpc\"\nrequest = \"5 kB\"\nin_flight = 4"),
            format!("[run]\nwarmup = \"30 us\"\nduration = \"60 us\"\nseed = {seed}\n"),
        ]
        .concat(),
    )
}

fn result(run: &mut Run) -> String {
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().result_hash
}

fn hash(plan: &Plan, options: Options) -> String {
    result(&mut Run::new(plan, options))
}

#[test]
fn threads_and_stops_change_nothing() {
    let plan = two_servers(1);
    let options = Options { series_ps: 7_000_000, ..Options::default() };
    let expected = hash(&plan, options);
    for threads in 2..=3 {
        assert_eq!(hash(&plan, Options { threads, ..options }), expected, "{threads} threads");
    }
    let mut stopped = Run::new(&plan, options);
    let mut asked = 0;
    while stopped.run(|_| {
        asked += 1;
        asked % 3 > 0
    }) == Ok(false)
    {}
    assert!(asked > 10, "it was stopped {asked} times");
    assert_eq!(stopped.report().result_hash, expected);
    assert_ne!(hash(&two_servers(2), options), expected, "the seed does");
}

proptest! {
    #![proptest_config(crate::common::laws::cases(2))]

    #[test]
    fn checkpoints_change_nothing(seed in any::<u32>(), at_ps in 1_u64..90_000_000, threads in 1_usize..4) {
        let plan = two_servers(seed);
        let options = Options { threads, checkpoint_at_ps: at_ps, ..Options::default() };
        let mut first = Run::new(&plan, options);
        let expected = result(&mut first);
        let checkpoint = first.checkpoint().expect("it was taken");
        let mut second = Run::resume(&plan, options, checkpoint).expect("it can be read");
        prop_assert_eq!(second.simulation().progress().time.ps(), at_ps);
        prop_assert_eq!(result(&mut second), expected);
    }
}

/// Returns a hash of the servers of a cluster after 50 us, and the number of events. The run stops at `stops_ps`,
/// which affects where packets are kept.
fn state(text: &str, stops_ps: &[u64], looked_at: bool) -> (String, u64) {
    let mut simulation = world_after(&plan(text), 0);
    for &stop in stops_ps {
        simulation.run_until(Time::from_ps(stop), |_| true);
        if looked_at {
            settle(&mut simulation);
        }
    }
    simulation.run_until(crate::common::us(50), |_| true);
    settle(&mut simulation);
    (crate::common::hash(servers(&simulation)), simulation.progress().events)
}

proptest! {
    #![proptest_config(crate::common::laws::cases(2))]

    #[test]
    fn looking_at_hosts_changes_nothing(
        text in cluster(),
        fidelity in prop::sample::select(vec!["line", "burst", "fluid"]),
        looks in prop::collection::btree_set(1_u64..50_000_000, 1..40),
    ) {
        let preset = "preset = \"cascade-lake-hostcc\"\n";
        let text = text.replace(preset, &format!("{preset}fidelity = \"{fidelity}\"\n"));
        let looks: Vec<u64> = looks.into_iter().collect();
        prop_assert_eq!(state(&text, &looks, true), state(&text, &looks, false));
    }
}

#[test]
fn a_checkpoint_of_another_cluster_is_refused() {
    let options = Options { checkpoint_at_ps: 10_000_000, ..Options::default() };
    let mut run = Run::new(&two_servers(1), options);
    result(&mut run);
    let bytes = run.checkpoint().expect("it was taken");
    assert!(Run::resume(&two_servers(2), options, bytes).is_err());
    assert!(Run::resume(&two_servers(1), options, &bytes[..bytes.len() / 2]).is_err());
}
