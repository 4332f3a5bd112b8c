//! One line at its home: a slice of the directory with the block of the line in the LLC.

mod state;

use serde::{Deserialize, Serialize};

use crate::{Agent, Flaw, Illegal, Message, Node, Place, Protocol, Rules, Sends, Sharers, Value};

pub use state::{AccessKind, DirectoryLine, LineHolders, LineTransaction, LlcBlock};

/// Event at the home of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DirectoryEvent {
    /// A message arrives, or is offered again.
    Receive {
        /// Sender of the message.
        from: Node,
        /// Message received.
        message: Message,
    },
    /// The LLC evicts the block.
    EvictBlock,
}

/// Access to the bank of the LLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BankAccess {
    /// No access.
    None,
    /// Reads the block.
    Hit,
    /// Looks the block up without finding it.
    Miss,
    /// Stores the line from memory.
    Fill,
    /// Stores a dirty line.
    Write,
}

/// Result of a step of the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryStep {
    /// New state.
    pub line: DirectoryLine,
    /// Messages sent, also those to memory.
    pub out: Sends,
    /// Access to the bank of the LLC.
    pub bank: BankAccess,
    /// True if the line is busy: the request, or the eviction of the block, must be offered again when the line is
    /// free, oldest first. The state is unchanged.
    pub blocked: bool,
}

impl DirectoryStep {
    const fn new(line: DirectoryLine, out: Sends, bank: BankAccess) -> Self {
        Self { line, out, bank, blocked: false }
    }

    const fn blocked(line: DirectoryLine) -> Self {
        Self { line, out: Sends::NONE, bank: BankAccess::None, blocked: true }
    }
}

/// Computes the step of the home for an event.
///
/// # Errors
///
/// Returns [`Illegal`] if the message is impossible in this state.
pub fn step(line: DirectoryLine, event: DirectoryEvent) -> Result<DirectoryStep, Illegal> {
    step_by(Protocol, line, event)
}

/// Computes the step as [`step`], under rules that may be broken.
///
/// # Errors
///
/// Returns [`Illegal`] if the message is impossible in this state.
pub fn step_by<R: Rules>(rules: R, line: DirectoryLine, event: DirectoryEvent) -> Result<DirectoryStep, Illegal> {
    let DirectoryEvent::Receive { from, message } = event else {
        return Ok(evict_block(rules, line));
    };
    // Only requests may wait: responses end the transaction that they would wait for.
    let waits = line.is_busy() && !rules.broken(Flaw::BusyLineServed);
    let taken = match (message, from) {
        (
            Message::GetRo | Message::GetX | Message::ReadOnce | Message::WriteLine(_) | Message::PutM(_),
            Node::Agent(_),
        ) if waits => Some(DirectoryStep::blocked(line)),
        (Message::GetRo, Node::Agent(agent)) => Some(asked(rules, line, AccessKind::Read, agent)),
        (Message::GetX, Node::Agent(agent)) => Some(asked(rules, line, AccessKind::Write, agent)),
        (Message::ReadOnce, Node::Agent(agent)) => Some(asked(rules, line, AccessKind::Look, agent)),
        (Message::WriteLine(value), Node::Agent(agent)) => Some(overwrite(rules, line, agent, value)),
        (Message::PutM(value), Node::Agent(agent)) => Some(written_back(rules, line, agent, value)),
        (Message::Done { copy }, Node::Agent(agent)) => done(rules, line, agent, copy),
        (Message::NoCopy, Node::Agent(agent)) => no_copy(rules, line, agent),
        // InvAcks come home for uncached writes only; a writing cache counts its own.
        (Message::InvAck, Node::Agent(_)) => acknowledged(rules, line),
        (Message::MemoryData(value), Node::Memory) => fetched(rules, line, value),
        _ => None,
    };
    taken.ok_or(Illegal { place: Place::Directory, state: line.state(), from, message })
}

/// Evicts the block from the LLC, which does not change the holders of the line.
fn evict_block<R: Rules>(rules: R, line: DirectoryLine) -> DirectoryStep {
    if line.is_busy() {
        return DirectoryStep::blocked(line);
    }
    // The LLC is not inclusive: the directory entry stays, and so do the copies in caches.
    let gone = DirectoryLine { block: LlcBlock::Absent, ..line };
    match line.block {
        LlcBlock::Dirty(value) if !rules.broken(Flaw::DirtyBlockDropped) => {
            DirectoryStep::new(gone, Sends::one(Node::Memory, Message::WriteMemory(value)), BankAccess::Hit)
        }
        _ => DirectoryStep::new(gone, Sends::NONE, BankAccess::None),
    }
}

