//! Counters of NCAP over received and sent packets.

use crate::params::NcapParams;
use serde::{Deserialize, Serialize};

/// Counter of requests by their first bytes (`ReqMonitor`), and of bytes sent (`txBytesCounter`). See section 2.4.1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReqMonitor {
    templates: Vec<[u8; 2]>,
    /// Requests since the last take (`reqCnt`).
    requests: u64,
    /// Bytes sent since the last take (`txCnt`).
    sent_bytes: u64,
}

impl ReqMonitor {
    /// Creates a monitor with all counters at 0.
    #[must_use]
    pub fn new(params: &NcapParams) -> Self {
        Self { templates: params.templates.clone(), requests: 0, sent_bytes: 0 }
    }

    /// Counts a received packet whose payload begins with the two bytes `first`. Returns true if it is a request.
    pub fn received(&mut self, first: [u8; 2]) -> bool {
        let counts = self.templates.contains(&first);
        self.requests += u64::from(counts);
        counts
    }

    /// Counts a sent packet of `bytes` bytes.
    pub fn sent(&mut self, bytes: u64) {
        self.sent_bytes += bytes;
    }

    /// Returns the requests since the last [`ReqMonitor::take`].
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns the requests and the bytes sent since the last call, and resets both.
    pub fn take(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.requests), std::mem::take(&mut self.sent_bytes))
    }
}
