//! What runs on a core.

use super::{Executor, Programs};
use crate::lfb::Lfb;
use crate::os::NetStack;
use crate::world::{Context, Payload, Pool, Start};
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
}

impl Engine {
    /// Sends its first events to its core, which has `entries` LFB entries.
    pub(super) fn start(&self, entries: u32, start: &mut Start<'_>) {
        match self {
            Self::Programs(programs) => programs.start(entries, start),
            Self::Executor(_) => start.wake(1 + start.index * 137, Payload::Step),
            Self::NetStack(stack) => stack.starts().for_each(|(delay_ps, payload)| start.wake(delay_ps, payload)),
        }
    }

    /// Shows the pools that it does not share with others.
    pub(super) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        if let Self::Executor(executor) = self {
            executor.pools(visit);
        }
    }

    /// Brings its books up to `now`.
    pub(super) fn settle(&mut self, now: Time) {
        if let Self::Executor(executor) = self {
            executor.settle(now);
        }
    }

    /// Starts a new measuring window.
    pub(super) fn reset(&mut self, now: Time) {
        match self {
            Self::Programs(_) => {}
            Self::Executor(executor) => executor.reset(now),
            Self::NetStack(stack) => stack.reset(now),
        }
    }

    /// Ends what it does of its own accord.
    pub(super) fn stop(&mut self) {
        match self {
            Self::Programs(programs) => programs.stop(),
            Self::Executor(executor) => executor.stop(),
            Self::NetStack(stack) => stack.stop(),
        }
    }
}
