//! A host as its picture shows it: the occupancy of its buffers, and the paths of the four domains.

pub(crate) mod paths;
pub(crate) mod pools;
mod split;
mod view;

pub(crate) use paths::DomainPath;
pub(crate) use pools::{CreditPool, Usage};
pub(crate) use split::{split_sockets, upi_links};
pub(crate) use view::{HostView, SocketView};
