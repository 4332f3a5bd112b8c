//! Network interfaces: request generation and completion, each with a frontend for queues and a backend for data, and
//! pipelines that serve remote requests. Their placement decides only the paths between these parts.

pub(crate) mod backend;
pub(crate) mod frontend;
pub(crate) mod remote;

pub(crate) use backend::{Backend, LineInFlight};
pub(crate) use frontend::Frontend;
pub(crate) use remote::{Requester, Rrpp};
