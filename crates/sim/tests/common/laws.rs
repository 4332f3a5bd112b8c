//! Laws that hold for any machine, and functions that run a machine until they apply.

use super::{domains, settled};
use hostnet_kernel::{Simulation, Time};
use hostnet_measure::{Domain, Usage};
use hostnet_model::Machine;
use hostnet_sim::sample::PoolGroup;
use proptest::prelude::ProptestConfig;

/// Time in which a machine must drain, in ps: longer than any queue of any scenario lasts.
const DRAIN_PS: u64 = 5_000_000_000;
/// Maximum number of events between two stops of a test: more than any scenario needs.
const EVENTS_MAX: u64 = 20_000_000;

/// Returns a configuration with `count` cases, or with more if `PROPTEST_CASES` requests more.
pub fn cases(count: u32) -> ProptestConfig {
    let longer = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 100,
        ..ProptestConfig::with_cases(longer.map_or(count, |longer: u32| longer.max(count)))
    }
}

/// Runs to `time`, and panics if the machine needs too many events.
pub fn run_to(simulation: &mut Simulation<Machine>, time: Time) {
    let most = simulation.progress().events + EVENTS_MAX;
    let reached = simulation.run_until(time, |progress| progress.events < most);
    assert!(reached, "events without end at {} ps", simulation.progress().time.ps());
}

/// Asserts that the statistics of every domain are consistent. They are at any time.
pub fn assert_books(machine: &Machine) {
    for (name, _, domain) in domains(machine) {
        assert!(domain.in_use() <= domain.capacity(), "{name}: {} of {}", domain.in_use(), domain.capacity());
        assert!(domain.in_use_max() <= domain.capacity(), "{name}");
        let sum: u32 = domain.classes().iter().map(|usage| usage.in_use()).sum();
        assert_eq!(sum, domain.in_use(), "{name}: the workloads hold what is in use");
        let area: u64 = domain.classes().iter().map(|usage| usage.area_ps()).sum();
        assert_eq!(area, domain.area_ps(), "{name}: the workloads held what was in use");
    }
    let of = |group| super::in_use(machine, group);
    // Without caches, lines of the prefetchers pass C2M, too.
    let ahead = if machine.has_caches() { 0 } else { of(PoolGroup::Prefetch) };
    assert_eq!(
        of(PoolGroup::Lfb) + ahead,
        of(PoolGroup::C2mRead) + of(PoolGroup::C2mWrite),
        "an LFB entry serves one of two phases"
    );
    assert_eq!(
        of(PoolGroup::Tor),
        of(PoolGroup::ChaRead) + of(PoolGroup::ChaWrite) + of(PoolGroup::ChaUpi),
        "a TOR entry serves one kind"
    );
}

/// Asserts Little's law to the picosecond: the area of a domain equals the sum of the residences of its credits.
pub fn assert_little(machine: &Machine) {
    for (name, group, domain) in domains(machine) {
        for (class, usage) in domain.classes().iter().enumerate() {
            if usage.in_use() > 0 {
                assert_eq!(group, PoolGroup::Wpq, "{name} holds {} credits of class {class}", usage.in_use());
                assert!(u128::from(usage.area_ps()) >= usage.residence().sum(), "{name}, class {class}");
            } else {
                assert_eq!(u128::from(usage.area_ps()), usage.residence().sum(), "{name}, class {class}");
                assert_eq!(usage.acquired(), usage.residence().count(), "{name}, class {class}");
            }
        }
    }
}

/// Asserts that every busy core makes progress, and so does the IIO in both directions if it has work.
pub fn assert_all_move(simulation: &mut Simulation<Machine>) {
    assert_all_move_within(simulation, 60_000_000);
}

/// Like [`assert_all_move`], but within `ps`.
pub fn assert_all_move_within(simulation: &mut Simulation<Machine>, ps: u64) {
    let moves = |usage: &Usage| usage.acquired() + usage.residence().count();
    let moves = |domain: &Domain| domain.classes().iter().map(moves).sum::<u64>();
    let read = |machine: &Machine| -> Vec<(String, u32, u64)> {
        let all = domains(machine).into_iter();
        let own = all.filter(|(_, group, _)| [PoolGroup::Lfb, PoolGroup::P2mRead, PoolGroup::P2mWrite].contains(group));
        own.map(|(name, _, domain)| (name, domain.in_use(), moves(domain))).collect()
    };
    let before = read(settled(simulation));
    run_to(simulation, simulation.progress().time + ps);
    for ((name, held, before), (_, _, after)) in before.iter().zip(read(settled(simulation))) {
        assert!(*held == 0 || after > *before, "{name} is stuck with {held} credits in use");
    }
}

/// Runs the machine until it is empty, and has been for a while: drives begin new transfers after their latency.
pub fn drain(simulation: &mut Simulation<Machine>) {
    simulation.parts_mut()[0].0.stop_sources();
    let end = simulation.progress().time.saturating_add(DRAIN_PS);
    let mut at = simulation.progress().time;
    let mut before = None;
    while at < end {
        at = at.saturating_add(20_000_000);
        run_to(simulation, at);
        let machine = settled(simulation);
        let all = domains(machine);
        let taken: u64 = all.iter().flat_map(|(_, _, domain)| domain.classes()).map(|usage| usage.acquired()).sum();
        let empty = machine.requests().is_empty()
            && all.iter().all(|(_, group, domain)| *group == PoolGroup::Wpq || domain.in_use() == 0);
        if empty && before == Some(taken) {
            return;
        }
        before = empty.then_some(taken);
    }
    let held =
        domains(settled(simulation)).iter().map(|(name, _, d)| format!("{name} {}", d.in_use())).collect::<Vec<_>>();
    panic!("the machine does not drain: {held:?}");
}
