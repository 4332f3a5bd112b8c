//! Applications: what their threads load, store and compute, as a sequence of steps, endless but for a trace.
//!
//! | file | application |
//! |---|---|
//! | `redis.rs` | a key-value server per core and its clients |
//! | `pagerank.rs`, `betweenness.rs` | programs over `graph.rs`, a random graph that nobody stores; its `levels.rs` |
//! | `streams.rs` | STREAM, MLC, pointer chase |
//! | `replay.rs` | what a trace says |
//! | `layout.rs`, `script.rs`, `step.rs` | where structures lie; what comes next; an access |

mod betweenness;
mod graph;
mod layout;
mod levels;
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

/// Where the memory of a thread begins, in virtual bytes, at multiples of 4096.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bases {
    /// Memory that all threads of the application share.
    pub shared: u64,
    /// Memory of the thread itself; for a client that of the thread that it asks.
    pub thread: u64,
    /// Memory of a client itself; without meaning for other threads.
    pub client: u64,
}

/// Memory that an application needs; sizes beyond 64 bits are told as the largest number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes that all threads share.
    pub shared_bytes: u64,
    /// Bytes of every thread.
    pub thread_bytes: u64,
    /// Bytes of every client.
    pub client_bytes: u64,
}

/// The steps of one thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant)]
pub enum Generator {
    /// A key-value server.
    Redis(Redis),
    /// A client of one.
    RedisClient(RedisClient),
    /// PageRank.
    PageRank(PageRank),
    /// Betweenness centrality.
    Betweenness(Betweenness),
    /// A kernel of STREAM.
    Stream(Stream),
    /// Loads and stores with a pause between them.
    Mlc(Mlc),
    /// A pointer chase.
    Chase(Chase),
    /// A trace.
    Trace(Replay),
}

impl Generator {
    /// The generator of `thread` of `threads`. The threads of a shared graph agree on it without a word.
    #[must_use]
    pub fn new(params: &AppParams, thread: u32, threads: u32, bases: Bases, rng: &mut Rng) -> Self {
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

    /// The generator of a client of the thread whose memory begins at `bases.thread`; `None` when the application has
    /// no clients.
    #[must_use]
    pub fn client(params: &AppParams, bases: Bases) -> Option<Self> {
        match &params.app {
            App::Redis(redis) => Some(Self::RedisClient(RedisClient::new(params, redis, bases))),
            _ => None,
        }
    }

    /// The next step; none at the end of a trace.
    ///
    /// # Panics
    /// If a trace has not been handed that step, see [`Replay::push`].
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

/// The memory that an application needs.
#[must_use]
pub fn footprint(params: &AppParams) -> Footprint {
    let shared = |shared_bytes| Footprint { shared_bytes, ..Footprint::default() };
    let each = |thread_bytes| Footprint { thread_bytes, ..Footprint::default() };
    match &params.app {
        App::Redis(redis) => redis::footprint(params, redis),
        App::PageRank(graph) => shared(pagerank::bytes(params, graph)),
        App::Betweenness(graph) => shared(betweenness::bytes(params, graph)),
        App::Stream(kernel) => shared(streams::stream_bytes(kernel)),
        App::Mlc(mlc) => each(streams::buffer_bytes(params, mlc.working_set_bytes)),
        App::Chase(chase) => each(streams::buffer_bytes(params, chase.working_set_bytes)),
        App::Trace(trace) => each(trace.memory_bytes),
    }
}

/// The operations of a whole run of all threads; `None` for those that go on for as long as they are let.
///
/// An operation of PageRank is the visit of a node; of betweenness centrality a visit in the search or on the way back,
/// so that there are two per node and source.
#[must_use]
pub fn operations_in_all(params: &AppParams) -> Option<u64> {
    let visits = |graph: &GraphParams| u64::from(graph.rounds) << graph.scale;
    match &params.app {
        App::PageRank(graph) => Some(visits(graph)),
        App::Betweenness(graph) => Some(2 * visits(graph)),
        App::Redis(_) | App::Stream(_) | App::Mlc(_) | App::Chase(_) | App::Trace(_) => None,
    }
}
