//! What is counted of the packets.

use crate::params::NcapParams;
use serde::{Deserialize, Serialize};

/// Counts requests by their first bytes (`ReqMonitor`) and bytes that are sent (`txBytesCounter`); section 2.4.1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReqMonitor {
    templates: Vec<[u8; 2]>,
    /// `reqCnt`.
    requests: u64,
    /// `txCnt`.
    sent_bytes: u64,
}

impl ReqMonitor {
    /// One that has seen nothing.
    #[must_use]
    pub fn new(params: &NcapParams) -> Self {
        Self { templates: params.templates.clone(), requests: 0, sent_bytes: 0 }
    }

    /// A packet with payload that begins with these two bytes has been received: whether it is a request that counts.
    pub fn received(&mut self, first: [u8; 2]) -> bool {
        let counts = self.templates.contains(&first);
        self.requests += u64::from(counts);
        counts
    }

    /// A packet of so many bytes has been sent.
    pub fn sent(&mut self, bytes: u64) {
        self.sent_bytes += bytes;
    }

    /// Requests since they were taken last.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Requests and bytes sent since the last call.
    pub fn take(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.requests), std::mem::take(&mut self.sent_bytes))
    }
}
