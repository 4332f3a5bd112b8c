//! What runs on a core.

use super::{Executor, Programs, Worker};
use crate::lfb::Lfb;
use crate::os::NetStack;
use crate::part::{Context, Payload, Pool, Start};
use crate::power::{Clock, ClockChange};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// A kind of engine, to find those of a core by.
pub trait Runs: Sized {
    /// The engine, if it is of this kind.
    fn of(engine: &Engine) -> Option<&Self>;

    /// The same, to change it.
    fn of_mut(engine: &mut Engine) -> Option<&mut Self>;
}

macro_rules! engines {
    ($($(#[$doc:meta])* $engine:ident,)*) => {
        /// What makes a core miss. It asks for lines by the line fill buffer of the core.
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

            impl Runs for $engine {
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
    /// A thread with caches.
    Executor,
    /// Network traffic.
    NetStack,
    /// A rank of a job.
    Worker,
}

impl Engine {
    /// Sends its first events to its core, which it does not share and which has `entries` LFB entries.
    pub(super) fn start(&self, entries: u32, start: &mut Start<'_>) {
        match self {
            Self::Programs(programs) => programs.start(entries, start),
            Self::Executor(_) => start.wake(1 + start.index * 137, Payload::Step),
            Self::NetStack(stack) => stack.starts().for_each(|(delay_ps, payload)| start.wake(delay_ps, payload)),
            Self::Worker(worker) => start.wake(worker.begins_ps(), Payload::Worked),
        }
    }

    /// Whether an event is for it, of those that are not answers to what it asked for.
    pub(super) fn heeds(&self, payload: &Payload) -> bool {
        match (payload, self) {
            (Payload::Refill | Payload::Step, _) => true,
            (Payload::KernelWork { class, .. } | Payload::Message { class }, Self::Executor(executor)) => {
                *class == executor.class()
            }
            (Payload::Block { .. }, Self::Executor(executor)) => executor.is_storage(),
            (Payload::KernelWork { class, .. }, Self::Programs(programs)) => programs.has(*class),
            (Payload::Throttle { .. } | Payload::Halt { .. }, engine) => !matches!(engine, Self::NetStack(_)),
            (Payload::Worked | Payload::Came { .. } | Payload::Written { .. } | Payload::Delivered { .. }, engine) => {
                matches!(engine, Self::Worker(_))
            }
            (Payload::KernelWork { .. } | Payload::Message { .. } | Payload::Block { .. }, _) => false,
            (_, engine) => matches!(engine, Self::NetStack(_)),
        }
    }

    /// Whether it has something to do in its turn.
    pub(super) fn wants(&self, now: Time) -> bool {
        match self {
            Self::Programs(programs) => programs.wants(),
            Self::Executor(executor) => executor.wants(now),
            Self::NetStack(stack) => stack.wants(),
            Self::Worker(worker) => worker.executor().wants(now),
        }
    }

    /// Whether it does what does not wait for a turn.
    pub(super) fn interrupts(&self) -> bool {
        matches!(self, Self::NetStack(stack) if stack.interrupts())
    }

    /// Whether it is amid something that nothing interrupts.
    pub(super) fn is_bound(&self, now: Time) -> bool {
        matches!(self, Self::NetStack(stack) if stack.is_bound(now))
    }

    /// Tells it whether another engine wants the core.
    pub(super) fn set_contended(&mut self, contended: bool) {
        if let Self::NetStack(stack) = self {
            stack.set_contended(contended);
        }
    }

    /// It has the core from now on, for its turn or for what does not wait for one.
    pub(super) fn go(&mut self, turn: bool, lfb: &mut Lfb, context: &mut Context) {
        match self {
            Self::Programs(programs) => programs.go(lfb, context),
            Self::Executor(executor) => executor.go(lfb, context),
            Self::NetStack(stack) => stack.set_turn(turn, lfb, context),
            Self::Worker(worker) => worker.executor_mut().go(lfb, context),
        }
    }

    /// Another engine has the core from now on.
    pub(super) fn hold(&mut self, lfb: &mut Lfb, context: &mut Context) {
        match self {
            Self::Programs(programs) => programs.hold(),
            Self::Executor(executor) => executor.hold(context.now()),
            Self::NetStack(stack) => stack.set_turn(false, lfb, context),
            Self::Worker(worker) => worker.executor_mut().hold(context.now()),
        }
    }

    /// It begins without the core, which it shares.
    pub(super) fn share(&mut self) {
        match self {
            Self::Programs(programs) => programs.hold(),
            Self::Executor(executor) => executor.hold(Time::ZERO),
            Self::NetStack(stack) => stack.share(),
            Self::Worker(worker) => worker.executor_mut().hold(Time::ZERO),
        }
    }

    /// Shows the pools that it does not share with others.
    pub(super) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        match self {
            Self::Programs(_) => {}
            Self::Executor(executor) => executor.pools(visit),
            Self::NetStack(stack) => stack.pools(visit),
            Self::Worker(worker) => worker.executor().pools(visit),
        }
    }

    /// Brings its books up to `now`.
    pub(super) fn settle(&mut self, now: Time) {
        match self {
            Self::Programs(_) => {}
            Self::Executor(executor) => executor.settle(now),
            Self::NetStack(stack) => stack.settle(now),
            Self::Worker(worker) => worker.executor_mut().settle(now),
        }
    }

    /// Starts a new measuring window.
    pub(super) fn reset(&mut self, now: Time) {
        match self {
            Self::Programs(_) => {}
            Self::Executor(executor) => executor.reset(now),
            Self::NetStack(stack) => stack.reset(now),
            Self::Worker(worker) => worker.executor_mut().reset(now),
        }
    }

    /// It begins at a clock, the fastest that its core may have.
    pub(super) fn set_clock(&mut self, clock: Clock) {
        match self {
            Self::Programs(programs) => programs.set_clock(clock),
            Self::Executor(executor) => executor.set_clock(clock),
            Self::NetStack(stack) => stack.set_clock(clock),
            Self::Worker(worker) => worker.executor_mut().set_clock(clock),
        }
    }

    /// The clock of its core changes.
    pub(super) fn change_clock(&mut self, change: ClockChange, lfb: &mut Lfb, context: &mut Context) {
        match self {
            Self::Programs(programs) => programs.change_clock(change, context.now()),
            Self::Executor(executor) => executor.change_clock(change, lfb, context),
            Self::NetStack(stack) => stack.change_clock(change, context),
            Self::Worker(worker) => worker.executor_mut().change_clock(change, lfb, context),
        }
    }

    /// Ends what it does of its own accord.
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
