//! A slice: a bank of the LLC, and the directory of the lines homed there.

use crate::agenda::Action;
use crate::fabric::Fabric;
use crate::floor::{Unit, DATA_LINES};
use crate::llc::Llc;
use crate::message::{ChipMessage, MessageBody, Purpose, Token};
use crate::params::class;
use hostnet_coherence::directory::{self, BankAccess, DirectoryEvent, DirectoryLine, DirectoryStep, LlcBlock};
use hostnet_coherence::{Class, Message, Node};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Number of requests queued at a slice at or above which the slice accepts no more.
const QUEUE: usize = 16;
/// Number of packets of a class queued for sending at or above which a slice processes no more requests.
const OUTGOING: usize = 4;

/// A message that has arrived at a slice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Arrival {
    line: u64,
    from: Node,
    message: Message,
    token: Token,
}

/// A line with a pending transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    line: u64,
    state: DirectoryLine,
    token: Token,
    waiting: VecDeque<Arrival>,
}

/// State of a slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Slice {
    index: u16,
    llc: Llc,
    /// Directory state of queue lines, which stay in the LLC.
    queues: BTreeMap<u64, DirectoryLine>,
    entries: Vec<Entry>,
    requests: VecDeque<Arrival>,
    answers: VecDeque<Arrival>,
    /// Number of requests that wait in entries.
    blocked: usize,
    busy_until: u64,
    awake: bool,
    open: bool,
    pub(crate) accesses: u64,
    pub(crate) writebacks: u64,
}

impl Slice {
    pub(crate) fn new((index, slices): (u16, u16), params: &crate::ChipParams, rng: &mut Rng) -> Self {
        let cache = &params.cache;
        Self {
            index,
            llc: Llc::new((index, slices), cache, rng),
            queues: BTreeMap::new(),
            entries: Vec::new(),
            requests: VecDeque::new(),
            answers: VecDeque::new(),
            blocked: 0,
            busy_until: 0,
            awake: false,
            open: true,
            accesses: 0,
            writebacks: 0,
        }
    }

    /// Returns the number of lines with a pending transaction.
    pub(crate) fn waiting(&self) -> usize {
        self.entries.len()
    }

    /// Queues an arriving message.
    pub(crate) fn receive(&mut self, line: u64, from: Node, message: Message, token: Token, fabric: &mut Fabric) {
        let arrival = Arrival { line, from, message, token };
        // Two queues: a request that must wait may not hold up the answer that it waits for.
        if message.class() == Class::Request {
            self.requests.push_back(arrival);
        } else {
            self.answers.push_back(arrival);
        }
        self.wake(fabric);
    }

    fn wake(&mut self, fabric: &mut Fabric) {
        if !self.awake {
            self.awake = true;
            // max(1): messages that arrive in a cycle are processed in the next one at the earliest.
            let wait = self.busy_until.saturating_sub(fabric.now).max(1) as u32;
            fabric.schedule(wait, Action::Slice(self.index));
        }
        self.refresh_open(fabric);
    }

    /// Processes the messages that can be processed in this cycle, answers before requests, until the bank is busy.
    pub(crate) fn act(&mut self, fabric: &mut Fabric) {
        self.awake = false;
        while self.busy_until <= fabric.now {
            // Answers first: they free entries, and must always be accepted (docs/models/coherence.md, Messages).
            if let Some(arrival) = self.answers.pop_front() {
                self.take(arrival, fabric);
            } else if self.may_take(fabric) {
                let Some(arrival) = self.requests.pop_front() else { break };
                self.take(arrival, fabric);
            } else {
                break;
            }
        }
        let room = self.entries.len() < fabric.params.cache.entries as usize;
        if !self.answers.is_empty() || !self.requests.is_empty() && (room || self.first_has_entry()) {
            self.wake(fabric);
        } else {
            self.refresh_open(fabric);
        }
    }

    fn refresh_open(&mut self, fabric: &mut Fabric) {
        // Requests that wait in entries occupy room as well.
        let open = self.requests.len() + self.blocked < QUEUE;
        if open != self.open {
            self.open = open;
            fabric.network.set_open(fabric.floor.terminal(Unit::Slice(self.index)), class::REQUEST, open);
        }
    }

    /// Returns true if a request may be processed: it finds an entry, and there is room for the messages that it
    /// sends. Answers are always processed, so that entries become free.
    fn may_take(&self, fabric: &Fabric) -> bool {
        let terminal = fabric.floor.terminal(Unit::Slice(self.index));
        let room = |class| fabric.network.queued(terminal, class) < OUTGOING;
        room(class::MEMORY)
            && room(class::FORWARD)
            // A request for a line with a transaction waits in its entry and needs none of its own.
            && (self.entries.len() < fabric.params.cache.entries as usize || self.first_has_entry())
    }

