//! Scheduling of several engines on one core.
//!
//! One engine has the core at a time; the others wait. An engine keeps the core until it has nothing to do, or until
//! another engine that has something to do is a slice behind, that is, has had the core for that much less time. So
//! engines that always have something to do get equal shares, and one that seldom has gets the core at once. An engine
//! that waits for a line keeps the core, as a processor that waits for memory does nothing else; lines arrive
//! whichever engine has the core. Kernel work on packets interrupts the engine that has the core, is charged to its
//! account, and gives the core back.

use super::{Engine, EngineKind, Worker};
use crate::lfb::Lfb;
use crate::os::NetStack;
use crate::part::{Context, Payload, StartContext};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Time by which an engine that waits for the core may be behind the one that has it, in ps (assumed). In Linux it is
/// 0.75 to 3 ms; here it is less, so that a window of a millisecond sees every engine several times.
const SLICE_PS: u64 = 100_000_000;

/// Scheduler of the engines of a core.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct EngineScheduler {
    /// Engine whose turn it is.
    turn: usize,
    /// Time up to which the accounts are settled.
    since: Time,
    /// Time charged to the account of each engine, in ps.
    account_ps: Vec<u64>,
    /// By engine: true if the engine had something to do when the accounts were last settled.
    awake: Vec<bool>,
    /// Highest value so far of the least account among engines that had something to do, in ps.
    floor_ps: u64,
    /// Engine that has the core, if one has, and true if it is its turn.
    runs: Option<(usize, bool)>,
    /// Time since which that engine has had the core.
    runs_since: Time,
    /// Time for which each engine had the core in this window, in ps.
    run_ps: Vec<u64>,
    /// Time for which each engine waited for the core in this window, in ps.
    waited_ps: Vec<u64>,
    /// Start of this window.
    window_from: Time,
    /// Time of the next check for the end of a slice.
    look_at: Option<Time>,
    /// Engine to which the last free LFB entry was offered first.
    offered: usize,
}

impl EngineScheduler {
    /// Creates the scheduler of `count` engines, none of which has the core.
    pub(super) fn new(count: usize) -> Self {
        Self {
            account_ps: vec![0; count],
            awake: vec![false; count],
            run_ps: vec![0; count],
            waited_ps: vec![0; count],
            ..Self::default()
        }
    }

    /// Returns the time for which an engine had the core since the last reset, until `now`, in ps.
    pub(super) fn run_ps(&self, engine: usize, now: Time) -> u64 {
        let running = if self.engine() == Some(engine) { now.since(self.runs_since) } else { 0 };
        self.run_ps[engine] + running
    }

    /// Returns the time for which an engine with something to do waited for the core since the last reset, until
    /// `now`, in ps.
    pub(super) fn waited_ps(&self, engine: usize, now: Time) -> u64 {
        self.waited_ps.get(engine).map_or(0, |waited_ps| waited_ps + self.waiting_ps(engine, now))
    }

    /// Returns the time for which an engine has been waiting since the accounts were settled, in ps.
    fn waiting_ps(&self, engine: usize, now: Time) -> u64 {
        let waits = self.awake[engine] && self.engine() != Some(engine);
        if waits {
            now.since(self.since.max(self.window_from))
        } else {
            0
        }
    }

    /// Returns the engine that has the core.
    fn engine(&self) -> Option<usize> {
        self.runs.map(|(engine, _)| engine)
    }

    /// Starts a new measurement window.
    pub(super) fn reset(&mut self, now: Time) {
        self.run_ps.fill(0);
        self.waited_ps.fill(0);
        (self.runs_since, self.window_from) = (now, now);
    }

    /// Sends the first events of `engines` to their core.
    pub(super) fn start(&self, engines: &[Engine], start: &mut StartContext<'_>) {
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
        // An engine whose work is over by now gives the core up before the event brings new work.
        self.switch_engine(engines, lfb, context);
        let now = context.now();
        // Offered round robin, so that no engine takes every entry that becomes free.
        let first = if payload == Payload::Refill { self.offer(engines.len()) } else { 0 };
        let asked = requesting_engine(payload, context);
        for number in (first..engines.len()).chain(0..first) {
            if asked.map_or_else(|| engines[number].handles_event(&payload), |engine| engine == number) {
                select_engine(number, engines, lfb, now).on_event(payload, lfb, context);
            }
        }
        self.switch_engine(engines, lfb, context);
    }

    /// Returns the engine that a free LFB entry is offered to first, round robin.
    fn offer(&mut self, count: usize) -> usize {
        self.offered = (self.offered + 1) % count;
        self.offered
    }

