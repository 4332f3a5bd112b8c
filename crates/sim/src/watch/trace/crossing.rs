//! The path of a line through a domain.

use crate::read::sample::PoolGroup;
use crate::watch::events::Part;
use hostnet_model::memory::DramAddress;

/// A hop of the path through a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// From the core or the IIO to the CHA.
    ToCha,
    /// Waiting for a TOR entry.
    WaitForTor,
    /// Holding a TOR entry.
    Tor,
    /// From the CHA back to the core or the IIO: data, or the acknowledgement of a write.
    Back,
    /// From the CHA to the memory controller.
    ToMc,
    /// A read waits for its RD command: in the RPQ, or for an entry of the RPQ.
    Rpq,
    /// From the RD command to the last beat of its data.
    Dram,
    /// A read is served from the queued writes.
    Forwarded,
    /// A write waits for a WPQ entry.
    WaitForWpq,
    /// From the memory controller back to the CHA.
    FromMc,
}

impl Hop {
    /// Every hop.
    pub const ALL: [Self; 10] = [
        Self::ToCha,
        Self::WaitForTor,
        Self::Tor,
        Self::Back,
        Self::ToMc,
        Self::Rpq,
        Self::Dram,
        Self::Forwarded,
        Self::WaitForWpq,
        Self::FromMc,
    ];

    /// Returns the name of the hop in traces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ToCha => "to CHA",
            Self::WaitForTor => "wait for TOR",
            Self::Tor => "CHA TOR",
            Self::Back => "from CHA",
            Self::ToMc => "to MC",
            Self::Rpq => "RPQ",
            Self::Dram => "DRAM",
            Self::Forwarded => "forwarded from WPQ",
            Self::WaitForWpq => "wait for WPQ",
            Self::FromMc => "from MC",
        }
    }
}

/// A credit of a domain while one line holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Number of the line: the same in all domains that the request crosses.
    pub line: u64,
    /// Domain group of the credit.
    pub group: PoolGroup,
    /// Part that the credit belongs to.
    pub part: Part,
    /// Workload of the line.
    pub class: u8,
    /// Place of the line in DRAM.
    pub place: DramAddress,
    /// Time at which the credit was taken, in ps.
    pub start_ps: u64,
    /// Time at which the credit was returned, in ps.
    pub end_ps: u64,
    /// Hops, each with its end in ps. The first begins with the crossing, each other one at the end of the hop
    /// before. Empty for a crossing that began before the trace.
    pub hops: [Option<(Hop, u64)>; 4],
}

impl Crossing {
    /// Returns the hops with their begin and end in ps, without those of zero length.
    pub fn hops(&self) -> impl Iterator<Item = (Hop, u64, u64)> + '_ {
        let mut start_ps = self.start_ps;
        self.hops.iter().flatten().filter_map(move |&(hop, end_ps)| {
            let begin_ps = std::mem::replace(&mut start_ps, end_ps);
            // Waits that took no time are left out (trace.md, Hops).
            (end_ps > begin_ps).then_some((hop, begin_ps, end_ps))
        })
    }
}
