//! A core: its line fill buffer, and the engines that make it miss.
//!
//! The LFB is one pool. An entry serves a read (C2M-Read) until its data is back; for a store it then serves the
//! write-back of a dirty line (C2M-Write) until the CHA admits that.
//!
//! A core of another socket is one whose requests go to a UPI; its pool is what its LFB and prefetchers keep in flight
//! together.

mod engine;
mod executor;
mod programs;
mod turns;
mod worker;

pub use engine::{Engine, Runs};
pub use executor::{Block, Errand, Errands, Executor, Partner, Source, Storage, Stream, Thread, ThreadWaits};
pub use programs::{Program, Programs};
pub use worker::{RankMemory, Worker};

use crate::lfb::Lfb;
use crate::line::RequestId;
use crate::os::NetStack;
use crate::params::{CoreParams, PowerParams};
use crate::part::{self, Context, Part, PartKind, Payload, Pool, PowerEvent, Start};
use crate::power::{Clock, ClockChange};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};
use turns::Turns;

/// The most kernel work that may wait at a core, in lines: more holds the drives back.
const KERNEL_BACKLOG_LINES: u64 = 4096;

/// Whom a core talks to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wiring {
    /// Whom its requests go to: the CHA, or the UPI between its socket and that of the memory.
    pub home: ComponentId,
    /// The drives of the server, for whose jobs it may do kernel work.
    pub drives: Vec<ComponentId>,
}

/// A core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Core {
    kind: PartKind,
    lfb: Lfb,
    engines: Vec<Engine>,
    turns: Turns,
    speeds: Option<Box<Speeds>>,
}

/// The frequencies that the core may have, in kHz, where the power management tells which.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Speeds {
    reference_khz: u32,
    pstates_khz: Vec<u32>,
}

impl Speeds {
    fn clock(&self, pstate: usize) -> Clock {
        Clock { reference_khz: self.reference_khz, khz: self.pstates_khz[pstate] }
    }
}

impl Core {
    /// A core of this socket, or of another one if `kind` says so, with what runs on it.
    #[must_use]
    pub fn new(kind: PartKind, params: &CoreParams, mut engines: Vec<Engine>, classes: usize) -> Self {
        let staggered = matches!(engines[..], [Engine::Programs(_)]);
        let idle = if staggered { 0 } else { params.lfb_entries };
        if engines.len() > 1 {
            engines.iter_mut().for_each(Engine::share);
        }
        let mut lfb = Lfb::new(params, idle, classes);
        lfb.shared = engines.len() > 1;
        Self { kind, lfb, turns: Turns::new(engines.len()), engines, speeds: None }
    }

    /// Gives the core frequencies, of which it begins with the fastest. One that runs network traffic alone follows
    /// them by itself.
    #[must_use]
    pub fn with_power(mut self, params: &PowerParams) -> Self {
        if matches!(&self.engines[..], [only] if NetStack::of(only).is_some()) {
            return self;
        }
        let pstates_khz: Vec<u32> = params.pstates.iter().map(|pstate| pstate.khz).collect();
        let fastest = pstates_khz.len() - 1;
        let speeds = Speeds { reference_khz: params.reference_khz, pstates_khz };
        let clock = speeds.clock(fastest);
        self.lfb.clock = clock;
        self.engines.iter_mut().for_each(|engine| engine.set_clock(clock));
        self.speeds = Some(Box::new(speeds));
        self
    }

    /// The power management changes the clock. True if the event is that.
    fn on_clock(&mut self, payload: Payload, context: &mut Context) -> bool {
        let (Payload::Power(event), Some(speeds)) = (payload, &self.speeds) else { return false };
        let change = match event {
            PowerEvent::Frequency(pstate) => ClockChange::To(speeds.clock(usize::from(pstate))),
            PowerEvent::Halt(ps) => ClockChange::Halt(u64::from(ps)),
            _ => return false,
        };
        if let ClockChange::To(clock) = change {
            self.lfb.clock = clock;
        }
        for (number, engine) in self.engines.iter_mut().enumerate() {
            self.lfb.engine = number as u8;
            engine.change_clock(change, &mut self.lfb, context);
        }
        true
    }

