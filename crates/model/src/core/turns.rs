//! Several engines on one core: which of them has it.
//!
//! One engine has the core at a time; the others wait. It keeps the core until it has nothing to do, or until another
//! that has something to do is a slice behind: has had that much less time. So engines that always have something to do
//! get equal shares, and one that seldom has gets the core at once. An engine that waits for a line keeps the core, as
//! a processor that waits for memory does nothing else; lines come in whoever has the core. What the kernel does for
//! packets interrupts whoever has the core, goes on its account, and gives the core back.

use super::{Engine, Runs, Worker};
use crate::lfb::Lfb;
use crate::os::NetStack;
use crate::part::{Context, Payload, Start};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// How far an engine that waits for the core may be behind the one that has it, in ps (assumed). In Linux it is 0.75 to
/// 3 ms; this is less, so that a window of a millisecond sees every engine several times.
const SLICE_PS: u64 = 100_000_000;

/// Which engine of a core has it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Turns {
    /// Whose turn it is, and until when that is on its account.
    turn: usize,
    since: Time,
    /// The time on the account of each engine, in ps, and whether it had something to do when it was looked at last.
    account_ps: Vec<u64>,
    awake: Vec<bool>,
    /// What the accounts of engines that had something to do have reached.
    floor_ps: u64,
    /// Who has the core, whether it is its turn, and since when.
    runs: Option<(usize, bool)>,
    runs_since: Time,
    /// For how long each engine had the core in this window, in ps.
    had_ps: Vec<u64>,
    /// For how long each waited for it in this window, in ps, and when the window began.
    waited_ps: Vec<u64>,
    window_from: Time,
    /// When the end of a slice is looked at.
    look_at: Option<Time>,
    /// Who is offered the next entry of the LFB that becomes free.
    offered: usize,
}

impl Turns {
    /// Of `count` engines, none of which has the core.
    pub(super) fn new(count: usize) -> Self {
        Self {
            account_ps: vec![0; count],
            awake: vec![false; count],
            had_ps: vec![0; count],
            waited_ps: vec![0; count],
            ..Self::default()
        }
    }

    /// For how long an engine had the core until `now` since the last reset, in ps.
    pub(super) fn had_ps(&self, engine: usize, now: Time) -> u64 {
        let running = if self.engine() == Some(engine) { now.since(self.runs_since) } else { 0 };
        self.had_ps[engine] + running
    }

    /// For how long an engine that had something to do waited for the core until `now` since the last reset, in ps.
    pub(super) fn waited_ps(&self, engine: usize, now: Time) -> u64 {
        self.waited_ps.get(engine).map_or(0, |waited_ps| waited_ps + self.waiting_ps(engine, now))
    }

    /// For how long it has been waiting since the accounts were brought up to date, in ps.
    fn waiting_ps(&self, engine: usize, now: Time) -> u64 {
        let waits = self.awake[engine] && self.engine() != Some(engine);
        if waits {
            now.since(self.since.max(self.window_from))
        } else {
            0
        }
    }

    /// The engine that has the core.
    fn engine(&self) -> Option<usize> {
        self.runs.map(|(engine, _)| engine)
    }

    /// Starts a new measuring window.
    pub(super) fn reset(&mut self, now: Time) {
        self.had_ps.fill(0);
        self.waited_ps.fill(0);
        (self.runs_since, self.window_from) = (now, now);
    }

    /// Sends the first events of `engines` to their core.
    pub(super) fn start(&self, engines: &[Engine], start: &mut Start<'_>) {
        if !engines.is_empty() {
            start.wake(1 + start.index * 137, Payload::Step);
        }
        for stack in engines.iter().filter_map(NetStack::of) {
            stack.starts().for_each(|(delay_ps, payload)| start.wake(delay_ps, payload));
        }
        for worker in engines.iter().filter_map(Worker::of) {
            start.wake(worker.begins_ps(), Payload::Worked);
        }
    }

    /// Handles an event of a core with `engines`.
    pub(super) fn on_event(&mut self, payload: Payload, engines: &mut [Engine], lfb: &mut Lfb, context: &mut Context) {
        // What is over ends before what begins.
        self.pass_on(engines, lfb, context);
        let now = context.now();
        let first = if payload == Payload::Refill { self.offer(engines.len()) } else { 0 };
        let asked = asked_by(payload, context);
        for number in (first..engines.len()).chain(0..first) {
            if asked.map_or_else(|| engines[number].heeds(&payload), |engine| engine == number) {
                address(number, engines, lfb, now).on_event(payload, lfb, context);
            }
        }
        self.pass_on(engines, lfb, context);
    }

