//! One line at one cache: an L1, an NI cache that is an agent of its own, or a tile as the directory sees it.

use serde::{Deserialize, Serialize};

use crate::{Agent, Flaw, Illegal, Message, Node, Place, Protocol, Rules, Sends, Value};

/// State of a line at a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CacheLine {
    /// I: no copy.
    #[default]
    Invalid,
    /// S: readable; other caches may have copies. Dropped without notice to the directory.
    Shared(Value),
    /// E: no other cache has the line; readable, and writable without a message. Dropped without notice, too.
    Exclusive(Value),
    /// M: no other cache has the line, and only this cache has its data.
    Modified(Value),
    /// A GetRO is in flight, and its data has not arrived.
    Reading,
    /// A GetX is in flight.
    Writing {
        /// Content of the line after the store.
        value: Value,
        /// True if the data has arrived.
        data: bool,
        /// Acknowledgements expected minus those received; negative while the expected number is unknown.
        acks: i16,
    },
    /// A PutM is in flight; this cache still answers for the data.
    WritingBack(Value),
    /// A PutM is in flight, and another agent has received the data meanwhile.
    HandedOver,
}

impl CacheLine {
    /// Returns the content that a load reads without a message, if it can.
    #[must_use]
    pub const fn readable(self) -> Option<Value> {
        match self {
            Self::Shared(value) | Self::Exclusive(value) | Self::Modified(value) => Some(value),
            _ => None,
        }
    }

    /// Returns true if a store needs no message.
    #[must_use]
    pub const fn is_writable(self) -> bool {
        matches!(self, Self::Exclusive(_) | Self::Modified(_))
    }

    /// Returns true while a transaction is pending; accesses of this cache then stall.
    #[must_use]
    pub const fn is_waiting(self) -> bool {
        matches!(self, Self::Reading | Self::Writing { .. } | Self::WritingBack(_) | Self::HandedOver)
    }

    /// Returns a short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "I",
            Self::Shared(_) => "S",
            Self::Exclusive(_) => "E",
            Self::Modified(_) => "M",
            Self::Reading => "reading",
            Self::Writing { .. } => "writing",
            Self::WritingBack(_) => "writing back",
            Self::HandedOver => "handed over",
        }
    }
}

/// Event of a line at a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheEvent {
    /// The core or the NI reads the line.
    Load,
    /// The core or the NI writes the line.
    Store(Value),
    /// The cache evicts the line.
    Evict,
    /// A message arrives.
    Receive {
        /// Sender of the message.
        from: Node,
        /// Message received.
        message: Message,
    },
}

/// Completed access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Completion {
    /// A load, with the content of the line.
    Loaded(Value),
    /// A store; no agent can read the previous content any more.
    Stored,
}

/// Result of a step of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheStep {
    /// New state.
    pub line: CacheLine,
    /// Messages sent.
    pub out: Sends,
    /// Access that is served: the one of this event, or the one that was pending.
    pub done: Option<Completion>,
    /// True if the access, or the eviction, must be retried when no transaction is pending. The state is unchanged.
    pub stall: bool,
}

impl CacheStep {
    /// Changes the state only.
    pub(crate) const fn to(line: CacheLine) -> Self {
        Self { line, out: Sends::NONE, done: None, stall: false }
    }

    const fn sending(line: CacheLine, to: Node, message: Message) -> Self {
        Self { line, out: Sends::one(to, message), done: None, stall: false }
    }

    const fn done(self, done: Completion) -> Self {
        Self { done: Some(done), ..self }
    }
}

/// Computes the step of a cache for an event.
///
/// # Errors
///
/// Returns [`Illegal`] if the message is impossible in this state.
pub fn step(line: CacheLine, event: CacheEvent) -> Result<CacheStep, Illegal> {
    step_by(Protocol, line, event)
}

/// Computes the step as [`step`], under rules that may be broken.
///
/// # Errors
///
/// Returns [`Illegal`] if the message is impossible in this state.
pub fn step_by<R: Rules>(rules: R, line: CacheLine, event: CacheEvent) -> Result<CacheStep, Illegal> {
    match event {
        CacheEvent::Receive { from, message } => receive(rules, line, from, message),
        // Messages come first: a response must be accepted in every state, or the network could deadlock.
        _ if line.is_waiting() => Ok(CacheStep { stall: true, ..CacheStep::to(line) }),
        CacheEvent::Load => Ok(load(line)),
        CacheEvent::Store(value) => Ok(store(line, value)),
        CacheEvent::Evict => Ok(evict(rules, line)),
    }
}

