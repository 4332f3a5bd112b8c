//! Tests that several processes, for which threads stand in here, find the same results in any division of the work.

use crate::cluster::conservation::cluster;
use crate::cluster::cut::ring_that_gets_stuck;
use crate::cluster::lab::plan;
use crate::cluster::topologies::any_network;
use crate::common::laws::cases;
use hostnet_config::Plan;
use hostnet_kernel::{ThreadExchange, Time};
use hostnet_model::{Packet, PacketId};
use hostnet_sim::{Epoch, Options, Report, Run, SimulationError};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// Outcome of a run: the hash of its results, its epochs, the packets of a host, and its checkpoint.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    hash: String,
    epochs: Vec<Epoch>,
    packets: Vec<(Time, Packet)>,
    checkpoint: bool,
}

fn found(mut run: Run, host: &str) -> Result<Option<Found>, SimulationError> {
    let mut packets = Vec::new();
    run.record(host).expect("there is such a host");
    let on_packets = |more: &[(Time, Packet)]| {
        packets.extend(more.iter().map(|&(time, packet)| (time, Packet { next: PacketId::NONE, ..packet })));
        true
    };
    assert!(run.run_recorded(|_| true, on_packets)?);
    run.gather();
    let epochs = run.epochs().to_vec();
    let checkpoint = run.checkpoint().is_some();
    Ok(run.is_writer().then(|| Found { hash: run.report().result_hash, epochs, packets, checkpoint }))
}

/// Returns the outcome of a run in `ranks` processes, all of which must agree, also on an error.
pub(crate) fn across(plan: &Plan, options: Options, ranks: usize, host: &str) -> Result<Found, SimulationError> {
    let one = |letters: ThreadExchange| {
        let run = Run::prepare_across(plan, options, Arc::new(Mutex::new(letters)), |_| true).expect("nobody stops it");
        found(run, host)
    };
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> =
            ThreadExchange::all(ranks).into_iter().map(|letters| scope.spawn(|| one(letters))).collect();
        running.into_iter().map(|process| process.join().expect("no process fails")).collect()
    });
    assert!(all[1..].iter().all(|result| !matches!(result, Ok(Some(_)))), "one process writes");
    assert!(all.iter().all(|result| result.is_ok() == all[0].is_ok()), "all end alike");
    Ok(all.swap_remove(0)?.expect("the first process writes"))
}

pub(crate) fn alone(plan: &Plan, options: Options, host: &str) -> Result<Found, SimulationError> {
    Ok(found(Run::new(plan, options), host)?.expect("the only process writes"))
}

const SERVERS_AMONG_ENDPOINTS: &str = "[host.e]\nkind = \"endpoint\"\ncount = 14\n\
    [host.s]\npreset = \"cascade-lake-hostcc\"\nat = \"leaf-1\"\n\
    [host.s.workload.mapp]\nkind = \"remote\"\nsockets = \"0\"\nreads = 0.5\n\
    [host.s.control]\nrule = \"hostcc\"\n\
    [host.t]\npreset = \"cascade-lake-hostcc\"\nfidelity = \"burst\"\nat = \"leaf-3\"\n\
    [network]\ntopology = \"leaf-spine\"\nleaves = 4\nspines = 2\nmtu = \"4096 B\"\nswitch.ecn = \"20 packets\"\n\
    [flow.up]\nkind = \"bulk\"\nfrom = \"e\"\nto = \"s\"\ntransport = \"dctcp\"\n\
    [flow.over]\nkind = \"bulk\"\nfrom = \"s\"\nto = \"t\"\n\
    [flow.between]\nkind = \"bulk\"\nfrom = \"e\"\nto = \"e\"\npairs = \"permutation\"\n\
    [run]\nwarmup = \"30 us\"\nduration = \"100 us\"\n";

#[test]
fn servers_among_endpoints_find_the_same_in_any_number_of_processes() {
    let plan = plan(SERVERS_AMONG_ENDPOINTS);
    let options =
        Options { series_ps: 7_000_000, counters_ps: 20_000_000, checkpoint_at_ps: 61_000_000, ..Options::default() };
    let expected = alone(&plan, options, "s").expect("it runs");
    assert!(expected.packets.len() > 10 && expected.epochs.len() > 5 && expected.checkpoint);
    for threads in 2..=3 {
        assert_eq!(alone(&plan, Options { threads, ..options }, "s"), Ok(expected_again(&expected)));
    }
    for (ranks, threads) in [(1, 1), (2, 1), (3, 2), (5, 1)] {
        let found = across(&plan, Options { threads, ..options }, ranks, "s").expect("it runs");
        assert_eq!(found, expected, "{ranks} processes of {threads} threads");
    }
}