    /// Entries that become free are offered to the engines in turn.
    fn offer(&mut self, count: usize) -> usize {
        self.offered = (self.offered + 1) % count;
        self.offered
    }

    /// Sees to it that the engine has the core that is to have it.
    fn pass_on(&mut self, engines: &mut [Engine], lfb: &mut Lfb, context: &mut Context) {
        let now = context.now();
        // An engine that has nothing to do after all says so when it has the core: each may once.
        for _ in 0..=2 * engines.len() {
            self.settle(engines, now);
            let next = self.next(engines, now);
            if next == self.runs {
                break;
            }
            if let Some(engine) = self.engine() {
                self.had_ps[engine] += now.since(self.runs_since);
                if next.is_none_or(|(next, _)| next != engine) {
                    address(engine, engines, lfb, now).hold(lfb, context);
                }
            }
            (self.runs, self.runs_since) = (next, now);
            if let Some((engine, turn)) = next {
                address(engine, engines, lfb, now).go(turn, lfb, context);
            }
        }
        self.look_later(context);
    }

    /// Who is to have the core, and whether it is its turn.
    fn next(&mut self, engines: &[Engine], now: Time) -> Option<(usize, bool)> {
        if let Some(kernel) = engines.iter().position(Engine::interrupts) {
            return Some((kernel, kernel == self.turn));
        }
        let bound = self.runs.filter(|&(engine, _)| engines[engine].is_bound(now));
        if bound.is_some() {
            return bound;
        }
        let first = self.first()?;
        if !self.awake[self.turn] || self.behind_ps(first) >= SLICE_PS {
            self.turn = first;
        }
        Some((self.turn, true))
    }

    /// Of the engines that have something to do, the one with the least time on its account.
    fn first(&self) -> Option<usize> {
        let awake = (0..self.awake.len()).filter(|&engine| self.awake[engine]);
        awake.min_by_key(|&engine| self.account_ps[engine])
    }

    /// How far an engine is behind the one whose turn it is.
    fn behind_ps(&self, engine: usize) -> u64 {
        self.account_ps[self.turn].saturating_sub(self.account_ps[engine])
    }

    /// Brings the accounts up to now. An engine that had nothing to do for some time is a slice behind at most.
    fn settle(&mut self, engines: &[Engine], now: Time) {
        if self.awake[self.turn] && self.runs.is_some() {
            self.account_ps[self.turn] += now.since(self.since);
        }
        for engine in 0..engines.len() {
            self.waited_ps[engine] += self.waiting_ps(engine, now);
        }
        self.since = now;
        self.floor_ps = self.first().map_or(0, |first| self.account_ps[first]).max(self.floor_ps);
        for (number, engine) in engines.iter().enumerate() {
            let awake = engine.wants(now);
            if awake && !self.awake[number] {
                self.account_ps[number] = self.account_ps[number].max(self.floor_ps.saturating_sub(SLICE_PS));
            }
            self.awake[number] = awake;
        }
    }

    /// Looks again when an engine that waits is a slice behind, if any waits.
    fn look_later(&mut self, context: &mut Context) {
        let now = context.now();
        self.look_at = self.look_at.filter(|&at| at > now);
        let waiting = (0..self.awake.len()).filter(|&engine| self.awake[engine] && engine != self.turn);
        let Some(behind_ps) = waiting.map(|engine| self.behind_ps(engine)).max() else { return };
        if self.look_at.is_none() && self.runs.is_some() {
            let delay = SLICE_PS.saturating_sub(behind_ps).max(1);
            self.look_at = Some(now + delay);
            context.send(context.id, delay, Payload::Step);
        }
    }
}

/// Turns to an engine: the LFB is told which it is, and it is told whether another one wants the core.
fn address<'a>(number: usize, engines: &'a mut [Engine], lfb: &mut Lfb, now: Time) -> &'a mut Engine {
    let contended = (0..engines.len()).any(|other| other != number && engines[other].wants(now));
    lfb.engine = number as u8;
    engines[number].set_contended(contended);
    &mut engines[number]
}

/// The engine that an answer is for: the one that asked.
fn asked_by(payload: Payload, context: &Context) -> Option<usize> {
    match payload {
        Payload::Data(id) | Payload::Admitted(id) | Payload::Taken(id) | Payload::Acknowledged(id) => {
            Some(usize::from(context.requests.get(id).engine))
        }
        _ => None,
    }
}