/// Handles a request for data: forwards it to the owner if there is one, else serves it from the home.
fn asked<R: Rules>(rules: R, line: DirectoryLine, want: AccessKind, requester: Agent) -> DirectoryStep {
    let skipped = if want == AccessKind::Look { Flaw::UncachedReadPastOwner } else { Flaw::OwnerNotAsked };
    match line.holders {
        // An owner that requests the line again has dropped a clean copy; an owner that reads uncached may still have
        // it.
        LineHolders::Owned(owner) if (owner != requester || want == AccessKind::Look) && !rules.broken(skipped) => {
            let message = match want {
                AccessKind::Read => Message::ForwardRo { requester },
                AccessKind::Write => Message::ForwardX { requester },
                AccessKind::Look => Message::ForwardOnce { requester },
            };
            let busy = LineTransaction::Forwarded { want, requester };
            let out = Sends::one(Node::Agent(owner), message);
            DirectoryStep::new(DirectoryLine { busy, ..line }, out, BankAccess::None)
        }
        _ => serve(rules, line, want, requester),
    }
}

/// Serves a request without data of a cache. A write invalidates the sharers while the data is fetched.
fn serve<R: Rules>(rules: R, line: DirectoryLine, want: AccessKind, requester: Agent) -> DirectoryStep {
    // The requester is left out: its own copy is given up with the request.
    let invalidated = if want == AccessKind::Write { line.holders.others(requester) } else { Sharers::NONE };
    let acks = if rules.broken(Flaw::RequesterCounted) { line.holders.all().len() } else { invalidated.len() };
    let acks = if want == AccessKind::Write { acks } else { 0 };
    let step = match line.block.value() {
        Some(value) => answer(rules, line, want, requester, acks, value, BankAccess::Hit),
        None => {
            let busy = LineTransaction::Fetching { want, requester, acks };
            let out = Sends::one(Node::Memory, Message::FetchMemory);
            DirectoryStep::new(DirectoryLine { busy, ..line }, out, BankAccess::Miss)
        }
    };
    // Invalidations leave at once, in parallel to the access to memory (docs/models/coherence.md, Messages).
    let out = Sends::invalidating(invalidated, Node::Agent(requester), step.out);
    DirectoryStep { out, ..step }
}

/// Sends the data and records the new holders of the line.
fn answer<R: Rules>(
    rules: R,
    line: DirectoryLine,
    want: AccessKind,
    requester: Agent,
    acks: u8,
    value: Value,
    bank: BankAccess,
) -> DirectoryStep {
    let to = Node::Agent(requester);
    if want == AccessKind::Look {
        // Nobody keeps a copy of an uncached read, so no closing acknowledgement is needed.
        let line = DirectoryLine { busy: LineTransaction::Idle, ..line };
        return DirectoryStep::new(line, Sends::one(to, Message::DataOnce(value)), bank);
    }
    // The requester's own copy was dropped before, or is given up with the request.
    let others = line.holders.others(requester);
    // E saves a later GetX; the owner is recorded because it may become M without a message.
    let exclusive = want == AccessKind::Write || others.is_empty() || rules.broken(Flaw::ExclusiveDespiteSharers);
    let holders = match exclusive {
        true => LineHolders::Owned(requester),
        false if rules.broken(Flaw::SharerForgotten) => line.holders,
        false => LineHolders::Shared(others.with(requester)),
    };
    let line = DirectoryLine { holders, busy: LineTransaction::Closing(requester), ..line };
    DirectoryStep::new(line, Sends::one(to, Message::Data { value, acks, exclusive }), bank)
}

/// Receives the data from memory. The LLC keeps only lines that are read into caches: written lines come back anyway,
/// and uncached reads bypass the caches.
fn fetched<R: Rules>(rules: R, line: DirectoryLine, value: Value) -> Option<DirectoryStep> {
    let LineTransaction::Fetching { want, requester, acks } = line.busy else { return None };
    if want == AccessKind::Read {
        let line = DirectoryLine { block: LlcBlock::Clean(value), ..line };
        return Some(answer(rules, line, want, requester, acks, value, BankAccess::Fill));
    }
    Some(answer(rules, line, want, requester, acks, value, BankAccess::None))
}

/// Handles the answer of an owner that dropped its clean line: the LLC or memory has the newest data.
fn no_copy<R: Rules>(rules: R, line: DirectoryLine, agent: Agent) -> Option<DirectoryStep> {
    match line.busy {
        // Served as if the line had no holders: the owner was the only one and has dropped it.
        LineTransaction::Forwarded { want, requester } if line.holders == LineHolders::Owned(agent) => {
            Some(serve(rules, DirectoryLine { holders: LineHolders::Nobody, ..line }, want, requester))
        }
        _ => None,
    }
}

