//! Random walks through systems that are too large to be explored exhaustively.

use std::collections::BTreeSet;

use hostnet_coherence::explore::{Action, Bounds, StoreValues, System, World};
use hostnet_coherence::Protocol;
use proptest::prelude::*;

/// Returns a system of five caches, four tiles, two uncached agents and three lines, with caches that hold `capacity`
/// lines.
fn large(capacity: u8) -> System<Protocol> {
    let bounds = Bounds { lines: 3, stores: StoreValues::Next(32), capacity, ..Bounds::of(5, 4, 2) };
    System::new(Protocol, bounds)
}

/// Applies one of the possible actions, selected by `choice`. Returns true if the action had an effect.
fn step(system: &System<Protocol>, world: &mut World, choice: usize, seen: &mut impl FnMut(Action)) -> bool {
    let actions = system.actions(world);
    let action = actions[choice % actions.len()];
    match system.apply(world, action) {
        Ok(None) => false,
        Ok(Some(next)) => {
            next.check().unwrap_or_else(|broken| panic!("{action}: {broken}"));
            *world = next;
            seen(action);
            true
        }
        Err(broken) => panic!("{action}: {broken}"),
    }
}

/// Delivers messages until none is in flight; a message that must wait lets other messages pass.
fn drain(system: &System<Protocol>, world: &mut World) {
    for _ in 0..10_000 {
        if world.is_quiet() {
            return;
        }
        let deliveries = system.actions(world).into_iter().filter(|action| matches!(action, Action::Deliver(..)));
        let next = deliveries.into_iter().find_map(|action| system.apply(world, action).expect("coherent"));
        *world = next.expect("some message can be delivered");
        world.check().expect("coherent");
    }
    panic!("messages beget messages");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn walks_stay_coherent_and_end(
        capacity in 1..3_u8,
        choices in prop::collection::vec(any::<prop::sample::Index>(), 1000..20_000),
    ) {
        let system = large(capacity);
        let mut world = World::start(&system.bounds);
        for choice in choices {
            step(&system, &mut world, choice.index(1 << 16), &mut |_| {});
        }
        drain(&system, &mut world);
    }
}

#[test]
fn a_long_walk_meets_every_message() {
    let system = large(1);
    let mut world = World::start(&system.bounds);
    let mut met = BTreeSet::new();
    let mut choice = 1_u64;
    for _ in 0..100_000 {
        choice = choice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        step(&system, &mut world, (choice >> 33) as usize, &mut |action| {
            if let Action::Deliver(_, packet) = action {
                met.insert(packet.message.name());
            }
        });
    }
    let all = [
        "Data",
        "Data+MissNotify",
        "DataOnce",
        "Done",
        "Done+copy",
        "FetchMemory",
        "ForwardOnce",
        "ForwardRO",
        "ForwardX",
        "GetRO",
        "GetX",
        "Inv",
        "InvAck",
        "MemoryData",
        "NoCopy",
        "OwnerData",
        "OwnerDataOnce",
        "PutAck",
        "PutM",
        "ReadOnce",
        "WriteAck",
        "WriteLine",
    ];
    assert_eq!(met.into_iter().collect::<Vec<_>>(), all, "WriteMemory is taken at once");
}