fn load(line: CacheLine) -> CacheStep {
    match line.readable() {
        // A hit changes no state: S, E and M stay what they are, so the directory need not know.
        Some(value) => CacheStep::to(line).done(Completion::Loaded(value)),
        None => CacheStep::sending(CacheLine::Reading, Node::Home, Message::GetRo),
    }
}

fn store(line: CacheLine, value: Value) -> CacheStep {
    if line.is_writable() {
        // E becomes M silently: the directory records one owner for both.
        return CacheStep::to(CacheLine::Modified(value)).done(Completion::Stored);
    }
    // A shared copy is given up: the home cannot know whether the copy still exists, and sends the data anyway.
    CacheStep::sending(CacheLine::Writing { value, data: false, acks: 0 }, Node::Home, Message::GetX)
}

fn evict<R: Rules>(rules: R, line: CacheLine) -> CacheStep {
    match line {
        CacheLine::Modified(value) if !rules.broken(Flaw::DirtyDroppedSilently) => {
            CacheStep::sending(CacheLine::WritingBack(value), Node::Home, Message::PutM(value))
        }
        // Clean lines leave silently: the directory's holders are a superset (ISCA 2015, sections 3.1 and 3.4).
        _ => CacheStep::to(CacheLine::Invalid),
    }
}

fn receive<R: Rules>(rules: R, line: CacheLine, from: Node, message: Message) -> Result<CacheStep, Illegal> {
    let taken = match message {
        Message::Inv { requester } => invalidate(rules, line, requester),
        Message::ForwardRo { requester } => forward(rules, line, requester, ForwardKind::Copy),
        Message::ForwardX { requester } => forward(rules, line, requester, ForwardKind::Line),
        Message::ForwardOnce { requester } => forward(rules, line, requester, ForwardKind::Look),
        Message::Data { value, acks, exclusive } => data_of_home(rules, line, value, acks, exclusive),
        Message::OwnerData { value, dirty } => data_of_owner(rules, line, value, dirty),
        Message::InvAck => ack(rules, line),
        Message::PutAck if matches!(line, CacheLine::WritingBack(_) | CacheLine::HandedOver) => {
            Some(CacheStep::to(CacheLine::Invalid))
        }
        _ => None,
    };
    taken.ok_or(Illegal { place: Place::Cache, state: line.name(), from, message })
}

/// Drops the line. An uncached write also invalidates the owner, because the whole line is written.
fn invalidate<R: Rules>(rules: R, line: CacheLine, requester: Node) -> Option<CacheStep> {
    let next = match line {
        CacheLine::Shared(_) if rules.broken(Flaw::CopyKeptAfterInv) => line,
        // Without a copy it acknowledges too: the directory may count a sharer that has dropped its line.
        CacheLine::Invalid | CacheLine::Shared(_) => CacheLine::Invalid,
        CacheLine::Exclusive(_) | CacheLine::Modified(_) if requester == Node::Home => CacheLine::Invalid,
        // Only the home of an uncached write may invalidate an owner; a writing agent would need the owner's data.
        CacheLine::WritingBack(_) if requester == Node::Home => CacheLine::HandedOver,
        // The request of this cache waits at the home, or is in flight to it.
        CacheLine::Reading | CacheLine::Writing { data: false, .. } | CacheLine::HandedOver => line,
        _ => return None,
    };
    Some(CacheStep::sending(next, requester, Message::InvAck))
}

/// Content of a forward: the home's request to an owner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ForwardKind {
    Copy,
    Line,
    Look,
}

