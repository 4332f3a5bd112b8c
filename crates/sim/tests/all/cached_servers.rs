//! Properties of any valid server with caches and any workloads: lines are conserved, nothing gets stuck, and it
//! drains.

use crate::common::laws::{assert_all_move, assert_books, assert_little, cases, drain, run_to};
use crate::common::scenario::{any_cached_scenario, Scenario};
use crate::common::{acquired, counters, hash, in_use, settled};
use hostnet_kernel::{checkpoint, Simulation, Time};
use hostnet_model::cache::ClassCounts;
use hostnet_model::params::ServerParams;
use hostnet_model::Machine;
use hostnet_sim::build;
use hostnet_sim::sample::PoolGroup;
use proptest::prelude::*;

/// Asserts the invariants that hold at any time.
fn assert_sound(machine: &Machine) {
    assert_books(machine);
    let caches = machine.caches().next().expect("caches");
    let lines: u64 = caches.counts().classes().iter().map(|counts| counts.core_lines + counts.io_lines).sum();
    assert!(lines < 1 << 40, "no class holds fewer lines than none");
}

/// Returns the cache counters of all workloads since the run began.
fn in_all(machine: &Machine) -> ClassCounts {
    let caches = machine.caches().next().expect("caches");
    caches.counts().classes().iter().fold(ClassCounts::default(), |sum, counts| sum.plus(counts))
}

/// Asserts that, with nothing in flight, every requested line came from where the caches say.
fn assert_moved(machine: &Machine, params: &ServerParams, now: Time) {
    let channels = counters(machine, now);
    let classes = params.workloads.len();
    let of = |group| (0..classes).map(|class| acquired(machine, group, class)).sum::<u64>();
    let read: u64 = channels.iter().flat_map(|channel| &channel.reads).sum();
    let written = channels.iter().flat_map(|channel| &channel.writes).sum::<u64>() + in_use(machine, PoolGroup::Wpq);
    let caches = in_all(machine);
    assert_eq!([of(PoolGroup::ChaRead), of(PoolGroup::Rpq)], [read; 2], "lines read from memory");
    assert_eq!([of(PoolGroup::ChaWrite), of(PoolGroup::Wpq)], [written; 2], "lines written to memory");
    assert_eq!(read, caches.llc_misses + caches.io_reads - caches.io_read_hits, "memory is read for misses alone");
    assert_eq!(caches.io_reads, of(PoolGroup::P2mRead), "every read of a device looks into the caches");
    let put = caches.ddio_updates + caches.ddio_allocations;
    let past = of(PoolGroup::P2mWrite) - put;
    assert_eq!(
        written,
        caches.core_evictions + caches.ddio_evictions + past,
        "memory is written what leaves the caches"
    );
    let ddio = &params.socket().cache.as_ref().expect("caches").ddio.drives;
    assert!(ddio.contains(&true) || put == 0, "no drive writes to the LLC");
    assert!(ddio.contains(&false) || past == 0, "every drive writes to the LLC");
    assert_eq!(of(PoolGroup::Posted), of(PoolGroup::P2mWrite), "lines from devices");
    assert_eq!(of(PoolGroup::NonPosted), of(PoolGroup::P2mRead), "lines to devices");
    assert!(caches.ddio_leaks <= caches.ddio_evictions && caches.prefetch_used <= caches.l2_lookups);
}

/// Returns the hash of the state at `time`, after resuming from a checkpoint of the current state.
fn resumed(simulation: &Simulation<Machine>, time: Time) -> String {
    let bytes = checkpoint::write("", simulation).expect("a simulation can be written");
    let mut again: Simulation<Machine> = checkpoint::read("", &bytes).expect("what was written");
    run_to(&mut again, time);
    hash([settled(&mut again)])
}

fn check(scenario: &Scenario, stops_ns: &[u64]) {
    let plan = scenario.plan();
    let mut simulation = build::one_server(plan.server().unwrap());
    let mut now = Time::ZERO;
    for stop_ns in stops_ns {
        now += stop_ns * 1000 + 7;
        run_to(&mut simulation, now);
        assert_sound(settled(&mut simulation));
    }
    let later = now.saturating_add(60_000_000);
    let expected = resumed(&simulation, later);
    assert_all_move(&mut simulation);
    assert_eq!(hash([settled(&mut simulation)]), expected, "a checkpoint changes nothing");
    let mut whole = build::one_server(plan.server().unwrap());
    run_to(&mut whole, later);
    assert_eq!(hash([settled(&mut whole)]), expected, "pauses change nothing");
    drain(&mut simulation);
    now = simulation.progress().time;
    let machine = settled(&mut simulation);
    assert_sound(machine);
    assert_moved(machine, plan.server().unwrap(), now);
    assert_little(machine);
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn any_server_with_caches_keeps_its_books(
        scenario in any_cached_scenario(),
        stops_ns in prop::collection::vec(0_u64..15_000, 1..5),
    ) {
        let stops_ns = [stops_ns, vec![20_000]].concat();
        check(&scenario, &stops_ns);
    }
}
