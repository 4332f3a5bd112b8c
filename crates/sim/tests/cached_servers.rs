//! Any legal server with caches, with any work: nothing is lost, nothing is made up, nothing gets stuck, and it drains.

mod common;

use common::scenario::{any_cached_scenario, Scenario};
use common::{acquired, counters, domains, hash, in_use, settled};
use hostnet_kernel::{checkpoint, Simulation, Time};
use hostnet_measure::{Domain, Usage};
use hostnet_model::cache::ClassCounts;
use hostnet_model::params::ServerParams;
use hostnet_model::Machine;
use hostnet_sim::build;
use hostnet_sim::sample::Group;
use proptest::prelude::*;

/// How long a machine may take to drain: more than any queue of any scenario holds.
const DRAIN_PS: u64 = 5_000_000_000;

fn cases(count: u32) -> ProptestConfig {
    let longer = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 100,
        ..ProptestConfig::with_cases(longer.unwrap_or(count))
    }
}

/// Runs to `time`; a machine that needs events without end is ended.
fn run_to(simulation: &mut Simulation<Machine>, time: Time) {
    let most = simulation.progress().events + 20_000_000;
    let reached = simulation.run_until(time, |progress| progress.events < most);
    assert!(reached, "events without end at {} ps", simulation.progress().time.ps());
}

/// What holds at any moment.
fn assert_sound(machine: &Machine) {
    for (name, _, domain) in domains(machine) {
        assert!(domain.in_use() <= domain.capacity(), "{name}: {} of {}", domain.in_use(), domain.capacity());
        assert!(domain.in_use_max() <= domain.capacity(), "{name}");
        let sum: u32 = domain.classes().iter().map(|usage| usage.in_use()).sum();
        assert_eq!(sum, domain.in_use(), "{name}: the workloads hold what is in use");
        let area: u64 = domain.classes().iter().map(|usage| usage.area_ps()).sum();
        assert_eq!(area, domain.area_ps(), "{name}: the workloads held what was in use");
    }
    let of = |group| in_use(machine, group);
    assert_eq!(of(Group::Lfb), of(Group::C2mRead) + of(Group::C2mWrite), "an LFB entry serves one of two phases");
    assert_eq!(of(Group::Tor), of(Group::ChaRead) + of(Group::ChaWrite), "a TOR entry serves one of two kinds");
    let caches = machine.caches().expect("caches");
    let lines: u64 = caches.counts().classes().iter().map(|counts| counts.core_lines + counts.io_lines).sum();
    assert!(lines < 1 << 40, "no class holds fewer lines than none");
}

/// What the caches did for all workloads since the run began.
fn in_all(machine: &Machine) -> ClassCounts {
    let caches = machine.caches().expect("caches");
    caches.counts().classes().iter().fold(ClassCounts::default(), |sum, counts| sum.plus(counts))
}

/// Every line that was asked for has come from where the caches say, when nothing is on its way.
fn assert_moved(machine: &Machine, params: &ServerParams, now: Time) {
    let channels = counters(machine, now);
    let classes = params.workloads.len();
    let of = |group| (0..classes).map(|class| acquired(machine, group, class)).sum::<u64>();
    let read: u64 = channels.iter().flat_map(|channel| &channel.reads).sum();
    let written = channels.iter().flat_map(|channel| &channel.writes).sum::<u64>() + in_use(machine, Group::Wpq);
    let caches = in_all(machine);
    assert_eq!([of(Group::ChaRead), of(Group::Rpq)], [read; 2], "lines read from memory");
    assert_eq!([of(Group::ChaWrite), of(Group::Wpq)], [written; 2], "lines written to memory");
    assert_eq!(read, caches.llc_misses + caches.io_reads - caches.io_read_hits, "memory is read for misses alone");
    assert_eq!(caches.io_reads, of(Group::P2mRead), "every read of a device looks into the caches");
    let put = caches.ddio_updates + caches.ddio_allocations;
    let past = of(Group::P2mWrite) - put;
    assert_eq!(
        written,
        caches.core_evictions + caches.ddio_evictions + past,
        "memory is written what leaves the caches"
    );
    let ddio = &params.cache.as_ref().expect("caches").ddio.drives;
    assert!(ddio.contains(&true) || put == 0, "no drive writes to the LLC");
    assert!(ddio.contains(&false) || past == 0, "every drive writes to the LLC");
    assert_eq!(of(Group::Posted), of(Group::P2mWrite), "lines from devices");
    assert_eq!(of(Group::NonPosted), of(Group::P2mRead), "lines to devices");
    assert!(caches.ddio_leaks <= caches.ddio_evictions && caches.prefetch_used <= caches.l2_lookups);
}

