//! Directory of the shared pages that a switch decides about.

use crate::line::PoolMessage;
use crate::params::SharerDirectoryParams;
use crate::pool::{Directory, Order};
use serde::{Deserialize, Serialize};

/// Directory of the pages that a switch decides about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PageSharers {
    /// Number of shared pages, from the first on, that the switch decides about.
    pages: u64,
    directory: Directory,
}

impl PageSharers {
    pub(super) fn new(params: &SharerDirectoryParams) -> Self {
        Self { pages: params.pages, directory: Directory::new(params.regions.clone()) }
    }

    pub(super) fn reset(&mut self) {
        self.directory.reset();
    }

    /// Returns true if the switch decides about the page of a message.
    pub(super) fn decides_about(&self, message: &PoolMessage) -> bool {
        message.line < self.pages
    }

    /// Returns the messages that follow from a message of server `from`.
    pub(super) fn on_message(&mut self, from: u16, message: &PoolMessage) -> Vec<Order> {
        let mut orders = Vec::new();
        self.directory.on_message(from, message, &mut orders);
        orders
    }

    /// Returns the requests that the switch granted, and the servers that it had give up a page or stop writing it,
    /// since the last reset.
    pub(super) fn decided(&self) -> [u64; 2] {
        [self.directory.decided, self.directory.told]
    }
}
