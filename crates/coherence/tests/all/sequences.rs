//! Checks the messages of the most important cases: an L1 and an NI that exchange the entries of queues, and data that
//! bypasses the caches. Figures 2a and 2b of "Manycore Network Interfaces for In-Memory Rack-Scale Computing".

use hostnet_coherence::explore::{Action, Bounds, System, World};
use hostnet_coherence::tile::{self, Copy, Local, TileEvent, TileHalf, TileLine};
use hostnet_coherence::{Class, Message, Protocol};

/// Applies an action and delivers all resulting messages until none is in flight. Returns the messages, sorted.
fn messages(system: &System<Protocol>, world: &mut World, action: Action) -> Vec<String> {
    let mut sent = Vec::new();
    let mut next = system.apply(world, action).expect("legal");
    while let Some(after) = next {
        *world = after;
        let first = system.actions(world).into_iter().find(|action| matches!(action, Action::Deliver(..)));
        next = first.and_then(|first| system.apply(world, first).expect("legal"));
        if let Some(Action::Deliver(_, packet)) = first {
            sent.push(format!("{} -> {}: {}", packet.from, packet.to, packet.message.name()));
        }
    }
    assert!(world.is_quiet());
    sent.sort();
    sent
}

const CORE: u8 = 0;
const NI: u8 = 1;

fn read(agent: u8) -> Action {
    Action::Load(0, agent, TileHalf::Core)
}

fn write(agent: u8, value: u32) -> Action {
    Action::Store(0, agent, TileHalf::Core, value)
}

fn after(bounds: Bounds, actions: &[Action]) -> (System<Protocol>, World) {
    let system = System::new(Protocol, bounds);
    let mut world = World::start(&bounds);
    for action in actions {
        messages(&system, &mut world, *action);
    }
    (system, world)
}

#[test]
fn a_core_writes_an_entry_that_the_ni_polls() {
    let (system, mut world) = after(Bounds::of(2, 0, 0), &[write(CORE, 0), read(NI)]);
    let sent = messages(&system, &mut world, write(CORE, 1));
    let expected = [
        "agent 0 -> home: Done",
        "agent 0 -> home: GetX",
        "agent 1 -> agent 0: InvAck",
        "home -> agent 0: Data+MissNotify",
        "home -> agent 1: Inv",
    ];
    assert_eq!(sent, expected);
}

#[test]
fn the_ni_reads_an_entry_that_the_core_has_written() {
    let (system, mut world) = after(Bounds::of(2, 0, 0), &[write(CORE, 1)]);
    let sent = messages(&system, &mut world, read(NI));
    let expected = [
        "agent 0 -> agent 1: OwnerData",
        "agent 1 -> home: Done+copy",
        "agent 1 -> home: GetRO",
        "home -> agent 0: ForwardRO",
    ];
    assert_eq!(sent, expected);
}

#[test]
fn uncached_data_crosses_the_chip_in_23_flits_per_line_read_and_line_written() {
    let (system, mut world) = after(Bounds::of(1, 0, 1), &[]);
    let read = messages(&system, &mut world, read(1));
    let expected = [
        "agent 1 -> home: ReadOnce",
        "home -> agent 1: DataOnce",
        "home -> memory: FetchMemory",
        "memory -> home: MemoryData",
    ];
    assert_eq!(read, expected);
    let write = messages(&system, &mut world, write(1, 1));
    assert_eq!(write, ["agent 1 -> home: WriteLine", "home -> agent 1: WriteAck"]);
    let flits = |message: Message| if message.carries_data() { 5 } else { 1 };
    let read = [Message::ReadOnce, Message::FetchMemory, Message::MemoryData(0), Message::DataOnce(0)];
    let write = [Message::WriteLine(0), Message::WriteAck, Message::WriteMemory(0)];
    assert_eq!(read.into_iter().chain(write).map(flits).sum::<u32>(), 23);
}

#[test]
fn an_owner_that_dropped_its_clean_line_sends_the_question_back() {
    let drop = Action::Evict(0, CORE, TileHalf::Core);
    let (system, mut world) = after(Bounds::of(2, 0, 0), &[read(CORE), drop]);
    let sent = messages(&system, &mut world, read(NI));
    let expected = [
        "agent 0 -> home: NoCopy",
        "agent 1 -> home: Done",
        "agent 1 -> home: GetRO",
        "home -> agent 0: ForwardRO",
        "home -> agent 1: Data",
    ];
    assert_eq!(sent, expected);
}

#[test]
fn the_halves_of_a_tile_hand_entries_over_without_a_message() {
    let start = TileLine { ni: Copy::Modified(1), ..TileLine::default() };
    let events = [
        (TileEvent::Load(TileHalf::Core), Copy::Shared(1), Copy::Owned(1), Local::HandOver),
        (TileEvent::Load(TileHalf::Core), Copy::Shared(1), Copy::Owned(1), Local::Hit),
        (TileEvent::Store(TileHalf::Ni, 2), Copy::None, Copy::Modified(2), Local::Invalidation),
        (TileEvent::Store(TileHalf::Ni, 3), Copy::None, Copy::Modified(3), Local::Hit),
        (TileEvent::Store(TileHalf::Core, 4), Copy::Modified(4), Copy::None, Local::HandOver),
        (TileEvent::Load(TileHalf::Ni), Copy::Shared(4), Copy::Owned(4), Local::HandOver),
        (TileEvent::Store(TileHalf::Core, 5), Copy::Modified(5), Copy::None, Local::HandOver),
    ];
    events.into_iter().fold(start, |line, (event, l1, ni, local)| {
        let step = tile::step(line, event).expect("legal");
        assert_eq!((step.line.l1, step.line.ni, step.local), (l1, ni, Some(local)), "{event:?}");
        assert!(step.out.is_empty() && step.done.is_some());
        step.line
    });
}

#[test]
fn everything_that_a_directory_sends_is_of_its_class() {
    let (system, mut world) = after(Bounds::of(3, 0, 1), &[]);
    for round in 0..200_usize {
        let actions = system.actions(&world);
        for packet in &world.lines[0].packets {
            let of_home = packet.from == hostnet_coherence::Node::Home;
            assert_eq!(packet.message.class() == Class::Forward, of_home, "{}", packet.message);
        }
        if let Ok(Some(next)) = system.apply(&world, actions[round * 7 % actions.len()]) {
            world = next;
        }
    }
}