fn expected_again(found: &Found) -> Found {
    let Found { hash, epochs, packets, checkpoint } = found;
    Found { hash: hash.clone(), epochs: epochs.clone(), packets: packets.clone(), checkpoint: *checkpoint }
}

#[test]
fn switches_that_learn_find_the_same_in_any_number_of_processes() {
    let learn = "topology = \"two-tier\"\nleaves = 4\nswitch.kind = \"learning\"\nswitch.fabric = \"100 Gbps\"\n\
                 switch.table = 5\nswitch.ttl = \"40 us\"\nswitch.jitter = \"300 ns\"\n";
    let text = SERVERS_AMONG_ENDPOINTS.replace("topology = \"leaf-spine\"\nleaves = 4\nspines = 2\n", learn);
    let plan = plan(&text);
    let options = Options { checkpoint_at_ps: 61_000_000, ..Options::default() };
    let expected = alone(&plan, options, "s").expect("it runs");
    assert!(expected.packets.len() > 10 && expected.checkpoint);
    assert_eq!(alone(&plan, Options { threads: 3, ..options }, "s"), Ok(expected_again(&expected)));
    for (ranks, threads) in [(2, 2), (5, 1)] {
        let found = across(&plan, Options { threads, ..options }, ranks, "s").expect("it runs");
        assert_eq!(found, expected, "{ranks} processes of {threads} threads");
    }
}

#[test]
fn pauses_that_wait_for_each_other_are_found_in_all_processes() {
    let plan = ring_that_gets_stuck();
    let expected = alone(&plan, Options::default(), "e-1").expect_err("it cannot go on");
    assert!(matches!(expected, SimulationError::Deadlock { .. }));
    for ranks in 2..=4 {
        assert_eq!(across(&plan, Options::default(), ranks, "e-1"), Err(alone_error(&plan)));
    }
}

fn alone_error(plan: &Plan) -> SimulationError {
    alone(plan, Options::default(), "e-1").expect_err("it cannot go on")
}

/// Asserts that a job has the same outcome on threads, in processes, and across a checkpoint.
pub fn assert_same_however_run(plan: &Plan, report: &Report, threads: usize, processes: usize, checkpoint_at_ps: u64) {
    let on_threads = Options { threads, ..Options::default() };
    let expected = alone(plan, Options::default(), "e-0").expect("it runs");
    assert_eq!(alone(plan, on_threads, "e-0").expect("it runs"), expected);
    assert_eq!(across(plan, Options::default(), processes, "e-0").expect("it runs"), expected);
    let mut first = Run::new(plan, Options { checkpoint_at_ps, ..on_threads });
    assert_eq!(first.run(|_| true), Ok(true));
    let mut second = Run::resume(plan, Options::default(), first.checkpoint().expect("taken")).expect("read");
    assert_eq!(second.simulation().progress().time.ps(), checkpoint_at_ps);
    assert_eq!(second.run(|_| true), Ok(true));
    assert_eq!(second.report().result_hash, report.result_hash);
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn networks_find_the_same_in_any_number_of_processes(
        text in any_network(),
        ranks in 1_usize..5,
        threads in 1_usize..3,
    ) {
        let plan = plan(&text.replace("[run]\n", "[run]\nwarmup = \"40 us\"\nduration = \"200 us\"\n"));
        let options = Options { threads, ..Options::default() };
        let expected = alone(&plan, Options::default(), "e-5");
        prop_assert_eq!(across(&plan, options, ranks, "e-5"), expected);
    }

    #[test]
    fn clusters_find_the_same_in_any_number_of_processes(
        text in cluster(),
        ranks in 1_usize..5,
        threads in 1_usize..3,
    ) {
        let text = text.replace("[run]\n", "[run]\nwarmup = \"40 us\"\nduration = \"150 us\"\n");
        let plan = plan(&text);
        let host = plan.cluster.hosts[0].name.clone();
        let options = Options { threads, ..Options::default() };
        prop_assert_eq!(across(&plan, options, ranks, &host), alone(&plan, Options::default(), &host));
    }
}