/// Closes a request.
fn done<R: Rules>(rules: R, line: DirectoryLine, agent: Agent, copy: Option<Value>) -> Option<DirectoryStep> {
    let free = DirectoryLine { busy: LineTransaction::Idle, ..line };
    let holders = match (line.busy, line.holders, copy) {
        (LineTransaction::Closing(requester), holders, None) if requester == agent => holders,
        (LineTransaction::Forwarded { want: AccessKind::Look, requester }, holders, None) if requester == agent => {
            holders
        }
        (LineTransaction::Forwarded { want: AccessKind::Write, requester }, _, None) if requester == agent => {
            LineHolders::Owned(agent)
        }
        (LineTransaction::Forwarded { want: AccessKind::Read, requester }, LineHolders::Owned(owner), _)
            if requester == agent =>
        {
            // The former owner keeps a clean copy.
            let former = if rules.broken(Flaw::FormerOwnerForgotten) { agent } else { owner };
            LineHolders::Shared(Sharers::NONE.with(former).with(agent))
        }
        _ => return None,
    };
    let free = DirectoryLine { holders, ..free };
    Some(match copy {
        // The former owner keeps a copy in S without the duty to write back, so the LLC takes the data over.
        Some(value) => store(free, value, Sends::NONE),
        None => DirectoryStep::new(free, Sends::NONE, BankAccess::None),
    })
}

/// Handles a write-back, which counts if its sender is the owner. Otherwise another agent got the data before.
fn written_back<R: Rules>(rules: R, line: DirectoryLine, agent: Agent, value: Value) -> DirectoryStep {
    // Answered even if out of date: the sender issues no further request before the PutAck.
    let out = Sends::one(Node::Agent(agent), Message::PutAck);
    if line.holders == LineHolders::Owned(agent) {
        let line = DirectoryLine { holders: LineHolders::Nobody, ..line };
        if rules.broken(Flaw::WriteBackDataDropped) {
            return DirectoryStep::new(line, out, BankAccess::None);
        }
        return store(line, value, out);
    }
    if rules.broken(Flaw::StaleWriteBackTaken) {
        return store(line, value, out);
    }
    let out = if rules.broken(Flaw::StaleWriteBackUnanswered) { Sends::NONE } else { out };
    DirectoryStep::new(line, out, BankAccess::None)
}

/// Handles an uncached write of the whole line, which invalidates all holders, modified or not.
fn overwrite<R: Rules>(rules: R, line: DirectoryLine, requester: Agent, value: Value) -> DirectoryStep {
    let holders = line.holders.all();
    if holders.is_empty() || rules.broken(Flaw::UncachedWriteAckedEarly) {
        return overwritten(rules, line, requester, value);
    }
    let busy = LineTransaction::Overwriting { requester, value, acks: holders.len() };
    let out = Sends::invalidating(holders, Node::Home, Sends::NONE);
    DirectoryStep::new(DirectoryLine { busy, ..line }, out, BankAccess::None)
}

/// Counts the acknowledgement of a holder that dropped the line for an uncached write.
fn acknowledged<R: Rules>(rules: R, line: DirectoryLine) -> Option<DirectoryStep> {
    let LineTransaction::Overwriting { requester, value, acks } = line.busy else { return None };
    // The write becomes visible only with the last acknowledgement, or a load could still read the old content.
    if acks > 1 {
        let busy = LineTransaction::Overwriting { requester, value, acks: acks - 1 };
        return Some(DirectoryStep::new(DirectoryLine { busy, ..line }, Sends::NONE, BankAccess::None));
    }
    Some(overwritten(rules, line, requester, value))
}

/// Completes an uncached write once no agent has the line.
fn overwritten<R: Rules>(rules: R, line: DirectoryLine, requester: Agent, value: Value) -> DirectoryStep {
    let line = DirectoryLine { holders: LineHolders::Nobody, busy: LineTransaction::Idle, ..line };
    let out = Sends::one(Node::Agent(requester), Message::WriteAck);
    if rules.broken(Flaw::UncachedWriteClean) {
        return DirectoryStep::new(DirectoryLine { block: LlcBlock::Clean(value), ..line }, out, BankAccess::Write);
    }
    store(line, value, out)
}

/// Stores data in the LLC that memory does not have.
const fn store(line: DirectoryLine, value: Value, out: Sends) -> DirectoryStep {
    DirectoryStep::new(DirectoryLine { block: LlcBlock::Dirty(value), ..line }, out, BankAccess::Write)
}