    fn first_has_entry(&self) -> bool {
        self.requests.front().is_some_and(|first| self.entries.iter().any(|entry| entry.line == first.line))
    }

    fn take(&mut self, arrival: Arrival, fabric: &mut Fabric) {
        let place = self.entries.iter().position(|entry| entry.line == arrival.line);
        let state = match place {
            Some(place) => self.entries[place].state,
            None => self.stored(arrival.line),
        };
        let event = DirectoryEvent::Receive { from: arrival.from, message: arrival.message };
        let step = directory::step(state, event).unwrap_or_else(|illegal| panic!("line {}: {illegal}", arrival.line));
        if step.blocked {
            let entry = &mut self.entries[place.expect("who blocks has an entry")];
            entry.waiting.push_back(arrival);
            self.blocked += 1;
            return;
        }
        // The answer goes to the requester: that of the request that made the line busy, or of this one.
        let token = place.map_or(arrival.token, |place| self.entries[place].token);
        self.carry_out(&arrival, token, &step, fabric);
        self.keep(arrival.line, place, token, &step, fabric);
    }

    /// Returns the directory state of a line without a pending transaction.
    fn stored(&mut self, line: u64) -> DirectoryLine {
        if line < DATA_LINES {
            // Queues are in constant use, so their lines are taken to stay in the LLC.
            let fresh = DirectoryLine { block: LlcBlock::Clean(0), ..DirectoryLine::default() };
            return self.queues.get(&line).copied().unwrap_or(fresh);
        }
        let block = match self.llc.look(line) {
            Some(true) => LlcBlock::Dirty(0),
            Some(false) => LlcBlock::Clean(0),
            None => LlcBlock::Absent,
        };
        DirectoryLine { block, ..DirectoryLine::default() }
    }

    fn carry_out(&mut self, arrival: &Arrival, token: Token, step: &DirectoryStep, fabric: &mut Fabric) {
        let cache = fabric.params.cache;
        // A line from memory that the LLC does not keep does not pass through the bank.
        let passes = matches!(arrival.message, Message::MemoryData(_)) && step.bank == BankAccess::None;
        let cycles = if passes || step.bank == BankAccess::None && step.out.is_empty() {
            0
        } else {
            self.occupy(fabric);
            // Data from memory is forwarded while it is written to the bank.
            if step.bank == BankAccess::Fill {
                0
            } else {
                cache.bank_cycles
            }
        };
        fabric.send_step(cycles, (Unit::Slice(self.index), Node::Home), arrival.line, step.out, token);
    }

    fn occupy(&mut self, fabric: &Fabric) {
        self.accesses += 1;
        // The bank does one access at a time (docs/models/chip.md, Parameters).
        self.busy_until = self.busy_until.max(fabric.now) + u64::from(fabric.params.cache.bank_busy_cycles);
    }

    /// Stores the new state of a line. If its transaction ended, the requests that waited for it become the next
    /// ones.
    fn keep(&mut self, line: u64, place: Option<usize>, token: Token, step: &DirectoryStep, fabric: &mut Fabric) {
        if step.line.is_busy() {
            match place {
                Some(place) => self.entries[place].state = step.line,
                None => {
                    let waiting = VecDeque::new();
                    self.entries.push(Entry { line, state: step.line, token, waiting });
                }
            }
            return;
        }
        self.put_away(line, &step.line, fabric);
        if let Some(place) = place {
            // The order of entries has no meaning: they are found by line.
            let entry = self.entries.swap_remove(place);
            self.blocked -= entry.waiting.len();
            // Pushed in reverse to the front: blocked requests are offered again oldest first.
            for arrival in entry.waiting.into_iter().rev() {
                self.requests.push_front(arrival);
            }
        }
    }

    fn put_away(&mut self, line: u64, state: &DirectoryLine, fabric: &mut Fabric) {
        if line < DATA_LINES {
            self.queues.insert(line, *state);
            return;
        }
        let gone = match state.block {
            LlcBlock::Clean(_) => self.llc.put(line, false),
            LlcBlock::Dirty(_) => self.llc.put(line, true),
            LlcBlock::Absent => None,
        };
        if let Some(gone) = gone {
            self.writebacks += 1;
            // The victim is read from the bank.
            self.occupy(fabric);
            let token = Token { what: Purpose::Queue, ..Token::NONE };
            let body = MessageBody::Coherent { from: Node::Home, message: Message::WriteMemory(0), token };
            let to = Unit::Memory(fabric.floor.memory(gone));
            fabric.send_in(
                fabric.params.cache.bank_cycles,
                Unit::Slice(self.index),
                ChipMessage { to, line: gone, body },
            );
        }
    }
}
