//! A core: its line fill buffer (LFB), and the engines that run on it.
//!
//! The LFB is one pool. An entry serves a read (C2M-Read) until its data is back; for a store it then serves the
//! write-back of a dirty line (C2M-Write) until the CHA admits the write-back.
//!
//! A core of a remote socket sends its requests to a UPI link. Its pool stands for all lines that its LFB and its
//! prefetchers keep in flight together.

mod engine;
mod engine_scheduler;
mod executor;
mod programs;
mod worker;

pub use engine::{Engine, EngineKind};
pub use executor::{
    Block, Executor, Partner, RankOperation, RankOperations, Source, Storage, Stream, Thread, ThreadWaits,
};
pub use programs::{MigratingBuffer, PageCopies, Program, ProgramMemory, Programs};
pub use worker::{RankMemory, Worker};

use crate::lfb::Lfb;
use crate::line::RequestId;
use crate::os::NetStack;
use crate::params::{CoreParams, PowerParams};
use crate::part::{self, Context, Part, PartKind, Payload, Pool, PowerEvent, StartContext};
use crate::power::{Clock, ClockChange};
use engine_scheduler::EngineScheduler;
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Backlog of kernel work at a core, in lines, at which the core begins to hold the drives back.
const KERNEL_BACKLOG_LINES: u64 = 4096;

/// Ids of the parts that a core sends to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CoreWiring {
    /// Part that the requests of the core go to: the CHA, or the UPI link to the socket of the memory.
    pub home: ComponentId,
    /// Drives of the server, for whose jobs the core may do kernel work.
    pub drives: Vec<ComponentId>,
}

/// Core with its engines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Core {
    kind: PartKind,
    lfb: Lfb,
    engines: Vec<Engine>,
    engine_scheduler: EngineScheduler,
    frequencies: Option<Box<CoreFrequencies>>,
}

/// Frequencies that the core may have, in kHz, where the power management selects one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CoreFrequencies {
    reference_khz: u32,
    pstates_khz: Vec<u32>,
}

impl CoreFrequencies {
    fn clock(&self, pstate: usize) -> Clock {
        Clock { reference_khz: self.reference_khz, khz: self.pstates_khz[pstate] }
    }
}

impl Core {
    /// Creates a core with the engines that run on it: a core of this socket, or of a remote one if `kind` says so.
    #[must_use]
    pub fn new(kind: PartKind, params: &CoreParams, mut engines: Vec<Engine>, classes: usize) -> Self {
        let staggered = matches!(engines[..], [Engine::Programs(_)]);
        // Programs alone on a core get their entries one after the other, by the `Refill` events that they start with.
        let idle = if staggered { 0 } else { params.lfb_entries };
        // On a shared core no engine has the core until the scheduler gives it to one.
        if engines.len() > 1 {
            engines.iter_mut().for_each(Engine::share);
        }
        // Only programs that have the core alone are prefetched.
        let stream_prefetches = if staggered { params.stream_prefetches } else { 0 };
        let mut lfb = Lfb::new(&CoreParams { stream_prefetches, ..params.clone() }, idle, classes);
        lfb.shared = engines.len() > 1;
        Self { kind, lfb, engine_scheduler: EngineScheduler::new(engines.len()), engines, frequencies: None }
    }

    /// Gives the core frequencies; it begins with the fastest. A core that runs only network traffic follows the power
    /// management by itself.
    #[must_use]
    pub fn with_power(mut self, params: &PowerParams) -> Self {
        if matches!(&self.engines[..], [only] if NetStack::of(only).is_some()) {
            return self;
        }
        let pstates_khz: Vec<u32> = params.pstates.iter().map(|pstate| pstate.khz).collect();
        let fastest = pstates_khz.len() - 1;
        let frequencies = CoreFrequencies { reference_khz: params.reference_khz, pstates_khz };
        let clock = frequencies.clock(fastest);
        self.lfb.clock = clock;
        self.engines.iter_mut().for_each(|engine| engine.set_clock(clock));
        self.frequencies = Some(Box::new(frequencies));
        self
    }

