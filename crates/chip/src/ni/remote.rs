//! Remote requests: the pipelines that serve them, and the mirror that generates them.

use crate::OpKind;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A pipeline that serves remote requests (RRPP), in one row of the edge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rrpp {
    pub(crate) waiting: VecDeque<u32>,
    pub(crate) in_flight: u32,
    /// Requests that have passed the first half of the pipeline.
    pub(crate) ready: VecDeque<u32>,
}

/// A remote request that this chip serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RemoteRequest {
    pub(crate) kind: OpKind,
    pub(crate) line: u64,
    pub(crate) row: u16,
    pub(crate) arrived: u64,
    pub(crate) requester: Requester,
}

/// Requester of a remote request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Requester {
    /// Another chip, with the number of the request there.
    Chip(u16, u32),
    /// The mirror, with the line of this chip's operation that is answered together with the request.
    Mirror(u32),
}
