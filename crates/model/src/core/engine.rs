//! Engines that run on a core.

use super::{Executor, Programs, Worker};
use crate::lfb::Lfb;
use crate::os::NetStack;
use crate::part::{Context, Payload, Pool, PoolGroup, StartContext};
use crate::power::{Clock, ClockChange};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Kind of engine, to find the engines of that kind on a core.
pub trait EngineKind: Sized {
    /// Returns the engine if it is of this kind.
    fn of(engine: &Engine) -> Option<&Self>;

    /// Returns the engine, to change it, if it is of this kind.
    fn of_mut(engine: &mut Engine) -> Option<&mut Self>;
}

macro_rules! engines {
    ($($(#[$doc:meta])* $engine:ident,)*) => {
        /// Engine of a core, which requests lines through the line fill buffer of the core.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Engine {
            $($(#[$doc])* $engine(Box<$engine>),)*
        }

        $(
            impl From<$engine> for Engine {
                fn from(engine: $engine) -> Self {
                    Self::$engine(Box::new(engine))
                }
            }

            impl EngineKind for $engine {
                fn of(engine: &Engine) -> Option<&Self> {
                    match engine {
                        Engine::$engine(engine) => Some(engine),
                        _ => None,
                    }
                }

                fn of_mut(engine: &mut Engine) -> Option<&mut Self> {
                    match engine {
                        Engine::$engine(engine) => Some(engine),
                        _ => None,
                    }
                }
            }
        )*

        impl Engine {
            /// Handles an event.
            #[inline]
            pub(super) fn on_event(&mut self, payload: Payload, lfb: &mut Lfb, context: &mut Context) {
                match self {
                    $(Self::$engine(engine) => engine.on_event(payload, lfb, context),)*
                }
            }
        }
    };
}

engines! {
    /// Programs without caches.
    Programs,
    /// Thread with caches.
    Executor,
    /// Network traffic.
    NetStack,
    /// Rank of a job.
    Worker,
}

impl Engine {
    /// Sends the first events of the engine to its core, which it does not share and which has `entries` LFB entries.
    pub(super) fn start(&self, entries: u32, start: &mut StartContext<'_>) {
        match self {
            Self::Programs(programs) => programs.start(entries, start),
            // Cores start 137 ps apart, so that their accesses do not coincide.
            Self::Executor(_) => start.wake(1 + start.index * 137, Payload::Step),
            Self::NetStack(stack) => stack.starts().for_each(|(delay_ps, payload)| start.wake(delay_ps, payload)),
            Self::Worker(worker) => start.wake(worker.begins_ps(), Payload::Worked),
        }
    }

    /// Returns true if an event is for the engine. Answers to requests are not decided here: each goes to the engine
    /// that made the request.
    pub(super) fn handles_event(&self, payload: &Payload) -> bool {
        match (payload, self) {
            // Every engine may use a free entry or the core.
            (Payload::Refill | Payload::Step, _) => true,
            (Payload::KernelWork { class, .. } | Payload::Message { class }, Self::Executor(executor)) => {
                *class == executor.class()
            }
            (Payload::Block { .. }, Self::Executor(executor)) => executor.is_storage(),
            (Payload::KernelWork { class, .. }, Self::Programs(programs)) => programs.has(*class),
            (Payload::UnmapPage { .. } | Payload::MapPage { .. } | Payload::CopyPage { .. }, engine) => {
                matches!(engine, Self::Programs(_))
            }
            // Sockets are never throttled (docs/models/control.md, Levels).
            (Payload::Throttle { .. } | Payload::Halt { .. }, engine) => !matches!(engine, Self::NetStack(_)),
            (Payload::Worked | Payload::Came { .. } | Payload::Written { .. } | Payload::Delivered { .. }, engine) => {
                matches!(engine, Self::Worker(_))
            }
            (Payload::KernelWork { .. } | Payload::Message { .. } | Payload::Block { .. }, _) => false,
            (_, engine) => matches!(engine, Self::NetStack(_)),
        }
    }

    /// Returns true if the engine has something to do in its turn.
    pub(super) fn wants(&self, now: Time) -> bool {
        match self {
            Self::Programs(programs) => programs.wants(),
            Self::Executor(executor) => executor.wants(now),
            Self::NetStack(stack) => stack.wants(),
            Self::Worker(worker) => worker.executor().wants(now),
        }
    }

    /// Returns true if the engine has work that does not wait for its turn.
    pub(super) fn interrupts(&self) -> bool {
        matches!(self, Self::NetStack(stack) if stack.interrupts())
    }

    /// Returns true if the engine is in the middle of work that nothing interrupts.
    pub(super) fn is_bound(&self, now: Time) -> bool {
        matches!(self, Self::NetStack(stack) if stack.is_bound(now))
    }

    /// Sets the contention flag of the engine: true if another engine of the core has something to do.
    pub(super) fn set_contended(&mut self, contended: bool) {
        if let Self::NetStack(stack) = self {
            stack.set_contended(contended);
        }
    }

    /// Gives the core to the engine, for its turn or for work that does not wait for one.
    pub(super) fn resume(&mut self, turn: bool, lfb: &mut Lfb, context: &mut Context) {
        match self {
            Self::Programs(programs) => programs.resume(lfb, context),
            Self::Executor(executor) => executor.resume(lfb, context),
            Self::NetStack(stack) => stack.set_turn(turn, lfb, context),
            Self::Worker(worker) => worker.executor_mut().resume(lfb, context),
        }
    }

    /// Takes the core from the engine.
    pub(super) fn suspend(&mut self, lfb: &mut Lfb, context: &mut Context) {
        match self {
            Self::Programs(programs) => programs.suspend(),
            Self::Executor(executor) => executor.suspend(context.now()),
            Self::NetStack(stack) => stack.set_turn(false, lfb, context),
            Self::Worker(worker) => worker.executor_mut().suspend(context.now()),
        }
    }

    /// Makes the engine begin without the core, because it shares the core.
    pub(super) fn share(&mut self) {
        match self {
            Self::Programs(programs) => programs.share(),
            Self::Executor(executor) => executor.suspend(Time::ZERO),
            Self::NetStack(stack) => stack.share(),
            Self::Worker(worker) => worker.executor_mut().suspend(Time::ZERO),
        }
    }

    /// Visits the pools that the engine does not share with others.
    pub(super) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        match self {
            Self::Programs(programs) => {
                programs.prefetch_credits().into_iter().for_each(|own| visit(Pool::new(PoolGroup::Prefetch, own)));
            }
            Self::Executor(executor) => executor.pools(visit),
            Self::NetStack(stack) => stack.pools(visit),
            Self::Worker(worker) => worker.executor().pools(visit),
        }
    }

    /// Brings the statistics up to `now`.
    pub(super) fn settle(&mut self, now: Time) {
        match self {
            Self::Programs(programs) => {
                programs.prefetch_credits_mut().into_iter().for_each(|credits| credits.settle_all(now));
            }
            Self::Executor(executor) => executor.settle(now),
            Self::NetStack(stack) => stack.settle(now),
            Self::Worker(worker) => worker.executor_mut().settle(now),
        }
    }

    /// Starts a new measurement window.
    pub(super) fn reset(&mut self, now: Time) {
        match self {
            Self::Programs(programs) => programs.prefetch_credits_mut().into_iter().for_each(|own| own.reset(now)),
            Self::Executor(executor) => executor.reset(now),
            Self::NetStack(stack) => stack.reset(now),
            Self::Worker(worker) => worker.executor_mut().reset(now),
        }
    }

    /// Sets the initial clock, the fastest that the core may have.
    pub(super) fn set_clock(&mut self, clock: Clock) {
        match self {
            Self::Programs(programs) => programs.set_clock(clock),
            Self::Executor(executor) => executor.set_clock(clock),
            Self::NetStack(stack) => stack.set_clock(clock),
            Self::Worker(worker) => worker.executor_mut().set_clock(clock),
        }
    }

    /// Handles a change of the clock of the core.
    pub(super) fn change_clock(&mut self, change: ClockChange, lfb: &mut Lfb, context: &mut Context) {
        match self {
            Self::Programs(programs) => programs.change_clock(change, context.now()),
            Self::Executor(executor) => executor.change_clock(change, lfb, context),
            Self::NetStack(stack) => stack.change_clock(change, context),
            Self::Worker(worker) => worker.executor_mut().change_clock(change, lfb, context),
        }
    }

    /// Makes the engine begin nothing new. Work in flight still ends.
    pub(super) fn stop(&mut self) {
        match self {
            Self::Programs(programs) => programs.stop(),
            Self::Executor(executor) => executor.stop(),
            Self::NetStack(stack) => stack.stop(),
            // A job ends by itself.
            Self::Worker(_) => {}
        }
    }
}