    /// Handles a change of the clock by the power management. Returns false if the event is something else.
    fn on_clock(&mut self, payload: Payload, context: &mut Context) -> bool {
        let (Payload::Power(event), Some(frequencies)) = (payload, &self.frequencies) else { return false };
        let change = match event {
            PowerEvent::Frequency(pstate) => ClockChange::To(frequencies.clock(usize::from(pstate))),
            PowerEvent::Halt(ps) => ClockChange::Halt(u64::from(ps)),
            _ => return false,
        };
        // The refill time is work of the core, so it scales with the clock.
        if let ClockChange::To(clock) = change {
            self.lfb.clock = clock;
        }
        for (number, engine) in self.engines.iter_mut().enumerate() {
            self.lfb.engine = number as u8;
            engine.change_clock(change, &mut self.lfb, context);
        }
        true
    }

    /// Returns the time for which an engine of a shared core had the core since the last reset, until `now`, in ps.
    #[must_use]
    pub fn run_ps(&self, engine: usize, now: Time) -> u64 {
        self.engine_scheduler.run_ps(engine, now)
    }

    /// Returns the time for which an engine of a shared core waited for the core since the last reset, until `now`, in
    /// ps.
    #[must_use]
    pub fn waited_ps(&self, engine: usize, now: Time) -> u64 {
        self.engine_scheduler.waited_ps(engine, now)
    }

    /// Returns the engines that run on the core.
    #[must_use]
    pub fn engines(&self) -> &[Engine] {
        &self.engines
    }

    /// Returns the engines that run on the core, to change them.
    pub fn engines_mut(&mut self) -> &mut [Engine] {
        &mut self.engines
    }

    /// Returns the pool of LFB entries.
    #[must_use]
    pub fn lfb(&self) -> &Domain {
        &self.lfb.held
    }

    /// Returns the LFB entries that can be allocated now.
    #[must_use]
    pub fn free_entries(&self) -> u32 {
        self.lfb.idle
    }

    /// Returns the domain C2M-Read: entries that wait for data.
    #[must_use]
    pub fn read(&self) -> &Domain {
        &self.lfb.read
    }

    /// Returns the domain C2M-Write: entries that wait for the admission of a write-back.
    #[must_use]
    pub fn write(&self) -> &Domain {
        &self.lfb.write
    }

    /// Returns true if an engine runs on the core.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.engines.is_empty()
    }

    /// Returns the network stack that runs on the core, if there is one.
    pub(crate) fn stack_mut(&mut self) -> Option<&mut NetStack> {
        self.engines.iter_mut().find_map(NetStack::of_mut)
    }

    /// Handles an event.
    #[inline]
    fn handle(&mut self, payload: Payload, context: &mut Context) {
        self.lfb.idle += u32::from(payload == Payload::Refill);
        match &mut self.engines[..] {
            [only] => only.on_event(payload, &mut self.lfb, context),
            several => self.engine_scheduler.on_event(payload, several, &mut self.lfb, context),
        }
    }

    /// Handles the end of the refill time of an LFB entry.
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

    /// Handles the data of a read.
    #[inline]
    pub(crate) fn on_data(&mut self, id: RequestId, context: &mut Context) {
        match &mut self.engines[..] {
            [Engine::Programs(programs)] => programs.on_data(id, &mut self.lfb, context),
            _ => self.handle(Payload::Data(id), context),
        }
    }

    /// Handles the admission of a write-back by the CHA, which keeps the request.
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

    /// Starts the engines; those of different cores start one after the other.
    fn start(&mut self, start: &mut StartContext<'_>) {
        let entries = self.lfb.held.capacity();
        match &self.engines[..] {
            [only] => only.start(entries, start),
            several => self.engine_scheduler.start(several, start),
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
        self.engine_scheduler.reset(now);
        self.engines.iter_mut().for_each(|engine| engine.reset(now));
    }

    fn watch(&mut self, on: bool) {
        self.engines.iter_mut().filter_map(NetStack::of_mut).for_each(|stack| stack.watch(on));
    }

    fn stop(&mut self) {
        self.engines.iter_mut().for_each(Engine::stop);
    }
}