/// Answers a forward. A clean line may have been dropped meanwhile, and may have been requested again.
fn forward<R: Rules>(rules: R, line: CacheLine, requester: Agent, wanted: ForwardKind) -> Option<CacheStep> {
    let (value, dirty) = match line {
        // Only a clean line is dropped silently, so the home's data is up to date and the home can answer.
        CacheLine::Invalid | CacheLine::Reading | CacheLine::Writing { data: false, .. } => {
            return Some(CacheStep::sending(line, Node::Home, Message::NoCopy));
        }
        CacheLine::WritingBack(_) if rules.broken(Flaw::WriteBackForgottenInRace) => {
            return Some(CacheStep::sending(line, Node::Home, Message::NoCopy));
        }
        CacheLine::Exclusive(value) => (value, false),
        // Until its PutAck a cache that writes back is the only one with the data.
        CacheLine::Modified(value) | CacheLine::WritingBack(value) => (value, true),
        _ => return None,
    };
    let next = match (wanted, line) {
        (ForwardKind::Look, _) if rules.broken(Flaw::UncachedReadDropsOwner) => CacheLine::Invalid,
        (ForwardKind::Look, _) => line,
        // The PutM in flight is now out of date; its PutAck is still awaited, so the line does not become I yet.
        (_, CacheLine::WritingBack(_)) => CacheLine::HandedOver,
        (ForwardKind::Copy, _) if rules.broken(Flaw::OwnerNotDowngraded) => line,
        // The closing acknowledgement of the reader brings the content home, so S holds clean data for the owner too.
        (ForwardKind::Copy, _) => CacheLine::Shared(value),
        (ForwardKind::Line, _) => CacheLine::Invalid,
    };
    let answer = match wanted {
        ForwardKind::Look => Message::OwnerDataOnce(value),
        ForwardKind::Copy | ForwardKind::Line => Message::OwnerData { value, dirty },
    };
    Some(CacheStep::sending(next, Node::Agent(requester), answer))
}

fn data_of_home<R: Rules>(rules: R, line: CacheLine, value: Value, acks: u8, exclusive: bool) -> Option<CacheStep> {
    match line {
        CacheLine::Writing { value: stored, .. } if rules.broken(Flaw::AcksNotAwaited) => Some(written(stored, 0)),
        CacheLine::Reading if acks == 0 => {
            // E without other holders: a later store then needs no message.
            let next = if exclusive { CacheLine::Exclusive(value) } else { CacheLine::Shared(value) };
            Some(closing(next, None).done(Completion::Loaded(value)))
        }
        CacheLine::Writing { value: stored, data: false, acks: come } if exclusive => {
            // Acknowledgements that came before the data have made `come` negative: the sum is what is still missing.
            Some(written(stored, i16::from(acks).checked_add(come)?))
        }
        _ => None,
    }
}

fn data_of_owner<R: Rules>(rules: R, line: CacheLine, value: Value, dirty: bool) -> Option<CacheStep> {
    match line {
        CacheLine::Reading => {
            // A clean line equals the LLC's block or memory, so Done takes one flit instead of five.
            let copy = (dirty && !rules.broken(Flaw::DoneWithoutCopy)).then_some(value);
            Some(closing(CacheLine::Shared(value), copy).done(Completion::Loaded(value)))
        }
        // The owner was the only holder, so that no other agent acknowledges.
        CacheLine::Writing { value: stored, data: false, acks: 0 } => Some(written(stored, 0)),
        _ => None,
    }
}

fn ack<R: Rules>(rules: R, line: CacheLine) -> Option<CacheStep> {
    match line {
        CacheLine::Writing { data: false, .. } if rules.broken(Flaw::EarlyAckForgotten) => Some(CacheStep::to(line)),
        CacheLine::Writing { value, data: false, acks } => {
            Some(CacheStep::to(CacheLine::Writing { value, data: false, acks: acks.checked_sub(1)? }))
        }
        // Data and acknowledgements may come in any order, so each of them checks whether the store is complete.
        CacheLine::Writing { value, data: true, acks } => Some(written(value, acks.checked_sub(1)?)),
        _ if rules.broken(Flaw::AcksNotAwaited) => Some(CacheStep::to(line)),
        _ => None,
    }
}

/// Receives the data of a store, which is complete when no acknowledgement is missing.
fn written(value: Value, acks: i16) -> CacheStep {
    if acks == 0 {
        closing(CacheLine::Modified(value), None).done(Completion::Stored)
    } else {
        CacheStep::to(CacheLine::Writing { value, data: true, acks })
    }
}

/// Serves the access and closes the request at the home.
fn closing(line: CacheLine, copy: Option<Value>) -> CacheStep {
    // Until Done the home serves nobody else, so no other agent can read the old content.
    CacheStep::sending(line, Node::Home, Message::Done { copy })
}
