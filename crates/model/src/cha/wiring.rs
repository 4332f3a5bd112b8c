//! Components that the CHAs of a socket send to.

use crate::part::PartIds;
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// Ids of the parts that the CHAs send to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ChaWiring {
    /// Cores of the socket.
    pub cores: PartIds,
    /// Memory channels of the socket.
    pub channels: PartIds,
    /// UPI links to the remote sockets.
    pub upis: PartIds,
    /// Memory expander behind a CXL link, if there is one.
    pub expander: Option<ComponentId>,
}
