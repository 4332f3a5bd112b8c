//! Checks that a step returns a result or an error for every event in every state.

use hostnet_coherence::cache::{self, CacheEvent, CacheLine};
use hostnet_coherence::directory::{
    self, AccessKind, DirectoryEvent, DirectoryLine, LineHolders, LineTransaction, LlcBlock,
};
use hostnet_coherence::tile::{self, Copy, TileEvent, TileHalf, TileLine};
use hostnet_coherence::uncached::{self, UncachedEvent, UncachedLine};
use hostnet_coherence::{Agent, Illegal, Message, Node, Place, Sharers};

fn agent(index: u8) -> Agent {
    Agent::new(index).expect("below 128")
}

fn every_message() -> Vec<Message> {
    let requester = agent(1);
    vec![
        Message::GetRo,
        Message::GetX,
        Message::PutM(1),
        Message::ReadOnce,
        Message::WriteLine(1),
        Message::Inv { requester: Node::Home },
        Message::Inv { requester: Node::Agent(requester) },
        Message::ForwardRo { requester },
        Message::ForwardX { requester },
        Message::ForwardOnce { requester },
        Message::Data { value: 1, acks: 0, exclusive: false },
        Message::Data { value: 1, acks: u8::MAX, exclusive: true },
        Message::DataOnce(1),
        Message::PutAck,
        Message::WriteAck,
        Message::FetchMemory,
        Message::WriteMemory(1),
        Message::OwnerData { value: 1, dirty: true },
        Message::OwnerDataOnce(1),
        Message::InvAck,
        Message::NoCopy,
        Message::Done { copy: None },
        Message::Done { copy: Some(1) },
        Message::MemoryData(1),
    ]
}

fn every_packet() -> impl Iterator<Item = (Node, Message)> {
    let senders = [Node::Home, Node::Memory, Node::Agent(agent(0)), Node::Agent(agent(127))];
    senders.into_iter().flat_map(|from| every_message().into_iter().map(move |message| (from, message)))
}

fn every_cache_line() -> Vec<CacheLine> {
    let writing = |(data, acks)| CacheLine::Writing { value: 2, data, acks };
    let mut lines = vec![
        CacheLine::Invalid,
        CacheLine::Shared(1),
        CacheLine::Exclusive(1),
        CacheLine::Modified(1),
        CacheLine::Reading,
        CacheLine::WritingBack(1),
        CacheLine::HandedOver,
    ];
    lines.extend([(false, 0), (false, i16::MIN), (true, 1), (true, i16::MIN), (false, i16::MAX)].map(writing));
    lines
}

#[test]
fn a_cache_answers_everything() {
    for line in every_cache_line() {
        for event in [CacheEvent::Load, CacheEvent::Store(1), CacheEvent::Evict] {
            let step = cache::step(line, event).expect("accesses are legal in every state");
            assert_eq!(step.stall, line.is_waiting());
            assert!(!step.stall || step.line == line && step.out.is_empty());
        }
        let legal = every_packet().filter(|(from, message)| {
            cache::step(line, CacheEvent::Receive { from: *from, message: *message }).is_ok()
        });
        assert!(legal.count() < every_packet().count());
    }
}

#[test]
fn a_tile_answers_everything() {
    let copies = [Copy::None, Copy::Shared(1), Copy::Exclusive(1), Copy::Modified(1), Copy::Owned(1)];
    for waiting in every_cache_line() {
        for (l1, ni) in copies.into_iter().flat_map(|l1| copies.map(|ni| (l1, ni))) {
            let line = TileLine { l1, ni, waiting, requesting_half: TileHalf::Ni };
            for half in [TileHalf::Core, TileHalf::Ni] {
                for event in [TileEvent::Load(half), TileEvent::Store(half, 1), TileEvent::Evict(half)] {
                    let step = tile::step(line, event).expect("accesses are legal in every state");
                    assert!(step.stall || step.local.is_some() == step.done.is_some());
                }
            }
            for (from, message) in every_packet() {
                let _ = tile::step(line, TileEvent::Receive { from, message });
            }
        }
    }
}

#[test]
fn an_uncached_agent_answers_everything() {
    for line in [UncachedLine::Idle, UncachedLine::Reading, UncachedLine::Writing] {
        for event in [UncachedEvent::Read, UncachedEvent::Write(1)] {
            let step = uncached::step(line, event).expect("accesses are legal in every state");
            assert_eq!(step.stall, line != UncachedLine::Idle);
        }
        for (from, message) in every_packet() {
            let _ = uncached::step(line, UncachedEvent::Receive { from, message });
        }
    }
}

#[test]
fn a_home_answers_everything() {
    let (requester, want) = (agent(1), AccessKind::Read);
    let all: Sharers = (0..128).map(agent).collect();
    let busy = [
        LineTransaction::Idle,
        LineTransaction::Fetching { want, requester, acks: 0 },
        LineTransaction::Forwarded { want, requester },
        LineTransaction::Closing(requester),
        LineTransaction::Overwriting { requester, value: 1, acks: 0 },
    ];
    for busy in busy {
        for holders in [LineHolders::Nobody, LineHolders::Shared(all), LineHolders::Owned(agent(127))] {
            for block in [LlcBlock::Absent, LlcBlock::Clean(1), LlcBlock::Dirty(1)] {
                let line = DirectoryLine { holders, block, busy };
                let step = directory::step(line, DirectoryEvent::EvictBlock).expect("legal in every state");
                assert_eq!(step.blocked, line.is_busy());
                for (from, message) in every_packet() {
                    let _ = directory::step(line, DirectoryEvent::Receive { from, message });
                }
            }
        }
    }
}

#[test]
fn a_writer_of_a_line_that_all_share_waits_for_all_others() {
    let all: Sharers = (0..128).map(agent).collect();
    let line =
        DirectoryLine { holders: LineHolders::Shared(all), block: LlcBlock::Clean(1), busy: LineTransaction::Idle };
    let event = DirectoryEvent::Receive { from: Node::Agent(agent(3)), message: Message::GetX };
    let sent: Vec<_> = directory::step(line, event).expect("legal").out.iter().collect();
    assert_eq!(sent.len(), 128, "127 invalidations and the data");
    assert_eq!(sent[127].message, Message::Data { value: 1, acks: 127, exclusive: true });
}

#[test]
fn an_owner_that_reads_uncached_is_asked_as_any_other() {
    let line =
        DirectoryLine { holders: LineHolders::Owned(agent(5)), block: LlcBlock::Clean(1), busy: LineTransaction::Idle };
    let event = DirectoryEvent::Receive { from: Node::Agent(agent(5)), message: Message::ReadOnce };
    let sent: Vec<_> = directory::step(line, event).expect("legal").out.iter().collect();
    assert_eq!(sent[0].message, Message::ForwardOnce { requester: agent(5) }, "the LLC may be out of date");
}

#[test]
fn what_is_illegal_is_told() {
    let event = CacheEvent::Receive { from: Node::Home, message: Message::PutAck };
    let illegal = cache::step(CacheLine::Shared(1), event).expect_err("nothing was written back");
    assert_eq!(illegal, Illegal { place: Place::Cache, state: "S", from: Node::Home, message: Message::PutAck });
    assert_eq!(illegal.to_string(), "PutAck from home at a cache in state S");
}