    /// Gives the core to the engine that `next` chooses.
    fn switch_engine(&mut self, engines: &mut [Engine], lfb: &mut Lfb, context: &mut Context) {
        let now = context.now();
        // An engine may find out only when it has the core that it has nothing to do; the bound lets each do so.
        for _ in 0..=2 * engines.len() {
            self.settle(engines, now);
            let next = self.next(engines, now);
            if next == self.runs {
                break;
            }
            if let Some(engine) = self.engine() {
                self.run_ps[engine] += now.since(self.runs_since);
                if next.is_none_or(|(next, _)| next != engine) {
                    select_engine(engine, engines, lfb, now).suspend(lfb, context);
                }
            }
            (self.runs, self.runs_since) = (next, now);
            if let Some((engine, turn)) = next {
                select_engine(engine, engines, lfb, now).resume(turn, lfb, context);
            }
        }
        self.schedule_slice_check(context);
    }

    /// Returns the engine that must have the core, and true if it is its turn.
    fn next(&mut self, engines: &[Engine], now: Time) -> Option<(usize, bool)> {
        // Kernel work on packets interrupts the engine that has the core.
        if let Some(kernel) = engines.iter().position(Engine::interrupts) {
            return Some((kernel, kernel == self.turn));
        }
        let bound = self.runs.filter(|&(engine, _)| engines[engine].is_bound(now));
        if bound.is_some() {
            return bound;
        }
        let first = self.first()?;
        // A slice behind, and not just behind: otherwise engines would alternate at every event.
        if !self.awake[self.turn] || self.behind_ps(first) >= SLICE_PS {
            self.turn = first;
        }
        Some((self.turn, true))
    }

    /// Returns the engine with the least time on its account, among those that have something to do.
    fn first(&self) -> Option<usize> {
        let awake = (0..self.awake.len()).filter(|&engine| self.awake[engine]);
        // Ties go to the lowest engine number, which keeps the order deterministic.
        awake.min_by_key(|&engine| self.account_ps[engine])
    }

    /// Returns the time by which an engine is behind the one whose turn it is, in ps.
    fn behind_ps(&self, engine: usize) -> u64 {
        self.account_ps[self.turn].saturating_sub(self.account_ps[engine])
    }

    /// Brings the accounts up to `now`. An engine that had nothing to do for some time is at most a slice behind.
    fn settle(&mut self, engines: &[Engine], now: Time) {
        if self.awake[self.turn] && self.runs.is_some() {
            self.account_ps[self.turn] += now.since(self.since);
        }
        for engine in 0..engines.len() {
            self.waited_ps[engine] += self.waiting_ps(engine, now);
        }
        self.since = now;
        // Never falls, so that an engine cannot save up time while all others sleep.
        self.floor_ps = self.first().map_or(0, |first| self.account_ps[first]).max(self.floor_ps);
        for (number, engine) in engines.iter().enumerate() {
            let awake = engine.wants(now);
            // An engine that wakes up is a slice behind at most, however long it slept, as a task of Linux.
            if awake && !self.awake[number] {
                self.account_ps[number] = self.account_ps[number].max(self.floor_ps.saturating_sub(SLICE_PS));
            }
            self.awake[number] = awake;
        }
    }

    /// Schedules a check for the time when a waiting engine is a slice behind, if any engine waits.
    fn schedule_slice_check(&mut self, context: &mut Context) {
        let now = context.now();
        // A check in the past has happened; one ahead serves for all engines that wait.
        self.look_at = self.look_at.filter(|&at| at > now);
        let waiting = (0..self.awake.len()).filter(|&engine| self.awake[engine] && engine != self.turn);
        let Some(behind_ps) = waiting.map(|engine| self.behind_ps(engine)).max() else { return };
        if self.look_at.is_none() && self.runs.is_some() {
            // The running engine gains on the waiting ones by the time that passes.
            let delay = SLICE_PS.saturating_sub(behind_ps).max(1);
            self.look_at = Some(now + delay);
            context.send(context.id, delay, Payload::Step);
        }
    }
}

/// Selects an engine to run: marks it as the running one in the LFB, and sets its contention flag.
fn select_engine<'a>(number: usize, engines: &'a mut [Engine], lfb: &mut Lfb, now: Time) -> &'a mut Engine {
    // While another engine waits, the stack pauses its polls when their budget is used up.
    let contended = (0..engines.len()).any(|other| other != number && engines[other].wants(now));
    lfb.engine = number as u8;
    engines[number].set_contended(contended);
    &mut engines[number]
}

/// Returns the engine that an answer is for, which is the one that made the request.
fn requesting_engine(payload: Payload, context: &Context) -> Option<usize> {
    match payload {
        Payload::Data(id) | Payload::Admitted(id) | Payload::Taken(id) | Payload::Acknowledged(id) => {
            Some(usize::from(context.requests.get(id).engine))
        }
        _ => None,
    }
}