    /// For how long an engine that shares the core had it until `now` since the last reset, in ps.
    #[must_use]
    pub fn had_ps(&self, engine: usize, now: Time) -> u64 {
        self.turns.had_ps(engine, now)
    }

    /// For how long an engine that shares the core waited for it until `now` since the last reset, in ps.
    #[must_use]
    pub fn waited_ps(&self, engine: usize, now: Time) -> u64 {
        self.turns.waited_ps(engine, now)
    }

    /// What runs on it.
    #[must_use]
    pub fn engines(&self) -> &[Engine] {
        &self.engines
    }

    /// The same, to change it.
    pub fn engines_mut(&mut self) -> &mut [Engine] {
        &mut self.engines
    }

    /// The LFB pool.
    #[must_use]
    pub fn lfb(&self) -> &Domain {
        &self.lfb.held
    }

    /// Entries of the LFB that may be allocated now.
    #[must_use]
    pub fn free_entries(&self) -> u32 {
        self.lfb.idle
    }

    /// C2M-Read: entries that wait for data.
    #[must_use]
    pub fn read(&self) -> &Domain {
        &self.lfb.read
    }

    /// C2M-Write: entries that wait for the admission of a write-back.
    #[must_use]
    pub fn write(&self) -> &Domain {
        &self.lfb.write
    }

    /// True when something runs on the core.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.engines.is_empty()
    }

    /// The network traffic that it has, if any.
    pub(crate) fn stack_mut(&mut self) -> Option<&mut NetStack> {
        self.engines.iter_mut().find_map(NetStack::of_mut)
    }

    /// Handles an event.
    #[inline]
    fn handle(&mut self, payload: Payload, context: &mut Context) {
        self.lfb.idle += u32::from(payload == Payload::Refill);
        match &mut self.engines[..] {
            [only] => only.on_event(payload, &mut self.lfb, context),
            several => self.turns.on_event(payload, several, &mut self.lfb, context),
        }
    }

    /// An LFB entry may be allocated again.
    #[inline]
    pub(crate) fn on_refill(&mut self, context: &mut Context) {
        match &mut self.engines[..] {
            [Engine::Programs(programs)] => {
                self.lfb.idle += 1;
                programs.allocate(&mut self.lfb, context);
            }
            _ => self.handle(Payload::Refill, context),
        }
    }

    /// The data of a read is back.
    #[inline]
    pub(crate) fn on_data(&mut self, id: RequestId, context: &mut Context) {
        match &mut self.engines[..] {
            [Engine::Programs(programs)] => programs.on_data(id, &mut self.lfb, context),
            _ => self.handle(Payload::Data(id), context),
        }
    }

    /// The CHA has admitted a write-back; the CHA goes on with the request.
    #[inline]
    pub(crate) fn on_admitted(&mut self, id: RequestId, context: &mut Context) {
        match &mut self.engines[..] {
            [Engine::Programs(programs)] => programs.on_admitted(id, &mut self.lfb, context),
            _ => self.handle(Payload::Admitted(id), context),
        }
    }
}

impl Part for Core {
    fn kind(&self) -> PartKind {
        self.kind
    }

    /// What runs on cores begins one core after the other.
    fn start(&mut self, start: &mut Start<'_>) {
        let entries = self.lfb.held.capacity();
        match &self.engines[..] {
            [only] => only.start(entries, start),
            several => self.turns.start(several, start),
        }
    }

    #[inline]
    fn on_event(&mut self, payload: Payload, _source: ComponentId, context: &mut Context) {
        if !self.on_clock(payload, context) {
            self.handle(payload, context);
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        if self.is_busy() {
            self.lfb.pools(visit);
        }
        self.engines.iter().for_each(|engine| engine.pools(visit));
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.lfb.domains_mut(), now);
        self.engines.iter_mut().for_each(|engine| engine.settle(now));
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.lfb.domains_mut(), now);
        self.turns.reset(now);
        self.engines.iter_mut().for_each(|engine| engine.reset(now));
    }

    fn watch(&mut self, on: bool) {
        self.engines.iter_mut().filter_map(NetStack::of_mut).for_each(|stack| stack.watch(on));
    }

    fn stop(&mut self) {
        self.engines.iter_mut().for_each(Engine::stop);
    }
}