/// Little's law to the picosecond: what a domain was in use is what its credits were held.
fn assert_little(machine: &Machine) {
    for (name, group, domain) in domains(machine) {
        for (class, usage) in domain.classes().iter().enumerate() {
            if usage.in_use() > 0 {
                assert_eq!(group, Group::Wpq, "{name} holds {} credits of class {class}", usage.in_use());
            } else {
                assert_eq!(u128::from(usage.area_ps()), usage.residence().sum(), "{name}, class {class}");
                assert_eq!(usage.acquired(), usage.residence().count(), "{name}, class {class}");
            }
        }
    }
}

/// Whoever holds credits goes on.
fn assert_all_move(simulation: &mut Simulation<Machine>) {
    let moves = |usage: &Usage| usage.acquired() + usage.residence().count();
    let moves = |domain: &Domain| domain.classes().iter().map(moves).sum::<u64>();
    let read = |machine: &Machine| -> Vec<(String, u32, u64)> {
        let all = domains(machine).into_iter();
        let own = all.filter(|(_, group, _)| [Group::Lfb, Group::P2mRead, Group::P2mWrite].contains(group));
        own.map(|(name, _, domain)| (name, domain.in_use(), moves(domain))).collect()
    };
    let before = read(settled(simulation));
    run_to(simulation, simulation.progress().time + 60_000_000);
    for ((name, held, before), (_, _, after)) in before.iter().zip(read(settled(simulation))) {
        assert!(*held == 0 || after > *before, "{name} is stuck with {held} credits in use");
    }
}

/// Runs the machine empty.
fn drain(simulation: &mut Simulation<Machine>) {
    simulation.parts_mut()[0].0.stop_sources();
    let end = simulation.progress().time.saturating_add(DRAIN_PS);
    let mut at = simulation.progress().time;
    while at < end {
        at = at.saturating_add(20_000_000);
        run_to(simulation, at);
        let machine = settled(simulation);
        if machine.requests().is_empty()
            && domains(machine).iter().all(|(_, group, d)| *group == Group::Wpq || d.in_use() == 0)
        {
            return;
        }
    }
    let machine = settled(simulation);
    let held: Vec<_> = domains(machine).iter().map(|(name, _, d)| format!("{name} {}", d.in_use())).collect();
    panic!("the machine does not drain: {} requests, {held:?}", machine.requests().len());
}

/// The hash of the state after going on to `time` from what a checkpoint of the state now holds.
fn resumed(simulation: &Simulation<Machine>, time: Time) -> String {
    let bytes = checkpoint::write("", simulation).expect("a simulation can be written");
    let mut again: Simulation<Machine> = checkpoint::read("", &bytes).expect("what was written");
    run_to(&mut again, time);
    hash([settled(&mut again)])
}

fn check(scenario: &Scenario, stops_ns: &[u64]) {
    let plan = scenario.plan();
    let mut simulation = build::one_server(&plan.server);
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
    let mut whole = build::one_server(&plan.server);
    run_to(&mut whole, later);
    assert_eq!(hash([settled(&mut whole)]), expected, "pauses change nothing");
    drain(&mut simulation);
    now = simulation.progress().time;
    let machine = settled(&mut simulation);
    assert_sound(machine);
    assert_moved(machine, &plan.server, now);
    assert_little(machine);
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn any_server_with_caches_keeps_its_books(
        scenario in any_cached_scenario(),
        stops_ns in prop::collection::vec(0_u64..15_000, 1..5),
    ) {
        let stops_ns = [stops_ns, vec![20_000]].concat();
        check(&scenario, &stops_ns);
    }
}
