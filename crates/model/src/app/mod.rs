//! Applications: loads, stores and instructions of their threads, as a sequence of steps that is endless except for a
//! trace.
//!
//! | file | content |
//! |---|---|
//! | `redis.rs` | key-value server per core, and its clients |
//! | `pagerank.rs`, `betweenness.rs` | graph programs over a random graph, `graph.rs`, and its `levels.rs` |
//! | `streams.rs` | STREAM, MLC, pointer chase |
//! | `replay.rs` | replay of a trace |
//! | `memory.rs`, `script.rs`, `step.rs` | page walks and rings, queue of planned accesses, a single access |

mod betweenness;
mod graph;
mod levels;
mod memory;
mod pagerank;
mod redis;
mod replay;
mod script;
mod step;
mod streams;
#[cfg(test)]
mod tests;

pub use betweenness::Betweenness;
pub use pagerank::PageRank;
pub use redis::{Redis, RedisClient};
pub use replay::Replay;
pub use step::Step;
pub use streams::{Chase, Mlc, Stream};

use crate::params::{App, AppParams, GraphParams};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Base addresses of a thread's memory, in virtual bytes, multiples of 4096.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBases {
    /// Memory that all threads of the application share.
    pub shared: u64,
    /// Private memory of the thread. For a client, that of its server thread.
    pub thread: u64,
    /// Private memory of a client. Unused by other threads.
    pub client: u64,
}

/// Generator of the steps of one thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant)]
pub enum Generator {
    /// Key-value server.
    Redis(Redis),
    /// Client of a key-value server.
    RedisClient(RedisClient),
    /// PageRank.
    PageRank(PageRank),
    /// Betweenness centrality.
    Betweenness(Betweenness),
    /// Kernel of STREAM.
    Stream(Stream),
    /// Loads and stores with a delay between them.
    Mlc(Mlc),
    /// Pointer chase.
    Chase(Chase),
    /// Trace replay.
    Trace(Replay),
}

impl Generator {
    /// Creates the generator of `thread` of `threads`. The threads of a shared graph generate the same graph
    /// independently.
    #[must_use]
    pub fn new(params: &AppParams, thread: u32, threads: u32, bases: MemoryBases, rng: &mut Rng) -> Self {
        match &params.app {
            App::Redis(redis) => Self::Redis(Redis::new(params, redis, bases, rng)),
            App::PageRank(graph) => Self::PageRank(PageRank::new(params, graph, thread, threads, bases, rng)),
            App::Betweenness(graph) => Self::Betweenness(Betweenness::new(params, graph, bases, rng)),
            App::Stream(kernel) => Self::Stream(Stream::new(kernel, thread, threads, bases)),
            App::Mlc(mlc) => Self::Mlc(Mlc::new(params, mlc, bases)),
            App::Chase(chase) => Self::Chase(Chase::new(params, chase, bases, rng)),
            App::Trace(trace) => Self::Trace(Replay::new(bases.thread, trace.repeat)),
        }
    }

    /// Creates the generator of a client of the thread whose memory begins at `bases.thread`. Returns `None` if the
    /// application has no clients.
    #[must_use]
    pub fn client(params: &AppParams, bases: MemoryBases) -> Option<Self> {
        match &params.app {
            App::Redis(redis) => Some(Self::RedisClient(RedisClient::new(params, redis, bases))),
            _ => None,
        }
    }

    /// Returns the next step, or `None` at the end of a trace.
    ///
    /// # Panics
    /// Panics if the next step of a trace has not been pushed, see [`Replay::push`].
    #[inline]
    pub fn step(&mut self, rng: &mut Rng) -> Option<Step> {
        Some(match self {
            Self::Redis(redis) => redis.step(rng),
            Self::RedisClient(client) => client.step(rng),
            Self::PageRank(pagerank) => pagerank.step(rng),
            Self::Betweenness(betweenness) => betweenness.step(rng),
            Self::Stream(stream) => stream.step(),
            Self::Mlc(mlc) => mlc.step(rng),
            Self::Chase(chase) => chase.step(rng),
            Self::Trace(replay) => return replay.step(),
        })
    }
}

/// Returns the number of operations of a whole run over all threads, or `None` if the application never ends.
///
/// An operation of PageRank is the visit of a node. An operation of betweenness centrality is a visit in the search
/// or in the backward pass, so there are two per node and source.
#[must_use]
pub fn count_operations(params: &AppParams) -> Option<u64> {
    let visits = |graph: &GraphParams| u64::from(graph.rounds) << graph.scale;
    match &params.app {
        App::PageRank(graph) => Some(visits(graph)),
        App::Betweenness(graph) => Some(2 * visits(graph)),
        App::Redis(_) | App::Stream(_) | App::Mlc(_) | App::Chase(_) | App::Trace(_) => None,
    }
}
